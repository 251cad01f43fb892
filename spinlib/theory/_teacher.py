"""What a law has to know of the features of a linear fit: directions in groups, and what the labels owe to each."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_finite, check_integer, check_real, freeze, one_line


@dataclass(frozen=True, eq=False, repr=False)
class Teacher:
    """Independent directions of features, in groups of one variance, and the best linear prediction w . s of a label.

    ``variance`` (groups,) of a feature; ``signal`` (groups,), the sum of w_i^2 over a group; ``unexplained``, the
    variance of the label that w leaves; ``count`` of directions, (groups,) or one number for all, not necessarily
    whole. ValueError for shapes that differ, negative entries, variances of 0 and counts below 1.

    >>> from spinlib.theory import Teacher
    >>> Teacher(variance=[1.0, 0.1], signal=[0.5, 0.5], unexplained=0.25, count=[10, 1000]).label
    0.8
    """

    variance: np.ndarray
    signal: np.ndarray
    unexplained: float
    count: ArrayLike = 1

    __repr__ = one_line

    def __post_init__(self):
        a = check_array("variance", self.variance, (None,), hint="one variance a group")
        if not a.size:
            raise ValueError("variance must hold at least one group, got none; "
                             "give the variance of a feature of each group")
        check_finite("variance", a[a <= 0], minimum=np.finfo(float).tiny, hint="leave out directions without features")
        signal = check_array("signal", self.signal, a.shape, hint="one sum of squares a group")
        check_finite("signal", signal, minimum=0.0, hint="it is a sum of squares")
        count = check_finite("count", self.count, minimum=1, hint="count the directions of a group")
        count = check_array("count", count, a.shape, hint="one number a group") if count.ndim else np.full(a.shape, count)
        freeze(self, variance=a, signal=signal, count=count)
        object.__setattr__(self, "unexplained", check_real("unexplained", self.unexplained, minimum=0))

    @property
    def label(self) -> float:
        """Mean square of a label: the error of the prediction 0."""
        return self.unexplained + float(self.variance @ self.signal)


def prompt_teacher(D: int, N: int, noise: float = 0.0) -> Teacher:
    r"""The features s = u (x) query of the prompts of in-context linear regression, in two groups.

    D^2 directions of W11 have variance a = [1 + (D + 1 + D noise^2) / N] / D and hold the best weights, c = 1 / (D a)
    on the diagonal; the D directions of the row of the labels have variance b = (1 + 2/N) (1 + 2/D + 2 noise^2 +
    noise^4) and hold nothing; 1 + noise^2 - c stays unexplained. ``noise`` as in :class:`spinlib.icl.LinearTask`.
    Variances are exact. That directions act as independent ones is true for D -> infinity. ValueError for D, N < 1 and
    noise < 0.

    >>> from spinlib.icl import best_weights, population_error
    >>> from spinlib.theory import prompt_teacher
    >>> print(f"{prompt_teacher(20, 100).unexplained:.5f} {population_error(best_weights(20, 100), 100):.5f}")
    0.17355 0.17355
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    rho = check_real("noise", noise, minimum=0)**2
    a, b = (1 + (D + 1 + D * rho) / N) / D, (1 + 2 / N) * (1 + 2 / D + 2 * rho + rho**2)
    c = 1 / (D * a)
    return Teacher([a, b], [D * c**2, 0.0], 1 + rho - c, [D * D, D])
