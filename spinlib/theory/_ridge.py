"""The errors of ridge regression when directions and samples are many."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spinlib._core import check_array, check_finite, check_integer, check_real, one_line


@dataclass(frozen=True, eq=False, repr=False)
class RidgeEquivalent:
    """What ridge regression does in the limit of many directions and samples.

    ``kappa``: the renormalised ridge; ``shrinkage`` (blocks,): the part kappa / (a + kappa) of a weight that is not
    learned; ``error``: mean square of (prediction - label) on fresh data, the unexplained part included;
    ``train_error``: the same on the training set; ``freedom``: the number of directions in use, sum count a/(a+kappa).
    """

    kappa: float
    shrinkage: np.ndarray
    error: float
    train_error: float
    freedom: float

    __repr__ = one_line


def ridge_equivalent(variance: ArrayLike, signal: ArrayLike, unexplained: float, P: int, ridge: float, *,
                     count: ArrayLike = 1) -> RidgeEquivalent:
    r"""Errors of ridge regression (A + ridge) w = h on P samples, A and h their averages: the deterministic equivalent.

    Blocks as in ``spinlib.theory.state_evolution``, whose fixed point this is: ``variance`` a (blocks,) of a
    feature, ``count`` c of directions, ``signal`` (blocks,) the sum of squares of the true weights, ``unexplained``
    the variance of the labels that no weights explain. With the positive root kappa of the first line,

    .. math:: \lambda = \kappa\Big[1-\frac1P\sum\frac{c\,a}{a+\kappa}\Big],\qquad
              \mathrm{error} = \frac{\mathrm{unexplained}+\sum a\,\big(\frac{\kappa}{a+\kappa}\big)^2\mathrm{signal}}
              {1-\frac1P\sum c\,\big(\frac{a}{a+\kappa}\big)^2}

    and train_error = (ridge / kappa)^2 error. ``ridge`` = 0 is the limit: kappa = 0 and least squares for P > n = sum
    c, the interpolation of least norm for P < n, whose training error is 0.
    Source: Hastie, Montanari, Rosset and Tibshirani (2022); Canatar, Bordelon and Pehlevan (2021). ValueError for
    P = n at ridge 0, where the error diverges, and for shapes that differ, negative entries and variances of 0.

    >>> from spinlib.theory import ridge_equivalent
    >>> found = ridge_equivalent(variance=[1.0], signal=[1.0], unexplained=0.25, P=200, ridge=0.1, count=100)
    >>> print(f"{found.kappa:.4f} {found.error:.4f} {found.train_error:.4f}")
    0.1742 0.4268 0.1407
    """
    a = check_array("variance", variance, (None,), hint="one variance a block")
    if not a.size:
        raise ValueError("variance must hold at least one block, got none; "
                         "give the variance of a feature of each block")
    check_finite("variance", a[a <= 0], minimum=np.finfo(float).tiny, hint="leave out directions without features")
    signal = check_array("signal", signal, a.shape, hint="one sum of squares a block")
    check_finite("signal", signal, minimum=0.0, hint="it is a sum of squares")
    count = check_finite("count", count, minimum=1, hint="count the directions of a block")
    count = check_array("count", count, a.shape, hint="one number a block") if count.ndim else np.full(a.shape, count)
    unexplained = check_real("unexplained", unexplained, minimum=0)
    P, ridge = check_integer("P", P, 1), check_real("ridge", ridge, minimum=0)
    n, trace = count.sum(), float(count @ a)
    if ridge == 0 and P == n:
        raise ValueError(f"ridge must be > 0 where P = n = {P}, got 0; samples just suffice to fix all directions, and "
                         "the error diverges: take another P or a positive ridge")

    if ridge == 0 and P > n:
        kappa = 0.0
    elif ridge == 0:  # the first line over kappa; each direction counts at least as one of the smallest variance
        kappa = _root(lambda k: P - count @ (a / (a + k)), a.min() * (n - P) / (n + P) / 2, trace / P)
    else:             # for kappa - ridge, which a large ridge would swallow; convex: one positive root
        kappa = ridge + _root(lambda gain: gain - count @ (a * ((ridge + gain) / (a + ridge + gain))) / P,
                              0.0, trace / P * (1 + 1e-9))
    shrinkage = kappa / (a + kappa)
    learned = a / (a + kappa)
    error = (unexplained + float(a * signal @ shrinkage**2)) / (1 - float(count @ learned**2) / P)
    train = error * ((ridge / kappa) ** 2 if kappa else (1 - n / P) ** 2)
    return RidgeEquivalent(float(kappa), shrinkage, float(error), float(train), float(count @ learned))


def _root(f, low, high):
    return brentq(f, low, high, xtol=np.finfo(float).tiny, rtol=1e-14)
