"""Figure 16: one matrix W, or the product W_Q^T W_K, trained without ridge, against the number of prompts.

A full-batch step of linear attention needs of its P prompts only A = (1/P) sum s s^T and h = (1/P) sum y s, so that
training costs n^2 a step, whatever P is. Settings of the published figure: D = 20, N = 100, all weights start from
N(0, 1/(D + 1)), Adam with lr .01 and no decay, 3000 steps, P = int(alpha D^2), 50 runs. Source: Thesis eqs. (171),
(172) and Fig. 16; the start is that of the published code (the text says N(0, 1)).
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import RNG, check_array, check_flag, check_integer, check_real, check_rng
from spinlib.icl import Features, LinearTask, Prompts, features, population_error
from spinlib.reproduce._experiment import Experiment

_QUICK = [0.3, 0.6, 0.9, 1.05, 1.2, 1.5, 1.8]
_FULL = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]


def moments(data: Prompts | Features) -> tuple[np.ndarray, np.ndarray]:
    """A (n, n) and h (n,) with n = D (D + 1): all that full-batch training sees of its prompts.

    The loss is w.A.w / 2 - h.w plus half the mean square of the labels.

    >>> from spinlib.icl import LinearTask
    >>> from spinlib.reproduce import moments
    >>> A, h = moments(LinearTask(D=3, N=9).sample_features(5, rng=0))
    >>> A.shape, h.shape
    ((12, 12), (12,))
    """
    data = features(data) if isinstance(data, Prompts) else data
    S = (data.u[:, :, None] * data.query[:, None, :]).reshape(len(data.y), -1)
    return S.T @ S / len(S), S.T @ data.y / len(S)


def descend(weights: Sequence[ArrayLike], A: ArrayLike, h: ArrayLike, *, steps: int = 3000, lr: float = 0.01,
            adam: bool = True, every: int | None = None) -> np.ndarray:
    """Full-batch training from ``moments``: the product W (1 + steps / every, D + 1, D) at the start and as it goes.

    ``weights`` is (W,) with W (D + 1, D), Thesis eq. (171), or (W_Q, W_K) with W_Q (r, D + 1) and W_K (r, D), whose
    product W_Q^T W_K is W, Thesis eq. (172). ``adam`` takes Adam with its usual constants, else plain gradient
    descent. ``every`` (default: steps) says how often W is kept. ValueError for shapes that do not fit, and for an lr
    with which the weights overflow.

    >>> import numpy as np
    >>> from spinlib.reproduce import descend
    >>> path = descend([np.zeros((2, 1))], np.diag([1.0, 4.0]), [1.0, 2.0], steps=200, lr=0.2, adam=False)
    >>> print(path[-1].ravel().round(6))                 # A w = h
    [1.  0.5]
    """
    parts = [check_array("weights", w, (None, None)).copy() for w in weights]
    h = check_array("h", h, (None,))
    A = check_array("A", A, (len(h), len(h)), hint="A and h come from moments")
    steps, lr, adam = check_integer("steps", steps, 1), check_real("lr", lr, above=0), check_flag("adam", adam)
    every = steps if every is None else check_integer("every", every, 1)
    shapes = [w.shape for w in parts]
    good = len(parts) == 1 or (len(parts) == 2 and shapes[0][0] == shapes[1][0])
    shape = (shapes[0] if len(parts) == 1 else (shapes[0][1], shapes[1][1])) if good else (0, 0)
    if shape[0] * shape[1] != len(h) or shape[0] != shape[1] + 1:
        raise ValueError(f"weights must be (W,) with W (D + 1, D), or (W_Q, W_K) with W_Q (r, D + 1) and W_K (r, D), "
                         f"where D (D + 1) = {len(h)}, got shapes {shapes}")

    product = lambda: parts[0] if len(parts) == 1 else parts[0].T @ parts[1]
    means, squares = [np.zeros_like(w) for w in parts], [np.zeros_like(w) for w in parts]
    path = [product().copy()]
    with np.errstate(over="ignore", invalid="ignore"):                    # reported below, in words
        for step in range(1, steps + 1):
            G = (A @ product().ravel() - h).reshape(shape)                   # dL/dW
            gradients = [G] if len(parts) == 1 else [parts[1] @ G.T, parts[0] @ G]
            for w, g, mean, square in zip(parts, gradients, means, squares):
                if adam:
                    mean += 0.1 * (g - mean)
                    square += 0.001 * (g * g - square)
                    g = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
                w -= lr * g
            if step % every == 0:
                path.append(product().copy())
    if not np.isfinite(path[-1]).all():
        raise ValueError(f"lr must be small enough for the weights to converge, got {lr:g}, with which they "
                         "overflow; plain gradient descent of one matrix needs lr < 2 / (largest eigenvalue of A)")
    return np.array(path)


def _points(full: bool) -> list[dict]:
    alphas, blocks, repeats = (_FULL, 5, 10) if full else (_QUICK, 1, 4)
    return [{"alpha": alpha, "repeats": repeats, "D": 20, "N": 100, "steps": 3000}
            for alpha in alphas for _ in range(blocks)]


def _compute(rng: RNG, alpha: float, repeats: int, D: int, N: int, steps: int) -> dict:
    rng = check_rng(rng)
    errors = {name: np.empty(repeats) for name in ("merged", "separate", "exact")}
    for run in range(repeats):
        A, h = moments(LinearTask(D, N).sample_features(int(alpha * D * D), rng=rng))
        W, W_Q, W_K = (rng.standard_normal((D + 1, k)) / np.sqrt(D + 1) for k in (D, D + 1, D))
        least = np.linalg.pinv(A, rcond=1e-12, hermitian=True) @ h       # of all minima the one of least norm
        found = {"merged": descend([W], A, h, steps=steps)[-1], "separate": descend([W_Q, W_K], A, h, steps=steps)[-1],
                 "exact": least.reshape(D + 1, D)}
        for name, weights in found.items():
            errors[name][run] = population_error(weights, N)
    return errors


def _collect(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """alpha (n_alpha,); merged, separate, exact (n_alpha, runs): errors of the trained W, of the trained W_Q^T W_K, and
    of the ground state at ridge 0 (of least norm where there are many)."""
    alphas = sorted({point["alpha"] for point in points})
    rows = lambda name: [np.concatenate([r[name] for p, r in zip(points, results) if p["alpha"] == alpha])
                         for alpha in alphas]
    return {"alpha": np.array(alphas)} | {name: np.array(rows(name)) for name in ("merged", "separate", "exact")}


def _draw(fig, result, color):
    ax = fig.subplots()
    for name, look in (("merged", "wrong"), ("separate", "training"), ("exact", "exact")):
        ax.semilogy(result["alpha"], np.median(result[name], axis=1), "o-", color=color[look], label=name)
    ax.set(xlabel="P / D^2", ylabel="error, median over runs", ylim=(0.1, 30))
    ax.legend()


EXPERIMENTS = {
    "fig16": Experiment(_points, _compute, _collect, _draw),
}
