"""The spherical model with pair couplings (p = 2) at finite size, exactly, from its eigenvalues: a contour integral."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spinlib._core import Result, check_array, check_integer, check_real

__all__ = ["solve_two_spin"]


@dataclass(frozen=True, eq=False, repr=False)
class TwoSpin(Result):
    """Equilibrium of one sample: ``log_z``, ``energy`` per spin, ``occupation`` (N,) and the saddle ``z``.

    ``occupation[k]`` is the thermal average of ``y_k^2 / N``, the share of eigenvector k in the constraint; the shares
    sum to 1. ``z`` is the real saddle point of the contour, the Lagrange multiplier of Thesis eq. (23).
    """

    log_z: float
    energy: float
    occupation: np.ndarray
    z: float


def solve_two_spin(eigenvalues: ArrayLike, T: float, *, n_nodes: int = 100) -> TwoSpin:
    r"""Exact equilibrium of ``H = -sum_k mu_k y_k^2`` on ``sum_k y_k^2 = N``, at finite N and temperature ``T``.

    ``eigenvalues`` mu (N,) of the symmetric coupling matrix. The partition function of Thesis eq. (21)-(23) at p = 2,
    :math:`Z = \frac{\pi^{N/2}}{2\pi i}\int dz\, e^{Nz}\prod_k (z-\beta\mu_k)^{-1/2}`, is integrated along the path of
    steepest descent through its real saddle, where the integrand is real and positive: ``n_nodes`` points of the
    trapezoidal rule (100 give log Z to 1e-9 for N up to 1024, T >= 0.01). Raises ValueError for T <= 0.

    >>> import numpy as np
    >>> from spinlib.pspin.two_spin import solve_two_spin
    >>> found = solve_two_spin([0.5, 0.5, -0.5, -0.5], 1.0)   # two double poles: Z = pi^2 (e^2 - e^-2)
    >>> print(f"{found.log_z:.8f} {np.log(np.pi**2 * (np.exp(2) - np.exp(-2))):.8f}")
    4.27097432 4.27097432
    """
    mu = check_array(
        "eigenvalues", eigenvalues, (None,), hint="of one symmetric matrix: np.linalg.eigvalsh(J)"
    )
    check_integer("the number of eigenvalues", len(mu), 2)
    T, n_nodes = check_real("T", T, above=0), check_integer("n_nodes", n_nodes, 10)
    if np.abs(mu).max() / 1e100 >= T:
        raise ValueError(
            f"T must be above 1e-100 of the largest eigenvalue, got T={T:g} and {np.abs(mu).max():g}; "
            "at T = 0 all weight is on the top eigenvector"
        )
    beta = 1 / T
    n, a = len(mu), np.sort(beta * mu)[::-1]
    below = a[0] - a  # z = a[0] + gap; 1/(2N) < gap < 1/2, and the sum falls with it
    gap = brentq(
        lambda g: (0.5 / (g + below)).sum() - n, 0.4 / n, 0.6, xtol=np.finfo(float).tiny, rtol=1e-15
    )
    d = gap + below  # distance of the saddle to every branch point, without cancellation
    width = np.sqrt(2 / (1 / d**2).sum())
    longest = np.arcsinh(
        0.5 * np.pi / width
    )  # y = width sinh(u) ends at pi/2; the integrand has vanished long before
    u = np.linspace(0, longest, 41)[:-1]
    alive = _along_the_path(width * np.sinh(u), d)[1] > -45
    longest = min(longest, u[alive][-1] + u[1])
    step = longest / n_nodes
    y = width * np.sinh(step * np.arange(n_nodes))
    # z - a_k on the path; log of the integrand over its value at the saddle
    w, log_ratio = _along_the_path(y, d)
    inverse = 1 / w
    slope = n - 0.5 * inverse.sum(axis=1)  # derivative of the exponent
    dx = np.where(y > 0, -slope.real / np.where(y > 0, slope.imag, 1), 0.0)
    weight = np.exp(log_ratio) * np.sqrt(width**2 + y**2)
    weight[0] *= 0.5
    share = weight @ (inverse.real + dx[:, None] * inverse.imag) / (2 * n * weight.sum())
    log_z = (
        n * (a[0] + gap)
        + 0.5 * n * np.log(np.pi)
        - 0.5 * np.log(d).sum()
        + np.log(weight.sum() * step / np.pi)
    )
    occupation = np.empty(n)
    occupation[np.argsort(mu)[::-1]] = share
    return TwoSpin(float(log_z), float(-(mu * occupation).sum()), occupation, float(a[0] + gap))


def _along_the_path(y, d):
    """z - a_k (nodes, N) at the heights y of the path, and the exponent there, real, minus the one at the saddle."""
    x = _steepest_descent(y, d)
    w = x[:, None] + d + 1j * y[:, None]
    return w, len(d) * x - 0.5 * np.log(np.abs(w) / d).sum(axis=1)


def _steepest_descent(y, d):
    """x <= 0 with Im of the exponent zero at saddle + x + i y, 0 <= y < pi/2:
    the mean angle of x + d_k + i y, which falls with x, is 2 y.

    Newton steps, replaced by bisection wherever they leave the bracket, whose ends have a mean angle above and below 2
    y.
    """
    x, low, high = np.zeros_like(y), -d.max() - y / (np.pi - 2 * y), np.zeros_like(y)
    todo = np.flatnonzero(
        y > 0
    )  # at y = 0 the answer is 0; the others leave when they have settled
    for _ in range(100):
        here, height = x[todo], y[todo, None]
        real = here[:, None] + d
        excess = np.arctan2(height, real).mean(axis=1) - 2 * y[todo]
        low[todo], high[todo] = (
            np.where(excess > 0, here, low[todo]),
            np.where(excess > 0, high[todo], here),
        )
        new = here + excess / (height / (real**2 + height**2)).mean(axis=1)
        x[todo] = np.where(
            (low[todo] < new) & (new < high[todo]), new, 0.5 * (low[todo] + high[todo])
        )
        todo = todo[np.abs(x[todo] - here) > 1e-12 * np.abs(x[todo])]
        if not len(todo):
            break
    return x
