"""Graphs and their factors: scopes that are drawn, starts, contradictions, and what is refused."""

import numpy as np
import pytest
from graphs import random_scopes, tree_scopes
from pages import from_page

from spinlib.factor_graph import (
    FactorGraph,
    bethe_terms,
    bp,
    enumerate_states,
    ising,
    pspin_ising,
)
from spinlib.factor_graph._sum_product import Layout


def test_the_scopes_of_the_page_are_different_spins_and_every_spin_is_as_likely():
    page = from_page("pspin/disorder_and_messages", "random_scopes")
    scopes = page.random_scopes(5, 4000, 3, rng=0)
    assert scopes.shape == (4000, 3) and all(len(set(row)) == 3 for row in scopes.tolist())
    assert np.abs(np.bincount(scopes.ravel()) - 2400).max() < 5 * np.sqrt(4000 * 0.6 * 0.4)
    assert np.array_equal(scopes[:9], random_scopes(5, 4000, 3, rng=0)[:9])


def test_contradicting_factors():
    graph = FactorGraph((2, 2), [([0], [1, 0]), ([0, 1], np.eye(2)), ([1], [0, 1])])
    with pytest.raises(ValueError, match="contradict each other"):
        bp(graph)
    with pytest.raises(ValueError, match="no state has a positive weight"):
        enumerate_states(graph)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: FactorGraph((2, 2), [((0, 1), np.ones((2, 3)))]),
            ValueError,
            r"table of factor 0 must have shape \(2, 2\), got \(2, 3\); "
            r"its scope is \(0, 1\).*one axis per variable",
        ),
        (
            lambda: FactorGraph((2, 2), [((0, 0), np.ones((2, 2)))]),
            ValueError,
            "must name different variables",
        ),
        (lambda: FactorGraph((2, 2), [((0, 2), np.ones((2, 2)))]), ValueError, "from 0 to 1"),
        (lambda: FactorGraph((2, 2), [((0.5,), np.ones(2))]), TypeError, "must be integers"),
        (lambda: FactorGraph((2,), [((0,), [1.0, -1.0])]), ValueError, r"pass exp\(-beta E\)"),
        (lambda: FactorGraph((2,), [((0,), [0.0, 0.0])]), ValueError, "at least one of them > 0"),
        (lambda: FactorGraph((2,), [((0,), [np.nan, 1.0])]), ValueError, "must be finite"),
        (lambda: FactorGraph((2,), [np.ones(2)]), TypeError, r"pair \(scope, table\)"),
        (lambda: FactorGraph((0,), []), ValueError, "cards"),
        (lambda: FactorGraph((2.0,), []), TypeError, "cards"),
        (lambda: FactorGraph((), []), ValueError, "at least one variable"),
        (
            lambda: enumerate_states(FactorGraph((2,) * 21, [])),
            ValueError,
            r"limited to 2\^20 states, got 2\^21.0.*use bp",
        ),
        (lambda: ising([[0, 1], [0, 0]]), ValueError, r"pass \(J \+ J.T\) / 2"),
        (lambda: ising(np.eye(2)), ValueError, "zero on its diagonal"),
        (lambda: pspin_ising(3, [0, 1, 2], 1.0), ValueError, r"scopes must have shape \(M, p\)"),
        (lambda: pspin_ising(3, [[0, 1, 2]], [1.0, 2.0]), ValueError, "one coupling per row"),
        (lambda: pspin_ising(3, [[0, 1, 2]], 1.0, h=[1.0]), ValueError, "one field per spin"),
        (
            lambda: pspin_ising(3, [[0, 1, 2]], 1.0, beta=-1.0),
            ValueError,
            "beta must be finite and >= 0",
        ),
        (lambda: bp(ising([[0, 1.0], [1, 0]]), damping=1.0), ValueError, "damping"),
        (lambda: bp(ising([[0, 1.0], [1, 0]]), start="hot"), ValueError, "start must be"),
        (
            lambda: bp(ising([[0, 1.0], [1, 0]]), start=np.ones((3, 2))),
            ValueError,
            "messages must have shape",
        ),
        (
            lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), -np.ones((2, 2))),
            ValueError,
            "messages must be >= 0",
        ),
        (
            lambda: pspin_ising(3, np.empty((2, 0), dtype=int), 1.0),
            ValueError,
            r"one row of p >= 1 spins a factor, got "
            r"\(2, 0\)",
        ),
        (
            lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), [[1, 1], [1, -0.1]]),
            ValueError,
            "messages must be >= 0, got least -0.1",
        ),
        (lambda: FactorGraph(3, []), TypeError, "cards must be of type Sequence"),
        (lambda: FactorGraph((2,), 5), TypeError, "factors must be of type Sequence"),
        (
            lambda: pspin_ising(3, [[0, 1], [2]], 1.0),
            TypeError,
            "scopes must be an array of real numbers, got list",
        ),
        (lambda: pspin_ising(3, [[0, 1, 2]], -1000.0), ValueError, "at most 172.*lower beta"),
        (lambda: pspin_ising(3, [[0, 1, 2]], 1.0, h=10.0, beta=100.0), ValueError, "at most 172"),
        (lambda: bp(5), TypeError, "graph must be of type FactorGraph"),
        (lambda: enumerate_states("a"), TypeError, "graph must be of type FactorGraph"),
        (
            lambda: bp(ising([[0, 1.0], [1, 0]]), start=[[0, 0], [1, 1]]),
            ValueError,
            "only zeros in row 0",
        ),
        (
            lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), np.zeros((2, 2))),
            ValueError,
            "state of positive weight",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_factors_of_one_spin_are_factors():
    assert bp(pspin_ising(2, [[0], [1]], 1.0)).log_Z == pytest.approx(
        2 * np.log(2 * np.cosh(1)), rel=1e-12
    )


