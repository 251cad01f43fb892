"""In-context linear regression: the task, its prompts, the map to a spin glass and back, and the exact errors."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinlib._core import check_array, check_integer, check_real
from spinlib.spin_glass import SpinGlass


@dataclass(frozen=True)
class Prompts:
    """P prompts as the attention sees them (Thesis eq. (122)).

    ``X`` (P, D+1, N+1): columns are N tokens (x_i; y_i) and the query (x; 0); ``y`` (P,): labels of the queries;
    ``w`` (P, D): the hidden task vectors. ValueError where shapes disagree, entries are not finite, or the slot of the
    query's label is not zero.
    """

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    def __post_init__(self):
        X = check_prompts(self.X)
        P, rows, _ = X.shape
        y = check_array("y", self.y, (P,), hint="one query label a prompt")
        w = check_array("w", self.w, (P, rows - 1), hint="one task vector of length D a prompt")
        _freeze(self, X=X, y=y, w=w)


@dataclass(frozen=True)
class Features:
    """What the energy needs of the prompts: the sample s = u (x) query, of rank one (Thesis eqs. (126), (131)).

    ``u`` (P, D+1) = (X0 y0 / N; y0.y0 / N), ``query`` (P, D), ``y`` (P,). The zero column of eq. (126) is left out.
    ValueError where shapes disagree or entries are not finite.
    """

    u: np.ndarray
    query: np.ndarray
    y: np.ndarray

    def __post_init__(self):
        query = check_array("query", self.query, (None, None), hint="query is (P, D)")
        P, D = query.shape
        if P < 1 or D < 1:
            raise ValueError(f"query must be (P, D) with P >= 1 and D >= 1, got {query.shape}")
        u = check_array("u", self.u, (P, D + 1), hint="u is (P, D + 1) where query is (P, D)")
        y = check_array("y", self.y, (P,), hint="one query label a prompt")
        _freeze(self, u=u, query=query, y=y)


@dataclass(frozen=True)
class LinearTask:
    r"""Noisy linear regression in context: y = w.x / sqrt(D) + noise g, with x, w ~ N(0, I_D), a prompt of N examples.

    ``D`` dimension, ``N`` examples in the prompt, ``corr`` the covariance c of two tokens along one coordinate, Thesis
    eq. (162): <x_ij x_kl> = delta_ik [c + (1-c) delta_jl], the query included (the published code multiplies by the wrong
    side of the Cholesky factor and gets L^T L instead of K = L L^T). ``noise`` is the standard deviation of g in the
    labels of the prompt and of the query; ``n_tasks`` the size of the pool of task vectors that one call of ``sample``
    draws and then picks from at random (None: a fresh task a prompt; the thesis has None).
    ValueError for D, N, n_tasks < 1, corr outside [0, 1], noise < 0.

    >>> from spinlib.icl import LinearTask
    >>> task = LinearTask(D=2, N=3)
    >>> prompts = task.sample(1, rng=0)
    >>> bool(abs(prompts.y[0] - prompts.w[0] @ prompts.X[0, :2, 3] / 2**0.5) < 1e-15)
    True
    """

    D: int
    N: int
    corr: float = 0.0
    noise: float = 0.0
    n_tasks: int | None = None

    def __post_init__(self):
        check_integer("D", self.D, 1, hint="D is the dimension of x")
        check_integer("N", self.N, 1, hint="N is the number of examples in the prompt")
        check_real("corr", self.corr, minimum=0, maximum=1, hint="corr is the c of Thesis eq. (162)")
        check_real("noise", self.noise, minimum=0, hint="noise is a standard deviation")
        if self.n_tasks is not None:
            check_integer("n_tasks", self.n_tasks, 1, hint="None means a fresh task for every prompt")

    def _tasks(self, P, rng):
        if self.n_tasks is None:
            return rng.standard_normal((P, self.D))
        return rng.standard_normal((self.n_tasks, self.D))[rng.integers(self.n_tasks, size=P)]

    def sample(self, P: int, *, rng=None) -> Prompts:
        """P whole prompts, Thesis eq. (122): memory P (D+1)(N+1) numbers."""
        P = check_integer("P", P, 1, hint="P is the number of prompts")
        rng, D, N = np.random.default_rng(rng), self.D, self.N
        w = self._tasks(P, rng)
        X = np.empty((P, D + 1, N + 1))
        X[:, :D] = rng.standard_normal((P, D, N + 1))
        if self.corr:  # one shared Gaussian a coordinate gives K = c + (1 - c) delta exactly, up to c = 1
            X[:, :D] *= np.sqrt(1 - self.corr)
            X[:, :D] += np.sqrt(self.corr) * rng.standard_normal((P, D, 1))
        X[:, D] = np.einsum("pd,pdn->pn", w, X[:, :D]) / np.sqrt(D)
        if self.noise:
            X[:, D] += self.noise * rng.standard_normal((P, N + 1))
        y = X[:, D, N].copy()
        X[:, D, N] = 0.0
        return Prompts(X, y, w)

    def sample_features(self, P: int, *, rng=None) -> Features:
        """``features(task.sample(P))`` in law but in O(P D), whatever N: no prompt is built.

        Given w, the labels of the prompt are N independent normals of variance s2 = w.w/D + noise^2, so y0.y0 is s2 times
        a chi-square, and X0 given y0 is normal: along w with mean w y / (sqrt(D) s2), across w with variance 1.
        ValueError when corr != 0, where this does not hold.
        """
        P = check_integer("P", P, 1, hint="P is the number of prompts")
        if self.corr:
            raise ValueError(f"sample_features needs independent tokens (corr = 0), got corr = {self.corr}; "
                             "use features(task.sample(P)), which builds the prompts")
        rng, D, N = np.random.default_rng(rng), self.D, self.N
        w = self._tasks(P, rng)
        query = rng.standard_normal((P, D))
        y = (w * query).sum(1) / np.sqrt(D)
        w2 = (w * w).sum(1)
        s2 = w2 / D + self.noise**2
        yy = s2 * rng.chisquare(N, P)                                      # y0.y0
        z = rng.standard_normal((P, D))
        along = (1 - self.noise / np.sqrt(s2)) * (w * z).sum(1) / w2       # the part of z along w that y0 has fixed
        Xy = (yy / (np.sqrt(D) * s2) - np.sqrt(yy) * along)[:, None] * w + np.sqrt(yy)[:, None] * z
        if self.noise:
            y += self.noise * rng.standard_normal(P)
        return Features(np.column_stack([Xy, yy]) / N, query, y)


def features(prompts: Prompts) -> Features:
    """The two vectors u = (X0 y0; y0.y0) / N and query that make up eq. (126): s = u (x) query.

    Source: Thesis eqs. (126), (131), with the first row index D+1 that eq. (125) misprints as D. Scale 1/N, not the
    1/(N+1) of the published code. TypeError for anything but Prompts.

    >>> from spinlib.icl import LinearTask, features
    >>> data = features(LinearTask(D=3, N=5).sample(2, rng=0))
    >>> data.u.shape, data.query.shape, data.y.shape
    ((2, 4), (2, 3), (2,))
    """
    if not isinstance(prompts, Prompts):
        raise TypeError(f"features needs Prompts, got {type(prompts).__name__}; make them with LinearTask(D, N).sample(P)")
    return Features(*_read(prompts.X), prompts.y)


def to_spin_glass(data: Prompts | Features, ridge: float) -> SpinGlass:
    """The spin glass whose energy is the loss of the linear-attention transformer, up to <y^2>/2 (Thesis eq. (128)).

    n = D (D+1) spins, vec(W) row by row for W (D+1, D): J_ij = -<s_i s_j>, h_i = <y s_i>, lam_i = ridge + <s_i^2>, the
    averages over the P prompts. (The text under eq. (128) prints ridge - <s_i^2>: a misprint.) Memory n^2 numbers and a
    block of samples. ValueError for a negative ridge; TypeError for other data.

    >>> from spinlib.icl import LinearTask, to_spin_glass
    >>> glass = to_spin_glass(LinearTask(D=3, N=5).sample_features(50, rng=0), ridge=0.1)
    >>> glass.n
    12
    """
    data = _as_features(data)
    ridge = check_real("ridge", ridge, minimum=0, hint="ridge is the lambda of Thesis eq. (123)")
    P, D = data.query.shape
    n = D * (D + 1)
    A = np.zeros((n, n))
    block = max(1, 2**22 // n)  # 32 MB of samples at a time
    for start in range(0, P, block):
        part = slice(start, start + block)
        s = (data.u[part, :, None] * data.query[part, None, :]).reshape(-1, n)
        A += s.T @ s
    A /= P
    h = (data.u.T @ (data.y[:, None] * data.query)).ravel() / P
    lam = ridge + np.diagonal(A)
    np.fill_diagonal(A, 0.0)
    return SpinGlass(-A, h, lam)


def loss(W, data: Prompts | Features, ridge: float = 0.0) -> float:
    """Training loss ``<(y_hat - y)^2>/2 + ridge |W|^2/2`` of the linear attention with weights W (Thesis eq. (123)).

    W (D+1, D), or (D+1, D+1), whose last column enters only the penalty. ``loss - H`` is <y^2>/2, the constant that
    eq. (127b) drops. ValueError for shapes that do not fit and a negative ridge.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask, loss, to_spin_glass
    >>> data, W = LinearTask(D=3, N=5).sample_features(50, rng=0), np.eye(4, 3)
    >>> bool(abs(loss(W, data, 0.1) - to_spin_glass(data, 0.1).energy(W.ravel()) - (data.y**2).mean() / 2) < 1e-14)
    True
    """
    data = _as_features(data)
    ridge = check_real("ridge", ridge, minimum=0, hint="ridge is the lambda of Thesis eq. (123)")
    return 0.5 * float(((_predict(W, data.u, data.query) - data.y)**2).mean() + ridge * np.square(W).sum())


def weights(mean, D: int) -> np.ndarray:
    """The spins as the weight matrix W (D+1, D): vec^-1, row by row; W.ravel() goes back.

    ``mean`` (n,) with n = D (D+1). Source: Thesis section 4.2. ValueError for another length.

    >>> from spinlib.icl import weights
    >>> weights([1, 2, 3, 4, 5, 6], D=2).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    D = check_integer("D", D, 1)
    mean = check_array("mean", mean, (D * (D + 1),), hint=f"D = {D} has D (D + 1) = {D * (D + 1)} spins")
    return mean.reshape(D + 1, D).copy()


