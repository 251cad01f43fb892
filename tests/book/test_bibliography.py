"""References that a reader can follow: each entry has a DOI or an arXiv number, each citation has an entry."""

import json
import pathlib
import re
from collections import Counter

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = (ROOT / "references.bib").read_text(encoding="utf-8")
DOI = re.compile(r"10\.\d{4,9}/\S+")
ARXIV = re.compile(r"\d{4}\.\d{4,5}|[a-z-]+/\d{7}")
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


def entries(source):
    """Key -> fields of every entry, as a list, so that a key written twice is seen."""
    found = []
    for kind, key, body in re.findall(r"^@(\w+)\{([^,\s]+),\n(.*?)^\}", source, re.S | re.M):
        found.append(
            (
                key,
                {
                    "type": kind.lower(),
                    **dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, re.M)),
                },
            )
        )
    return found


ENTRIES = entries(SOURCE)


def pages():
    """Text of every page: what the book shows, captions of figures included."""
    chapters = ROOT / "chapters"
    files = [
        *ROOT.glob("*.md"),
        *ROOT.glob("*.ipynb"),
        *chapters.rglob("*.md"),
        *chapters.rglob("*.ipynb"),
    ]
    for path in sorted(files):
        if ".ipynb_checkpoints" in path.parts or path.name in ("README.md", "CONTRIBUTING.md"):
            continue
        if path.suffix == ".md":
            yield path, path.read_text(encoding="utf-8")
        else:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
            figures = [c["metadata"].get("mystnb", {}).get("figure", {}) for c in cells]
            yield path, text + "\n".join(figure.get("caption", "") for figure in figures)


def citations(text):
    return [key.strip() for keys in CITATION.findall(text) for key in keys.split(",")]


def missing(fields):
    """What keeps a reader from finding the work; empty when nothing does."""
    problems = [name for name in ("author", "title", "year") if not fields.get(name, "").strip()]
    numbers = {"doi": DOI, "eprint": ARXIV}
    problems += [
        f"{name} {fields[name]!r} has the wrong form"
        for name, form in numbers.items()
        if name in fields and not form.fullmatch(fields[name])
    ]
    on_the_web_alone = fields["type"] == "misc" and fields.get("url", "").startswith("https://")
    if not any(name in fields for name in numbers) and not on_the_web_alone:
        problems.append("neither doi nor eprint")
    return problems


def test_the_file_is_read_whole():
    assert len(ENTRIES) == len(re.findall(r"^@", SOURCE, re.M)) >= 25


def test_no_key_twice():
    assert not [
        key for key, count in Counter(key.lower() for key, _ in ENTRIES).items() if count > 1
    ]


@pytest.mark.parametrize("key, fields", ENTRIES, ids=[key for key, _ in ENTRIES])
def test_entry_can_be_found(key, fields):
    assert not missing(fields)


@pytest.mark.parametrize(
    "spoiled, problem",
    [
        (
            {"type": "article", "author": "A", "title": "T", "year": "2000"},
            "neither doi nor eprint",
        ),
        (
            {"type": "book", "author": "A", "title": "T", "year": "2000", "isbn": "1"},
            "neither doi nor eprint",
        ),
        (
            {
                "type": "article",
                "author": "A",
                "title": "T",
                "year": "2000",
                "doi": "doi.org/10.1/x",
            },
            "wrong form",
        ),
        ({"type": "article", "author": "A", "title": "T", "eprint": "2408.02288"}, "year"),
    ],
)
def test_spoiled_entries_are_noticed(spoiled, problem):
    assert any(problem in text for text in missing(spoiled))


def test_every_citation_has_an_entry():
    known = {key for key, _ in ENTRIES}
    assert citations("see {cite}`A, B` and {cite:t}`C`") == ["A", "B", "C"]
    unknown = {
        str(path.relative_to(ROOT)): sorted(set(citations(text)) - known) for path, text in pages()
    }
    assert not {path: keys for path, keys in unknown.items() if keys}
