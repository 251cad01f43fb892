"""The model at infinite size and its saddle points: the public face is :mod:`spinlib.pspin`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spinlib._core import check_integer, check_numbers, check_real

_EPS = 4 * np.finfo(float).eps  # the smallest rtol that brentq takes


@dataclass(frozen=True)
class OneRSB:
    """Equilibrium of :meth:`PSpin.solve`: overlap ``q`` in a state, breaking parameter ``x``; ``f``, ``energy`` a spin.

    The paramagnet is q = 0, x = 1. The overlap between states is 0 (there is no field).

    >>> from spinlib.pspin import PSpin
    >>> found = PSpin(3).solve(T=0.5)
    >>> print(f"{found.q:.4f} {found.x:.4f} {found.f:.4f} {found.energy:.4f}")
    0.7117 0.7361 -0.4933 -0.9049
    """

    q: float
    x: float
    f: float
    energy: float


@dataclass(frozen=True)
class PSpin:
    """The spherical p-spin model with an integer ``p`` >= 3 at N = infinity (Thesis sections 3.1 and 3.4).

    Raises ValueError for p < 3 (p = 2 condenses without a glass) and TypeError when p is not an integer.

    >>> from spinlib.pspin import PSpin
    >>> model = PSpin(p=3)
    >>> print(f"{model.T_K:.5f} {model.T_d:.5f} {model.e_ground:.5f} {model.e_threshold:.5f}")
    0.58605 0.61237 -1.17167 -1.15470
    """

    p: int = 3

    def __post_init__(self):
        p = check_integer(
            "p", self.p, 3, hint="p = 2 is no glass: its replica-symmetric solution is exact"
        )
        object.__setattr__(self, "p", p)

    # --- the four numbers of a phase diagram -----------------------------------------------------------------------

    @cached_property
    def _y_K(self) -> float:
        """y of the equilibrium states at and below T_K: the zero of the complexity, at no temperature in particular.

        Bracket [1/p^2, 1/(p-1)]: there dSigma/dy = (1-y)(1-(p-1)y)/(2py^2) >= 0, Sigma = ln(p-1)/2-(p-2)/p > 0 at the
        right end, and -2 Sigma = p-2/p+1/p^3+1-1/p^2-2 ln p > 0 at the left one (positive at p = 3 and increasing in
        p).
        """
        return brentq(self._sigma, self.p**-2.0, 1 / (self.p - 1), xtol=1e-300, rtol=_EPS)

    @cached_property
    def T_d(self) -> float:
        """Dynamical transition, the highest temperature with exponentially many states at x = 1 (closed form)."""
        p = self.p
        return math.sqrt(p / (2 * (p - 1))) * math.exp((p - 2) / 2 * math.log1p(-1 / (p - 1)))

    @cached_property
    def T_K(self) -> float:
        """Kauzmann temperature: the complexity at x = 1 vanishes, 1RSB begins, q jumps from 0 to 1 - y_K."""
        return math.sqrt(self.p * self._y_K / 2) * math.exp(
            (self.p - 2) / 2 * math.log1p(-self._y_K)
        )

    @cached_property
    def e_ground(self) -> float:
        """Ground-state energy per spin, the limit T -> 0 of ``solve(T).energy``."""
        return -0.5 * math.sqrt(2 * self._y_K / self.p) * (self.p - 1 + 1 / self._y_K)

    @cached_property
    def e_threshold(self) -> float:
        """Energy of the highest minima, -sqrt(2(p-1)/p), marginally stable, and where the slow dynamics ends."""
        return -math.sqrt(2 * (self.p - 1) / self.p)

    # --- free energies ---------------------------------------------------------------------------------------------

    def free_energy(
        self, q: ArrayLike, T: float, x: ArrayLike = 1.0, q0: ArrayLike = 0.0
    ) -> np.ndarray | float:
        """1RSB free energy per spin for overlaps ``q`` in and ``q0`` between states (Thesis eq. (118), no constant).

        ``q``, ``x``, ``q0`` are numbers or arrays that broadcast, 0 <= q0 <= q < 1 and 0 <= x <= 1; ``T`` > 0 is a
        number. At x = 1 the value does not depend on q; x = 0 is the limit, the replica-symmetric one. The saddle is a
        maximum in q and in x. Raises ValueError outside these ranges.

        >>> from spinlib.pspin import PSpin
        >>> print(f"{PSpin(3).free_energy(0.7117, 0.5, x=0.7361):.6f}")
        -0.493256
        """
        T = check_real("T", T, above=0, minimum=1e-300)
        q = _inside("q", q, "an overlap, 0 <= q < 1", lambda a: (a >= 0) & (a < 1))
        x = _inside("x", x, "the breaking parameter, 0 <= x <= 1", lambda a: (a >= 0) & (a <= 1))
        q0 = _inside(
            "q0", q0, "an overlap between states, 0 <= q0 <= q", lambda a: (a >= 0) & (a <= q)
        )
        w, gap = 1 - q, q - q0
        tiny = x * gap < 1e-300 * w  # here log1p(z) / x is gap / w, also at x = 0
        safe = np.where(tiny, 1.0, x)
        block = np.where(tiny, gap / w, np.log1p(safe * gap / w) / safe)
        entropy = np.log(w) + block + q0 / (w + x * gap)
        f = -(1 - (1 - x) * q**self.p - x * q0**self.p) / (4 * T) - T / 2 * entropy
        return f[()]

    def rs_free_energy(self, q: ArrayLike, T: float) -> np.ndarray | float:
        """Replica-symmetric free energy per spin at overlap ``q`` (number or array, 0 <= q < 1) (Thesis eq. (46)).

        It is :meth:`free_energy` at q0 = q. Raises ValueError for q or T out of range.

        >>> from spinlib.pspin import PSpin
        >>> print(PSpin(3).rs_free_energy(0.0, 0.5))
        -0.5
        """
        return self.free_energy(q, T, q0=q)

    def rs_overlaps(self, T: float) -> tuple[float, ...]:
        """Nonzero stationary overlaps of the replica-symmetric free energy, ascending (roots of Thesis eq. (45)).

        Roots of h(q) = q^(p-2) (1-q)^2 = 2 T^2 / p. h rises from 0 to its maximum at q = (p-2)/p and falls to 0 at q =
        1: two roots below the spinodal of (45), none above: (). The root q = 0, the physical one above T_K, is not
        listed. Left bracket starts where q^(p-2) alone is h, right one where (1-q)^2 alone is h: the other factor is
        below 1.

        >>> from spinlib.pspin import PSpin
        >>> print([f"{q:.4f}" for q in PSpin(3).rs_overlaps(0.4)], PSpin(3).rs_overlaps(0.5))
        ['0.1464', '0.5658'] ()
        """
        T = check_real("T", T, above=0, minimum=1e-300)
        p = self.p
        level = math.log(T) + 0.5 * math.log(2 / p)
        low = lambda v: (p - 2) / 2 * v + math.log1p(-math.exp(v)) - level  # v = ln q
        high = lambda v: (p - 2) / 2 * math.log1p(-math.exp(v)) + v - level  # v = ln(1 - q)
        v_q, v_w = math.log1p(-2 / p), math.log(2 / p)
        if low(v_q) < 0 or high(v_w) < 0:
            return ()
        small = math.exp(_root(low, 2 * level / (p - 2), v_q))
        return small, 1 - math.exp(_root(high, level, v_w))

    # --- equilibrium -----------------------------------------------------------------------------------------------

    def solve(self, T: float) -> OneRSB:
        """Equilibrium at temperature ``T`` > 0: the 1RSB saddle below T_K, the paramagnet (q = 0, x = 1) from it on.

        Between T_K and T_d the exponentially many states add up to the paramagnet, so nothing shows in f. Below T_K, y
        = y_K and w = 1 - q solves w (1-w)^((p-2)/2) = s, s = T sqrt(2 y_K / p). In t = w / s the bracket is [1,
        (1-y_K)^(-(p-2)/2)]: at t = 1 the left side is too small, at the right end w = y_K T / T_K < y_K, so it is too
        big. Thesis eq. (118), and the equation for x that the thesis leaves out. Raises ValueError for T <= 0 or NaN.

        >>> from spinlib.pspin import PSpin
        >>> s = PSpin(3).solve(0.5)
        >>> print(f"{s.q:.6f} {s.x:.6f} {s.f:.6f} {s.energy:.6f}")
        0.711666 0.736148 -0.493256 -0.904898
        """
        T = check_real("T", T, above=0, minimum=1e-300)
        if T >= self.T_K:
            return OneRSB(q=0.0, x=1.0, f=-0.25 / T, energy=-0.5 / T)
        p, y = self.p, self._y_K
        slope = math.sqrt(2 * y / p)  # s / T
        v_max = -(p - 2) / 2 * math.log1p(-y)
        v = _root(lambda v: v + (p - 2) / 2 * math.log1p(-T * slope * math.exp(v)), 0.0, v_max)
        w = T * slope * math.exp(v)
        x_over_T = slope * math.exp(v) * (1 - y) / ((1 - w) * y)
        x = T * x_over_T
        energy = -0.5 * (x_over_T - (1 - x) * math.expm1(p * math.log1p(-w)) / T)
        f = 0.5 * (energy + math.log(y) / x_over_T - T * math.log(w))
        return OneRSB(q=1 - w, x=x, f=f, energy=energy)

    # --- the states ------------------------------------------------------------------------------------------------

    def x_threshold(self, T: float) -> float:
        """Smallest x with stable states at ``T`` <= T_d: they are marginal, y = 1/(p-1) (Crisanti and Sommers 1992).

        Root of x ((p-1)/(p-2+x))^(p/2) = T / T_d, increasing on [0, 1]; the bracket divides T / T_d by the largest and
        the smallest value of the second factor. Raises ValueError above T_d.

        >>> from spinlib.pspin import PSpin
        >>> print(f"{PSpin(3).x_threshold(0.5):.6f}")
        0.565376
        """
        T = check_real("T", T, above=0, minimum=1e-300)
        if T > self.T_d:
            raise ValueError(
                f"T must be <= T_d = {self.T_d:.12g} for p = {self.p}, got {T}; "
                "above it there are no states to count"
            )
        p, level = self.p, math.log(T / self.T_d)
        growth = lambda v: v - p / 2 * math.log1p((math.exp(v) - 1) / (p - 1)) - level  # v = ln x
        return math.exp(_root(growth, level + p / 2 * math.log1p(-1 / (p - 1)), level))

    def state_overlap(self, T: float, x: float = 1.0) -> float:
        """Overlap q in the stable states that weight ``x`` selects at ``T`` (Thesis eq. (111) at q0 = 0).

        w = 1 - q solves w (w + xq) q^(p-2) = 2 T^2 / p. On 0 < w <= x/(p-2+x), where the inner replicon is >= 0, the
        left side increases; it is <= w (w + x), which gives the lower end, and reaches 2 T^2 / p exactly when x >=
        x_th(T). Raises ValueError, naming the range, where no stable state exists.

        >>> from spinlib.pspin import PSpin
        >>> print(f"{PSpin(3).state_overlap(0.6):.5f}")
        0.60000
        """
        return 1 - self._w(T, x)

    def complexity(self, T: float, x: float = 1.0) -> float:
        """Complexity, (1/N) ln of the number of the stable states that weight ``x`` selects at ``T`` (Thesis eq. (75)).

        Defined for T <= T_d and x_th(T) <= x <= 1; ValueError, naming this range, elsewhere. Negative where typical
        samples have no such states, as at x = 1 below T_K.

        >>> from spinlib.pspin import PSpin
        >>> model = PSpin(3)
        >>> print(f"{model.complexity(0.6):.6f} {model.complexity(model.T_d):.6f}")
        0.008145 0.013240
        """
        w, x = self._w(T, x), float(x)
        return self._sigma(w / (w + x * (1 - w)))

    def complexity_at_energy(self, e: ArrayLike) -> np.ndarray | float:
        """Complexity of the minima of H at energy per spin ``e`` (number or array), T = 0 (Crisanti and Sommers 1992).

        Equal to the Kac-Rice complexity of minima (Auffinger, Ben Arous, Cerny 2013). Typical samples have minima on
        [e_ground, e_threshold] only; below e_ground the value is negative: (1/N) ln of the small expected number of
        minima, so a bound on the probability of a sample with one. Above e_threshold: ValueError.

        >>> from spinlib.pspin import PSpin
        >>> print(f"{PSpin(3).complexity_at_energy(-1.16):.6f}")
        0.009587
        """
        hint = (
            f"minima exist on [e_ground, e_threshold] = [{self.e_ground:.12g}, {self.e_threshold:.12g}] for p = "
            f"{self.p}; below it the value is negative"
        )
        e = _inside(
            "e",
            e,
            f"at most e_threshold, and >= -1e75; {hint}",
            lambda a: (a >= -1e75) & (a <= self.e_threshold),
        )
        E = -e * math.sqrt(
            2 * self.p
        )  # = (p-1) u + 1/u with u = sqrt(y); the smaller root is the stable branch
        root = np.sqrt(2 * self.p * (e - self.e_threshold) * (e + self.e_threshold))
        sigma = self._sigma((2 / (E + root)) ** 2)
        return sigma[()]

    def _w(self, T: float, x: float) -> float:
        T = check_real("T", T, above=0, minimum=1e-300)
        x = check_real("x", x, minimum=0, maximum=1)
        p = self.p
        x_th = self.x_threshold(T) if T <= self.T_d else math.inf
        if x < x_th * (1 - 1e-14):  # x_th itself, rounded, is allowed
            raise ValueError(
                f"no stable state at T = {T:g}, x = {x:g} for p = {p}: states exist for x_th(T) <= x <= "
                f"1 and T <= T_d = {self.T_d:.12g}; x_th = {x_th:.12g} here"
            )
        v_max = math.log(x / (p - 2 + x))
        if x <= x_th * (1 + 1e-14):
            return math.exp(v_max)  # the marginal state
        a = T * math.sqrt(2 / p)
        if a * (a / x) < 1e-290:
            raise ValueError(
                "T must not be so small beside x that 1 - q leaves the numbers, about T > 1e-145 "
                f"sqrt(x), got T = {T:g}, x = {x:g}; states at low T have x of order T, or use "
                "complexity_at_energy"
            )
        level = 2 * math.log(a)
        outer = lambda w: math.log(w + x * (1 - w))
        climb = lambda v: (p - 2) * math.log1p(-math.exp(v)) + v + outer(math.exp(v)) - level
        return math.exp(_root(climb, math.log(2 * a / (x / a + math.hypot(x / a, 2))), v_max))

    def _sigma(self, y):
        log = np.log if isinstance(y, np.ndarray) else math.log
        return -0.5 * ((1 - y) ** 2 / (self.p * y) + log(y) + 1 - y)


def _root(function, lower: float, upper: float) -> float:
    """The root between two ends of proven, weakly opposite sign; an end that rounding misplaced is the root."""
    if function(lower) >= 0:
        return lower
    if function(upper) <= 0:
        return upper
    return brentq(function, lower, upper, xtol=1e-17, rtol=_EPS)


def _inside(name: str, value, allowed: str, test) -> np.ndarray:
    value = check_numbers(name, value)
    good = np.isfinite(value) & test(value)
    if not np.all(good):
        wrong = np.broadcast_to(value, good.shape)[~good].flat[0]
        raise ValueError(f"{name} must be {allowed}, got {wrong}")
    return value
