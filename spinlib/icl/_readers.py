"""What one who knows how the tasks were made answers to a prompt."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_real


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
        raise ValueError(f"pairs and pool must not be empty, got shapes {pairs.shape} and {pool.shape}")
    noise = check_real("noise", noise, above=0)
    guesses = pairs[:, :, :-1] @ pool.T                                        # (P, n, K)
    after = np.cumsum((guesses - pairs[:, :, -1:]) ** 2, 1) / (2 * noise**2)
    energy = np.concatenate([np.zeros_like(after[:, :1]), after[:, :-1]], 1)   # of the pairs before
    weights = np.exp(energy.min(2, keepdims=True) - energy)
    return (weights * guesses).sum(2) / weights.sum(2)
