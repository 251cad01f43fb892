"""Tokens of any covariance: features against whole prompts, the exact error, its best weights, its curvatures."""

import numpy as np
import pytest
from stats import mean_error, z_score

from spinlib.icl import LinearTask, best_weights, features, population_error, to_spin_glass
from spinlib.icl._prompts import root


def shared(N, c):
    return c + (1 - c) * np.eye(N + 1)


def turned(N, c):
    """L^T L for L L^T = shared(N, c): the query shrinks as c grows."""
    L = np.linalg.cholesky(shared(N, c))
    return L.T @ L


def chain(N, c):
    """c^|i - j|, and the query twice as long."""
    K = c ** np.abs(np.subtract.outer(np.arange(N + 1), np.arange(N + 1)))
    K[-1] *= 2
    K[:, -1] *= 2
    return K


def moments(D, N, corr, noise=0.0):
    """(alpha, gamma, rho) of the error, read off its curvatures."""
    at = lambda *places: population_error(
        sum(
            (np.outer(np.arange(D + 1) == a, np.arange(D) == m) for a, m in places),
            np.zeros((D + 1, D)),
        ),
        N,
        noise,
        corr,
    )
    zero, alpha, rho = at(), at((0, 1)) - at(), at((D, 0)) - at()
    return alpha, (at((0, 1), (1, 0)) - zero - 2 * alpha) / 2, rho


@pytest.mark.parametrize(
    "D, N, noise, corr, expected",
    [  # by two programs of before, one a number, one a matrix
        (3, 4, 0.0, 0.0, 39.44746171935171),
        (3, 4, 0.5, 0.0, 50.18286012320761),
        (5, 20, 0.0, 0.3, 18.991699950181822),
        (5, 20, 0.7, 0.3, 26.11258697282809),
        (2, 6, 0.4, 1.0, 150.37584956276686),
        (3, 4, 0.0, turned(4, 0.3), 41.91993865109982),
        (5, 20, 0.0, turned(20, 0.6), 12.180134734845304),
        (4, 8, 0.0, chain(8, 0.7), 112.28003815302492),
    ],
)
def test_errors_as_before(D, N, noise, corr, expected):
    W = np.random.default_rng(D).normal(size=(D + 1, D))
    assert population_error(W, N, noise, corr) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.6])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_a_number_is_the_matrix_with_this_number(c, noise):
    W = np.random.default_rng(0).normal(size=(5, 4))
    assert population_error(W, 8, noise, shared(8, c)) == pytest.approx(
        population_error(W, 8, noise, c), rel=1e-12
    )
    assert population_error(W, 8, noise, turned(8, 0.3)) != pytest.approx(
        population_error(W, 8, noise, 0.3), abs=0.1
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "corr, noise, tasks",
    [
        (0.4, 0.0, None),
        (1.0, 0.5, None),
        (turned(6, 0.4), 0.0, None),
        (chain(6, 0.8), 0.7, None),
        (chain(6, 0.8), 0.7, [[1, 0, 0], [0.3, -2, 1]]),
        (0.4, 0.0, [[0, 0, 0], [1, 2, 0]]),
    ],
)
def test_features_and_errors_agree_with_whole_prompts(corr, noise, tasks):
    task = LinearTask(3, 6, corr=corr, noise=noise, tasks=tasks)
    W = np.random.default_rng(0).normal(size=(4, 3))
    slow, fast = features(task.sample(100_000, rng=1)), task.sample_features(100_000, rng=2)
    errors = [(((data.u @ W) * data.query).sum(1) - data.y) ** 2 for data in (slow, fast)]
    (m1, e1), (m2, e2) = (mean_error(error) for error in errors)
    assert abs(m1 - m2) < 5 * np.hypot(e1, e2)
    if tasks is None:
        assert max(abs(z_score(error, population_error(W, 6, noise, corr))) for error in errors) < 5
    for moment in (
        lambda u, q, y: u[:, 0] * q[:, 0] * y,
        lambda u, q, y: u[:, 3] * y**2,
        lambda u, q, y: u[:, 0] ** 2,
        lambda u, q, y: u[:, 0] * u[:, 1] * q[:, 0] * q[:, 1],
        lambda u, q, y: u[:, 3] ** 2 * q[:, 1] ** 2,
    ):
        (m1, e1), (m2, e2) = (
            mean_error(moment(data.u, data.query, data.y)) for data in (slow, fast)
        )
        assert abs(m1 - m2) < 5 * np.hypot(e1, e2)


def test_tokens_have_the_covariance():
    K = chain(3, 0.6)
    task = LinearTask(2, 3, corr=K)
    rows = task.sample(40_000, rng=1).X[:, :2].reshape(-1, 4)
    assert np.abs(z_score(rows[:, :, None] * rows[:, None, :], K)).max() < 4.5
    K[0, 0] = 9
    assert task.corr[0, 0] == 1 and not task.corr.flags.writeable and "corr: (4, 4)" in repr(task)


