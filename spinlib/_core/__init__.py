"""What every module shares: the iteration loop with damping, its warning, checks of input, and frozen nouns."""
from spinlib._core._checks import (
    check_array,
    check_damping,
    check_finite,
    check_flag,
    check_integer,
    check_last_axis,
    check_numbers,
    check_probabilities,
    check_real,
    check_type,
)
from spinlib._core._iteration import ConvergenceWarning, Iteration, iterate
from spinlib._core._nouns import freeze, one_line

__all__ = [
    "ConvergenceWarning",
    "Iteration",
    "check_array",
    "check_damping",
    "check_finite",
    "check_flag",
    "check_integer",
    "check_last_axis",
    "check_numbers",
    "check_probabilities",
    "check_real",
    "check_type",
    "freeze",
    "iterate",
    "one_line",
]
