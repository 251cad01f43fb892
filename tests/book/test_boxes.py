"""What a chapter says of itself: its first screen, its length, the stars and minutes of its exercises."""

import json
import re

import boxes
import exercises
import pytest
from kinds import ROOT, chapters, roads, short_book, spine

CHAPTERS = chapters()
EXERCISE = re.compile(r"^`{3,}\{exercise-start\}(.*)$", re.M)


def test_directives_are_taken_out_whole_and_what_is_around_them_stays():
    text = "one\n::::{dropdown} Proof\n:class: x\ntwo\n:::{note}\nthree\n:::\n::::\nfour\n```{tip}\nfive\n```\nsix"
    kept, found = boxes.outside(text)
    assert kept.split() == ["one", "four", "six"]
    assert [(kind, title) for kind, title, _ in found] == [("dropdown", "Proof"), ("tip", "")]
    assert "three" in found[0][2]


def test_a_link_belongs_to_the_chapter_that_sets_its_label():
    owner = {"ch-a": "one/a", "eq-a-energy": "one/a", "sec-b-idea": "two/b"}
    assert boxes.links("{ref}`words <sec-b-idea>`, {eq}`eq-a-energy`, {ref}`ch-a`", owner) == [
        "two/b",
        "one/a",
    ]


def test_reading_time_has_one_rule():
    for name in CHAPTERS:
        words, formulas, minutes = boxes.measure(boxes.main_line(name))
        assert 800 < words and abs(minutes - words / 150 - 2 * formulas) <= 0.5


@pytest.mark.parametrize("name", CHAPTERS)
def test_one_line_under_the_title_tells_the_time_of_the_rule(name):
    first = boxes.source(name)[0]
    assert re.match(r"\(ch-[a-z0-9-]+\)=\n# [^\n]+\n\n\*\*Needs\*\* [^\n]+\n(\n|$)", first)
    minutes, hours = boxes.told(name)
    assert minutes == pytest.approx(boxes.measure(boxes.main_line(name))[2], abs=1)
    assert hours == pytest.approx(boxes.working(name), abs=0.26)


PARAGRAPHS = ("**You will be able to** ", "**We use** ", "The cells run in about ")
LETTERS = "**Notation.** "


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_box_is_one_fold_below_the_picture(name):
    """The text that follows the first figure opens with it; its paragraphs are of one form."""
    here = cells(name)
    drawn = next(
        k
        for k, cell in enumerate(here)
        if "figure" in cell["metadata"].get("mystnb", {})
        or ":class: explore-" in "".join(cell["source"])  # a live figure has a cell of its own
    )
    texts = ["".join(c["source"]) for c in here[drawn + 1 :] if c["cell_type"] == "markdown"]
    assert texts[0].startswith(":::{dropdown} In this chapter\n**You will be able to** ")
    everything = "\n\n".join(boxes.source(name))
    assert everything.count("{dropdown} In this chapter") == 1
    opened = re.split(r"\n\s*\n", boxes.box(name).strip())
    asked = [head for head in PARAGRAPHS if head != "**We use** " or "**We use**" in opened[1]]
    asked += [LETTERS] * (LETTERS in boxes.box(name))
    assert len(opened) == len(asked) and all(map(str.startswith, opened, asked))
    assert LETTERS not in everything.replace(boxes.box(name), "")


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_main_line_is_so_long_that_it_must_be_split(name):
    assert boxes.measure(boxes.main_line(name))[0] <= 3200


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_has_its_stars_and_minutes(name):
    """On the spine at least two are drills, of one star, and at most seven in all."""
    found = EXERCISE.findall("\n\n".join(boxes.source(name)))
    assert 3 <= len(found)
    assert not [title for title in found if not re.search(r"\(★{1,3}, \d+ min\)$", title)]
    if boxes.titles()[name][0] in spine():
        drills = [title for title in found if "(★, " in title]
        assert 2 <= len(drills) and len(found) <= 7


def test_the_table_of_exercises_has_them_all():
    """Those that the rule of the gates finds, a row for each chapter, in the column of their stars."""
    text = exercises.table()
    rows = re.findall(r"^\| \{ref\}`(ch-[a-z0-9-]+)` \|(.*)\|(.*)\|(.*)\|$", text, re.M)
    assert [label for label, *_ in rows] == [boxes.titles()[name][0] for name in CHAPTERS]
    for name, (_, *columns) in zip(CHAPTERS, rows):
        found = EXERCISE.findall("\n\n".join(boxes.source(name)))
        stars = [len(re.search(r"\((★+),", title)[1]) for title in found]
        assert [column.count(" min<br>") for column in columns] == [
            stars.count(k) for k in (1, 2, 3)
        ]


def test_the_spine_and_the_short_book_are_as_short_as_they_promise():
    """18.2 hours and 9.5 hours."""
    minutes = {
        boxes.titles()[name][0]: boxes.measure(boxes.main_line(name))[2] for name in CHAPTERS
    }
    assert sum(minutes[label] for label in spine()) <= 18.2 * 60
    assert sum(minutes[label] for label in short_book()) <= 9.5 * 60


def printed_in_view(name):
    """Lines that the cells of a chapter print in view, outside its solutions.

    What a cell prints beside a figure is a fold below it (_ext/book_numbers.py).
    """
    lines, solution = 0, False
    for cell in cells(name):
        text, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        if cell["cell_type"] == "markdown":
            gates = re.findall(r"\{solution-(start|end)\}", text)
            solution = gates[-1] == "start" if gates else solution
        elif not (
            solution
            or {"hide-cell", "hide-output"} & set(tags)
            or "figure" in cell["metadata"].get("mystnb", {})
        ):
            lines += sum("".join(o.get("text", "")).count("\n") for o in cell["outputs"])
    return lines


def test_part_one_prints_few_lines_in_view():
    names = [name for name in CHAPTERS if boxes.titles()[name][0] in roads()["chapters/part_1"]]
    assert len(names) == 9 and sum(map(printed_in_view, names)) <= 200


# --- the first screen and the last lines ------------------------------------------------------------------------------


def cells(name):
    return json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_page_opens_on_imports(name):
    first = next(cell for cell in cells(name) if cell["cell_type"] == "code")
    folded = {"hide-input", "hide-cell"} & set(first["metadata"].get("tags", []))
    assert folded or "import " not in "".join(first["source"])


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_is_checked_is_folded(name):
    text = "\n\n".join(boxes.source(name))
    kept, found = boxes.outside(text)
    assert any(
        kind == "dropdown" and "check" in title + inside and "\n|" in inside
        for kind, title, inside in found
    )
    assert not re.search(r"^\|.*\bchecked\b.*\|$", kept, re.M)


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_last_lines_lead_to_the_next_chapter(name):
    last = re.split(r"^## Next$", "\n\n".join(boxes.source(name)), flags=re.M)[-1]
    on = [other for other in CHAPTERS if boxes.titles()[other][0] in spine()]
    after = on[on.index(name) + 1 :] if name in on else []
    assert "?" in last and (not after or after[0] in boxes.links(last, boxes.owners()))


END = ["Exercises", "What is checked, and how well", "Summary", "Further reading", "Next"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_page_ends_in_one_order(name):
    text = boxes.outside("\n\n".join(boxes.source(name)))[0]
    assert re.findall(r"^## (.*)$", text, re.M)[-len(END) :] == END


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_called_by_its_title(name):
    """Nobody knows what Chapter 21 is; the books of others have numbers only."""
    text = "\n\n".join(boxes.source(name)).split("## Further reading")[0]
    assert not re.findall(r"\{numref\}`[^`]*<ch-[^`]*`|\bChapters? \d+", text)
