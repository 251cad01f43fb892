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
    assert not [where for where in found if where not in ALLOWED], (
        "print it by a cell of its section; if it is worked out by hand, say so in allowed_numbers.yml"
    )
    done = [where for where in ALLOWED if where[0] == page and where not in found]
    assert not done, "found by now: take it out of allowed_numbers.yml"


def test_the_list_of_allowed_numbers_is_in_order():
    """Pages that are there, and a reason for each number."""
    assert {page for page, _, _ in ALLOWED} <= {*PAGES, "reference/errata"}
    assert all(isinstance(number, str) and len(why) > 4 for (_, _, number), why in ALLOWED.items())


def test_a_wrong_number_is_found(capsys):
    """Every number with two significant digits behind the point, changed by 10 % up and down; 200 of these drawn."""
    found = []
    for page, sections in PAGES.items():
        for section in sections:
            for sentence, cell, number in section.numbers():
                if (
                    number.decimals > 1
                    and number.digits > 1
                    and "e" not in number.written
                    and not number.percent
                ):
                    for factor in (0.9, 1.1):
                        wrong = f"{factor * number.value:.{number.decimals}f}"
                        changed = replace(
                            number,
                            value=float(wrong),
                            written=wrong,
                            digits=len(wrong.replace(".", "").lstrip("0")),
                        )
                        found.append(
                            not section.knows(sentence, cell, changed, LABELS)
                            and (page, section.title or "opening", wrong) not in ALLOWED
                        )
    drawn = np.random.default_rng(0).choice(found, 200, replace=False)
    with capsys.disabled():
        print(
            f"\nof {len(found)} changed numbers {np.mean(found):.1%} are found; of 200 drawn, {np.mean(drawn):.1%}"
        )
    assert len(found) > 1000 and np.mean(found) >= 0.95  # of all: a draw of 200 scatters by 1.5 %


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
