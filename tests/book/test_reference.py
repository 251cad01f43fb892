"""The map of the thesis is complete, and every label, function and check that it names exists."""

import ast
import copy
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
from make_reference import PAGES
from reference import data as book
from reference import errata

DATA = book.read()
FIELDS = {
    "id",
    "says",
    "verdict",
    "printed",
    "correct",
    "why",
    "effect",
    "label",
    "check",
    "digits",
    "code",
    "note",
    "paper",
}
EXPECTED = {*range(1, 173), *(f"fig-{n}" for n in range(5, 19))}
ESCAPES = {"skip", "skipif", "xfail", "importorskip"}


def escapes(node):
    """Words that keep a test from running: decorators and calls such as pytest.skip, pytest.mark.xfail."""
    return {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute)
        and n.attr in ESCAPES
        and ast.unparse(n).startswith("pytest.")
    }


def written_tests():
    """tests/test_x.py::test_y -> the escapes in it and in the top level of its file."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        functions = [n for n in body if isinstance(n, ast.FunctionDef)]
        outside = set().union(
            *(escapes(n) for n in body if not isinstance(n, (ast.FunctionDef, ast.ClassDef)))
        )
        file = path.relative_to(ROOT).as_posix()
        found |= {
            f"{file}::{f.name}": outside | escapes(f)
            for f in functions
            if f.name.startswith("test_")
        }
    return found


LABELS, TESTS = book.labels(book.drafts()), written_tests()
IN_BOOK = book.in_book()
FUNCTIONS = {name for module in book.modules() for name, _ in book.documented(module)}


def problems(data):
    """Everything that is wrong with a map of the thesis, in words."""
    pairs = book.entries(data)
    ids = [entry.get("id") for _, entry in pairs]
    yield from (f"{i}: missing" for i in sorted(EXPECTED - set(ids), key=str))
    yield from (f"{i}: twice" for i in sorted({i for i in ids if ids.count(i) > 1}, key=str))
    yield from (
        f"{i}: no such equation or figure"
        for i in ids
        if i not in EXPECTED and not re.fullmatch(r"\d+-(text|x)|code-[a-z-]+", str(i))
    )
    yield from (
        f"first: {key} needs no correction"
        for one in data["first"]
        for key in one["entries"]
        if not any(entry.get("id") == key and "why" in entry for _, entry in pairs)
    )
    for section, entry in pairs:
        yield from (
            f"{entry.get('id')}: {problem}" for problem in entry_problems(data, section, entry)
        )


def entry_problems(data, section, entry):
    if section["chapter"] not in data["chapters"]:
        yield f"its chapter {section['chapter']} has no title"
    yield from (f"unknown field {field}" for field in set(entry) - FIELDS)
    verdict = entry.get("verdict")
    if verdict not in data["verdicts"]:
        yield f"unknown verdict {verdict}"
    needs = {"id", "says", "verdict"}
    if verdict in book.CORRECTED:
        needs |= {"printed", "correct", "why"} | (
            {"effect"} if verdict in ("wrong", "code differs") else set()
        )
    elif {"printed", "correct", "why", "effect"} & set(entry):
        yield f"a correction of what is {verdict}"
    yield from (f"no {field}" for field in sorted(needs) if not str(entry.get(field, "")).strip())
    for field in ("says", "printed", "correct", "why", "effect", "note"):
        text = str(entry.get(field, ""))
        tex = field in ("printed", "correct") and not text.startswith("words:")
        if text.count("$") % 2 or (tex and "$" in text):
            yield f"{field}: dollar signs (a field of words and TeX starts with words:)"
        if text.count(r"\changed{") and field not in ("printed", "correct"):
            yield f"{field}: only printed and correct are marked"
        if "|" in text and field in ("says", "note"):
            yield f"{field}: a vertical bar ends the cell of a table"
    if section["chapter"] in IN_BOOK and not {"label", "check"} <= set(entry):
        yield f"{section['chapter']} is in the book: label and check are needed"
    if "label" in entry and entry["label"] not in LABELS:
        yield f"no label {entry['label']} in the chapters"
    if "paper" in entry and not re.fullmatch(
        r"Fig\. S?[1-9]\d*|Eqs?\. \(S?[1-9]\d*\)", str(entry["paper"])
    ):
        yield f"paper: {entry['paper']} is not of the form Fig. 2, Fig. S7 or Eq. (3)"
    yield from (
        f"no function spinlib.{code}" for code in entry.get("code", []) if code not in FUNCTIONS
    )
    yield from check_problems(entry, entry.get("check", "definition"))


def check_problems(entry, check):
    if check == "definition":
        if "digits" in entry:
            yield "digits of a definition"
        if "label" in entry and entry["verdict"] == "wrong":
            yield "wrong, so a test has to show it"
        return
    if not check or not isinstance(check, list):
        yield "check is a list, or the word definition"
        return
    for name in check:
        if "::" not in name and name not in LABELS:
            yield f"no label {name} in the chapters"
        elif "::" in name and name not in TESTS:
            yield f"no test {name}"
        elif "::" in name and TESTS[name]:
            yield f"{name} may not run: {', '.join(sorted(TESTS[name]))}"
    if entry["verdict"] in ("wrong", "misprint") and not any("::" in name for name in check):
        yield f"{entry['verdict']}, so a test has to show it"
    digits = entry.get("digits")
    if not (digits in ("exact", "5 s.e.") or (isinstance(digits, int) and 1 <= digits <= 16)):
        yield f"digits {digits}"


def test_the_map_is_complete_and_every_name_in_it_exists():
    assert list(problems(DATA)) == []


def entry_of(data, key):
    return next(entry for _, entry in book.entries(data) if entry["id"] == key)


@pytest.mark.parametrize(
    "key, change, word",
    [
        (33, {"id": 34}, "33: missing"),
        (33, {"id": 34}, "34: twice"),
        (7, {"id": "7-sentence"}, "no such equation"),
        (33, {"verdict": "fine"}, "unknown verdict"),
        (33, {"correct": ""}, "no correct"),
        (153, {"effect": ""}, "no effect"),
        (1, {"why": "because"}, "a correction of"),
        (1, {"label": "eq-nowhere"}, "no label eq-nowhere"),
        (1, {"code": ["pspin.nothing"]}, "no function"),
        (1, {"check": ["tests/_core/test_core.py::test_nothing"], "digits": 3}, "no test"),
        (1, {"check": ["fig-nowhere"], "digits": 3}, "no label fig-nowhere"),
        (1, {"check": []}, "check is a list"),
        (1, {"check": ["tests/_core/test_core.py::test_a"], "digits": 0}, "digits 0"),
        (1, {"tex": "x"}, "unknown field"),
        ("fig-6", {"paper": "S2"}, "not of the form"),
        (33, {"printed": "with $x$"}, "dollar signs"),
        (33, {"check": ["fig-nowhere"], "digits": 3}, "has to show it"),
    ],
)
def test_a_broken_map_is_found(key, change, word):
    data = copy.deepcopy(DATA)
    entry_of(data, key).update(change)
    assert any(word in problem for problem in problems(data))


def test_numbers_of_the_english_paper_are_given_once_each_and_shown():
    """Of the figures 5 to 18 twelve have a folder in the published code, named by their number in the paper."""
    known = {entry["id"]: entry["paper"] for _, entry in book.entries(DATA) if "paper" in entry}
    figures = [word for word in known.values() if word.startswith("Fig.")]
    assert sorted(figures) == sorted(
        [f"Fig. {n}" for n in range(1, 5)] + [f"Fig. S{n}" for n in range(1, 9)]
    )
    page = PAGES["reference/equation_index.md"](DATA)
    for key, word in known.items():
        assert re.search(
            rf"{re.escape(book.name(entry_of(DATA, key)))}\b[^;|]*paper: {re.escape(word)}\b", page
        ), key


def test_five_come_first_and_each_needs_a_correction():
    assert len(DATA["first"]) == 5
    data = copy.deepcopy(DATA)
    data["first"][0]["entries"] = [1]
    assert any("first: 1 needs no correction" in problem for problem in problems(data))


@pytest.mark.parametrize(
    "text, shown",
    [
        (r"a \changed{+} b", r"$$ a \textcolor{#B94700}{+} b $$"),
        ("words:about $x$ or y", "about $x$ or y."),
        (
            r"words:$q_1$ \changed{inside} $\changed{x}$",
            r"$q_1$ **inside** $\textcolor{#B94700}{x}$.",
        ),
    ],
)
def test_the_changed_symbol_is_marked(text, shown):
    assert errata.shown(text) == shown


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.skip\ndef test_a(): pass",
        "@pytest.mark.skipif(True, reason='')\ndef test_a(): pass",
        "@pytest.mark.xfail(strict=True)\ndef test_a(): pass",
        "def test_a():\n    pytest.skip('later')",
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.xfail)])\ndef test_a(x): pass",
    ],
)
def test_a_test_that_may_not_run_is_found(source):
    assert escapes(ast.parse(source))
    assert not escapes(
        ast.parse("@pytest.mark.parametrize('x', [1])\ndef test_a(x):\n    assert x")
    )


def test_docstrings_cite_equations_that_exist():
    for module in book.modules():
        for name, text in book.documented(module):
            assert len(re.findall(r"[Tt]hesis\s+eqs?\b", text)) == len(
                book.CITATION.findall(text)
            ), f"{name}: write Thesis eq. (153) or Thesis eqs. (125)-(128)"
            assert set(book.numbers(text)) <= set(range(1, 173)), name


def test_numbers_of_a_citation():
    docstring = "x (Thesis eqs. (125)-(127), (131)), y (Thesis\n eq. (27c)); eq. (5)"
    assert book.numbers(docstring) == [27, 125, 126, 127, 131]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_the_committed_ones(page):
    text = (book.REFERENCE.parent / page).read_text(encoding="utf-8")
    assert text == PAGES[page](DATA), "run: make reference"


def test_text_after_eq_153_couplings_grow_as_D4():
    """The text counts O(D^2) numbers; the couplings that (153) reads are (D(D+1))^2, 12.9 GB at D = 200."""
    from spinlib.icl import LinearTask, to_spin_glass

    for D in (3, 6, 12):
        glass = to_spin_glass(LinearTask(D, 5).sample_features(4, rng=0), ridge=0.1)
        assert glass.J.size == (D * (D + 1)) ** 2 and glass.h.size == D * (D + 1)
    assert round((200 * 201) ** 2 * glass.J.itemsize / 1e9, 1) == 12.9
