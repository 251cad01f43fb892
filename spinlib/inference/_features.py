"""Sums over prompts that never form the samples s = u (x) query, and the check of what holds u, query and y."""
from __future__ import annotations

import numpy as np

from spinlib._core import check_array, check_real


def project(u, query, W):
    """s^mu . vec(W) for every prompt, (P,)."""
    return np.concatenate([np.einsum("pd,pd->p", u[k] @ W, query[k]) for k in _chunks(len(u))])


def adjoint(u, query, g, square=False):
    """sum_mu g^mu s^mu as a matrix (D+1, D); with ``square`` the squares of s."""
    total = np.zeros((u.shape[1], query.shape[1]))
    for k in _chunks(len(u)):
        left, right = (u[k] ** 2, query[k] ** 2) if square else (u[k], query[k])
        total += left.T @ (g[k, None] * right)
    return total


def _chunks(P, size=4096):
    return [slice(k, k + size) for k in range(0, P, size)]


def check_features(features, ridge, beta):
    """(u, query, y, ridge) as finite arrays of shapes that fit, or an error in words."""
    if not all(hasattr(features, name) for name in ("u", "query", "y")):
        raise TypeError(f"features must have u (P, D+1), query (P, D) and y (P,), got {type(features).__name__}; "
                        "icl.features(prompts) makes them")
    query = check_array("query", features.query, (None, None))
    P, D = query.shape
    if P == 0 or D == 0:
        raise ValueError(f"query must hold at least one prompt and one dimension, got shape {query.shape}")
    u = check_array("u", features.u, (P, D + 1), hint=f"query has shape {query.shape}, so u must be (P, D+1)")
    y = check_array("y", features.y, (P,), hint="one label a prompt")
    check_real("beta", beta, above=0, hint="it is the inverse temperature")
    return u, query, y, check_real("ridge", ridge, minimum=0)
