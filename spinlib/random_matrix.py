"""The spectrum of a sample covariance matrix (Wishart, Marchenko-Pastur).

A Wishart matrix is C = Z^T Z / P with Z (P, n) of independent normals. Everything depends on
``ratio`` = n / P, the number of variables per sample, held fixed while both grow. What ridge regression does with
such features is ``spinlib.theory.ridge_equivalent``.
"""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import RNG, check_finite, check_integer, check_real, check_rng


def wishart(n: int, P: int, *, rng: RNG = None) -> np.ndarray:
    """A Wishart matrix Z^T Z / P (n, n), of standard normals Z: its mean is the identity, its rank min(n, P).

    Source: Marchenko and Pastur (1967). Raises ValueError for n, P < 1.

    >>> from spinlib.random_matrix import wishart
    >>> wishart(3, 5, rng=0).shape
    (3, 3)
    """
    n, P = check_integer("n", n, 1), check_integer("P", P, 1)
    Z = check_rng(rng).standard_normal((P, n))
    return 1 / P * (Z.T @ Z)


def mp_edges(ratio: float, variance: float = 1.0) -> tuple[float, float]:
    """The two ends of the continuous spectrum, variance (1 -+ sqrt(ratio))^2.

    Source: Marchenko and Pastur (1967). Raises ValueError for ratio <= 0 and variance <= 0.

    >>> from spinlib.random_matrix import mp_edges
    >>> mp_edges(0.25)
    (0.25, 2.25)
    """
    ratio, variance = _check(ratio, variance)
    return variance * (1 - sqrt(ratio)) ** 2, variance * (1 + sqrt(ratio)) ** 2


def mp_density(x: ArrayLike, ratio: float, variance: float = 1.0) -> np.ndarray:
    """Density of the eigenvalues at x (any shape), without the atom at 0: it integrates to min(1, 1/ratio).

    sqrt((b - x)(x - a)) / (2 pi variance ratio x) between the edges a and b, else 0; at ratio = 1 it grows as
    1/sqrt(x) towards x = 0, where inf is returned. Source: Marchenko and Pastur (1967). Raises ValueError for ratio
    <= 0, variance <= 0 and NaN, TypeError for an x that is not real.

    >>> from spinlib.random_matrix import mp_density
    >>> print(mp_density([0.1, 1.0], ratio=0.25).round(4))
    [0.     0.6164]
    """
    ratio, variance = _check(ratio, variance)
    a, b = mp_edges(ratio, variance)
    at = check_finite("x", x, hint="the density is 0 far out")
    inside = (at > a) & (at < b)
    t = np.where(inside, at, 1.0)
    density = np.where(
        inside,
        np.sqrt(np.clip((b - t) * (t - a), 0, None)) / (2 * np.pi * variance * ratio * t),
        0.0,
    )
    return np.where((at == 0) & (a == 0), np.inf, density)


def mp_moment(k: int, ratio: float, variance: float = 1.0) -> float:
    """E eigenvalue^k = variance^k sum_r ratio^r C(k, r) C(k-1, r) / (r+1), the limit of tr C^k / n.

    Source: Marchenko and Pastur (1967); the coefficients are Narayana's numbers. Raises ValueError for k < 0.

    >>> from spinlib.random_matrix import mp_moment
    >>> mp_moment(1, 0.5), mp_moment(2, 0.5)
    (1.0, 1.5)
    """
    ratio, variance = _check(ratio, variance)
    k = check_integer("k", k, 0)
    try:
        return (
            variance**k * sum(ratio**r * comb(k, r) * comb(k - 1, r) / (r + 1) for r in range(k))
            if k
            else 1.0
        )
    except OverflowError as error:
        raise ValueError(f"k must be so small that the moment is below 1e308, got {k}") from error


def _check(ratio: float, variance: float) -> tuple[float, float]:
    return (
        check_real(
            "ratio", ratio, above=0, maximum=1e75, hint="ratio is n / P, variables per sample"
        ),
        check_real("variance", variance, above=0, maximum=1e75),
    )
