"""The front matter says what is true: README, front page, glossary, contributing guide."""

import contextlib
import io
import json
import pathlib
import re
import runpy
import tomllib

import book_map
import boxes
import front_pictures
import pytest
import yaml
from kinds import FURTHER, contents, kind, roads, short_book, spine

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONVENTIONS = (ROOT / "conventions.md").read_text(encoding="utf-8")
INTRO = json.loads((ROOT / "intro.ipynb").read_text(encoding="utf-8"))["cells"]
INTRO_TEXT = "\n\n".join("".join(cell["source"]) for cell in INTRO)
TITLES = boxes.titles()
PATHS = dict(re.findall(r"^\* \*\*(.+?)\*\* (\(.+)$", INTRO_TEXT.split("} Two paths")[1], re.M))
GLOSSARY = CONVENTIONS.split(":::{glossary}\n")[1].split("\n:::")[0]
TERMS = re.findall(r"^(\S[^\n]*)\n(\S[^\n]*)\n  (\S[^\n]*)$", GLOSSARY, re.M)


def test_the_example_of_the_readme_prints_what_it_says():
    code, promised = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", README, re.S).groups()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == promised
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def test_the_large_example_of_the_guide_runs(tmp_path, monkeypatch):
    code = re.search(r"```py\n(import os\n.*?)```", GUIDE, re.S)[1]
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(
            compile(
                code.replace("D = 200", "D = 20").replace("jobs=2", "jobs=1"),
                "CONTRIBUTING.md",
                "exec",
            ),
            {},
        )
    error, law = (float(number) for number in re.findall(r"0\.\d{4}", out.getvalue()))
    assert error == pytest.approx(law, rel=0.15) and (tmp_path / "run.npz").is_file()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_command_that_is_named_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {
        word
        for words in re.findall(r"(?:^|`)make ([a-z -]+)", text, re.M)
        for word in words.split()
    }
    assert named and named <= targets
    files = set(re.findall(r"`((?:tests|tools|chapters|spinlib)/[\w/.]+)`", text))
    files |= set(re.findall(r"\]\(([\w./-]+)\)", text))
    assert files and not [name for name in files if not (ROOT / name).exists()]


@pytest.mark.parametrize("name", front_pictures.PICTURES)
def test_a_picture_of_an_opening_page_is_that_of_its_chapter(name):
    picture = (ROOT / "images" / name).read_bytes()
    assert f"images/{name}" in INTRO_TEXT + (ROOT / "chapters" / "part_1.md").read_text(
        encoding="utf-8"
    )
    assert picture == front_pictures.stored(*front_pictures.PICTURES[name]), (
        "run tools/authors/front_pictures.py"
    )


FIGURES = re.findall(r"^:::\{figure\} (images/\S+)\n(.*?)\n:::$", INTRO_TEXT, re.M | re.S)


@pytest.mark.parametrize("file, says", FIGURES)
def test_a_number_of_the_front_page_is_printed_by_the_chapter_that_it_names(file, says):
    """Outside figures the page has no number of a result, and it has neither code nor printed output."""
    caption = says.split("\n\n", 1)[1]
    label = re.search(r"\{ref\}`(ch-[\w-]+)`", caption)[1]
    name = next(name for name, (ours, _) in TITLES.items() if ours == label)
    cells = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    known = " ".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))
    known += " ".join("".join(c["source"]) for c in cells)
    known = re.sub(r"(?<=\d)[ _](?=\d{3}\b)", "", known)
    numbers = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d) (?=\d{3}\b)", "", caption))
    loose = [n for n in numbers if len(n) > 2 and not re.search(rf"(?<![\d.]){n}(?!\d)", known)]
    assert not loose and len(caption.split()) > 20 and ":alt: " in says
    assert len(re.findall(r"[.?!](?: |$)", caption.strip())) == 1, "one sentence each"


def test_the_front_page_claims_before_it_hedges():
    """Three sentences, the live figure with the question that it raises, pictures, and only then the small print."""
    claim = INTRO_TEXT.split("\n\n")[2]
    assert len(re.findall(r"[.?!](?: |$)", claim)) == 3 and "{" not in claim
    assert INTRO_TEXT[: INTRO_TEXT.index(":class: question")].count("{figure}") == 1
    before = INTRO_TEXT[: INTRO_TEXT.index("**The small print.**")]
    assert "every ridge regression" not in before and "constant" not in before
    assert before.count("{figure}") == 3 and {cell["cell_type"] for cell in INTRO} == {"markdown"}
    for files in ("README.md", "CITATION.cff"):
        about = INTRO_TEXT.split("\n\n")[1].split(". ")[0].lower()
        assert about in (ROOT / files).read_text(encoding="utf-8").lower(), files


