"""Disorder and spins of the p-spin model at finite size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from functools import cached_property, reduce
from itertools import combinations, combinations_with_replacement, permutations
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    Noun,
    RNG,
    Result,
    check_finite,
    check_flag,
    check_integer,
    check_last_axis,
    check_real,
    check_rng,
    check_type,
    freeze,
)

MAX_ENTRIES = 2**27  # one gigabyte of couplings
MAX_P = 8  # the sum over the p! orders of the indices is explicit


@dataclass(frozen=True, eq=False, repr=False)
class Couplings(Noun, Result):
    """The disorder of a p-spin model, a symmetric tensor: ``H(s) = -sum_{i1..ip} J_{i1..ip} s_i1 ... s_ip``.

    ``tensor`` has shape (N,) * p with p >= 2 and must be symmetric under permutations of its axes (a read-only copy is
    kept); every function below takes spins of shape (..., N), any number of replicas at once. Source: Thesis eq. (19).

    >>> import numpy as np
    >>> from spinlib.pspin.simulation import Couplings
    >>> pair = Couplings(np.array([[0.0, 0.5], [0.5, 0.0]]))
    >>> print(pair.energy(np.array([[1.0, 1.0], [1.0, -1.0]])), pair.gradient(np.array([1.0, -1.0])))
    [-1.  1.] [ 1. -1.]
    """

    tensor: np.ndarray

    if TYPE_CHECKING:

        def __init__(self, tensor: ArrayLike) -> None: ...

    def __post_init__(self):
        tensor = check_finite("tensor", self.tensor)
        shape = tensor.shape
        if len(shape) < 2 or len(set(shape)) != 1 or shape[0] < 2:
            raise ValueError(
                f"tensor must have shape (N,) * p with N >= 2 and p >= 2, got {shape}; "
                "draw one with gaussian_couplings(n_spins, p)"
            )
        scale = 1e-12 * max(np.abs(tensor).max(), 1e-300)
        for axis in range(1, tensor.ndim):
            if np.abs(tensor - np.swapaxes(tensor, 0, axis)).max() > scale:
                raise ValueError(
                    f"tensor must be symmetric, got one that changes when axes 0 and {axis} are swapped; "
                    "average it over all permutations of its axes"
                )
        freeze(self, tensor=tensor)

    @property
    def n_spins(self) -> int:
        """Number of spins N."""
        return self.tensor.shape[0]

    @property
    def p(self) -> int:
        """Number of spins in an interaction."""
        return self.tensor.ndim

    @cached_property
    def _packed(self) -> tuple[np.ndarray, np.ndarray]:
        """Each set of p - 1 indices once, (p-1, sets), and -p J times the number of their orders, (sets, N)."""
        index = np.array(list(combinations_with_replacement(range(self.n_spins), self.p - 1))).T
        orders, run = (
            np.full(index.shape[1], -self.p * factorial(self.p - 1), dtype=float),
            np.array(1),
        )
        for before, after in zip(index, index[1:]):
            run = np.where(before == after, run + 1, 1)  # k equal indices have k! orders too many
            orders /= run
        return index, np.ascontiguousarray(self.tensor[:, *index].T) * orders[:, None]

    def gradient(self, s: ArrayLike) -> np.ndarray:
        """Gradient of the energy in N dimensions, ``-p sum_{i2..ip} J_{i i2..ip} s_i2 ... s_ip``, shape of ``s``.

        The tensor is symmetric: products of p - 1 spins, each set of indices once, then one matrix product for all
        replicas. Source: derivative of Thesis eq. (19).

        >>> from spinlib.pspin.simulation import gaussian_couplings, random_spins
        >>> J, s = gaussian_couplings(8, rng=0), random_spins(8, (5,), rng=1)
        >>> bool(abs((s * J.gradient(s)).sum(-1) - 3 * J.energy(s)).max() < 1e-12)   # Euler: H is of degree p
        True
        """
        return self._gradient(check_last_axis("spins", s, self.n_spins))

    def _gradient(self, s):
        (first, *others), matrix = self._packed
        spins = np.ascontiguousarray(s.reshape(-1, self.n_spins).T)
        product = spins[first]  # (sets, replicas)
        for index in others:
            product *= spins[index]
        return (product.T @ matrix).reshape(s.shape)

    def energy(self, s: ArrayLike) -> np.ndarray:
        """Energy H of every replica, shape ``s.shape[:-1]``. Source: Thesis eq. (19)."""
        s = check_last_axis("spins", s, self.n_spins)
        return (s * self._gradient(s)).sum(axis=-1) / self.p


def gaussian_couplings(
    n_spins: int, p: int = 3, *, distinct: bool = False, rng: RNG = None
) -> Couplings:
    """Draw Gaussian couplings: energies of order N, of covariance close to ``(N/2) q^p`` at overlap q.

    By default every index tuple (i1..ip), coinciding indices included, has an independent coupling of variance ``1/(2
    N^(p-1))``: then the covariance is exactly ``(N/2) q^p`` at every N (Crisanti and Sommers 1992). With
    ``distinct=True`` the sum runs over ``i1 < ... < ip`` with variance ``p!/(2 N^(p-1))`` as in Thesis eq. (20);
    covariance ``(N/2) q^p`` then holds only up to relative order 1/N. Raises ValueError above 2^27 entries N^p, and
    for p > 8.

    >>> from spinlib.pspin.simulation import gaussian_couplings
    >>> gaussian_couplings(16, 3, rng=0).tensor.shape
    (16, 16, 16)
    """
    n_spins, p = _check_sizes(n_spins, p)
    if not check_flag("distinct", distinct):
        return Couplings(_noise(n_spins, p, check_rng(rng)))
    if n_spins < p:
        raise ValueError(
            f"n_spins must be at least p with distinct=True, got n_spins={n_spins}, p={p}; "
            "take more spins"
        )
    index = np.array(list(combinations(range(n_spins), p)))
    value = check_rng(rng).standard_normal(comb(n_spins, p))
    value = value * np.sqrt(factorial(p) / 2 / n_spins ** (p - 1)) / factorial(p)
    tensor = np.zeros((n_spins,) * p)
    for axes in permutations(range(p)):
        tensor[tuple(index[:, a] for a in axes)] = value
    return Couplings(tensor)


def _noise(n_spins, p, rng):
    """Tensor of :func:`gaussian_couplings` over all index tuples."""
    tensor = rng.standard_normal((n_spins,) * p) * np.sqrt(0.5 / n_spins ** (p - 1))
    return sum(np.transpose(tensor, axes) for axes in permutations(range(p))) / factorial(p)


def planted_couplings(
    n_spins: int, p: int = 3, *, T: float, rng: RNG = None
) -> tuple[Couplings, np.ndarray]:
    """Couplings that hide a configuration, ``(couplings, plant)``, with the law ``P0(J) exp(-H_J(plant) / T)``.

    ``plant`` (N,), the planted configuration, is uniform on the sphere, and each entry of a tensor of
    :func:`gaussian_couplings` is shifted by ``plant_i1 ... plant_ip / (2 T N^(p-1))``. Given the couplings, it has
    the Boltzmann distribution at ``T``, and at no other temperature, so plant anew at each. Its energy is ``-1/(2T)``
    per spin on average. The same ``rng`` at another T gives the same configuration and noise. Raises ValueError as
    gaussian_couplings does. Source: Krzakala and Zdeborova 2009 (quiet planting).

    >>> from spinlib.pspin.simulation import planted_couplings
    >>> J, plant = planted_couplings(32, T=0.5, rng=0)
    >>> J.tensor.shape, f"{J.energy(plant) / 32:.1f}"
    ((32, 32, 32), '-1.0')
    """
    n_spins, p = _check_sizes(n_spins, p)
    T, rng = check_real("T", T, above=0, hint="the plant is drawn at a temperature"), check_rng(rng)
    plant = random_spins(n_spins, rng=rng)
    noise = _noise(n_spins, p, rng)
    product = reduce(np.multiply.outer, [plant] * p)
    return Couplings(noise + product / (2 * T * n_spins ** (p - 1))), plant


def random_spins(n_spins: int, shape: Sequence[int] = (), *, rng: RNG = None) -> np.ndarray:
    """Spins ``(*shape, N)`` drawn uniformly from the sphere ``sum_i s_i^2 = N``, Thesis eq. (18). ValueError for N < 2.

    >>> from spinlib.pspin.simulation import random_spins
    >>> s = random_spins(50, (3,), rng=0)
    >>> s.shape, [f"{x:.10f}" for x in (s**2).sum(-1)]
    ((3, 50), ['50.0000000000', '50.0000000000', '50.0000000000'])
    """
    n_spins = check_integer("n_spins", n_spins, 2)
    check_type("shape", shape, (tuple, list), "write (3,) for three configurations")
    shape = [check_integer("an entry of shape", k, 1) for k in shape]
    return _to_sphere(check_rng(rng).standard_normal((*shape, n_spins)))


def overlap(s: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Overlap ``(1/N) sum_i s_i t_i`` of configurations (..., N), Thesis eq. (31). ValueError for unequal N.

    >>> from spinlib.pspin.simulation import overlap
    >>> print(overlap([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0]))
    0.5
    """
    s, t = check_finite("the first configuration", s), check_finite("the second configuration", t)
    if s.shape[-1:] != t.shape[-1:] or s.ndim == 0:
        raise ValueError(
            f"both configurations need the same number of spins, got shapes {s.shape} and {t.shape}; "
            "compare replicas of one sample"
        )
    return (s * t).mean(axis=-1)


