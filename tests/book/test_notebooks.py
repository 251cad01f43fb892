"""What nbval cannot see: stripped notebooks, figures without words, exercises without solutions, stray warnings."""

import json
import pathlib
import re

import pytest
from kinds import kind

ROOT = pathlib.Path(__file__).parents[2]
CHAPTERS = sorted(
    p for p in (ROOT / "chapters").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts
)
NOTEBOOKS = [ROOT / "intro.ipynb", *CHAPTERS]
SOLUTIONS = sorted((ROOT / "course" / "solutions").glob("*.ipynb"))


def test_there_are_chapters():
    assert CHAPTERS


@pytest.fixture(params=NOTEBOOKS, ids=lambda p: str(p.relative_to(ROOT)))
def chapter(request):
    notebook = json.loads(request.param.read_text())
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    text = "\n\n".join(
        "".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"
    )
    return request.param, notebook, code, text


def test_executed_in_order_and_clean(chapter):
    path, notebook, code, _ = chapter
    assert path.stat().st_size < 1_500_000
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1)), (
        "run it: make execute CHAPTER=..."
    )
    for cell in code:
        for output in cell["outputs"]:
            assert output.get("name") != "stderr", (cell["id"], output)
            assert output["output_type"] != "error" or "raises-exception" in cell["metadata"].get(
                "tags", []
            )


