"""The one iteration loop with damping, and its warning."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core._checks import check_array, check_integer, check_real
from spinlib._core._nouns import one_line

Callback: TypeAlias = Callable[[tuple[np.ndarray, ...], float], object] | None
TINY = np.finfo(float).tiny
HEAD, GROWTH = 10, 1e8  # a run diverges if entries grow so much over those of its first sweeps


class ConvergenceWarning(RuntimeWarning):
    """An iteration stopped before it reached its tolerance; its result says ``converged=False``."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Found:
    """What every iterative solver returns: where it ended, and how.

    ``state``, arrays from which ``start=`` goes on; ``converged``; ``n_iter`` sweeps (0 for a direct solver);
    ``residual``, the last finite one; ``history`` (n_iter,) of residuals; ``reason``, '' or why it stopped without
    convergence, in words. After a divergence the state is the one that changed least, measured by the first sweeps.
    """

    state: tuple[np.ndarray, ...] = field(repr=False)
    converged: bool = True
    n_iter: int = 0
    residual: float = 0.0
    history: np.ndarray = field(default_factory=lambda: np.empty(0))
    reason: str = ""
    _trail: tuple = field(default=(), repr=False)  # the last three states

    __repr__ = one_line


def iterate(
    step: Callable,
    state: tuple[np.ndarray, ...],
    *,
    damping: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 500,
    name: str = "the iteration",
    remedy: str = "raise damping or max_iter",
    fault: Callable[[tuple], str] | None = None,
    measure: Callable[[tuple], float] | None = None,
    silent: bool = False,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Found:
    """Iterate ``state <- (1 - damping) step(state) + damping state`` until step changes nothing.

    The residual of a sweep is the largest change that ``step`` proposes, relative to the largest entry, over
    the arrays of the state, or ``measure`` of the proposed state. It is taken before damping, so a heavily damped run
    is not mistaken for a converged one. Without damping nothing is mixed: the proposed state is the next one.

    Three things end a run early, because no later sweep can help: entries that are not finite; entries ``GROWTH`` times
    as large as any of the first ``HEAD`` sweeps (a linear iteration that converges grows at most as the number of
    sweeps); and ``fault``, which may say in words why a proposed state is impossible ('' where it is not). The state of
    a fault is the one before it. Not converging warns, unless ``silent``: then the caller does.

    ``callback(state, residual)`` is called after every sweep with the state from which the next one goes; a run that
    is given this state as ``start`` goes on with the same bits. It counts sweeps, and watches growth, from there.

    >>> import numpy as np
    >>> from spinlib._core import iterate
    >>> found = iterate(lambda s: (np.cos(s[0]),), (np.array([1.0]),), name="cos")
    >>> print(found.converged, f"{found.state[0][0]:.5f}")
    True 0.73909
    """
    damping = check_real(
        "damping", damping, minimum=0, below=1, hint="it is the weight of the OLD value; 0 is none"
    )
    tol, max_iter = check_real("tol", tol, above=0), check_integer("max_iter", max_iter, 1)
    if start is not None:
        state = _started(start, state)
    if callback is not None and not callable(callback):
        raise TypeError(
            f"callback must be a function of (state, residual), got {type(callback).__name__}"
        )
    history: list[float] = []
    converged, why, trail = False, "", (state, state, state)
    best, least = state, np.inf
    first = [_largest(array) for array in state]
    with np.errstate(all="ignore"):  # a diverging sweep is reported below, once, in words
        for sweep in range(max_iter):
            proposed = step(state)
            why = fault(proposed) if fault else ""
            if why:
                break
            sizes = [_largest(new) for new in proposed]
            moves = [_largest(new - old) for new, old in zip(proposed, state, strict=True)]
            change = (
                measure(proposed)
                if measure
                else max(move / max(size, TINY) for move, size in zip(moves, sizes))
            )
            if not np.isfinite([change, *sizes]).all():
                why, state = "it left the finite numbers", best
                break
            history.append(change)
            converged = bool(change < tol)
            if sweep < HEAD:
                first = [max(pair) for pair in zip(first, sizes)]
            elif not converged and any(
                size > GROWTH * begun > 0 for size, begun in zip(sizes, first)
            ):
                why, state = f"its entries grew more than {GROWTH:.0e} times as they began", best
                break
            if damping > 0 and not converged:
                proposed = tuple(
                    (1 - damping) * new + damping * old for new, old in zip(proposed, state)
                )
            state, trail = proposed, (*trail[1:], proposed)
            moved = max(move / max(begun, TINY) for move, begun in zip(moves, first))
            if moved <= least:
                best, least = state, moved
            if callback:
                callback(state, change)
            if converged:
                break
    residual = history[-1] if history else np.inf
    why = why or f"it stopped at residual {residual:.1e} > tol {tol:.1e}"
    why += f" after {len(history)} sweeps with damping {damping:g}"
    if not silent:
        warn(name, "" if converged else why, remedy, stacklevel=4)
    return Found(
        state=state,
        converged=converged,
        n_iter=len(history),
        residual=residual,
        history=np.array(history),
        reason="" if converged else why,
        _trail=trail,
    )


def warn(name: str, reason: str, remedy: str, stacklevel: int = 3) -> None:
    """ConvergenceWarning for the caller of a solver that has a reason not to have converged."""
    if reason:
        warnings.warn(
            f"{name} did not converge: {reason}; {remedy}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def _started(start, state):
    """``start`` as a state of these shapes."""
    if not isinstance(start, (tuple, list)) or len(start) != len(state):
        raise TypeError(
            f"start must be a state as callback is given it, {len(state)} arrays of shapes "
            f"{', '.join(str(array.shape) for array in state)}, got {type(start).__name__}"
        )
    return tuple(
        check_array(f"start[{k}]", new, old.shape, "start is a state as callback is given it")
        for k, (new, old) in enumerate(zip(start, state))
    )


def _largest(array: np.ndarray) -> float:
    # of two NaN, max is NaN; no array of absolute values is made
    return max(float(array.max()), -float(array.min()))
