r"""The spherical p-spin model in time, at N = infinity: equilibrium above T_K, and a quench from a random start.

The time unit is that of :math:`d\sigma/dt=-\nabla H-\mu\sigma+\sqrt{2T}\,\xi` with white noise :math:`\xi` of
variance 1 a unit of time; the multiplier :math:`\mu` keeps :math:`\sum_i\sigma_i^2=N`. This is the dynamics of
:func:`spinlib.pspin.simulation.langevin`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from spinlib._core import Result, check_finite, check_real, check_type
from spinlib.pspin._model import PSpin

__all__ = ["equilibrium_correlation", "quench"]

_HALF = 128  # points of a block that are kept when the step doubles
_MAX_STEPS = 6000  # a quench keeps four arrays of this size squared
_ENDS = np.array(
    [3 / 8, 7 / 6, 23 / 24]
)  # Gregory: the trapezoid rule with the first three weights of an end mended
_SHORT = [
    np.array(w)
    for w in (
        [0.0],
        [1 / 2, 1 / 2],
        [1 / 3, 4 / 3, 1 / 3],
        [3 / 8, 9 / 8, 9 / 8, 3 / 8],
        [14 / 45, 64 / 45, 24 / 45, 64 / 45, 14 / 45],
    )
]


def equilibrium_correlation(model: PSpin, T: float, times: ArrayLike) -> np.ndarray:
    """Correlation C(t) = E<sigma(0).sigma(t)>/N in equilibrium at ``T`` >= T_K, at the ``times`` >= 0, of their shape.

    C' = -T C - (p/2T) int_0^t C(t-s)^(p-1) C'(s) ds, C(0) = 1: the equations of Cugliandolo and Kurchan (1993) with
    the fluctuation-dissipation theorem, which are mode coupling theory's schematic ones. Above T_d C falls to 0;
    between T_K and T_d it stops at the overlap inside the states, ``model.state_overlap(T)``. Below T_K this equation
    is not that of equilibrium: ValueError. The step doubles with time (Fuchs, Goetze, Hofacker and Latz 1991); the
    error of C is below 1e-5, that of the time to leave the plateau near T_d below 1e-3 of it. Any number of decades
    costs a fraction of a second.

    >>> from spinlib.pspin import PSpin
    >>> from spinlib.pspin.dynamics import equilibrium_correlation
    >>> print([f"{c:.4f}" for c in equilibrium_correlation(PSpin(3), 0.62, [0, 1, 100, 1e4])])
    ['1.0000', '0.7624', '0.5049', '0.0124']
    """
    check_type("model", model, PSpin, "write PSpin(p=3)")
    T = check_real("T", T, above=0, maximum=1e75)
    if T < model.T_K:
        raise ValueError(
            f"T must be at least T_K = {model.T_K:.12g} for p = {model.p}, got {T:g}; below it "
            "equilibrium is in few states and C(t) obeys another equation; to fall from above use quench"
        )
    times = check_finite("times", times, minimum=0)
    t, c = _by_doubling(model.p, model.p / (2 * T * T), T * times.max(initial=0))
    late = np.maximum(T * times, t[0])
    found = np.where(
        T * times < t[0],
        _start(T * times, model.p / (2 * T * T)),
        CubicSpline(np.log(t), c)(np.log(late)),
    )
    return found[()]


def _start(t, v):
    """C to second order in the time: 1 - t + (1 + v) t^2/2."""
    return 1 - t + (1 + v) * t * t / 2


def _by_doubling(p: int, v: float, t_max: float):
    """Solve c' + c + int_0^t m(t-s) c'(s) ds = 0, m = v c^(p-1), on a grid whose step doubles: times and values.

    The integral is cut at the middle. In either half the function that may be sharp, near time 0, enters by its average
    over an interval, the other one, which is late and smooth, by its difference (where that is m, after integration by
    parts). Averages over a doubled interval are the means of two old ones: what was once resolved is never lost.
    """
    n, h = 2 * _HALF, 1e-7
    memory = lambda c: v * c ** (p - 1)
    c = _start(h * np.arange(n + 1), v)
    c_mean, m_mean = (
        (f[1:] + f[:-1]) / 2 for f in (c, memory(c))
    )  # entry l: over the interval from l to l + 1
    t_all, c_all = [h * np.arange(1, n + 1)], [c[1:].copy()]
    while n * h < t_max:
        h *= 2
        c[: _HALF + 1] = c[::2].copy()
        c_mean[:_HALF], m_mean[:_HALF] = ((f[::2] + f[1::2]) / 2 for f in (c_mean, m_mean))
        m = memory(c)  # from here on, what is late is written over before it is read
        dc, dm = np.diff(c), np.diff(m)
        linear, power = 1 + 1.5 / h + m_mean[0], v * (c_mean[0] - 1)
        for i in range(_HALF + 1, n + 1):
            k = i // 2
            known = (
                c_mean[1:k] @ dm[i - 2 : i - k - 1 : -1]
                + m_mean[1 : i - k] @ dc[i - 2 : k - 1 : -1]
                + m[i - k] * c[k]
            )
            known -= (
                c_mean[0] * m[i - 1] + m_mean[0] * c[i - 1] + (4 * c[i - 1] - c[i - 2]) / (2 * h)
            )
            new = c[i - 1]
            for _ in range(4):  # Newton's method
                new -= (known + linear * new + power * new ** (p - 1)) / (
                    linear + power * (p - 1) * new ** (p - 2)
                )
            c[i], m[i] = new, v * new ** (p - 1)
            c_mean[i - 1], m_mean[i - 1] = (
                (5 * f[i] + 8 * f[i - 1] - f[i - 2]) / 12 for f in (c, m)
            )
            dc[i - 1], dm[i - 1] = c[i] - c[i - 1], m[i] - m[i - 1]
        t_all.append(h * np.arange(_HALF + 1, n + 1))
        c_all.append(c[_HALF + 1 :].copy())
    return np.concatenate(t_all), np.concatenate(c_all)


@dataclass(frozen=True, eq=False, repr=False)
class Quench(Result):
    """Path of :func:`quench`: times ``t`` (n,), ``energy`` (n,) per spin, correlation ``C`` and response ``R`` (n, n).

    ``C[i, j]`` is the overlap of the configurations at t[i] and t[j], symmetric; ``R[i, j]`` the mean change of a spin
    at t[i] for a field that kicked it at t[j], zero for j > i.
    """

    t: np.ndarray
    energy: np.ndarray
    C: np.ndarray
    R: np.ndarray


def quench(model: PSpin, T: float = 0.0, *, t_max: float = 50.0, step: float = 0.05) -> Quench:
    """Dynamics of the infinite system from a random start at t = 0, at temperature ``T`` >= 0 ever since.

    Solves the two-time equations of Cugliandolo and Kurchan (1993) on a uniform grid by a predictor-corrector method
    (Adams-Bashforth 2, Adams-Moulton 3, Gregory's weights in the integrals) of third order: at ``step=0.05`` the energy
    is right to 1e-4 at T = 0 and to 2e-4 at T = 0.3. The cost grows with (t_max / step)^3: t = 50 takes about 2 s.
    Raises ValueError for more than 6000 steps, and where a large step leaves the numbers.

    >>> from spinlib.pspin import PSpin
    >>> from spinlib.pspin.dynamics import quench
    >>> path = quench(PSpin(3), t_max=5.0)
    >>> print(f"{path.energy[-1]:.4f} {path.C[-1, 0]:.3f}", path.C.shape)
    -1.0356 0.377 (101, 101)
    """
    check_type("model", model, PSpin, "write PSpin(p=3)")
    T, t_max, h = (
        check_real("T", T, minimum=0),
        check_real("t_max", t_max, above=0),
        check_real("step", step, above=0),
    )
    p, n = model.p, math.ceil(min(t_max / h, 1e9) - 1e-9)
    if not 2 <= n <= _MAX_STEPS:
        raise ValueError(
            f"t_max / step must be from 2 to {_MAX_STEPS}, got {t_max:g} / {h:g}; "
            "choose another step, or a shorter time"
        )
    C, R, early, late = (np.zeros((n + 1, n + 1)) for _ in range(4))
    energy = np.empty(n + 1)

    def row(i, c, r):
        """Put in row i; keep R with the weights of an integral over its second and over its first time."""
        C[i, : i + 1] = C[: i + 1, i] = c
        R[i, : i + 1] = r
        early[i, : i + 1] = h * _weights(i) * r
        late[i, : i + 1] = r
        late[i, max(i - 2, 0) : i + 1] *= _ENDS[min(i, 2) :: -1]
        energy[i] = -early[i, : i + 1] @ c ** (p - 1) * p / 2

    def rates(i):
        """Time derivatives of C[i, j] and R[i, j] for j <= i."""
        c, r = C[i, : i + 1], R[i, : i + 1]
        force, memory = p / 2 * c ** (p - 1), p * (p - 1) / 2 * c ** (p - 2) * r
        mu = T - p * energy[i]
        kernel = h * _weights(i) * memory
        dc = -mu * c + early[: i + 1, : i + 1] @ force + C[: i + 1, : i + 1] @ kernel
        dc[1:i] -= h * h / 6 * T * memory[1:i]  # C(u, t_j) has a kink of slope 2T at u = t_j
        end = h * memory
        end[max(i - 2, 0) :] *= _ENDS[min(i, 2) :: -1]
        dr = -mu * r
        far = max(i - 4, 0)
        dr[:far] += end @ late[: i + 1, :far]
        for j in range(far, i):
            dr[j] += h * (_SHORT[i - j] * memory[j:]) @ R[j : i + 1, j]
        return np.stack([dc, dr])

    row(0, np.ones(1), np.ones(1))
    before, now = np.zeros((2, 0)), rates(0)
    with np.errstate(over="ignore", invalid="ignore"):  # reported in words
        for i in range(n):
            last, weight = np.stack([C[i, : i + 1], R[i, : i + 1]]), np.full(i + 1, h / 2)
            guess, known = (
                last + h * now,
                last + h / 2 * now,
            )  # a column that is new has no rate before
            guess[:, :i] += h / 2 * (now[:, :i] - before)
            known[:, :i] += h / 12 * (2 * now[:, :i] - before)
            weight[:i] = 5 * h / 12
            row(i + 1, *np.pad(guess, ((0, 0), (0, 1)), constant_values=1.0))
            new, mu = rates(i + 1), T - p * energy[i + 1]
            better = (known + weight * (new[:, :-1] + mu * guess)) / (
                1 + weight * mu
            )  # the term -mu y: implicit
            new[:, :-1] -= mu * (better - guess)
            row(i + 1, *np.pad(better, ((0, 0), (0, 1)), constant_values=1.0))
            before, now = now, new
            if not abs(energy[i + 1]) < 10:
                raise ValueError(
                    f"the quench left the numbers at t = {(i + 1) * h:g} with step={h:g}; "
                    "lower the step, to 0.1 or less"
                )
    return Quench(h * np.arange(n + 1), energy, C, R)


def _weights(n: int) -> np.ndarray:
    """Weights of n + 1 points of spacing 1 for an integral over n intervals."""
    if n < len(_SHORT):
        return _SHORT[n]
    w = np.ones(n + 1)
    w[:3], w[-3:] = _ENDS, _ENDS[::-1]
    return w
