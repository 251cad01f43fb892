"""The spectrum of the Hessian for many prompts."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_integer


def hessian_density(x: ArrayLike, D: int, N: int, P: int, *, norms: ArrayLike | None = None) -> np.ndarray:
    r"""Density of the non-zero eigenvalues of A at x (m,) > 0, ridge 0: it integrates to min(1, P / n), n = D (D+1).

    The deterministic equivalent of a sample covariance of two blocks, variance a = (1 + (D+1)/N) / D on D^2 directions
    and b = (1 + 2/D)(1 + 2/N) on D of them (Marchenko and Pastur 1967). With G1, G2 the mean diagonal of (A - z)^-1 in
    the blocks, t the relative norms of a prompt and < > their mean,

    .. math:: \frac1{G_1} = a\Big\langle\frac{t_1}{1+e}\Big\rangle - z,\qquad
              \frac1{G_2} = b\Big\langle\frac{t_2}{1+e}\Big\rangle - z,

    with e = (t_1 a D^2 G_1 + t_2 b D G_2) / P.

    ``norms`` (k, 2) are samples of t, from ``landscape.relative_norms``; None takes t = 1, its limit for D to infinity. The
    density is that at distance 1e-7 x from the real axis. ValueError for x <= 0, where the atom sits, and for D, N, P
    < 1; RuntimeError where the equations are not solved to 1e-8.

    >>> from spinlib.theory import hessian_density
    >>> print(hessian_density([0.06], D=20, N=100, P=5000).round(2))
    [17.63]
    """
    D, N, P = check_integer("D", D, 1), check_integer("N", N, 1), check_integer("P", P, 1)
    x = check_array("x", x, (None,), hint="x is a list of eigenvalues")
    if (x <= 0).any():
        raise ValueError(f"x must be positive, got {x.min():g}; the share of zeros is max(0, 1 - P / (D (D + 1)))")
    t = np.ones((1, 2)) if norms is None else check_array("norms", norms, (None, 2), hint="pass relative_norms(data)")
    sizes, variances = np.array([D * D, D]), np.array([(1 + (D + 1) / N) / D, (1 + 2 / D) * (1 + 2 / N)])
    G, first = None, max(1.0, x.max()) * 10
    for step in range(41):  # from far above the real axis down to it: Newton follows the right solution
        z = (x + 1j * first ** (1 - step / 40) * (1e-7 * x) ** (step / 40))[:, None]
        G = -1 / z * np.ones(2) if G is None else G
        for _ in range(3):
            G, error = _newton(G, z, t, variances, variances * sizes / P)
    if not error.max(initial=0) < 1e-8 or (G.imag < 0).any():
        raise RuntimeError(f"the density at x = {x[error.argmax()]:g} is not solved (error {error.max():.1g}); "
                           "move x away from 0 or from an edge of the spectrum")
    return (G.imag @ sizes) / (np.pi * sizes.sum())


def _newton(G, z, t, variances, load):
    """One Newton step for the two resolvents G (m, 2) of hessian_density, and the relative error before it."""
    weight = 1 / (1 + (G * load) @ t.T)                                            # (m, k)
    K = 1 / (variances * (weight @ t) / len(t) - z)
    second = (weight**2 @ np.column_stack([t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2])) / len(t)
    d11, d12, d21, d22 = (K[:, i] ** 2 * variances[i] * load[j] * second[:, i + j] for i in (0, 1) for j in (0, 1))
    F = K - G
    step = np.column_stack([(1 - d22) * F[:, 0] + d12 * F[:, 1], d21 * F[:, 0] + (1 - d11) * F[:, 1]])
    return G + step / ((1 - d11) * (1 - d22) - d12 * d21)[:, None], np.abs(F / G).max(axis=1)
