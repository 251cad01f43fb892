"""The error along gradient flow, by theory: training time is a ridge with an imaginary part."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_finite, check_integer, check_real
from spinlib.theory._teacher import prompt_teacher

NODES = 14  # of each half of the contour; the error falls as 2.85^(-2 NODES), until rounding stops it near 1e-12


def training_curve(
    D: int, N: int, P: int, times: ArrayLike, noise: float = 0.0, start: float = 0.0
) -> np.ndarray:
    r"""Generalisation error (n_times,) after gradient flow dW/dt = h - A W on P prompts of length N, without ridge.

    ``start`` is the standard deviation of the independent initial weights, ``noise`` is as in
    :class:`spinlib.icl.LinearTask`, and ``times`` (n_times,) are >= 0. Averaged over all times with the weight lambda
    e^(-lambda t) the flow passes through the ridge solution of ridge lambda. The Laplace transform of the residual is
    therefore a residual at a complex ridge, and by the cavities of :func:`ridge_equivalent` two of them have, with
    kappa_k the renormalised lambda_k and the groups of :func:`prompt_teacher`, the covariance

    .. math:: E_{12} = \frac{\mathrm{unexplained}+\sum\frac{a\,\kappa_1\kappa_2}{(a+\kappa_1)(a+\kappa_2)}
                             (\mathrm{signal}+c\,\mathrm{start}^2)}
                            {1-\frac1P\sum\frac{c\,a^2}{(a+\kappa_1)(a+\kappa_2)}};

    the error is the double inverse transform of E_12 / (lambda_1 lambda_2), along the parabola of Weideman and
    Trefethen (2007). It is right for D -> infinity at fixed P/D^2, N/D and t/D, at every P and t; at late times it
    tends to ``learning_curve`` at ridge 0, and finite sizes differ by order 1/D. The thesis has no such formula.
    Raises ValueError for D, N, P < 1 and noise, start, times < 0.

    >>> from spinlib.theory import training_curve
    >>> print(training_curve(D=20, N=100, P=800, times=[0, 10, 60, 1e6]).round(4))
    [1.     0.5384 0.3207 0.3654]
    """
    teacher, P = prompt_teacher(D, N, noise), check_integer("P", P, 1)
    start = check_real("start", start, minimum=0, maximum=1e75)
    t = check_finite(
        "times", check_array("times", times, (None,)), minimum=0, hint="the flow runs forward"
    )
    a, c = teacher.variance, teacher.count
    signal = a * (teacher.signal + c * start**2)
    angle = np.pi * (np.arange(NODES) + 0.5) / NODES
    z = (
        2 * NODES * (0.1309 - 0.1194 * angle**2 + 0.25j * angle)
    )  # lambda t; the other half: conjugates
    weight = np.exp(z) / z * (-0.2388 * angle + 0.25j) / 1j  # of f(lambda) / lambda
    errors = np.full(len(t), teacher.unexplained + signal.sum())
    for k in np.flatnonzero(t > 1e-200):  # before it nothing has moved
        arrow = np.zeros(
            (NODES, len(a) + 1, len(a) + 1), complex
        )  # its eigenvalues solve lambda(kappa)
        arrow[:, 0, 0] = z / t[k] + c @ a / P
        arrow[:, 0, 1:], arrow[:, 1:, 0] = a * np.sqrt(c / P), -a * np.sqrt(c / P)
        arrow[:, range(1, len(a) + 1), range(1, len(a) + 1)] = -a
        roots = np.linalg.eigvals(arrow)  # one of them has the sign of Im lambda
        kappa = roots[np.arange(NODES), roots.imag.argmax(1)]
        kappa = np.concatenate([kappa, kappa.conj()])[:, None]
        missed = kappa / (a + kappa)
        covariance = (teacher.unexplained + (missed * signal) @ missed.T) / (
            1 - (1 - missed) * c @ (1 - missed).T / P
        )
        both = np.concatenate([weight, weight.conj()])
        errors[k] = (both @ covariance @ both).real
    return errors
