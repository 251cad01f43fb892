"""Weights that are mostly zero: state evolution, free energy, and the three thresholds of a first-order transition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar

from spinlib._core import Result, check_finite, check_flag, check_integer, check_real
from spinlib.theory._teacher import prompt_teacher

NODES = np.arange(-12, 12.01, 0.04)  # of a Gaussian; the trapezoid of an analytic function
WEIGHTS = np.exp(-(NODES**2) / 2) * 0.04 / np.sqrt(2 * np.pi)


@dataclass(frozen=True, eq=False, repr=False)
class SpikeThresholds(Result):
    """Numbers of prompts at which the crystal appears, can be known, and is found; nan where there is no transition.

    From ``spinodal`` (T_d of the p-spin) to ``algorithm`` the free energy has two minima, and message passing that
    starts from nothing stays at that of the larger error; from ``information`` (T_K) on the other is the deeper one.
    """

    spinodal: float
    information: float
    algorithm: float


def spike_thresholds(D: int, N: int, noise: float = 0.0) -> SpikeThresholds:
    r"""Prompts P that determine, and that let an algorithm find, the D equal weights among D^2 (the others are 0).

    They follow from the fixed points of :func:`spike_evolution`. With t = c P / (D E), the signal-to-noise ratio of a
    weight, and m(t) the part of it that is missed, these lie on :math:`P = (D/c)\,t\,[s_0+c\,m(t)]`. Where this curve
    has a hump, its top and the minimum behind it are ``algorithm`` and ``spinodal``; ``information`` is where the
    solutions before and behind the hump have the same :func:`spike_free_energy`. All are nan where P rises with t,
    because then there is no transition. Features count as independent Gaussians, and the label row as left out.
    Source: the chapter on sparse weights. Raises ValueError for D < 2, N < 1, noise < 0.

    >>> from spinlib.theory import spike_thresholds
    >>> found = spike_thresholds(40, 800)
    >>> print(f"{found.spinodal:.1f} {found.information:.1f} {found.algorithm:.1f}")
    89.5 128.9 164.2
    """
    D, c, floor = _check(D, N, noise)
    u = np.linspace(0.01, 1, 1000) * np.sqrt(
        8 * (np.log(D) + max(0, np.log(c / floor)) + 3)
    )  # sqrt t
    P = _prompts(u**2, D, c, floor)
    top = int(np.argmax(np.diff(P) < 0))
    if P[top + 1] >= P[top]:
        return SpikeThresholds(np.nan, np.nan, np.nan)
    foot = top + int(np.argmin(P[top:]))

    def extreme(k, sign):
        return minimize_scalar(
            lambda u: sign * _prompts(np.array([u * u]), D, c, floor)[0],
            method="bounded",
            bounds=(u[k - 1], u[k + 1]),
            options={"xatol": 1e-9},
        ).x

    at, behind = extreme(top, -1), extreme(foot, 1)
    spinodal, algorithm = _prompts(np.array([behind, at]) ** 2, D, c, floor)

    def deeper(P):  # free energy of the informed minimum over that of the other
        ends = (1e-3, at), (behind, 1.001 * np.sqrt(P * c / D / floor))
        t = [
            brentq(lambda u: _prompts(np.array([u * u]), D, c, floor)[0] - P, *pair, xtol=1e-12)
            ** 2
            for pair in ends
        ]
        return np.diff(_phi(c * P / (D * np.array(t)), P, D, c, floor))[0]

    gap = 1e-6 * (algorithm - spinodal)
    return SpikeThresholds(spinodal, brentq(deeper, spinodal + gap, algorithm - gap), algorithm)


def spike_evolution(
    D: int, N: int, P: int, noise: float = 0.0, *, informed: bool = False, n_steps: int = 100
) -> np.ndarray:
    r"""Errors (n_steps + 1,) of undamped ``spike_amp``, share and size given, after each sweep, without running it.

    The D^2 weights of W11 are c with probability 1/D and otherwise 0, and they leave the variance s0 of a label
    unexplained (:func:`prompt_teacher`). A sweep is :math:`E'=s_0+c\,m(t)`, t = c P / (D E), where m is the mean,
    over the weights that are not 0, of the probability 1 - p that they are 0, given the message that they receive. It
    starts from weights 0 or, ``informed``, from the true ones. Source: Donoho, Maleki and Montanari (2009). Raises
    ValueError for D < 2, N, P, n_steps < 1, and noise < 0.

    >>> from spinlib.theory import spike_evolution
    >>> print(*(f"{spike_evolution(40, 800, 150, informed=start)[-1]:.3f}" for start in (False, True)))
    0.631 0.049
    """
    D, c, floor = _check(D, N, noise)
    P, n_steps = check_integer("P", P, 1), check_integer("n_steps", n_steps, 1)
    errors = [floor if check_flag("informed", informed) else floor + c]
    for _ in range(n_steps):
        errors.append(floor + c * float(_missed(np.array([c * P / (D * errors[-1])]), D)[0]))
    return np.array(errors)


def spike_free_energy(error: ArrayLike, D: int, N: int, P: float, noise: float = 0.0) -> np.ndarray:
    r"""Free energy :math:`\Phi(E)=D^2 I+\frac P2[\ln\frac E{s_0}+\frac{s_0}E-1]` of weights that are mostly 0.

    I is the mutual information, in nats, of a weight and its observation in noise of variance E / P, in units where a
    feature has variance 1. Since dPhi/dE = P [E - s0 - c m] / 2E^2, its stationary points are the fixed points of
    :func:`spike_evolution`, and the lowest minimum is the error of the posterior mean. ``error`` may have any shape.
    Source: the replica-symmetric formula of random linear estimation (Tanaka 2002; Barbier et al. 2016). Raises
    ValueError as there, and for errors and P that are not positive.

    >>> from spinlib.theory import spike_free_energy
    >>> spike_free_energy([0.05, 0.4, 0.9], 40, 800, 140).round(2)
    array([187.04, 205.94, 203.28])
    """
    D, c, floor = _check(D, N, noise)
    E = check_finite("error", error, minimum=np.finfo(float).tiny, hint="it is a mean square")
    return _phi(E, check_real("P", P, above=0), D, c, floor)


def _check(D, N, noise):
    D = check_integer("D", D, 2, hint="at D = 1 no weight is 0")
    teacher = prompt_teacher(D, N, noise)
    if teacher.unexplained <= 0:
        raise ValueError(
            f"N = {N} is so long that nothing is left of a label, to rounding; take N below 1e15 D"
        )
    return D, float(teacher.variance @ teacher.signal), teacher.unexplained


def _odds(t, D):
    """ln of the posterior odds of a weight that is not 0, (..., nodes)."""
    t = np.asarray(t)[..., None]
    return t / 2 + np.sqrt(t) * NODES - np.log(D - 1)


def _missed(t, D):
    return np.exp(-np.logaddexp(0, _odds(t, D))) @ WEIGHTS


def _prompts(t, D, c, floor):
    return D / c * t * (floor + c * _missed(t, D))


def _phi(E, P, D, c, floor):
    odds = _odds(
        c * P / (D * E), D
    )  # weights that are 0 by Bayes: their Gaussian is the other one over the odds
    left = np.logaddexp(0, -odds) + np.logaddexp(0, odds) * np.exp(-odds)
    return D * (D * np.log(D) - (D - 1) * np.log(D - 1) - left @ WEIGHTS) + P / 2 * (
        np.log(E / floor) + floor / E - 1
    )
