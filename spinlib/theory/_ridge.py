"""Ridge regression when directions and samples are many: its errors, and those of each sweep of messages before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from spinlib._core import Result, check_integer, check_real, check_type
from spinlib.theory._teacher import Teacher, prompt_teacher


@dataclass(frozen=True, eq=False, repr=False)
class RidgeEquivalent(Result):
    """What ridge regression does in the limit of many directions and samples.

    ``kappa`` is the renormalised ridge; ``shrinkage`` (groups,) is the part kappa / (a + kappa) of a weight that is
    not learned; ``error`` is the mean square of (prediction - label) on fresh data, the unexplained part included;
    and ``train_error`` is the same on the training set.

    >>> from spinlib.theory import prompt_teacher, ridge_equivalent
    >>> found = ridge_equivalent(prompt_teacher(20, 100), P=1000, ridge=0.01)
    >>> print(f"{found.kappa:.4f} {found.shrinkage.round(4)} {found.error:.4f} {found.train_error:.4f}")
    0.0151 [0.2002 0.0133] 0.2852 0.1244
    """

    kappa: float
    shrinkage: np.ndarray
    error: float
    train_error: float


@dataclass(frozen=True, eq=False, repr=False)
class ErrorPath(Result):
    """The path of sample-spin AMP in the limit of many spins and prompts; index t is the state after t sweeps.

    ``error`` (n_steps + 1,): generalisation error of the means; ``x`` (n_steps + 1, groups): beta times the variance of
    a spin in each group.
    """

    error: np.ndarray
    x: np.ndarray


def ridge_equivalent(teacher: Teacher, P: int, ridge: float) -> RidgeEquivalent:
    r"""Errors of ridge regression (A + ridge) w = h on P samples, A and h their averages: the deterministic equivalent.

    With a the variance and c the count of a group of directions of the ``teacher``, and the positive root kappa of

    .. math:: \lambda = \kappa\Big[1-\frac1P\sum\frac{c\,a}{a+\kappa}\Big],\qquad
              \mathrm{error} = \frac{\mathrm{unexplained}+\sum a\,\big(\frac{\kappa}{a+\kappa}\big)^2\mathrm{signal}}
              {1-\frac1P\sum c\,\big(\frac{a}{a+\kappa}\big)^2}

    and train_error = (ridge / kappa)^2 error. This is also the fixed point of :func:`state_evolution`. ``ridge`` = 0
    is the limit: kappa = 0 and least squares for P > n = sum c, and the interpolation of least norm for P < n, whose
    training error is 0. Source: Hastie, Montanari, Rosset and Tibshirani (2022); Canatar, Bordelon and Pehlevan
    (2021). Raises ValueError for P = n at ridge 0, where the error diverges, for P < 1 and for a negative ridge.

    >>> from spinlib.theory import Teacher, ridge_equivalent
    >>> found = ridge_equivalent(Teacher([1.0], [1.0], unexplained=0.25, count=100), P=200, ridge=0.1)
    >>> print(f"{found.kappa:.4f} {found.error:.4f} {found.train_error:.4f}")
    0.1742 0.4268 0.1407
    """
    check_type(
        "teacher",
        teacher,
        Teacher,
        "make one with prompt_teacher(D, N) or Teacher(variance, signal, ...)",
    )
    P, ridge = check_integer("P", P, 1), check_real("ridge", ridge, minimum=0)
    a, count = teacher.variance, teacher.count
    n, trace = count.sum(), float(count @ a)
    if ridge == 0 and P == n:
        raise ValueError(
            f"ridge must be > 0 where P = n = {P}, got 0; samples just suffice to fix all directions, and "
            "the error diverges: take another P or a positive ridge"
        )

    if ridge == 0 and P > n:
        kappa = 0.0
    elif (
        ridge == 0
    ):  # the first line over kappa; each direction counts at least as one of the smallest variance
        kappa = _root(
            lambda k: P - count @ (a / (a + k)), a.min() * (n - P) / (n + P) / 2, trace / P
        )
    else:  # for kappa - ridge, which a large ridge would swallow; convex: one positive root
        kappa = ridge + _root(
            lambda gain: gain - count @ (a * ((ridge + gain) / (a + ridge + gain))) / P,
            0.0,
            trace / P * (1 + 1e-9),
        )
    shrinkage = kappa / (a + kappa)
    learned = a / (a + kappa)
    error = (teacher.unexplained + float(a * teacher.signal @ shrinkage**2)) / (
        1 - float(count @ learned**2) / P
    )
    train = error * ((ridge / kappa) ** 2 if kappa else (1 - n / P) ** 2)
    return RidgeEquivalent(float(kappa), shrinkage, float(error), float(train))


def state_evolution(teacher: Teacher, *, P: int, ridge: float, n_steps: int = 20) -> ErrorPath:
    r"""The errors and variances of ``sample_amp``, undamped, in its first ``n_steps`` sweeps, without running it.

    With a the variance and c the count of a group of directions of the ``teacher``, kappa = ridge (1 + tau / P) and E
    the error, one sweep is

    .. math:: E' = \mathrm{unexplained}+\sum a\,\Big(\frac\kappa{a+\kappa}\Big)^2\mathrm{signal}
              + \frac EP\sum c\,\Big(\frac a{a+\kappa}\Big)^2

    and tau the sum of c a x; then x' = 1 / (ridge + ridge a / kappa). It starts from means 0.

    Source: Donoho, Maleki and Montanari (2009), Bayati and Montanari (2011), here for groups of different variance.
    The formulas are proved for independent features as P and n grow together; for the prompts of in-context learning
    they are a conjecture that the book tests. Raises ValueError for P, n_steps < 1 and a negative ridge.

    >>> from spinlib.theory import Teacher, state_evolution
    >>> path = state_evolution(Teacher([1.0], [1.0], unexplained=0.25, count=100), P=200, ridge=0.1, n_steps=60)
    >>> print(path.error[[0, 1, 2, 60]].round(4))
    [1.25   0.7425 0.544  0.4268]
    """
    check_type(
        "teacher",
        teacher,
        Teacher,
        "make one with prompt_teacher(D, N) or Teacher(variance, signal, ...)",
    )
    P, n_steps, ridge = (
        check_integer("P", P, 1),
        check_integer("n_steps", n_steps, 1),
        check_real("ridge", ridge, minimum=0),
    )
    a, count = teacher.variance, teacher.count
    errors, xs = [teacher.label], [1 / (ridge + a)]
    for _ in range(n_steps):
        tau = count @ (a * xs[-1])
        precision = a * P / (P + tau)  # Gamma of the spins of a group
        xs.append(1 / (ridge + precision))
        shrunk = precision * xs[-1]  # a / (a + kappa); what is missing to 1 is kappa / (a + kappa)
        bias = teacher.unexplained + float(a * teacher.signal @ (1 - shrunk) ** 2)
        errors.append(bias + errors[-1] * float(count @ shrunk**2) / P)
    return ErrorPath(np.array(errors), np.array(xs))


def learning_curve(D: int, N: int, P: int, ridge: float, noise: float = 0.0) -> float:
    r"""Generalisation error of weights trained on P prompts of length N: ``population_error`` of the ground state.

    This is the deterministic equivalent (:func:`ridge_equivalent`) of :func:`prompt_teacher`. It is right for D ->
    infinity at fixed P/D^2, N/D and ridge D; at finite size the error lies higher by order 1/D (N = 5D, P = 2D^2,
    ridge 1e-6/D: by 7 % at D = 20, 3.5 % at D = 40).

    At ridge 0 it is the limit, which is least squares for P > D (D + 1) and the interpolation of least norm below.
    With t = P/D^2 and c = 1 / (D a) it tends to (1 + noise^2 - 2 t c + t^2 c) / (1 - t) for t < 1, and to (1 +
    noise^2 - c) t / (t - 1) for t > 1: Lu, Letey, Zavatone-Veth, Maiti and Pehlevan (2025), for infinitely many
    training tasks. The thesis has no such formula. Raises ValueError at ridge 0 and P = D (D + 1), where it diverges,
    for D, N, P < 1, and for ridge, noise < 0.

    >>> from spinlib.theory import learning_curve
    >>> print([round(learning_curve(D=20, N=100, P=P, ridge=0.01), 4) for P in (100, 400, 10_000)])
    [0.9958, 0.5178, 0.1974]
    """
    return ridge_equivalent(prompt_teacher(D, N, noise), P, ridge).error


def best_ridge(teacher: Teacher, P: int) -> float:
    """The ridge at which :func:`ridge_equivalent` has its lowest error for P samples; 0 where none is better.

    Source: the formulas there. Raises ValueError for P < 1, and where nothing can be learned, because then no ridge
    is large enough.

    >>> from spinlib.theory import Teacher, best_ridge    # one group: unexplained / (P signal / count)
    >>> print(f"{best_ridge(Teacher([2.0], [0.5], unexplained=0.25, count=100), P=200):.5f}")
    0.25000
    """
    a, count = (
        check_type("teacher", teacher, Teacher, "make one with spectrum_teacher").variance,
        teacher.count,
    )
    P = check_integer("P", P, 1)
    ridge = lambda k: k * (1 - count @ (a / (a + k)) / P)

    def error_and_slope(k):  # the slope by ln kappa, but for a positive factor
        left, seen = k / (a + k), a / (a + k)
        missed = teacher.unexplained + a * teacher.signal @ left**2
        room = max(1 - count @ seen**2 / P, 1e-17)  # at P = n rounding may leave 0
        more = a * teacher.signal @ (left**2 * seen)
        return missed / room, more * room - missed * (count @ (left * seen**2)) / P

    zero = ridge_equivalent(teacher, P, 0.0).kappa if P < count.sum() else 0.0  # of ridge 0
    grid = zero + np.exp(np.linspace(np.log(a.min()) - 40, np.log(count @ a) + 40, 500))
    slope = np.array([error_and_slope(k)[1] for k in grid])
    if slope[-1] < 0:
        raise ValueError(
            "teacher must have a signal that P samples can show, got one where the prediction 0 is best"
        )
    turns = np.flatnonzero((slope[:-1] < 0) & (slope[1:] >= 0))
    lowest = [_root(lambda k: error_and_slope(k)[1], *grid[t : t + 2]) for t in turns]
    if slope[0] >= 0:  # no noise, enough samples: the error falls down to ridge 0
        lowest.append(grid[0])
    best = min(lowest, key=lambda k: error_and_slope(k)[0])
    return 0.0 if best == grid[0] else float(ridge(best))


def _root(f, low, high):
    return brentq(f, low, high, xtol=np.finfo(float).tiny, rtol=1e-14)
