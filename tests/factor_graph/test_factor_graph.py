"""Discrete belief propagation: exact on trees, Bethe elsewhere, and the free-energy shifts of one more node."""
import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from spinlib import ConvergenceWarning
from spinlib.factor_graph._sum_product import Layout
from spinlib.factor_graph import (FactorGraph, bethe_free_energy, bethe_terms, bp, edges, enumerate_states, ising,
                                  magnetisations, pspin_ising, random_scopes, tree_scopes)


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
    planted = np.array([rng.integers(c) for c in cards])                # a state that every factor allows
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
                        incoming = np.prod([messages[b, j] for b in others], axis=0) * np.ones(graph.cards[j])
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
            np.testing.assert_allclose(joint.sum(axes), marginals[i, :graph.cards[i]], atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_enumeration_against_a_loop_over_states(seed):
    graph = random_tree(np.random.default_rng([seed, 1]), zeros=seed % 2 == 0)
    if np.prod(graph.cards) > 600:
        graph = pspin_ising(5, random_scopes(5, 6, 3, rng=seed), np.random.default_rng(seed).normal(size=6), h=0.3)
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
    messages = {(a, i): np.ones(cards[i]) / cards[i] for a, i in edges(graph).tolist()}
    for sweeps in range(1, 4):
        messages = sweep_by_loops(graph, messages)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = bp(graph, max_iter=sweeps, tol=1e-300)
        for row, (a, i) in zip(found.messages, edges(graph).tolist()):
            np.testing.assert_allclose(row[:cards[i]], messages[a, i], rtol=1e-12)
            assert (row[cards[i]:] == 0).all()


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
    start = bp(ising(J, beta=beta, h=1.0)).messages                       # all up, from a graph with fields
    found = bp(graph, start=start[:len(edges(graph))], max_iter=5000, tol=1e-9)
    m = magnetisations(found.marginals)
    assert (m.min() > 0.2) if magnetic else (np.abs(m).max() < 1e-4)


def test_no_coupling_leaves_free_spins():
    graph = pspin_ising(4, [(0, 1, 2)], 0.0, h=[0.3, 0.0, -1.0, 0.0], beta=2.0)
    found = bp(graph)
    np.testing.assert_allclose(magnetisations(found.marginals), np.tanh([0.6, 0, -2.0, 0]), atol=1e-14)
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


def test_random_scopes_are_drawn_a_few_at_a_time():
    """The places of the p smallest of n uniform numbers for each factor, without room for all M n numbers (8 MB)."""
    tracemalloc.start()
    scopes = random_scopes(1000, 1000, 3, rng=7)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
    np.testing.assert_array_equal(scopes, np.argsort(np.random.default_rng(7).random((1000, 1000)), axis=1)[:, :3])


def test_loops_make_an_error_that_grows_with_the_coupling():
    scopes = random_scopes(10, 8, 3, rng=1)
    J = np.random.default_rng(2).choice([-1.0, 1.0], 8)
    gaps = []
    for beta in (0.1, 0.3, 0.6):
        graph = pspin_ising(10, scopes, J, h=0.5, beta=beta)
        gaps.append(abs(bp(graph, damping=0.3).log_Z - enumerate_states(graph)[1]))
    assert 0 < gaps[0] < gaps[1] < gaps[2] < 0.3 and gaps[0] < 1e-3 and gaps[2] > 1e-3


# --- the slides: one more factor, one more variable, and their sum --------------------------------------------------

def forest(rng, trees, p=3, M=2, beta=0.8):
    """Separate trees of p-spin factors with fields; returns scopes, couplings,
    fields and the first spin of each tree."""
    scopes, roots, n = [], [], 0
    for _ in range(trees):
        tree = tree_scopes(M, p, rng=rng)
        scopes.append(tree + n)
        roots.append(n)
        n += tree.max() + 1
    scopes = np.concatenate(scopes)
    return n, scopes, rng.normal(size=len(scopes)), rng.normal(size=n), roots


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 2), st.floats(0.1, 1.5))
def test_slides_shift_of_adding_a_factor(seed, J_new, beta):
    """log(Z_new / Z_old) = log[cosh(beta J)(1 + tanh(beta J) m_1 m_2 m_3)] where the three spins are independent."""
    n, scopes, J, h, roots = forest(np.random.default_rng(seed), trees=3)
    old = pspin_ising(n, scopes, J, h=h, beta=beta)
    marginals, log_Z_old = enumerate_states(old)
    new = pspin_ising(n, [*scopes.tolist(), roots], [*J, J_new], h=h, beta=beta)
    shift = np.log(np.cosh(beta * J_new) * (1 + np.tanh(beta * J_new) * magnetisations(marginals)[roots].prod()))
    assert enumerate_states(new)[1] - log_Z_old == pytest.approx(shift, abs=1e-11)
    _, factor = bethe_terms(new, bp(new).messages)
    assert factor[len(J)] == pytest.approx(shift, abs=1e-11)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 1.5))
