"""What every module shares: the one iteration loop with damping, its warning, and the checks of input."""
from spinlib._core._checks import (
    check_array,
    check_damping,
    check_finite,
    check_flag,
    check_integer,
    check_numbers,
    check_probabilities,
    check_real,
    check_type,
)
from spinlib._core._iteration import ConvergenceWarning, Iteration, iterate

__all__ = [
    "ConvergenceWarning",
    "Iteration",
    "check_array",
    "check_damping",
    "check_finite",
    "check_flag",
    "check_integer",
    "check_numbers",
    "check_probabilities",
    "check_real",
    "check_type",
    "iterate",
]
