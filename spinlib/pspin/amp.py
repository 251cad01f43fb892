"""Message passing on a sample of the spherical p-spin model: relaxed BP on edges, AMP on spins, state evolution.

All three follow from Thesis eqs. (54), (55), which the Thesis averages over the graph at once. Here they are iterated.
The spherical constraint is kept at every step: the mean m and variance v of the spins obey (1/N) sum (m_i^2 + v_i) = 1.
Temperatures are ``T`` = 1/beta; couplings come from :func:`spinlib.pspin.simulation.gaussian_couplings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spinlib._core import (
    Result,
    check_array,
    check_finite,
    check_flag,
    check_integer,
    check_last_axis,
    check_real,
)
from spinlib.pspin._couplings import Couplings, check_couplings

__all__ = ["amp", "relaxed_bp", "spherical_variance", "state_evolution"]


@dataclass(frozen=True, eq=False, repr=False)
class Iterates(Result):
    """Every step of a message passing: means ``m`` (n_steps + 1, ..., N), mean variance ``v`` (n_steps + 1, ...)."""

    m: np.ndarray
    v: np.ndarray

    @property
    def q(self) -> np.ndarray:
        """Self-overlap (1/N) sum m_i^2 of every step, shape (n_steps + 1, ...)."""
        return (self.m**2).mean(-1)

    @property
    def successive(self) -> np.ndarray:
        """Overlap of each step with the one before, shape (n_steps, ...): it tends to q if the iteration converges."""
        return (self.m[1:] * self.m[:-1]).mean(-1)


@dataclass(frozen=True, eq=False, repr=False)
class OverlapPath(Result):
    """N = infinity: self-overlap ``q`` and ``overlap`` of two copies with the same couplings, each (n_steps + 1,)."""

    q: np.ndarray
    overlap: np.ndarray


def spherical_variance(field_variance: ArrayLike) -> np.ndarray:
    """Variance v of a spin in a Gaussian field h of given variance, from v^2 <h^2> + v = 1; of its shape.

    The mean is v h: q + v = 1 of Thesis eqs. (59)-(61) at every step. Raises ValueError for a variance below 0.

    >>> from spinlib.pspin.amp import spherical_variance
    >>> print(spherical_variance(0.0), spherical_variance(2.0))
    1.0 0.5
    """
    field_variance = check_finite(
        "field_variance", field_variance, minimum=0, hint="it is the mean of h^2"
    )
    return 2 / (1 + np.sqrt(1 + 4 * field_variance))


def state_evolution(
    p: int, q: float, T: float, *, overlap: float | None = None, n_steps: int = 30
) -> OverlapPath:
    """Iterate Thesis eq. (61) from self-overlap ``q`` in (0, 1) and the ``overlap`` of two copies (default q).

    The fixed points are q = 0 and the roots of eq. (45), see :meth:`spinlib.pspin.PSpin.rs_overlaps`; the upper one
    attracts. At fixed q the overlap of two copies, in units of q, goes to its power p - 1, so only the value 1 stays,
    and it is unstable for p >= 3. Source: the map of :func:`amp`; p = 2: Bolthausen (2014). Raises ValueError for
    other q.

    >>> from spinlib.pspin.amp import state_evolution
    >>> se = state_evolution(3, 0.5, 0.4, overlap=0.49, n_steps=200)
    >>> print(f"{se.q[-1]:.4f} {se.overlap[-1]:.4f}")
    0.5658 0.0000
    """
    p, T, n_steps = check_integer("p", p, 2), _temperature(T), check_integer("n_steps", n_steps, 1)
    q = check_real(
        "q", q, above=0, below=1, hint="it is the starting self-overlap; from 0 nothing moves"
    )
    both = q if overlap is None else overlap
    both = check_real("overlap", both, minimum=-q, maximum=q, hint="two copies of self-overlap q")
    gain = p / (2 * T**2)  # beta^2 K <J^2>, Thesis eq. (109)
    path = np.empty((n_steps + 1, 2))
    path[0] = q, both
    for t in range(n_steps):
        fields = gain * path[t] ** (
            p - 1
        )  # variance of a field, covariance of the fields of two copies
        # q = v^2 <h^2>: eq. (61), and the same for two copies
        path[t + 1] = spherical_variance(fields[0]) ** 2 * fields
    return OverlapPath(*path.T)


def amp(
    couplings: Couplings,
    m: ArrayLike,
    T: float,
    *,
    previous: ArrayLike | None = None,
    onsager: bool = True,
    n_steps: int = 30,
) -> Iterates:
    """Approximate message passing: relaxed BP with one mean a spin, from ``m`` (..., N), for ``n_steps`` steps.

    ``m_next = v h`` with ``h = -beta grad H(m) - b m_previous`` and ``b = beta^2 p (p-1)/2 v c^(p-2)``, c the overlap
    of m with m_previous: expanding the cavity means of Thesis eq. (54) around the full ones leaves this Onsager term.
    ``previous`` (default 0) is the step before the start. ``onsager=False`` leaves the term out: then fixed points are
    not those of the cavity equations. Runs a fixed number of steps: from a random start at p >= 3 it never converges
    (that is replica symmetry breaking). Raises ValueError if (1/N) sum m^2 is not in (0, 1).

    >>> from spinlib.pspin.amp import amp
    >>> from spinlib.pspin.simulation import gaussian_couplings, random_spins
    >>> run = amp(gaussian_couplings(64, rng=0), 0.7 * random_spins(64, rng=1), 0.4, n_steps=5)
    >>> run.m.shape, bool(abs(run.q + run.v - 1).max() < 1e-12)
    ((6, 64), True)
    """
    m, beta = _check_start(m, check_couplings(couplings).n_spins), 1 / _temperature(T)
    n_steps, onsager = check_integer("n_steps", n_steps, 1), check_flag("onsager", onsager)
    last = np.zeros_like(m) if previous is None else previous
    last = check_array("previous", last, m.shape, hint="the step before m, of the same shape")
    p, v = couplings.p, 1 - (m**2).mean(-1)
    means, variances = [m], [v]
    for _ in range(n_steps):
        h = -beta * couplings.gradient(m)
        if onsager:
            c = (m * last).mean(-1)
            h = h - (beta**2 * p * (p - 1) / 2 * v * c ** (p - 2))[..., None] * last
        v = spherical_variance((h**2).mean(-1))
        m, last = v[..., None] * h, m
        means.append(m)
        variances.append(v)
    return Iterates(np.array(means), np.array(variances))


def relaxed_bp(couplings: Couplings, m: ArrayLike, T: float, *, n_steps: int = 10) -> Iterates:
    """Relaxed belief propagation with a mean and a variance on every edge, Thesis eqs. (54), (55).

    At first every message leaves its spin with the value ``m_i`` of ``m`` (N,). The multiplier of eq. (55) is chosen
    at every step so that the marginals, eq. (50), obey the spherical constraint. There are p messages for each of the
    binomial(N, p) factors, so keep N below about 100. Raises ValueError if a coupling has coinciding indices: draw
    with ``gaussian_couplings(..., distinct=True)``.

    >>> from spinlib.pspin.amp import relaxed_bp
    >>> from spinlib.pspin.simulation import gaussian_couplings, random_spins
    >>> run = relaxed_bp(gaussian_couplings(24, distinct=True, rng=0), 0.7 * random_spins(24, rng=1), 0.4, n_steps=3)
    >>> run.m.shape, bool(abs(run.q + run.v - 1).max() < 1e-12)
    ((4, 24), True)
    """
    n, p, beta = check_couplings(couplings).n_spins, couplings.p, 1 / _temperature(T)
    m, n_steps = check_array("m", _check_start(m, n), (n,)), check_integer("n_steps", n_steps, 1)
    if couplings.tensor[
        range(n), range(n)
    ].any():  # of a symmetric tensor the first two indices tell
        raise ValueError(
            f"couplings must have distinct indices, got one with n_spins={n}, p={p} where some coincide; "
            "draw it with gaussian_couplings(n_spins, p, distinct=True)"
        )
    spins = np.array(list(combinations(range(n), p)))  # (M, p)
    J = factorial(p) * couplings.tensor[tuple(spins.T)]  # (M,), one number a factor
    at_spin = lambda edges: np.bincount(spins.ravel(), edges.ravel(), minlength=n)
    means, variances = [m], [1 - (m**2).mean()]
    message_m, message_v = m[spins], np.full(spins.shape, variances[0])
    for _ in range(n_steps):
        others, others_second = (
            _product_of_others(message_m),
            _product_of_others(message_m**2 + message_v),
        )
        push = beta * J[:, None] * others  # a -> i, linear in sigma_i
        soft = (beta * J[:, None]) ** 2 * (others_second - others**2)  # a -> i, quadratic
        h, softening = at_spin(push), at_spin(soft)
        top = softening.max()
        # mean(v_i + v_i^2 h_i^2) = 1, between v_i = N and v_i <= 1 / (1 + rms h)
        excess = lambda lam: (1 / (lam - softening) + (h / (lam - softening)) ** 2).mean() - 1
        ends = top + 1 / n, top + 1 + np.sqrt((h**2).mean())
        lam = brentq(excess, *ends, xtol=1e-15, rtol=4 * np.finfo(float).eps)
        v = 1 / (lam - softening)  # marginals, eq. (50)
        message_v = 1 / (lam - softening[spins] + soft)  # eq. (55): all but a
        message_m = message_v * (h[spins] - push)  # eq. (54): all but a
        means.append(v * h)
        variances.append(v.mean())
    return Iterates(np.array(means), np.array(variances))


def _product_of_others(values):
    """(M, p) -> (M, p): the product over the other columns."""
    return np.stack(
        [np.delete(values, column, axis=1).prod(axis=1) for column in range(values.shape[1])],
        axis=1,
    )


def _temperature(T: float) -> float:
    """T, at least 1e-6: below, the multiplier and the softening of a spin no longer differ in float64."""
    return check_real(
        "T", T, minimum=1e-6, maximum=1e75, hint="for T = 0 use spinlib.pspin.simulation.descend"
    )


def _check_start(m, n_spins) -> np.ndarray:
    m = check_last_axis("m", m, n_spins)
    q = (m**2).mean(-1)
    bad = ~((q > 0) & (q < 1))
    if bad.any():
        raise ValueError(
            f"the start needs 0 < (1/N) sum m_i^2 < 1, got {float(q[bad][0]):.6g}; "
            "scale it: np.sqrt(q) * random_spins(n_spins)"
        )
    return m