def predict(W, X) -> np.ndarray:
    """Prediction y_hat (P,) of the linear attention Y = X X^T W X / N, its element (D+1, N+1) (Thesis eqs. (121), (125)).

    ``X`` (P, D+1, N+1); ``W`` (D+1, D), or the whole (D+1, D+1) of eq. (121): its last column multiplies the zero in the
    query's label slot and changes nothing. ValueError where shapes do not fit.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask, predict
    >>> prompts = LinearTask(D=2, N=4000).sample(3, rng=0)
    >>> bool(np.abs(predict(np.eye(3), prompts.X) - prompts.y).max() < 0.1)   # W = I solves long prompts
    True
    """
    return _predict(W, *_read(check_prompts(X)))


def population_error(W, N: int, noise: float = 0.0) -> float:
    """Generalisation error E (y_hat - y)^2 of the weights W, exact, over prompts, tasks and queries (Thesis eq. (124)).

    W (D+1, D) or (D+1, D+1); independent tokens (corr = 0), a fresh task a prompt; ``noise`` in the prompt and in the
    query's label. With W11 = W[:D, :D] and the last row W21 it is ``1 + noise^2 - 2 tr W11 / D +
    [1 + (D + 1 + D noise^2) / N] |W11|^2 / D + (1 + 2/N) (1 + 2/D + 2 noise^2 + noise^4) |W21|^2``.
    ValueError for N < 1, noise < 0, wrong shapes.

    >>> import numpy as np
    >>> from spinlib.icl import population_error
    >>> print(f"{population_error(np.eye(21), N=20):.4f}")   # W = I is worse than predicting 0
    1.0500
    """
    W = check_weights(W)
    N, noise = check_integer("N", N, 1), check_real("noise", noise, minimum=0)
    D = len(W) - 1
    W11, W21 = W[:D, :D], W[D, :D]
    g2 = 1 + (D + 1 + D * noise**2) / N                                       # E |X0 y0 / N|^2
    q2 = (1 + 2 / N) * (1 + 2 / D + 2 * noise**2 + noise**4)                  # E (y0.y0 / N)^2
    return float(1 + noise**2 - 2 * np.trace(W11) / D + g2 * (W11**2).sum() / D + q2 * (W21**2).sum())


