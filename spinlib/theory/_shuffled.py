"""The glass with shuffled couplings, in theory: where its spectrum ends, and the error of its ground state."""

from __future__ import annotations

import numpy as np
from scipy.optimize import bisect

from spinlib._core import check_real
from spinlib.theory._moments import block_moments
from spinlib.theory._teacher import prompt_teacher


def shuffled_edge(D: int, N: int, P: int) -> float:
    r"""Lower end of the spectrum of diag(lam) - J at ridge 0 when J is shuffled inside its blocks, for large D.

    Near a (1 - 2 sqrt(n/P)) with a = (1 + (D+1)/N)/D and n = D(D+1): a semicircle about a; here with the exact
    variances of :func:`block_moments` and the label row. Where it is below -ridge the shuffled glass has no ground
    state. Eigenvalues of one sample stick out a little, the more the smaller D. ValueError for D < 2 and N, P < 1.

    >>> from spinlib.theory import shuffled_edge
    >>> print(f"{shuffled_edge(20, 100, 1000):.4f} {shuffled_edge(20, 100, 3000):.4f}")
    -0.0338 0.0096
    """
    stiffness, T, _ = _two_blocks(D, N, P)
    return float(_edge(stiffness, T))


def shuffled_error(D: int, N: int, P: int, ridge: float, *, coupling: float = 1.0) -> float:
    r"""Mean population error of the ground state of a glass whose couplings are shuffled inside their blocks.

    The couplings are taken as independent of each other, of h and of lam, with the exact variances; then the resolvent
    is on average diagonal, r_i = 1/(lam_i - sum_j E J_ij^2 r_j), constant in each of the two blocks of spins, and so is
    X = E R diag(q) R, with q_i the curvatures of the population error: the error is
    1 - 2 r_1/D + X_1 E|h_1|^2 + X_2 E|h_2|^2. Exact for large D at fixed P/D^2, up to terms of order 1/D.
    ``coupling`` multiplies J; 0 is the glass without couplings. Source: the Dyson equation of a Wigner matrix with a
    profile of variances, Ajanki, Erdos and Kruger, Probab. Theory Relat. Fields 169, 667 (2017). ValueError for a ridge
    at or below ``-shuffled_edge``: there is no ground state then.

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
    kinds, D = (
        block_moments(D, N, P),
        int(D),
    )  # checked there; the square of a small integer overflows
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
