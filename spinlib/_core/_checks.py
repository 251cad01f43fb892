"""Checks of input: each names what was given, what is allowed and what to do."""

from collections.abc import Sequence
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any

import numpy as np

RNG = int | Sequence[int] | np.random.Generator | None  # what ``rng`` may be, see check_rng
LARGEST = 2**63 - 1  # a size indexes arrays
HUGE = 1e75  # up to here the fourth power of a number is a number


def need(package: str, module: str) -> None:
    """ImportError that says what to install, where the optional ``package`` of ``module`` is missing."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f'{module} needs {package}, which is missing: pip install ".[all]" in the folder of the book',
            name=package,
        )


def check_integer(name: str, value: Any, minimum: int, hint: str = "") -> int:
    """``value`` as int, at least ``minimum``, at most 2^63 - 1; a float such as 3.0 is refused rather than rounded."""
    _unmasked(name, value)
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be an integer, got {_show(value)} of type {type(value).__name__}; "
            f"write one such as {minimum + 3}{_and(hint)}"
        )
    if value < minimum:  # type: ignore[operator]
        raise ValueError(f"{name} must be at least {minimum}, got {_show(value)}{_and(hint)}")
    if value > LARGEST:  # type: ignore[operator]
        raise ValueError(f"{name} must be at most {LARGEST}, as the size of an array{_and(hint)}")
    return int(value)


def check_rng(value: Any) -> np.random.Generator:
    """The generator that ``rng`` stands for: what ``numpy.random.default_rng`` takes, but no truth value."""
    try:
        if isinstance(value, (bool, np.timedelta64, np.random.RandomState)):
            raise TypeError("it is no number, list or Generator")
        return np.random.default_rng(value)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "rng must be None, a whole number >= 0, a list of such numbers or a numpy Generator, "
            f"got {_show(value)} of type {type(value).__name__}; write rng=0"
        ) from error


def check_real(
    name: str,
    value: Any,
    *,
    above: float = -np.inf,
    minimum: float = -np.inf,
    below: float = np.inf,
    maximum: float = np.inf,
    hint: str = "",
) -> float:
    """``value`` as a finite float inside the stated bounds (``above`` and ``below`` are open, the others closed)."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        raise TypeError(
            f"{name} must be a real number, got {_show(value)} of type {type(value).__name__}{_and(hint)}"
        )
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the largest float, such as 10**400
        number = np.inf if value > 0 else -np.inf  # type: ignore[operator]
    if not (above < number < below and minimum <= number <= maximum):
        bounds = {">": above, ">=": minimum, "<": below, "<=": maximum}
        stated = [f"{sign} {bound:g}" for sign, bound in bounds.items() if np.isfinite(bound)]
        allowed = " and ".join(stated) or "any finite number"
        raise ValueError(f"{name} must be finite and {allowed}, got {number}{_and(hint)}")
    return number


def check_noise(value: Any, above: float = -np.inf) -> float:
    """The standard deviation of the noise in a label."""
    return check_real(
        "noise", value, minimum=0, above=above, maximum=HUGE, hint="noise is a standard deviation"
    )


def check_array(
    name: str,
    value: Any,
    shape: tuple[int | None, ...],
    hint: str = "",
    *,
    minimum: float = -HUGE,
) -> np.ndarray:
    """``value`` as by :func:`check_finite`, of the stated shape; None in ``shape`` allows any length from 1 on."""
    array = check_finite(name, value, minimum=minimum, hint=hint)
    if array.ndim != len(shape) or any(
        have == 0 if want is None else have != want for have, want in zip(array.shape, shape)
    ):
        lengths = ", ".join("any" if n is None else str(n) for n in shape)
        allowed = f"({lengths},)" if len(shape) == 1 else f"({lengths})"
        empty = "; no axis may be empty" if 0 in array.shape else ""
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}{empty}{_and(hint)}")
    return array


def check_numbers(name: str, value: Any, hint: str = "") -> np.ndarray:
    """``value`` as a float64 array of any shape; text, dates and complex numbers are refused, not read or cut."""
    _unmasked(name, value)
    try:
        array = np.asarray(value)
        kind = array.dtype.kind
        if kind in "cSUMmV" or (kind == "O" and not all(isinstance(x, Real) for x in array.flat)):
            raise TypeError(f"its entries are of type {array.dtype}")
        with np.errstate(over="ignore"):  # a long double beyond the others is inf
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise TypeError(
            f"{name} must be an array of real numbers, got {type(value).__name__}: "
            f"{error}{_and(hint)}"
        ) from error


def _unmasked(name, value):
    """TypeError for a masked array, in lists or not: its mask would be lost without a word."""
    if isinstance(value, (list, tuple)):
        for part in value:
            _unmasked(name, part)
    elif isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be an array without a mask, got a masked one; "
            "leave the masked entries out, or fill them with .filled(number)"
        )


def check_finite(name: str, value: Any, *, minimum: float = -HUGE, hint: str = "") -> np.ndarray:
    """``value`` as a float64 array of any shape, of numbers >= ``minimum`` that can be multiplied; no copy is made."""
    array = check_numbers(name, value, hint)
    if minimum <= array.min(initial=HUGE) and array.max(initial=-HUGE) <= HUGE:
        return array
    bad = array[~((array >= minimum) & (array <= HUGE))]
    allowed = "" if minimum == -HUGE else f" and >= {minimum:g}"
    large = HUGE < abs(bad[0]) < np.inf
    units = f"; numbers here go up to {HUGE:g}, choose other units" if large else ""
    raise ValueError(
        f"{name} must be finite{allowed}, got {bad[0]} in {len(bad)} of {array.size} entries"
        f"{units}{_and(hint)}"
    )


def check_whole(name: str, value: Any, hint: str = "") -> np.ndarray:
    """``value`` as an array of integers of any shape."""
    check_numbers(name, value, hint)
    array = np.asarray(value)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must be integers, got {array.dtype}{_and(hint)}")
    return array.astype(int)


def check_last_axis(name: str, value: Any, length: int, hint: str = "") -> np.ndarray:
    """``value`` as a finite float64 array (..., ``length``) without an empty axis."""
    array = check_finite(name, value, hint=hint)
    if array.ndim == 0 or array.shape[-1] != length or array.size == 0:
        raise ValueError(
            f"{name} must have shape (..., {length}), got {array.shape}; the last axis runs over the "
            f"spins, and no axis is empty{_and(hint)}"
        )
    return array


def check_type(name: str, value: Any, kind: type | tuple[type, ...], remedy: str) -> Any:
    """``value`` itself, of the class ``kind`` or of one of these classes."""
    if not isinstance(value, kind):
        allowed = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise TypeError(f"{name} must be of type {allowed}, got {type(value).__name__}; {remedy}")
    return value


def check_device(name: Any) -> Any:
    """The torch device of that name, tried with one number, or ValueError in words."""
    need("torch", "device")
    import torch

    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"device must name a device that torch can use, got {_show(name)}; 'cpu' always works, "
            f"this torch sees {'a' if torch.cuda.is_available() else 'no'} GPU"
        ) from error
    return device


def check_flag(name: str, value: Any) -> bool:
    """``value`` as bool; anything else, such as "no" or 1, is refused rather than read as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{name} must be True or False, got {value!r} of type {type(value).__name__}"
        )
    return bool(value)


def _show(value) -> str:
    # Python refuses to write whole numbers of more than 4300 digits
    return f"{value!r:.80}" if not isinstance(value, int) or abs(value) < 10**80 else "a large one"


def _and(hint: str) -> str:
    return f"; {hint}" if hint else ""
