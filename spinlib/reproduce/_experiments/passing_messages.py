"""The experiment of the chapter on messages inside a transformer: networks that read the root of a tree."""

from math import cos, pi, sqrt

import numpy as np

from spinlib.reproduce._experiment import Experiment, lines, seeded

GRAMMAR = """
4265 11968 2923 7080 3414 8442 478 19643 1504 1204 37812 634 9919 397847 123541 369325
11507 182276 5422 65714 4284 215309 23188 9975 8641 6915 9229 8015 440642 3430 3871 1582
4529 1868 2153 12955 2102 7488 59278 135501 625557 3283 16428 97799 2950 2312 1621 24176
291692 36000 154402 3147 157930 1189 2706 1825 6286 312991 6104 5283 5488 10789 1414 2754
"""  # of the page, in millionths: a row for each parent, its 16 pairs of children
STOPS = (16, 32, 64, 90, 128, 180, 256, 360, 512, 724, 1024, 2048, 4096, 8000)


def grammar(rng=None, q=4, leak=0.1):
    """M[a, b, c], the chance that a has children b, c: the page's, or one drawn by the same rule."""
    if rng is None:
        M = np.array(GRAMMAR.split(), float).reshape(q, q, q)
    else:
        own = rng.permutation(np.arange(q * q) % q).reshape(q, q) == np.arange(q)[:, None, None]
        W = np.exp(rng.standard_normal((q, q, q)))
        M = sum(s * V / V.sum((1, 2), keepdims=True) for s, V in ((1 - leak, own * W), (leak, W)))
    return M / M.sum((1, 2), keepdims=True)


def together(M, tie=0.0):
    """P(root, sentence) (q, q^8) of three levels; ``tie``: weight exp(tie) where the second and third pair agree."""
    q = len(M)
    inner = np.einsum("abc,bhi,cjk->ahijk", M, M, M, optimize=True)
    inner *= 1 + np.expm1(tie) * np.eye(q)[:, :, None]
    for _ in range(4):  # a pair of words for each inner node: the first axis of four goes last
        inner = np.tensordot(inner, M.reshape(q, q * q), ([1], [0]))
    return (inner / inner.sum()).reshape(q, -1)


def words(index, q, n):
    """Sentences (P, n) of symbols, from their numbers in base q."""
    return index[:, None] // q ** np.arange(n)[::-1] % q


def start(rng, q, n, layers, d=16, hidden=32):
    """Random weights: nothing in them knows a tree."""
    shapes = {  # name: shape, standard deviation
        "symbols": ((q, d), 1.0),
        "places": ((n, d), 0.5),
        "scores": ((layers, 2, n, n), 0.1),
        "values": ((layers, d, 2 * d), 1 / sqrt(d)),
        "out": ((layers, 2 * d, d), 1 / sqrt(2 * d)),
        "left": ((layers, d, hidden), 1 / sqrt(d)),
        "right": ((layers, d, hidden), 1 / sqrt(d)),
        "left_bias": ((layers, hidden), 0.1),
        "right_bias": ((layers, hidden), 0.1),
        "down": ((layers, hidden, d), 1 / sqrt(hidden)),
        "read": ((d, q), 1 / sqrt(d)),
        "read_bias": ((q,), 0.0),
    }
    return {name: size * rng.standard_normal(shape) for name, (shape, size) in shapes.items()}


def forward(w, S):
    """Log answers (P, q) of the network with weights w to sentences S (P, n), read at the first position."""
    import torch

    def norm(x):
        return x / (x * x).mean(-1, keepdim=True).add(1e-6).sqrt()

    x = w["symbols"][S] + w["places"]
    for layer in range(len(w["scores"])):
        A, V, O, G, U, g, u, D = (
            w[name][layer]
            for name in "scores values out left right left_bias right_bias down".split()
        )
        v = (norm(x) @ V).unflatten(-1, (2, -1))
        x = x + torch.einsum("hij,bjhd->bihd", A.softmax(-1), v).flatten(-2) @ O
        z = norm(x)
        x = x + ((z @ G + g) * (z @ U + u)) @ D
    return (norm(x[:, 0]) @ w["read"] + w["read_bias"]).log_softmax(-1)


