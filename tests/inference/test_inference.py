"""Inference: exact marginals, relaxed BP, AMP with and without the Onsager term, sample-spin AMP."""
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import cg

from spinlib import ConvergenceWarning
from spinlib.icl import LinearTask, features, to_spin_glass
from spinlib.inference import _exact, amp, ground_state, ground_state_cg, relaxed_bp, sample_amp
from spinlib.spin_glass import SpinGlass, gaussian_glass

D, N, RIDGE, BETA = 20, 100, 0.01, 100.0  # the paper's parameters, Fig. 12b


def prompts(D, N, P, rng=0):
    """u, query, y of P prompts of Thesis eqs. (120)-(126), sampled given the length of the task vector;
    independent of icl."""
    rng = np.random.default_rng(rng)
    w, query = rng.standard_normal((P, D)), rng.standard_normal((P, D))
    along = rng.standard_normal((P, D))
    length = np.linalg.norm(w, axis=1, keepdims=True)
    w1 = w / length
    along -= w1 * (along * w1).sum(1, keepdims=True)
    chi2 = rng.chisquare(N, (P, 1))  # labels are |w|/sqrt(D) times the components of the N inputs along w
    g = length / np.sqrt(D) / N * (chi2 * w1 + np.sqrt(chi2) * along)
    return SimpleNamespace(u=np.hstack([g, length**2 / D * chi2 / N]), query=query, y=(w * query).sum(1) / np.sqrt(D))


def spins(f):
    return (f.u[:, :, None] * f.query[:, None, :]).reshape(len(f.y), -1)


def glass_of(f, ridge):
    """Thesis eq. (128), with the plus sign in lam."""
    s = spins(f)
    A = s.T @ s / len(s)
    return SpinGlass(np.diag(np.diagonal(A)) - A, f.y @ s / len(s), ridge + np.diagonal(A))


def random_glass(n, strength, rng=0):
    """A weakly coupled random glass: spectral radius of J is ``strength`` times the smallest stiffness."""
    rng = np.random.default_rng(rng)
    J = np.triu(rng.standard_normal((n, n)), 1)
    J = J + J.T
    lam = rng.uniform(1, 2, n)
    return SpinGlass(J * strength / max(np.abs(np.linalg.eigvalsh(J)).max(), 1e-9), rng.standard_normal(n), lam)


def random_tree(n, rng):
    rng = np.random.default_rng(rng)
    J = np.zeros((n, n))
    for i in range(1, n):
        J[i, rng.integers(i)] = rng.standard_normal()
    J = J + J.T
    return SpinGlass(J, rng.standard_normal(n), np.abs(J).sum(1) + rng.uniform(0.1, 1, n))


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **kwargs)


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


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


def loop_sample_amp(s, y, ridge, beta, sweeps):
    """Sum-product with a node a prompt; s is the full (P, n) matrix."""
    P, n = s.shape
    m, g = np.zeros(n), np.zeros(P)
    v = np.array([1 / (beta * (ridge + (s[:, i] ** 2).mean())) for i in range(n)])
    for _ in range(sweeps):
        omega, variance = np.empty(P), np.empty(P)
        for mu in range(P):
            variance[mu] = sum(s[mu, i] ** 2 * v[i] for i in range(n))
            omega[mu] = sum(s[mu, i] * m[i] for i in range(n)) - variance[mu] * g[mu]
        g = (y - omega) / (P / beta + variance)
        for i in range(n):
            precision = sum(s[mu, i] ** 2 / (P / beta + variance[mu]) for mu in range(P))
            v[i] = 1 / (beta * ridge + precision)
            m[i] = v[i] * (precision * m[i] + sum(s[mu, i] * g[mu] for mu in range(P)))
    return m, v


@pytest.mark.parametrize("onsager", [True, False])
def test_amp_is_the_loop_over_spins(onsager):
    glass = random_glass(9, 0.5)
    m, v = loop_amp(glass, 3.0, onsager, 4)
    found = quiet(amp, glass, 3.0, onsager=onsager, max_iter=4)
    np.testing.assert_allclose(found.mean, m, rtol=1e-12)
    np.testing.assert_allclose(found.var, v, rtol=1e-12)


