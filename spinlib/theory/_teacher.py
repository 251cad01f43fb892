"""What a law has to know of the features of a linear fit: directions in groups, and what the labels owe to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    Noun,
    Result,
    check_array,
    check_finite,
    check_integer,
    check_noise,
    check_real,
    freeze,
)


@dataclass(frozen=True, eq=False, repr=False)
class Teacher(Noun, Result):
    """Independent directions of features, in groups of one variance, and the best linear prediction w . s of a label.

    ``variance`` (groups,) is that of a feature; ``signal`` (groups,) is the sum of w_i^2 over a group;
    ``unexplained`` is the variance of the label that w leaves; and ``count`` is the number of directions, (groups,)
    or one number for all, not necessarily an integer. Raises ValueError for shapes that differ, negative entries,
    variances of 0 and counts below 1.

    >>> from spinlib.theory import Teacher
    >>> Teacher(variance=[1.0, 0.1], signal=[0.5, 0.5], unexplained=0.25, count=[10, 1000]).label
    0.8
    """

    variance: np.ndarray
    signal: np.ndarray
    unexplained: float
    count: np.ndarray = 1  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __init__(
            self, variance: ArrayLike, signal: ArrayLike, unexplained: float, count: ArrayLike = 1
        ) -> None: ...

    def __post_init__(self):
        a = check_array("variance", self.variance, (None,), hint="one variance a group")
        check_finite(
            "variance",
            a[a <= 0],
            minimum=np.finfo(float).tiny,
            hint="leave out directions without features",
        )
        signal = check_array("signal", self.signal, a.shape, hint="one sum of squares a group")
        check_finite("signal", signal, minimum=0.0, hint="it is a sum of squares")
        count = check_finite("count", self.count, minimum=1, hint="count the directions of a group")
        count = np.broadcast_to(count, a.shape) if not count.ndim else count
        count = check_array("count", count, a.shape, hint="one number a group")
        unexplained = check_real("unexplained", self.unexplained, minimum=0)
        freeze(self, variance=a, signal=signal, count=count, unexplained=unexplained)

    @property
    def label(self) -> float:
        """Mean square of a label: the error of the prediction 0."""
        return self.unexplained + float(self.variance @ self.signal)


def prompt_teacher(D: int, N: int, noise: float = 0.0) -> Teacher:
    r"""The features s = u (x) query of the prompts of in-context linear regression, in two groups.

    The D^2 directions of W11 have variance a = [1 + (D + 1 + D noise^2) / N] / D and hold the best weights, c = 1 /
    (D a) on the diagonal. The D directions of the label row have variance b = (1 + 2/N) (1 + 2/D + 2 noise^2 +
    noise^4) and hold no signal, and 1 + noise^2 - c stays unexplained. ``noise`` is as in
    :class:`spinlib.icl.LinearTask`. The variances are exact; that directions act as independent ones is true for D ->
    infinity. Source: the chapter on the learning curve. Raises ValueError for D, N < 1 and noise < 0.

    >>> from spinlib.icl import best_weights, population_error
    >>> from spinlib.theory import prompt_teacher
    >>> print(f"{prompt_teacher(20, 100).unexplained:.5f} {population_error(best_weights(20, 100), 100):.5f}")
    0.17355 0.17355
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    rho = check_noise(noise) ** 2
    a, b = (1 + (D + 1 + D * rho) / N) / D, (1 + 2 / N) * (1 + 2 / D + 2 * rho + rho**2)
    c = 1 / (D * a)
    return Teacher([a, b], [D * c**2, 0.0], 1 + rho - c, [D * D, D])


def spectrum_teacher(
    variances: ArrayLike,
    N: int,
    noise: float = 0.0,
    *,
    fourth: ArrayLike | None = None,
    count: ArrayLike = 1,
) -> Teacher:
    r"""The features s = u (x) query of prompts whose tokens have the covariance diag(``variances``), tasks N(0, I).

    Group (i, j), row by row, has the variance e_i l_j with l = ``variances`` (groups,) and e = [l^2 + (F - l^2)/N]/D
    + noise^2 l/N; the best weights are l/(D e) on the diagonal. The last row is the label row, with variance b l_j,
    where b is Gaussian. ``fourth`` (groups,) is the diagonal of F = E (x.x) x x^T, by default the Gaussian one, 2 l^2
    + l tr. ``count`` is as in :class:`Teacher`, the number of directions in a group, D in all. Source: the chapter on
    scaling laws. Raises ValueError for variances that are not positive, N < 1, noise < 0, and F < l^2.

    >>> from spinlib.theory import prompt_teacher, spectrum_teacher    # white tokens
    >>> print(f"{spectrum_teacher([1.0] * 20, 100).unexplained:.5f} {prompt_teacher(20, 100).unexplained:.5f}")
    0.17355 0.17355
    """
    lam = check_array("variances", variances, (None,), hint="one variance a group")
    c = Teacher(lam, np.zeros_like(lam), 0.0, count).count  # refuses what is no variance
    N, rho = check_integer("N", N, 1), check_noise(noise) ** 2
    D, trace = c.sum(), c @ lam
    F = (
        lam * (2 * lam + trace)
        if fourth is None
        else check_array("fourth", fourth, lam.shape, hint="one a group")
    )
    check_finite("fourth - variances^2", F - lam**2, minimum=0.0, hint="fourth is E |x|^2 x_i^2")
    waste = (F - lam**2) / (N * D) + rho * lam / N  # what e has beside the task
    e, b = lam**2 / D + waste, (1 + 2 / N) * ((trace / D + rho) ** 2 + 2 * c @ lam**2 / D**2)
    signal = np.vstack([np.diag(c * (lam / (D * e)) ** 2), 0 * lam])
    return Teacher(
        np.outer(np.append(e, b), lam).ravel(),
        signal.ravel(),
        rho + float(c @ (lam * waste / e)) / D,
        np.outer(np.append(c, 1), c).ravel(),
    )
