"""How an experiment is run."""

from __future__ import annotations

import functools
import inspect
import re

import numpy as np

from spinlib._core import RNG, check_flag, check_integer, check_rng
from spinlib.reproduce._experiment import Experiment
from spinlib.reproduce._experiments import EXPERIMENTS
from spinlib.reproduce._parts import Parts
from spinlib.reproduce._plan import Plan
from spinlib.reproduce._sweep import sweep


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
    plan = planned(figure, full=full, device=device)
    return computed(plan, rng=rng, progress=progress, jobs=jobs)[0]


def planned(
    figure: str,
    *,
    full: bool = False,
    device: str = "cpu",
    size: int | None = None,
    **settings: object,
) -> Plan:
    """The plan of a run: the experiment of this name with the points of a page or of the stored file, checked."""
    one = experiment(figure)
    if size is not None and "size" not in inspect.signature(one.points).parameters:
        raise ValueError(f"{figure} has no other --size; leave it out")
    own = {} if size is None else {"size": check_integer("--size", size, 2)}
    points = one.points(check_flag("full", full), **own)
    if device != "cpu" and not one.takes_device:
        raise ValueError(
            f"{figure} does not use torch, so it has no device={device!r}; leave it out"
        )
    return Plan(figure, one, points, {"full": full, **settings, "device": device})


def computed(
    plan: Plan, *, rng: RNG, progress: bool = False, jobs: int = 1, parts: Parts | None = None
) -> tuple[dict[str, np.ndarray], list[dict]]:
    """The arrays of :func:`run`, and the seconds of each point."""
    one, points = plan.experiment, plan.points
    jobs = check_integer("jobs", jobs, 1, "it is the number of points computed side by side")
    generators = one.generators(check_rng(rng), points)
    device = {"device": plan.settings["device"]} if one.takes_device else {}
    results, seconds = sweep(
        functools.partial(one.compute, **device),
        points,
        generators,
        jobs=jobs,
        parts=parts,
        progress=plan.name if check_flag("progress", progress) else "",
    )
    return one.collect(points, results), seconds


def experiment(figure: str) -> Experiment:
    """The experiment of this name."""
    if not isinstance(figure, str) or figure not in EXPERIMENTS:
        known = ", ".join(sorted(EXPERIMENTS, key=_order))
        raise ValueError(f"there is no experiment {figure!r}; choose one of: {known}")
    return EXPERIMENTS[figure]


def names() -> dict[str, str]:
    """The name of every experiment, and what it is in one sentence.

    >>> from spinlib.reproduce import names
    >>> names()["pspin_equilibrium"]
    'Equilibrium of the spherical 3-spin model at N = 32 (full: also N = 64), with a test that it is one.'
    """
    return {
        name: re.split(r"(?<=(?<!Figs)(?<!Fig)(?<!eq)\.)\s", " ".join(describe(name).split()))[0]
        for name in sorted(EXPERIMENTS, key=_order)
    }


def describe(figure: str) -> str:
    """What the arrays of the experiment ``figure`` are: names, shapes, settings."""
    return inspect.getdoc(experiment(figure).collect) or ""


def _order(name: str) -> tuple:
    """Figures by their number, then the others."""
    number = re.match(r"fig(\d+)", name)
    return (0, int(number.group(1)), name) if number else (1, 0, name)