def test_relaxed_bp_is_the_loop_over_edges():
    glass = random_glass(7, 0.5)
    m, v = loop_relaxed_bp(glass, 3.0, 60)
    found = relaxed_bp(glass, 3.0, tol=1e-14)
    np.testing.assert_allclose(found.mean, m, rtol=1e-11)
    np.testing.assert_allclose(found.var, v, rtol=1e-12)


def test_sample_amp_is_the_loop_over_prompts_and_spins():
    f = prompts(3, 8, 40)
    m, v = loop_sample_amp(spins(f), f.y, 0.2, 3.0, 4)
    found = quiet(sample_amp, f, 0.2, 3.0, max_iter=4)
    np.testing.assert_allclose(found.mean, m, rtol=1e-11)
    np.testing.assert_allclose(found.var, v, rtol=1e-11)


# --- exact marginals -----------------------------------------------------------------------------------------------

def test_ground_state_is_the_inverse_hessian():
    glass = random_glass(30, 0.9)
    inverse = np.linalg.inv(glass.hessian)
    found = ground_state(glass, 4.0)
    np.testing.assert_allclose(found.mean, inverse @ glass.h, rtol=1e-11)
    np.testing.assert_allclose(found.var, np.diagonal(inverse) / 4, rtol=1e-12)
    assert found.converged and found.n_iter == 0 and found.residual < 1e-13


@pytest.mark.parametrize("beta", [0.5, 20.0])
def test_eq_133_boltzmann_distribution_has_these_marginals(beta):
    """Gibbs sampling, which knows only the conditional distribution of one spin, agrees within 5 standard errors."""
    glass, chains, sweeps = random_glass(6, 0.6), 4000, 30
    rng = np.random.default_rng(1)
    s = np.zeros((chains, glass.n))
    for _ in range(sweeps):
        for i in range(glass.n):
            s[:, i] = (glass.h[i] + s @ glass.J[i]) / glass.lam[i] + rng.standard_normal(chains) / np.sqrt(
                beta * glass.lam[i]
            )
    exact = ground_state(glass, beta)
    assert np.abs((s.mean(0) - exact.mean) / np.sqrt(exact.var / chains)).max() < 5
    assert np.abs((s.var(0) / exact.var - 1) / np.sqrt(2 / chains)).max() < 5


def test_eq_133_needs_the_stiffness_of_each_spin():
    """Printed with one lambda for all spins it is not exp(-beta H); with lambda_i it is, to rounding."""
    glass, beta = random_glass(8, 0.7), 2.0
    s = np.random.default_rng(2).standard_normal((50, glass.n))
    pairs = np.array([sum(glass.J[i, j] * row[i] * row[j] for i in range(8) for j in range(i)) for row in s])

    def log_weight(lam):
        return (beta * glass.h * s - beta / 2 * lam * s**2).sum(1) + beta * pairs

    np.testing.assert_allclose(log_weight(glass.lam), -beta * glass.energy(s), rtol=1e-11, atol=1e-11)
    for lam in (glass.lam.mean(), glass.lam.min()):  # whatever single number is meant
        assert np.std(log_weight(lam) + beta * glass.energy(s)) > 0.1


@given(st.integers(2, 25), st.floats(0.05, 0.45), st.integers(0, 10_000), st.floats(0.01, 1000))
@settings(max_examples=40, deadline=None)
def test_every_road_stops_where_the_gradient_vanishes(n, strength, seed, beta):
    """|J| < lam/2 in the spectral norm: the variances have a fixed point, R <= lam/2, lam + J > 0,
    so all must converge."""
    glass = random_glass(n, strength, seed)
    for solve in (ground_state, amp, relaxed_bp):
        found = solve(glass, beta)
        assert np.abs(glass.gradient(found.mean)).max() < 1e-8 * np.abs(glass.h).max()
        assert found.converged and (found.var > 0).all()
        step = np.random.default_rng(seed).standard_normal(n)
        assert glass.energy(found.mean + step) > glass.energy(found.mean)


