"""The command line: ``python -m spinlib.reproduce --list`` and ``FIGURE|all [--full] [--jobs N] [--out DIR]``."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path

from spinlib._core import check_device, check_integer, need
from spinlib._core._files import atomic
from spinlib.reproduce._parts import Parts
from spinlib.reproduce._plan import Plan
from spinlib.reproduce._run import describe, experiment, names, planned
from spinlib.reproduce._store import DATA, about, check_place, stored


def main(arguments: list[str] | None = None) -> int:
    """The command line of ``python -m spinlib.reproduce``; bad input ends with code 2 and words, no traceback."""
    parser = argparse.ArgumentParser(
        prog="python -m spinlib.reproduce",
        allow_abbrev=False,
        description=(
            "Compute the numbers behind a figure: FIGURE.npz, FIGURE.json (how it was made) "
            "and FIGURE.png in one folder. "
            "Interrupted, the same command goes on with the points that are missing."
        ),
    )
    parser.add_argument("figure", nargs="?", help="a name of --list, or all")
    parser.add_argument(
        "--list", action="store_true", help="the names; with a name, all of its arrays"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="the parameters of the stored file; default: of the page",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="points computed side by side (default 1)"
    )
    parser.add_argument(
        "--size", type=int, metavar="D", help="another size, where an experiment has one (large)"
    )
    parser.add_argument("--rng", type=int, default=0, metavar="SEED", help="seed (default 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="folder (default: this one)"
    )
    parser.add_argument(
        "--replace", action="store_true", help="write over a stored full run that is another one"
    )
    parser.add_argument(
        "--device", default="cpu", help="of torch, where an experiment uses it: cpu (default), cuda"
    )
    options = parser.parse_args(arguments)
    if options.figure is None and options.list:
        print(_listing())
        return 0
    if options.figure is None:
        parser.error("name a figure, or all; --list shows the names")
    try:
        asked = list(names()) if options.figure == "all" else [options.figure]
        uses = [options.figure != "all" or experiment(name).takes_device for name in asked]
        plans = [
            planned(
                name,
                full=options.full,
                rng=options.rng,
                size=options.size,
                device=options.device if use else "cpu",
            )
            for name, use in zip(asked, uses)
        ]
        if options.device != "cpu":
            check_device(options.device)
        if options.list:
            print("\n\n".join(f"{name}: {describe(name)}" for name in asked))
            return 0
        check_integer("--jobs", options.jobs, 1, "it is the number of points computed side by side")
        check_integer("--rng", options.rng, 0)
        _check_folder(options.out)
        for plan in plans:
            check_place(plan, options.out, options.replace)
        need("tqdm", "the command line")
        if options.jobs > 1:
            need("joblib", "--jobs above 1")
    except (OSError, ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    for plan in plans:
        name, path = plan.name, options.out / f"{plan.name}.npz"
        try:
            result = stored(plan, options.out, jobs=options.jobs, progress=True)
            drawn = _draw(plan, result, path.with_suffix(".png"))
        except KeyboardInterrupt:
            done = len(Parts(path.with_suffix(".parts"), plan).read())
            print(
                f"\n{name}: interrupted; the same command goes on, {done} of {len(plan.points)} points are finished",
                file=sys.stderr,
            )
            return 130
        except OSError as error:
            print(
                f"\n{name}: {error}; what is finished stays; the same command goes on from there",
                file=sys.stderr,
            )
            return 1
        made, size = about(name, options.out), path.stat().st_size / 1000
        print(f"{path}: {size:.0f} kB, {made['points']} points, {made['seconds']} s{drawn}")
        if plan.experiment.say is not None:
            print(plan.experiment.say(result))
    return 0


def _listing() -> str:
    """A row for each experiment: its name, processor seconds of its quick and of its full run, and what it is."""
    measured = json.loads(
        (DATA / "seconds.json").read_text(encoding="utf-8")
    )  # quick, and full where none is stored
    width, rows = (
        max(72, min(110, shutil.get_terminal_size((100, 24)).columns)),
        ["processor seconds:   quick   full"],
    )
    for name, sentence in names().items():
        stored_full = about(name, DATA)["cpu_seconds"] if (DATA / f"{name}.json").exists() else None
        both = [*measured.get(name, [None]), stored_full][:2]
        seconds = "".join(
            f"{'-' if s is None else f'{s:.1f}' if s < 9.95 else f'{s:.0f}':>7}" for s in both
        )
        rows += [
            textwrap.fill(f"{name:19}{seconds}  {sentence}", width, subsequent_indent=" " * 35)
        ]
    return "\n".join(rows)


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"cannot write in --out {folder}: {error.strerror or error}; name a folder of yours"
        ) from None


def _draw(plan: Plan, result: dict, path: Path) -> str:
    """Draw the picture of an experiment; words where there is none."""
    if plan.experiment.draw is None:
        return "; no picture"
    try:
        need("matplotlib", "FIGURE.png")
    except ModuleNotFoundError as error:
        return f"; no picture: {error}"
    from matplotlib.figure import Figure

    from spinlib import plotting

    with plotting.style():
        figure = Figure(
            figsize=(6.4, 5.2)
        )  # taller than on a page: some pictures stack several panels
        plan.experiment.draw(figure, result, plotting.COLOR)
        with atomic(path) as temporary:
            figure.savefig(temporary, format="png")
    return f"; {path.name}"
