"""What the examples of a prompt allow at best: ridge regression inside the prompt, which is Bayes, and its error."""
from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_integer, check_real
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
        with np.errstate(all="ignore"):  # reported below, in words
            covariance, mean = x @ x.transpose(0, 2, 1) / N + ridge * np.eye(D), x @ y[:, :, None] / N
        if not (np.isfinite(covariance).all() and np.isfinite(mean).all()):
            raise ValueError(f"X must have finite products, got entries up to {np.abs(X).max():.3g}, whose squares are "
                             "beyond the largest number; scale the prompts")
        try:
            v = np.linalg.solve(covariance, mean)[:, :, 0]
        except np.linalg.LinAlgError as error:
            raise ValueError(f"ridge must be 0 or above the rounding of <x x>, got {ridge:.3g}, which is lost beside "
                             f"{np.abs(covariance).max():.3g}; take ridge=0") from error
    return (v * query).sum(1)


def bayes_error(D: int, N: int, noise: float = 0.0) -> float:
    r"""Error E (y_hat - y)^2 of the best possible prediction from a prompt, as ``population_error`` counts it.

    It is e + noise^2, the second the query's own noise, where e solves :math:`e = 1/(1 + (N/D)/(\rho + e))`,
    rho = noise^2: exact for D, N -> infinity at fixed N/D, and at every D for noise 0, where e = max(0, 1 - N/D); at
    D = 20 and noise .5 it is within 3 % of the simulated error for N up to 5D. Independent tokens, a fresh task a
    prompt; no restriction on how the prediction is made. Source: the Marchenko-Pastur law (1967); Hastie et al. (2022).
    ValueError for D, N < 1 and noise < 0.

    >>> from spinlib.icl import bayes_error, best_weights, population_error
    >>> print(f"{bayes_error(20, 100):.4f} {population_error(best_weights(20, 100), 100):.4f}")   # Bayes, one layer
    0.0000 0.1736
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    rho = check_real("noise", noise, minimum=0)**2
    half = (1 - N / D - rho) / 2
    root = sqrt(half**2 + rho)
    e = half + root if half >= 0 else rho / (root - half)      # e^2 - 2 half e - rho = 0; no difference of near numbers
    return e + rho