PEOPLE = "Who asked, who answered, and what it cost"
OPENINGS = [(names[0], names[1:]) for _, names in contents() if kind(names[0]) == "opening"]


@pytest.mark.parametrize("opening, names", OPENINGS)
def test_a_part_opens_with_its_question_a_picture_its_chapters_and_people(opening, names):
    text = (ROOT / f"{opening}.md").read_text(encoding="utf-8")
    assert roads()[opening] == [TITLES[name.removeprefix("chapters/")][0] for name in names]
    assert "**The question.**" in text and len(text.partition("\n## ")[0].split()) < 500
    if opening == FURTHER:
        return
    assert re.match(r"\(part-\d\)=\n# [IV]+ · ", text)
    ours = "**The question.**", "```{image}", "**The chapters**", "**Problems.**", f"## {PEOPLE}\n"
    order = [text.find(words) for words in ours if words != "**Problems.**" or words in text]
    assert -1 < order[0] and order == sorted(set(order))
    picture, alt = re.search(r"```\{image\} (\S+)\n:alt: (.+)", text).groups()
    assert (ROOT / "chapters" / picture).is_file() and len(alt.split()) > 15
    people = text.partition(f"## {PEOPLE}\n")[2]
    assert 150 < len(people.split()) < 350 and len(re.findall(r"\{cite(?::t)?\}`", people)) >= 5


def test_the_pictures_of_the_parts_are_drawn_by_their_script():
    import part_pictures

    assert sorted(part_pictures.PICTURES) == list(range(1, len(roads())))


# --- the front page: its map and its paths are those of the boxes ---------------------------------------------------


def test_the_map_has_every_chapter_and_what_it_needs():
    drawn = [box for _, boxes_of_part in book_map.rows() for box in boxes_of_part]
    assert [(k, label, title) for k, label, title, *_ in drawn] == [
        (k, *title) for k, title in enumerate(TITLES.values(), 1)
    ]
    arrows, names = boxes.reduced(boxes.needs()), list(TITLES)
    for number, _, _, needs, _ in drawn:
        assert [names[need - 1] for need in needs] == sorted(
            arrows[names[number - 1]], key=names.index
        )
    assert ":::{book-map}" in INTRO_TEXT


def test_a_reduced_graph_has_the_arrows_that_follow_from_no_others():
    graph = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c", "a"]}
    assert boxes.reduced(graph) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]}


def test_no_chapter_of_the_spine_needs_a_further_one_or_a_later_one():
    order, on = list(TITLES), [name for name, (label, _) in TITLES.items() if label in spine()]
    assert len(on) < len(TITLES) - 8 and on == order[: len(on)], "the further chapters come last"
    for name, near in boxes.needs().items():
        late = [need for need in near if order.index(need) > order.index(name)]
        assert not late and (name not in on or set(near) <= set(on)), name


def test_the_short_book_is_whole():
    """Fourteen stations; what a station needs is on the path, or its page says where to read it; hours as it tells."""
    text = (ROOT / "chapters" / "short_book.md").read_text(encoding="utf-8")
    name = {label: name for name, (label, _) in TITLES.items()}
    stations = [name[label] for label in short_book()]
    needed = {need for station in stations for need in boxes.needs()[station]}
    assert len(stations) == 14 and needed <= set(stations)
    hours = sum(boxes.told(station)[0] for station in stations) / 60
    assert "about nine hours" in text and hours == pytest.approx(9, abs=0.5)
    work = sum(boxes.told(station)[1] for station in stations) - hours
    assert "about thirty-five hours more" in text and work == pytest.approx(35, abs=2)


def path(text):
    """The chapters of a path in its order; the physicist's is the spine."""
    if "the spine of all five parts" in text:
        on = spine()
    else:
        said = text.partition(":")[0]
        on = re.findall(r"\{ref\}`(ch-[a-z0-9-]+)`", said)
    return [name for name, (label, _) in TITLES.items() if label in on], on