def test_slides_shift_of_adding_a_variable_with_its_factors(seed, beta):
    """log(Z_new / Z_old) = log[prod Lambda+ + prod Lambda-], Lambda± = cosh(beta J)(1 ± tanh(beta J) prod m)."""
    rng = np.random.default_rng(seed)
    n, scopes, J, h, roots = forest(rng, trees=4, M=1)
    J_new = rng.normal(size=2)
    hung = [(n, *roots[:2]), (n, *roots[2:])]
    marginals, log_Z_old = enumerate_states(pspin_ising(n, scopes, J, h=h, beta=beta))
    new = pspin_ising(n + 1, [*scopes.tolist(), *hung], [*J, *J_new], h=[*h, 0.0], beta=beta)
    m = magnetisations(marginals)
    Lambda = [np.prod([np.cosh(beta * j) * (1 + sign * np.tanh(beta * j) * m[list(others)].prod())
                       for j, (_, *others) in zip(J_new, hung)]) for sign in (1, -1)]
    shift = np.log(sum(Lambda))
    assert enumerate_states(new)[1] - log_Z_old == pytest.approx(shift, abs=1e-11)
    variable, _ = bethe_terms(new, bp(new).messages)
    assert variable[n] == pytest.approx(shift, abs=1e-11)


def test_slides_sum_of_the_shifts_is_the_bethe_free_energy():
    """F = sum_i dF_i + sum_a dF_a - sum_a |da| dF_a: exact on a tree, equal to Yedidia's form at any fixed point."""
    rng = np.random.default_rng(5)
    n, scopes, J, h, _ = forest(rng, trees=2, M=3)
    tree = pspin_ising(n, scopes, J, h=h)
    loopy = pspin_ising(12, random_scopes(12, 9, 3, rng=6), rng.normal(size=9), h=rng.normal(size=12), beta=0.5)
    for graph in (tree, loopy):
        found = bp(graph)
        variable, factor = bethe_terms(graph, found.messages)
        degree = np.array([len(scope) for scope, _ in graph.factors])
        total = variable.sum() + factor.sum() - (degree * factor).sum()
        assert total == pytest.approx(found.log_Z, abs=1e-12)
        assert bethe_free_energy(graph, found.marginals, found.factor_marginals) == pytest.approx(-total, abs=1e-10)
    assert bp(tree).log_Z == pytest.approx(enumerate_states(tree)[1], abs=1e-11)
    assert abs(bp(loopy).log_Z - enumerate_states(loopy)[1]) > 1e-4


# --- stationarity ---------------------------------------------------------------------------------------------------

def loopy_graph(seed, beta):
    rng = np.random.default_rng(seed)
    return pspin_ising(9, random_scopes(9, 7, 3, rng=rng), rng.normal(size=7), h=rng.normal(size=9), beta=beta)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 0.7))
