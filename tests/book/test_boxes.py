"""What a chapter says of itself: the box at its top, its length, the stars and minutes of its exercises."""

import json
import re

import boxes
import pytest
from kinds import ROOT, chapters, roads

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
def test_the_box_has_its_lines_and_tells_the_time_of_the_rule(name):
    lines = [line for line in boxes.box(name) if line in boxes.LINES]
    assert lines in (list(boxes.LINES), [line for line in boxes.LINES if line != "We use"]), lines
    minutes = boxes.measure(boxes.main_line(name))[2]
    assert boxes.told(name) == pytest.approx(minutes, rel=0.2)


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_letters_of_the_page_close_the_box_in_one_form(name):
    text = next(
        text
        for _, title, text in boxes.outside(boxes.source(name)[0])[1]
        if title == "In this chapter"
    )
    paragraphs = re.split(r"\n\s*\n", text.strip())
    letters = [k for k, p in enumerate(paragraphs) if "Letters of this page" in p]
    assert letters in ([], [len(paragraphs) - 1])
    assert not letters or paragraphs[-1].startswith("**Letters of this page.** ")


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_main_line_is_so_long_that_it_must_be_split(name):
    assert boxes.measure(boxes.main_line(name))[0] <= 3200


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_has_its_stars_and_minutes(name):
    found = EXERCISE.findall("\n\n".join(boxes.source(name)))
    assert 3 <= len(found)
    assert not [title for title in found if not re.search(r"\(★{1,3}, \d+ min\)$", title)]


# --- the first screen and the last lines ------------------------------------------------------------------------------


def cells(name):
    return json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_page_opens_on_imports(name):
    first = next(cell for cell in cells(name) if cell["cell_type"] == "code")
    assert "hide-input" in first["metadata"].get("tags", []) or "import " not in "".join(
        first["source"]
    )


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
    """To the one that follows, and from the chapter before a side road also past it."""
    last = re.split(r"^## Next$", "\n\n".join(boxes.source(name)), flags=re.M)[-1]
    on = sum((spine for spine, _ in roads().values()), [])
    after = CHAPTERS[CHAPTERS.index(name) + 1 :]
    ahead = after[:1] + [other for other in after if boxes.titles()[other][0] in on][:1]
    assert "?" in last and (not after or set(boxes.links(last, boxes.owners())) & set(ahead))


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
