"""Exact errors of given weights over all prompts, the best weights, and the contrast of the thesis."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_integer, check_real
from spinlib.icl._mapping import check_weights, predict
from spinlib.icl._prompts import Prompts


def population_error(W: ArrayLike, N: int, noise: float = 0.0, corr: float = 0.0) -> float:
    r"""Generalisation error E (y_hat - y)^2 of the weights W, exact, over prompts, tasks, queries (Thesis eq. (124)).

    W (D+1, D) or (D+1, D+1); a fresh task a prompt; ``noise`` in the prompt and in the query's label; ``corr`` the
    covariance c of two tokens, the query included, Thesis eq. (162). Writing A = W[:D, :D] and v = W[D, :D], it is

    .. math:: 1+\sigma^2-2\,\big[1+c^2(D+1)\big]\frac{\mathrm{tr}A}D+\alpha|A|^2
              +\gamma\big[(\mathrm{tr}A)^2+\mathrm{tr}A^2\big]+\rho\,|v|^2

    with Gaussian moments alpha, gamma, rho (Wick). At c = 0, gamma is 0, alpha = [1 + (D + 1 + D noise^2) / N] / D and
    rho = (1 + 2/N) (1 + 2/D + 2 noise^2 + noise^4). ValueError for N < 1, noise < 0, corr outside [0, 1], wrong shapes.

    >>> import numpy as np
    >>> from spinlib.icl import population_error
    >>> print(f"{population_error(np.eye(21), N=20):.4f}")   # W = I is worse than predicting 0
    1.0500
    """
    W = check_weights(W)
    N, noise = check_integer("N", N, 1), check_real("noise", noise, minimum=0)
    c = check_real("corr", corr, minimum=0, maximum=1, hint="corr is the covariance of two tokens")
    D = len(W) - 1
    A, v = W[:D, :D], W[D, :D]
    trace, square = np.trace(A), (A * A.T).sum()
    # the mean over two tokens i, j of what depends on their covariance k
    same = lambda at: at(1) / N + (1 - 1 / N) * at(c)
    # with u = X0 y0 / N and the query q,
    # E u_a u_b q_m q_n = alpha delta_ab delta_mn + gamma (delta_am delta_bn + delta_an delta_bm)
    alpha = same(lambda k: 1 + k**2 * (D + 1) + 2 * k * c**2) / D + noise**2 / N
    gamma = c**2 * (same(lambda k: 2 + k * (D + 2)) / D + noise**2 / N)
    # E (y0.y0 / N)^2 q_m q_n = rho delta_mn; of the query only its component along the task, 1 of D, is tied to y0
    four, two = 1 + 2 / D, 1 + 2 / D + noise**2        # E s^2 and E s (s + noise^2), with s = |w|^2 / D
    rho = ((1 + 2 / N) * (two + noise**2 + noise**4) + 2 * (1 - 1 / N) * c**2 * four
           + c**2 / D * ((4 + 8 / N) * two + 8 * (1 - 1 / N) * c * four))
    return float(1 + noise**2 - 2 * (1 + c**2 * (D + 1)) * trace / D + alpha * (A**2).sum()
                 + gamma * (trace**2 + square) + rho * (v**2).sum())


def best_weights(D: int, N: int, ridge: float = 0.0, noise: float = 0.0) -> np.ndarray:
    """The W (D+1, D) that minimises ``population_error(W, N, noise) / 2 + ridge |W|^2 / 2``,
    c times the identity over a zero row.

    c = 1 / (1 + (D + 1 + D noise^2)/N + ridge D): the limit P -> infinity of the ground state. It is not the identity
    of Thesis eq. (158). ValueError for D, N < 1 and ridge, noise < 0.

    >>> from spinlib.icl import best_weights, population_error
    >>> W = best_weights(D=20, N=100)
    >>> print(f"{W[0, 0]:.5f} {population_error(W, N=100):.5f} {21 / 121:.5f}")
    0.82645 0.17355 0.17355
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    ridge, noise = check_real("ridge", ridge, minimum=0), check_real("noise", noise, minimum=0)
    return np.eye(D + 1, D) / (1 + (D + 1 + D * noise**2) / N + ridge * D)


def contrast(W: ArrayLike) -> float:
    """Cosine of W11 = W[:D, :D] with the identity (Thesis eq. (161)): 1 for every positive multiple of I_D,
    blind to its size.

    W (D+1, D) or (D+1, D+1). The published code takes the whole W against I_{D+1}, which cannot exceed sqrt(D/(D+1)).
    ValueError for wrong shapes and for W11 = 0, which has no direction.

    >>> from spinlib.icl import best_weights, contrast
    >>> print(f"{contrast(best_weights(5, 10)):.12f}")
    1.000000000000
    """
    W = check_weights(W)
    D = len(W) - 1
    norm = np.linalg.norm(W[:D, :D])
    if norm == 0:
        raise ValueError("contrast needs a W11 with some non-zero entry, got W11 = 0, which has no direction")
    return float(np.trace(W[:D, :D]) / (norm * np.sqrt(D)))


def controlled_error(y_hat: ArrayLike, prompts: Prompts, noise: float = 0.0) -> float:
    """Mean of (y_hat - y)^2 over prompts, with the best linear attention as control variate: no bias, less luck.

    ``y_hat`` (P,) are the answers of any model to ``prompts``, whose labels have noise of standard deviation ``noise``.
    The mean square of the best linear attention on the same prompts is subtracted, and its exact error added.
    ValueError for answers of another shape.

    >>> from spinlib.icl import LinearTask, best_weights, controlled_error, predict
    >>> prompts = LinearTask(4, 10).sample(50, rng=0)
    >>> print(f"{controlled_error(predict(best_weights(4, 10), prompts.X), prompts):.6f} {5 / 15:.6f}")
    0.333333 0.333333
    """
    y_hat = check_array("y_hat", y_hat, (len(prompts.y),), hint="one answer a prompt")
    D, N = prompts.X.shape[1] - 1, prompts.X.shape[2] - 1
    W = best_weights(D, N, noise=noise)
    extra = (y_hat - prompts.y) ** 2 - (predict(W, prompts.X) - prompts.y) ** 2
    return float(extra.mean() + population_error(W, N, noise))