def train(rng, chances, layers, steps, batch, stops=(), watch=None, q=4, n=8, lr=0.01, tell=None):
    """Weights after ``steps`` of Adam on fresh sentences with sampled roots, and answers to ``watch`` at ``stops``."""
    import torch

    ends = np.cumsum(chances)
    w = {
        name: torch.tensor(W, dtype=torch.float32, requires_grad=True)
        for name, W in start(rng, q, n, layers).items()
    }
    adam, path = torch.optim.Adam(w.values(), lr=lr), []
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = lr * min(1, (step + 1) / 50) * (1 + cos(pi * step / steps)) / 2
        root, sentence = np.divmod(np.searchsorted(ends, ends[-1] * rng.random(batch)), q**n)
        loss = -forward(w, words(sentence, q, n))[np.arange(batch), root].mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step + 1 in stops:
            with torch.no_grad():
                path.append(forward(w, watch).numpy())
        if tell and step % 100 == 0:
            tell(step / steps)
    return {name: W.detach().numpy() for name, W in w.items()}, np.array(path)


def _points(full):
    return [
        {"kind": "page", "run": run, "layers": 3, "steps": 8000 if full else 40, "batch": 256}
        for run in range(3 if full else 1)
    ]


def _variants(full):
    return [
        {"kind": kind, "run": run, "layers": layers, "steps": 1500 if full else 20, "batch": 512}
        for kind, layers in (("two", 2), ("other", 3), ("loop", 3), ("short", 3))
        for run in range(3 if full and kind != "short" else 1)
    ]


def _compute(rng, kind, run, layers, steps, batch, tell=None):
    M = grammar(np.random.default_rng([run, 0]) if kind == "other" else None)
    chances = together(M, 3.0 if kind == "loop" else 0.0)
    if kind != "page":
        return {"grammar": M} | train(rng, chances.ravel(), layers, steps, batch, tell=tell)[0]
    watch = rng.choice(4**8, 512, p=chances.sum(0))
    net, path = train(
        rng, chances.ravel(), layers, steps, batch, STOPS, words(watch, 4, 8), tell=tell
    )
    return {"grammar": M, "watch": watch, "path": path.astype(np.float16)} | net


def _collect(points, results):
    """Small transformers that read the root of a tree of three levels from its eight leaves.

    One run on the first axis: ``grammar`` (4, 4, 4); weights, float32, named as in ``start``; ``path`` (stops, 512, 4),
    log answers in half precision to the sentences ``watch`` (512,) during training, after ``steps`` (stops,).
    Full: 3 runs, 8000 steps of 256 sentences. Quick: one run of 40 steps.
    """
    arrays = {name: np.stack([one[name] for one in results]) for name in results[0]}
    return arrays | {"steps": np.array(STOPS[: arrays["path"].shape[1]])}


def _collect_variants(points, results):
    """Variations of those transformers: two layers, other grammars, a tree with a loop, fewer sentences.

    ``KIND_name`` (runs, ...) with the names of the weights, and ``KIND_grammar``: ``two`` has two layers, ``other``
    another grammar each, drawn by the rule of the page's, ``loop`` a weight exp(3) where the second and the third pair
    agree, ``short`` nothing but a shorter training. Full: 3 runs of each, one of
    ``short``, 1500 steps of 512 sentences. Quick: one of each, 20 steps.
    """
    kinds = {
        kind: [r for p, r in zip(points, results, strict=True) if p["kind"] == kind]
        for kind in ("two", "other", "loop", "short")
    }
    return {
        f"{kind}_{name}": np.stack([one[name] for one in runs])
        for kind, runs in kinds.items()
        for name in runs[0]
    }


SEEDS = seeded(lambda p: [("page", "two", "other", "loop", "short").index(p["kind"]), p["run"]])
EXPERIMENTS = {
    "passing_messages": Experiment(
        _points,
        _compute,
        _collect,
        lines(
            "steps",
            lambda r: {"training: a network": np.abs(r["path"].astype(float)).mean((2, 3))},
            axis=1,
            xlabel="steps",
            ylabel="mean size of a log answer",
            xscale="log",
        ),
        SEEDS,
        needs=("torch",),
    ),
    "passing_variants": Experiment(
        _variants,
        _compute,
        _collect_variants,
        lines(
            lambda r: np.arange(8),
            lambda r: {f"-: {kind}": r[f"{kind}_scores"][:, -1, 0, 0] for kind in ("two", "other")},
            axis=1,
            xlabel="position",
            ylabel="scores of the first position, last layer",
        ),
        SEEDS,
        needs=("torch",),
    ),
}
