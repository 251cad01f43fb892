"""Prompts and what the energy needs of them; tokens that are correlated, their covariance and its sums."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import Noun, check_array, check_real, check_type, freeze


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Prompts(Noun):
    """P prompts as the attention sees them (Thesis eq. (122)).

    ``X`` (P, D+1, N+1) has as columns N tokens (x_i; y_i) and the query (x; 0); ``y`` (P,) holds the labels of the
    queries, and ``w`` (P, D) the hidden task vectors. All are kept as read-only copies. Raises ValueError where
    shapes disagree, entries are not finite, or the slot of the query's label is not zero.
    """

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    def __init__(self, X: ArrayLike, y: ArrayLike, w: ArrayLike) -> None:
        X = check_prompts(X)
        P, rows, _ = X.shape
        y = check_array("y", y, (P,), hint="one query label a prompt")
        w = check_array("w", w, (P, rows - 1), hint="one task vector of length D a prompt")
        freeze(self, X=X, y=y, w=w)

    def __repr__(self) -> str:
        return f"Prompts(P={len(self.y)}, D={self.w.shape[1]}, N={self.X.shape[2] - 1})"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Features(Noun):
    """What the energy needs of the prompts: the sample s = u (x) query, of rank one (Thesis eqs. (126), (131)).

    ``u`` (P, D+1) is (X0 y0 / N; y0.y0 / N), ``query`` (P, D) holds the queries and ``y`` (P,) their labels. The zero
    column of eq. (126) is left out. Raises ValueError where shapes disagree or entries are not finite.

    >>> from spinlib.icl import Features, to_spin_glass
    >>> found = Features(u=[[2.0, 1.0]], query=[[3.0]], y=[4.0])
    >>> found, to_spin_glass(found, 0.1).h.tolist()
    (Features(P=1, D=1), [24.0, 12.0])
    """

    u: np.ndarray
    query: np.ndarray
    y: np.ndarray

    def __init__(self, u: ArrayLike, query: ArrayLike, y: ArrayLike) -> None:
        query = check_array(
            "query", query, (None, None), hint="query is (P, D), at least one prompt"
        )
        P, D = query.shape
        u = check_array("u", u, (P, D + 1), hint="u is (P, D + 1) where query is (P, D)")
        y = check_array("y", y, (P,), hint="one query label a prompt")
        freeze(self, u=u, query=query, y=y)

    def __repr__(self) -> str:
        return f"Features(P={self.query.shape[0]}, D={self.query.shape[1]})"


def features(prompts: Prompts | Features) -> Features:
    """The two vectors u = (X0 y0; y0.y0) / N and query that make up eq. (126): s = u (x) query; Features as they are.

    Source: Thesis eqs. (126), (131), with the first row index D+1 that eq. (125) misprints as D. The scale is 1/N,
    not the 1/(N+1) of the published code. Raises TypeError for anything but Prompts or Features.

    >>> from spinlib.icl import LinearTask, features
    >>> data = features(LinearTask(D=3, N=5).sample(2, rng=0))
    >>> data.u.shape, data.query.shape, data.y.shape
    ((2, 4), (2, 3), (2,))
    """
    check_type(
        "prompts",
        prompts,
        (Prompts, Features),
        "make them with LinearTask(D, N).sample(P) or .sample_features(P)",
    )
    return prompts if isinstance(prompts, Features) else Features(*read(prompts.X), prompts.y)


def check_prompts(X: ArrayLike) -> np.ndarray:
    """X as prompts (P, D+1, N+1) with P, D, N >= 1 and a zero in the query's label slot, or ValueError."""
    X = check_array("X", X, (None, None, None), hint="prompts are (P, D + 1, N + 1)")
    if X.shape[1] < 2 or X.shape[2] < 2:
        raise ValueError(f"X must be (P, D + 1, N + 1) with P, D, N >= 1, got {X.shape}")
    if X[:, -1, -1].any():
        raise ValueError(
            "X[:, -1, -1] must be 0, got other numbers: the slot of the query's label; set it to 0"
        )
    return X


