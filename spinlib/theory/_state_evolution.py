"""State evolution: what message passing between spins and prompts does, sweep by sweep, when both are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinlib._core import check_integer, check_real, check_type, one_line
from spinlib.theory._teacher import Teacher


@dataclass(frozen=True, eq=False, repr=False)
class ErrorPath:
    """The path of sample-spin AMP in the limit of many spins and prompts; index t is the state after t sweeps.

    ``error`` (n_steps + 1,): generalisation error of the means; ``x`` (n_steps + 1, groups): beta times the variance of
    a spin in each group; ``tau`` (n_steps + 1,): beta times the variance of s . sigma.
    """

    error: np.ndarray
    x: np.ndarray
    tau: np.ndarray

    __repr__ = one_line


def state_evolution(teacher: Teacher, *, P: int, ridge: float, n_steps: int = 20) -> ErrorPath:
    r"""The errors and variances of ``sample_amp``, undamped, in its first ``n_steps`` sweeps, without running it.

    With a the variance and c the count of a group of directions of the ``teacher``, kappa = ridge (1 + tau / P) and E
    the error, one sweep is

    .. math:: E' = \mathrm{unexplained}+\sum a\,\Big(\frac\kappa{a+\kappa}\Big)^2\mathrm{signal}
              + \frac EP\sum c\,\Big(\frac a{a+\kappa}\Big)^2

    and tau the sum of c a x; then x' = 1 / (ridge + ridge a / kappa). It starts from means 0.

    Source: Donoho, Maleki and Montanari (2009), Bayati and Montanari (2011), here for groups of different variance.
    Proved for independent features as P and n grow together; for the prompts of in-context learning it is a conjecture
    that the book tests. ValueError for P, n_steps < 1 and a negative ridge.

    >>> from spinlib.theory import Teacher, state_evolution
    >>> path = state_evolution(Teacher([1.0], [1.0], unexplained=0.25, count=100), P=200, ridge=0.1, n_steps=60)
    >>> print(path.error[[0, 1, 2, 60]].round(4))
    [1.25   0.7425 0.544  0.4268]
    """
    check_type(
        "teacher",
        teacher,
        Teacher,
        "make one with prompt_teacher(D, N) or Teacher(variance, signal, ...)",
    )
    P, n_steps, ridge = (
        check_integer("P", P, 1),
        check_integer("n_steps", n_steps, 1),
        check_real("ridge", ridge, minimum=0),
    )
    a, count = teacher.variance, teacher.count
    errors, xs = [teacher.label], [1 / (ridge + a)]
    for _ in range(n_steps):
        tau = count @ (a * xs[-1])
        precision = a * P / (P + tau)  # Gamma of the spins of a group
        xs.append(1 / (ridge + precision))
        shrunk = precision * xs[-1]  # a / (a + kappa); what is missing to 1 is kappa / (a + kappa)
        bias = teacher.unexplained + float(a * teacher.signal @ (1 - shrunk) ** 2)
        errors.append(bias + errors[-1] * float(count @ shrunk**2) / P)
    x = np.array(xs)
    return ErrorPath(np.array(errors), x, x @ (count * a))