@pytest.mark.parametrize("seed", range(8))
def test_eqs_145_to_149_relaxed_bp_is_exact_on_trees(seed):
    glass = random_tree(15, seed)
    exact, found = ground_state(glass, 2.0), relaxed_bp(glass, 2.0, tol=1e-14)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.var, exact.var, rtol=1e-12)
    # where amp converges on a tree, its single-site variances are not exact
    weak = SpinGlass(glass.J / 2, glass.h, glass.lam)
    assert np.abs(amp(weak).var / ground_state(weak).var - 1).max() > 1e-4


def test_without_couplings_everything_is_one_step():
    glass = SpinGlass(np.zeros((4, 4)), [1, 2, 3, 4], [1, 2, 3, 4])
    for solve in (ground_state, amp, relaxed_bp):
        found = solve(glass, 2.0)
        np.testing.assert_allclose(found.mean, 1)
        np.testing.assert_allclose(found.var, [1 / 2, 1 / 4, 1 / 6, 1 / 8])


@pytest.mark.parametrize("solve", [ground_state, amp, relaxed_bp])
def test_beta_scales_variances_and_no_mean(solve):
    glass = random_glass(12, 0.5)
    cold, hot = solve(glass, 100.0), solve(glass, 0.1)
    np.testing.assert_array_equal(cold.mean, hot.mean)
    np.testing.assert_allclose(1000 * cold.var, hot.var, rtol=1e-13)


# --- the paper's parameters ----------------------------------------------------------------------------------------

def test_four_roads_to_the_ground_state(paper):
    f, glass = paper
    exact = ground_state(glass, BETA)
    roads = ((amp(glass, BETA), 2.669e-3), (relaxed_bp(glass, BETA), 2.652e-3), (sample_amp(f, RIDGE, BETA), 3.118e-3))
    # the means are exact; the variances are not, and by how much is the same on every machine
    for found, error in roads:
        assert found.converged and distance(found.mean, exact.mean) < 1e-8
        assert np.sqrt(np.mean((found.var / exact.var - 1) ** 2)) == pytest.approx(error, rel=1e-3)
    assert distance(ground_state_cg(f, RIDGE).mean, exact.mean) < 1e-8


def check_bias(glass, exact, naive, percent, margin):
    assert naive.converged
    assert 100 * distance(naive.mean, exact.mean) == pytest.approx(percent, abs=margin)
    R = BETA * glass.J**2 @ naive.var
    reduced = np.linalg.solve(glass.hessian - np.diag(R), glass.h)
    assert distance(naive.mean, reduced) < 1e-8
    residual = glass.gradient(naive.mean)  # the printed equation leaves exactly the reaction term behind
    np.testing.assert_allclose(residual, R * naive.mean, atol=1e-8 * np.abs(residual).max())


def test_eq_153_loses_the_onsager_term(paper):
    """The printed equation misses the ground state by 4.6 +- .5 percent;
    with the reaction term it is the ground state."""
    _, glass = paper
    exact = ground_state(glass, BETA)
    check_bias(glass, exact, amp(glass, BETA, onsager=False), 4.6, 0.5)
    assert distance(amp(glass, BETA).mean, exact.mean) < 1e-8


@pytest.mark.slow
def test_eq_153_bias_grows_when_prompts_are_few():
    glass = glass_of(prompts(D, N, 3000), RIDGE)
    exact = ground_state(glass, BETA)
    check_bias(glass, exact, amp(glass, BETA, onsager=False, damping=0.9, max_iter=2000), 25, 4)
    assert distance(amp(glass, BETA, damping=0.5).mean, exact.mean) < 1e-8
    assert distance(relaxed_bp(glass, BETA, damping=0.5).mean, exact.mean) < 1e-8


@pytest.mark.parametrize("solve", [amp, relaxed_bp])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_divergence_is_reported(solve, damping):
    """D=20, N=100, P=1000, ridge .01: one minimum, yet pairwise message passing has no fixed point."""
    f = prompts(D, N, 1000)
    glass = glass_of(f, RIDGE)
    with pytest.warns(ConvergenceWarning, match="did not converge.*sample_amp"):
        found = solve(glass, BETA, damping=damping)
    assert not found.converged and np.isfinite(found.mean).all() and (found.var > 0).all()
    assert found.n_iter == len(found.history) < 10 and found.residual == found.history[-1] > 0.1
    assert found.reason.startswith("the variances have no positive fixed point (")
    rescued = sample_amp(f, RIDGE, BETA)
    assert rescued.converged and distance(rescued.mean, ground_state(glass).mean) < 1e-8


