"""Four roads to one ground state: loops over spins and edges, trees, the paper's parameters, the Onsager term."""

import numpy as np
import pytest
from glasses import distance, glass_of, prompts, quiet, random_glass, random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.inference import amp, ground_state, ground_state_cg, relaxed_bp, sample_amp
from spinlib.spin_glass import SpinGlass

D, N, RIDGE, BETA = 20, 100, 0.01, 100.0  # the paper's parameters, Fig. 12b


@pytest.fixture(scope="module")
def paper():
    f = prompts(D, N, 10_000)
    return f, glass_of(f, RIDGE)


# --- oracle: the loops that a first implementation would write -----------------------------------------------------


def loop_amp(glass, beta, onsager, sweeps):
    n = glass.n
    m, m_old, v = np.zeros(n), np.zeros(n), 1 / (beta * glass.lam)
    for _ in range(sweeps):
        new_m, new_v = np.empty(n), np.empty(n)
        for i in range(n):
            V = sum(beta**2 * glass.J[i, j] ** 2 * v[j] for j in range(n) if j != i)
            M = sum(beta * glass.J[i, j] * m[j] for j in range(n) if j != i)
            if onsager:
                M -= V * m_old[i]
            new_v[i] = 1 / (beta * glass.lam[i] - V)
            new_m[i] = new_v[i] * (beta * glass.h[i] + M)
        m, m_old, v = new_m, m, new_v
    return m, v


def loop_relaxed_bp(glass, beta, sweeps):
    """Thesis eqs. (145), (147), edge by edge, and (149) at the end."""
    n, others = glass.n, lambda *out: [k for k in range(glass.n) if k not in out]
    m, v = np.zeros((n, n)), np.repeat(1 / (beta * glass.lam)[:, None], n, axis=1)

    def outgoing(i, m, v, *out):
        M = sum(beta * glass.J[i, k] * m[k, i] for k in others(i, *out))
        V = sum(beta**2 * glass.J[i, k] ** 2 * v[k, i] for k in others(i, *out))
        return (beta * glass.h[i] + M) / (beta * glass.lam[i] - V), 1 / (beta * glass.lam[i] - V)

    for _ in range(sweeps):
        new = {(i, j): outgoing(i, m, v, j) for i in range(n) for j in others(i)}
        for (i, j), pair in new.items():
            m[i, j], v[i, j] = pair
    return np.array([outgoing(i, m, v) for i in range(n)]).T


@pytest.mark.parametrize("onsager", [True, False])
def test_amp_is_the_loop_over_spins(onsager):
    glass = random_glass(9, 0.5)
    m, v = loop_amp(glass, 3.0, onsager, 4)
    found = quiet(amp, glass, beta=3.0, onsager=onsager, max_iter=4)
    np.testing.assert_allclose(found.mean, m, rtol=1e-12)
    np.testing.assert_allclose(found.var, v, rtol=1e-12)


def test_relaxed_bp_is_the_loop_over_edges():
    glass = random_glass(7, 0.5)
    m, v = loop_relaxed_bp(glass, 3.0, 60)
    found = relaxed_bp(glass, beta=3.0, tol=1e-14)
    np.testing.assert_allclose(found.mean, m, rtol=1e-11)
    np.testing.assert_allclose(found.var, v, rtol=1e-12)


@given(st.integers(2, 25), st.floats(0.05, 0.45), st.integers(0, 10_000), st.floats(0.01, 1000))
@settings(max_examples=40, deadline=None)
def test_every_road_stops_where_the_gradient_vanishes(n, strength, seed, beta):
    """|J| < lam/2 in the spectral norm: the variances have a fixed point, R <= lam/2, lam + J > 0,
    so all must converge."""
    glass = random_glass(n, strength, seed)
    for solve in (ground_state, amp, relaxed_bp):
        found = solve(glass, beta=beta)
        assert np.abs(glass.gradient(found.mean)).max() < 1e-8 * np.abs(glass.h).max()
        assert found.converged and (found.var > 0).all()
        step = np.random.default_rng(seed).standard_normal(n)
        assert glass.energy(found.mean + step) > glass.energy(found.mean)


