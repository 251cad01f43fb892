"""Each number of the errata is printed or said where its entry points, is quoted with a reason, or is computed here."""

import loose_numbers
import numpy as np
import pytest
from reference import data as book

from spinlib.reproduce import load

DATA = book.read()
QUOTED = {
    where[1:]: why
    for where, why in loose_numbers.allowed().items()
    if where[0] == "reference/errata"
}


def test_every_number_of_the_errata_is_printed_where_its_entry_points():
    found = {
        (key, number.written): sentence
        for key, sentence, number in loose_numbers.loose_errata(DATA)
    }
    new = {where: sentence for where, sentence in found.items() if where not in QUOTED}
    assert not new, (
        "give the entry a label (or a check) whose section prints it, or a reason in allowed_numbers.yml"
    )
    assert not set(QUOTED) - set(found), "found by now: take it out of allowed_numbers.yml"


@pytest.mark.parametrize("wrong", ["0.122, 0.685, 0.247", "0.840", "0.1307(2)"])
def test_an_old_number_is_found(wrong):
    entry = next(e for _, e in book.entries(DATA) if e["id"] == "fig-18") | {
        "effect": f"It was {wrong}."
    }
    assert list(loose_numbers.loose_errata({"sections": [{"entries": [entry]}]}))


def test_figure_18_quotes_the_stored_run():
    """With the standard errors of the mean over its draws, in the last digits."""
    stored, text = (
        load("fig18"),
        next(e for _, e in book.entries(DATA) if e["id"] == "fig-18")["effect"],
    )
    for name, decimals in (("real", 4), ("shuffled", 3), ("no_coupling", 4)):
        errors = stored[name][list(stored["ridge"]).index(0.01)]
        bar = errors.std(ddof=1) / np.sqrt(len(errors))
        assert f"{errors.mean():.{decimals}f}({bar * 10**decimals:.0f})" in text
        assert f"{stored[name][list(stored['ridge']).index(1.0)].mean():.3f}" in text


def test_figure_14_quotes_the_stored_run():
    """Every second value of c, from 0.05 to 0.95."""
    stored, text = (
        load("fig14"),
        next(e for _, e in book.entries(DATA) if e["id"] == "fig-14")["correct"],
    )
    assert np.allclose(stored["c"][::2], np.arange(5, 100, 10) / 100)
    assert ", ".join(f"{error:.2f}" for error in stored["exact_half"].mean(1)[::2]) in text


@pytest.mark.slow
def test_figure_13_with_the_covariance_of_the_program():
    """Prompts drawn token by token: mean fields of the diagonal spins and their mean couplings, within 5 s.e."""
    D, N, P, c = 10, 100, 2000, 0.5
    L = np.linalg.cholesky(c + (1 - c) * np.eye(N + 1))
    text = next(e for _, e in book.entries(DATA) if e["id"] == "fig-13")["effect"]
    for side, field, coupling in ((L, 0.375, -0.202), (L.T, 0.053, -0.002)):
        fields, couplings = [], []
        for draw in range(4):
            rng = np.random.default_rng([13, draw])
            x = np.einsum("jk,pkm->pjm", side, rng.standard_normal((P, N + 1, D)))
            y = np.einsum("pjm,pm->pj", x, rng.standard_normal((P, D))) / np.sqrt(D)
            s = np.einsum("pjm,pj->pm", x[:, :N], y[:, :N]) / N * x[:, N]  # the diagonal features
            pairs = (s.sum(1) ** 2 - (s**2).sum(1)) / (D * (D - 1))
            fields.append((s * y[:, N:]).mean(1))
            couplings.append(-pairs)
        for values, wanted in ((fields, field), (couplings, coupling)):
            values = np.concatenate(values)
            assert abs(values.mean() - wanted) < 5 * values.std() / np.sqrt(len(values)) + 0.0005
            assert f"{abs(wanted)}" in text
