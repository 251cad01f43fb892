"""The result of every inference routine, and the checks that they share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spinlib._core import ConvergenceWarning, Found, Iteration, check_real, one_line
from spinlib.spin_glass import SpinGlass


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Marginals(Found):
    """Means ``mean`` (n,) and variances ``var`` (n,) of the spins, and how they were found.

    Beside them stand ``state``, which ``start=`` of the solver takes, ``converged``, ``n_iter`` (0 for a direct
    solver), ``residual``, ``history`` (n_iter,) and ``reason``, '' or why it stopped without convergence, in words.
    Then the arrays hold the last state before things went wrong. A solver without variances has no ``var``.

    >>> from spinlib.inference import ground_state
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = ground_state(SpinGlass(J=[[0, 0], [0, 0]], h=[1, 0], lam=[1, 1]))
    >>> found.mean, found.var, found.converged
    (array([1., 0.]), array([1., 1.]), True)
    """

    mean: np.ndarray
    _var: np.ndarray | None = None

    __repr__ = one_line

    @property
    def var(self) -> np.ndarray:
        """Variances of the spins, (n,); AttributeError where the solver gives none."""
        if self._var is None:
            raise AttributeError(
                "this result has no variances (var): ground_state and sample_amp compute them"
            )
        return self._var


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
    warn(name, "" if converged else reason, remedy, stacklevel=4)
    how = story(found) | {"converged": converged, "reason": reason}
    return Marginals(mean=mean, _var=x / beta, **how)


def story(found: Found) -> dict[str, Any]:
    """What every result says of how it was found."""
    return {field.name: getattr(found, field.name) for field in fields(Found)}


def warn(name: str, reason: str, remedy: str, stacklevel: int = 3) -> None:
    """ConvergenceWarning for the caller of a solver that has a reason not to have converged."""
    if reason:
        words = f"{name} did not converge: {reason}; {remedy}"
        warnings.warn(words, ConvergenceWarning, stacklevel=stacklevel)


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
    return check_real("beta", beta, above=0, minimum=1e-75, hint="it is the inverse temperature")
