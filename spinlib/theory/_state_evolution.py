"""State evolution: what message passing between spins and prompts does, sweep by sweep, when both are many."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_finite, check_integer, check_real, one_line


@dataclass(frozen=True, eq=False, repr=False)
class ErrorPath:
    """The path of sample-spin AMP in the limit of many spins and prompts; index t is the state after t sweeps.

    ``error`` (steps + 1,): generalisation error of the means; ``x`` (steps + 1, blocks): beta times the variance of a
    spin in each block; ``tau`` (steps + 1,): beta times the variance of s . sigma.
    """

    error: np.ndarray
    x: np.ndarray
    tau: np.ndarray

    __repr__ = one_line


def state_evolution(variance: ArrayLike, signal: ArrayLike, unexplained: float, P: int, ridge: float, *,
                    count: ArrayLike = 1, steps: int = 20) -> ErrorPath:
    r"""The errors and variances of ``sample_amp``, undamped, in its first ``steps`` sweeps, without running it.

    Directions fall into blocks: ``variance`` (blocks,) of a feature, ``count`` (a number, or (blocks,)) of directions,
    and ``signal`` (blocks,), the sum of w_i^2 over a block, where w . s is the best linear prediction of a label;
    ``unexplained`` is the variance that it leaves. With a the variance, k = ridge (1 + tau / P) and E the error, one
    sweep is

    .. math:: E' = s_0 + \sum_{\rm blocks} a\Big(\frac k{a+k}\Big)^2\mathrm{signal}
              + \frac EP\sum_{\rm blocks}\mathrm{count}\Big(\frac a{a+k}\Big)^2

    with s_0 for ``unexplained``, and tau the sum of count a x over blocks; then x' = 1 / (ridge + ridge a / k).

    Source: Donoho, Maleki and Montanari (2009), Bayati and Montanari (2011), here for blocks of different variance.
    Proved for independent features as P and n grow together; for the prompts of in-context learning it is a conjecture
    that the book tests. ValueError for shapes that differ, negative entries, variances of 0, and P or a count below 1.

    >>> from spinlib.theory import state_evolution
    >>> path = state_evolution(variance=[1.0], signal=[1.0], unexplained=0.25, P=200, ridge=0.1, count=100, steps=60)
    >>> print(path.error[[0, 1, 2, 60]].round(4))
    [1.25   0.7425 0.544  0.4268]
    """
    a = check_array("variance", variance, (None,), hint="one variance a block")
    if not a.size:
        raise ValueError("variance must hold at least one block, got none; "
                         "give the variance of a feature of each block")
    signal = check_array("signal", signal, a.shape, hint="one sum of squares a block")
    count = check_finite("count", count, minimum=1, hint="count the directions of a block")
    if count.ndim:
        count = check_array("count", count, a.shape, hint="one number of directions a block")
    count = np.broadcast_to(count, a.shape)
    check_finite("variance", a[a <= 0], minimum=np.finfo(float).tiny, hint="leave out directions without features")
    check_finite("signal", signal, minimum=0.0, hint="it is a sum of squares")
    unexplained = check_real("unexplained", unexplained, minimum=0)
    P, steps, ridge = check_integer("P", P, 1), check_integer("steps", steps, 1), check_real("ridge", ridge, minimum=0)

    errors, xs = [unexplained + float(a @ signal)], [1 / (ridge + a)]
    for _ in range(steps):
        tau = count @ (a * xs[-1])
        precision = a * P / (P + tau)          # Gamma of the spins of a block
        xs.append(1 / (ridge + precision))
        shrunk = precision * xs[-1]            # a / (a + k); what is missing to 1 is k / (a + k)
        errors.append(unexplained + float(a * signal @ (1 - shrunk) ** 2) + errors[-1] * float(count @ shrunk**2) / P)
    x = np.array(xs)
    return ErrorPath(np.array(errors), x, x @ (count * a))
