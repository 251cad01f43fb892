"""The error on new tasks, exactly and by sampling; the best weights; the contrast of Thesis eq. (161)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import from_page
from stats import z_score

from spinlib.icl import (
    Features,
    LinearTask,
    best_weights,
    contrast,
    features,
    population_error,
    linear_attention,
)

PROMPTS = LinearTask(D=4, N=7).sample(30, rng=5)


@pytest.mark.parametrize("noise", [0.0, 0.6])
@pytest.mark.parametrize("sampler", ["sample", "sample_features"])
def test_eq_124_population_error_is_monte_carlo(noise, sampler):
    D, N = 3, 6
    data = getattr(LinearTask(D, N, noise=noise), sampler)(60_000, rng=11)
    data = data if isinstance(data, Features) else features(data)
    for seed in range(4):
        W = np.random.default_rng(seed).normal(size=(D + 1, D))
        squares = (((data.u @ W) * data.query).sum(1) - data.y) ** 2
        assert abs(z_score(squares, population_error(W, N, noise))) < 5


def gaussian_average(degrees, function):
    """E of a polynomial of independent standard normals, exact: Gauss-Hermite with enough nodes for each variable's
    degree."""
    rules = [np.polynomial.hermite_e.hermegauss(d // 2 + 1) for d in degrees]
    points = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weight = 1.0
    for k, (_, w) in enumerate(rules):
        weight = weight * (w / w.sum()).reshape([-1 if j == k else 1 for j in range(len(rules))])
    return (function(*points) * weight).sum()


@pytest.mark.parametrize("D,N", [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("noise,corr", [(0.0, 0.0), (0.7, 0.0), (0.0, 0.4), (0.7, 0.4), (0.3, 1.0)])
def test_eq_124_162_population_error_is_a_finite_sum(D, N, noise, corr):
    """The error is a polynomial of Gaussian numbers: a cubature gives its mean without Wick, to rounding."""
    W = np.random.default_rng(N).normal(size=(D + 1, D))
    root = (
        np.linalg.cholesky(corr + (1 - corr) * np.eye(N + 1)) if corr < 1 else np.ones((N + 1, 1))
    )

    def error(*z):
        z = list(z)
        raw = [[z.pop() for _ in range(root.shape[1])] for _ in range(D)]
        x = [
            [sum(root[i, j] * raw[d][j] for j in range(root.shape[1])) for i in range(N + 1)]
            for d in range(D)
        ]
        w, g = [z.pop() for _ in range(D)], [z.pop() for _ in range(N)]
        y = [
            sum(w[d] * x[d][i] for d in range(D)) / np.sqrt(D) + (noise * g[i] if i < N else 0)
            for i in range(N + 1)
        ]
        u = [sum(x[d][i] * y[i] for i in range(N)) / N for d in range(D)] + [
            sum(y[i] ** 2 for i in range(N)) / N
        ]
        y_hat = sum(u[a] * W[a, b] * x[b][N] for a in range(D + 1) for b in range(D))
        return (y_hat - y[N]) ** 2 + noise**2  # the noise of the query's label is independent

    degrees = [4] * (D + N) + [6] * (D * root.shape[1])
    assert population_error(W, N, noise, corr) == pytest.approx(
        gaussian_average(degrees, error), rel=1e-11
    )


@pytest.mark.parametrize("D,N,noise,corr", [(3, 5, 0.6, 0.4), (4, 2, 0.0, 0.7), (2, 6, 0.5, 1.0)])
def test_eq_162_population_error_is_monte_carlo_for_correlated_tokens(D, N, noise, corr):
    data = features(LinearTask(D, N, corr=corr, noise=noise).sample(60_000, rng=11))
    independent = []
    for seed in range(3):
        W = np.random.default_rng(seed).normal(size=(D + 1, D))
        squares = (((data.u @ W) * data.query).sum(1) - data.y) ** 2
        assert abs(z_score(squares, population_error(W, N, noise, corr))) < 5
        independent.append(z_score(squares, population_error(W, N, noise)))
    assert np.abs(independent).max() > 8  # the form for independent tokens fails


def test_population_error_known_values():
    """Without a prompt's help the error is E y^2; W = I has (D+1)/N; the optimum (D+1)/(N+D+1) goes to 0 for long
    prompts."""
    assert population_error(np.zeros((21, 20)), 100, 0.5) == 1.25
    assert population_error(np.eye(21, 20), 20) == pytest.approx(21 / 20, rel=1e-14)
    assert population_error(best_weights(20, 100), 100) == pytest.approx(21 / 121, rel=1e-14)
    assert population_error(best_weights(3, 10**9), 10**9) == pytest.approx(4e-9, rel=1e-6)
    assert population_error(best_weights(3, 10**9, noise=0.3), 10**9, 0.3) == pytest.approx(
        0.09, rel=1e-6
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 5), st.integers(1, 40), st.floats(0, 2), st.floats(0, 2), st.integers(0, 10**6)
)
def test_best_weights_is_the_minimiser(D, N, ridge, noise, seed):
    def objective(W):
        return population_error(W, N, noise) / 2 + ridge * (W**2).sum() / 2

    best = best_weights(D, N, ridge, noise)
    for i in np.ndindex(best.shape):  # central differences are exact on a parabola
        step = np.zeros_like(best)
        step[i] = 0.5
        scale = objective(best + step)
        assert abs(objective(best + step) - objective(best - step)) < 1e-12 * max(1, scale)
    other = best + np.random.default_rng(seed).normal(size=best.shape)
    assert objective(other) > objective(best)


def test_eq_158_identity_is_not_the_optimum():
    for D, N in [(20, 20), (20, 100), (5, 40)]:
        assert (
            population_error(np.eye(D + 1, D), N) > population_error(best_weights(D, N), N) + 0.01
        )
    assert population_error(np.eye(21, 20), 20) > population_error(
        np.zeros((21, 20)), 20
    )  # worse than silence


def test_sample_gradient_vanishes_at_best_weights():
    """The ground state of infinitely many prompts: the mean over prompts of dL/dW is 0 there, entry by entry."""
    D, N, ridge, noise = 3, 8, 0.2, 0.4
    W = best_weights(D, N, ridge, noise)
    data = LinearTask(D, N, noise=noise).sample_features(200_000, rng=7)
    error = ((data.u @ W) * data.query).sum(1) - data.y
    gradient = error[:, None, None] * data.u[:, :, None] * data.query[:, None, :] + ridge * W
    assert np.abs(z_score(gradient, 0.0)).max() < 5
    assert np.abs(z_score(gradient - ridge * W, 0.0)).max() > 20  # the test sees the ridge


def test_multiple_of_identity_is_one_step_of_gradient_descent():
    """From w = 0 on the loss sum_i (w.x_i - sqrt(D) y_i)^2 / 2N, rate c/..: the prediction of W = c I, to rounding."""
    c, D, N = 0.7, 4, 7
    X0, y0, query = PROMPTS.X[:, :D, :N], PROMPTS.X[:, D, :N], PROMPTS.X[:, :D, N]
    beta = np.zeros((30, D))  # the student's w / sqrt(D)
    gradient = (X0 @ ((beta[:, None, :] @ X0)[:, 0] - y0)[:, :, None])[:, :, 0] / N
    beta = beta - c * gradient
    np.testing.assert_allclose(
        linear_attention(c * np.eye(D + 1, D), PROMPTS.X), (beta * query).sum(1), atol=1e-14
    )


def test_eq_161_contrast():
    D = 6
    assert contrast(3.7 * np.eye(D + 1, D)) == pytest.approx(1, rel=1e-15)
    assert contrast(-np.eye(D + 1)) == pytest.approx(-1, rel=1e-15)
    assert contrast(np.vstack([np.eye(D), np.full(D, 100.0)])) == pytest.approx(1)  # sees W11 only
    whole = np.eye(D + 1)
    whole[-1, -1] = 0  # the published cosine, at a perfect W
    assert np.trace(whole) / (np.linalg.norm(whole) * np.sqrt(D + 1)) == pytest.approx(
        np.sqrt(D / (D + 1))
    )
    assert contrast(whole) == pytest.approx(1)


@pytest.mark.parametrize(("D", "N"), [(2, 8), (3, 5), (6, 20)])
def test_the_page_on_wrong_labels_starts_from_the_exact_error(D, N):
    """eq-ic-flip at noise 1/2: the error of any c I for honest labels and, by (1 - 2 zeta) -> minus that, for -c I."""
    for c in (best_weights(D, N, noise=0.5)[0, 0], 0.3):
        page = from_page("transformer/in_context_learning", "formula", D=D, N=N, c=c)
        for zeta, sign in ((0.0, 1), (1.0, -1)):
            exact = population_error(sign * c * np.eye(D + 1, D), N, noise=0.5) - 0.25
            assert page.formula(zeta) == pytest.approx(exact, rel=1e-13)
        middle = page.formula(
            0.5
        )  # labels that say nothing: |g|^2 as of any labels, without the pairs
        honest = page.formula(0.0) + 2 * c - c**2 * (1 - 1 / N)
        assert middle == pytest.approx(honest, rel=1e-13)
