"""The experiment of the chapter on in-context learning: a small softmax transformer that learns to read prompts."""
from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import RNG, check_array, check_integer, check_real, check_type
from spinlib.icl import in_context_ridge
from spinlib.reproduce._experiment import Experiment


@dataclass(frozen=True, eq=False)
class Reader:
    """The weights of the small transformer: ``embed`` (D+2, width), its ``layers``, ``out`` (width,); float32."""

    embed: object
    layers: tuple
    out: object

    @property
    def parameters(self) -> list:
        """All trained tensors."""
        found = [self.embed, self.out]
        for layer in self.layers:
            own = layer.own
            found += [own.W_Q, own.W_K, own.W_V, own.W_O, layer.W_1, layer.b_1, layer.W_2, layer.b_2]
        return found

    def __repr__(self) -> str:
        D, width = self.embed.shape[0] - 2, len(self.out)
        return f"Reader(D={D}, width={width}, layers={len(self.layers)})"


def draw_reader(D: int, width: int = 32, layers: int = 2, heads: int = 4, *, rng: RNG = None) -> Reader:
    """A reader with random weights and ``out`` = 0, so that its first answers are all 0.

    >>> from spinlib.reproduce import draw_reader
    >>> draw_reader(2, rng=0)
    Reader(D=2, width=32, layers=2)
    """
    import torch

    from spinlib.attention import Heads, Layer

    D, rng = check_integer("D", D, 1), np.random.default_rng(rng)
    embed = torch.from_numpy(rng.standard_normal((D + 2, width)) / sqrt(D + 2)).float()
    stack = []
    for _ in range(check_integer("layers", layers, 1)):
        new = Layer.draw(width, heads, 4 * width, rng=rng)
        own = Heads(*(W.float() for W in (new.own.W_Q, new.own.W_K, new.own.W_V, new.own.W_O / sqrt(layers))))
        stack.append(Layer(own, new.W_1.float(), new.b_1.float(), new.W_2.float() / sqrt(layers), new.b_2.float(),
                           new.gain, new.shift))
    return Reader(embed, tuple(stack), torch.zeros(width))


def read_prompts(reader: Reader, pairs: ArrayLike) -> object:
    """The answers (P, n) of the reader: entry t is its guess of label t from the pairs before t, a torch tensor.

    ``pairs`` (P, n, D+1) are (x_t, y_t), one a row. Every x_t enters twice: as a question (x_t, 0, 1), which may look
    at itself and at the pairs before it, and as a pair (x_t, y_t, 0), which may look at itself and the pairs before.
    Two blocks a layer, attention and feed-forward net, each added to the tokens; no normalisation and no positions.
    ValueError for pairs of another shape.

    >>> from spinlib.reproduce import draw_pairs, draw_reader, read_prompts
    >>> read_prompts(draw_reader(2, rng=0), draw_pairs(1, 4, 2, rng=1)[0]).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """
    import torch

    from spinlib.attention import multi_head

    check_type("reader", reader, Reader, "draw one with draw_reader(D) or train one with train_reader(D, N)")
    pairs = torch.as_tensor(pairs, dtype=reader.embed.dtype)
    D = reader.embed.shape[0] - 2
    if pairs.ndim != 3 or pairs.shape[1] < 1 or pairs.shape[2] != D + 1:
        raise ValueError(f"pairs must have shape (P, n, {D + 1}) with n >= 1, got {tuple(pairs.shape)}; "
                         "rows (x, y), the last one the question, whose label is not read")
    n, one = pairs.shape[1], torch.ones_like(pairs[:, :, :1])
    questions = torch.cat([pairs[:, :, :-1], 0 * one, one], 2)
    X = torch.cat([questions, torch.cat([pairs, 0 * one], 2)], 1) @ reader.embed
    itself, before = torch.eye(n, dtype=torch.bool), torch.ones(n, n, dtype=torch.bool).tril(-1)
    mask = torch.cat([torch.cat([itself, before], 1), torch.cat([itself & ~itself, before | itself], 1)])
    for layer in reader.layers:
        X = X + multi_head(X, layer.own, mask=mask)
        X = X + torch.relu(X @ layer.W_1 + layer.b_1) @ layer.W_2 + layer.b_2
    return X[:, :n] @ reader.out


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


