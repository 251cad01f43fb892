"""Prompts whose tokens have a spectrum, strong directions and weak ones; and the ridge that suits a number of them."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from spinlib._core import check_array, check_finite, check_integer, check_real, check_type
from spinlib.theory._teacher import Teacher


def spectrum_teacher(variances: ArrayLike, N: int, noise: float = 0.0, *, fourth: ArrayLike | None = None,
                     count: ArrayLike = 1) -> Teacher:
    r"""The features s = u (x) query of prompts whose tokens have the covariance diag(``variances``), tasks N(0, I).

    Group (i, j), row by row, has the variance e_i l_j: l = ``variances`` (groups,), e = [l^2 + (F - l^2)/N]/D +
    noise^2 l/N; weights l/(D e) on the diagonal. The last row is that of the labels, with variance b l_j, b Gaussian.
    ``fourth`` (groups,) is the diagonal of F = E (x.x) x x^T, by default Gaussian, 2 l^2 + l tr. ``count`` as in
    :class:`Teacher`: directions in a group, D in all. ValueError for variances not positive, N < 1, noise < 0, F < l^2.

    >>> from spinlib.theory import prompt_teacher, spectrum_teacher    # white tokens
    >>> print(f"{spectrum_teacher([1.0] * 20, 100).unexplained:.5f} {prompt_teacher(20, 100).unexplained:.5f}")
    0.17355 0.17355
    """
    lam = check_array("variances", variances, (None,), hint="one variance a group")
    check_finite("variances", lam, minimum=np.finfo(float).tiny, hint="leave out directions without variance")
    c = check_array("count", np.broadcast_to(count, lam.shape), lam.shape)
    N, rho = check_integer("N", N, 1), check_real("noise", noise, minimum=0)**2
    D, trace = c.sum(), c @ lam
    F = lam * (2 * lam + trace) if fourth is None else check_array("fourth", fourth, lam.shape, hint="one a group")
    check_finite("fourth - variances^2", F - lam**2, minimum=0.0, hint="fourth is E |x|^2 x_i^2")
    waste = (F - lam**2) / (N * D) + rho * lam / N  # what e has beside the task
    e, b = lam**2 / D + waste, (1 + 2 / N) * ((trace / D + rho)**2 + 2 * c @ lam**2 / D**2)
    signal = np.vstack([np.diag(c * (lam / (D * e))**2), 0 * lam])
    return Teacher(np.outer(np.append(e, b), lam).ravel(), signal.ravel(), rho + float(c @ (lam * waste / e)) / D,
                   np.outer(np.append(c, 1), c).ravel())


def best_ridge(teacher: Teacher, P: int) -> float:
    """The ridge at which :func:`ridge_equivalent` has its lowest error for P samples: the lowest point over its kappa.

    Source: the formulas there. ValueError for P < 1, and where nothing can be learned: then no ridge is large enough.

    >>> from spinlib.theory import Teacher, best_ridge    # one group: unexplained / (P signal / count)
    >>> print(f"{best_ridge(Teacher([2.0], [0.5], unexplained=0.25, count=100), P=200):.5f}")
    0.25000
    """
    a, count = check_type("teacher", teacher, Teacher, "make one with spectrum_teacher").variance, teacher.count
    P = check_integer("P", P, 1)
    ridge = lambda x: np.exp(x) * (1 - count @ (a / (a + np.exp(x))) / P)

    def error(x):
        left = 1 / (1 + a / np.exp(x))
        missed = teacher.unexplained + a * teacher.signal @ left**2
        return missed / (1 - count @ (1 - left)**2 / P) if ridge(x) > 0 else np.inf

    grid = np.linspace(np.log(a.min()) - 9, np.log(count @ a) + 9, 200)
    k = int(np.argmin([error(x) for x in grid]))
    if k == len(grid) - 1:
        raise ValueError("teacher must have a signal that P samples can show, got one where the prediction 0 is best")
    return float(ridge(minimize_scalar(error, bounds=grid[[max(k - 1, 0), k + 1]], options={"xatol": 1e-9}).x))
