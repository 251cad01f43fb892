"""The optimal weights: the prediction in blocks, the conditions for a perfect answer, and what a prompt fixes."""

import numpy as np
import pytest

from spinlib.icl import (
    LinearTask,
    best_weights,
    controlled_error,
    features,
    population_error,
    linear_attention,
    to_spin_glass,
)

D, N = 4, 9
PROMPTS = LinearTask(D, N).sample(30, rng=7)
W = np.random.default_rng(8).normal(size=(D + 1, D + 1))


def covariance(X):
    return X[:D, :N] @ X[:D, :N].T / N


def test_eq_154_156_the_prediction_in_blocks():
    """W X block by block, and y_hat = w^T C0 (W11 + w W21 / sqrt D) x / sqrt D, against the whole product."""
    W11, W12, W21, W22 = W[:D, :D], W[:D, D:], W[D:, :D], W[D:, D:]
    for X, w, y_hat in zip(PROMPTS.X, PROMPTS.w, linear_attention(W, PROMPTS.X)):
        X0, y0, query = X[:D, :N], X[D:, :N], X[:D, N:]
        blocks = np.block([[W11 @ X0 + W12 @ y0, W11 @ query], [W21 @ X0 + W22 @ y0, W21 @ query]])
        np.testing.assert_allclose(W @ X, blocks, atol=1e-12)
        inner = W11 + w[:, None] @ W21 / np.sqrt(D)
        assert abs(w @ covariance(X) @ inner @ query[:, 0] / np.sqrt(D) - y_hat) < 1e-12
        assert abs((X @ X.T @ W @ X / N)[D, N] - y_hat) < 1e-12


def test_eq_157_is_sufficient_and_no_weights_satisfy_it_for_two_prompts():
    """C0^-1 answers all tasks on its own inputs, and not those on others; one scalar equation is far weaker."""
    X = PROMPTS.X[0]
    solution = np.vstack([np.linalg.inv(covariance(X)), np.zeros(D)])
    rng = np.random.default_rng(9)
    for _ in range(5):  # other tasks and queries, the same inputs
        w, query = rng.normal(size=D), rng.normal(size=D)
        other = X.copy()
        other[D, :N], other[:D, N] = w @ X[:D, :N] / np.sqrt(D), query
        assert abs(linear_attention(solution, other[None])[0] - w @ query / np.sqrt(D)) < 1e-10
    assert np.abs(linear_attention(solution, PROMPTS.X[1:]) - PROMPTS.y[1:]).max() > 0.1
    s = np.outer(*(v[0] for v in (features(PROMPTS).u, features(PROMPTS).query)))
    weak = PROMPTS.y[0] * s / (s**2).sum()  # solves the scalar equation, not the matrix equation
    assert abs(linear_attention(weak, PROMPTS.X[:1])[0] - PROMPTS.y[0]) < 1e-12
    matrix = covariance(X) @ (weak[:D] + np.outer(PROMPTS.w[0], weak[D]) / np.sqrt(D))
    assert np.abs(matrix - np.eye(D)).max() > 0.5


def test_eq_158_two_tasks_fix_the_identity():
    """W11 + w W21 / sqrt D = I: D^2 equations a task, of rank D^2 for one task and D^2 + D for two."""

    def equations(w):
        return np.hstack([np.eye(D * D), np.kron(w[:, None] / np.sqrt(D), np.eye(D))])

    one, two = PROMPTS.w[:2]
    assert np.linalg.matrix_rank(equations(one)) == D * D
    both = np.vstack([equations(one), equations(two)])
    assert np.linalg.matrix_rank(both) == D * D + D
    target = np.concatenate([np.eye(D).ravel()] * 2)
    solution = np.linalg.lstsq(both, target, rcond=None)[0].reshape(D + 1, D)
    np.testing.assert_allclose(solution, np.eye(D + 1, D), atol=1e-10)
    glass = to_spin_glass(
        LinearTask(D, N).sample_features(2, rng=1), 0.0
    )  # the data: one equation a prompt
    assert np.linalg.matrix_rank(glass.hessian) == 2


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_control_variate_is_unbiased_and_quieter(noise):
    """Over 200 sets of prompts, the mean is the exact error of W, with a smaller spread than the plain mean."""
    rng = np.random.default_rng(0)
    W = best_weights(4, 10) + 0.05 * rng.standard_normal((5, 4))
    plain, better = [], []
    for _ in range(200):
        prompts = LinearTask(4, 10, noise=noise).sample(200, rng=rng)
        y_hat = linear_attention(W, prompts.X)
        plain.append(((y_hat - prompts.y) ** 2).mean())
        better.append(controlled_error(y_hat, prompts, noise))
    exact = population_error(W, 10, noise)
    assert abs(np.mean(better) - exact) < 5 * np.std(better) / 200**0.5
    assert np.std(better) < (0.6 if noise == 0 else 0.7) * np.std(plain)
    with pytest.raises(ValueError, match=r"y_hat must have shape \(200,\), got \(200, 1\)"):
        controlled_error(y_hat[:, None], prompts)


def test_the_control_variate_of_the_best_weights_is_exact():
    """Their own answers differ from those of the control by nothing, at each noise."""
    prompts = LinearTask(4, 10, noise=0.7).sample(5, rng=0)
    W = best_weights(4, 10, noise=0.7)
    exact = population_error(W, 10, 0.7)
    assert controlled_error(linear_attention(W, prompts.X), prompts, 0.7) == pytest.approx(
        exact, rel=1e-12
    )
