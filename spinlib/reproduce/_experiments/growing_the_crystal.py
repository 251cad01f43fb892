"""Sparse weights: how many prompts each method and a training need, and what a curriculum saves."""

import numpy as np
from scipy.special import softmax

from spinlib._core import iterate
from spinlib.icl import LinearTask, best_weights, population_error
from spinlib.reproduce._experiment import Experiment, grid, lines

D, N = 40, 800
LADDER = range(100, 281, 20)  # prompts for the fast methods
DESCENT = (220, 260, 300, 340)  # and for gradient descent
FULL = (  # of the curriculum: D, design, blocks, draws, prompts
    (40, "uniform", 1, 16, (140, 160, 180, 200)),
    (40, "growing", 8, 16, (140, 160, 180, 200)),
    (80, "uniform", 1, 12, (340, 380, 420, 460)),
    (80, "growing", 8, 12, (300, 340, 380, 420)),
    (160, "uniform", 1, 8, (840, 920, 1000, 1080)),
    (160, "growing", 8, 8, (660, 720, 780, 840)),
    (160, "chain", 16, 8, (800, 880, 960, 1040)),
    (400, "uniform", 1, 4, (2600, 2700, 2800)),
    (400, "growing", 8, 4, (2000, 2100, 2200)),
    (400, "chain", 20, 4, (2200, 2320, 2440)),
    (800, "uniform", 1, 2, (4600,)),
    (800, "growing", 8, 2, (4600,)),
    (40, "graded", 40, 16, (140, 160, 180, 200)),
    (80, "graded", 80, 12, (300, 340, 380, 420)),
    (160, "graded", 160, 8, (660, 720, 780, 840)),
    (400, "graded", 400, 4, (2000, 2100, 2200)),
)
TRAINING = {  # D: prompts
    20: (50, 60, 70, 80, 100, 120, 140, 160),
    40: (120, 145, 170, 195, 240, 290, 340, 390),
    80: (290, 345, 400, 460, 570, 690, 805, 920),
}
SPIKES = {
    "two_points": [1],
    "ternary": [1, -1],
    "gaussian": [0],
    "columns": [1],
}  # means of spikes, in units of their size


def posterior(r, v, share, size, kind):
    """Mean and variance of weights that are 0 or spikes, heard as r in noise v; share and size that fit best.

    Of kind ``columns`` each column has one spike, wherever it is.
    """
    if kind == "columns":
        p = softmax(size * (r - size / 2) / v, axis=0)
        return size * p, size**2 * p * (1 - p), p.mean(), (p * r).sum() / p.sum()
    signs = np.array(SPIKES[kind], r.dtype)[:, None, None]
    width = size**2 if kind == "gaussian" else 0 * size  # variance of a spike
    centre, total = size * signs, v + width
    odds = np.log(share / len(signs) / (1 - share)) + np.log(v / total) / 2
    odds = odds + r**2 / (2 * v) - (r - centre) ** 2 / (2 * total)
    p = np.exp(odds - np.logaddexp(0, np.logaddexp.reduce(odds)))
    mean = (centre * v + r * width) / total
    first, second = (p * mean).sum(0), (p * (mean**2 + v * width / total)).sum(0)
    found = (
        np.sqrt(second.sum() / p.sum()) if kind == "gaussian" else (p * signs * r).sum() / p.sum()
    )
    return first, second - first**2, p.sum() / r.size, found


