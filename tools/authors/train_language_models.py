"""The long trainings of chapters/transformer/language_models, with the code of that page.

python tools/authors/train_language_models.py causal masked     writes spinlib/data/language_models.npz

It runs the cells of the page that stand before its own short training, and calls its `train` with the steps below for
each objective named (one to two minutes of one core each). What is there of other objectives stays.
"""

import os
import pathlib
import sys
import time

import matplotlib
import nbformat
import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from spinlib import reproduce
from spinlib.reproduce import _store

STEPS, SEEDS = {"causal": 4000, "masked": 4000}, (0,)
STOPS = (50, 100, 250, 500, 1000, 1500, 2000, 3000, 4000)


def by_letter(page, model):
    """Bits of the causal model for a character that is no letter, and for letter 1 to 6 of a held-out word."""
    with torch.no_grad():
        X, asked_for = page["causal"](model, page["held_windows"], None)
        nats = torch.nn.functional.cross_entropy(
            X @ model["W"], asked_for, reduction="none"
        ).numpy()
    return [
        round(float(nats[page["held_places"].ravel() == k].mean() / np.log(2)), 4) for k in range(7)
    ]


def cells(chapter="language_models", training="STEPS ="):
    """The names of a page of the part, from its cells that stand before its own training, which begins so."""
    matplotlib.use("agg")
    os.chdir(ROOT / "chapters" / "transformer")
    page = {}
    for cell in nbformat.read(f"{chapter}.ipynb", as_version=4).cells:
        if cell.source.startswith(training):
            break
        if cell.cell_type == "code":
            exec(compile(cell.source, "cell", "exec"), page)
    return page


def main():
    page = cells()
    for name in sys.argv[1:]:
        start = time.process_time()
        runs = [page["train"](name, STEPS[name], seed=seed, stops=STOPS) for seed in SEEDS]
        try:
            arrays, made = reproduce.load("language_models"), reproduce.about("language_models")
        except FileNotFoundError:
            arrays, made = {}, {"figure": "language_models", "full": True, "cpu_seconds": {}}
        arrays["steps"] = np.array(STOPS)
        arrays[name] = np.array(
            [[round(float(path[s]), 4) for s in STOPS if s in path] for _, path in runs]
        )
        if name == "causal":
            arrays["letters"] = np.array(by_letter(page, runs[0][0]))
        made["cpu_seconds"][name] = round(time.process_time() - start)
        _store.write(_store.DATA / "language_models.npz", arrays, {**made, "seeds": SEEDS})
        print(name, *arrays[name].tolist(), flush=True)


if __name__ == "__main__":
    main()