@pytest.mark.parametrize("who", PATHS)
def test_a_path_has_all_that_its_chapters_need_and_its_hours(who):
    names, labels = path(PATHS[who])
    assert [TITLES[name][0] for name in names] == labels and len(names) >= 7, "in reading order"
    assert not {name: need for name in names for need in boxes.needs()[name] if need not in names}
    hours = sum(boxes.told(name)[0] for name in names) / 60
    assert int(re.match(r"\((\d+) hours\)", PATHS[who])[1]) == pytest.approx(hours, abs=0.75)
    assert len(PATHS) == 2
    assert re.search(r"skip|skimmed", PATHS[who]), "which chapters may be skipped"


def test_the_last_lines_lead_along_the_path_of_the_machine_learner():
    names, labels = path(PATHS["A machine learner"])
    for name, after in zip(names, labels[1:]):
        last = re.split(r"^## Next$", "\n\n".join(boxes.source(name)), flags=re.M)[-1]
        assert f"{{ref}}`{after}`" in last, name


def test_the_citation_is_that_of_the_file():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    names = (citation["authors"][0].get(key) for key in ("given-names", "family-names", "name"))
    author = " ".join(filter(None, names))
    year, version = str(citation["date-released"])[:4], f"version {citation['version']}"
    title, about = citation["title"].split(": ")
    assert (
        f"To cite the book: {author} ({year}), *{citation['title']}*, {version}. Please"
        in INTRO_TEXT
    )
    assert INTRO_TEXT.split("\n\n")[0] == f"(ch-intro)=\n# {title}"
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert title == config["title"] == config["sphinx"]["config"]["project"]
    assert (
        INTRO_TEXT.split("\n\n")[1]
        == f"{about[0].upper()}{about[1:]}. {author}, {version} ({year})."
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert author == config["author"] == project["authors"][0]["name"]


def test_the_glossary_has_both_languages():
    """Each entry has an English and a Chinese term, a line each: so both are found by search, and linked."""
    source = CONVENTIONS.split(":::{glossary}\n")[1].split("\n:::")[0]
    assert len(TERMS) == len(source.strip().split("\n\n")) >= 64
    names = [term for term, _, _ in TERMS]
    assert names == sorted(names, key=str.lower), "alphabetical"
    for words in (names, [chinese for _, chinese, _ in TERMS]):
        assert len(words) == len(set(words))
    for term, chinese, definition in TERMS:
        assert re.search(r"[\u4e00-\u9fff]", chinese) and not re.search(r"[\u4e00-\u9fff]", term), (
            term
        )
        assert len(definition.split()) >= 8, term
    everything = "".join(chinese for _, chinese, _ in TERMS)
    words = "空腔", "退火", "对称", "自旋玻璃", "重叠", "复本", "基态", "序参量"
    assert not [word for word in words if word not in everything]


# --- metadata that stands in more than one file ----------------------------------------------------------------------


def pins(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s#]+)", text, re.M)
    return {re.sub(r"[_.-]+", "-", package).lower(): version for package, version in found}


def test_every_pin_is_in_the_constraints():
    direct, whole = pins("requirements.txt"), pins("constraints.txt")
    assert (
        "-c constraints.txt" in (ROOT / "requirements.txt").read_text()
        and len(whole) > 5 * len(direct) > 50
    )
    assert {name: whole.get(name) for name in direct} == direct
    assert not [version for version in whole.values() if "+" in version], (
        "a label such as +cpu suits one machine only"
    )


def test_one_version_everywhere():
    import spinlib

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(
        r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    ).group(1)
    assert spinlib.__version__ == citation["version"] == newest
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "spinlib.__version__"}


def test_jupyterlab_saves_a_chapter_as_it_was():
    tools = runpy.run_path(str(ROOT / "tools" / "lab_config.py"))
    chapter = ROOT / "chapters" / "beyond" / "depth.ipynb"
    stored = json.loads(chapter.read_text(encoding="utf-8"))
    saved = json.loads(chapter.read_text(encoding="utf-8"))
    saved["metadata"]["language_info"] |= {"version": "3.11.0", "file_extension": ".py"}
    saved["cells"][1]["metadata"]["execution"] = {"shell.execute_reply": "2026-01-01T00:00:00Z"}
    tools["keep_metadata"](
        {"type": "notebook", "content": saved},
        path="chapters/beyond/depth.ipynb",
        contents_manager=None,
    )
    assert saved == stored
