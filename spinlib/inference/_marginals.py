"""The result of every inference routine, and the checks that they share."""

from dataclasses import dataclass, replace

import numpy as np

from spinlib._core import Found, check_real, check_type, warn
from spinlib.spin_glass import SpinGlass


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Marginals(Found):
    """Means ``mean`` (n,) and variances ``var`` (n,) of the spins, and how they were found.

    The other fields are ``state``, which ``start=`` of the solver takes, ``converged``, ``n_iter`` (0 for a direct
    solver), ``residual``, ``history`` (n_iter,) and ``reason``, which is '' or gives in words why the solver stopped
    without convergence. In that case the arrays hold the last state before things went wrong. A solver without
    variances has no ``var``.

    >>> from spinlib.inference import ground_state
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = ground_state(SpinGlass(J=[[0, 0], [0, 0]], h=[1, 0], lam=[1, 1]))
    >>> found.mean, found.var, found.converged
    (array([1., 0.]), array([1., 1.]), True)
    """

    mean: np.ndarray
    _var: np.ndarray | None = None

    @property
    def var(self) -> np.ndarray:
        """Variances of the spins, (n,); AttributeError where the solver gives none."""
        if self._var is None:
            raise AttributeError(
                "this result has no variances (var): ground_state and sample_amp compute them"
            )
        return self._var


def marginals(
    found: Found,
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
    how = vars(replace(found, converged=converged, reason=reason, _trail=()))
    return Marginals(mean=mean, _var=x / beta, **how)


def relative(vector: np.ndarray, scale: np.ndarray) -> float:
    """|vector| / |scale|."""
    return float(np.linalg.norm(vector) / max(np.linalg.norm(scale), np.finfo(float).tiny))


def check_glass(glass: SpinGlass, beta: float, message_passing: bool = False) -> float:
    """beta as a float, of a SpinGlass, for message passing one with positive stiffnesses, or an error in words."""
    check_type("glass", glass, SpinGlass, "icl.to_spin_glass(prompts, ridge) makes one")
    if message_passing and not (glass.lam > 0).all():
        raise ValueError(
            f"message passing needs lam > 0 for every spin, got {glass.lam.min():.3g}; a spin without "
            "stiffness has no ground state: raise the ridge"
        )
    return check_real("beta", beta, above=0, minimum=1e-75, hint="it is the inverse temperature")