def train_reader(D: int, N: int, *, noise: float = 0.5, pool: ArrayLike | None = None, steps: int = 400,
                 width: int = 32, layers: int = 2, batch: int = 64, lr: float = 0.005, rng: RNG = None) -> Reader:
    """A reader trained on the squared error of all its answers, from 0 examples to N; every prompt is seen once.

    ``batch`` fresh prompts a step, Adam with 50 steps of warm-up and a cosine decay of ``lr``, float32.

    >>> from spinlib.reproduce import draw_pairs, read_prompts, train_reader
    >>> reader = train_reader(1, 4, steps=120, width=16, layers=1, rng=0)
    >>> pairs, rules = draw_pairs(1000, 5, 1, rng=1)
    >>> error = ((read_prompts(reader, pairs).detach().numpy()[:, 4] - pairs[:, 4, 0] * rules[:, 0]) ** 2).mean()
    >>> bool(error < 0.8)                        # predicting 0 has 1
    True
    """
    import torch

    N, steps = check_integer("N", N, 1), check_integer("steps", steps, 1)
    lr, rng = check_real("lr", lr, above=0), np.random.default_rng(rng)
    reader = draw_reader(D, width, layers, rng=rng)
    for weights in reader.parameters:
        weights.requires_grad_()
    adam = torch.optim.Adam(reader.parameters, lr=lr)
    for step in range(steps):
        adam.param_groups[0]["lr"] = lr * min(1, (step + 1) / 50) * (0.51 + 0.49 * cos(pi * step / steps))
        pairs = torch.from_numpy(draw_pairs(batch, N + 1, D, noise, pool, rng=rng)[0]).float()
        loss = (read_prompts(reader, pairs) - pairs[:, :, -1]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    for weights in reader.parameters:
        weights.requires_grad_(False)
    return reader


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
    reader = train_reader(D, N, noise=noise, pool=pool, steps=steps, width=width, layers=layers, lr=0.004, rng=rng)
    result = {}
    for name, known in (("new", None), ("pool", pool)):
        if name == "pool" and pool is None:
            continue
        pairs, rules = draw_pairs(prompts, 2 * N + 1, D, noise, known, rng=rng)
        truth = (pairs[:, :, :-1] @ rules[:, :, None])[:, :, 0]
        blocks = np.array_split(pairs, max(1, prompts // 200))                 # little memory
        answers = {"reader": np.concatenate([read_prompts(reader, block).numpy() for block in blocks]),
                   "ridge": ridge_answers(pairs, noise)}
        if pool is not None:
            answers["posterior"] = pool_answers(pairs, pool, noise)
        for who, y in answers.items():
            squares = (y - truth) ** 2
            result[f"{name}_{who}"] = squares.mean(0)
            result[f"{name}_{who}_bar"] = squares.std(0, ddof=1) / sqrt(prompts)
            result[f"{name}_from_{who}"] = ((answers["reader"] - y) ** 2).mean(0)
    return result


def _collect(points, results):
    """A softmax transformer that learns linear regression in context: error against the number of examples.

    ``length`` (2N+1,) counts examples, from 0 to twice the N of training. Fresh tasks in training, each (runs, 2N+1):
    ``reader`` and ``ridge`` are errors (y_hat - v.x)^2 on 2000 new prompts a run, ``reader_bar`` and ``ridge_bar``
    standard errors over these prompts, ``from_ridge`` the mean square of the difference of their answers. Pools of
    ``M`` (pools,) tasks in training, each (pools, runs, 2N+1): errors ``new_reader``, ``new_ridge``, ``new_posterior``
    on new tasks and ``pool_reader``, ``pool_ridge``, ``pool_posterior`` on tasks of the pool (posterior: the exact mean
    over the pool), and, on new tasks, the mean squares ``from_ridge_M`` and ``from_posterior_M`` of the difference of
    the reader's answers from theirs. Noise .5. Full: D = 5, N = 15, 2 layers of width 32, 6000 steps of 64 prompts, 4
    runs, M = 2, 8, 32, 128 with 2 runs. Quick: D = 2, N = 6, one layer of width 16, 100 steps, one run, M = 4.
    """
    fresh = [r for p, r in zip(points, results) if not p["tasks"]]
    sizes = sorted({p["tasks"] for p in points} - {0})
    pools = [[r for p, r in zip(points, results) if p["tasks"] == M] for M in sizes]
    names = {name: name[4:] for name in ("new_reader", "new_ridge", "new_reader_bar", "new_ridge_bar")}
    found = {"length": np.arange(2 * points[0]["N"] + 1), "M": np.array(sizes),
             **{short: np.array([r[name] for r in fresh]) for name, short in names.items()},
             "from_ridge": np.array([r["new_from_ridge"] for r in fresh])}
    for name in [f"{where}_{who}" for where in ("new", "pool") for who in ("reader", "ridge", "posterior")]:
        found[name] = np.array([[r[name] for r in runs] for runs in pools])
    for who in ("ridge", "posterior"):
        found[f"from_{who}_M"] = np.array([[r[f"new_from_{who}"] for r in runs] for runs in pools])
    return found


def _draw(figure, result, color):
    ax = figure.subplots()
    n = result["length"]
    ax.errorbar(n, result["reader"].mean(0), result["reader"].std(0), fmt="o", color=color["training"], label="reader")
    ax.plot(n, result["ridge"].mean(0), color=color["theory"], label="ridge = Bayes")
    ax.set(xlabel="examples in the prompt", ylabel="error", ylim=(0, None))
    ax.legend()


ICL_TRANSFORMER = Experiment(_points, _compute, _collect, _draw, _seeds)
