"""The spherical p-spin model at finite size: couplings, descent, Langevin dynamics, Monte Carlo with tempering."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    RNG,
    Found,
    Result,
    check_array,
    check_integer,
    check_real,
    check_rng,
    iterate,
)
from spinlib.pspin._couplings import (
    Couplings,
    _check_sphere,
    _to_sphere,
    check_couplings,
    gaussian_couplings,
    overlap,
    planted_couplings,
    random_spins,
)

__all__ = [
    "Couplings",
    "descend",
    "gaussian_couplings",
    "langevin",
    "overlap",
    "parallel_tempering",
    "planted_couplings",
    "random_spins",
]


@dataclass(frozen=True, eq=False, repr=False)
class Descent(Found):
    """End of a gradient descent: spins ``s`` (..., N), ``energy`` per spin (...,), and how it got there."""

    s: np.ndarray
    energy: np.ndarray


def descend(
    couplings: Couplings,
    s: ArrayLike,
    *,
    step: float | None = None,
    tol: float = 1e-9,
    max_iter: int = 20_000,
) -> Descent:
    """Gradient descent on the sphere from ``s`` (..., N): the zero-temperature dynamics, which ends in a local minimum.

    ``step`` defaults to ``0.6/R`` with ``R = sqrt(2 p (p-1))`` the radius of the semicircle of the Hessian. The
    stiffest direction at the threshold has the curvature 2R, so steps below ``1/R`` do not overshoot; larger ones may
    leap between valleys. Not converging warns with :class:`~spinlib.ConvergenceWarning`; the last state is returned.
    Source: Crisanti and Sommers 1992; Castellani and Cavagna 2005.

    >>> from spinlib.pspin.simulation import descend, gaussian_couplings, random_spins
    >>> end = descend(gaussian_couplings(16, rng=0), random_spins(16, rng=1))
    >>> print(end.converged, bool(end.energy < -0.8))
    True True
    """
    s = _check_sphere(s, check_couplings(couplings).n_spins)
    radius = np.sqrt(2 * couplings.p * (couplings.p - 1))
    step = check_real("step", 0.6 / radius if step is None else step, above=0)
    found = iterate(
        lambda state: (_to_sphere(state[0] - step * couplings._gradient(state[0])),),
        (s,),
        tol=tol,
        max_iter=max_iter,
        name="gradient descent on the sphere",
        remedy="raise max_iter or lower step",
    )
    end = found.state[0]
    told = {field.name: getattr(found, field.name) for field in fields(Found)}
    return Descent(end, couplings.energy(end) / couplings.n_spins, **told)


def langevin(
    couplings: Couplings,
    s: ArrayLike,
    T: float,
    *,
    dt: float = 0.02,
    n_steps: int = 1000,
    every: int = 1,
    rng: RNG = None,
) -> np.ndarray:
    """Langevin dynamics at temperature ``T`` on the sphere: the path (n_steps // every + 1, ..., N) from ``s``.

    Euler steps ``ds = P(-grad H dt + sqrt(2 T dt) noise)`` with P the projection on the tangent plane, and back to the
    sphere: stationary at the Boltzmann distribution up to order ``dt``. For dynamics; for equilibrium use
    :func:`parallel_tempering`. Raises ValueError when a step leaves the finite numbers. Source: Cugliandolo and Kurchan
    1993.

    >>> from spinlib.pspin.simulation import gaussian_couplings, langevin, overlap, random_spins
    >>> path = langevin(gaussian_couplings(32, rng=0), random_spins(32, (4,), rng=1), 1.0, n_steps=100, every=50, rng=2)
    >>> path.shape
    (3, 4, 32)
    """
    s = _check_sphere(s, check_couplings(couplings).n_spins)
    T, dt = check_real("T", T, minimum=0), check_real("dt", dt, above=0)
    n_steps, every = check_integer("n_steps", n_steps, 1), check_integer("every", every, 1)
    rng = check_rng(rng)
    path = [s]
    for k in range(1, n_steps + 1):
        gradient = couplings._gradient(s)
        with np.errstate(over="ignore", invalid="ignore"):  # reported in the next lines, in words
            s = _to_sphere(
                s + _tangent(np.sqrt(2 * T * dt) * rng.standard_normal(s.shape) - dt * gradient, s)
            )
        if not (np.abs((s**2).mean(axis=-1) - 1) < 1e-5).all():
            raise ValueError(
                f"the dynamics left the finite numbers in step {k} with dt={dt:g}; "
                "lower dt, to 0.02 or less"
            )
        if k % every == 0:
            path.append(s)
    return np.array(path)


def _leapfrog(couplings: Couplings, s, v, gradient, beta, eps, n_steps: int):
    """Hamiltonian motion on the sphere in the potential ``beta H``: ``n_steps`` of half kick, great circle, half kick.

    From spins s (..., N), tangent velocities v and the gradient there, to those at the end; beta and eps (...,).
    Time-reversible and volume preserving; ``beta H + |v|^2/2`` is conserved up to order eps^2. Source: geodesic Monte
    Carlo, Byrne and Girolami 2013.
    """
    beta, eps = beta[..., None], eps[..., None]
    kick = -beta * eps
    v = v + 0.5 * kick * _tangent(gradient, s)
    for left in reversed(range(n_steps)):
        speed = np.sqrt((v * v).mean(axis=-1, keepdims=True))
        rate = np.maximum(speed, np.finfo(float).tiny)  # radians per unit of time, radius sqrt(N)
        cos, sin = np.cos(eps * rate), np.sin(eps * rate)
        s, v = s * cos + v * (sin / rate), v * cos - s * (sin * rate)
        s = s if left else _to_sphere(s)
        gradient = couplings._gradient(s)
        v = v + (kick if left else 0.5 * kick) * _tangent(
            gradient, s
        )  # two half kicks meet between the steps
    return s, v, gradient


@dataclass(frozen=True, eq=False, repr=False)
class Tempering(Result):
    """Measurements of :func:`parallel_tempering` along the temperatures ``T`` (n_T,).

    ``energy`` (n_sweeps, n_copies, n_T) per spin; ``overlap`` (n_sweeps, n_pairs, n_T) between copies; ``s`` (n_copies,
    n_T, N) the last state, to continue from; ``acceptance`` (n_T,) of the moves and ``swaps`` (n_T - 1,) of
    neighbouring temperatures.
    """

    T: np.ndarray
    energy: np.ndarray
    overlap: np.ndarray
    s: np.ndarray
    acceptance: np.ndarray
    swaps: np.ndarray


def parallel_tempering(
    couplings: Couplings,
    T: ArrayLike,
    *,
    n_sweeps: int = 1000,
    n_copies: int = 2,
    n_leapfrog: int = 6,
    eps: float = 0.35,
    s: ArrayLike | None = None,
    rng: RNG = None,
) -> Tempering:
    """Sample the Boltzmann distribution at increasing temperatures ``T`` (n_T,): hybrid Monte Carlo with exchanges.

    A sweep is one trajectory of ``n_leapfrog`` steps of length ``eps / sqrt(beta)`` for every copy and temperature,
    accepted or rejected exactly, then one round of exchanges within each copy. Copies are independent: their overlaps
    sample P(q). Neighbouring temperatures should be about 1.1/sqrt(N) apart in beta. Nothing is discarded: drop the
    first sweeps of the result. The start ``s`` (n_copies, n_T, N) is random by default. Whether it has equilibrated
    can be tested: ``e = -(beta/2)(1 - <q^p>)`` on average over samples of the default couplings. Source: Hukushima and
    Nemoto (1996) for the exchange; Duane, Kennedy, Pendleton and Roweth (1987) for a trajectory. Raises ValueError for
    temperatures that are not positive or do not increase, counts below 1, eps outside (0, 10], and spins of another
    shape or off the sphere.

    >>> from spinlib.pspin.simulation import gaussian_couplings, parallel_tempering
    >>> run = parallel_tempering(gaussian_couplings(16, rng=0), [0.8, 1.0, 1.3], n_sweeps=20, rng=1)
    >>> run.energy.shape, run.overlap.shape
    ((20, 2, 3), (20, 1, 3))
    """
    T = check_array("T", T, (None,)).copy()
    if len(T) == 0 or T.min() <= 0 or (np.diff(T) <= 0).any():
        raise ValueError(
            f"T must be positive and strictly increasing, got {T.tolist()}; "
            "sort it and drop what repeats: np.unique(T)"
        )
    n_sweeps, n_copies = (
        check_integer("n_sweeps", n_sweeps, 1),
        check_integer("n_copies", n_copies, 1),
    )
    n_leapfrog = check_integer("n_leapfrog", n_leapfrog, 1)
    eps = check_real("eps", eps, above=0, maximum=10, hint="above 1 hardly a move is accepted")
    rng, n = check_rng(rng), check_couplings(couplings).n_spins
    s = random_spins(n, (n_copies, len(T)), rng=rng) if s is None else _check_sphere(s, n)
    if s.shape != (n_copies, len(T), n):
        raise ValueError(
            f"s must have shape (n_copies, len(T), N) = {(n_copies, len(T), n)}, got {s.shape}; "
            "continue from the s of a run with the same T"
        )
    beta, pairs = 1 / T, np.triu_indices(n_copies, 1)
    gradient = couplings._gradient(s)
    energies = lambda s, gradient: (s * gradient).sum(axis=-1) / couplings.p  # H is of degree p
    H = energies(s, gradient)
    accepted, swapped = np.zeros(len(T)), np.zeros(max(len(T) - 1, 0))
    energy, overlaps = (
        np.empty((n_sweeps, n_copies, len(T))),
        np.empty((n_sweeps, len(pairs[0]), len(T))),
    )
    for k in range(n_sweeps):
        v = _tangent(rng.standard_normal(s.shape), s)
        moved, v_end, gradient_moved = _leapfrog(
            couplings, s, v, gradient, beta, eps / np.sqrt(beta), n_leapfrog
        )
        H_moved = energies(moved, gradient_moved)
        gain = beta * (H - H_moved) + 0.5 * ((v**2).sum(-1) - (v_end**2).sum(-1))
        take = np.log(rng.random(H.shape)) < gain
        s, gradient = (
            np.where(take[..., None], new, old)
            for new, old in ((moved, s), (gradient_moved, gradient))
        )
        H = np.where(take, H_moved, H)
        accepted += take.mean(axis=0)
        for i in range(k % 2, len(T) - 1, 2):  # even and odd neighbours in turn
            swap = np.log(rng.random(n_copies)) < (beta[i] - beta[i + 1]) * (H[:, i] - H[:, i + 1])
            for state in (s, gradient, H):
                state[swap, i], state[swap, i + 1] = state[swap, i + 1], state[swap, i]
            swapped[i] += swap.mean()
        energy[k] = H / n
        overlaps[k] = overlap(s[pairs[0]], s[pairs[1]])
    rounds = np.array([len(range(i % 2, n_sweeps, 2)) for i in range(len(swapped))])
    return Tempering(T, energy, overlaps, s, accepted / n_sweeps, swapped / np.maximum(rounds, 1))


def _tangent(v, s):
    return v - s * ((v * s).mean(axis=-1, keepdims=True))
