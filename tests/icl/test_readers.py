"""The best prediction that a prompt allows: ridge regression in context against explicit Bayes, and what it refuses."""

import numpy as np
import pytest

from spinlib.icl import LinearTask, in_context_ridge, pool_posterior, linear_attention
from spinlib.theory import bayes_error
from stats import z_score


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
    np.testing.assert_allclose(
        in_context_ridge(X, D * noise**2 / N), bayes_by_conditioning(X, noise), atol=1e-12
    )
    assert (
        np.abs(in_context_ridge(X, 2 * D * noise**2 / N) - bayes_by_conditioning(X, noise)).max()
        > 1e-3
    )


@pytest.mark.parametrize("D,N", [(4, 9), (6, 3), (3, 3)])
def test_no_ridge_is_the_limit_of_a_small_one(D, N):
    X = LinearTask(D, N).sample(20, rng=2).X
    np.testing.assert_allclose(in_context_ridge(X), in_context_ridge(X, 1e-9), atol=1e-5)


def test_without_noise_the_prompt_is_solved_from_N_equal_D_on():
    for N in (5, 8):
        prompts = LinearTask(5, N).sample(50, rng=3)
        np.testing.assert_allclose(in_context_ridge(prompts.X), prompts.y, atol=1e-6)
        assert bayes_error(5, N) == 0
    prompts = LinearTask(5, 4).sample(20_000, rng=4)  # one direction of five is not seen
    assert bayes_error(5, 4) == pytest.approx(1 / 5)
    assert abs(z_score((in_context_ridge(prompts.X) - prompts.y) ** 2, 1 / 5)) < 5


def test_a_large_ridge_is_one_step_of_gradient_descent():
    X, ridge = LinearTask(4, 9).sample(20, rng=5).X, 1e6
    one_step = linear_attention(np.eye(5, 4), X)
    np.testing.assert_allclose(in_context_ridge(X, ridge) * ridge, one_step, rtol=1e-4, atol=1e-4)


def test_what_it_refuses():
    X = LinearTask(3, 5).sample(2, rng=0).X
    with pytest.raises(ValueError, match="ridge must be finite and >= 0, got -1"):
        in_context_ridge(X, -1.0)
    with pytest.raises(ValueError, match="got \\(5, 4\\)|shape"):
        in_context_ridge(np.ones((5, 4)))
    with pytest.raises(ValueError, match="X must be finite.*choose other units"):
        in_context_ridge(1e200 * X, 0.1)  # no NaN, and no word of numpy
    flat = np.zeros((1, 3, 3))
    flat[0, :, :2] = 1
    with pytest.raises(ValueError, match="ridge must be 0 or above the rounding.*take ridge=0"):
        in_context_ridge(flat, 1e-300)


def test_the_posterior_of_a_pool_needs_noise():
    """Without noise one pair in doubt is 0 / 0."""
    with pytest.raises(ValueError, match="noise must be finite and .*got 0.0"):
        pool_posterior(np.ones((1, 2, 3)), np.eye(2), 0.0)
