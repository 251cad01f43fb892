"""The result of every inference routine, and the checks that they share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from spinlib._core import ConvergenceWarning, Iteration, check_real, one_line
from spinlib.spin_glass import SpinGlass


@dataclass(frozen=True, eq=False, repr=False)
class Marginals:
    """Means and variances of the spins, and how they were found.

    ``mean`` (n,); ``var`` (n,), or None where a solver does not compute it; ``converged``; ``n_iter`` sweeps
    (0 for a direct solver); ``residual`` of the last sweep; ``history`` (n_iter,) of residuals; ``reason``, '' or why
    it stopped without convergence, in words. Then the arrays hold the last state before things went wrong.

    >>> from spinlib.inference import ground_state
    >>> from spinlib.spin_glass import SpinGlass
    >>> ground_state(SpinGlass(J=[[0, 0], [0, 0]], h=[1, 0], lam=[1, 1]))
    Marginals(mean: (2,), var: (2,), converged=True, n_iter=0, residual=0, history: (0,), reason='')
    """

    mean: np.ndarray
    var: np.ndarray | None
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray
    reason: str = ""

    __repr__ = one_line


def marginals(
    found: Iteration,
    mean: np.ndarray,
    x: np.ndarray,
    beta: float,
    name: str,
    remedy: str,
    reason: str = "",
) -> Marginals:
    """The result of a silent iteration: x / beta are the variances; ``reason`` replaces the reason of the iteration.

    A fixed point with a variance that is not positive is none. Warns where there is no convergence.
    """
    converged, reason = found.converged, reason or found.reason
    if converged and not (x > 0).all():
        converged = False
        reason = (
            f"it settled on {int((x <= 0).sum())} variances that are not positive, and no Gaussian has these; "
            "damping does not help"
        )
    if not converged:
        warnings.warn(
            f"{name} did not converge: {reason}; {remedy}", ConvergenceWarning, stacklevel=3
        )
    return Marginals(mean, x / beta, converged, found.n_iter, found.residual, found.history, reason)


def relative(vector: np.ndarray, scale: np.ndarray) -> float:
    """|vector| / |scale|."""
    return float(np.linalg.norm(vector) / max(np.linalg.norm(scale), np.finfo(float).tiny))


def check_glass(glass: SpinGlass, beta: float, message_passing: bool = False) -> float:
    """beta as a float, of a SpinGlass, for message passing one with positive stiffnesses, or an error in words."""
    if not isinstance(glass, SpinGlass):
        raise TypeError(
            f"glass must be a SpinGlass, got {type(glass).__name__}; "
            "icl.to_spin_glass(prompts, ridge) makes one"
        )
    if message_passing and not (glass.lam > 0).all():
        raise ValueError(
            f"message passing needs lam > 0 for every spin, got {glass.lam.min():.3g}; a spin without "
            "stiffness has no ground state: raise the ridge"
        )
    return check_beta(beta)


def check_beta(beta: float) -> float:
    """beta as a positive float, or an error in words."""
    return check_real("beta", beta, above=0, hint="it is the inverse temperature")
