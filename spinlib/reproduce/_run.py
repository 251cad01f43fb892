"""How an experiment is run: what is asked, and the points of its sweep, one after the other or side by side.

With ``jobs`` above 1 the points are handed to joblib: to its own processes (loky), or to the cluster of the backend
that ``joblib.parallel_config(backend="dask")`` or ``"ray"`` has set.
"""

import functools
import hashlib
import inspect
import json
import os
import re
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from spinlib._core import RNG, check_flag, check_integer, check_rng, need, one_thread
from spinlib.reproduce._experiment import Experiment, Point
from spinlib.reproduce._experiments import EXPERIMENTS


def run(
    figure: str,
    *,
    full: bool = False,
    rng: RNG = 0,
    progress: bool = False,
    jobs: int = 1,
    device: str = "cpu",
) -> dict[str, np.ndarray]:
    """Compute the experiment ``figure`` with the parameters of a page, or with ``full`` those of the stored file.

    Returns named arrays; ``python -m spinlib.reproduce FIGURE --list`` says which. ``rng`` is None, an integer or a
    numpy Generator, from which every point of the sweep gets its own; so the numbers do not depend on ``jobs``, the
    number of points computed side by side (joblib; under ``joblib.parallel_config(backend="dask")`` or ``"ray"`` on a
    cluster). ``progress`` draws a bar on stderr. ``device`` is for the experiments that use torch.

    >>> from spinlib.reproduce import run
    >>> run("fig0")                              # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: there is no experiment 'fig0'; choose one of: ...
    """
    asked, points = planned(figure, full=full, device=device, jobs=jobs)
    return computed(asked, points, rng=rng, progress=progress, jobs=jobs)[0]


def experiment(figure: str) -> Experiment:
    """The experiment of this name."""
    if not isinstance(figure, str) or figure not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {figure!r}; choose one of: {', '.join(names())}")
    return EXPERIMENTS[figure]


def names() -> dict[str, str]:
    """The name of every experiment, and what it is in one sentence.

    >>> from spinlib.reproduce import names
    >>> names()["pspin_equilibrium"]
    'Equilibrium of the spherical 3-spin model at N = 32 (full: also N = 64), with a test that it is one.'
    """
    ordered = sorted(
        EXPERIMENTS,
        key=lambda name: (name[:3] != "fig", [int(n) for n in re.findall(r"\d+", name)], name),
    )
    return {
        name: re.split(r"(?<=(?<!Figs)(?<!Fig)(?<!eq)\.)\s", " ".join(describe(name).split()))[0]
        for name in ordered
    }


def describe(figure: str) -> str:
    """What the arrays of the experiment ``figure`` are: names, shapes, settings."""
    return inspect.getdoc(experiment(figure).collect) or ""


def planned(
    figure: str, *, full: bool = False, device: str = "cpu", size: int | None = None, jobs: int = 1
) -> tuple[dict, list[Point]]:
    """What is asked, checked: the name, the settings and the digest of the points; and the points."""
    one = experiment(figure)
    check_integer("jobs", jobs, 1, "it is the number of points computed side by side")
    own = {} if size is None else {"size": check_integer("--size", size, 2)}
    if own and not takes("size", one.points):
        raise ValueError(f"{figure} has no other --size; leave it out")
    if device != "cpu" and not takes("device", one.compute):
        raise ValueError(
            f"{figure} does not use torch, so it has no device={device!r}; leave it out"
        )
    points = one.points(check_flag("full", full), **own)
    return {"figure": figure, "full": full, "device": device, "plan": digest(points)}, points


def computed(
    asked: dict,
    points: list[Point],
    *,
    rng: RNG,
    progress: bool = False,
    jobs: int = 1,
    folder: Path | None = None,
) -> tuple[dict[str, np.ndarray], float, float]:
    """The arrays of :func:`run` and the seconds of all points; each is kept in the ``folder`` as soon as it is
    finished, and one that is there is not computed again."""
    one = experiment(asked["figure"])
    for package in ("joblib", "tqdm", "threadpoolctl", *one.needs):
        need(package, f"the sweep {asked['figure']}")
    import joblib
    from tqdm import tqdm

    found = {}
    for path in folder.glob("*.joblib") if folder else ():
        try:
            result, wall, cpu = joblib.load(path)
            found[int(path.stem)] = dict(result), float(wall), float(cpu)
        except Exception:  # what a damaged pickle raises is any error
            print(f"{path} is damaged; the point is computed again", file=sys.stderr)
    generators = one.seeds(check_rng(rng), points)
    with (
        tqdm(
            desc=asked["figure"],
            total=len(points),
            initial=len(found),
            file=sys.stderr,
            bar_format="{l_bar}{bar}| {n:.3g}/{total} [{elapsed}<{remaining}]",
            disable=not check_flag("progress", progress),
        ) as bar,
        one_thread(),
    ):
        tell = None if jobs > 1 else lambda share: bar.update(len(found) + share - bar.n)
        extra = {"device": asked["device"], "tell": tell}
        compute = functools.partial(
            one.compute, **{name: extra[name] for name in extra if takes(name, one.compute)}
        )
        todo = [
            (compute, k, points[k], generators[k]) for k in range(len(points)) if k not in found
        ]
        for k, *done in _side_by_side(todo, jobs):
            found[k] = tuple(done)
            if folder:
                put(
                    folder / f"{k:05d}.joblib",
                    lambda file: joblib.dump(found[k], file, compress=3),
                )
            bar.update(len(found) - bar.n)
    results, wall, cpu = zip(*(found[k] for k in range(len(points))))
    return one.collect(points, list(results)), sum(wall), sum(cpu)


def _one(compute: Callable, k: int, point: Point, rng: np.random.Generator) -> tuple:
    wall, cpu = time.perf_counter(), time.process_time()
    with one_thread():
        result = {name: np.asarray(value)[()] for name, value in compute(rng=rng, **point).items()}
    return k, result, time.perf_counter() - wall, time.process_time() - cpu


def _end_with(parent: int) -> None:
    """End this worker when the process that started it is gone, for example after ``kill -9``."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _side_by_side(todo: list[tuple], jobs: int) -> Iterable[tuple]:
    if jobs == 1:
        return (_one(*task) for task in todo)
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    tasks = [delayed(_one)(*task) for task in todo]
    if get_active_backend()[0].supports_return_generator:
        return Parallel(
            n_jobs=jobs,
            return_as="generator_unordered",
            initializer=start_new_thread,  # in each process of joblib's own; a cluster ends its own
            initargs=(_end_with, (os.getpid(),)),
        )(tasks)
    return (  # a backend that returns only whole lists: short ones
        done
        for first in range(0, len(tasks), 4 * jobs)
        for done in Parallel(n_jobs=jobs)(tasks[first : first + 4 * jobs])
    )


def digest(values: object) -> str:
    """Twenty letters that change when the plain values do."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


def takes(name: str, function: Callable) -> bool:
    """Whether a function has a parameter of this name."""
    return name in inspect.signature(function).parameters


def put(path: Path, fill: Callable) -> None:
    """A file that is whole or not there: ``fill`` writes it beside its place, to which it is moved."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            fill(file)
        os.replace(temporary, path)
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        if temporary.exists():
            temporary.unlink()