def test_a_contradiction_names_its_variable():
    """Factor 1 says that variable 3 needs variable 1 in state 0; factor 2 says that variable 1 is in state 1."""
    graph = FactorGraph(
        (2, 2, 2, 2), [((0, 2), np.ones((2, 2))), ((1, 3), [[1, 1], [0, 0]]), ((1,), [0, 1])]
    )
    with pytest.raises(ValueError, match="no state of variable [13] has"):
        bp(graph)
    with pytest.raises(
        ValueError, match="no state of variable 3 has"
    ):  # the message of the sweep: towards variable 3
        Layout(graph).sweep(np.array([[1, 1], [1, 1], [1, 1], [1, 1], [0, 1]], dtype=float))


def test_a_graph_keeps_its_own_tables_and_shows_one_line():
    table = np.ones((2, 2))
    graph = FactorGraph((2, 2), [((0, 1), table)])
    table[:] = 0
    assert enumerate_states(graph)[1] == pytest.approx(np.log(4)) and graph == graph
    with pytest.raises(ValueError, match="read-only"):
        graph.factors[0][1][0, 0] = 5
    assert repr(graph) == "FactorGraph(2 variables, 1 factors)" and graph != FactorGraph(
        (2, 2), graph.factors
    )
    large = bp(pspin_ising(60, tree_scopes(20, 4, rng=0)[:, :3], 1.0))
    assert len(repr(large)) < 250 and "converged=True" in repr(large) and large.reason == ""


def test_fields_up_to_172_are_taken():
    """Their weights are the largest that a table may hold, 1e75: none is refused as an entry of a table."""
    for bad in ({"J": 172.5}, {"J": 0.0, "h": 172.5}):
        with pytest.raises(ValueError, match="at most 172, got beta=1"):
            pspin_ising(2, [[0, 1]], **bad)
    assert len(pspin_ising(2, [[0, 1]], 172.0, h=172.0).factors) == 3


def test_a_graph_without_edges_needs_no_sweep():
    found = bp(FactorGraph((2, 3), []))
    assert (
        found.converged and found.n_iter == 0 and found.log_Z == pytest.approx(np.log(6), rel=1e-12)
    )
