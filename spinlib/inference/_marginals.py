"""The result of every inference routine, and the checks that they share."""
from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from spinlib._core import ConvergenceWarning, check_real
from spinlib.spin_glass import SpinGlass

REMEDY = ("raise damping (it helps where only the means oscillate), or use ground_state or sample_amp "
           "(nothing helps `amp` and `relaxed_bp` where the variance recursion has no positive fixed point)")


@dataclass(frozen=True)
class Marginals:
    """Means and variances of the spins, and how they were found.

    ``mean`` (n,); ``var`` (n,), or None where a solver does not compute it; ``converged``; ``n_iter`` sweeps
    (0 for a direct solver); ``residual`` of the last sweep; ``history`` (n_iter,) of residuals.
    Without convergence the arrays hold the last finite state, whose variances need not be positive.
    """

    mean: np.ndarray
    var: np.ndarray | None
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray


def marginals(found, mean, x, beta, name):
    """The result of message passing: x / beta are the variances, and a fixed point where one is not positive is none."""
    converged = found.converged
    if converged and not (x > 0).all():
        converged = False
        warnings.warn(f"{name} settled on {int((x <= 0).sum())} variances that are not positive: no Gaussian has these "
                      f"messages; {REMEDY}", ConvergenceWarning, stacklevel=3)
    return Marginals(mean, x / beta, converged, found.n_iter, found.residual, found.history)


def relative(vector, scale):
    """|vector| / |scale|."""
    return float(np.linalg.norm(vector) / max(np.linalg.norm(scale), np.finfo(float).tiny))


def check_glass(glass, beta, message_passing=False):
    """beta as a float, where glass is a SpinGlass and message passing has positive stiffnesses, or an error in words."""
    if not isinstance(glass, SpinGlass):
        raise TypeError(f"glass must be a SpinGlass, got {type(glass).__name__}; icl.to_spin_glass(prompts, ridge) makes one")
    if message_passing and not (glass.lam > 0).all():
        raise ValueError(f"message passing needs lam > 0 for every spin, got {glass.lam.min():.3g}; a spin without stiffness has "
                         "no ground state: raise the ridge")
    return check_real("beta", beta, above=0, hint="it is the inverse temperature")
