"""The spectrum of the Hessian for many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_integer, check_type
from spinlib.theory._teacher import Teacher


def hessian_density(
    x: ArrayLike, teacher: Teacher, P: int, *, norms: ArrayLike | None = None
) -> np.ndarray:
    r"""Density of the non-zero eigenvalues of A at x (m,) > 0, ridge 0: it integrates to min(1, P / n).

    This is the deterministic equivalent of the sample covariance of P samples in n = sum count directions. With a_i
    the variance and c_i the count of a group of directions of the ``teacher``, G_i the mean diagonal of (A - z)^-1 in
    it, t_i the relative norm of a sample there and < > the mean over samples,

    .. math:: \frac1{G_i} = a_i\Big\langle\frac{t_i}{1+e}\Big\rangle - z,\qquad e = \frac1P\sum_j t_j\,a_jc_j\,G_j .

    ``norms`` (k, groups) are samples of t, for prompts ``|u_i|^2 |query|^2`` over its mean; None takes t = 1, its
    limit for D to infinity. The density is that at distance 1e-7 x from the real axis. Source: Marchenko and Pastur
    (1967); with norms, after El Karoui (2009). Raises ValueError for x <= 0, where the atom is, and for P < 1, and
    RuntimeError where the equations are not solved to 1e-8.

    >>> from spinlib.theory import hessian_density, prompt_teacher
    >>> print(hessian_density([0.06], prompt_teacher(20, 100), P=5000).round(2))
    [17.63]
    """
    check_type(
        "teacher",
        teacher,
        Teacher,
        "make one with prompt_teacher(D, N) or Teacher(variance, signal, ...)",
    )
    P, x = check_integer("P", P, 1), check_array("x", x, (None,), hint="x is a list of eigenvalues")
    if not x.size or (x <= 0).any():
        raise ValueError(
            f"x must be positive, at least one of them, got {x.min(initial=0):g}; the share of zeros is "
            "max(0, 1 - P / n)"
        )
    a, count = teacher.variance, teacher.count
    t = (
        np.ones((1, len(a)))
        if norms is None
        else check_array("norms", norms, (None, len(a)), hint="one row a sample")
    )
    if not t.size:
        raise ValueError("norms must hold at least one sample, got none; None takes t = 1")
    first = max(1.0, x.max()) * 10
    G = -1 / (x + 1j * first)[:, None] * np.ones(len(a))
    for step in range(
        41
    ):  # from far above the real axis down to it: Newton follows the right solution
        z = (x + 1j * first ** (1 - step / 40) * (1e-7 * x) ** (step / 40))[:, None]
        for _ in range(3):
            G, error = _newton(G, z, t, a, a * count / P)
    wrong = ~(error < 1e-8)[:, None] | (G.imag < 0)
    if wrong.any():
        raise RuntimeError(
            f"the density at x = {x[wrong.any(1).argmax()]:g} is not solved; "
            "move x away from 0 or from an edge of the spectrum"
        )
    return (G.imag @ count) / (np.pi * count.sum())


def _newton(G, z, t, variance, load):
    """One Newton step for the resolvents G (m, groups) of hessian_density, and the relative error before it."""
    k, groups = t.shape
    weight = 1 / (1 + (G * load) @ t.T)  # (m, k)
    K = 1 / (variance * (weight @ t) / k - z)
    second = (weight**2 @ (t[:, :, None] * t[:, None, :]).reshape(k, -1)).reshape(
        -1, groups, groups
    ) / k
    slope = np.eye(groups) - (K**2 * variance)[:, :, None] * load * second
    return G + np.linalg.solve(slope, (K - G)[:, :, None])[:, :, 0], np.abs((K - G) / G).max(axis=1)
