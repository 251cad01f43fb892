"""The spherical p-spin model at finite size: couplings, gradient descent, Langevin dynamics, Monte Carlo with tempering."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np

from spinlib._core import check_array, check_finite, check_flag, check_integer, check_real, check_type, iterate

MAX_ENTRIES = 2**27  # one gigabyte of couplings
MAX_P = 8  # the sum over the p! orders of the indices is explicit


@dataclass(frozen=True)
class Couplings:
    """The disorder of a p-spin model: a symmetric tensor, so that the energy is ``H(s) = -sum_{i1..ip} J_{i1..ip} s_i1 ... s_ip``.

    ``tensor`` has shape (N,) * p with p >= 2 and must be symmetric under permutations of its axes; every function
    below takes spins of shape (..., N), any number of replicas at once. Source: Thesis eq. (19).

    >>> import numpy as np
    >>> from spinlib.simulation import Couplings
    >>> pair = Couplings(np.array([[0.0, 0.5], [0.5, 0.0]]))
    >>> print(pair.energy(np.array([[1.0, 1.0], [1.0, -1.0]])), pair.gradient(np.array([1.0, -1.0])))
    [-1.  1.] [ 1. -1.]
    """

    tensor: np.ndarray

    def __post_init__(self):
        shape = np.shape(self.tensor)
        if len(shape) < 2 or len(set(shape)) != 1 or shape[0] < 2:
            raise ValueError(f"tensor must have shape (N,) * p with N >= 2 and p >= 2, got {shape}; draw one with gaussian_couplings(n_spins, p)")
        tensor = check_array("tensor", self.tensor, shape)  # (N,) * p, float64
        for axis in range(1, tensor.ndim):
            if not np.allclose(tensor, np.swapaxes(tensor, 0, axis), rtol=0, atol=1e-12 * max(np.abs(tensor).max(), 1e-300)):
                raise ValueError(f"tensor must be symmetric, got one that changes when axes 0 and {axis} are swapped; average it over all permutations of its axes")
        object.__setattr__(self, "tensor", tensor)

    @property
    def n_spins(self) -> int:
        """Number of spins N."""
        return self.tensor.shape[0]

    @property
    def p(self) -> int:
        """Number of spins in an interaction."""
        return self.tensor.ndim

    @cached_property
    def _matrix(self) -> np.ndarray:
        return np.ascontiguousarray(self.tensor.reshape(self.n_spins, -1))  # (N, N^(p-1))

    def gradient(self, s) -> np.ndarray:
        """Gradient of the energy in the N-dimensional space, ``-p sum_{i2..ip} J_{i i2..ip} s_i2 ... s_ip``, shape of ``s``.

        One matrix product for all replicas, then one sum over spins a further index; the tensor is symmetric, so any index may stay. Source: derivative of Thesis eq. (19).

        >>> from spinlib.simulation import gaussian_couplings, random_spins
        >>> J, s = gaussian_couplings(8, rng=0), random_spins(8, (5,), rng=1)
        >>> bool(abs((s * J.gradient(s)).sum(-1) - 3 * J.energy(s)).max() < 1e-12)   # Euler: H is homogeneous of degree p
        True
        """
        return self._gradient(_check_spins(s, self.n_spins))

    def _gradient(self, s):
        rows = s.reshape(-1, self.n_spins)
        product = rows @ self._matrix  # (replicas, N^(p-1)): one index contracted, for all replicas at once
        for _ in range(self.p - 2):
            product = product.reshape(len(rows), -1, self.n_spins) @ rows[:, :, None]
        return -self.p * product.reshape(s.shape)

    def energy(self, s) -> np.ndarray:
        """Energy H of every replica, shape ``s.shape[:-1]``. Source: Thesis eq. (19)."""
        return (s * self.gradient(s)).sum(axis=-1) / self.p


def gaussian_couplings(n_spins, p=3, *, distinct=False, rng=None) -> Couplings:
    """Draw Gaussian couplings of ``n_spins`` spins, with energies of order N and covariance close to ``(N/2) q^p`` at overlap q.

    By default every index tuple (i1..ip), coinciding indices included, has an independent coupling of variance
    ``1/(2 N^(p-1))``: then the covariance is exactly ``(N/2) q^p`` at every N (Crisanti and Sommers 1992). With ``distinct=True``
    the sum runs over ``i1 < ... < ip`` with variance ``p!/(2 N^(p-1))`` as in Thesis eq. (20); covariance ``(N/2) q^p`` then holds
    only up to relative order 1/N. Refuses more than 2^27 entries N^p, and p above 8.

    >>> from spinlib.simulation import gaussian_couplings
    >>> gaussian_couplings(16, 3, rng=0).tensor.shape
    (16, 16, 16)
    """
    n_spins, p, distinct = check_integer("n_spins", n_spins, 2), check_integer("p", p, 2), check_flag("distinct", distinct)
    if p > MAX_P:
        raise ValueError(f"p must be at most {MAX_P}, got {p}; the p! orders of the indices are summed one by one, so make a Couplings of your own")
    if n_spins**p > MAX_ENTRIES:
        raise ValueError(f"n_spins**p must be at most 2^27 = {MAX_ENTRIES}, got {n_spins}**{p} = {n_spins**p}; take fewer spins or a smaller p")
    if distinct and n_spins < p:
        raise ValueError(f"n_spins must be at least p with distinct=True, got n_spins={n_spins}, p={p}; take more spins")
    rng = np.random.default_rng(rng)
    if not distinct:
        tensor = rng.standard_normal((n_spins,) * p) * np.sqrt(0.5 / n_spins ** (p - 1))
        return Couplings(sum(np.transpose(tensor, axes) for axes in permutations(range(p))) / factorial(p))
    index = np.array(list(combinations(range(n_spins), p)))
    value = rng.standard_normal(comb(n_spins, p)) * np.sqrt(factorial(p) / 2 / n_spins ** (p - 1)) / factorial(p)
    tensor = np.zeros((n_spins,) * p)
    for axes in permutations(range(p)):
        tensor[tuple(index[:, a] for a in axes)] = value
    return Couplings(tensor)


def random_spins(n_spins, shape=(), *, rng=None) -> np.ndarray:
    """Spins ``(*shape, N)`` drawn uniformly from the sphere ``sum_i s_i^2 = N``. Source: Thesis eq. (18).

    >>> from spinlib.simulation import random_spins
    >>> s = random_spins(50, (3,), rng=0)
    >>> s.shape, [f"{x:.10f}" for x in (s**2).sum(-1)]
    ((3, 50), ['50.0000000000', '50.0000000000', '50.0000000000'])
    """
    n_spins = check_integer("n_spins", n_spins, 2)
    shape = [check_integer("an entry of shape", k, 1) for k in check_type("shape", shape, (tuple, list), "write (3,) for three configurations")]
    return _to_sphere(np.random.default_rng(rng).standard_normal((*shape, n_spins)))


def overlap(s, t) -> np.ndarray:
    """Overlap ``(1/N) sum_i s_i t_i`` of two configurations (..., N) in [-1, 1] on the sphere. Source: Thesis eq. (31).

    >>> from spinlib.simulation import overlap
    >>> print(overlap([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0]))
    0.5
    """
    s, t = check_finite("the first configuration", s), check_finite("the second configuration", t)
    if s.shape[-1:] != t.shape[-1:] or s.ndim == 0:
        raise ValueError(f"both configurations need the same number of spins, got shapes {s.shape} and {t.shape}; compare replicas of one sample")
    return (s * t).mean(axis=-1)


@dataclass(frozen=True)
class Descent:
    """End of a gradient descent: spins ``s`` (..., N), ``energy`` per spin (...,), and how the largest change of a spin fell."""

    s: np.ndarray
    energy: np.ndarray
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray


def descend(couplings: Couplings, s, *, step=None, tol=1e-9, max_iter=20_000) -> Descent:
    """Gradient descent on the sphere from ``s`` (..., N): the zero-temperature dynamics, which ends in a local minimum.

    ``step`` defaults to ``0.6/R`` with ``R = sqrt(2 p (p-1))`` the radius of the semicircle of the Hessian. The stiffest direction at
    the threshold has the curvature 2R, so steps below ``1/R`` do not overshoot; larger ones may leap between valleys. Not converging warns with :class:`~spinlib._core.ConvergenceWarning`; the last state is returned.
    Source: Crisanti and Sommers 1992; Castellani and Cavagna 2005.

    >>> from spinlib.simulation import descend, gaussian_couplings, random_spins
    >>> end = descend(gaussian_couplings(16, rng=0), random_spins(16, rng=1))
    >>> print(end.converged, bool(end.energy < -0.8))
    True True
    """
    s = _check_sphere(s, check_couplings(couplings).n_spins)
    step = check_real("step", 0.6 / np.sqrt(2 * couplings.p * (couplings.p - 1)) if step is None else step, above=0)
    found = iterate(lambda state: (_to_sphere(state[0] - step * couplings.gradient(state[0])),), (s,), tol=tol, max_iter=max_iter,
                    name="gradient descent on the sphere", remedy="raise max_iter or lower step")
    end = found.state[0]
    return Descent(end, couplings.energy(end) / couplings.n_spins, found.converged, found.n_iter, found.residual, found.history)


def langevin(couplings: Couplings, s, T, *, dt=0.02, n_steps=1000, every=1, rng=None) -> np.ndarray:
    """Langevin dynamics at temperature ``T``, projected on the sphere; returns the path (n_steps // every + 1, ..., N) from ``s``.

    Euler steps ``ds = P(-grad H dt + sqrt(2 T dt) noise)`` with P the projection on the tangent plane, and back to the sphere:
    stationary at the Boltzmann distribution up to order ``dt``. For dynamics; for equilibrium use :func:`parallel_tempering`.
    Raises ValueError when a step leaves the finite numbers. Source: Cugliandolo and Kurchan 1993.

    >>> from spinlib.simulation import gaussian_couplings, langevin, overlap, random_spins
    >>> path = langevin(gaussian_couplings(32, rng=0), random_spins(32, (4,), rng=1), 1.0, n_steps=100, every=50, rng=2)
    >>> path.shape
    (3, 4, 32)
    """
    s = _check_sphere(s, check_couplings(couplings).n_spins)
    T, dt = check_real("T", T, minimum=0), check_real("dt", dt, above=0)
    n_steps, every = check_integer("n_steps", n_steps, 1), check_integer("every", every, 1)
    rng = np.random.default_rng(rng)
    path = [s]
    for k in range(1, n_steps + 1):
        gradient = couplings.gradient(s)
        with np.errstate(over="ignore", invalid="ignore"):  # reported in the next lines, in words
            s = _to_sphere(s + _tangent(np.sqrt(2 * T * dt) * rng.standard_normal(s.shape) - dt * gradient, s))
        if not np.allclose((s**2).mean(axis=-1), 1):
            raise ValueError(f"the dynamics left the finite numbers in step {k} with dt={dt:g}; lower dt, to 0.02 or less")
        if k % every == 0:
            path.append(s)
    return np.array(path)


def leapfrog(couplings: Couplings, s, v, beta, eps, n_steps):
    """Hamiltonian motion on the sphere in the potential ``beta H``: half kick, great circle, half kick, ``n_steps`` times.

    ``s`` (..., N) on the sphere and tangent velocity ``v``; ``beta`` and ``eps`` are numbers or have shape (...,). Time-reversible and
    volume preserving; ``beta H + |v|^2/2`` is conserved up to order eps^2. Returns ``(s, v)``. Source: geodesic Monte Carlo, Byrne and
    Girolami 2013.

    >>> import numpy as np
    >>> from spinlib.simulation import gaussian_couplings, leapfrog, random_spins
    >>> J, s = gaussian_couplings(8, rng=0), random_spins(8, rng=1)
    >>> there = leapfrog(J, s, np.zeros(8), 1.0, 0.1, 5)
    >>> back, _ = leapfrog(J, there[0], -there[1], 1.0, 0.1, 5)
    >>> bool(abs(back - s).max() < 1e-12)
    True
    """
    s, n_steps = _check_sphere(s, check_couplings(couplings).n_spins), check_integer("n_steps", n_steps, 1)
    v = check_array("v", v, s.shape, hint="one velocity a spin")
    if (np.abs((s * v).mean(axis=-1)) > 1e-9 * (1 + np.abs(v).max())).any():
        raise ValueError("v must be tangent to the sphere, sum_i s_i v_i = 0; take its component along s away")
    beta, eps = check_finite("beta", beta, minimum=0), check_finite("eps", eps, minimum=0)
    if beta.shape not in ((), s.shape[:-1]) or eps.shape not in ((), s.shape[:-1]):
        raise ValueError(f"beta and eps must be numbers or have shape {s.shape[:-1]}, got {beta.shape} and {eps.shape}")
    return _leapfrog(couplings, s, v, beta, eps, n_steps)


def _leapfrog(couplings, s, v, beta, eps, n_steps):
    """The motion of :func:`leapfrog`, unchecked: it is the inner loop of the sampler."""
    beta, eps = beta[..., None], eps[..., None]
    kick = -beta * eps
    v = v + 0.5 * kick * _tangent(couplings._gradient(s), s)
    for left in reversed(range(n_steps)):
        s, v = _great_circle(s, v, eps)
        v = v + (kick if left else 0.5 * kick) * _tangent(couplings._gradient(s), s)  # two half kicks meet between the steps
    return _to_sphere(s), v


@dataclass(frozen=True)
class Tempering:
    """Measurements of :func:`parallel_tempering` along the temperatures ``T`` (n_T,).

    ``energy`` (n_sweeps, n_copies, n_T) per spin; ``overlap`` (n_sweeps, n_pairs, n_T) between copies; ``s`` (n_copies, n_T, N) the last
    state, to continue from; ``acceptance`` (n_T,) of the moves and ``swaps`` (n_T - 1,) of neighbouring temperatures.
    """

    T: np.ndarray
    energy: np.ndarray
    overlap: np.ndarray
    s: np.ndarray
    acceptance: np.ndarray
    swaps: np.ndarray


def parallel_tempering(couplings: Couplings, T, *, n_sweeps=1000, n_copies=2, n_leapfrog=6, eps=0.35, s=None, rng=None) -> Tempering:
    """Sample the Boltzmann distribution at the increasing temperatures ``T`` by hybrid Monte Carlo with exchange of neighbours.

    A sweep is one trajectory of ``n_leapfrog`` steps of length ``eps / sqrt(beta)`` for every copy and temperature, accepted or rejected
    exactly, then one round of exchanges within each copy. Copies are independent: their overlaps sample P(q). Neighbouring
    temperatures should be about 1.1/sqrt(N) apart in beta. Nothing is discarded: drop the first sweeps of the result. Whether it has
    equilibrated can be tested: ``e = -(beta/2)(1 - <q^p>)`` on average over samples of the default couplings.

    >>> from spinlib.simulation import gaussian_couplings, parallel_tempering
    >>> run = parallel_tempering(gaussian_couplings(16, rng=0), [0.8, 1.0, 1.3], n_sweeps=20, rng=1)
    >>> run.energy.shape, run.overlap.shape
    ((20, 2, 3), (20, 1, 3))
    """
    T = check_array("T", T, (None,))
    if len(T) == 0 or T.min() <= 0 or (np.diff(T) <= 0).any():
        raise ValueError(f"T must be positive and strictly increasing, got {T.tolist()}; sort it and drop what repeats: np.unique(T)")
    n_sweeps, n_copies = check_integer("n_sweeps", n_sweeps, 1), check_integer("n_copies", n_copies, 1)
    n_leapfrog, eps = check_integer("n_leapfrog", n_leapfrog, 1), check_real("eps", eps, above=0, maximum=10, hint="above 1 hardly a move is accepted")
    rng, n = np.random.default_rng(rng), check_couplings(couplings).n_spins
    s = random_spins(n, (n_copies, len(T)), rng=rng) if s is None else _check_sphere(s, n)
    if s.shape != (n_copies, len(T), n):
        raise ValueError(f"s must have shape (n_copies, len(T), N) = {(n_copies, len(T), n)}, got {s.shape}; continue from the s of a run with the same T")
    beta, pairs = 1 / T, np.triu_indices(n_copies, 1)
    H = couplings.energy(s)
    accepted, swapped = np.zeros(len(T)), np.zeros(max(len(T) - 1, 0))
    energy, overlaps = np.empty((n_sweeps, n_copies, len(T))), np.empty((n_sweeps, len(pairs[0]), len(T)))
    for k in range(n_sweeps):
        v = _tangent(rng.standard_normal(s.shape), s)
        moved, v_end = _leapfrog(couplings, s, v, beta, eps / np.sqrt(beta), n_leapfrog)
        H_moved = couplings.energy(moved)
        gain = beta * (H - H_moved) + 0.5 * ((v**2).sum(-1) - (v_end**2).sum(-1))
        take = np.log(rng.random(H.shape)) < gain
        s, H = np.where(take[..., None], moved, s), np.where(take, H_moved, H)
        accepted += take.mean(axis=0)
        for i in range(k % 2, len(T) - 1, 2):  # even and odd neighbours in turn
            swap = np.log(rng.random(n_copies)) < (beta[i] - beta[i + 1]) * (H[:, i] - H[:, i + 1])
            s[swap, i], s[swap, i + 1] = s[swap, i + 1], s[swap, i]
            H[swap, i], H[swap, i + 1] = H[swap, i + 1], H[swap, i]
            swapped[i] += swap.mean()
        energy[k] = H / n
        overlaps[k] = overlap(s[pairs[0]], s[pairs[1]])
    rounds = np.array([len(range(i % 2, n_sweeps, 2)) for i in range(len(swapped))])
    return Tempering(T, energy, overlaps, s, accepted / n_sweeps, swapped / np.maximum(rounds, 1))


def _to_sphere(s):
    return s * (np.sqrt(s.shape[-1]) / np.linalg.norm(s, axis=-1, keepdims=True))


def _tangent(v, s):
    return v - s * ((v * s).mean(axis=-1, keepdims=True))


def _great_circle(s, v, eps):
    """Free motion for the time ``eps`` on the sphere of radius sqrt(N), exactly."""
    rate = np.maximum(np.sqrt((v * v).mean(axis=-1, keepdims=True)), np.finfo(float).tiny)  # radians per unit of time
    cos, sin = np.cos(eps * rate), np.sin(eps * rate)
    return s * cos + v * (sin / rate), v * cos - s * (sin * rate)


def check_couplings(couplings) -> Couplings:
    """The couplings themselves, or TypeError for what is no :class:`Couplings`."""
    return check_type("couplings", couplings, Couplings, "draw them: gaussian_couplings(n_spins, p); or wrap a symmetric tensor: Couplings(tensor)")


def _check_spins(s, n_spins):
    s = check_finite("spins", s)
    if s.ndim == 0 or s.shape[-1] != n_spins or s.size == 0:
        raise ValueError(f"spins must have shape (..., {n_spins}), got {s.shape}; the last axis runs over the spins, and no axis is empty")
    return s


def _check_sphere(s, n_spins):
    s = _check_spins(s, n_spins)
    square = (s**2).mean(axis=-1)
    if not np.allclose(square, 1, rtol=0, atol=1e-9):
        raise ValueError(f"spins must lie on the sphere sum_i s_i^2 = N, got a mean square of {square.flat[np.abs(square - 1).argmax()]:.6g}; "
                         "start from random_spins(n_spins)")
    return s
