"""The one iteration loop with damping, and its warning."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spinlib._core._checks import check_damping, check_integer, check_real


class ConvergenceWarning(RuntimeWarning):
    """An iteration stopped before it reached its tolerance; its result says ``converged=False``."""


@dataclass(frozen=True)
class Iteration:
    """Outcome of :func:`iterate`: the last finite state, whether it is a fixed point, and how the residual fell.

    ``history`` (n_iter,) holds the residual of every sweep, ``residual`` the last finite one.
    """

    state: tuple[np.ndarray, ...]
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray


def iterate(step: Callable, state: tuple[np.ndarray, ...], *, damping: float = 0.0, tol: float = 1e-10,
            max_iter: int = 500, name: str = "the iteration", remedy: str = "raise damping or max_iter",
            stacklevel: int = 3) -> Iteration:
    """Iterate ``state <- (1 - damping) step(state) + damping state`` until step changes nothing.

    The residual of a sweep is the largest change that ``step`` proposes, relative to the largest entry, over
    the arrays of the state. It is taken before damping, so a heavily damped run is not mistaken for a converged one.
    A state that stops being finite ends the loop; the last finite one is returned. Not converging warns.

    >>> import numpy as np
    >>> from spinlib._core import iterate
    >>> found = iterate(lambda s: (np.cos(s[0]),), (np.array([1.0]),), name="cos")
    >>> print(found.converged, f"{found.state[0][0]:.5f}")
    True 0.73909
    """
    damping, tol, max_iter = check_damping(damping), check_real("tol", tol, above=0), check_integer("max_iter", max_iter, 1)
    history = []
    converged = False
    with np.errstate(all="ignore"):  # a diverging sweep is reported below, once, in words
        for _ in range(max_iter):
            proposed = step(state)
            change = max(float(np.max(np.abs(new - old))) / max(float(np.max(np.abs(new))), np.finfo(float).tiny)
                         for new, old in zip(proposed, state, strict=True))
            if not (np.isfinite(change) and all(np.isfinite(new).all() for new in proposed)):
                break
            history.append(change)
            if change < tol:
                state, converged = proposed, True
                break
            state = tuple((1 - damping) * new + damping * old for new, old in zip(proposed, state, strict=True))
    residual = history[-1] if history else float("inf")
    if not converged:
        how = "left the finite numbers" if len(history) < max_iter else f"stopped at residual {residual:.1e} > tol {tol:.1e}"
        warnings.warn(f"{name} did not converge: it {how} after {len(history)} sweeps with damping {damping:g}; {remedy}",
                      ConvergenceWarning, stacklevel=stacklevel)
    return Iteration(state, converged, len(history), residual, np.array(history))
