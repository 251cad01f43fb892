"""The experiment of the chapter on in-context learning: a small softmax transformer that learns to fit."""
from __future__ import annotations

from functools import partial
from math import cos, pi, sqrt
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import RNG, check_array, check_integer, check_real
from spinlib.icl import in_context_ridge
from spinlib.reproduce._experiment import Experiment


def draw_pairs(P: int, n: int, D: int, noise: float = 0.5, pool: ArrayLike | None = None, *,
               rng: RNG = None) -> tuple[np.ndarray, np.ndarray]:
    """P prompts as rows: pairs (P, n, D+1) = (x_t, y_t), and their rules v (P, D); y = v.x + noise g, v = w/sqrt(D).

    ``pool`` (M, D) holds the rules to pick from; None draws a fresh rule N(0, I/D) a prompt.

    >>> from spinlib.reproduce import draw_pairs
    >>> pairs, rules = draw_pairs(5, 3, 2, noise=0.0, rng=0)
    >>> bool(abs((pairs[:, :, :2] * rules[:, None]).sum(2) - pairs[:, :, 2]).max() < 1e-12)
    True
    """
    P, n, D = check_integer("P", P, 1), check_integer("n", n, 1), check_integer("D", D, 1)
    noise, rng = check_real("noise", noise, minimum=0), np.random.default_rng(rng)
    if pool is None:
        rules = rng.standard_normal((P, D)) / sqrt(D)
    else:
        pool = check_array("pool", pool, (None, D), hint="one rule of length D a row")
        rules = pool[rng.integers(len(pool), size=P)]
    x = rng.standard_normal((P, n, D))
    y = (x @ rules[:, :, None])[:, :, 0] + noise * rng.standard_normal((P, n))
    return np.concatenate([x, y[:, :, None]], 2), rules


def _train(D, N, noise, pool, steps, width, layers, lr, rng, batch=64):
    """A transformer trained on the squared error of all its answers, from 0 examples to N; every prompt is seen once.

    ``batch`` fresh prompts a step, Adam with 50 steps of warm-up and a cosine decay of ``lr``. The loss of ``fit`` has
    a factor 1/2: with half of its usual epsilon Adam takes the same steps as on the mean square itself.
    """
    import torch

    from spinlib.attention import InContextTransformer
    from spinlib.training import fit

    def draw(rng):
        pairs, _ = draw_pairs(batch, N + 1, D, noise, pool, rng=rng)
        return SimpleNamespace(X=pairs, y=pairs[:, :, -1])

    net = InContextTransformer(D, width, layers, rng=rng)
    rate = lambda step: lr * min(1, (step + 1) / 50) * (0.51 + 0.49 * cos(pi * step / steps))
    fit(net, draw, steps=steps, lr=rate, optimizer=partial(torch.optim.Adam, eps=5e-9), rng=rng)
    return net.requires_grad_(False)


def pool_answers(pairs: ArrayLike, pool: ArrayLike, noise: float) -> np.ndarray:
    """Posterior mean (P, n) of the label of each question, given the pairs before it, for one who knows the pool.

    The weight of rule m is the softmax of minus its squared errors so far over 2 noise^2. ValueError for noise 0.

    >>> from spinlib.reproduce import pool_answers
    >>> pool_answers([[[1.0, 1.0], [2.0, 0.0]]], [[1.0], [-1.0]], noise=0.1).round(6).tolist()
    [[0.0, 2.0]]
    """
    pairs = check_array("pairs", pairs, (None, None, None), hint="pairs are (P, n, D + 1)")
    pool = check_array("pool", pool, (None, pairs.shape[2] - 1), hint="one rule of length D a row")
    noise = check_real("noise", noise, above=0)
    guesses = pairs[:, :, :-1] @ pool.T                                        # (P, n, M)
    after = np.cumsum((guesses - pairs[:, :, -1:]) ** 2, 1) / (2 * noise**2)
    energy = np.concatenate([np.zeros_like(after[:, :1]), after[:, :-1]], 1)   # of the pairs before
    weights = np.exp(energy.min(2, keepdims=True) - energy)
    return (weights * guesses).sum(2) / weights.sum(2)


def ridge_answers(pairs: ArrayLike, noise: float) -> np.ndarray:
    """The same for one who knows that rules are Gaussian: ridge regression on the pairs before, (P, n); 0 at first.

    >>> from spinlib.reproduce import ridge_answers
    >>> ridge_answers([[[1.0, 1.0], [2.0, 0.0]]], noise=1.0).tolist()
    [[0.0, 1.0]]
    """
    pairs = check_array("pairs", pairs, (None, None, None), hint="pairs are (P, n, D + 1)")
    noise = check_real("noise", noise, minimum=0)
    P, n, D = pairs.shape[0], pairs.shape[1], pairs.shape[2] - 1
    answers = np.zeros((P, n))
    for t in range(1, n):
        X = pairs[:, :t + 1].transpose(0, 2, 1).copy()
        X[:, -1, -1] = 0
        answers[:, t] = in_context_ridge(X, D * noise**2 / t)
    return answers


