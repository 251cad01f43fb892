"""The experiment of the chapter on in-context learning: a small softmax transformer that learns to fit."""

from functools import partial
from math import cos, pi, sqrt
from types import SimpleNamespace

import numpy as np

from spinlib.icl import LinearTask, in_context_ridge, pool_posterior
from spinlib.reproduce._experiment import Experiment, grid, lines, seeded


def _train(task, steps, width, layers, lr, rng, batch=64):
    """A transformer trained on the squared error of all its answers, from 0 examples to N; every prompt is seen once.

    ``batch`` fresh prompts a step, Adam with 50 steps of warm-up and a cosine decay of ``lr``. The loss of ``fit`` has
    a factor 1/2: with half of its usual epsilon Adam takes the same steps as on the mean square itself.
    """
    import torch

    from spinlib.attention import InContextTransformer
    from spinlib.training import fit

    def draw(rng):
        pairs, _ = task.sample_pairs(batch, rng=rng)
        return SimpleNamespace(X=pairs, y=pairs[:, :, -1])

    net = InContextTransformer(task.D, width, layers, rng=rng)
    rate = lambda step: lr * min(1, (step + 1) / 50) * (0.51 + 0.49 * cos(pi * step / steps))
    fit(net, draw, n_steps=steps, lr=rate, optimizer=partial(torch.optim.Adam, eps=5e-9), rng=rng)
    return net.requires_grad_(False)


def _ridge_answers(pairs, noise):
    """Answers (P, n) of one who knows that rules are Gaussian: ridge regression on the pairs before; 0 at first."""
    answers = np.zeros(pairs.shape[:2])
    for t in range(1, pairs.shape[1]):
        X = pairs[:, : t + 1].transpose(0, 2, 1).copy()
        X[:, -1, -1] = 0
        answers[:, t] = in_context_ridge(X, (pairs.shape[2] - 1) * noise**2 / t)
    return answers


def _points(full):
    """Fresh tasks first, with four training seeds; then pools of M tasks, with two."""
    if not full:
        return [
            {"D": 2, "N": 6, "tasks": M, "run": 0, "steps": 100, "width": 16, "layers": 1}
            for M in (0, 4)
        ]
    return [
        {"D": 5, "N": 15, "tasks": M, "run": run, "steps": 6000, "width": 32, "layers": 2}
        for M, run in [
            *((0, run) for run in range(4)),
            *((M, run) for run in range(2) for M in (2, 8, 32, 128)),
        ]
    ]


def _compute(rng, D, N, tasks, run, steps, width, layers, noise=0.5, prompts=2000):
    pool = rng.standard_normal((tasks, D)) if tasks else None
    net = _train(LinearTask(D, N, noise=noise, tasks=pool), steps, width, layers, 0.004, rng)
    result = {}
    for name, known in ({"new": None, "pool": pool} if tasks else {"new": None}).items():
        pairs, rules = LinearTask(D, 2 * N, noise=noise, tasks=known).sample_pairs(prompts, rng=rng)
        truth = (pairs[:, :, :-1] @ rules[:, :, None])[:, :, 0]
        answers = {  # in blocks: little memory
            "net": np.concatenate(
                [net(b).numpy() for b in np.array_split(pairs, max(1, prompts // 200))]
            ),
            "ridge": _ridge_answers(pairs, noise),
        }
        if pool is not None:
            answers["posterior"] = pool_posterior(pairs, pool / sqrt(D), noise)
        for who, y in answers.items():
            squares = (y - truth) ** 2
            result |= {
                f"{name}_{who}": squares.mean(0),
                f"{name}_{who}_bar": squares.std(0, ddof=1) / sqrt(prompts),
                f"{name}_from_{who}": ((answers["net"] - y) ** 2).mean(0),
            }
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
    fresh = grid(*zip(*[(p, r) for p, r in zip(points, results) if not p["tasks"]]), "run")
    pools = grid(*zip(*[(p, r) for p, r in zip(points, results) if p["tasks"]]), "tasks", "run")
    return {
        "length": np.arange(2 * points[0]["N"] + 1),
        "M": pools["tasks"],
        **{
            name: fresh[f"new_{name}"]
            for name in ("net", "ridge", "net_bar", "ridge_bar", "from_ridge")
        },
        **{
            f"{where}_{who}": pools[f"{where}_{who}"]
            for where in ("new", "pool")
            for who in ("net", "ridge", "posterior")
        },
        **{f"from_{who}_M": pools[f"new_from_{who}"] for who in ("ridge", "posterior")},
    }


EXPERIMENTS = {
    "icl_transformer": Experiment(
        _points,
        _compute,
        _collect,
        lines(
            "length",
            {"net": "training: transformer", "ridge": "theory: ridge regression"},
            axis=-1,
            xlabel="examples in the prompt",
            ylabel="error",
        ),
        seeded(lambda p: [p["tasks"], p["run"]]),  # the same training, whatever else is run
    )
}