def best_weights(D: int, N: int, ridge: float = 0.0, noise: float = 0.0) -> np.ndarray:
    """The W (D+1, D) that minimises ``population_error(W, N, noise) / 2 + ridge |W|^2 / 2``, c times the identity over a zero row.

    c = 1 / (1 + (D + 1 + D noise^2)/N + ridge D): the limit P -> infinity of the ground state. It is not the identity of
    Thesis eq. (158). ValueError for D, N < 1 and ridge, noise < 0.

    >>> from spinlib.icl import best_weights, population_error
    >>> W = best_weights(D=20, N=100)
    >>> print(f"{W[0, 0]:.5f} {population_error(W, N=100):.5f} {21 / 121:.5f}")
    0.82645 0.17355 0.17355
    """
    D, N = check_integer("D", D, 1), check_integer("N", N, 1)
    ridge, noise = check_real("ridge", ridge, minimum=0), check_real("noise", noise, minimum=0)
    return np.eye(D + 1, D) / (1 + (D + 1 + D * noise**2) / N + ridge * D)


def contrast(W) -> float:
    """Cosine of W11 = W[:D, :D] with the identity (Thesis eq. (161)): 1 for every positive multiple of I_D, blind to its size.

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


def check_prompts(X) -> np.ndarray:
    """X as prompts (P, D+1, N+1) with P, D, N >= 1 and a zero in the query's label slot, or ValueError."""
    X = check_array("X", X, (None, None, None), hint="prompts are (P, D + 1, N + 1)")
    if X.shape[0] < 1 or X.shape[1] < 2 or X.shape[2] < 2:
        raise ValueError(f"X must be (P, D + 1, N + 1) with P, D, N >= 1, got {X.shape}")
    if X[:, -1, -1].any():
        raise ValueError("X[:, -1, -1] must be 0, got other numbers: the slot of the query's label; set it to 0")
    return X