@pytest.mark.parametrize("corr", [0.0, 0.5, chain(3, 0.6)])
def test_pairs_have_the_covariance_and_follow_their_rule(corr):
    pairs, rules = LinearTask(2, 3, corr=corr).sample_pairs(40_000, rng=1)
    x, K = pairs[:, :, 0], corr if np.ndim(corr) else shared(3, corr)
    assert np.abs(z_score(x[:, :, None] * x[:, None, :], K)).max() < 4.5
    np.testing.assert_allclose(
        (pairs[:, :, :2] @ rules[:, :, None])[:, :, 0], pairs[:, :, 2], atol=1e-12
    )


@pytest.mark.parametrize("corr", [0.3, 1.0, turned(10, 0.3), chain(10, 0.5)])
def test_the_best_weights_are_a_multiple_of_the_identity(corr):
    """No direction from there lowers the error; where all tokens are alike it is 2 / (D + 4)."""
    D, N, rng, one = 4, 10, np.random.default_rng(0), np.eye(5, 4)
    zero, plus, minus = (population_error(c * one, N, corr=corr) for c in (0, 1, -1))
    W = one * (minus - plus) / (plus + minus - 2 * zero) / 2
    least = population_error(W, N, corr=corr)
    for _ in range(20):
        assert population_error(W + 1e-2 * rng.normal(size=W.shape), N, corr=corr) > least
    if np.ndim(corr) == 0 and corr == 1:
        assert least == pytest.approx(2 / (D + 4), rel=1e-12)
    assert population_error(best_weights(D, N), N, corr=corr) > least


@pytest.mark.slow
def test_mean_couplings_of_correlated_tokens():
    """E s_am s_bn = alpha delta delta + gamma (...): measured at D = 4, within 5 standard errors."""
    D, N, c = 4, 10, 0.5
    alpha, gamma, rho = moments(D, N, c)
    A = np.array(
        [
            to_spin_glass(LinearTask(D, N, corr=c).sample_features(2000, rng=[1, k]), 0.0).hessian
            for k in range(200)
        ]
    )
    i, j = 0, 1 + D  # two diagonal spins, (1, 1) and (2, 2)
    for value, expected in (
        (A[:, i, i], alpha + 2 * gamma),
        (A[:, i, j], gamma),
        (A[:, 1, 1], alpha),
        (A[:, 1, D], gamma),
        (A[:, D * D, D * D], rho),
    ):
        assert abs(z_score(value, expected)) < 5


@pytest.mark.parametrize("D", [2, 3, 4, 5, 6, 20])
def test_which_spins_lose_their_pair_variances_first(D):
    """P = infinity: the norm of K is that of the D diagonal spins from D = 5 on, below that of a pair W_mn, W_nm."""
    alpha, gamma, _ = moments(D, 200, 0.4)
    unit = np.eye(D)
    A = (
        alpha * np.einsum("kl,mn->kmln", unit, unit)
        + gamma * np.einsum("km,ln->kmln", unit, unit)
        + gamma * np.einsum("kn,lm->kmln", unit, unit)
    ).reshape(D * D, D * D)
    # a ridge at which both bounds of the page are near: 2 gamma = alpha + ridge
    stiff, off = np.diag(A) + 2 * gamma - alpha, A - np.diag(np.diag(A))
    norm = np.linalg.eigvalsh(off**2 / np.outer(stiff, stiff))[-1]
    diagonal, pair = (D - 1) * gamma**2 / (4 * gamma) ** 2, gamma**2 / (2 * gamma) ** 2
    assert norm == pytest.approx(max(diagonal, pair), rel=1e-10)
    assert (diagonal > pair + 1e-3) == (D > 5) and (pair > diagonal + 1e-3) == (D < 5)


@pytest.mark.parametrize(
    "corr, words",
    [
        (1.1, "corr must be finite and >= 0 and <= 1"),
        (np.eye(3), r"corr must have shape \(5, 5\), got \(3, 3\)"),
        (np.triu(np.ones((5, 5))), "corr must be a covariance, symmetric"),
        (shared(4, -0.5), "without a negative eigenvalue, got .* the eigenvalue -1"),
        (np.full((5, 5), np.nan), "corr must be finite"),
    ],
)
def test_what_is_no_covariance(corr, words):
    for call in (
        lambda: LinearTask(3, 4, corr=corr),
        lambda: population_error(np.eye(4, 3), 4, corr=corr),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_tokens_of_a_covariance_of_low_rank():
    """Four tokens made of two: where Cholesky stops, the root by eigenvalues has the same square."""
    B = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [0.0, 1.0]])
    L = root(B @ B.T, 3)
    np.testing.assert_allclose(L @ L.T, B @ B.T, atol=1e-12)
    x = LinearTask(2, 3, corr=B @ B.T).sample(50, rng=0).X[:, :2]
    np.testing.assert_allclose(x[:, :, 2], x[:, :, 0] + x[:, :, 1], atol=1e-6)


def test_a_slightly_negative_eigenvalue_is_refused():
    with pytest.raises(ValueError, match="corr must be a covariance.* the eigenvalue -0.01$"):
        LinearTask(2, 1, corr=[[1.0, 1.01], [1.01, 1.0]])


def test_a_slight_asymmetry_is_refused():
    with pytest.raises(ValueError, match="corr must be a covariance, symmetric .* by up to 1e-05"):
        LinearTask(2, 1, corr=[[1.0, 0.5], [0.50001, 1.0]])
