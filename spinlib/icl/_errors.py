"""Exact errors of given weights over all prompts, the best weights, and the contrast of the thesis."""

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_integer, check_noise, check_real, check_type
from spinlib.icl._mapping import check_weights, linear_attention
from spinlib.icl._prompts import Prompts, check_corr, token_sums


def population_error(
    W: ArrayLike, N: int, noise: float = 0.0, corr: float | ArrayLike = 0.0
) -> float:
    r"""Generalisation error E (y_hat - y)^2 of the weights W, exact, over prompts, tasks, queries (Thesis eq. (124)).

    W is (D+1, D) or (D+1, D+1), and every prompt has a fresh task; ``noise`` is in the labels of the prompt and of
    the query. ``corr`` is, as in :class:`LinearTask`, the covariance c of two tokens, Thesis eq. (162), or that of
    all tokens, K = [[M, k], [k^T, s]], the query last. With A = W[:D, :D] and v = W[D, :D] the error is

    .. math:: s+\sigma^2-2\beta\,\mathrm{tr}A+\alpha|A|^2+\gamma\big[(\mathrm{tr}A)^2+\mathrm{tr}A^2\big]+\rho\,|v|^2

    with Gaussian moments alpha, beta, gamma, rho (Wick). At c = 0, beta is 1/D, gamma is 0, alpha = [1 + (D + 1 + D
    noise^2) / N] / D and rho = (1 + 2/N) (1 + 2/D + 2 noise^2 + noise^4). Raises ValueError for N < 1, noise < 0,
    corr outside [0, 1] or not a covariance, and for wrong shapes.

    >>> import numpy as np
    >>> from spinlib.icl import population_error
    >>> print(f"{population_error(np.eye(21), N=20):.4f}")   # W = I is worse than predicting 0
    1.0500
    """
    W = check_weights(W)
    N, noise2 = check_integer("N", N, 1), check_noise(noise) ** 2
    s, own, square, kk, mixed = token_sums(check_corr(corr, N), N)
    D = len(W) - 1
    A, v = W[:D, :D], W[D, :D]
    # with u = X0 y0 / N and the query q, E u_a q_m y = beta delta_am and
    # E u_a u_b q_m q_n = alpha delta_ab delta_mn + gamma (delta_am delta_bn + delta_an delta_bm)
    beta = (own * s + (D + 1) * kk) / D
    alpha = (s * (own**2 + (D + 1) * square) + 2 * mixed) / D + noise2 * own * s / N
    gamma = ((D + 2) * mixed + 2 * kk * own) / D + noise2 * kk / N
    # E (y0.y0 / N)^2 q_m q_n = rho delta_mn; of the query only its component along the task, 1 of D, is tied to y0,
    # whose covariance is M |w|^2/D + noise^2; the mean of (|w|^2/D)^2 is four
    four = 1 + 2 / D
    rho = s * (
        four * (own**2 + 2 * square) + 2 * noise2 * own * (1 + 2 / N) + noise2**2 * (1 + 2 / N)
    ) + 4 / D * (kk * (four * own + noise2) + 2 * (four * mixed + noise2 * kk / N))
    trace = np.trace(A)
    return float(
        s
        + noise2
        - 2 * beta * trace
        + alpha * (A**2).sum()
        + gamma * (trace**2 + (A * A.T).sum())
        + rho * (v**2).sum()
    )


def best_weights(D: int, N: int, ridge: float = 0.0, noise: float = 0.0) -> np.ndarray:
    """The W (D+1, D) that minimises ``population_error(W, N, noise) / 2 + ridge |W|^2 / 2``: c I over a row of zeros.

    c = 1 / (1 + (D + 1 + D noise^2)/N + ridge D) is the limit P -> infinity of the ground state. It is not the
    identity of Thesis eq. (158). Raises ValueError for D, N < 1 and ridge, noise < 0.

    >>> from spinlib.icl import best_weights, population_error
    >>> W = best_weights(D=20, N=100)
    >>> print(f"{W[0, 0]:.5f} {population_error(W, N=100):.5f} {21 / 121:.5f}")
    0.82645 0.17355 0.17355
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    ridge, noise = check_real("ridge", ridge, minimum=0), check_noise(noise)
    return np.eye(D + 1, D) / (1 + (D + 1 + D * noise**2) / N + ridge * D)


def contrast(W: ArrayLike) -> float:
    """Cosine of W11 = W[:D, :D] with the identity (Thesis eq. (161)), 1 for every positive multiple of it.

    W is (D+1, D) or (D+1, D+1). The published code compares the whole W with I_{D+1}, which gives a cosine of at most
    sqrt(D/(D+1)). Raises ValueError for wrong shapes and for W11 = 0, which has no direction.

    >>> from spinlib.icl import best_weights, contrast
    >>> print(f"{contrast(best_weights(5, 10)):.12f}")
    1.000000000000
    """
    W = check_weights(W)
    D = len(W) - 1
    norm = np.linalg.norm(W[:D, :D])
    if norm == 0:
        raise ValueError(
            "contrast needs a W11 with some non-zero entry, got W11 = 0, which has no direction"
        )
    return float(np.trace(W[:D, :D]) / (norm * np.sqrt(D)))


def controlled_error(y_hat: ArrayLike, prompts: Prompts, noise: float = 0.0) -> float:
    """Mean of (y_hat - y)^2 over prompts, with the best linear attention as control variate: no bias, less variance.

    ``y_hat`` (P,) are the answers of any model to ``prompts``, whose labels have noise of standard deviation
    ``noise``. The mean square of the best linear attention on the same prompts is subtracted, and its exact error
    added. Source: Hammersley and Handscomb (1964). Raises ValueError for answers of another shape.

    >>> from spinlib.icl import LinearTask, best_weights, controlled_error, linear_attention
    >>> prompts = LinearTask(4, 10).sample(50, rng=0)
    >>> print(f"{controlled_error(linear_attention(best_weights(4, 10), prompts.X), prompts):.6f} {5 / 15:.6f}")
    0.333333 0.333333
    """
    check_type("prompts", prompts, Prompts, "make them with icl.LinearTask(D, N).sample(P)")
    y_hat = check_array("y_hat", y_hat, (len(prompts.y),), hint="one answer a prompt")
    D, N = prompts.X.shape[1] - 1, prompts.X.shape[2] - 1
    W = best_weights(D, N, noise=noise)
    extra = (y_hat - prompts.y) ** 2 - (linear_attention(W, prompts.X) - prompts.y) ** 2
    return float(extra.mean() + population_error(W, N, noise))
