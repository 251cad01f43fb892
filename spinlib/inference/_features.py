"""Sums over prompts that never form the samples s = u (x) query, and the check of what holds u, query and y."""
from __future__ import annotations

import numpy as np

from spinlib._core import check_real
from spinlib.icl import Features, Prompts, features
from spinlib.inference._marginals import check_beta


def project(u: np.ndarray, query: np.ndarray, W: np.ndarray) -> np.ndarray:
    """s^mu . vec(W) for every prompt, (P,)."""
    return np.concatenate([np.einsum("pd,pd->p", u[k] @ W, query[k]) for k in _chunks(len(u))])


def adjoint(u: np.ndarray, query: np.ndarray, g: np.ndarray, square: bool = False) -> np.ndarray:
    """sum_mu g^mu s^mu as a matrix (D+1, D); with ``square`` the squares of s."""
    total = np.zeros((u.shape[1], query.shape[1]))
    for k in _chunks(len(u)):
        left, right = (u[k] ** 2, query[k] ** 2) if square else (u[k], query[k])
        total += left.T @ (g[k, None] * right)
    return total


def _chunks(P: int, size: int = 4096) -> list[slice]:
    return [slice(k, k + size) for k in range(0, P, size)]


def check_features(data: Prompts | Features, ridge: float, beta: float
                   ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(u, query, y, ridge) as finite arrays of shapes that fit, or an error in words."""
    if not isinstance(data, (Prompts, Features)):
        if not all(hasattr(data, name) for name in ("u", "query", "y")):
            raise TypeError("features must be Prompts or Features, or have u (P, D+1), query (P, D) and y (P,), got "
                            f"{type(data).__name__}; make them with icl.LinearTask(D, N).sample(P)")
        data = Features(data.u, data.query, data.y)
    data = features(data)
    check_beta(beta)
    return data.u, data.query, data.y, check_real("ridge", ridge, minimum=0)