def read(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u, query) of checked prompts; u = (X0 y0; y0.y0) / N."""
    N = X.shape[2] - 1
    return (X[:, :, :N] @ X[:, -1, :N, None])[:, :, 0] / N, X[:, :-1, N].copy()


def check_corr(corr: float | ArrayLike, N: int) -> float | np.ndarray:
    """A covariance c of all pairs of tokens in [0, 1], or a covariance matrix (N+1, N+1), the query last."""
    if not hasattr(corr, "__len__"):
        return check_real(
            "corr",
            corr,
            minimum=0,
            maximum=1,
            hint="a number is the covariance c of any two tokens, "
            "Thesis eq. (162); other covariances are matrices (N+1, N+1)",
        )
    K = check_array(
        "corr",
        corr,
        (N + 1, N + 1),
        hint="a covariance of the N tokens and the query, which comes last",
    )
    skew, lowest = np.abs(K - K.T).max(), np.linalg.eigvalsh(K)[0]
    if max(skew, -lowest) > 1e-10 * np.abs(K).max():
        raise ValueError(
            "corr must be a covariance, symmetric and without a negative eigenvalue, got entries "
            f"that differ from their mirror image by up to {skew:.3g}, and the eigenvalue {lowest:.3g}"
        )
    return K


def root(corr: float | np.ndarray, N: int) -> np.ndarray:
    """A matrix L (N+1, N+1) with L L^T the covariance of the tokens: the lower Cholesky factor, where there is one."""
    K = corr if np.ndim(corr) else np.full((N + 1, N + 1), corr) + (1 - corr) * np.eye(N + 1)
    try:
        return np.linalg.cholesky(K)
    except np.linalg.LinAlgError:  # of lower rank
        values, vectors = np.linalg.eigh(K)
        return vectors * np.sqrt(np.clip(values, 0, None))


def token_sums(corr: float | np.ndarray, N: int) -> tuple[float, float, float, float, float]:
    """Means that the error needs of the covariance [[M, k], [k^T, s]]: s, then of M_ii, M_ij^2, k_i^2, k_i M_ij k_j."""
    if not isinstance(corr, np.ndarray):
        same = 1 / N + (1 - 1 / N) * np.array([corr, corr**2])  # the mean of M_ij and of its square
        return 1.0, 1.0, same[1], corr**2, corr**2 * same[0]
    M, k = corr[:N, :N], corr[:N, N]
    return float(corr[N, N]), M.trace() / N, (M * M).mean(), (k * k).mean(), k @ M @ k / N**2


def correlated_features(
    L: np.ndarray, w: np.ndarray, noise: float, rng: np.random.Generator
) -> Features:
    """Features of prompts with tasks ``w`` (P, D) and tokens of covariance L L^T, equal in law to those of whole ones.

    Along w the tokens t are drawn one by one, and with them the labels y. Across w a coordinate enters only through its
    sum with weights y and its query entry, two correlated Gaussians. O(P N^2 + P D) time.
    """
    (P, D), N = w.shape, len(L) - 1
    K = L @ L.T
    size = np.linalg.norm(w, axis=1)
    t = rng.standard_normal((P, N + 1)) @ L.T
    y = (size / np.sqrt(D))[:, None] * t
    if noise:
        y = y + noise * rng.standard_normal((P, N + 1))
    t, asked, y, label = t[:, :N], t[:, N], y[:, :N], y[:, N]
    own = ((y @ K[:N, :N]) * y).sum(1)  # variance of the sum, its covariance with the query
    deviation, slope = np.sqrt(own), y @ K[:N, N] / np.sqrt(np.where(own > 0, own, 1))
    e, f = rng.standard_normal((2, P, D))
    Xy = deviation[:, None] * e
    query = slope[:, None] * e + np.sqrt(np.maximum(K[N, N] - slope**2, 0))[:, None] * f
    unit = w / np.where(size > 0, size, 1)[:, None]
    Xy += ((t * y).sum(1) - (Xy * unit).sum(1))[:, None] * unit  # the component along w is known
    query += (asked - (query * unit).sum(1))[:, None] * unit
    return Features(np.column_stack([Xy, (y * y).sum(1)]) / N, query, label)
