"""Exact moments of the disorder: of a prompt's summary u, and of the entries of the fields and couplings made of it."""

from __future__ import annotations

from math import comb, factorial, prod
from typing import NamedTuple

from spinlib._core import check_integer


class EntryMoments(NamedTuple):
    """Mean and variance of one entry over draws of the prompts, and how many entries of that kind one draw has."""

    mean: float
    var: float
    count: int  # type: ignore[assignment]


def prompt_moment(D: int, N: int, first: int = 0, second: int = 0, label: int = 0) -> float:
    r"""E g_1^first g_2^second q^label, exact, where (g; q) = (X0 y0; y0.y0) / N sums up a prompt (Thesis eq. (131)).

    Given the task w, with r = w.w/D, and t = y0.y0/(N r), which is chi-square(N)/N: q = r t, and g is w t/sqrt(D) plus
    a normal vector across w of variance r t/N per direction, so g.g = r (t^2 + t k/N) with an independent
    chi-square k of D-1 degrees of freedom. The direction of g is uniform. Odd powers of g average to 0. No label noise,
    independent tokens. ValueError for D, N < 1, negative powers, and for ``second`` > 0 at D = 1.

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

    Blocks of the fields as a matrix (D+1, D): ``C`` the first D rows, ``C_diag`` its diagonal, ``D`` the label row. Of
    the couplings of W_am and W_bn: ``E`` both in the first D rows, ``F`` one of them, ``G`` both in the label row.
    E and F hold two kinds: ``_shared`` pairs have one index in common (a = b or m = n) and three times the variance of
    the ``_free`` ones. ``E_diag`` and ``G_diag`` are the means of -s_i^2 that the stiffness takes over. Counts are of
    ordered pairs (F: those of one of its two places). No label noise, independent tokens. ValueError for D < 2 and
    N, P < 1.

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


def _chi(degrees, power):
    """The moment of this order of a chi-square variable; 1 for power 0."""
    return prod(degrees + 2 * i for i in range(power))


def _double(k):
    """(k - 1)!!, the moment of order k of a standard normal, for even k."""
    return factorial(k) // (2 ** (k // 2) * factorial(k // 2))
