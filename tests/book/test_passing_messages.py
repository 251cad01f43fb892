"""What chapters/beyond/passing_messages defines: filters, shares, echo, growth of a trace, loopy messages."""

import numpy as np
import pytest
from pages import from_page

from spinlib.factor_graph import FactorGraph, bp, enumerate_states
from spinlib.reproduce._experiments.passing_messages import grammar, together, words

PAGE = "beyond/passing_messages"
M, q = grammar(), 4
BASE = from_page(PAGE, "upward", "normalised", M=M)
S = words(np.random.default_rng(0).choice(4**8, 400, replace=False), 4, 8)
LEVELS = BASE.upward(np.eye(q)[S], M)


def filters():
    page = from_page(PAGE, "filtered", "normalised", M=M, q=q, levels=LEVELS)
    return [page.filtered(k) for k in range(4)]


def test_the_lowest_filter_is_naive_bayes_on_the_words():
    law = together(M).reshape((4,) * 9)
    word = [law.sum(tuple(k for k in range(1, 9) if k != i + 1)) * 4 for i in range(8)]
    naive = np.prod([w[:, S[:, i]].T for i, w in enumerate(word)], axis=0)
    assert np.abs(filters()[0] - naive / naive.sum(1, keepdims=True)).max() < 1e-12


def test_the_shares_of_a_filter_are_ones_and_then_zeros():
    page = from_page(PAGE, "shares", "centred", filters=filters())
    for k, p in enumerate(filters()):
        assert page.shares(np.log(p), np.arange(len(S))) == pytest.approx(
            [1.0] * (k + 1) + [0.0] * (3 - k), abs=1e-10
        )


def test_without_echo_a_word_is_predicted_as_by_the_factor_graph():
    page = from_page(PAGE, "downward", "normalised", M=M, q=q)
    parents = [((i, 2 * i + 1, 2 * i + 2), M) for i in range(7)]
    for place in (0, 3, 6):
        read = [((7 + i,), np.eye(q)[s]) for i, s in enumerate(S[0]) if i != place]
        judge = bp(FactorGraph(cards=[q] * 15, factors=parents + read)).marginals[7 + place]
        assert page.downward([m[:1] for m in LEVELS])[0, place] == pytest.approx(judge, abs=1e-10)
        assert (
            np.abs(page.downward([m[:1] for m in LEVELS], echo=True)[0, place] - judge).max() > 0.01
        )


def test_a_trace_of_a_copied_symbol_grows_by_twice_the_square():
    page = from_page(PAGE, "growth", "copying", q=q)
    for eta in (0.3, 0.7, 0.9):
        assert page.growth(page.copying(eta)) == pytest.approx(2 * eta**2)


def test_loopy_messages_have_the_fixed_point_of_the_library():
    """On one sentence, against bp with the tie as a factor; and exact if the tie is gone."""
    page = from_page(PAGE, "loopy", "upward", "normalised", M=M, q=q)
    parents = [((i, 2 * i + 1, 2 * i + 2), M) for i in range(7)]
    read = [((7 + i,), np.eye(q)[s]) for i, s in enumerate(S[1])]
    tie = [((4, 5), np.exp(3 * np.eye(q)))]
    judge = bp(FactorGraph(cards=[q] * 15, factors=parents + read + tie), tol=1e-12)
    assert page.loopy(S[1:2], 3)[0] == pytest.approx(judge.marginals[0], abs=1e-8)
    assert page.loopy(S[:5], 0.0) == pytest.approx(BASE.normalised(LEVELS[-1][:5, 0]), abs=1e-12)
    small = FactorGraph(
        cards=[q] * 7, factors=[((0, 1, 2), M), ((1, 3, 4), M), ((2, 5, 6), M), ((4, 5), tie[0][1])]
    )
    assert enumerate_states(small)[0][0] == pytest.approx(
        np.einsum("abc,bhi,cjk,ij->a", M, M, M, tie[0][1])
        / np.einsum("abc,bhi,cjk,ij->", M, M, M, tie[0][1])
    )