def _points(full):
    """Fresh tasks first, with four training seeds; then pools of M tasks, with two."""
    if not full:
        return [{"D": 2, "N": 6, "tasks": M, "run": 0, "steps": 100, "width": 16, "layers": 1} for M in (0, 4)]
    plan = [(0, run) for run in range(4)] + [(M, run) for run in range(2) for M in (2, 8, 32, 128)]
    return [{"D": 5, "N": 15, "tasks": M, "run": run, "steps": 6000, "width": 32, "layers": 2} for M, run in plan]


def _seeds(rng, points):
    """A training has the seed of its pool and its number, whatever else is run."""
    seed = int(rng.integers(2**32))
    return [np.random.default_rng([seed, p["tasks"], p["run"]]) for p in points]


def _compute(rng, D, N, tasks, run, steps, width, layers, noise=0.5, prompts=2000):
    pool = rng.standard_normal((tasks, D)) / sqrt(D) if tasks else None
    net = _train(D, N, noise, pool, steps, width, layers, 0.004, rng)
    result = {}
    for name, known in (("new", None), ("pool", pool)):
        if name == "pool" and pool is None:
            continue
        pairs, rules = draw_pairs(prompts, 2 * N + 1, D, noise, known, rng=rng)
        truth = (pairs[:, :, :-1] @ rules[:, :, None])[:, :, 0]
        blocks = np.array_split(pairs, max(1, prompts // 200))                 # little memory
        answers = {"net": np.concatenate([net(block).numpy() for block in blocks]),
                   "ridge": ridge_answers(pairs, noise)}
        if pool is not None:
            answers["posterior"] = pool_answers(pairs, pool, noise)
        for who, y in answers.items():
            squares = (y - truth) ** 2
            result[f"{name}_{who}"] = squares.mean(0)
            result[f"{name}_{who}_bar"] = squares.std(0, ddof=1) / sqrt(prompts)
            result[f"{name}_from_{who}"] = ((answers["net"] - y) ** 2).mean(0)
    return result


def _collect(points, results):
    """A softmax transformer that learns linear regression in context: error against the number of examples.

    ``length`` (2N+1,) counts examples, from 0 to twice the N of training. Fresh tasks in training, each (runs, 2N+1):
    ``net`` and ``ridge`` are errors (y_hat - v.x)^2 on 2000 new prompts a run, ``net_bar`` and ``ridge_bar``
    standard errors over these prompts, ``from_ridge`` the mean square of the difference of their answers. Pools of
    ``M`` (pools,) tasks in training, each (pools, runs, 2N+1): errors ``new_net``, ``new_ridge``, ``new_posterior``
    on new tasks and ``pool_net``, ``pool_ridge``, ``pool_posterior`` on tasks of the pool (posterior: the exact mean
    over the pool), and, on new tasks, the mean squares ``from_ridge_M`` and ``from_posterior_M`` of the difference of
    the net's answers from theirs. Noise .5. Full: D = 5, N = 15, 2 layers of width 32, 6000 steps of 64 prompts, 4
    runs, M = 2, 8, 32, 128 with 2 runs. Quick: D = 2, N = 6, one layer of width 16, 100 steps, one run, M = 4.
    """
    fresh = [r for p, r in zip(points, results) if not p["tasks"]]
    sizes = sorted({p["tasks"] for p in points} - {0})
    pools = [[r for p, r in zip(points, results) if p["tasks"] == M] for M in sizes]
    names = {name: name[4:] for name in ("new_net", "new_ridge", "new_net_bar", "new_ridge_bar")}
    found = {"length": np.arange(2 * points[0]["N"] + 1), "M": np.array(sizes),
             **{short: np.array([r[name] for r in fresh]) for name, short in names.items()},
             "from_ridge": np.array([r["new_from_ridge"] for r in fresh])}
    for name in [f"{where}_{who}" for where in ("new", "pool") for who in ("net", "ridge", "posterior")]:
        found[name] = np.array([[r[name] for r in runs] for runs in pools])
    for who in ("ridge", "posterior"):
        found[f"from_{who}_M"] = np.array([[r[f"new_from_{who}"] for r in runs] for runs in pools])
    return found


def _draw(figure, result, color):
    ax = figure.subplots()
    n = result["length"]
    ax.errorbar(n, result["net"].mean(0), result["net"].std(0), fmt="o", color=color["training"], label="transformer")
    ax.plot(n, result["ridge"].mean(0), color=color["theory"], label="ridge = Bayes")
    ax.set(xlabel="examples in the prompt", ylabel="error", ylim=(0, None))
    ax.legend()


ICL_TRANSFORMER = Experiment(_points, _compute, _collect, _draw, _seeds)
