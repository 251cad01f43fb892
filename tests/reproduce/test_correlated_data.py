"""Figures 13 and 14: features of any token covariance, exact errors, stored numbers, published values."""
import numpy as np
import pytest

from spinlib.icl import LinearTask, best_weights, features, population_error, to_spin_glass
from spinlib.reproduce import (
    load,
    published_covariance,
    shared_covariance,
    token_error,
    token_features,
    token_moments,
)
from spinlib.reproduce._experiments.correlated_data import EXPERIMENTS
from stats import mean_error, z_score

FIG13 = EXPERIMENTS["fig13"]
FIG14 = EXPERIMENTS["fig14"]

# c = .05, .10, ... .95: means of 20 repeats, from the arrays of the paper's public code (MIT licence)
ADAM = [0.1463, 0.2391, 0.3487, 0.4283, 0.4790, 0.5051, 0.5014, 0.5019, 0.4721, 0.4555, 0.4047, 0.3729, 0.3324, 0.2854,
        0.2472, 0.1921, 0.1495, 0.0974, 0.0501]
NAIVE = [0.1522, 0.2451, 0.3403, 0.4213, 0.4751]


def by_prompts(K, D, P, rng):
    """u, query, y of whole prompts with tokens of covariance K, drawn token by token."""
    N = len(K) - 1
    X = rng.standard_normal((P, D, N + 1)) @ np.linalg.cholesky(K).T
    w = rng.standard_normal((P, D))
    y = (w[:, :, None] * X).sum(1) / np.sqrt(D)
    u = np.concatenate([(X[:, :, :N] @ y[:, :N, None])[:, :, 0], (y[:, :N] ** 2).sum(1)[:, None]], axis=1) / N
    return u, X[:, :, N], y[:, N]


@pytest.mark.parametrize("covariance", [shared_covariance, published_covariance])
def test_features_and_errors_agree_with_whole_prompts(covariance):
    K, D = covariance(6, 0.4), 3
    W = np.random.default_rng(0).normal(size=(D + 1, D))
    fast, (u, query, y) = token_features(K, D, 100_000, rng=1), by_prompts(K, D, 100_000, np.random.default_rng(2))
    for a, b, c in ((fast.u, fast.query, fast.y), (u, query, y)):
        assert abs(z_score((((a @ W) * b).sum(1) - c) ** 2, token_error(W, K))) < 5
    for moment in (lambda u, q, y: u[:, 0] * q[:, 0] * y, lambda u, q, y: u[:, D] * y**2, lambda u, q, y: u[:, 0] ** 2,
                   lambda u, q, y: u[:, 0] * u[:, 1] * q[:, 0] * q[:, 1], lambda u, q, y: u[:, D] ** 2 * q[:, 1] ** 2):
        (m1, e1), (m2, e2) = mean_error(moment(fast.u, fast.query, fast.y)), mean_error(moment(u, query, y))
        assert abs(m1 - m2) < 5 * np.hypot(e1, e2) and abs(m1) > 4 * e1


def test_error_at_the_covariance_of_the_task_is_population_error():
    W = np.random.default_rng(0).normal(size=(5, 4))
    for N, c in ((3, 0.0), (8, 0.3), (8, 1.0)):
        assert abs(token_error(W, shared_covariance(N, c)) - population_error(W, N, corr=c)) < 1e-12
    assert abs(token_error(W, published_covariance(8, 0.0)) - population_error(W, 8)) < 1e-12
    assert abs(token_error(W, published_covariance(8, 0.3)) - population_error(W, 8, corr=0.3)) > 0.1


def test_the_published_query_shrinks():
    for c in (0.2, 0.8):
        K = published_covariance(200, c)
        assert abs(K[-1, -1] - (1 - c)) < 0.006 and abs(np.linalg.det(K[:3, :3])) > 0
        assert abs(np.trace(K) - 201) < 1e-9              # L^T L and L L^T share their eigenvalues
        assert np.allclose(np.linalg.eigvalsh(K), np.linalg.eigvalsh(shared_covariance(200, c)))


@pytest.mark.parametrize("covariance, c",
                         [(shared_covariance, 0.3), (published_covariance, 0.3), (shared_covariance, 1)])