def test_fixed_points_are_stationary_in_the_messages(seed, beta):
    graph = loopy_graph(seed, beta)
    found = bp(graph, damping=0.2, max_iter=3000)
    degree = np.array([len(scope) for scope, _ in graph.factors])

    def value(messages):
        variable, factor = bethe_terms(graph, messages)
        return variable.sum() - ((degree - 1) * factor).sum()
    rng, eps = np.random.default_rng(seed), 1e-4
    tilts = rng.normal(size=(4, *found.messages.shape)).clip(-3, 3)
    slopes = lambda m: [abs(value(m + eps * m * tilt) - value(m - eps * m * tilt)) / (2 * eps) for tilt in tilts]
    assert max(slopes(found.messages)) < 1e-6
    elsewhere = rng.uniform(0.2, 0.8, size=found.messages.shape)
    assert max(slopes(elsewhere)) > 1e-3


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 0.7))
def test_fixed_points_are_stationary_in_the_beliefs_yedidia(seed, beta):
    """Move b_i and every b_a at it consistently, or a b_a with its marginals kept: no first-order change of F_Bethe."""
    graph = loopy_graph(seed, beta)
    found = bp(graph, damping=0.2, max_iter=3000)
    sign, eps = np.array([-1.0, 1.0]), 1e-3

    def slope(change_b, change_joint, base=found):
        side = [
            bethe_free_energy(
                graph, base.marginals + s * change_b, [b + s * d for b, d in zip(base.factor_marginals, change_joint)]
            )
            for s in (eps, -eps)
        ]
        return (side[0] - side[1]) / (2 * eps)
    rng = np.random.default_rng(seed)
    for i in rng.choice(graph.n, 3, replace=False):                     # one spin, and all factors that hold it
        # small enough to keep every belief positive
        small = min(found.marginals[i].min(), 0.1)
        change_b, joints = np.zeros_like(found.marginals), []
        change_b[i] = small * sign
        for scope, _ in graph.factors:
            joint = np.ones(())
            for j in scope:
                joint = np.multiply.outer(joint, small * sign if j == i else found.marginals[j])
            joints.append(joint if i in scope else np.zeros((2,) * len(scope)))
        lowest = min(b.min() for b in found.factor_marginals)
        if lowest > 2 * eps * small:
            assert abs(slope(change_b, joints)) < 1e-4 * small / lowest ** 2 * eps + 1e-6
    a = int(rng.integers(7))                                            # one factor, all its marginals kept
    lowest = found.factor_marginals[a].min()
    parity = lowest * np.multiply.outer(np.multiply.outer(sign, sign), sign)
    joints = [parity if b == a else np.zeros_like(table) for b, table in enumerate(found.factor_marginals)]
    assert abs(slope(np.zeros_like(found.marginals), joints)) < 1e-6
    away = [b + 0.5 * d for b, d in zip(found.factor_marginals, joints)]
    moved = type(found)(**{**found.__dict__, "factor_marginals": tuple(away)})
    assert abs(slope(np.zeros_like(found.marginals), joints, moved)) > 0.1 * lowest


# --- divergence and refusals ----------------------------------------------------------------------------------------

def test_a_frustrated_glass_does_not_converge_and_says_so():
    rng = np.random.default_rng(0)
    J = np.triu(rng.normal(size=(14, 14)), 1)
    graph = ising(J + J.T, h=0.1 * rng.normal(size=14), beta=3.0)
    with pytest.warns(ConvergenceWarning, match="belief propagation did not converge.*raise damping"):
        found = bp(graph, max_iter=60)
    assert (
        not found.converged
        and np.isfinite(found.marginals).all()
        and np.isfinite(found.log_Z)
        and len(found.history) == 60
    )
    np.testing.assert_allclose(found.marginals.sum(1), 1, rtol=1e-12)


def test_starts():
    graph = loopy_graph(1, 0.5)
    uniform, one, two = bp(graph), bp(graph, start="random", rng=1), bp(graph, start="random", rng=1)
    np.testing.assert_array_equal(one.messages, two.messages)
    np.testing.assert_allclose(one.messages, uniform.messages, atol=1e-9)
    assert bp(graph, start=uniform.messages).n_iter == 1


def test_scopes_of_trees_and_random_graphs():
    tree = tree_scopes(6, 3, rng=0)
    assert sorted(set(tree.ravel())) == list(range(13)) and tree.size == 13 + 5   # n + M - 1 edges: a tree
    scopes = random_scopes(5, 40, 3, rng=0)
    assert all(len(set(scope)) == 3 for scope in scopes.tolist()) and set(scopes.ravel()) == set(range(5))


