"""A small experiment for the tests of the sweep, with a command line.

python tests/helpers/tiny_sweep.py tiny --out DIR

It writes a line to the file TINY_LOG at the start of each point, waits TINY_WAIT seconds, and draws its numbers from
its generator, so that a test can see which points were computed, kill the run in the middle and compare what comes out.
"""

import os
import sys
import time

import numpy as np

from spinlib.reproduce.__main__ import main
from spinlib.reproduce._experiment import Experiment
from spinlib.reproduce._run import EXPERIMENTS


def points(full):
    return [
        {"size": size, "name": "odd" if size % 2 else "even"}
        for size in range(2, 14 if full else 10)
    ]


def compute(rng, size, name):
    if log := os.environ.get("TINY_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{size}\n")
    time.sleep(float(os.environ.get("TINY_WAIT", 0)))
    a = rng.standard_normal((60 + size, 60 + size))
    return {
        "sum": a.sum(),
        "odd": name == "odd",
        "vector": (a @ a)[0, :3],
        "nothing": np.nan,
    }


def collect(points, results):
    """A row for each size.

    ``size`` (8,), ``sum`` (8,), ``odd`` (8,), ``vector`` (8, 3).
    """
    size = np.array([p["size"] for p in points])
    return {
        "size": size,
        **{k: np.array([r[k] for r in results]) for k in ("sum", "odd", "vector", "nothing")},
    }


def draw(figure, result, color):
    figure.subplots().plot(result["size"], result["sum"], color=color["exact"])


TINY = Experiment(points, compute, collect, draw)


def whole(folder):
    """The bytes of the result in a folder."""
    return (folder / "tiny.npz").read_bytes()


def gpu(rng, size, name, device="cpu"):
    return {**compute(rng, size, name), "sum": len(device)}


if __name__ == "__main__":
    EXPERIMENTS.clear()
    EXPERIMENTS["tiny"] = TINY
    EXPERIMENTS["other"] = Experiment(lambda full: points(full)[:2], compute, collect, draw)
    sys.exit(main())