def check_weights(W, D: int | None = None) -> np.ndarray:
    """W as a finite (D+1, D) or (D+1, D+1) array with D >= 1, or ValueError."""
    W = check_array("W", W, (None, None), hint="W is (D + 1, D) or (D + 1, D + 1)")
    D = max(1, W.shape[0] - 1) if D is None else D
    if W.shape not in ((D + 1, D), (D + 1, D + 1)):
        raise ValueError(f"W must have shape (D + 1, D) or (D + 1, D + 1), here with D = {D}, got {W.shape}")
    return W


def _read(X) -> tuple[np.ndarray, np.ndarray]:
    """(u, query) of checked prompts; u = (X0 y0; y0.y0) / N."""
    N = X.shape[2] - 1
    return (X[:, :, :N] @ X[:, -1, :N, None])[:, :, 0] / N, X[:, :-1, N].copy()


def _as_features(data) -> Features:
    if isinstance(data, Features):
        return data
    if isinstance(data, Prompts):
        return features(data)
    raise TypeError(f"expected Prompts or Features, got {type(data).__name__}; make them with LinearTask(D, N).sample(P)")


def _predict(W, u, query) -> np.ndarray:
    D = query.shape[1]
    return ((u @ check_weights(W, D)[:, :D]) * query).sum(1)


def _freeze(noun, **arrays):
    for name, array in arrays.items():
        object.__setattr__(noun, name, array)
