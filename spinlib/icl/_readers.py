"""What a student who knows how prompts are made answers to one: ridge regression inside the prompt, which is Bayes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_noise, check_real
from spinlib.icl._prompts import check_prompts


def in_context_ridge(X: ArrayLike, ridge: float = 0.0) -> np.ndarray:
    r"""Predictions y_hat (P,) of a student who fits each prompt afresh, by ridge regression on its N examples.

    ``X`` (P, D+1, N+1) prompts; the student minimises ``mean_i (y_i - v.x_i)^2 + ridge |v|^2`` over v and answers
    v.query. At ridge 0 it takes the shortest v among the minima. For the task of :class:`LinearTask` with independent
    tokens, ridge = D noise^2 / N makes it the posterior mean, so that no other prediction has a smaller mean squared
    error. O(P D^2 (D + N)) time. ValueError for other shapes and a negative ridge.

    >>> from spinlib.icl import LinearTask, in_context_ridge
    >>> prompts = LinearTask(D=3, N=3).sample(5, rng=0)      # three equations for three unknowns, no noise
    >>> bool(abs(in_context_ridge(prompts.X) - prompts.y).max() < 1e-8)
    True
    """
    X = check_prompts(X)
    ridge = check_real("ridge", ridge, minimum=0, hint="the Bayes value is D noise^2 / N")
    x, y, query = X[:, :-1, :-1], X[:, -1, :-1], X[:, :-1, -1]
    if ridge == 0:
        v = (np.linalg.pinv(x.transpose(0, 2, 1)) @ y[:, :, None])[:, :, 0]
    else:
        N, D = y.shape[1], query.shape[1]
        covariance, mean = x @ x.transpose(0, 2, 1) / N + ridge * np.eye(D), x @ y[:, :, None] / N
        try:
            v = np.linalg.solve(covariance, mean)[:, :, 0]
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"ridge must be 0 or above the rounding of <x x>, got {ridge:.3g}, which is lost beside "
                f"{np.abs(covariance).max():.3g}; take ridge=0"
            ) from error
    return (v * query).sum(1)


def pool_posterior(pairs: ArrayLike, pool: ArrayLike, noise: float) -> np.ndarray:
    """Posterior mean (P, n) of the label of each question, given the pairs before it, for one who knows the pool.

    ``pairs`` (P, n, D+1) are rows (x_t, y_t) as :meth:`LinearTask.sample_pairs` returns them, ``pool`` (K, D) the rules
    v of y = v.x + noise g. The weight of rule k is the softmax of minus its squared errors so far over 2 noise^2.
    ValueError for noise 0, and for shapes that do not match.

    >>> from spinlib.icl import pool_posterior
    >>> pool_posterior([[[1.0, 1.0], [2.0, 0.0]]], [[1.0], [-1.0]], noise=0.1).round(6).tolist()
    [[0.0, 2.0]]
    """
    pairs = check_array("pairs", pairs, (None, None, None), hint="pairs are (P, n, D + 1)")
    pool = check_array("pool", pool, (None, pairs.shape[2] - 1), hint="one rule of length D a row")
    if 0 in pairs.shape or not pool.size:
        raise ValueError(
            f"pairs and pool must not be empty, got shapes {pairs.shape} and {pool.shape}"
        )
    noise = check_noise(noise, above=1e-75)
    guesses = pairs[:, :, :-1] @ pool.T  # (P, n, K)
    after = np.cumsum((guesses - pairs[:, :, -1:]) ** 2, 1) / (2 * noise**2)
    energy = np.concatenate([np.zeros_like(after[:, :1]), after[:, :-1]], 1)  # of the pairs before
    weights = np.exp(energy.min(2, keepdims=True) - energy)
    return (weights * guesses).sum(2) / weights.sum(2)