def test_the_best_weights_are_a_multiple_of_the_identity(covariance, c):
    """a = b / (alpha + gamma (D + 1)): no direction from there lowers the error."""
    D, K, rng = 4, covariance(10, c), np.random.default_rng(0)
    s, b, alpha, gamma, rho = token_moments(K, D)
    W = np.eye(D + 1, D) * b / (alpha + gamma * (D + 1))
    least = token_error(W, K)
    assert abs(least - (s - b**2 * D / (alpha + gamma * (D + 1)))) < 1e-12
    for _ in range(20):
        assert token_error(W + 1e-2 * rng.normal(size=W.shape), K) > least
    if c == 1:
        assert abs(least - 2 / (D + 4)) < 1e-12
    assert abs(token_moments(shared_covariance(10, 0), D)[1] / (token_moments(shared_covariance(10, 0), D)[2])
               - best_weights(D, 10)[0, 0]) < 1e-12


def test_mean_couplings_of_correlated_tokens():
    """E s_am s_bn = alpha delta delta + gamma (...): measured at D = 4, within 5 standard errors."""
    D, N, c = 4, 10, 0.5
    _, _, alpha, gamma, rho = token_moments(shared_covariance(N, c), D)
    A = np.array([to_spin_glass(token_features(shared_covariance(N, c), D, 2000, rng=[1, k]), 0.0).hessian
                  for k in range(200)])
    i, j = 0, 1 + D                # two diagonal spins, (1, 1) and (2, 2)
    for value, expected in ((A[:, i, i], alpha + 2 * gamma), (A[:, i, j], gamma), (A[:, 1, 1], alpha),
                            (A[:, 1, D], gamma), (A[:, D * D, D * D], rho)):
        assert abs(z_score(value, expected)) < 5


def test_blocks_of_the_disorder():
    found = FIG13.compute(rng=np.random.default_rng(4), c=0.3, repeat=0, D=4, N=6, P=30)
    glass = to_spin_glass(features(LinearTask(4, 6, corr=0.3).sample(30, rng=4)), 0.0)
    assert abs(found["D_mean"] - glass.h[16:].mean()) < 1e-12
    assert abs(found["C_diagonal_mean"] - np.diagonal(glass.h[:16].reshape(4, 4)).mean()) < 1e-12
    assert found["E"].sum() + found["E_diagonal"].sum() == 16 * 15 / 2
    assert found["F"].sum() == 16 * 4 and found["G"].sum() == 6
    points = FIG13.points(False)[:1]
    arrays = FIG13.collect(points, [found])
    assert abs(arrays["F"][0].sum() * np.diff(arrays["F_edges"])[0] - 1) < 1e-12


def test_stored_errors_come_out_again_and_meet_the_published_ones():
    stored, points = load("fig14"), FIG14.points(True)
    k = next(k for k, p in enumerate(points) if p["c"] == 0.15 and p["covariance"] == "shared" and p["repeat"] == 1)
    found = FIG14.compute(rng=np.random.default_rng(0).spawn(len(points))[k], **points[k])
    for name, value in found.items():
        if np.isfinite(value) or np.isfinite(stored[name][2, 1]):
            # Adam divides by the root of squared gradients, which fall to 0, and so amplifies rounding
            bound = 3e-6 if "adam" in name else 1e-7
            assert abs(value - stored[name][2, 1]) < bound, name
            assert abs(value - stored[name][2, 2]) > 20 * bound, name
    assert np.abs(stored["adam_published"].mean(1) - ADAM).max() < 0.02
    assert np.abs(np.nanmean(stored["amp_eq153_published"][:5], axis=1) - NAIVE).max() < 0.02
    assert np.abs(stored["adam"].mean(1) - ADAM).max() > 0.1      # the covariance of the text is another task
    assert np.isnan(stored["amp_eq153"][5:]).all()


@pytest.mark.parametrize("D", [2, 3, 4, 5, 6, 20])
def test_which_spins_lose_their_pair_variances_first(D):
    """P = infinity: the norm of K is that of the D diagonal spins from D = 5 on, below that of a pair W_mn, W_nm."""
    _, _, alpha, gamma, _ = token_moments(shared_covariance(200, 0.4), D)
    unit = np.eye(D)
    A = (alpha * np.einsum("kl,mn->kmln", unit, unit) + gamma * np.einsum("km,ln->kmln", unit, unit)
         + gamma * np.einsum("kn,lm->kmln", unit, unit)).reshape(D * D, D * D)
    # a ridge at which both bounds of the page are near: 2 gamma = alpha + ridge
    stiff, off = np.diag(A) + 2 * gamma - alpha, A - np.diag(np.diag(A))
    norm = np.linalg.eigvalsh(off**2 / np.outer(stiff, stiff))[-1]
    diagonal, pair = (D - 1) * gamma**2 / (4 * gamma) ** 2, gamma**2 / (2 * gamma) ** 2
    assert norm == pytest.approx(max(diagonal, pair), rel=1e-10)
    assert (diagonal > pair + 1e-3) == (D > 5) and (pair > diagonal + 1e-3) == (D < 5)
