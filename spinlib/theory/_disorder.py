"""The disorder as numbers: exact moments of what prompts give a glass, and a glass of which these are all that is left.

A prompt is summed up by u; fields and couplings are made of it. With the couplings shuffled inside their blocks only
their variances count: where the spectrum then ends, and the error of the ground state.
"""

from __future__ import annotations

from math import comb, factorial, prod
from typing import NamedTuple

import numpy as np
from scipy.optimize import bisect

from spinlib._core import check_integer, check_real
from spinlib.theory._teacher import prompt_teacher


class EntryMoments(NamedTuple):
    """Mean and variance of one entry over draws of the prompts, and how many entries of that kind one draw has."""

    mean: float
    var: float
    count: int  # type: ignore[assignment]


def prompt_moment(D: int, N: int, first: int = 0, second: int = 0, label: int = 0) -> float:
    r"""E g_1^first g_2^second q^label, exact, where (g; q) = (X0 y0; y0.y0) / N sums up a prompt (Thesis eq. (131)).

    Given the task w, let r = w.w/D and let t = y0.y0/(N r), which is chi-square(N)/N. Then q = r t, and g is w
    t/sqrt(D) plus a normal vector across w of variance r t/N per direction, so g.g = r (t^2 + t k/N) with an
    independent chi-square k of D-1 degrees of freedom. The direction of g is uniform, and odd powers of g average to
    0. There is no label noise, and tokens are independent. Raises ValueError for D, N < 1, for negative powers, and
    for ``second`` > 0 at D = 1.

    >>> from spinlib.theory import prompt_moment
    >>> print(f"{prompt_moment(20, 100, first=2):.5f} {(1 + 21 / 100) / 20:.5f}")
    0.06050 0.06050
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    first, second = check_integer("first", first, 0), check_integer("second", second, 0)
    label = check_integer("label", label, 0)
    if second and D == 1:
        raise ValueError(f"second = {second} needs two components of g, got D = 1; take D >= 2")
    if first % 2 or second % 2:
        return 0.0
    k = (first + second) // 2
    try:
        radial = (
            sum(
                comb(k, j)
                * _chi(N, 2 * k - j + label)
                / N ** (2 * k - j + label)
                * _chi(D - 1, j)
                / N**j
                for j in range(k + 1)
            )
            * _chi(D, k + label)
            / D ** (k + label)
        )
        return radial * _double(first) * _double(second) / _chi(D, k)
    except OverflowError as error:
        raise ValueError(
            f"first, second and label must be so small that the moment is below 1e308, got {first}, "
            f"{second} and {label}"
        ) from error


def block_moments(D: int, N: int, P: int) -> dict[str, EntryMoments]:
    """Exact mean and variance of every kind of entry of the fields h and couplings J of P prompts (Thesis eq. (132)).

    The blocks of the fields, as a matrix (D+1, D), are ``C``, the first D rows, ``C_diag``, its diagonal, and ``D``,
    the label row. The blocks of the couplings of W_am and W_bn are ``E`` if both are in the first D rows, ``F`` if
    one of them is, and ``G`` if both are in the label row. E and F hold two kinds: ``_shared`` pairs have one index
    in common (a = b or m = n) and three times the variance of the ``_free`` ones. ``E_diag`` and ``G_diag`` are the
    means of -s_i^2 that the stiffness takes over. Counts are of ordered pairs (F: those of one of its two places).
    There is no label noise, and tokens are independent. Raises ValueError for D < 2 and N, P < 1.

    >>> from spinlib.theory import block_moments
    >>> kinds = block_moments(D=20, N=100, P=1000)
    >>> print(f"{kinds['E_free'].var ** 0.5:.5f} {kinds['E_diag'].mean:.4f} {kinds['E_free'].count}")
    0.00198 -0.0605 144400
    """
    D = check_integer("D", D, 2, hint="the blocks differ from D = 2 on")
    N, P = check_integer("N", N, 1), check_integer("P", P, 1)
    a, b = prompt_moment(D, N, 2), prompt_moment(D, N, label=2)
    gg, gq, qq = (
        prompt_moment(D, N, 2, 2),
        prompt_moment(D, N, 2, label=2),
        prompt_moment(D, N, label=4),
    )
    spread = (D + 2) ** 2 / N
    return {
        "C_diag": EntryMoments(1 / D, ((1 + 1 / N) * (D + 8) + spread - 1) / (D**2 * P), D),
        "C": EntryMoments(0.0, ((1 + 1 / N) * (D + 4) + spread) / (D**2 * P), D * (D - 1)),
        "D": EntryMoments(0.0, (1 + 2 / N) * (1 + 2 / D) * (D + 2) * (D + 4) / (D**2 * P), D),
        "E_diag": EntryMoments(-a, (9 * gg - a**2) / P, D**2),
        "E_shared": EntryMoments(0.0, 3 * gg / P, 2 * D**2 * (D - 1)),
        "E_free": EntryMoments(0.0, gg / P, D**2 * (D - 1) ** 2),
        "F_shared": EntryMoments(0.0, 3 * gq / P, D**2),
        "F_free": EntryMoments(0.0, gq / P, D**2 * (D - 1)),
        "G_diag": EntryMoments(-b, (3 * qq - b**2) / P, D),
        "G": EntryMoments(0.0, qq / P, D * (D - 1)),
    }


def shuffled_edge(D: int, N: int, P: int) -> float:
    r"""Lower end of the spectrum of diag(lam) - J at ridge 0 when J is shuffled inside its blocks, for large D.

    It is near a (1 - 2 sqrt(n/P)) with a = (1 + (D+1)/N)/D and n = D(D+1), the end of a semicircle about a; here it
    is computed with the exact variances of :func:`block_moments` and the label row. Where it is below -ridge the
    shuffled glass has no ground state. Eigenvalues of one sample extend a little beyond it, the more the smaller D
    is. Source: that of :func:`shuffled_error`. Raises ValueError for D < 2 and N, P < 1.

    >>> from spinlib.theory import shuffled_edge
    >>> print(f"{shuffled_edge(20, 100, 1000):.4f} {shuffled_edge(20, 100, 3000):.4f}")
    -0.0338 0.0096
    """
    stiffness, T, _ = _two_blocks(D, N, P)
    return float(_edge(stiffness, T))


def shuffled_error(D: int, N: int, P: int, ridge: float, *, coupling: float = 1.0) -> float:
    r"""Mean population error of the ground state of a glass whose couplings are shuffled inside their blocks.

    The couplings are taken as independent of each other, of h and of lam, with the exact variances. Then the
    resolvent is on average diagonal, r_i = 1/(lam_i - sum_j E J_ij^2 r_j), constant in each of the two blocks of
    spins, and so is X = E R diag(q) R, with q_i the curvatures of the population error; the error is 1 - 2 r_1/D +
    X_1 E|h_1|^2 + X_2 E|h_2|^2. This is exact for large D at fixed P/D^2, up to terms of order 1/D. ``coupling``
    multiplies J; 0 is the glass without couplings. Source: the Dyson equation of a Wigner matrix with a profile of
    variances, Ajanki, Erdos and Kruger, Probab. Theory Relat. Fields 169, 667 (2017). Raises ValueError for a ridge
    at or below ``-shuffled_edge``, because then there is no ground state.

    >>> from spinlib.theory import shuffled_error
    >>> print(f"{shuffled_error(20, 100, 3000, 0.01):.4f} {shuffled_error(20, 100, 3000, 0.01, coupling=0):.4f}")
    0.6015 0.3174
    """
    ridge = check_real("ridge", ridge, minimum=0, maximum=1e75)
    coupling = check_real(
        "coupling", coupling, minimum=0, maximum=1e75, hint="1 keeps the couplings, 0 erases them"
    )
    stiffness, T, h2 = _two_blocks(D, N, P)
    T = T * coupling**2
    r = _resolvent(stiffness + ridge, T)
    if r is None:
        raise ValueError(
            f"ridge must be above {-_edge(stiffness, T):.4g} here, got {ridge:.4g}: "
            "the shuffled glass has no ground state below; take a larger ridge or more prompts"
        )
    X = np.linalg.solve(np.diag(1 / r**2) - T, stiffness)  # also the curvatures of the error
    return float(1 - 2 * r[0] / D + X @ h2)


def _two_blocks(D, N, P):
    """Stiffness at ridge 0, row sums of E J^2 between the blocks, mean |h|^2: W11, label row.

    Row i of T sums over the partners j: E J_ij^2 depends on the blocks only, up to the two kinds of E and F.
    """
    kinds, D = block_moments(D, N, P), int(D)  # checked there; a small integer's square overflows
    total = {name: m.var * m.count for name, m in kinds.items()}
    E, F, G = total["E_shared"] + total["E_free"], total["F_shared"] + total["F_free"], total["G"]
    T = np.array([[E / D**2, F / D**2], [F / D, G / D]])
    h2 = np.array([1 / D + total["C_diag"] + total["C"], total["D"]])
    return prompt_teacher(D, N).variance, T, h2


def _resolvent(k, T):
    """The smallest positive solution of r (k - T r) = 1, the one that is 1/k without T, or None where there is none.

    Newton's method from r = 0, which climbs to it without passing it; a step downwards says that none exists.
    """
    if (k <= 0).any():
        return None
    r = np.zeros(len(k))
    for _ in range(200):
        slope, missing = np.diag(k - T @ r) - r[:, None] * T, 1 + r * (T @ r) - k * r
        if np.linalg.det(slope) <= 0 or not (slope.diagonal() > 0).all():
            return None
        step = np.linalg.solve(slope, missing)
        if (np.abs(step) <= 1e-14 * (r + step)).all():
            break
        r = r + step
    return r


def _edge(stiffness, T):
    """Minus the smallest ridge with a solution, by bisection."""
    none, some = -stiffness.min(), stiffness.max()
    while _resolvent(stiffness + some, T) is None:
        none, some = some, 2 * some
    return -bisect(
        lambda ridge: 0.5 - (_resolvent(stiffness + ridge, T) is None),
        none,
        some,
        xtol=1e-15 * some,
    )


def _chi(degrees, power):
    """The moment of this order of a chi-square variable; 1 for power 0."""
    return prod(degrees + 2 * i for i in range(power))


def _double(k):
    """(k - 1)!!, the moment of order k of a standard normal, for even k."""
    return factorial(k) // (2 ** (k // 2) * factorial(k // 2))
