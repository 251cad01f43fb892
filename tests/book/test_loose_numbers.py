"""Every number in prose is printed where it stands, or allowed with a reason; and a wrong one would be found."""

import json
from dataclasses import replace

import loose_numbers
import numpy as np
import pytest

PAGES, LABELS = loose_numbers.book()
ALLOWED = loose_numbers.allowed()


@pytest.mark.parametrize("page", PAGES)
def test_every_number_in_prose_is_printed_where_it_stands(page):
    found = {
        (page, title, number.written): sentence
        for title, sentence, number in loose_numbers.loose(page)
    }
    new = [where for where in found if where not in ALLOWED]
    assert not new, (
        "print it by a cell of its section; if it is worked out by hand, say so in allowed_numbers.yml"
    )
    done = [where for where in ALLOWED if where[0] == page and where not in found]
    assert not done, "found by now: take it out of allowed_numbers.yml"


def test_the_list_of_allowed_numbers_is_in_order():
    """Pages that are there, and a reason for each number."""
    assert {page for page, _, _ in ALLOWED} <= {*PAGES, "reference/errata"}
    assert all(isinstance(number, str) and len(why) > 4 for (_, _, number), why in ALLOWED.items())


def other(number, factor):
    """A number changed by a factor, in each of the kinds."""
    if number.kind == "decimal":
        wrong = f"{factor * number.value:.{number.decimals}f}"
        digits = len(wrong.replace(".", "").lstrip("0"))
        return replace(number, value=float(wrong), written=wrong, digits=digits)
    if number.kind == "integer":
        step = max(10**-number.decimals, 1)
        wrong = step * round(
            number.value / step + (1 if factor > 1 else -1) * max(1, 0.1 * number.value / step)
        )
        return replace(number, value=wrong, written=str(wrong), digits=len(str(wrong)))
    if number.kind == "of":
        k, n = number.parts
        k += max(1, round(0.1 * k)) * (1 if factor > 1 and k < n else -1)
        return replace(number, parts=(k, n), value=k / n, written=f"{k} of {n}")
    parts = tuple(1 + factor * (x - 1) if x > 1 else factor * x for x in number.parts)
    return replace(number, parts=parts, value=factor * number.value, written="another fraction")


@pytest.mark.parametrize(
    "kind, least, share",
    [("decimal", 1000, 0.95), ("integer", 1000, 0.9), ("of", 20, 0.8), ("words", 20, 0.7)],
)
def test_a_wrong_number_is_found(kind, least, share, capsys):
    """Every number with two significant digits behind the point, changed by 10 % up and down; and the other kinds."""
    found = []
    for page, sections in PAGES.items():
        for section in sections:
            for sentence, cell, number in section.numbers():
                small = number.decimals <= 1 or number.digits < 2 or "e" in number.written
                if (
                    number.kind != kind
                    or not number.telling
                    or number.percent
                    or (kind == "decimal" and small)
                ):
                    continue
                for changed in (other(number, 0.9), other(number, 1.1)):
                    found.append(
                        not section.knows(sentence, cell, changed, LABELS)
                        and (page, section.title or "opening", changed.written) not in ALLOWED
                    )
    with capsys.disabled():
        print(f"\nof {len(found)} changed numbers ({kind}) {np.mean(found):.1%} are found")
    assert len(found) >= least and np.mean(found) >= share


def page(*cells):
    """A page of cells: text, or (code, output, caption, alternative text)."""
    made = []
    for cell in cells:
        if isinstance(cell, str):
            made.append({"cell_type": "markdown", "source": cell})
        else:
            code, output, caption, alt = cell
            made.append(
                {
                    "cell_type": "code",
                    "source": code,
                    "outputs": [{"text": output}],
                    "metadata": {
                        "mystnb": {
                            "figure": {"caption": caption, "name": "fig-x"},
                            "image": {"alt": alt},
                        }
                    },
                }
            )
    return {"cells": json.loads(json.dumps(made))}


