"""Softmax attention as a memory: one update of the modern Hopfield network, in numpy."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from spinlib._core import check_array, check_last_axis, check_real


def retrieve(patterns: ArrayLike, x: ArrayLike, beta: float = 1.0) -> np.ndarray:
    r"""One update of queries: :math:`x\to\sum_\mu\xi^\mu\,\mathrm{softmax}_\mu(\beta\,x\cdot\xi^\mu)`.

    The patterns (N, d) are keys and values, and x is (..., d), with one query in each row, as is the result. The
    scores have no 1/sqrt(d): for patterns of length sqrt(d) they are beta d times the overlap. The energy
    :math:`|x|^2/2-\ln\sum_\mu e^{\beta x\cdot\xi^\mu}/\beta` falls by at least half the square of the step. Source:
    Ramsauer et al. (2020). Raises ValueError for empty or unequal shapes and for beta <= 0.

    >>> from spinlib.attention import retrieve
    >>> print(retrieve([[3.0, 0], [0, 3.0]], [1.0, 0.5], beta=2.0).round(2))
    [2.86 0.14]
    """
    patterns = check_array("patterns", patterns, (None, None), "one pattern a row")
    beta = check_real("beta", beta, above=0)
    x = check_last_axis("x", x, patterns.shape[1], hint="as many components as a pattern")
    return softmax(beta * (x @ patterns.T), axis=-1) @ patterns