# --- why they diverge ----------------------------------------------------------------------------------------------

def instability(n=120, seed=0):
    """Stiffness 1 and a J with bulk +-.7 and one eigenvalue near -1.3: one minimum, converging variances."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n))
    J = 0.35 * (G + G.T) / np.sqrt(2 * n)
    e = rng.choice([-1.0, 1.0], n) / np.sqrt(n)
    J -= 1.3 * np.outer(e, e)
    np.fill_diagonal(J, 0)
    return SpinGlass(J, rng.standard_normal(n), np.ones(n))


def test_means_oscillate_when_lam_plus_J_has_a_negative_eigenvalue():
    """With converged variances and R < lam/2 the undamped means converge exactly if diag(lam) + J is positive
    definite."""
    glass = instability()
    assert np.linalg.eigvalsh(glass.hessian)[0] > 0 > np.linalg.eigvalsh(np.diag(glass.lam) + glass.J)[0]
    for solve in (amp, relaxed_bp):
        with pytest.warns(ConvergenceWarning, match="the means oscillate.*raise damping"):
            found = solve(glass)
        assert not found.converged and found.n_iter < 100 and found.reason.startswith("the means oscillate")
        assert np.abs(found.mean).max() < 10 * np.abs(ground_state(glass).mean).max()  # not 1e92, as after 500 sweeps
        damped = solve(glass, damping=0.5)
        assert damped.converged and damped.reason == "" and distance(damped.mean, ground_state(glass).mean) < 1e-8
    # its growth a sweep is the root z < -1 of (1 - R) z^2 - mu z + R = 0 for the lowest mode
    R = glass.J**2 @ amp(glass, damping=0.5).var
    companion = np.block(
        [[glass.J / (1 - R)[:, None], -np.diag(R / (1 - R))], [np.eye(glass.n), np.zeros_like(glass.J)]]
    )
    z = np.linalg.eigvals(companion)
    worst = z[np.argmax(np.abs(z))]
    long, longer = quiet(amp, glass, max_iter=40).mean, quiet(amp, glass, max_iter=41).mean
    assert worst.real < -1 and longer @ long / (long @ long) == pytest.approx(worst.real, rel=1e-3)


def test_variances_lose_their_fixed_point_at_a_quarter():
    """Equal rows sum_j J_ij^2 = k lam^2: x = 1/(lam - k lam^2 x) has a positive root if and only if 4 k <= 1."""
    ring = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
    for k, exists in ((0.24, True), (0.26, False)):
        glass = SpinGlass(np.sqrt(k / 2) * ring, np.ones(8), np.ones(8))
        found = quiet(amp, glass, damping=0.3, max_iter=2000)
        assert found.converged is exists
    root = (1 - np.sqrt(1 - 4 * 0.24)) / (2 * 0.24)
    np.testing.assert_allclose(amp(SpinGlass(np.sqrt(0.12) * ring, np.ones(8), np.ones(8))).var, root, rtol=1e-8)


def test_negative_variances_are_not_called_converged():
    saddle = SpinGlass([[0, 2], [2, 0]], [1, 0], [1, 1])  # the Hessian has a negative eigenvalue
    with pytest.warns(ConvergenceWarning, match="2 variances that are not positive"):
        assert not relaxed_bp(saddle).converged


@pytest.mark.slow
@given(st.integers(2, 12), st.floats(0.2, 1.5), st.integers(0, 10_000), st.sampled_from([0.0, 0.6]))
@settings(max_examples=25, deadline=None)
def test_the_proof_that_no_positive_variances_exist_is_one(n, strength, seed, damping):
    """Found without the early stop: from 1/lam the variances rise to the least positive fixed point,
    if there is one."""
    glass = random_glass(n, strength, seed)
    x = 1 / glass.lam
    for _ in range(1000):
        R = glass.J**2 @ x
        if (R >= glass.lam).any():
            break
        x, old = 1 / (glass.lam - R), x
        assert (x >= old * (1 - 1e-12)).all()
    reason = quiet(amp, glass, damping=damping, max_iter=1000).reason
    assert reason.startswith("the variances have no positive fixed point") == bool((R >= glass.lam).any())


def test_the_warning_names_the_scheme():
    for onsager, name in ((True, "amp did not"), (False, "amp without the Onsager term did not")):
        with pytest.warns(ConvergenceWarning, match=name):
            amp(instability(), onsager=onsager, max_iter=3)


def test_a_slow_run_is_not_stopped_and_says_that_it_converges():
    """lam + J has an eigenvalue .01 above 0: the means settle slowly, and reach the ground state."""
    glass = instability()
    shift = 0.01 - np.linalg.eigvalsh(np.eye(glass.n) + glass.J)[0]
    slow = SpinGlass(glass.J, glass.h, glass.lam + shift)
    with pytest.warns(ConvergenceWarning, match="still converging.*raise max_iter"):
        assert amp(slow, max_iter=400).reason.startswith("still converging")
    found = amp(slow, max_iter=10_000)
    assert found.converged and found.n_iter > 400 and distance(found.mean, ground_state(slow).mean) < 1e-6


def test_a_run_that_only_falls_a_little_is_not_called_converging():
    """Without the reaction term this one stays where it is: its last residual is .98 of the one halfway."""
    glass = gaussian_glass(40, stiffness=2.3, field=1.0, rng=10)
    with pytest.warns(ConvergenceWarning, match="the means do not settle.*raise damping"):
        found = amp(glass, onsager=False, max_iter=50)
    assert 0.9 < found.residual / found.history[25] < 1 and found.n_iter == 50
    with pytest.warns(ConvergenceWarning, match="the means do not settle"):  # and one that falls by a third
        amp(gaussian_glass(40, stiffness=2.3, field=1.0, rng=5), onsager=False, max_iter=50)


@pytest.mark.parametrize("P", [1, 4095, 4096, 4097, 8192, 8193])
def test_no_prompt_is_lost_between_two_blocks(P):
    """One prompt more than a block: both solvers see it, as the couplings do."""
    data = prompts(2, 4, P)
    exact = ground_state(glass_of(data, 0.5)).mean
    assert np.abs(ground_state_cg(data, 0.5, tol=1e-13).mean - exact).max() < 1e-11
    found = sample_amp(data, 0.5, tol=1e-12, damping=0.0 if P > 1 else 0.5, max_iter=5000)
    assert np.abs(found.mean - exact).max() < 1e-10


# --- Thesis eqs. (150)-(152): from edges to sites ------------------------------------------------------------------

def edges(D, ridge, rng=0):
    """Relaxed BP at its fixed point (beta = 1, N = 5 D, P = 10 D^2): m_i, x_i, and m_{i->j}, x_{i->j} on the edges."""
    glass = glass_of(prompts(D, 5 * D, 10 * D * D, rng), ridge)
    J, J2, h, lam = glass.J, glass.J**2, glass.h[:, None], glass.lam[:, None]
    m, x = np.zeros_like(J), np.ones_like(J) / lam
    for _ in range(80):
        in_m, in_x = J * m.T, J2 * x.T
        x = 0.5 * x + 0.5 / (lam - in_x.sum(1, keepdims=True) + in_x)
        m = 0.5 * m + 0.5 * x * (h + in_m.sum(1, keepdims=True) - in_m)
    assert np.abs(glass.gradient(np.diagonal(m))).max() < 1e-12
    return glass, np.diagonal(m), np.diagonal(x), m, x


def test_eqs_150_151_152_exact_differences():
    """m_i - m_{i->j} and v_i - v_{i->j} in closed form; the printed right sides replace V_{i->j} by V_i below."""
    glass, m, x, mm, xx = edges(6, 0.05)
    i, j = np.nonzero(~np.eye(glass.n, dtype=bool))
    J, a, b = glass.J[i, j], 1 / x[i], m[i] / x[i]  # a = lam_i - V_i, b = h_i + M_i
    top = J * mm[j, i] * a + J**2 * xx[j, i] * b
    np.testing.assert_allclose(m[i] - mm[i, j], top / (a * (a + J**2 * xx[j, i])), atol=1e-13)
    np.testing.assert_allclose(x[i] - xx[i, j], J**2 * xx[j, i] / (a * (a + J**2 * xx[j, i])), atol=1e-12)
    printed = top / a**2
    assert 1e-4 < np.abs(printed / (top / (a * (a + J**2 * xx[j, i]))) - 1).max() < 0.1
    one_lambda = glass.lam.mean()  # (151a) as printed, one lambda for all spins
    assert np.abs((glass.h + glass.J @ m) / one_lambda - m).max() > 0.1 * np.abs(m).max()


@pytest.mark.slow
def test_eqs_151_152_orders_depend_on_the_ridge():
    """Printed: 1/D^2 and 1/D^4. With J ~ D^-2 and m ~ D^-3/2 (ridge 1) or D^-1/2 (ridge ~ 1/D): see the asserts."""
    sizes, pairs = np.array([9, 13, 18]), [(0, 1), (0, 2), (1, 1), (1, 2)]
    rms = {}
    for small, rng in pairs:
        for D in sizes:
            _, m, x, mm, xx = edges(D, 0.2 / D if small else 1.0, rng)
            off = ~np.eye(len(m), dtype=bool)
            gaps = np.mean((m[:, None] - mm)[off] ** 2), np.mean((x[:, None] - xx)[off] ** 2)
            rms.setdefault(small, []).append(0.5 * np.log([D, *gaps]))
    (_, one_m, one_v), (_, small_m, small_v) = (
        [np.polyfit(2 * np.array(rms[small])[:, 0], column, 1)[0] for column in np.array(rms[small]).T]
        for small in (0, 1)
    )
    # lam = 1 + O(1/D) bends the first two slopes by about .3 at these sizes
    assert one_m == pytest.approx(-3.5, abs=0.4) and one_v == pytest.approx(-4, abs=0.6)  # printed -2 and -4
    assert small_m == pytest.approx(-1.5, abs=0.3) and small_v == pytest.approx(-1.3, abs=0.5)  # printed -2 and -4


@pytest.mark.slow
def test_eqs_151_152_orders_of_the_blocks():
    """At ridge 1 the variance differences fall as D^-4 in W11 but as D^-2 in the label row, where (152) prints D^-4."""
    sizes, rms = np.array([9, 13, 18, 25]), []
    for D in sizes:
        _, m, x, mm, xx = edges(D, 1.0, 0)
        inside, label = slice(D * D), slice(D * D, None)
        blocks = []
        for block in (inside, label):
            off = ~np.eye(len(m[block]), dtype=bool)
            blocks += [np.mean((a[block][:, None] - aa[block, block])[off] ** 2) for a, aa in ((x, xx), (m, mm))]
        rms.append(0.5 * np.log(blocks))
    inside_v, inside_m, label_v, label_m = np.polyfit(np.log(sizes), np.array(rms), 1)[0]
    # lam = 1 + O(1/D) and the finite sizes bend the slopes by up to about .5
    assert inside_v == pytest.approx(-4, abs=0.5) and label_v == pytest.approx(-2, abs=0.5)
    assert label_m == pytest.approx(-2, abs=0.5) and inside_m < -2.5


# --- matrix-free solvers -------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("P", "ridge"), [(20, 0.01), (60, 0.3), (3000, 0.0), (9000, 0.001)])
def test_cg_and_sample_amp_are_ridge_regression(P, ridge):
    f = prompts(5, 10, P)
    s = spins(f)
    exact = np.linalg.solve(s.T @ s / P + ridge * np.eye(30), f.y @ s / P)
    found = ground_state_cg(f, ridge)
    assert found.converged and found.var is None and distance(found.mean, exact) < 1e-8
    assert found.n_iter == len(found.history) and found.residual == found.history[-1]
    assert distance(sample_amp(f, ridge, damping=0.3, max_iter=3000).mean, exact) < 1e-8


def test_sample_amp_variance_is_better_when_prompts_are_few():
    f = prompts(8, 40, 300)
    exact = ground_state(glass_of(f, 0.05))
    error = [np.sqrt(np.mean((found.var / exact.var - 1) ** 2))
             for found in (sample_amp(f, 0.05), quiet(amp, glass_of(f, 0.05), damping=0.5))]
    assert error[0] < 0.05 and error[0] < 0.5 * error[1]


def test_cg_says_when_it_stops_early():
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or the ridge"):
        found = ground_state_cg(prompts(5, 10, 60), 0.01, max_iter=2)
    assert not found.converged and found.n_iter == 2 and found.residual > 1e-10


@pytest.mark.parametrize("solve", [ground_state_cg, sample_amp])
def test_prompts_serve_as_well_as_features(solve):
    task = LinearTask(D=3, N=8)
    data = task.sample(60, rng=0)
    np.testing.assert_array_equal(solve(data, 0.1).mean, solve(features(data), 0.1).mean)
    assert distance(solve(data, 0.1).mean, ground_state(to_spin_glass(data, 0.1)).mean) < 1e-8


def test_the_preconditioner_saves_sweeps():
    """Coordinates of very different size: with the diagonal taken out, 5 to 10 times fewer sweeps than without."""
    f = prompts(6, 20, 400)
    scale = 10.0 ** np.arange(-2, 4)
    f = SimpleNamespace(u=f.u, query=f.query * scale, y=f.y)
    s = spins(f)
    plain = []
    A, h = s.T @ s / 400 + 1e-3 * np.eye(42), f.y @ s / 400
    cg(A, h, rtol=1e-10, maxiter=5000, callback=plain.append)
    assert ground_state_cg(f, 1e-3, max_iter=5000).n_iter < len(plain) / 2


def test_cg_is_held_to_its_tolerance():
    """`converged` allows 10 tol for the residual that is measured again; 1e4 tol it does not."""
    f = prompts(5, 10, 60)
    for tol in (1e-3, 1e-6, 1e-10):
        found = ground_state_cg(f, 0.01, tol=tol)
        assert found.converged and found.residual <= 10 * tol
    history = ground_state_cg(f, 0.01).history
    early = quiet(ground_state_cg, f, 0.01, max_iter=len(history) - 3)  # 3 sweeps before the end: some 100 tol
    assert 10e-10 < early.residual < 1e-6 and not early.converged and early.reason.startswith("residual")


def test_a_result_shows_itself_in_one_line():
    text = repr(ground_state(random_glass(40, 0.5)))
    assert text.startswith("Marginals(mean: (40,), var: (40,), converged=True") and "\n" not in text and len(text) < 150
    assert "var=None" in repr(ground_state_cg(prompts(3, 5, 20), 0.1))


def test_zero_labels_have_a_zero_ground_state():
    f = prompts(3, 5, 40)
    f.y[:] = 0
    for solve in (ground_state_cg, sample_amp):
        found = solve(f, 0.1)
        assert found.converged and not found.mean.any()


# --- refusals ------------------------------------------------------------------------------------------------------

def test_no_minimum_is_refused_in_words():
    with pytest.raises(
        ValueError, match="positive definite, its smallest eigenvalue is -1.*no minimum; raise the ridge"
    ):
        ground_state(SpinGlass([[0, 2], [2, 0]], [1, 0], [1, 1]))
    few = glass_of(prompts(5, 10, 20), 0.0)  # 30 spins, 20 prompts: a flat set of minima
    with pytest.raises(ValueError, match="10 of its 30 eigenvalues are 0: the energy is flat.*no single minimum"):
        ground_state(few)
    tiny = SpinGlass(few.J, few.h, few.lam + 1e-9)  # a small ridge makes it one minimum
    assert ground_state(tiny).residual < 1e-5
    # stiffnesses may differ by any factor
    assert ground_state(SpinGlass(np.zeros((2, 2)), [1, 1], [1e20, 1])).converged
    for solve in (amp, relaxed_bp):
        with pytest.raises(ValueError, match="lam > 0 for every spin, got 0"):
            solve(SpinGlass([[0, 0.1], [0.1, 0]], [1, 0], [1, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("D,draws", [(2, 100), (3, 100), (4, 100), (6, 30), (10, 30)])
def test_one_prompt_too_few_is_flat_whatever_rounding_says(D, draws):
    """At ridge 0 and P = n - 1 one eigenvalue is 0, and rounding makes it positive in one draw of five (D = 4)."""
    n = D * (D + 1)
    for k in range(draws):
        flat = to_spin_glass(LinearTask(D, 2 * D).sample_features(n - 1, rng=[D, k, 0]), 0.0)
        with pytest.raises(ValueError, match="eigenvalues are 0: the energy is flat"):
            ground_state(flat)
        for P in (n, n + 1, 2 * n):  # as many prompts as spins suffice
            found = ground_state(to_spin_glass(LinearTask(D, 2 * D).sample_features(P, rng=[D, k, P]), 0.0))
            assert found.converged and (found.var > 0).all()
        for ridge in (1e-10, 1e-6):  # and any ridge above rounding
            few = LinearTask(D, 2 * D).sample_features(n // 2, rng=[D, k, 1])
            assert ground_state(to_spin_glass(few, ridge)).converged


def test_flatness_does_not_depend_on_the_units_of_a_spin():
    glass = gaussian_glass(12, rng=0)
    scale = 10.0 ** np.arange(-36, 36, 6)
    other = SpinGlass(glass.J * np.outer(scale, scale), glass.h * scale, glass.lam * scale**2)
    np.testing.assert_allclose(ground_state(other).mean * scale, ground_state(glass).mean, rtol=1e-12)
    np.testing.assert_allclose(ground_state(other).var * scale**2, ground_state(glass).var, rtol=1e-12)


def test_the_mean_alone():
    glass = gaussian_glass(30, field=1.0, rng=0)
    found = ground_state(glass, variances=False)
    assert found.var is None
    np.testing.assert_array_equal(found.mean, ground_state(glass).mean)
    with pytest.raises(TypeError, match="variances must be True or False"):
        ground_state(glass, variances=1)


@pytest.mark.parametrize("solve", [ground_state, amp, relaxed_bp])
def test_pairwise_solvers_refuse(solve):
    glass = random_glass(4, 0.5)
    for beta in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="inverse temperature"):
            solve(glass, beta)
    with pytest.raises(TypeError, match="must be a SpinGlass, got ndarray"):
        solve(glass.J)
    if solve is amp:
        with pytest.raises(TypeError, match="onsager must be True or False, got 'no'"):
            amp(glass, onsager="no")
    if solve is not ground_state:
        for bad in ({"damping": 1.0}, {"damping": -0.1}, {"tol": 0.0}, {"max_iter": 0}):
            with pytest.raises(ValueError, match=next(iter(bad))):
                solve(glass, **bad)


@pytest.mark.parametrize("solve", [ground_state_cg, sample_amp])
def test_matrix_free_solvers_refuse(solve):
    f = prompts(3, 5, 20)
    with pytest.raises(ValueError, match="ridge must be finite and >= 0, got -0.1"):
        solve(f, -0.1)
    with pytest.raises(ValueError, match="beta must be finite and > 0"):
        solve(f, 0.1, 0.0)
    with pytest.raises(TypeError, match="Prompts or Features.*u .P, D.1., query .P, D. and y .P,., got ndarray"):
        solve(f.u, 0.1)
    with pytest.raises(ValueError, match="u must have shape .20, 4., got .20, 3."):
        solve(SimpleNamespace(u=f.u[:, :3], query=f.query, y=f.y), 0.1)
    with pytest.raises(ValueError, match="y must have shape .20,., got .19,."):
        solve(SimpleNamespace(u=f.u, query=f.query, y=f.y[1:]), 0.1)
    with pytest.raises(ValueError, match="got nan in 1 of 20"):
        solve(SimpleNamespace(u=f.u, query=f.query, y=np.append(f.y[1:], np.nan)), 0.1)
    with pytest.raises(ValueError, match="at least one prompt"):
        solve(SimpleNamespace(u=f.u[:0], query=f.query[:0], y=f.y[:0]), 0.1)
    for bad in ({"tol": 0.0}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            solve(f, 0.1, **bad)
    if solve is sample_amp:
        with pytest.raises(ValueError, match="damping"):
            solve(f, 0.1, damping=1.0)


def test_a_hessian_that_is_flat_to_lapack_only_is_called_flat_once():
    """Where the condition number refuses and no eigenvalue is 0 to rounding: one is named, not none."""
    words = _exact._no_ground_state(gaussian_glass(3, rng=0), np.eye(3))
    assert "1 of its 3 eigenvalues are 0" in words
