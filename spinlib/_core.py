"""What every module shares: the one iteration loop with damping, its warning, and the checks of input."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np


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


# --- checks: each names what was given, what is allowed and what to do ---------------------------------------------

def check_integer(name: str, value, minimum: int, hint: str = "") -> int:
    """``value`` as int, at least ``minimum``; a float such as 3.0 is refused rather than rounded."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}; write {name}={_guess(value)}{_and(hint)}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}{_and(hint)}")
    return int(value)


def check_real(name: str, value, *, above: float | None = None, minimum: float | None = None,
               below: float | None = None, maximum: float | None = None, hint: str = "") -> float:
    """``value`` as a finite float inside the stated bounds (``above`` and ``below`` are open, the others closed)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {value!r} of type {type(value).__name__}{_and(hint)}")
    value = float(value)
    inside = (np.isfinite(value) and (above is None or value > above) and (minimum is None or value >= minimum)
              and (below is None or value < below) and (maximum is None or value <= maximum))
    if not inside:
        words = [f"> {above:g}" if above is not None else "", f">= {minimum:g}" if minimum is not None else "",
                 f"< {below:g}" if below is not None else "", f"<= {maximum:g}" if maximum is not None else ""]
        allowed = " and ".join(w for w in words if w) or "any finite number"
        raise ValueError(f"{name} must be finite and {allowed}, got {value}{_and(hint)}")
    return value


def check_damping(value) -> float:
    """The weight of the old value, in [0, 1)."""
    return check_real("damping", value, minimum=0, below=1, hint="it is the weight of the OLD value; 0 is no damping")


def check_array(name: str, value, shape: tuple[int | None, ...], hint: str = "") -> np.ndarray:
    """``value`` as a finite float64 array of the stated shape; None in ``shape`` allows any length."""
    array = check_numbers(name, value, hint)
    if array.ndim != len(shape) or any(want is not None and have != want for have, want in zip(array.shape, shape)):
        allowed = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}{_and(hint)}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {int((~np.isfinite(array)).sum())} NaN or infinite entries{_and(hint)}")
    return array


def check_numbers(name: str, value, hint: str = "") -> np.ndarray:
    """``value`` as a float64 array of any shape; text and complex numbers are refused rather than read or cut."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "cSU":
            raise TypeError(f"its entries are of type {array.dtype}")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers, got {type(value).__name__}: {error}{_and(hint)}") from error


def check_finite(name: str, value, *, minimum: float | None = None, hint: str = "") -> np.ndarray:
    """``value`` as a finite float64 array of any shape, not below ``minimum``."""
    array = check_numbers(name, value, hint)
    bad = ~np.isfinite(array) if minimum is None else ~((array >= minimum) & (array < np.inf))
    if bad.any():
        allowed = "" if minimum is None else f" and >= {minimum:g}"
        raise ValueError(f"{name} must be finite{allowed}, got {array[bad].flat[0]} in {bad.sum()} of {array.size} entries{_and(hint)}")
    return array


def check_probabilities(name: str, value, shape: tuple[int | None, ...], hint: str = "") -> np.ndarray:
    """``value`` as by :func:`check_array`, its entries >= 0 and the sums over the last axis 1."""
    array = check_array(name, value, shape, hint)
    sums = array.sum(axis=-1)
    if (array < 0).any() or (np.abs(sums - 1) > 1e-8).any():
        raise ValueError(f"{name} must be >= 0 and sum to 1, got least {array.min():g} and sums from {sums.min():g} to {sums.max():g}; "
                         "divide weights by their sum")
    return array


def check_type(name: str, value, kind: type | tuple[type, ...], remedy: str):
    """``value`` itself, of the class ``kind`` or of one of these classes."""
    if not isinstance(value, kind):
        allowed = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise TypeError(f"{name} must be of type {allowed}, got {type(value).__name__}; {remedy}")
    return value


def check_flag(name: str, value) -> bool:
    """``value`` as bool; anything else, such as "no" or 1, is refused rather than read as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r} of type {type(value).__name__}")
    return bool(value)


def _guess(value):
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return "a whole number"


def _and(hint: str) -> str:
    return f"; {hint}" if hint else ""
