"""Passes over prompts that never form the samples s = u (x) query.

A kernel reads as its formula, in numpy and in torch alike. :class:`Pass` sums it over the prompts, and is the only
place that knows of order, workers, precision and devices.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import DTypeLike

from spinlib._core import check_device, check_flag, check_integer, check_real, need, one_thread
from spinlib.icl import Features, Prompts, features
from spinlib.inference._marginals import check_beta

RUNS = 32  # partial sums a pass: fixed, so that no digit depends on who computes them
LEAST = 1e-6  # no tolerance below it in float32, whose rounding no sweep undoes
Block = namedtuple("Block", "u query y")  # of m prompts: (m, D+1), (m, D), (m,)
Data = Prompts | Features | Sequence[Features]
Place = str | os.PathLike | None  # of a checkpoint


def fields(block: Block) -> tuple:
    """Sum y s, and sum s^2."""
    u, x, y = block
    return u.T @ (x * y[:, None]), (u * u).T @ (x * x)


def curvature(block: Block, W: np.ndarray) -> tuple:
    """Sum s (s . W)."""
    u, x, _ = block
    return (u.T @ (x * ((u @ W) * x).sum(1)[:, None]),)


def messages(block: Block, m: np.ndarray, v: np.ndarray, P: float, g: np.ndarray) -> tuple:
    """What prompts tell spins of means m and variances v / beta: g (own) of each prompt, precisions, sum g s."""
    u, x, y = block
    u2, x2 = u * u, x * x
    tau = ((u2 @ v) * x2).sum(1)  # beta times the variance of s . sigma
    g = (y - ((u @ m) * x).sum(1) + tau * g) / (P + tau)
    return g, u2.T @ (x2 / (P + tau)[:, None]), u.T @ (x * g[:, None])


def heard(block: Block, z: np.ndarray) -> tuple:
    """z (own) as it is, and sum z s without the row of the labels."""
    u, x, _ = block
    return z, u[:, :-1].T @ (x * z[:, None])


def surprises(block: Block, W: np.ndarray, back: float, z: np.ndarray) -> tuple:
    """Residuals z (own) of weights W (D, D), with the reaction to their own messages, and sum z s."""
    u, x, y = block
    return heard(block, y - ((u[:, :-1] @ W) * x).sum(1) + back * z)


class Pass:
    """P prompts of D inputs to go over, in blocks of ``size`` (the last may be smaller): once, or sweep by sweep."""

    def __init__(
        self,
        data: Data,
        dtype: DTypeLike = np.float64,
        device: str | None = None,
        jobs: int = 1,
        keep: bool | None = None,
    ):
        self.dtype, self.device = np.dtype(dtype), None if device is None else check_device(device)
        self.jobs = check_integer("jobs", jobs, 1, "it is the number of workers")
        if self.jobs > 1:
            need("joblib", "jobs above 1")
        self.blocks = data if isinstance(data, Sequence) else _cut(data)
        if not len(self.blocks):
            raise ValueError("features must hold at least one block of prompts, got none")
        held = isinstance(self.blocks, (list, tuple)) if keep is None else check_flag("keep", keep)
        self.kept = False
        first = self._read(0)
        self.size, self.D = first.query.shape
        if held:
            self.blocks, self.kept = (
                [first, *(self._read(b) for b in range(1, len(self.blocks)))],
                True,
            )
        self.P = (len(self.blocks) - 1) * self.size + len(self._read(len(self.blocks) - 1).y)
        self.runs = np.array_split(np.arange(len(self.blocks)), min(RUNS, len(self.blocks)))

    def __call__(
        self, kernel: Callable, *shared: np.ndarray | float, own: np.ndarray | None = None
    ) -> list:
        """Sums over the prompts, in float64, of the arrays that ``kernel(block, *shared)`` returns.

        ``own`` (P,) holds a number a prompt: the kernel gets those of its block last and returns the new ones first.
        """
        tasks = [
            (
                kernel,
                run,
                shared,
                None if own is None else own[run[0] * self.size : (run[-1] + 1) * self.size],
            )
            for run in self.runs
        ]
        with self._exact():
            if self.jobs == 1:
                parts = [self._run(*task) for task in tasks]
            else:
                from joblib import Parallel, delayed

                parts = Parallel(self.jobs, prefer="threads")(
                    delayed(self._run)(*task) for task in tasks
                )
        numbers, sums = zip(*parts)  # in the order of the runs, whoever computed them
        total = [sum(arrays) for arrays in zip(*sums)]
        return total if own is None else [np.concatenate(numbers), *total]

    def _run(self, kernel, run, shared, own):
        numbers, total = [], []
        with self._exact():  # a worker may be another process
            shared = [self._put(array) for array in shared]
            for k, b in enumerate(run):
                mine = [] if own is None else [self._put(own[k * self.size : (k + 1) * self.size])]
                found = list(kernel(self._read(b), *shared, *mine))
                if own is not None:
                    numbers.append(self._back(found.pop(0)))
                total = [old + new for old, new in zip(total, found)] if total else found
            return np.concatenate(numbers) if numbers else None, [
                self._back(array) for array in total
            ]

    def saved(self, checkpoint: Place, *settings: object) -> dict:
        """How ``iterate`` keeps a run of these settings over these prompts, told by their first and last block."""
        if checkpoint is None:
            return {}
        ends = [
            self._back(array).astype(np.float32)
            for b in (0, len(self.blocks) - 1)
            for array in self._read(b)
        ]
        mark = hashlib.sha256(repr((self.P, str(self.dtype), *settings)).encode())
        for array in ends:
            mark.update(array.tobytes())
        return {"checkpoint": checkpoint, "mark": mark.hexdigest()}

    @contextlib.contextmanager
    def _exact(self) -> Iterator[None]:
        """The same bits from every worker: one thread each, and no shortened factors in products of torch."""
        with contextlib.ExitStack() as stack:
            if self.jobs > 1:
                stack.enter_context(one_thread())
            if self.device is not None:
                import torch

                stack.callback(
                    torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()
                )
                torch.set_float32_matmul_precision("highest")
            yield

    def _read(self, b):
        if self.kept:
            return self.blocks[b]
        data = self.blocks[b]
        data = data if isinstance(data, Block) else features(data)
        (m, D), end = data.query.shape, b == len(self.blocks) - 1
        if b and (D != self.D or (m > self.size if end else m != self.size)):
            raise ValueError(
                f"block {b} of {len(self.blocks)} must hold {'at most ' * end}{self.size} prompts of D = "
                f"{self.D}, as the first, got {m} of D = {D}; cut the prompts into equal blocks"
            )
        return Block(self._put(data.u), self._put(data.query), self._put(data.y))

    def _put(self, array):
        if self.device is None:
            return np.asarray(array, self.dtype)
        import torch

        return torch.tensor(np.asarray(array, self.dtype), device=self.device)

    def _back(self, array):
        return np.asarray(array if self.device is None else array.cpu(), np.float64)


def _cut(data, size=4096):
    """Prompts, Features, or what has u, query and y, as blocks: views, not copies."""
    if not isinstance(data, (Prompts, Features)):
        if not all(hasattr(data, name) for name in Block._fields):
            raise TypeError(
                "features must be Prompts or Features, or have u (P, D+1), query (P, D) and y (P,), got "
                f"{type(data).__name__}; make them with icl.LinearTask(D, N).sample(P)"
            )
        data = Features(data.u, data.query, data.y)
    data = features(data)
    return [
        Block(data.u[k : k + size], data.query[k : k + size], data.y[k : k + size])
        for k in range(0, len(data.y), size)
    ]


def check(
    data: Data,
    ridge: float,
    beta: float,
    tol: float,
    dtype: DTypeLike,
    device: str | None,
    jobs: int,
    keep: bool | None,
) -> tuple[Pass, float, float]:
    """A pass over the data, ridge and tol, or an error in words."""
    check_beta(beta)
    ridge, tol = check_real("ridge", ridge, minimum=0), check_real("tol", tol, above=0)
    if dtype not in (np.float32, np.float64, "float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}; write dtype='float32'")
    if np.dtype(dtype) == np.float32 and tol < LEAST:
        raise ValueError(
            f"tol must be at least {LEAST:g} in float32, whose rounding no sweep undoes, got {tol:g}; "
            "write tol=1e-4"
        )
    return Pass(data, dtype, device, jobs, keep), ridge, tol
