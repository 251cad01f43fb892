"""Live figures: each has a printed picture, alt text, a caption, a question, a place, and scripts that are small."""

import json
import pathlib
import re
from types import SimpleNamespace

import book_live
import pytest
from live_figures import FOLDER, NAMES
from PIL import Image

ROOT = pathlib.Path(__file__).parents[2]
PLACE = re.compile(
    r":::\{figure\} (\S+)\n:class: explore-(\S+)\n:name: (fig-[a-z0-9-]+)\n:alt: (.+)\n\n((?:.+\n)+?):::"
)


PAGES = [
    ROOT / "intro.ipynb",
    *(p for p in (ROOT / "chapters").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts),
]


def text(path: pathlib.Path) -> str:
    """The text cells of a page."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def places():
    """(page, picture, name of the live figure, label, alt text, caption) of every figure of the class explore-NAME."""
    return [(path, *found) for path in PAGES for found in PLACE.findall(text(path))]


SHOWN = places()
every = pytest.mark.parametrize("name", NAMES)


@every
def test_it_has_a_place_with_words(name):
    shown = [place for place in SHOWN if place[2] == name]
    assert shown, "no page shows it"
    for path, picture, _, label, alt, caption in shown:
        assert (path.parent / picture).resolve() == FOLDER / f"{name}.png", label
        assert len(alt.split()) > 30, f"{label}: alt text that tells what is seen"
        assert len(caption.split()) > 15 and not re.search(r"\bclick\b", caption), label


def test_every_place_has_its_figure_and_is_in_the_form_that_is_checked():
    assert {name for _, _, name, *_ in SHOWN} <= set(NAMES)
    for path in PAGES:
        classes = re.findall(r"\bexplore-[a-z]", path.read_text(encoding="utf-8"))
        assert len(classes) == len([place for place in SHOWN if place[0] == path]), path


@every
def test_it_has_a_still_at_twice_the_width_of_the_column(name):
    with Image.open(FOLDER / f"{name}.png") as still:
        assert still.width == 1408 and 500 < still.height < 2000
    assert (FOLDER / f"{name}.png").stat().st_size < 300_000


@every
def test_it_asks_before_it_answers_and_keeps_the_contract(name):
    script = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    assert re.search(r"<b>[^<`]*\?</b>", script), "a prediction is asked for"
    assert (
        f"explore.figures['{name}'] = {{" in script and f"explore.physics['{name}'] = {{" in script
    )
    assert script.count("globalThis.explore ??= { figures: {}, physics: {} };") == 1
    assert not re.search(
        r"^\s*(import|export)\b|\bfetch\(|\bimport\(|new Worker|https?://", script, re.M
    )
    assert re.search(r"\bstill:|\bstill\(", script) and re.search(r"\bprobe:|\bprobe\(", script)


def test_the_scripts_of_a_page_are_small():
    size = {path.stem: path.stat().st_size for path in FOLDER.glob("*.js")}
    kit = size.pop("explore") + size.pop("physics")
    assert kit < 20_000 and max(size.values()) < 25_000, "bytes, with their comments"


IMAGE = '<img alt="x" class="explore-another align-default" src="_images/another.png" />'


def test_a_page_loads_the_scripts_of_its_own_figures_only():
    stems = ("explore", "physics", "a-figure", "another")
    files = [f"_static/explore/{stem}.{kind}?v=1" for stem in stems for kind in ("css", "js")]
    files = [SimpleNamespace(filename=name) for name in [*files, "_static/figures.js", None]]
    left = [f.filename for f in book_live.needed(files, "<p>explore-another</p>")]
    assert left == ["_static/figures.js", None]
    left = [f.filename for f in book_live.needed(files, f"<p>{IMAGE}</p>")]
    assert left == [f.filename for f in files if "a-figure" not in str(f.filename)]


def test_two_figures_of_a_page_do_not_share_a_name_in_the_address():
    for path in {path for path, *_ in SHOWN}:
        keys = []
        for name in {name for page, _, name, *_ in SHOWN if page == path}:
            script = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
            state = re.search(r"^  state: \{(.*)\},$", script, re.M)[1]
            keys += re.findall(r"(\w+): \[", state)
        assert len(keys) == len(set(keys)), path