@pytest.mark.parametrize("path", [*NOTEBOOKS, *SOLUTIONS], ids=lambda p: str(p.relative_to(ROOT)))
def test_what_is_printed_fits_the_column(path):
    """85 signs are as wide as the text on a desktop; what is longer is cut there, and a reader must scroll for it."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    texts = [(c["id"], "".join(o.get("text", ""))) for c in cells for o in c["outputs"]]
    long = [
        f"{name}: {line}" for name, text in texts for line in text.split("\n") if len(line) > 85
    ]
    assert not long, "\n".join(long)


def test_no_cell_escapes_the_proof(chapter):
    """A tag that switches nbval off must say why in the first line of its cell."""
    for cell in chapter[2]:
        escapes = {"nbval-skip", "nbval-ignore-output", "skip-execution"} & set(
            cell["metadata"].get("tags", [])
        )
        comments = re.findall(r"NBVAL_\w+", "".join(cell["source"]))
        assert not comments, f"{cell['id']}: use a tag and give the reason"
        if escapes:
            assert "".join(cell["source"]).startswith("# not compared:"), (
                f"{cell['id']}: say why it is {escapes}"
            )


def test_figures_have_words(chapter):
    _, _, code, _ = chapter
    figures = [c for c in code if any("image/png" in o.get("data", {}) for o in c["outputs"])]
    assert figures or kind(chapter[0]) != "chapter", "a chapter shows at least one figure"
    for cell in figures:
        words = cell["metadata"].get("mystnb", {})
        assert len(words.get("image", {}).get("alt", "")) > 30, (
            f"{cell['id']}: alt text that tells what is seen"
        )
        assert len(words.get("figure", {}).get("caption", "")) > 30, (
            f"{cell['id']}: a caption that states the message"
        )
        assert re.fullmatch(r"fig-[a-z0-9-]+", words["figure"].get("name", "")), (
            f"{cell['id']}: a name fig-..."
        )


def test_a_figure_prints_its_key_numbers(chapter):
    """A figure with numbers on its axes, in its cell or a folded one after it; a drawing of an idea has none."""
    cells = chapter[2] if kind(chapter[0]) == "chapter" else []
    for cell, after in zip(cells, [*cells[1:], {}]):
        source, name = (
            "".join(cell["source"]),
            cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", ""),
        )
        drawing = name.endswith("-idea") or 'axis("off")' in source or "set_axis_off" in source
        if name and not drawing:
            folded = "hide-cell" in after.get("metadata", {}).get("tags", [])
            outputs = cell["outputs"] + (after["outputs"] if folded else [])
            printed = "".join("".join(output.get("text", "")) for output in outputs)
            assert printed.strip(), (
                f"{cell['id']}, {name}: print the numbers that the picture shows"
            )


def test_exercises_have_one_solution_each(chapter):
    text = chapter[3]
    exercises = re.findall(r"\{exercise(?:-start)?\}[^\n]*\n:label:\s*(\S+)", text)
    solutions = re.findall(r"\{solution(?:-start)?\}\s*(\S+)", text)
    assert len(exercises) >= 3 or kind(chapter[0]) != "chapter"
    assert sorted(exercises) == sorted(solutions)


def test_a_summary_ends_with_what_was_tried(chapter):
    """Its last English line, before the box in Chinese."""
    summary = re.search(r"^## Summary\n(.*?)(?=^(?::::|## ))", chapter[3], re.M | re.S)
    assert summary or kind(chapter[0]) != "chapter"
    assert not summary or re.search(r"\n\n\*Tried at: .*\.\*\s*\Z", summary[1])


def test_labels_and_directives(chapter):
    text = chapter[3]
    assert re.match(r"\((ch-[a-z0-9-]+)\)=\n# ", text), (
        "a chapter starts with its label (ch-...)= and its title"
    )
    forms = r"^:label:\s*(\S+)", r"^\(([^)\n]+)\)=$", r"^\$\$ \(([^)\n]+)\)$"
    labels = [label for form in forms for label in re.findall(form, text, re.M)]
    odd = [label for label in labels if not re.fullmatch(r"[a-z0-9-]+", label)]
    assert not odd, "labels are lower case with hyphens: others break selectors"
    assert len(labels) == len(set(labels)), "a label twice"
    broken = re.search(r"\{prf:proof\}[^\n]*\n:class:.*dropdown", text)
    assert not broken, "breaks every toggle of the page; use {dropdown}"
    without = re.sub(r"\$\$.*?\$\$", "$$$$", text, flags=re.S)
    assert not re.search(r"[^\n]\n\$\$\$\$", without), "a blank line before every display formula"
    assert not re.search(r"can be shown|easy to see|\btrivially\b|\bobviously\b", text, re.I), (
        "show it"
    )


def test_one_thread_in_a_kernel_of_the_readers_own(chapter):
    """Make sets one thread; a plain kernel takes as many as there are processors, and is up to eight times slower."""
    if not chapter[2]:
        assert chapter[0].name == "intro.ipynb", "the one notebook without code"
        return
    first = "".join(chapter[2][0]["source"])
    threads_first = r'setdefault\("OMP_NUM_THREADS", "1"\)(?s:.*)import numpy'
    assert re.search(threads_first, first), "the first cell, before numpy is imported"
    assert first.startswith('# needs spinlib: in a clone of the book, pip install ".[all]"'), (
        "for who downloads it"
    )


def test_every_label_that_a_page_links_to_exists():
    """The build says so too, minutes later."""
    texts = {
        path: path.read_text()
        for path in [ROOT / "conventions.md", *(ROOT / "chapters").rglob("*.md")]
    }
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text())["cells"]
        names = [c["metadata"].get("mystnb", {}).get("figure", {}).get("name", "") for c in cells]
        texts[path] = "\n\n".join(
            ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
            + [f":name: {name}" for name in names if name]
        )
    labels, links = set(), {}
    for path, text in texts.items():
        labels |= set(
            re.findall(
                r"^\s*\(([\w-]+)\)=|:(?:label|name): *([\w-]+)|\$\$ *\(([\w-]+)\)", text, re.M
            )
        )
        for role, target in re.findall(r"\{(ref|numref|eq)\}`(?:[^`<]*<)?([^`<>]+)>?`", text):
            links.setdefault(target, f"{{{role}}}`{target}` in {path.relative_to(ROOT)}")
    known = {name for names in labels for name in names}
    assert (
        len(links) > 500 and [said for target, said in links.items() if target not in known] == []
    )