def _to_sphere(s: np.ndarray) -> np.ndarray:
    return s * (np.sqrt(s.shape[-1]) / np.linalg.norm(s, axis=-1, keepdims=True))


def _check_sizes(n_spins, p) -> tuple[int, int]:
    n_spins, p = check_integer("n_spins", n_spins, 2), check_integer("p", p, 2)
    if p > MAX_P:
        raise ValueError(
            f"p must be at most {MAX_P}, got {p}; the p! orders of the indices are summed one by one, "
            "so make a Couplings of your own"
        )
    if n_spins**p > MAX_ENTRIES:
        raise ValueError(
            f"n_spins**p must be at most 2^27 = {MAX_ENTRIES}, got {n_spins}**{p} = {n_spins**p}; "
            "take fewer spins or a smaller p"
        )
    return n_spins, p


def check_couplings(couplings: Couplings) -> Couplings:
    """The couplings themselves, or TypeError for what is no :class:`Couplings`."""
    return check_type(
        "couplings",
        couplings,
        Couplings,
        "draw them: gaussian_couplings(n_spins, p); or wrap a symmetric tensor: Couplings(tensor)",
    )


def _check_sphere(s: ArrayLike, n_spins: int) -> np.ndarray:
    s = check_last_axis("spins", s, n_spins)
    square = (s**2).mean(axis=-1)
    if not np.allclose(square, 1, rtol=0, atol=1e-9):
        worst = square.flat[np.abs(square - 1).argmax()]
        raise ValueError(
            f"spins must lie on the sphere sum_i s_i^2 = N, got a mean square of {worst:.6g}; "
            "start from random_spins(n_spins)"
        )
    return s