def loose(*cells):
    sections, labels = loose_numbers.sections(page(*cells))
    return [
        number.written
        for section in sections
        for sentence, cell, number in section.numbers()
        if number.telling and not section.knows(sentence, cell, number, labels)
    ]


CELL = (
    "beta = 0.125",
    "mean 0.1234 +- 0.01, share 0.37, n = 12000",
    "It is 0.12.",
    "The line ends at 0.37.",
)


def test_a_number_belongs_to_its_section():
    assert loose("## A\n0.12, $0.123$, 37 %, 0.125 and 0.37.", CELL) == []
    assert loose("## A\n0.13, 38 % and 0.1250.", CELL) == ["0.13", "38", "0.1250"]
    assert loose("## A\nx", CELL, "## B\n0.37, 0.125, but $\\beta=0.01$.") == [
        "0.37",
        "0.125",
        "0.01",
    ]
    assert loose("## A\nx", CELL, "## B\nIn {numref}`fig-x` 0.37. Here 0.37.") == ["0.37"]
    assert loose("## A\n0.36 {cite:p}`somebody`. And `0.99`, [0.98](0.97).", CELL) == ["0.98"]


def test_a_cell_prints_what_its_picture_shows():
    assert loose("## A", CELL, ("", "", "It is 0.37.", "The line ends at 0.37.")) == ["0.37"]


def test_a_folded_cell_after_a_picture_may_print_what_it_shows():
    drawing = "", "", "It is 0.37.", "The line ends at 0.37."
    for tags, found in (["hide-cell"], []), (["hide-input"], ["0.37"]):
        cells = page("## A", drawing, CELL)
        cells["cells"][-1]["metadata"] = {"tags": tags}
        sections, labels = loose_numbers.sections(cells)
        shown = [
            number.written
            for section in sections
            for sentence, cell, number in section.numbers()
            if cell is not None and not section.knows(sentence, cell, number, labels)
        ]
        assert shown == found


def test_integers_counts_and_fractions_in_words():
    cell = "", "fallen 19 of 24, n = 697, factor 1.3, share 0.671, 54 drawn of 900", "", ""
    said = "## A\n19 of 24 fell, about 700, 697 and 7 others, $n=697$, two thirds, in 1985, $2^{64}$, (128)."
    assert loose(said, cell) == []
    assert loose("## A\n18 of 24, 19 of 25.", cell) == ["25", "18 of 24", "19 of 25"]
    assert loose("## A\nAbout 800, 700, 2000.", cell) == ["800", "700", "2000"]
    assert loose("## A\na third more, three quarters of it, a third road.", cell) == [
        "a third more",
        "three quarters",
    ]
    assert loose("## A\n54 of 900, but 54 of 901.", cell) == ["901", "54 of 901"]
    assert (
        loose("## A (★★, 45 min)\n**Takes** 35 min to read.\n\nThe cells run in about 35 s.", cell)
        == []
    )


def test_rounding_has_an_end():
    assert loose("## A\n0.50 and 0.33 and 0.333.", ("", "0.5 0.33333333333 0.33333", "", "")) == [
        "0.50",
        "0.33",
    ]


def test_what_speaks_of_the_page_repeats_its_prose():
    assert loose("# T\n0.37 and 0.1234.", "## A\nIt is 0.37.", CELL, "## Summary\n0.37.") == [
        "0.1234"
    ]


def test_an_exercise_and_its_solution_are_a_section():
    first = "## Exercises\n```{exercise-start}\n:label: ex-a\n```\n*Target:* 0.37.\n```{exercise-end}\n```\n"
    gate = "```{solution-start} ex-a\n```\n", CELL, "It is 0.37.\n```{solution-end}\n```"
    assert loose(first, *gate) == []
    assert loose("## A\n0.37", CELL, first) == ["0.37"]
