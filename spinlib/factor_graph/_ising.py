"""Graphs of Ising spins: state 0 is spin -1, state 1 is spin +1."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    check_array,
    check_integer,
    check_numbers,
    check_real,
    check_whole,
)
from spinlib.factor_graph._graph import FactorGraph


def pspin_ising(
    n_spins: int, scopes: ArrayLike, J: ArrayLike, *, h: ArrayLike = 0.0, beta: float = 1.0
) -> FactorGraph:
    r"""Ising spins with :math:`H = -\sum_a J_a\prod_{i\in\partial a}\sigma_i - \sum_i h_i\sigma_i`, at ``beta``.

    ``scopes`` (M, p) names the spins of each factor, ``J`` is a number or (M,), ``h`` a number or (n_spins,); a zero
    field makes no factor. State 0 is spin -1, state 1 is spin +1. The factors of J come first, in order. Source: the
    slides of a talk by the author of the thesis (July 2025), "A simple example". Raises ValueError for shapes or scopes
    that do not fit.

    >>> from spinlib.factor_graph import bp, pspin_ising
    >>> one = pspin_ising(3, [(0, 1, 2)], 1.0)
    >>> print(f"{bp(one).log_Z:.5f}")          # log(8 cosh 1)
    2.51322
    """
    n_spins, beta = check_integer("n_spins", n_spins, 1), check_real("beta", beta, minimum=0)
    scopes = check_whole("scopes", scopes, "they name spins")
    if scopes.ndim != 2 or scopes.shape[1] < 1:
        raise ValueError(
            f"scopes must have shape (M, p), one row of p >= 1 spins a factor, got {scopes.shape}"
        )
    M, p = scopes.shape
    J, h = check_numbers("J", J), check_numbers("h", h)
    J = check_array(
        "J", J if J.ndim else np.full(M, J), (M,), hint="give one coupling per row of scopes"
    )
    h = check_array(
        "h", h if h.ndim else np.full(n_spins, h), (n_spins,), hint="give one field per spin"
    )
    sign = np.array([-1.0, 1.0])
    top_J, top_h = np.abs(J).max(initial=0), np.abs(h).max()
    if max(beta * top_J, beta * top_h) > 172:
        raise ValueError(
            f"beta |J| and beta |h| must be at most 172, got beta={beta:g} with max |J|={top_J:g} and max "
            f"|h|={top_h:g}: the weight exp(beta J) would be above 1e75; lower beta"
        )
    product = reduce(np.multiply.outer, [sign] * p)
    factors = [
        (tuple(scope), np.exp(beta * J_a * product)) for scope, J_a in zip(scopes.tolist(), J)
    ]
    factors += [((i,), np.exp(beta * h[i] * sign)) for i in np.flatnonzero(h).tolist()]
    return FactorGraph((2,) * n_spins, factors)


def ising(J: ArrayLike, h: ArrayLike = 0.0, beta: float = 1.0) -> FactorGraph:
    r"""Ising spins with pair couplings, :math:`H = -\sum_{i<j}J_{ij}\sigma_i\sigma_j - \sum_i h_i\sigma_i`.

    ``J`` (n, n) is symmetric with zero diagonal, and ``h`` is a number or (n,); zero couplings make no factor. Source:
    Edwards and Anderson (1975). Raises ValueError for a J that is not symmetric or has a diagonal.

    >>> from spinlib.factor_graph import bp, ising
    >>> print(f"{bp(ising([[0, 1], [1, 0]])).log_Z:.5f}")          # log(4 cosh 1)
    1.82008
    """
    J = check_array("J", J, (None, None))
    if J.shape[0] != J.shape[1] or (J != J.T).any() or np.diagonal(J).any():
        raise ValueError(
            f"J must be square, symmetric and zero on its diagonal, got shape {J.shape}; "
            "pass (J + J.T) / 2 with np.fill_diagonal(J, 0) if that is what you mean"
        )
    i, k = np.nonzero(np.triu(J))
    return pspin_ising(len(J), np.stack([i, k], axis=1), J[i, k], h=h, beta=beta)
