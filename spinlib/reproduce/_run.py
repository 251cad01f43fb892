"""The table of experiments, and how one is run, stored and read again."""
from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np

from spinlib._core import RNG
from spinlib.reproduce._mapping import amp_variances
from spinlib.reproduce._pspin import pspin_equilibrium

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"
EXPERIMENTS = {"amp_variances": amp_variances, "pspin_equilibrium": pspin_equilibrium}


def run(figure: str, *, full: bool = False, rng: RNG = 0, progress: bool = False) -> dict[str, np.ndarray]:
    """Compute the experiment ``figure`` with the parameters of a page, or with ``full`` those of the stored file.

    Returns named arrays; the function of the same name in this module says which. ``rng`` is None, an integer or a
    numpy Generator; ``progress`` writes one line to stderr.

    >>> from spinlib.reproduce import run
    >>> run("fig0")
    Traceback (most recent call last):
    ...
    ValueError: there is no experiment 'fig0'; choose one of: amp_variances, pspin_equilibrium
    """
    return _experiment(figure)(full=full, rng=rng, progress=progress)


def load(figure: str, folder: str | Path | None = None) -> dict[str, np.ndarray]:
    """Read the stored full run of the experiment ``figure``; ``about`` is a JSON text of seed, versions and seconds.

    The files are part of the book's repository, not of the installed package: they are looked for in ``folder``, else
    in the folder that the environment variable SPINLIB_DATA names, else in chapters/data of the repository around
    this file. Raises FileNotFoundError, saying what to do, where there is none.

    >>> from spinlib.reproduce import load
    >>> load("pspin_equilibrium")["energy_64"].shape     # (samples, temperatures)
    (40, 13)
    """
    _experiment(figure)
    place = Path(folder or os.environ.get("SPINLIB_DATA") or DATA)
    path = place / f"{figure}.npz"
    if not path.exists():
        raise FileNotFoundError(
            f"there is no {path}; name the folder chapters/data of the book's repository, as "
            f"load({figure!r}, folder) or in the environment variable SPINLIB_DATA, or make the file: "
            f"python -m spinlib.reproduce {figure} --full --out {place}"
        )
    with np.load(path) as stored:
        return dict(stored)


def _experiment(figure):
    if figure not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {figure!r}; choose one of: {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[figure]


def main(arguments: list[str] | None = None) -> None:
    """The command line of ``python -m spinlib.reproduce``."""
    parser = argparse.ArgumentParser(prog="python -m spinlib.reproduce",
                                     description="Compute the numbers behind a figure and save them.")
    parser.add_argument("figure", choices=EXPERIMENTS)
    parser.add_argument(
        "--full", action="store_true", help="the parameters of the stored file; default: those of the page"
    )
    parser.add_argument("--rng", type=int, default=0, help="seed (default 0)")
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the .npz file (default chapters/data)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    result = run(options.figure, full=options.full, rng=options.rng, progress=True)
    about = {
        "experiment": options.figure,
        "full": options.full,
        "rng": options.rng,
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{options.figure}.npz"
    np.savez_compressed(path, about=json.dumps(about), **result)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB, {about}")