def messages(u, x, y, window, kind, *, known=None, watch=None, sweeps=500, tol=1e-6):
    """W11 by message passing on u, queries x (P, D), labels y (P,), the ``window`` (P,) of each with its own noise.

    ``known``: (share, size, unexplained variance of a label); None: learned. ``watch``: the fault of ``iterate``.
    """
    own = (np.arange(window.max() + 1)[:, None] == window).astype(y.dtype)  # (windows, P)
    A, count = np.stack([(u * u * one[:, None]).T @ (x * x) for one in own]), own.sum(1)
    share, size, floor = known or (1 / len(A[0]), 0.0, 0.0)

    def hear(W, z, doubt):
        noise = doubt + floor if known else own @ z**2 / count
        v = 1 / np.tensordot(1 / noise, A, 1)
        return W + v * (u.T @ (x * (z / noise[window])[:, None])), v, noise

    def step(state):
        W, z, echo, doubt, learned = state
        z = y - ((u @ W) * x).sum(1) + echo[window] * z
        r, v, noise = hear(W, z, doubt)
        W, var, *found = posterior(r, v, *learned, kind)
        doubt = np.tensordot(A, var) / count
        return W, z, doubt / noise, doubt, learned if known else np.array(found)

    W, doubt = np.zeros_like(A[0]), np.ones_like(count)
    learned = np.array([share, size or np.abs(hear(W, y, doubt)[0]).max()], y.dtype)
    return iterate(
        step,
        (W, y, 0 * doubt, doubt, learned),
        damping=0.3,
        tol=tol,
        max_iter=sweeps,
        silent=True,
        fault=watch,
    ).state[0]


def refit(S, y, w):
    """Least squares on the columns of the D largest entries of w, 0 elsewhere."""
    fitted, support = np.zeros_like(w), np.argpartition(np.abs(w), -D)[-D:]
    fitted[support] = np.linalg.lstsq(S[:, support], y, rcond=None)[0]
    return fitted


def pursuit(S, y, w):
    """Hard-thresholding pursuit: a gradient step, the D largest entries, their least squares, until they repeat."""
    before = None
    for _ in range(60):
        w = refit(S, y, w + S.T @ (y - S @ w) / (S**2).sum(0))
        if np.array_equal(w != 0, before):
            break
        before = w != 0
    return w


def product_descent(S, y, signed, steps=4000, every=20):
    """Gradient descent on the mean square of y - S w, halved, w = U*U - V*V or U*U; yields some w on the way."""
    U, V = np.full((2, S.shape[1]), 1e-8)
    for k in range(steps):
        w = U * U - V * V if signed else U * U
        if k % every == 0:
            yield w
        g = 0.6 * S.T @ (S @ w - y) / len(y)  # rate 0.3
        U, V = U * (1 - g), V * (1 + g)


def _ladder(rng, P, draw):
    from sklearn.linear_model import lasso_path

    data = LinearTask(D, N).sample_features(P, rng=rng)
    u, x, y = data.u[:, :D], data.query, data.y
    S = (u[:, :, None] * x[:, None]).reshape(P, D * D)

    def error(w):
        return population_error(np.vstack([w.reshape(D, D), np.zeros(D)]), N)

    found = {}
    if P in LADDER:
        found = {kind: messages(u, x, y, np.zeros(P, int), kind) for kind in SPIKES}
        for name, positive in (("positive", True), ("signed", False)):
            pull = S.T @ y / P
            strengths = np.geomspace(1, 0.02, 15) * (pull if positive else np.abs(pull)).max()
            path = lasso_path(S, y, alphas=strengths, positive=positive, tol=1e-3)[1].T
            found[f"{name}_l1"] = min(path, key=error)
            found[f"{name}_pursuit"] = min(
                (pursuit(S, y, w) for w in path), key=lambda w: ((y - S @ w) ** 2).sum()
            )
        found["pursuit"] = pursuit(S, y, np.zeros(D * D))
    if P in DESCENT and draw < 6:
        for name, signed in (("product", True), ("square", False)):
            found[name] = min(product_descent(S, y, signed), key=error)
            found[f"{name}_refit"] = refit(S, y, found[name])
    return {name: error(w) for name, w in found.items()}


def _ladder_points(full):
    return [
        {"P": P, "draw": k}
        for P in (sorted({*LADDER, *DESCENT}, key=lambda P: (P < 140, P)) if full else (220,))
        for k in range(10 if full else 1)
    ]


