"""The best prediction that a prompt allows: ridge regression in context against explicit Bayes, and its error."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq

from spinlib.icl import LinearTask, bayes_error, best_weights, in_context_ridge, population_error, predict
from spinlib.random_matrix import mp_stieltjes
from stats import mean_error, z_score


def bayes_by_conditioning(X, noise):
    """The slow obvious way: labels and the query's label are jointly Gaussian with covariance x.x'/D + noise^2."""
    answers = []
    for prompt in X:
        x, y = prompt[:-1], prompt[-1, :-1]
        K = x.T @ x / len(x) + noise**2 * np.eye(x.shape[1])
        answers.append(K[-1, :-1] @ np.linalg.solve(K[:-1, :-1], y))
    return np.array(answers)


@pytest.mark.parametrize("D,N", [(4, 9), (6, 3), (1, 2)])
def test_the_bayes_ridge_is_the_conditional_mean(D, N):
    noise = 0.7
    X = LinearTask(D, N, noise=noise).sample(20, rng=1).X
    np.testing.assert_allclose(in_context_ridge(X, D * noise**2 / N), bayes_by_conditioning(X, noise), atol=1e-12)
    assert np.abs(in_context_ridge(X, 2 * D * noise**2 / N) - bayes_by_conditioning(X, noise)).max() > 1e-3


@pytest.mark.parametrize("D,N", [(4, 9), (6, 3), (3, 3)])
def test_no_ridge_is_the_limit_of_a_small_one(D, N):
    X = LinearTask(D, N).sample(20, rng=2).X
    np.testing.assert_allclose(in_context_ridge(X), in_context_ridge(X, 1e-9), atol=1e-5)


def test_without_noise_the_prompt_is_solved_from_N_equal_D_on():
    for N in (5, 8):
        prompts = LinearTask(5, N).sample(50, rng=3)
        np.testing.assert_allclose(in_context_ridge(prompts.X), prompts.y, atol=1e-6)
        assert bayes_error(5, N) == 0
    prompts = LinearTask(5, 4).sample(20_000, rng=4)            # one direction of five is not seen
    assert bayes_error(5, 4) == pytest.approx(1 / 5)
    assert abs(z_score((in_context_ridge(prompts.X) - prompts.y) ** 2, 1 / 5)) < 5


def test_a_large_ridge_is_one_step_of_gradient_descent():
    X, ridge = LinearTask(4, 9).sample(20, rng=5).X, 1e6
    one_step = predict(np.eye(5, 4), X)
    np.testing.assert_allclose(in_context_ridge(X, ridge) * ridge, one_step, rtol=1e-4, atol=1e-4)


@settings(max_examples=50)
@given(st.integers(1, 200), st.integers(1, 400), st.floats(0.01, 3))
def test_bayes_error_solves_its_equation_and_is_the_resolvent(D, N, noise):
    rho = noise**2
    e = brentq(lambda e: e - 1 / (1 + N / D / (rho + e)), 0, 1, xtol=1e-15)
    assert bayes_error(D, N, noise) == pytest.approx(e + rho, rel=1e-10)
    resolvent = D / N * rho * mp_stieltjes(-D / N * rho, D / N).real       # posterior variance, traced
    assert bayes_error(D, N, noise) == pytest.approx(resolvent + rho, rel=1e-8)
    assert e + rho <= population_error(best_weights(D, N, noise=noise), N, noise) < 1 + rho


@pytest.mark.parametrize("N", [10, 20, 100])
def test_bayes_error_against_prompts_at_D_20(N):
    """The limit, and what D = 20 adds: the simulated mean posterior variance is within 3 % of the formula."""
    D, noise = 20, 0.5
    task = LinearTask(D, N, noise=noise)
    prompts = task.sample(4000, rng=N)
    square = (in_context_ridge(prompts.X, D * noise**2 / N) - prompts.y) ** 2
    x = prompts.X[:1000, :D, :N]
    precision = x @ x.transpose(0, 2, 1) + D * noise**2 * np.eye(D)
    posterior = noise**2 * np.trace(np.linalg.inv(precision), axis1=1, axis2=2)
    mean, error = mean_error(posterior)
    assert abs(z_score(square, mean + noise**2)) < 5           # the posterior knows its own error
    assert abs(mean + noise**2 - bayes_error(D, N, noise)) < 0.03 * mean + 5 * error


def test_what_they_refuse():
    X = LinearTask(3, 5).sample(2, rng=0).X
    with pytest.raises(ValueError, match="ridge must be finite and >= 0, got -1"):
        in_context_ridge(X, -1.0)
    with pytest.raises(ValueError, match="got \\(5, 4\\)|shape"):
        in_context_ridge(np.ones((5, 4)))
    with pytest.raises(ValueError, match="X must have finite products.*scale the prompts"):
        in_context_ridge(1e200 * X, 0.1)                      # no NaN, and no word of numpy
    flat = np.zeros((1, 3, 3))
    flat[0, :, :2] = 1
    with pytest.raises(ValueError, match="ridge must be 0 or above the rounding.*take ridge=0"):
        in_context_ridge(flat, 1e-300)
    with pytest.raises(ValueError, match="N must be at least 1"):
        bayes_error(3, 0)
    with pytest.raises(ValueError, match="D must be at most"):
        bayes_error(10**400, 3)
    with pytest.raises(ValueError, match="noise must be finite and >= 0"):
        bayes_error(3, 5, -0.1)
