"""Checks of input: each names what was given, what is allowed and what to do."""

from __future__ import annotations

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
        words = f'{module} needs {package}, which is missing: pip install ".[all]" in the folder of the book'
        raise ModuleNotFoundError(words, name=package)


def check_integer(name: str, value: Any, minimum: int, hint: str = "") -> int:
    """``value`` as int, at least ``minimum``, at most 2^63 - 1; a float such as 3.0 is refused rather than rounded."""
    _unmasked(name, value)
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be an integer, got {_show(value)} of type {type(value).__name__}; "
            f"write {name}={_guess(value)}{_and(hint)}"
        )
    if value < minimum:  # type: ignore[operator]
        raise ValueError(f"{name} must be at least {minimum}, got {_show(value)}{_and(hint)}")
    if value > LARGEST:  # type: ignore[operator]
        raise ValueError(
            f"{name} must be at most {LARGEST}, as every size of an array, got {_show(value)}{_and(hint)}"
        )
    return int(value)


def check_rng(value: Any) -> np.random.Generator:
    """The generator that ``rng`` stands for: a Generator itself, or a new one from None (no seed), a whole number >= 0
    or a list of such numbers."""
    if value is None or isinstance(
        value, (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
    ):
        return np.random.default_rng(value)
    many = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    entries = list(value) if many else [value]
    if not all(
        isinstance(e, Integral) and not isinstance(e, (bool, np.timedelta64)) for e in entries
    ):
        raise TypeError(
            "rng must be None, a whole number, a list of whole numbers or a numpy Generator, "
            f"got {_show(value)} of type {type(value).__name__}; write rng=0"
        )
    if any(entry < 0 for entry in entries):
        raise ValueError(f"rng must be at least 0 as a seed, got {_show(value)}; write rng=0")
    return np.random.default_rng(value)


def check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    minimum: float | None = None,
    below: float | None = None,
    maximum: float | None = None,
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
    inside = (
        np.isfinite(number)
        and (above is None or number > above)
        and (minimum is None or number >= minimum)
        and (below is None or number < below)
        and (maximum is None or number <= maximum)
    )
    if not inside:
        words = [
            f"> {above:g}" if above is not None else "",
            f">= {minimum:g}" if minimum is not None else "",
            f"< {below:g}" if below is not None else "",
            f"<= {maximum:g}" if maximum is not None else "",
        ]
        allowed = " and ".join(w for w in words if w) or "any finite number"
        raise ValueError(f"{name} must be finite and {allowed}, got {number}{_and(hint)}")
    return number


def check_noise(value: Any, above: float | None = None) -> float:
    """The standard deviation of the noise in a label."""
    return check_real(
        "noise", value, minimum=0, above=above, maximum=HUGE, hint="noise is a standard deviation"
    )


def check_damping(value: Any) -> float:
    """The weight of the old value, in [0, 1)."""
    return check_real(
        "damping",
        value,
        minimum=0,
        below=1,
        hint="it is the weight of the OLD value; 0 is no damping",
    )


def check_array(name: str, value: Any, shape: tuple[int | None, ...], hint: str = "") -> np.ndarray:
    """``value`` as a finite float64 array of the stated shape; None in ``shape`` allows any length."""
    array = check_numbers(name, value, hint)
    if array.ndim != len(shape) or any(
        want is not None and have != want for have, want in zip(array.shape, shape)
    ):
        lengths = ", ".join("any" if n is None else str(n) for n in shape)
        allowed = f"({lengths},)" if len(shape) == 1 else f"({lengths})"
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}{_and(hint)}")
    return _bounded(name, array, hint)


def check_numbers(name: str, value: Any, hint: str = "") -> np.ndarray:
    """``value`` as a float64 array of any shape; text, dates and complex numbers are refused, not read or cut."""
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"{name} must be an array of real numbers, got a tensor with a gradient; pass {name}.detach()"
        )
    _unmasked(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind in "cSUMmV":
            raise TypeError(f"its entries are of type {array.dtype}")
        if array.dtype.kind == "O" and not all(isinstance(entry, Real) for entry in array.flat):
            wrong = next(entry for entry in array.flat if not isinstance(entry, Real))
            raise TypeError(f"one of its entries is {_show(wrong)} of type {type(wrong).__name__}")
        with np.errstate(
            over="ignore"
        ):  # a long double beyond the others is inf: refused, or allowed, as such
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise TypeError(
            f"{name} must be an array of real numbers, got {type(value).__name__}: "
            f"{error}{_and(hint)}"
        ) from error


def check_finite(
    name: str, value: Any, *, minimum: float | None = None, hint: str = ""
) -> np.ndarray:
    """``value`` as a finite float64 array of any shape, not below ``minimum``."""
    return _bounded(
        name, check_numbers(name, value, hint), hint, -HUGE if minimum is None else minimum
    )


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


def _bounded(name, array, hint, minimum=-HUGE):
    """The array, all of whose entries are numbers that can be multiplied; without a copy where they are."""
    if minimum <= array.min(initial=HUGE) and array.max(initial=-HUGE) <= HUGE:
        return array
    bad = ~((array >= minimum) & (array <= HUGE))
    first, allowed = array[bad].flat[0], "" if minimum == -HUGE else f" and >= {minimum:g}"
    units = (
        f"; numbers here go up to {HUGE:g}, choose other units"
        if HUGE < abs(first) < np.inf
        else ""
    )
    raise ValueError(
        f"{name} must be finite{allowed}, got {first} in {bad.sum()} of {array.size} entries"
        f"{units}{_and(hint)}"
    )


def check_whole(name: str, value: Any, hint: str = "") -> np.ndarray:
    """``value`` as an array of integers of any shape."""
    _unmasked(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must be rows of equal length, got {_show(value)}{_and(hint)}"
        ) from error
    if array.size and array.dtype.kind not in "iu":
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


def check_probabilities(
    name: str, value: Any, shape: tuple[int | None, ...], hint: str = ""
) -> np.ndarray:
    """``value`` as by :func:`check_array`, its entries >= 0 and the sums over the last axis 1."""
    array = check_array(name, value, shape, hint)
    sums = array.sum(axis=-1)
    if (array < 0).any() or (np.abs(sums - 1) > 1e-8).any():
        raise ValueError(
            f"{name} must be >= 0 and sum to 1, got least {min(array.flat, default=0):g} and sums from "
            f"{sums.min():g} to {sums.max():g}; divide weights by their sum"
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
        gpu = "there is a GPU for 'cuda'" if torch.cuda.is_available() else "this torch sees no GPU"
        raise ValueError(
            f"device must name a device that torch can use, got {_show(name)}; 'cpu' always works, "
            f"{gpu}"
        ) from error
    return device


def check_flag(name: str, value: Any) -> bool:
    """``value`` as bool; anything else, such as "no" or 1, is refused rather than read as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{name} must be True or False, got {value!r} of type {type(value).__name__}"
        )
    return bool(value)


def _guess(value):
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return "a whole number"


def _show(value) -> str:
    """repr, cut where it is long: a whole number may have a thousand digits, an array a thousand lines."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write whole numbers of more than 4300 digits
        return "a very large number"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _and(hint: str) -> str:
    return f"; {hint}" if hint else ""
