"""The points of an experiment, computed one after the other or side by side; finished points survive an interruption.

With ``jobs`` above 1 the points are handed to joblib: to its own processes (loky), or to the cluster of the backend
that ``joblib.parallel_config(backend="dask")`` or ``"ray"`` has set. The parts are written by the calling process.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from spinlib._core import need, one_thread
from spinlib.reproduce._parts import Parts

Done = tuple[int, dict, dict]  # index of the point, its result, its seconds


def sweep(
    compute: Callable,
    points: list[dict],
    generators: list,
    *,
    jobs: int = 1,
    parts: Parts | None = None,
    progress: str = "",
) -> tuple[list[dict], list[dict]]:
    """Results and seconds of all points, in their order; those that ``parts`` has already are not computed again."""
    found = parts.read() if parts else {}
    todo = [(k, point, generators[k]) for k, point in enumerate(points) if k not in found]
    with _bar(progress, len(points), len(found)) as bar, one_thread():
        if bar is not None and jobs == 1 and "tell" in inspect.signature(compute).parameters:
            bar.bar_format = "{l_bar}{bar}| {elapsed}<{remaining}"  # points that tell which share of them is done
            compute = functools.partial(
                compute, tell=lambda share: bar.update(len(found) + share - bar.n)
            )
        for k, result, seconds in (
            _side_by_side(compute, todo, jobs) if jobs > 1 else _in_order(compute, todo)
        ):
            found[k] = result, seconds
            if parts:
                parts.write(k, result, seconds)
            if bar is not None:
                bar.update(len(found) - bar.n)
    return [found[k][0] for k in range(len(points))], [found[k][1] for k in range(len(points))]


def _one(compute: Callable, k: int, point: dict, generator: np.random.Generator) -> Done:
    wall, cpu = time.perf_counter(), time.process_time()
    with one_thread():
        result = {
            name: np.asarray(value)[()] for name, value in compute(rng=generator, **point).items()
        }
    return k, result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _in_order(compute: Callable, todo: list) -> Iterator[Done]:
    for task in todo:
        yield _one(compute, *task)


def _side_by_side(compute: Callable, todo: list, jobs: int) -> Iterable[Done]:
    need("joblib", "a sweep with jobs above 1")
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    if get_active_backend()[0].supports_return_generator:
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(_one)(compute, *t) for t in todo
        )
        return
    for first in range(
        0, len(todo), 4 * jobs
    ):  # a backend that returns only whole lists: short ones
        yield from Parallel(n_jobs=jobs)(
            delayed(_one)(compute, *t) for t in todo[first : first + 4 * jobs]
        )


def _bar(title: str, total: int, done: int):
    if not title:
        return contextlib.nullcontext()
    need("tqdm", "a progress bar")
    from tqdm import tqdm

    return tqdm(
        desc=title, total=total, initial=done, unit="point", file=sys.stderr, dynamic_ncols=True
    )
