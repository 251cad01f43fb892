"""What every module shares: the iteration loop with damping, its warning, checks of input, and frozen nouns."""

from spinlib._core._checks import (
    RNG,
    check_array,
    check_device,
    check_finite,
    check_flag,
    check_integer,
    check_last_axis,
    check_noise,
    check_numbers,
    check_real,
    check_rng,
    check_type,
    check_whole,
    need,
)
from spinlib._core._iteration import Callback, ConvergenceWarning, Found, iterate, warn
from spinlib._core._nouns import Noun, Result, freeze, one_line
from spinlib._core._threads import one_thread

__all__ = [
    "Callback",
    "ConvergenceWarning",
    "Found",
    "Noun",
    "RNG",
    "Result",
    "check_array",
    "check_device",
    "check_finite",
    "check_flag",
    "check_integer",
    "check_last_axis",
    "check_noise",
    "check_numbers",
    "check_real",
    "check_rng",
    "check_type",
    "check_whole",
    "freeze",
    "iterate",
    "need",
    "one_line",
    "one_thread",
    "warn",
]
