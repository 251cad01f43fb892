"""The one iteration loop with damping, and its warning."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spinlib._core._checks import check_damping, check_flag, check_integer, check_real
from spinlib._core._files import DAMAGED, read_arrays, write_arrays
from spinlib._core._nouns import one_line

TINY = np.finfo(float).tiny
HEAD, GROWTH = (
    10,
    1e8,
)  # a run whose entries grow a hundred millionfold over those of its first ten sweeps diverges


class ConvergenceWarning(RuntimeWarning):
    """An iteration stopped before it reached its tolerance; its result says ``converged=False``."""


@dataclass(frozen=True, eq=False, repr=False)
class Iteration:
    """Outcome of :func:`iterate`: a state, whether it is a fixed point, how the residual fell, and why it stopped.

    ``history`` (n_iter,) holds the residual of every sweep, ``residual`` the last finite one. ``reason`` is '' after
    convergence. After a divergence ``state`` is the one that changed least, measured by the sizes of the first sweeps,
    and ``last`` the state that the run had reached (elsewhere the two are the same).
    """

    state: tuple[np.ndarray, ...]
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray
    reason: str = ""
    last: tuple[np.ndarray, ...] = ()

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
    fault: Callable[[tuple[np.ndarray, ...]], str] | None = None,
    measure: Callable[[tuple[np.ndarray, ...]], float] | None = None,
    silent: bool = False,
    stacklevel: int = 3,
    checkpoint: str | os.PathLike | None = None,
    mark: str = "",
) -> Iteration:
    """Iterate ``state <- (1 - damping) step(state) + damping state`` until step changes nothing.

    The residual of a sweep is the largest change that ``step`` proposes, relative to the largest entry, over
    the arrays of the state, or ``measure`` of the proposed state. It is taken before damping, so a heavily damped run
    is not mistaken for a converged one. Without damping nothing is mixed: the proposed state is the next one.

    Three things end a run early, because no later sweep can help: entries that are not finite; entries ``GROWTH`` times
    as large as any of the first ``HEAD`` sweeps (a linear iteration that converges grows at most as the number of
    sweeps); and ``fault``, which may say in words why a proposed state is impossible ('' where it is not). The state of
    a fault is the one before it. Not converging warns, unless ``silent``: then the caller does.

    ``checkpoint``, a file, is written after every sweep; where it is there, the run goes on from it with the same bits,
    and one that had converged is returned. ``mark`` says whose it is: ValueError for the file of another run, and for a
    damaged one.

    >>> import numpy as np
    >>> from spinlib._core import iterate
    >>> found = iterate(lambda s: (np.cos(s[0]),), (np.array([1.0]),), name="cos")
    >>> print(found.converged, f"{found.state[0][0]:.5f}")
    True 0.73909
    """
    damping, tol = check_damping(damping), check_real("tol", tol, above=0)
    max_iter, silent = check_integer("max_iter", max_iter, 1), check_flag("silent", silent)
    history: list[float] = []
    converged, why, sane = False, "", None
    best, least = state, np.inf
    first = [_largest(array) for array in state]
    path = None if checkpoint is None else Path(checkpoint)
    if path and path.exists():
        state, best, least, first, history = _resume(path, mark)
        converged = history[-1] < tol
    with np.errstate(all="ignore"):  # a diverging sweep is reported below, once, in words
        for sweep in range(len(history), 0 if converged else max_iter):
            proposed = step(state)
            why = fault(proposed) if fault else ""
            if why:
                break
            sizes = [_largest(new) for new in proposed]
            moves = [_largest(new - old) for new, old in zip(proposed, state, strict=True)]
            change = (
                measure(proposed)
                if measure
                else max(m / max(size, TINY) for m, size in zip(moves, sizes))
            )
            if not np.isfinite([change, *sizes]).all():
                why, sane = "it left the finite numbers", best
                break
            history.append(change)
            if change < tol:
                state, converged = proposed, True
                break
            if sweep < HEAD:
                first = [max(pair) for pair in zip(first, sizes)]
            elif any(size > GROWTH * start > 0 for size, start in zip(sizes, first)):
                why, sane = (
                    f"its entries grew more than {GROWTH:.0e} times as large as they began",
                    best,
                )
                break
            state = (
                proposed
                if damping == 0
                else tuple(
                    (1 - damping) * new + damping * old
                    for new, old in zip(proposed, state, strict=True)
                )
            )
            moved = max(move / max(start, TINY) for move, start in zip(moves, first))
            if moved <= least:
                best, least = state, moved
            if path:
                _keep(path, mark, state, best, least, first, history)
    if path and converged:
        _keep(path, mark, state, best, least, first, history)
    residual = history[-1] if history else float("inf")
    reason = (
        ""
        if converged
        else (
            f"{why or f'it stopped at residual {residual:.1e} > tol {tol:.1e}'} "
            f"after {len(history)} sweeps with damping {damping:g}"
        )
    )
    if reason and not silent:
        warnings.warn(
            f"{name} did not converge: {reason}; {remedy}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
    return Iteration(
        sane or state, converged, len(history), residual, np.array(history), reason, state
    )


def _keep(path, mark, state, best, least, first, history):
    states = {"state": state} if best is state else {"state": state, "best": best}
    write_arrays(
        path,
        {"mark": np.array(mark), "history": np.array(history), "guards": np.array([least, *first])}
        | {
            f"{name}{k}": array for name, arrays in states.items() for k, array in enumerate(arrays)
        },
        zipfile.ZIP_STORED,
    )


def _resume(path, mark):
    try:
        found = read_arrays(path)
        other, history, (least, *first) = (
            str(found["mark"]),
            found["history"].tolist(),
            found["guards"].tolist(),
        )
        state, best = (
            tuple(found[f"{name}{k}"] for k in range(len(first)) if f"{name}{k}" in found)
            for name in ("state", "best")
        )
    except DAMAGED:
        raise ValueError(
            f"{path} is no checkpoint, or a damaged one; delete it, or name another file"
        ) from None
    if other != mark:
        raise ValueError(
            f"{path} is the checkpoint of another run (solver, prompts, ridge, damping or precision); "
            "delete it, or name another file"
        )
    return state, best or state, least, first, history


def _largest(array: np.ndarray) -> float:
    return max(
        float(array.max()), -float(array.min())
    )  # of two NaN, max is NaN; no array of absolute values is made
