"""The table of experiments, and how one is run."""
from __future__ import annotations

import functools
import inspect

import numpy as np

from spinlib._core import RNG, check_flag, check_integer, check_rng
from spinlib.reproduce._architectures import FIG15
from spinlib.reproduce._correlated import FIG13, FIG14
from spinlib.reproduce._disorder import FIG5, FIG6
from spinlib.reproduce._experiment import Experiment
from spinlib.reproduce._in_context import ICL_TRANSFORMER
from spinlib.reproduce._landscape import FIG10, FIG11
from spinlib.reproduce._learning_curve import LEARNING_SIZES
from spinlib.reproduce._mapping import AMP_VARIANCES
from spinlib.reproduce._merged import FIG16
from spinlib.reproduce._parts import Parts
from spinlib.reproduce._phase import FIG12A, FIG12B
from spinlib.reproduce._plan import Plan
from spinlib.reproduce._pspin import PSPIN_EQUILIBRIUM
from spinlib.reproduce._pure import FIG17, FIG18
from spinlib.reproduce._sweep import sweep
from spinlib.reproduce._weights import FIG7, FIG8, FIG9

EXPERIMENTS: dict[str, Experiment] = {
    "fig16": FIG16,
    "learning_sizes": LEARNING_SIZES,
    "fig15": FIG15,
    "icl_transformer": ICL_TRANSFORMER,
    "amp_variances": AMP_VARIANCES,
    "fig5": FIG5,
    "fig6": FIG6,
    "fig10": FIG10,
    "fig11": FIG11,
    "pspin_equilibrium": PSPIN_EQUILIBRIUM,
    "fig7": FIG7,
    "fig8": FIG8,
    "fig9": FIG9,
    "fig12a": FIG12A,
    "fig12b": FIG12B,
    "fig13": FIG13,
    "fig14": FIG14,
    "fig17": FIG17,
    "fig18": FIG18,
}


def run(figure: str, *, full: bool = False, rng: RNG = 0, progress: bool = False, jobs: int = 1,
        device: str = "cpu") -> dict[str, np.ndarray]:
    """Compute the experiment ``figure`` with the parameters of a page, or with ``full`` those of the stored file.

    Returns named arrays; :func:`describe` says which. ``rng`` is None, an integer or a
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


def planned(figure: str, *, full: bool = False, device: str = "cpu", **settings: object) -> Plan:
    """The plan of a run: the experiment of this name with the points of a page or of the stored file, checked."""
    one = experiment(figure)
    points = one.points(check_flag("full", full))
    if device != "cpu" and not one.takes_device:
        raise ValueError(f"{figure} does not use torch, so it has no device={device!r}; leave it out")
    return Plan(figure, one, points, {"full": full, **settings, "device": device})


def computed(plan: Plan, *, rng: RNG, progress: bool = False, jobs: int = 1,
             parts: Parts | None = None) -> tuple[dict[str, np.ndarray], list[dict]]:
    """The arrays of :func:`run`, and the seconds of each point."""
    one, points = plan.experiment, plan.points
    jobs = check_integer("jobs", jobs, 1, "it is the number of points computed side by side")
    generators = one.generators(check_rng(rng), points)
    device = {"device": plan.settings["device"]} if one.takes_device else {}
    results, seconds = sweep(functools.partial(one.compute, **device), points, generators, jobs=jobs, parts=parts,
                             progress=plan.name if check_flag("progress", progress) else "")
    return one.collect(points, results), seconds


def experiment(figure: str) -> Experiment:
    """The experiment of this name."""
    if figure not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {figure!r}; choose one of: {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[figure]


def describe(figure: str) -> str:
    """What the arrays of the experiment ``figure`` are: names, shapes, settings.

    >>> from spinlib.reproduce import describe
    >>> print(describe("pspin_equilibrium").splitlines()[0])
    Equilibrium of the spherical 3-spin model at N = 32 (full: also N = 64), with a test that it is one.
    """
    return inspect.getdoc(experiment(figure).collect) or ""
