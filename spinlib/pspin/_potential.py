"""The two-replica potential: free energy of a second copy that is kept at overlap q with a first one in equilibrium.

The second copy lives on a slice of the sphere, where the first one acts as a field, and may break its symmetry there.
With q0 and q1 the overlaps between and inside its states, t = q0/q1 and y = (1-q1)/(1-q1+x(q1-q0)), its saddle
separates as that of the model itself does at t = 0: Psi(t) = phi(y) holds no temperature, and q1 then follows from one
more bracketed root.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_real, check_type
from spinlib.pspin._model import PSpin, _inside, _root


def two_replica_potential(model: PSpin, q: ArrayLike, T: float) -> np.ndarray | float:
    """Free energy per spin that it costs to hold a copy at overlap ``q`` with one in equilibrium at the same ``T``.

    ``q`` is a number or an array in [0, 1), ``T`` >= T_K a number; returns the shape of ``q``. It vanishes at q = 0 and
    grows with q above T_d. Below T_d it has a second minimum at ``q = model.state_overlap(T)`` of height
    ``T * model.complexity(T)``: the price of finding the state of the first copy among all. The second copy is replica
    symmetric around both minima and one step broken between them, where the symmetric formula is a lower bound only.
    Raises ValueError below T_K, where the first copy is broken as well.
    Source: Franz and Parisi 1995; Barrat, Franz and Parisi 1997.

    >>> from spinlib.pspin import PSpin, two_replica_potential
    >>> model = PSpin(3)
    >>> print(f"{two_replica_potential(model, 0.6, 0.6):.6f} {0.6 * model.complexity(0.6):.6f}")
    0.004887 0.004887
    """
    model = check_type("model", model, PSpin, "make one: PSpin(p=3)")
    T = check_real("T", T, above=0, maximum=1e75)
    if T < model.T_K * (1 - 1e-14):
        raise ValueError(
            f"T must be >= T_K = {model.T_K:.12g} for p = {model.p}, got {T:g}; below T_K the first copy "
            "has broken replica symmetry too, which this formula leaves out"
        )
    q = _inside("q", q, "an overlap, 0 <= q < 1", lambda a: (a >= 0) & (a < 1))
    slice_ = _Slice(model.p, T)
    return np.array([slice_.potential(one) for one in q.flat]).reshape(q.shape)[()]


class _Slice:
    """The second copy at one temperature: where its symmetry breaks, and its overlaps (q1, q0, x) at each q."""

    def __init__(self, p, T):
        self.p, self.T, self.mu = p, T, p / (2 * T**2)
        top = (p - 2) / p  # r^(p-2) (1-r)^2 is largest here
        replicon = lambda r: 1 - (p - 1) * self.mu * r ** (p - 2) * (1 - r) ** 2
        self.r_low = self.q_first = 1.0  # nothing breaks
        if replicon(top) < 0:
            self.r_low = _root(lambda r: -replicon(r), 0.0, top)
            self.r_high = _root(replicon, top, 1.0)
            # x falls with t: from 1 where breaking sets in to (p-2)(1-r)/2r < 1 at r_high
            excess = lambda t: 1 - self.saddle(t)[2]
            self.t_first = 0.0 if excess(0.0) >= 0 else _root(excess, 0.0, 1 - 1e-6)
            self.q_first = self.saddle(self.t_first)[3]
            self.q_last = math.sqrt(self.r_high * (p - 2) / (p - 1))

    def saddle(self, t):
        """q1, q0, x and the overlap q with the first copy, at the ratio t = q0 / q1 in [0, 1)."""
        p = self.p
        rest = sum(t**k for k in range(p - 1))  # (1 - t^(p-1)) / (1 - t)
        psi = (sum(t**k for k in range(p)) / p - t ** (p - 1)) / ((1 - t) * rest)
        y = _root(
            lambda y: _phi(y) - psi, 1 / p**2, 1.0
        )  # phi rises to 1/2; psi lies between 1/p and 1/2
        level = y / (self.mu * rest)  # = q1^(p-2) (1-q1)^2, upper root
        q1 = _root(lambda r: level - r ** (p - 2) * (1 - r) ** 2, (p - 2) / p, 1.0)
        q0 = t * q1
        D = (1 - q1) / y
        x = (D - (1 - q1)) / (q1 - q0)
        return q1, q0, x, math.sqrt(max(q0 - self.mu * q0 ** (p - 1) * D**2, 0.0))

    def overlaps(self, q):
        """(q1, q0, x) of the second copy at overlap q with the first."""
        p, mu = self.p, self.mu
        if self.q_first < q < self.q_last:
            t = _root(lambda t: self.saddle(t)[3] - q, self.t_first, 1 - 1e-6)
            return self.saddle(t)[:3]
        symmetric = lambda r: (
            r - mu * r ** (p - 1) * (1 - r) ** 2 - q**2
        )  # increases where the replicon is positive
        r = _root(symmetric, *((0.0, self.r_low) if q <= self.q_first else (self.r_high, 1.0)))
        return r, r, 1.0

    def potential(self, q):
        q1, q0, x = self.overlaps(q)
        D = 1 - q1 + x * (q1 - q0)
        entropy = math.log1p(-q1) + math.log1p(x * (q1 - q0) / (1 - q1)) / x + (q0 - q**2) / D
        p, T = self.p, self.T
        return -(q**p) / (2 * T) + ((1 - x) * q1**p + x * q0**p) / (4 * T) - T / 2 * entropy


def _phi(y):
    """-y (ln y + 1 - y) / (1 - y)^2, rising from 0 to 1/2 on (0, 1]."""
    w = 1 - y
    if w < 1e-3:
        return y * (0.5 + w / 3 + w**2 / 4 + w**3 / 5 + w**4 / 6)
    return -y * (math.log(y) + w) / w**2