def test_contradicting_factors():
    graph = FactorGraph((2, 2), [([0], [1, 0]), ([0, 1], np.eye(2)), ([1], [0, 1])])
    with pytest.raises(ValueError, match="contradict each other"):
        bp(graph)
    with pytest.raises(ValueError, match="no state has a positive weight"):
        enumerate_states(graph)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: FactorGraph((2, 2), [((0, 1), np.ones((2, 3)))]), ValueError, r"table of factor 0 has shape \(2, 3\), "
     r"its scope \(0, 1\) has \(2, 2\).*one axis per variable"),
    (lambda: FactorGraph((2, 2), [((0, 0), np.ones((2, 2)))]), ValueError, "must name different variables"),
    (lambda: FactorGraph((2, 2), [((0, 2), np.ones((2, 2)))]), ValueError, "from 0 to 1"),
    (lambda: FactorGraph((2, 2), [((0.5,), np.ones(2))]), TypeError, "must be integers"),
    (lambda: FactorGraph((2,), [((0,), [1.0, -1.0])]), ValueError, r"pass exp\(-beta E\)"),
    (lambda: FactorGraph((2,), [((0,), [0.0, 0.0])]), ValueError, "at least one of them > 0"),
    (lambda: FactorGraph((2,), [((0,), [np.nan, 1.0])]), ValueError, "must be finite"),
    (lambda: FactorGraph((2,), [np.ones(2)]), TypeError, r"pair \(scope, table\)"),
    (lambda: FactorGraph((0,), []), ValueError, "cards"),
    (lambda: FactorGraph((2.0,), []), TypeError, "cards"),
    (lambda: FactorGraph((), []), ValueError, "at least one variable"),
    (lambda: enumerate_states(FactorGraph((2,) * 21, [])), ValueError, r"limited to 2\^20 states, got 2\^21.0.*use bp"),
    (lambda: ising([[0, 1], [0, 0]]), ValueError, r"pass \(J \+ J.T\) / 2"),
    (lambda: ising(np.eye(2)), ValueError, "zero on its diagonal"),
    (lambda: pspin_ising(3, [0, 1, 2], 1.0), ValueError, r"scopes must have shape \(M, p\)"),
    (lambda: pspin_ising(3, [[0, 1, 2]], [1.0, 2.0]), ValueError, "one coupling per row"),
    (lambda: pspin_ising(3, [[0, 1, 2]], 1.0, h=[1.0]), ValueError, "one field per spin"),
    (lambda: pspin_ising(3, [[0, 1, 2]], 1.0, beta=-1.0), ValueError, "beta must be finite and >= 0"),
    (lambda: random_scopes(2, 1, 3), ValueError, "p must be at most n_spins = 2"),
    (lambda: tree_scopes(1, 1), ValueError, "p must be at least 2"),
    (lambda: bp(ising([[0, 1.0], [1, 0]]), damping=1.0), ValueError, "damping"),
    (lambda: bp(ising([[0, 1.0], [1, 0]]), start="hot"), ValueError, "start must be"),
    (lambda: bp(ising([[0, 1.0], [1, 0]]), start=np.ones((3, 2))), ValueError, "messages must have shape"),
    (lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), -np.ones((2, 2))), ValueError, "messages must be >= 0"),
    (lambda: magnetisations(np.ones((3, 3))), ValueError, "only two-state"),
    (lambda: magnetisations([[2.0, 3.0]]), ValueError, "sum to 1.*divide weights"),
    (lambda: pspin_ising(3, np.empty((2, 0), dtype=int), 1.0), ValueError, r"one row of p >= 1 spins a factor, got "
                                                                           r"\(2, 0\)"),
    (lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), [[1, 1], [1, -0.1]]), ValueError, "messages must be >= 0, got "
                                                                                      "least -0.1"),
    (lambda: FactorGraph(3, []), TypeError, "cards must be of type Sequence"),
    (lambda: FactorGraph((2,), 5), TypeError, "factors must be of type Sequence"),
    (lambda: pspin_ising(3, [[0, 1], [2]], 1.0), ValueError, "rows of equal length"),
    (lambda: pspin_ising(3, [[0, 1, 2]], -1000.0), ValueError, "at most 172.*lower beta"),
    (lambda: pspin_ising(3, [[0, 1, 2]], 1.0, h=10.0, beta=100.0), ValueError, "at most 172"),
    (lambda: bp(5), TypeError, "graph must be of type FactorGraph"),
    (lambda: enumerate_states("a"), TypeError, "graph must be of type FactorGraph"),
    (lambda: bp(ising([[0, 1.0], [1, 0]]), start=[[0, 0], [1, 1]]), ValueError, "only zeros in row 0"),
    (lambda: bethe_terms(ising([[0, 1.0], [1, 0]]), np.zeros((2, 2))), ValueError, "state of positive weight"),
    (lambda: bethe_free_energy(ising([[0, 1.0], [1, 0]]), np.full((2, 2), 0.5),
    (np.ones((2, 2)),)), ValueError, "sum to 1"),
    (lambda: bethe_free_energy(ising([[0, 1.0], [1, 0]]), np.full((2, 2), 0.5), 5), TypeError, "factor_marginals must "
                                                                                               "be of type Sequence"),
    (lambda: bethe_free_energy(ising([[0, 1.0], [1, 0]]), np.full((2, 2), 0.5), ()), ValueError, "one a factor"),
])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_text_before_eq_18_a_fixed_point_need_not_be_a_minimum():
    """Four spins, all pairs coupled by beta J = 1: at m = 0 BP stands still,
    and the Bethe free energy falls on both sides of it."""
    n, K = 4, 1.0
    graph = ising(K * (1 - np.eye(n)), beta=1.0)
    fixed = bp(graph)
    assert fixed.converged and np.abs(magnetisations(fixed.marginals)).max() < 1e-12
    sign = np.array([-1.0, 1.0])

    def free_energy(m):
        """Lowest Bethe free energy with all magnetisations m: the pairs are (1 + m (s + t) + c s t) / 4 with the best
        c."""
        single = np.tile((1 + m * sign) / 2, (n, 1))
        pair = lambda c: (1 + m * (sign[:, None] + sign) + c * np.outer(sign, sign)) / 4
        value = lambda c: bethe_free_energy(graph, single, [pair(c)] * 6)
        return minimize_scalar(
            value, bounds=(2 * abs(m) - 1 + 1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
        ).fun

    at_zero = free_energy(0.0)
    assert at_zero == pytest.approx(-fixed.log_Z, abs=1e-9)   # the fixed point is on this curve
    assert free_energy(0.1) < at_zero - 1e-3 and free_energy(-0.1) < at_zero - 1e-3


def test_factors_of_one_spin_are_factors():
    assert bp(pspin_ising(2, [[0], [1]], 1.0)).log_Z == pytest.approx(2 * np.log(2 * np.cosh(1)), rel=1e-12)


def test_a_contradiction_names_its_variable():
    """Factor 1 says that variable 3 needs variable 1 in state 0; factor 2 says that variable 1 is in state 1."""
    graph = FactorGraph((2, 2, 2, 2), [((0, 2), np.ones((2, 2))), ((1, 3), [[1, 1], [0, 0]]), ((1,), [0, 1])])
    with pytest.raises(ValueError, match="no state of variable [13] has"):
        bp(graph)
    with pytest.raises(ValueError, match="no state of variable 3 has"):  # the message of the sweep: towards variable 3
        Layout(graph, edges(graph)).sweep(np.array([[1, 1], [1, 1], [1, 1], [1, 1], [0, 1]], dtype=float))


def test_a_graph_keeps_its_own_tables_and_shows_one_line():
    table = np.ones((2, 2))
    graph = FactorGraph((2, 2), [((0, 1), table)])
    table[:] = 0
    assert enumerate_states(graph)[1] == pytest.approx(np.log(4)) and graph == graph
    with pytest.raises(ValueError, match="read-only"):
        graph.factors[0][1][0, 0] = 5
    assert repr(graph) == "FactorGraph(2 variables, 1 factors)" and graph != FactorGraph((2, 2), graph.factors)
    large = bp(pspin_ising(60, tree_scopes(20, 4, rng=0)[:, :3], 1.0))
    assert len(repr(large)) < 250 and "converged=True" in repr(large) and large.reason == ""


def test_every_older_spin_of_a_tree_is_as_likely_to_be_chosen():
    """The root of the third pair: one of spins 0, 1, 2."""
    counts = np.bincount([tree_scopes(3, 2, rng=k)[2, 0] for k in range(600)], minlength=3)
    assert len(counts) == 3 and np.abs(counts - 200).max() < 5 * np.sqrt(600 * 2 / 9)


def test_fields_up_to_172_are_taken():
    """Their weights are the largest that a table may hold, 1e75: none is refused as an entry of a table."""
    for bad in ({"J": 172.5}, {"J": 0.0, "h": 172.5}):
        with pytest.raises(ValueError, match="at most 172, got beta=1"):
            pspin_ising(2, [[0, 1]], **bad)
    assert len(pspin_ising(2, [[0, 1]], 172.0, h=172.0).factors) == 3
