"""What linear attention learns from a finite pool of tasks: its errors on the pool and on new tasks."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_noise, check_real
from spinlib.icl import population_error
from spinlib.theory._ridge import ridge_equivalent
from spinlib.theory._teacher import Teacher, prompt_teacher


class PoolErrors(NamedTuple):
    """E (prediction - label)^2 on ``new`` tasks, w ~ N(0, I), and on tasks of the ``pool``; label noise included."""

    new: float
    pool: float


def pool_errors(tasks: ArrayLike, N: int, P: int, ridge: float, noise: float = 0.0) -> PoolErrors:
    r"""Errors of weights trained on P prompts whose tasks are the rows of ``tasks`` (K, D), each equally likely.

    This is the deterministic equivalent (:func:`ridge_equivalent`) of the features u (x) query with the exact moments
    of this pool. Their covariance is B (x) I_D, so that the D + 1 eigenvectors of B = E u u^T are groups of D
    directions each. The error on new tasks is that of the mean weights (B + kappa)^-1 F, F = E label u query^T, and
    of their scatter: pool (D/P) sum_i e_i / (e_i + kappa)^2 times the variance of a new prompt's u along eigenvector
    i. The formula is right for D -> infinity at fixed P/D^2, N/D, K/D and ridge D; ``noise`` is as in
    :class:`spinlib.icl.LinearTask`. Source: the chapter on task diversity. Raises ValueError for other shapes, for
    tasks and noise of which the largest is not from 1e-18 to 1e18, for N, P < 1, for ridge, noise < 0, and at ridge 0
    where P is the number of directions, D (D + 1), or D^2 for one task without noise.

    >>> import numpy as np
    >>> from spinlib.theory import pool_errors
    >>> tasks = np.random.default_rng(0).standard_normal((2000, 20))
    >>> few, many = (pool_errors(tasks[:K], 100, 4000, 0.0) for K in (5, 2000))
    >>> print(f"{few.pool:.2f} {few.new:.2f}, {many.pool:.2f} {many.new:.2f}")
    0.05 0.98, 0.19 0.19
    """
    tasks = check_array("tasks", tasks, (None, None), hint="one task vector a row")
    ridge, noise = check_real("ridge", ridge, minimum=0, maximum=1e75), check_noise(noise)
    K, D = tasks.shape
    check_real(  # of features, which have its fourth power, squares are taken
        "the largest of tasks and noise",
        max(np.abs(tasks).max(), noise),
        minimum=1e-18,
        maximum=1e18,
        hint="draw tasks from a normal law",
    )
    plain = prompt_teacher(D, N, noise)  # checks N, noise; variances of u for new tasks
    w, s = (
        tasks / sqrt(D),
        (tasks**2).sum(1) / D + noise**2,
    )  # s: variance of a label, a number a task
    B, F = np.empty((D + 1, D + 1)), np.vstack([w.T @ w, s @ w]) / K
    B[:D, :D] = (1 + 1 / N) * F[:D] + s.mean() / N * np.eye(D)
    B[D, :D] = B[:D, D] = (1 + 2 / N) * F[D]
    B[D, D] = (1 + 2 / N) * (s**2).mean()
    e, U = np.linalg.eigh(B)
    e, U = (
        e[e > 1e-12 * e[-1]],
        U[:, e > 1e-12 * e[-1]],
    )  # one task, no noise: a direction without features
    field = U.T @ F
    power = (field**2).sum(1)
    fit = ridge_equivalent(
        Teacher(e, power / e**2, max(0.0, s.mean() - (power / e).sum()), D), P, ridge
    )
    mean = U @ (field / (e + fit.kappa)[:, None])
    scatter = (
        fit.error
        * D
        / P
        * (e / (e + fit.kappa) ** 2)
        @ (U**2).T
        @ np.repeat(plain.variance, [D, 1])
    )
    return PoolErrors(population_error(mean, N, noise) + float(scatter), fit.error)
