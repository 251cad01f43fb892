"""The map from prompts to a spin glass, from spins back to weights, and answers: of weights, and of Bayes' student."""

from math import isqrt

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_integer, check_noise, check_real
from spinlib.icl._prompts import Features, Prompts, check_prompts, features, read
from spinlib.spin_glass import SpinGlass


def averages(prompts: Prompts | Features) -> tuple[np.ndarray, np.ndarray]:
    """All that the loss keeps of the prompts: A = <s s^T> (n, n) and h = <y s> (n,), averages over the P samples.

    Here n = D (D+1), in the order of ``W.ravel()`` for W (D+1, D), and the energy of Thesis eq. (128) is w.A w / 2 -
    h.w plus the ridge. The memory is n^2 numbers and a block of samples. Raises TypeError for anything but Prompts or
    Features.

    >>> from spinlib.icl import LinearTask, averages
    >>> A, h = averages(LinearTask(D=3, N=5).sample_features(50, rng=0))
    >>> A.shape, h.shape
    ((12, 12), (12,))
    """
    data = features(prompts)
    P, D = data.query.shape
    n = D * (D + 1)
    A = np.zeros((n, n))
    block = max(1, 2**22 // n)  # 32 MB of samples at a time
    for start in range(0, P, block):
        part = slice(start, start + block)
        s = (data.u[part, :, None] * data.query[part, None, :]).reshape(-1, n)
        A += s.T @ s
    A /= P
    return A, (data.u.T @ (data.y[:, None] * data.query)).ravel() / P


def to_spin_glass(prompts: Prompts | Features, ridge: float) -> SpinGlass:
    """The spin glass whose energy is the loss of the linear-attention transformer, up to <y^2>/2 (Thesis eq. (128)).

    The n = D (D+1) spins are vec(W), row by row for W (D+1, D), and the rest follows from the :func:`averages` of the
    prompts: J_ij = -<s_i s_j>, h_i = <y s_i>, lam_i = ridge + <s_i^2>. (The text under eq. (128) prints ridge -
    <s_i^2>, a misprint.) Raises ValueError for a negative ridge, and TypeError for anything but Prompts or Features.

    >>> from spinlib.icl import LinearTask, to_spin_glass
    >>> glass = to_spin_glass(LinearTask(D=3, N=5).sample_features(50, rng=0), ridge=0.1)
    >>> glass.n
    12
    """
    ridge = check_real("ridge", ridge, minimum=0, hint="ridge is the lambda of Thesis eq. (123)")
    A, h = averages(prompts)
    lam = ridge + np.diagonal(A)
    np.fill_diagonal(A, 0.0)
    return SpinGlass(-A, h, lam)


def training_loss(W: ArrayLike, prompts: Prompts | Features, ridge: float = 0.0) -> float:
    """Training loss ``<(y_hat - y)^2>/2 + ridge |W|^2/2`` of the linear attention with weights W (Thesis eq. (123)).

    W is (D+1, D), or (D+1, D+1), where the last column enters only the penalty. ``training_loss - H`` is <y^2>/2, the
    constant that eq. (127b) drops. Raises ValueError for shapes that do not fit and for a negative ridge.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask, to_spin_glass, training_loss
    >>> data, W = LinearTask(D=3, N=5).sample_features(50, rng=0), np.eye(4, 3)
    >>> H = to_spin_glass(data, 0.1).energy(W.ravel())
    >>> bool(abs(training_loss(W, data, 0.1) - H - (data.y**2).mean() / 2) < 1e-14)
    True
    """
    data = features(prompts)
    W = check_weights(W, data.query.shape[1])
    ridge = check_real("ridge", ridge, minimum=0, hint="ridge is the lambda of Thesis eq. (123)")
    return 0.5 * float(
        ((_predict(W, data.u, data.query) - data.y) ** 2).mean() + ridge * np.square(W).sum()
    )


def weights(mean: ArrayLike, D: int | None = None) -> np.ndarray:
    """The spins as the weight matrix W (D+1, D): vec^-1, row by row; W.ravel() goes back.

    ``mean`` is (n,) with n = D (D+1), from which ``D`` follows; if ``D`` is given, it must fit. Source: Thesis
    section 4.2. Raises ValueError for another length.

    >>> from spinlib.icl import weights
    >>> weights([1, 2, 3, 4, 5, 6]).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    mean = check_array("mean", mean, (None,))
    n, D = len(mean), isqrt(len(mean)) if D is None else check_integer("D", D, 1)
    if n < 2 or D * (D + 1) != n:
        raise ValueError(
            f"mean must hold D (D + 1) spins, 2, 6, 12, 20, ..., got {n}, where D = {D} has "
            f"{D * (D + 1)}; pass the mean of a glass that to_spin_glass made"
        )
    return mean.reshape(D + 1, D).copy()


def linear_attention(W: ArrayLike, X: ArrayLike) -> np.ndarray:
    r"""Prediction of simplified linear attention, the corner :math:`\hat y = Y_{D+1,N+1}` of :math:`Y = \frac1N
    XX^\top WX`.

    ``W`` is (D+1, D), or the whole (D+1, D+1), whose last column meets the zero in the query's label slot and changes
    nothing; ``X`` (P, D+1, N+1) holds one prompt a row: N columns (x_i; y_i) and last the query (x; 0). Returns (P,).
    N is the number of examples, one less than the columns of X (the code published with the paper divides by N+1: its
    W is (N+1)/N times this one). Source: Thesis eqs. (121), (122) and (125), whose ``X_{D,i}`` is ``X_{D+1,i}``.
    Raises ValueError where shapes do not fit.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask, linear_attention
    >>> prompts = LinearTask(D=2, N=4000).sample(3, rng=0)
    >>> bool(np.abs(linear_attention(np.eye(3), prompts.X) - prompts.y).max() < 0.1)   # W = I solves long prompts
    True
    """
    return _predict(W, *read(check_prompts(X)))


def check_weights(W: ArrayLike, D: int | None = None) -> np.ndarray:
    """W as a finite (D+1, D) or (D+1, D+1) array with D >= 1, or ValueError."""
    W = check_array("W", W, (None, None), hint="W is (D + 1, D) or (D + 1, D + 1)")
    D = max(1, W.shape[0] - 1) if D is None else D
    if W.shape not in ((D + 1, D), (D + 1, D + 1)):
        raise ValueError(
            f"W must have shape (D + 1, D) or (D + 1, D + 1), here with D = {D}, got {W.shape}"
        )
    return W


def _predict(W, u, query) -> np.ndarray:
    D = query.shape[1]
    return ((u @ check_weights(W, D)[:, :D]) * query).sum(1)


def in_context_ridge(X: ArrayLike, ridge: float = 0.0) -> np.ndarray:
    r"""Predictions y_hat (P,) of a student who fits each prompt afresh, by ridge regression on its N examples.

    ``X`` (P, D+1, N+1) holds the prompts. The student minimises ``mean_i (y_i - v.x_i)^2 + ridge |v|^2`` over v and
    answers v.query. At ridge 0 it takes the shortest v among the minima. For the task of :class:`LinearTask` with
    independent tokens, ridge = D noise^2 / N makes the answer the posterior mean, so that no other prediction has a
    smaller mean squared error. The time is O(P D^2 (D + N)). Source: the chapter on linear regression in context.
    Raises ValueError for other shapes and for a negative ridge.

    >>> from spinlib.icl import LinearTask, in_context_ridge
    >>> prompts = LinearTask(D=3, N=3).sample(5, rng=0)      # three equations for three unknowns, no noise
    >>> bool(abs(in_context_ridge(prompts.X) - prompts.y).max() < 1e-8)
    True
    """
    X = check_prompts(X)
    ridge = check_real("ridge", ridge, minimum=0, hint="the Bayes value is D noise^2 / N")
    x, y, query = X[:, :-1, :-1], X[:, -1, :-1], X[:, :-1, -1]
    if ridge == 0:
        v = (np.linalg.pinv(x.transpose(0, 2, 1)) @ y[:, :, None])[:, :, 0]
    else:
        N, D = y.shape[1], query.shape[1]
        covariance, mean = x @ x.transpose(0, 2, 1) / N + ridge * np.eye(D), x @ y[:, :, None] / N
        try:
            v = np.linalg.solve(covariance, mean)[:, :, 0]
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"ridge must be 0 or above the rounding of <x x>, got {ridge:.3g}, which is lost beside "
                f"{np.abs(covariance).max():.3g}; take ridge=0"
            ) from error
    return (v * query).sum(1)


def pool_posterior(pairs: ArrayLike, pool: ArrayLike, noise: float) -> np.ndarray:
    """Posterior mean (P, n) of the label of each question, given the pairs before it, for a student with the pool.

    ``pairs`` (P, n, D+1) holds rows (x_t, y_t) as :meth:`LinearTask.sample_pairs` returns them, and ``pool`` (K, D)
    the rules v of y = v.x + noise g. The weight of rule k is the softmax of minus its squared errors so far over 2
    noise^2. Source: Raventos et al. (2023). Raises ValueError for noise 0, and for shapes that do not match.

    >>> from spinlib.icl import pool_posterior
    >>> pool_posterior([[[1.0, 1.0], [2.0, 0.0]]], [[1.0], [-1.0]], noise=0.1).round(6).tolist()
    [[0.0, 2.0]]
    """
    pairs = check_array("pairs", pairs, (None, None, None), hint="pairs are (P, n, D + 1)")
    pool = check_array("pool", pool, (None, pairs.shape[2] - 1), hint="one rule of length D a row")
    noise = check_noise(noise, above=1e-75)
    guesses = pairs[:, :, :-1] @ pool.T  # (P, n, K)
    after = np.cumsum((guesses - pairs[:, :, -1:]) ** 2, 1) / (2 * noise**2)
    energy = np.concatenate([np.zeros_like(after[:, :1]), after[:, :-1]], 1)  # of the pairs before
    weights = np.exp(energy.min(2, keepdims=True) - energy)
    return (weights * guesses).sum(2) / weights.sum(2)