@pytest.mark.parametrize("seed", range(8))
def test_eqs_145_to_149_relaxed_bp_is_exact_on_trees(seed):
    glass = random_tree(15, seed)
    exact, found = ground_state(glass, beta=2.0), relaxed_bp(glass, beta=2.0, tol=1e-14)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.var, exact.var, rtol=1e-12)
    # where amp converges on a tree, its single-site variances are not exact
    weak = SpinGlass(glass.J / 2, glass.h, glass.lam)
    assert np.abs(amp(weak).var / ground_state(weak).var - 1).max() > 1e-4


def test_without_couplings_everything_is_one_step():
    glass = SpinGlass(np.zeros((4, 4)), [1, 2, 3, 4], [1, 2, 3, 4])
    for solve in (ground_state, amp, relaxed_bp):
        found = solve(glass, beta=2.0)
        np.testing.assert_allclose(found.mean, 1)
        np.testing.assert_allclose(found.var, [1 / 2, 1 / 4, 1 / 6, 1 / 8])


@pytest.mark.parametrize("solve", [ground_state, amp, relaxed_bp])
def test_beta_scales_variances_and_no_mean(solve):
    glass = random_glass(12, 0.5)
    cold, hot = solve(glass, beta=100.0), solve(glass, beta=0.1)
    np.testing.assert_array_equal(cold.mean, hot.mean)
    np.testing.assert_allclose(1000 * cold.var, hot.var, rtol=1e-13)


# --- the paper's parameters ----------------------------------------------------------------------------------------


def test_four_roads_to_the_ground_state(paper):
    f, glass = paper
    exact = ground_state(glass, beta=BETA)
    roads = (
        (amp(glass, beta=BETA), 2.669e-3),
        (relaxed_bp(glass, beta=BETA), 2.652e-3),
        (sample_amp(f, ridge=RIDGE, beta=BETA), 3.118e-3),
    )
    # the means are exact; the variances are not, and by how much is the same on every machine
    for found, error in roads:
        assert found.converged and distance(found.mean, exact.mean) < 1e-8
        assert np.sqrt(np.mean((found.var / exact.var - 1) ** 2)) == pytest.approx(error, rel=1e-3)
    assert distance(ground_state_cg(f, ridge=RIDGE).mean, exact.mean) < 1e-8


def check_bias(glass, exact, naive, percent, margin):
    assert naive.converged
    assert 100 * distance(naive.mean, exact.mean) == pytest.approx(percent, abs=margin)
    R = BETA * glass.J**2 @ naive.var
    reduced = np.linalg.solve(glass.hessian - np.diag(R), glass.h)
    assert distance(naive.mean, reduced) < 1e-8
    residual = glass.gradient(
        naive.mean
    )  # the printed equation leaves exactly the reaction term behind
    np.testing.assert_allclose(residual, R * naive.mean, atol=1e-8 * np.abs(residual).max())


def test_eq_153_loses_the_onsager_term(paper):
    """The printed equation misses the ground state by 4.6 +- .5 percent;
    with the reaction term it is the ground state."""
    _, glass = paper
    exact = ground_state(glass, beta=BETA)
    check_bias(glass, exact, amp(glass, beta=BETA, onsager=False), 4.6, 0.5)
    assert distance(amp(glass, beta=BETA).mean, exact.mean) < 1e-8


@pytest.mark.slow
def test_eq_153_bias_grows_when_prompts_are_few():
    glass = glass_of(prompts(D, N, 3000), RIDGE)
    exact = ground_state(glass, beta=BETA)
    check_bias(
        glass, exact, amp(glass, beta=BETA, onsager=False, damping=0.9, max_iter=2000), 25, 4
    )
    assert distance(amp(glass, beta=BETA, damping=0.5).mean, exact.mean) < 1e-8
    assert distance(relaxed_bp(glass, beta=BETA, damping=0.5).mean, exact.mean) < 1e-8


@pytest.mark.parametrize("solve", [ground_state, amp, relaxed_bp])
def test_pairwise_solvers_refuse(solve):
    glass = random_glass(4, 0.5)
    for beta in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="inverse temperature"):
            solve(glass, beta=beta)
    with pytest.raises(TypeError, match="glass must be of type SpinGlass, got ndarray"):
        solve(glass.J)
    if solve is amp:
        with pytest.raises(TypeError, match="onsager must be True or False, got 'no'"):
            amp(glass, onsager="no")
    if solve is not ground_state:
        for bad in ({"damping": 1.0}, {"damping": -0.1}, {"tol": 0.0}, {"max_iter": 0}):
            with pytest.raises(ValueError, match=next(iter(bad))):
                solve(glass, **bad)
