"""Attention trained on real images: the handwritten digits and patches of the two photographs of scikit-learn."""

import numpy as np

from spinlib.icl import Features
from spinlib.inference import ground_state_cg
from spinlib.reproduce._experiment import Experiment, grid, lines
from spinlib.theory import best_ridge, spectrum_teacher


def pools(kind: str, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Images to train on and images kept back, (n, D), in the principal directions of the first, strongest first, which
    are centred with mean square 1 a component. twin: Gaussian, as variable as the digits; even: patches of one norm."""
    from sklearn.datasets import load_digits, load_sample_image

    rng = np.random.default_rng([split, 0])
    if kind in ("digits", "twin"):  # 54 of 64 pixels; 61 vary, 7 of them by less
        data, n = load_digits().data, 1200
        data = rng.permutation(data[:, data.std(0) > 0.3])
    else:  # 63 directions: a patch without its mean
        photo, n = load_sample_image(kind.removesuffix("_even") + ".jpg").mean(2), 2000
        patches = np.lib.stride_tricks.sliding_window_view(photo, (8, 8)).reshape(-1, 64)
        data = (patches - patches.mean(1, keepdims=True))[
            rng.choice(len(patches), 6000, replace=False)
        ]
        data = data[(data**2).mean(1) > 1][:3000]  # a grey level of contrast at least
        if kind.endswith("_even"):
            data = data / np.linalg.norm(data, axis=1, keepdims=True)
    data = data - data[:n].mean(0)
    values, V = np.linalg.eigh(data[:n].T @ data[:n] / n)
    V = V[:, values > 1e-9 * values[-1]][:, ::-1]
    V = V * np.sign(
        V[np.abs(V).argmax(0), range(V.shape[1])]
    )  # the sign is free: one for every processor
    data = data @ V * np.sqrt(V.shape[1] / values.sum())
    if kind == "twin":
        data = np.random.default_rng([split, 1]).standard_normal(data.shape) * data[:n].std(0)
    return data[:n], data[n:]


def prompts(pool: np.ndarray, N: int, P: int, rng: np.random.Generator) -> Features:
    """P prompts of N examples and a query, all different images of the pool, each with a task of its own."""
    (n, D), blocks = pool.shape, []
    for start in range(0, P, 500):
        size = min(500, P - start)
        x = pool[np.argpartition(rng.random((size, n)), N, axis=1)[:, : N + 1]]
        y = (x @ rng.standard_normal((size, D, 1)))[:, :, 0] / D**0.5
        u = (
            np.append(
                (y[:, None, :N] @ x[:, :N])[:, 0], (y[:, :N] ** 2).sum(1, keepdims=True), axis=1
            )
            / N
        )
        blocks.append((u, x[:, N], y[:, N]))
    return Features(*map(np.concatenate, zip(*blocks)))


def pool_error(W: np.ndarray, pool: np.ndarray, N: int) -> float:
    """E (y_hat - y)^2 of W (D+1, D) over all such prompts and tasks, exact: sums over pairs and triples of images."""
    (n, D), K, A = pool.shape, pool @ pool.T, pool @ W[:-1] @ pool.T  # A: example, query
    t, row = np.diag(K).copy(), (pool @ W[D]) ** 2
    np.fill_diagonal(A, 0)
    two = t.mean() + ((A**2 * t[:, None]).sum() / N - 2 * (A * K).sum()) / (n * (n - 1))
    two += row @ (t @ t - t**2) * 3 / (n * (n - 1)) / (N * D)
    np.fill_diagonal(K, 0)
    M = np.outer(t, t) + 2 * K**2
    np.fill_diagonal(M, 0)
    three = (A * (K @ A)).sum() + row @ (M.sum() - 2 * M.sum(1)) / D
    return float(two + (1 - 1 / N) * three / (n * (n - 1) * (n - 2))) / D


def _points(full):
    table = (
        dict.fromkeys(("digits", "twin"), (8, 300, 1000, 3000, 10_000))
        | dict.fromkeys(("china", "china_even", "flower", "flower_even"), (4, 1000, 3000, 10_000))
        if full
        else {"digits": (1, 300, 1000, 3000), "flower": (1, 1000), "flower_even": (1, 1000)}
    )
    return [
        {"kind": kind, "split": k, "P": P}
        for kind, (n, *some) in table.items()
        for k in range(n)
        for P in some
    ]


def _compute(rng, kind, split, P):
    seen, unseen = pools(kind, split)
    N, lam = 2 * seen.shape[1], (seen**2).mean(0)
    ridge = best_ridge(spectrum_teacher(lam, N), P)
    W = ground_state_cg(prompts(seen, N, P, rng), ridge=ridge, tol=1e-6).mean.reshape(
        -1, seen.shape[1]
    )
    return {
        "seen": pool_error(W, seen, N),
        "unseen": pool_error(W, unseen, N),
        "ridge": ridge,
        "variances": lam,
        "fourth": ((seen**2).sum(1) @ seen**2) / len(seen),
    }


def _collect(points, results):
    """Attention trained on real images: its errors on new prompts, and the laws of the images.

    For each KIND: ``KIND_P`` (n_P,); ``KIND_seen``, ``KIND_unseen``, errors, and ``KIND_ridge`` (n_P, splits);
    ``KIND_variances``, ``KIND_fourth`` (n_P, splits, D) of the pool, the diagonal of E |x|^2 x x^T.
    """
    found = {}
    for kind in dict.fromkeys(p["kind"] for p in points):
        mine = [(p, r) for p, r in zip(points, results, strict=True) if p["kind"] == kind]
        found |= {
            f"{kind}_{name}": values
            for name, values in grid(*map(list, zip(*mine)), "P", "split").items()
        }
    return found


EXPERIMENTS = {
    "real_images": Experiment(
        _points,
        _compute,
        _collect,
        lines(
            "digits_P",
            {
                "digits_seen": "training: digits of the pool",
                "digits_unseen": "wrong: digits kept back",
            },
            xscale="log",
            yscale="log",
            xlabel="prompts P",
            ylabel="error",
        ),
        needs=("sklearn",),
    )
}
