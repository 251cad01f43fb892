"""The error of the best prediction from a prompt: its equation, the resolvent, and simulated posteriors."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pages import from_page
from scipy.optimize import brentq

from spinlib.icl import LinearTask, best_weights, in_context_ridge, population_error
from spinlib.theory import bayes_error
from stats import mean_error, z_score

mean_inverse = from_page("mapping/linear_regression_in_context", "mean_inverse").mean_inverse


@settings(max_examples=50)
@given(st.integers(1, 200), st.integers(1, 400), st.floats(0.01, 3))
def test_bayes_error_solves_its_equation_and_is_the_resolvent(D, N, noise):
    rho = noise**2
    e = brentq(lambda e: e - 1 / (1 + N / D / (rho + e)), 0, 1, xtol=1e-15)
    assert bayes_error(D, N, noise) == pytest.approx(e + rho, rel=1e-10)
    resolvent = D / N * rho * mean_inverse(D / N * rho, D / N)  # posterior variance, traced
    assert bayes_error(D, N, noise) == pytest.approx(resolvent + rho, rel=1e-8)
    assert e + rho <= population_error(best_weights(D, N, noise=noise), N, noise) < 1 + rho


@pytest.mark.slow
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
    assert abs(z_score(square, mean + noise**2)) < 5  # the posterior knows its own error
    assert abs(mean + noise**2 - bayes_error(D, N, noise)) < 0.03 * mean + 5 * error


def test_what_it_refuses():
    with pytest.raises(ValueError, match="N must be at least 1"):
        bayes_error(3, 0)
    with pytest.raises(ValueError, match="D must be at most"):
        bayes_error(10**400, 3)
    with pytest.raises(ValueError, match="noise must be finite and >= 0"):
        bayes_error(3, 5, -0.1)


def test_small_noise_in_a_long_prompt_keeps_its_digits():
    """N = 1000 D: e = rho / (rho - 2 half + e) = rho / 999, far below the rounding of half."""
    assert bayes_error(1, 1000, 1e-6) == pytest.approx(1e-12 * 1000 / 999, rel=1e-10, abs=0)
