"""Belief propagation on discrete factor graphs: exact on trees, the sweep edge by edge, known values, divergence."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from graphs import random_scopes
from pages import from_page

from spinlib import ConvergenceWarning
from spinlib.factor_graph import (
    FactorGraph,
    bp,
    enumerate_states,
    ising,
    pspin_ising,
)

magnetisations = from_page("pspin/disorder_and_messages", "magnetisations").magnetisations


def random_tree(rng, zeros=False):
    """A tree of factors of 1 to 3 variables with 1 to 4 states each; variables are renamed and scopes shuffled."""
    cards = [int(rng.integers(1, 5))]
    scopes = []
    for _ in range(rng.integers(1, 8)):
        scope = [int(rng.integers(len(cards)))]
        for _ in range(rng.integers(0, 3)):
            scope.append(len(cards))
            cards.append(int(rng.integers(1, 5)))
        scopes.append(scope)
    if np.prod(cards) > 2**15:
        return random_tree(rng, zeros)
    name = rng.permutation(len(cards))
    cards = np.array(cards)[np.argsort(name)]
    planted = np.array([rng.integers(c) for c in cards])  # a state that every factor allows
    factors = []
    for scope in scopes:
        scope = rng.permutation(name[scope]).tolist()
        table = rng.gamma(0.5, size=[cards[i] for i in scope]) + 1e-6
        if zeros:
            table[rng.random(table.shape) < 0.4] = 0
            table[tuple(planted[scope])] = 1.0
        factors.append((scope, table))
    return FactorGraph(cards, factors)


def by_loops(graph):
    """Every state in a Python loop: log Z and marginals."""
    marginals, Z = np.zeros((graph.n, max(graph.cards))), 0.0
    for state in itertools.product(*map(range, graph.cards)):
        weight = np.prod([table[tuple(state[i] for i in scope)] for scope, table in graph.factors])
        Z += weight
        marginals[np.arange(graph.n), state] += weight
    return marginals / Z, np.log(Z)


def sweep_by_loops(graph, messages):
    """Sum-product for one edge at a time, from dictionaries; messages[a, i] from factor a to variable i."""
    new = {}
    for a, (scope, table) in enumerate(graph.factors):
        for i in scope:
            answer = np.zeros(graph.cards[i])
            for state in itertools.product(*(range(graph.cards[j]) for j in scope)):
                weight = table[state]
                for j, x in zip(scope, state):
                    if j != i:
                        others = [b for b, (s, _) in enumerate(graph.factors) if j in s and b != a]
                        incoming = np.prod([messages[b, j] for b in others], axis=0) * np.ones(
                            graph.cards[j]
                        )
                        weight = weight * (incoming / incoming.sum())[x]
                answer[state[scope.index(i)]] += weight
            new[a, i] = answer / answer.sum()
    return new


# --- exactness on a class: trees ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_bp_is_exact_on_trees(seed, zeros):
    graph = random_tree(np.random.default_rng(seed), zeros)
    marginals, log_Z = enumerate_states(graph)
    found = bp(graph)
    assert found.converged and found.n_iter <= 2 * len(graph.factors) + 2
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
    assert found.log_Z == pytest.approx(log_Z, abs=1e-12)
    for (scope, _), joint in zip(graph.factors, found.factor_marginals):
        for slot, i in enumerate(scope):
            axes = tuple(k for k in range(len(scope)) if k != slot)
            np.testing.assert_allclose(joint.sum(axes), marginals[i, : graph.cards[i]], atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_enumeration_against_a_loop_over_states(seed):
    graph = random_tree(np.random.default_rng([seed, 1]), zeros=seed % 2 == 0)
    if np.prod(graph.cards) > 600:
        graph = pspin_ising(
            5, random_scopes(5, 6, 3, rng=seed), np.random.default_rng(seed).normal(size=6), h=0.3
        )
    marginals, log_Z = by_loops(graph)
    exact = enumerate_states(graph)
    np.testing.assert_allclose(exact[0], marginals, atol=1e-13)
    assert exact[1] == pytest.approx(log_Z, abs=1e-12)


# --- oracle: the sweep in arrays is the sweep edge by edge ----------------------------------------------------------


@pytest.mark.parametrize("zeros", [False, True])
def test_vectorised_sweep_is_the_sweep_edge_by_edge(zeros):
    """With zeros: variable 0 has one state left, so factor 0 forbids a state of variable 1;
    its own zero is taken out of the product again."""
    rng = np.random.default_rng(3)
    cards = [2, 3, 2, 4, 3]
    factors = [
        ([0, 1], rng.random((2, 3))),
        ([1, 2, 0], rng.random((3, 2, 2))),
        ([3, 1], rng.random((4, 3))),
        ([4, 3], rng.random((3, 4))),
        ([1, 4], rng.random((3, 3))),
        ([2], rng.random(2)),
        ([0, 1], rng.random((2, 3))),
    ]
    if zeros:
        factors[0][1][0, 2] = 0
        factors.append(([0], [1.0, 0.0]))
    graph = FactorGraph(cards, factors)
    messages = {(a, i): np.ones(cards[i]) / cards[i] for a, i in graph.edges.tolist()}
    for sweeps in range(1, 4):
        messages = sweep_by_loops(graph, messages)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = bp(graph, max_iter=sweeps, tol=1e-300)
        for row, (a, i) in zip(found.messages, graph.edges.tolist()):
            np.testing.assert_allclose(row[: cards[i]], messages[a, i], rtol=1e-12)
            assert (row[cards[i] :] == 0).all()


# --- known values and limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "beta"), [(3, 0.4), (5, 0.8), (8, 1.5)])
def test_ring_misses_exactly_the_loop(n, beta):
    """Transfer matrix: Z = (2 cosh b)^n + (2 sinh b)^n; BP keeps the first term (Mezard and Montanari 2009, 14.2)."""
    J = np.roll(np.eye(n), 1, axis=0)
    graph = ising(J + J.T, beta=beta)
    assert enumerate_states(graph)[1] == pytest.approx(
        np.logaddexp(n * np.log(2 * np.cosh(beta)), n * np.log(2 * np.sinh(beta)))
    )
    assert bp(graph).log_Z == pytest.approx(n * np.log(2 * np.cosh(beta)), abs=1e-12)


@pytest.mark.parametrize(("beta", "magnetic"), [(0.34, False), (0.36, True)])
def test_bethe_lattice_orders_at_tanh_beta_one_third(beta, magnetic):
    """Four neighbours: tanh(beta_c) = 1/3, beta_c = 0.34657 (Baxter 1982, chapter 4).
    A torus looks like a tree to BP."""
    L = 6
    index = np.arange(L * L).reshape(L, L)
    J = np.zeros((L * L, L * L))
    for axis in (0, 1):
        J[index, np.roll(index, 1, axis)] = J[np.roll(index, 1, axis), index] = 1
    graph = ising(J, beta=beta)
    start = bp(ising(J, beta=beta, h=1.0)).messages  # all up, from a graph with fields
    found = bp(graph, start=start[: len(graph.edges)], max_iter=5000, tol=1e-9)
    m = magnetisations(found.marginals)
    assert (m.min() > 0.2) if magnetic else (np.abs(m).max() < 1e-4)


def test_no_coupling_leaves_free_spins():
    graph = pspin_ising(4, [(0, 1, 2)], 0.0, h=[0.3, 0.0, -1.0, 0.0], beta=2.0)
    found = bp(graph)
    np.testing.assert_allclose(
        magnetisations(found.marginals), np.tanh([0.6, 0, -2.0, 0]), atol=1e-14
    )
    assert found.log_Z == pytest.approx(np.log(2 * np.cosh([0.6, 0, -2.0, 0])).sum(), abs=1e-13)
    empty = bp(FactorGraph((2, 3), []))
    assert (
        empty.converged
        and empty.log_Z == pytest.approx(np.log(6))
        and empty.marginals.tolist() == [[0.5, 0.5, 0], [1 / 3] * 3]
    )


def test_a_constant_factor_shifts_log_Z():
    graph = ising([[0, 1.0], [1, 0]]).with_factor((), 5.0)
    assert bp(graph).log_Z == pytest.approx(np.log(4 * np.cosh(1) * 5), abs=1e-12)
    assert enumerate_states(graph)[1] == pytest.approx(np.log(4 * np.cosh(1) * 5), abs=1e-12)


def test_loops_make_an_error_that_grows_with_the_coupling():
    scopes = random_scopes(10, 8, 3, rng=1)
    J = np.random.default_rng(2).choice([-1.0, 1.0], 8)
    gaps = []
    for beta in (0.1, 0.3, 0.6):
        graph = pspin_ising(10, scopes, J, h=0.5, beta=beta)
        gaps.append(abs(bp(graph, damping=0.3).log_Z - enumerate_states(graph)[1]))
    assert 0 < gaps[0] < gaps[1] < gaps[2] < 0.3 and gaps[0] < 1e-3 and gaps[2] > 1e-3


# --- divergence -----------------------------------------------------------------------------------------------------


def test_a_frustrated_glass_does_not_converge_and_says_so():
    rng = np.random.default_rng(0)
    J = np.triu(rng.normal(size=(14, 14)), 1)
    graph = ising(J + J.T, h=0.1 * rng.normal(size=14), beta=3.0)
    with pytest.warns(
        ConvergenceWarning, match="belief propagation did not converge.*raise damping"
    ):
        found = bp(graph, max_iter=60)
    assert (
        not found.converged
        and np.isfinite(found.marginals).all()
        and np.isfinite(found.log_Z)
        and len(found.history) == 60
    )
    np.testing.assert_allclose(found.marginals.sum(1), 1, rtol=1e-12)