def _ladder_collect(points, results):
    """Errors of sparse weights by thirteen methods on the same prompts, D = 40, N = 800; NaN where one was not run.

    ``P``, ``draw``: axes of ``two_points``, ``ternary``, ``gaussian`` (messages that learn share and size of spikes),
    ``columns`` (that know of one spike in each column, and learn the size);
    ``positive_l1``, ``signed_l1`` (the best strength of a path, by the exact error), ``positive_pursuit``,
    ``signed_pursuit`` (from the path, the lowest training error), ``pursuit`` (from 0); gradient descent on U*U - V*V
    (``product``) and U*U (``square``), stopped at its lowest exact error, with ``_refit`` of the D largest. ``floor``.
    """
    return grid(points, results, "P", "draw") | {
        "floor": np.array(population_error(best_weights(D, N), N))
    }


def windows(design, blocks, P, c, extra=1.3):
    """Which blocks the queries of a window cover, (windows, blocks), and the window of each of P prompts.

    Of graded queries, one window of all blocks, the relative variances.
    """
    if design == "graded":
        fall = np.exp(-2.5 * np.arange(1, blocks + 1) / blocks)
        seen, weight = np.maximum(fall, np.exp(-2))[None], np.ones(1)
    elif design == "chain":  # three neighbours, cut at the ends
        k, b = np.arange(blocks + 2)[:, None], np.arange(blocks)
        seen, weight = (k - 2 <= b) & (b <= k), np.ones(blocks + 2)
    else:  # all blocks up to a last one, which grows
        k, j = np.arange(1, blocks + 1), np.arange(blocks)[:, None]
        told = np.log1p(
            c / (1 - c) * np.maximum(0, k - j) / k
        )  # what window k tells where j blocks are known
        seen, weight = (
            np.tril(np.ones((blocks, blocks), bool)),
            np.linalg.solve(told, 1 - j[:, 0] / blocks),
        )
        weight[-1] *= extra  # for the last block, which no other window covers
    ends = np.round(P * np.cumsum([0, *weight]) / weight.sum()).astype(int)
    return seen, np.repeat(np.arange(len(weight)), np.diff(ends))


