"""Prompts to go over: where they come from, in which precision, on which device, by how many workers."""

import contextlib
from collections import namedtuple
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from spinlib._core import check_device, check_flag, check_integer, one_thread
from spinlib.icl._prompts import Features, Prompts, features

RUNS = 32  # partial sums a pass: fixed, so that no digit depends on who computes them
# Of m prompts: u (m, D+1), query (m, D), y (m,), arrays of numpy or tensors of torch.
Block = namedtuple("Block", ("u", "query", "y"))


class Blocks:
    """P prompts of D inputs to go over, once or sweep by sweep: all that a solver needs about where and how.

    ``prompts`` may be Prompts, Features, :meth:`LinearTask.blocks`, or any sequence of Features of one size (the last
    may be smaller). With ``dtype`` float32 the blocks take half the memory and time; sums over blocks are in float64.
    With a ``device``, such as "cuda", torch makes the products. ``jobs`` is the number of workers of joblib that
    divide a sweep among them: threads here, and under ``joblib.parallel_config(backend="dask")`` or ``"ray"`` those
    of a cluster, from which 32 sums come back. ``keep`` holds the blocks in memory; by default, None, a list is held,
    and any other sequence is read again in every sweep. Workers and their order change no bit (with one thread per
    worker); the size of the blocks, the device and the processor change rounding.

    >>> from spinlib.icl import LinearTask
    >>> from spinlib.inference import ground_state_cg
    >>> prompts = LinearTask(D=5, N=20).blocks(400, size=100, rng=0).held(dtype="float32", keep=True)
    >>> prompts, ground_state_cg(prompts, ridge=0.1, tol=1e-4).converged
    (Blocks(P=400, D=5, float32), True)
    """

    def __init__(
        self,
        prompts: Prompts | Features | Sequence[Features] | Sequence[Prompts],
        *,
        dtype: DTypeLike = np.float64,
        device: str | None = None,
        jobs: int = 1,
        keep: bool | None = None,
    ):
        precision = getattr(dtype, "__name__", str(dtype))
        if precision not in ("float32", "float64"):
            raise ValueError(
                f"dtype must be float32 or float64, got {dtype!r:.60}; write dtype='float32'"
            )
        self.dtype = np.dtype(precision)
        self._device = None if device is None else check_device(device)
        self._jobs = check_integer("jobs", jobs, 1, "it is the number of workers")
        self._source: Sequence = prompts if isinstance(prompts, Sequence) else _cut(prompts)
        if not len(self._source):
            raise ValueError("prompts must hold at least one block, got none")
        held = isinstance(self._source, (list, tuple)) if keep is None else check_flag("keep", keep)
        first, last = self._read(0), len(self._source) - 1
        self._size, self.D = first.query.shape
        if held:
            self._source = [first, *map(self._read, range(1, last + 1))]
        self.P = last * self._size + len(self._read(last).y)

    def __repr__(self) -> str:
        return f"Blocks(P={self.P}, D={self.D}, {self.dtype})"

    def sums(
        self, kernel: Callable, *shared: ArrayLike, own: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Sums over the prompts, in float64, of the arrays that ``kernel(block, *shared)`` returns.

        ``own`` (P,) holds a number a prompt: the kernel gets those of its block last and returns the new ones first.
        """
        if not callable(kernel):
            raise TypeError(
                f"kernel must be a function of (block, *shared), got {type(kernel).__name__}"
            )
        runs = np.array_split(np.arange(len(self._source)), min(RUNS, len(self._source)))
        size = self._size
        tasks = [
            (kernel, b, shared, None if own is None else own[b[0] * size : (b[-1] + 1) * size])
            for b in runs
        ]
        with self._alone():
            if self._jobs == 1:
                parts = [self._run(*task) for task in tasks]
            else:
                from joblib import Parallel, delayed

                parts = Parallel(self._jobs, prefer="threads")(
                    delayed(self._run)(*task) for task in tasks
                )
        numbers, sums = zip(*parts)  # in the order of the runs, whoever computed them
        total = [sum(arrays) for arrays in zip(*sums)]
        return total if own is None else [np.concatenate(numbers), *total]

    def _run(self, kernel, run, shared, own):
        numbers, total, size = [], [], self._size
        with self._alone():  # a worker may be another process
            shared = [self._put(array) for array in shared]
            for k, b in enumerate(run):
                mine = [] if own is None else [self._put(own[k * size : (k + 1) * size])]
                found = list(kernel(self._read(b), *shared, *mine))
                numbers += [] if own is None else [self._back(found.pop(0))]
                total = [old + new for old, new in zip(total, found)] if total else found
            return np.concatenate(numbers) if numbers else None, [*map(self._back, total)]

    def _alone(self) -> contextlib.AbstractContextManager:
        """One thread for each of many workers: the same bits from every one."""
        return one_thread() if self._jobs > 1 else contextlib.nullcontext()

    def _read(self, b: int) -> Block:
        data = self._source[b]
        data = data if isinstance(data, Block) else features(data)
        (m, D), end = data.query.shape, b == len(self._source) - 1
        if b and (D != self.D or (m > self._size if end else m != self._size)):
            raise ValueError(
                f"block {b} of {len(self._source)} must hold {'at most ' * end}{self._size} prompts of "
                f"D = {self.D}, as the first, got {m} of D = {D}; cut the prompts into equal blocks"
            )
        return Block(self._put(data.u), self._put(data.query), self._put(data.y))

    def _put(self, array):
        if self._device is None:
            return np.asarray(array, self.dtype)
        import torch

        if isinstance(array, torch.Tensor):  # of a block that was kept
            return array
        return torch.tensor(np.asarray(array, self.dtype), device=self._device)

    def _back(self, array):
        return np.asarray(array if self._device is None else array.cpu(), np.float64)


def _cut(prompts, size=4096):
    """Prompts or Features as blocks: views, not copies."""
    data = features(prompts)
    parts = (slice(k, k + size) for k in range(0, len(data.y), size))
    return [Block(data.u[part], data.query[part], data.y[part]) for part in parts]
