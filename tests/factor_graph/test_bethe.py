"""The Bethe free energy: the shifts of the slides and their sum, stationarity in messages and in beliefs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from graphs import random_scopes, tree_scopes
from pages import from_page

from spinlib.factor_graph import bethe_terms, bp, enumerate_states, ising, pspin_ising

page = from_page("pspin/disorder_and_messages", "bethe_free_energy", "magnetisations")
bethe_free_energy, magnetisations = page.bethe_free_energy, page.magnetisations


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
    shift = np.log(
        np.cosh(beta * J_new)
        * (1 + np.tanh(beta * J_new) * magnetisations(marginals)[roots].prod())
    )
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
    Lambda = [
        np.prod(
            [
                np.cosh(beta * j) * (1 + sign * np.tanh(beta * j) * m[list(others)].prod())
                for j, (_, *others) in zip(J_new, hung)
            ]
        )
        for sign in (1, -1)
    ]
    shift = np.log(sum(Lambda))
    assert enumerate_states(new)[1] - log_Z_old == pytest.approx(shift, abs=1e-11)
    variable, _ = bethe_terms(new, bp(new).messages)
    assert variable[n] == pytest.approx(shift, abs=1e-11)


def test_slides_sum_of_the_shifts_is_the_bethe_free_energy():
    """F = sum_i dF_i + sum_a dF_a - sum_a |da| dF_a: exact on a tree, equal to Yedidia's form at any fixed point."""
    rng = np.random.default_rng(5)
    n, scopes, J, h, _ = forest(rng, trees=2, M=3)
    tree = pspin_ising(n, scopes, J, h=h)
    loopy = pspin_ising(
        12, random_scopes(12, 9, 3, rng=6), rng.normal(size=9), h=rng.normal(size=12), beta=0.5
    )
    for graph in (tree, loopy):
        found = bp(graph)
        variable, factor = bethe_terms(graph, found.messages)
        degree = np.array([len(scope) for scope, _ in graph.factors])
        total = variable.sum() + factor.sum() - (degree * factor).sum()
        assert total == pytest.approx(found.log_Z, abs=1e-12)
        assert bethe_free_energy(graph, found.marginals, found.factor_marginals) == pytest.approx(
            -total, abs=1e-10
        )
    assert bp(tree).log_Z == pytest.approx(enumerate_states(tree)[1], abs=1e-11)
    assert abs(bp(loopy).log_Z - enumerate_states(loopy)[1]) > 1e-4


# --- stationarity ---------------------------------------------------------------------------------------------------


def loopy_graph(seed, beta):
    rng = np.random.default_rng(seed)
    return pspin_ising(
        9, random_scopes(9, 7, 3, rng=rng), rng.normal(size=7), h=rng.normal(size=9), beta=beta
    )


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
    slopes = lambda m: [
        abs(value(m + eps * m * tilt) - value(m - eps * m * tilt)) / (2 * eps) for tilt in tilts
    ]
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
                graph,
                base.marginals + s * change_b,
                [b + s * d for b, d in zip(base.factor_marginals, change_joint)],
            )
            for s in (eps, -eps)
        ]
        return (side[0] - side[1]) / (2 * eps)

    rng = np.random.default_rng(seed)
    for i in rng.choice(graph.n, 3, replace=False):  # one spin, and all factors that hold it
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
            assert abs(slope(change_b, joints)) < 1e-4 * small / lowest**2 * eps + 1e-6
    a = int(rng.integers(7))  # one factor, all its marginals kept
    lowest = found.factor_marginals[a].min()
    parity = lowest * np.multiply.outer(np.multiply.outer(sign, sign), sign)
    joints = [
        parity if b == a else np.zeros_like(table) for b, table in enumerate(found.factor_marginals)
    ]
    assert abs(slope(np.zeros_like(found.marginals), joints)) < 1e-6
    away = [b + 0.5 * d for b, d in zip(found.factor_marginals, joints)]
    moved = type(found)(**{**found.__dict__, "factor_marginals": tuple(away)})
    assert abs(slope(np.zeros_like(found.marginals), joints, moved)) > 0.1 * lowest


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
            value,
            bounds=(2 * abs(m) - 1 + 1e-9, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-10},
        ).fun

    at_zero = free_energy(0.0)
    assert at_zero == pytest.approx(-fixed.log_Z, abs=1e-9)  # the fixed point is on this curve
    assert free_energy(0.1) < at_zero - 1e-3 and free_energy(-0.1) < at_zero - 1e-3


def test_starts():
    graph = loopy_graph(1, 0.5)
    uniform, one, two = (
        bp(graph),
        bp(graph, start="random", rng=1),
        bp(graph, start="random", rng=1),
    )
    np.testing.assert_array_equal(one.messages, two.messages)
    np.testing.assert_allclose(one.messages, uniform.messages, atol=1e-9)
    assert bp(graph, start=uniform.messages).n_iter == 1


def test_a_run_that_was_stopped_goes_on_from_the_messages_of_the_callback():
    graph, seen = loopy_graph(1, 0.5), []
    whole = bp(graph, callback=lambda state, residual: seen.append((state[0].copy(), residual)))
    assert len(seen) == whole.n_iter and seen[-1][1] == whole.residual
    rest = bp(graph, start=seen[4][0])
    assert abs(rest.n_iter - whole.n_iter + 5) <= 1  # normalised once more, by rounding
    np.testing.assert_allclose(rest.messages, whole.messages, rtol=0, atol=1e-12)