def window_prompts(rng, D, N, design, blocks, P):
    """u, queries, labels and windows of P prompts, entries of a query scaled such that labels have variance 1."""
    seen, window = windows(design, blocks, P, best_weights(D, N)[0, 0])
    parts = []
    for k, strength in enumerate(np.repeat(seen, D // blocks, axis=1)):
        inside = strength > 0
        w, z, x = (rng.standard_normal(((window == k).sum(), n)) for n in (D, D, inside.sum()))
        length, chi = (
            np.linalg.norm(w, axis=1, keepdims=True),
            np.sqrt(rng.chisquare(N, (len(w), 1))),
        )
        e, query = w / length, np.zeros_like(w)
        query[:, inside] = x * np.sqrt(D / strength.sum() * strength[inside])
        u = (
            (chi * e + z - e * (e * z).sum(1, keepdims=True)) * chi * length / np.sqrt(D) / N
        )  # X0 y0 / N
        parts.append((u, query, (w * query).sum(1) / np.sqrt(D)))
    return *(np.concatenate(one).astype(np.float32) for one in zip(*parts)), window


def _curriculum(rng, D, design, blocks, P, draw):
    c, columns = float(best_weights(D, 20 * D)[0, 0]), []

    def watch(state):  # errors by column; stops where 60 sweeps have changed little
        columns.append(1 - c + ((state[0] - c * np.eye(D, dtype=np.float32)) ** 2).sum(0) / c)
        return "stuck" if len(columns) > 100 and np.mean(columns[-61] - columns[-1]) < 0.005 else ""

    u, x, y, window = window_prompts(rng, D, 20 * D, design, blocks, P)
    messages(
        u, x, y, window, "two_points", known=(1 / D, c, 1 - c), watch=watch, sweeps=401, tol=1e-4
    )
    fourth = np.minimum(np.arange(0, 404, 4), (len(columns) - 1) // 4 * 4)  # the last repeated
    front = np.array(columns).reshape(len(columns), 20, -1).mean(2)[fourth].astype(np.float32)
    return {"error": columns[-1].mean(), "sweeps": len(columns)} | (
        {"front": front} if D == 400 else {}
    )


def _curriculum_points(full):
    return [
        {"D": D, "design": design, "blocks": blocks, "P": P, "draw": k}
        for D, design, blocks, draws, prompts in (
            FULL if full else ((40, "growing", 8, 2, (180,)),)
        )
        for P in prompts
        for k in range(draws)
    ]


def _curriculum_collect(points, results):
    """Message passing on prompts of four designs: uniform, graded, a chain of windows, windows that grow; N = 20 D.

    One entry a run: ``D``, ``design``, ``blocks``, ``P``, ``draw``; ``error`` on uniform queries after ``sweeps``.
    ``front`` (runs, 101, 20): for D = 400, the error of 20 groups of columns at every fourth sweep, the last repeated.
    """
    rows = [point | result for point, result in zip(points, results, strict=True)]
    return {name: np.array([row[name] for row in rows]) for name in rows[0] if name != "front"} | {
        "front": np.array([row["front"] for row in rows if "front" in row])
    }


def _training(rng, D, P, draw, steps=6000):
    """Gradient descent on W = U * U, at a rate in proportion to D: what product_descent does, without the features."""
    c = float(best_weights(D, 20 * D)[0, 0])
    u, x, y, _ = window_prompts(rng, D, 20 * D, "growing", 1, P)
    U, truth, errors = np.full((D, D), 1e-8, np.float32), c * np.eye(D, dtype=np.float32), []
    for _ in range(steps // 20):
        errors.append(1 - c + ((U * U - truth) ** 2).sum() / (c * D))
        for _ in range(20):
            U *= 1 + 0.015 * D / P * u.T @ (x * (y - ((u @ (U * U)) * x).sum(1))[:, None])
    return {"error": min(errors), "end": errors[-1], "steps": 20 * int(np.argmin(errors))}


def _training_points(full):
    return [
        {"D": D, "P": P, "draw": k}
        for D, prompts in (TRAINING if full else {20: (120,)}).items()
        for P in prompts
        for k in range(8 if full else 1)
    ]


def _training_collect(points, results):
    """Gradient descent on the square of each weight, from 1e-8, on uniform prompts, N = 20 D.

    ``D``, ``P``, ``draw``: axes of ``error``, the lowest exact error, of the ``steps`` it took, and of the error at the
    ``end``; NaN where there is no such run.
    """
    return grid(points, results, "D", "P", "draw")


EXPERIMENTS = {
    "sparse_ladder": Experiment(
        _ladder_points,
        _ladder,
        _ladder_collect,
        lines(
            "P",
            {
                "two_points": "message: messages, spikes of one size",
                "ternary": "theory: messages, spikes of two signs",
                "gaussian": "simulation: messages, Gaussian spikes",
                "positive_pursuit": "exact: pursuit, positive start",
                "signed_pursuit": "reference: pursuit, signed start",
                "pursuit": "wrong: pursuit from zero",
                "square_refit": "training: descent on U*U, fitted again",
            },
            xlabel="prompts P",
            ylabel="error",
        ),
        needs=("sklearn",),
    ),
    "sparse_training": Experiment(
        _training_points,
        _training,
        _training_collect,
        lines(
            "P",
            lambda r: {f"-: D = {D}": row for D, row in zip(r["D"], r["error"])},
            xlabel="prompts P",
            ylabel="lowest error",
        ),
    ),
    "sparse_curriculum": Experiment(
        _curriculum_points,
        _curriculum,
        _curriculum_collect,
        lines(
            lambda r: np.unique(r["P"][r["D"] == D]),
            lambda r: {
                f"-: windows: {one}": r["error"][(r["D"] == D) & (r["design"] == one)]
                for one in np.unique(r["design"][r["D"] == D])
            },
            xlabel=f"prompts P, D = {D}",
            ylabel="error of a run on uniform queries",
        ),
    ),
}
