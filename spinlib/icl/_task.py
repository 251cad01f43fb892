"""The task: linear regression in context, sampled as whole prompts or directly as features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from spinlib._core import (
    RNG,
    Noun,
    check_array,
    check_integer,
    check_noise,
    check_rng,
    freeze,
    one_line,
)
from spinlib.icl._blocks import Blocks
from spinlib.icl._prompts import Features, Prompts, check_corr, correlated_features, root


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LinearTask(Noun):
    r"""Noisy linear regression in context: y = w.x / sqrt(D) + noise g, with x, w ~ N(0, I_D), a prompt of N examples.

    ``D`` is the dimension, ``N`` the number of examples in the prompt, and ``corr`` the covariance c of two tokens
    along one coordinate, Thesis eq. (162): <x_ij x_kl> = delta_ik [c + (1-c) delta_jl], the query included. It may
    also be any covariance (N+1, N+1) of the tokens, the query last. (The published code multiplies by the wrong side
    of the Cholesky factor of K = L L^T, so its ``corr`` is L^T L.) ``noise`` is the standard deviation of g in the
    labels of the prompt and of the query. Each prompt has a fresh task w, as in the thesis, or one picked at random
    from a pool ``tasks`` (K, D), which is the same at every call, so that training and test have it in common. Raises
    ValueError for D, N < 1, for corr outside [0, 1] or not a covariance, for noise < 0, and for tasks of another
    shape.

    >>> from spinlib.icl import LinearTask
    >>> task = LinearTask(D=2, N=3)
    >>> prompts = task.sample(1, rng=0)
    >>> bool(abs(prompts.y[0] - prompts.w[0] @ prompts.X[0, :2, 3] / 2**0.5) < 1e-15)
    True
    """

    D: int
    N: int
    corr: float | np.ndarray
    noise: float
    tasks: np.ndarray | None

    __repr__ = one_line

    def __init__(
        self,
        D: int,
        N: int,
        corr: ArrayLike = 0.0,
        noise: float = 0.0,
        tasks: ArrayLike | None = None,
    ) -> None:
        D = check_integer("D", D, 1, hint="D is the dimension of x")
        N = check_integer("N", N, 1, hint="N is the number of examples in the prompt")
        if tasks is not None:
            tasks = check_array("tasks", tasks, (None, D), "one task a row; None: fresh ones")
        freeze(self, D=D, N=N, corr=check_corr(corr, N), noise=check_noise(noise), tasks=tasks)

    def _drawn(self, P: int, rng: RNG) -> tuple[int, np.random.Generator, np.ndarray]:
        """P, the generator and P tasks."""
        P, rng = check_integer("P", P, 1, hint="P is the number of prompts"), check_rng(rng)
        if self.tasks is None:
            return P, rng, rng.standard_normal((P, self.D))
        return P, rng, self.tasks[rng.integers(len(self.tasks), size=P)]

    def sample(self, P: int, *, rng: RNG = None) -> Prompts:
        """P whole prompts, Thesis eq. (122): memory P (D+1)(N+1) numbers."""
        (P, rng, w), D, N = self._drawn(P, rng), self.D, self.N
        X = np.empty((P, D + 1, N + 1))
        X[:, :D] = rng.standard_normal((P, D, N + 1))
        if np.ndim(self.corr):
            X[:, :D] = X[:, :D] @ root(self.corr, N).T
        elif self.corr:  # one shared Gaussian a coordinate gives K exactly, up to c = 1
            X[:, :D] *= np.sqrt(1 - self.corr)
            X[:, :D] += np.sqrt(self.corr) * rng.standard_normal((P, D, 1))
        X[:, D] = np.einsum("pd,pdn->pn", w, X[:, :D]) / np.sqrt(D)
        if self.noise:
            X[:, D] += self.noise * rng.standard_normal((P, N + 1))
        y = X[:, D, N].copy()
        X[:, D, N] = 0.0
        return Prompts(X, y, w)

    def sample_features(self, P: int, *, rng: RNG = None) -> Features:
        """``features(task.sample(P))`` in law but in O(P D), whatever N: no prompt is built.

        Given w, the labels of the prompt are N independent normals of variance s2 = w.w/D + noise^2, so y0.y0 is s2
        times a chi-square, and X0 given y0 is normal: along w with mean w y / (sqrt(D) s2), across w with variance 1.
        Where tokens are correlated, those along w are drawn one by one: O(P N^2 + P D).
        """
        (P, rng, w), D, N = self._drawn(P, rng), self.D, self.N
        if np.any(self.corr):
            return correlated_features(root(self.corr, N), w, self.noise, rng)
        query = rng.standard_normal((P, D))
        y = (w * query).sum(1) / np.sqrt(D)
        w2 = (w * w).sum(1)
        s2 = w2 / D + self.noise**2
        yy = s2 * rng.chisquare(N, P)  # y0.y0
        # a task of a pool may be 0: it divides 0
        w2, s2 = np.where(w2 > 0, w2, 1), np.where(s2 > 0, s2, 1)
        z = rng.standard_normal((P, D))
        # the part of z along w that y0 has fixed
        along = (1 - self.noise / np.sqrt(s2)) * (w * z).sum(1) / w2
        Xy = (yy / (np.sqrt(D) * s2) - np.sqrt(yy) * along)[:, None] * w + np.sqrt(yy)[:, None] * z
        if self.noise:
            y += self.noise * rng.standard_normal(P)
        return Features(np.column_stack([Xy, yy]) / N, query, y)

    def sample_pairs(self, P: int, *, rng: RNG = None) -> tuple[np.ndarray, np.ndarray]:
        """P prompts as rows, of which every pair may be the question: pairs (P, N+1, D+1) and rules (P, D).

        A row is (x_t, y_t) with y_t = v.x_t + noise g, and v = w / sqrt(D) is the rule of the prompt.
        """
        P, rng, w = self._drawn(P, rng)
        rules = w / np.sqrt(self.D)
        x = rng.standard_normal((P, self.N + 1, self.D))
        x = root(self.corr, self.N) @ x if np.any(self.corr) else x
        y = (x @ rules[:, :, None])[:, :, 0] + self.noise * rng.standard_normal((P, self.N + 1))
        return np.concatenate([x, y[:, :, None]], 2), rules

    def blocks(self, P: int, *, size: int = 4096, rng: int = 0) -> "PromptBlocks":
        """P prompts in blocks of ``size`` that are drawn where they are read: nothing is stored but this recipe.

        Block b is drawn by :meth:`sample_features` from a generator that counts (Philox, with the key (rng, b)), so
        it is the same whatever was read before, by whichever worker, after whichever restart. Another ``size`` gives
        other prompts. ``rng`` is an integer. Raises ValueError for P, size < 1.

        >>> from spinlib.icl import LinearTask
        >>> blocks = LinearTask(D=3, N=15).blocks(10_000, rng=1)
        >>> len(blocks), blocks[2]
        (3, Features(P=1808, D=3))
        """
        return PromptBlocks(
            self,
            check_integer("P", P, 1, hint="P is the number of prompts"),
            check_integer("size", size, 1, hint="size is the number of prompts of a block"),
            check_integer("rng", rng, 0, "it is the key of a generator that counts; write rng=0"),
        )


@dataclass(frozen=True, eq=False, repr=False)
class PromptBlocks(Sequence[Features]):
    """P prompts as a sequence of Features, each drawn when it is read; :meth:`LinearTask.blocks` makes it.

    Its ceil(P / size) blocks hold ``size`` prompts each, the last one what remains: u (size, D+1), query (size, D), y
    (size,). ``seed`` is the ``rng`` of :meth:`LinearTask.blocks`, which checks them. Raises IndexError beyond the
    last block.

    >>> from spinlib.icl import LinearTask
    >>> LinearTask(D=3, N=15).blocks(10, size=4, rng=0)[1:]
    [Features(P=4, D=3), Features(P=2, D=3)]
    """

    task: LinearTask
    P: int
    size: int
    seed: int

    __repr__ = one_line

    def held(
        self,
        *,
        dtype: DTypeLike = np.float64,
        device: str | None = None,
        jobs: int = 1,
        keep: bool | None = None,
    ) -> Blocks:
        """These prompts, and how a solver is to go over them: see :class:`Blocks`."""
        return Blocks(self, dtype=dtype, device=device, jobs=jobs, keep=keep)

    def __len__(self) -> int:
        return -(-self.P // self.size)

    def __getitem__(self, b: Any) -> Any:  # Features; of a slice, a list
        b = range(len(self))[b]  # which counts from the end, cuts, and says what is no index
        if isinstance(b, range):
            return [self[k] for k in b]
        rng = np.random.Generator(np.random.Philox(key=[self.seed, b]))
        return self.task.sample_features(min(self.size, self.P - b * self.size), rng=rng)
