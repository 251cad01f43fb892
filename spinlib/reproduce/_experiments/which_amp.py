"""The experiment of the chapter on which AMP: how wrong the variances of messages are at finite size."""

import numpy as np

from spinlib._core import iterate
from spinlib.icl import LinearTask, to_spin_glass
from spinlib.inference import amp, ground_state, sample_amp
from spinlib.reproduce._experiment import Experiment, grid, lines, quiet, seeded
from spinlib.spin_glass import SpinGlass


def prompt_variances(D: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
    """Mean relative error (per cent) of the variances of pair AMP and sample-spin AMP for alpha D^2 prompts, N = 5D,
    ridge .2/D."""
    features = LinearTask(D, 5 * D).sample_features(int(alpha * D * D), rng=rng)
    glass = to_spin_glass(features, 0.2 / D)
    exact = ground_state(glass).var
    with quiet():
        found = amp(glass, damping=0.5, tol=1e-8), sample_amp(features, ridge=0.2 / D, tol=1e-8)
    return np.array([100 * np.mean(f.var / exact - 1) if f.converged else np.nan for f in found])


def iid_variances(n: int, alpha: float, ridge: float, rng: np.random.Generator) -> np.ndarray:
    """The same two errors (per cent) for alpha n samples of n independent standard normal features,
    from their variance recursions."""
    P = int(alpha * n)
    S = rng.standard_normal((P, n))
    A, S2 = S.T @ S / P, S**2
    glass = SpinGlass(np.diag(np.diagonal(A)) - A, np.zeros(n), ridge + np.diagonal(A))
    pair = amp(glass, damping=0.5, tol=1e-8)
    sample = iterate(
        lambda state: (1 / (ridge + (1 / (P + S2 @ state[0])) @ S2),), (1 / glass.lam,), tol=1e-8
    )
    exact = ground_state(glass).var
    return np.array([100 * np.mean(x / exact - 1) for x in (pair.var, sample.state[0])])


def _amp_points(full):
    """Prompts first, then independent features; the quick points are among the full ones."""
    samples = range(4 if full else 2)
    return [
        {"D": D, "alpha": alpha, "sample": k}
        for D in ((12, 16, 20, 28, 36, 48, 64) if full else (12, 20, 28))
        for alpha in ((4.0, 7.5, 15.0) if full else (7.5,))
        for k in samples
    ] + [
        {"n": n, "sample": k}
        for n in ((100, 200, 400, 800, 1600) if full else (100, 400))
        for k in samples
    ]


def _amp_key(point):
    """Its size, load and number: sizes that quick and full share have the same samples."""
    size = [point["D"], int(10 * point["alpha"])] if "D" in point else [point["n"]]
    return [*size, point["sample"]]


def _amp_compute(rng, sample, D=None, alpha=7.5, n=None):
    return {
        "errors": iid_variances(n, alpha, 1 / 6, rng)
        if D is None
        else prompt_variances(D, alpha, rng)
    }


def _amp_collect(points, results):
    """Errors (per cent) of the variances of pair AMP and of sample-spin AMP, against the size of the problem.

    For prompts, N = 5D and ridge .2/D: ``D`` (sizes,), ``alpha`` (alphas,) = P/D^2, and in per cent ``prompts``
    (alphas, sizes, samples, 2), the mean over spins of variance / exact - 1, pair first, NaN where the pair variances
    have no fixed point. For independent normal features, P = 7.5 n and ridge 1/6, which have the same limit as alpha =
    7.5: ``n`` (sizes,) and ``iid`` (sizes, samples, 2). Quick: up to D = 28 and n = 400, 2 samples. Full: up to D = 64
    and n = 1600, 4 samples. Sizes that both have share their first samples.
    """
    mine = sum("D" in p for p in points)
    prompts = grid(points[:mine], results[:mine], "alpha", "D", "sample")
    iid = grid(points[mine:], results[mine:], "n", "sample")
    return {
        "D": prompts["D"],
        "alpha": prompts["alpha"],
        "prompts": prompts["errors"],
        "n": iid["n"],
        "iid": iid["errors"],
    }


EXPERIMENTS = {
    "amp_variances": Experiment(
        _amp_points,
        _amp_compute,
        _amp_collect,
        lines(
            "n",
            lambda r: {
                "theory: pair messages": r["iid"][..., 0],
                "sample: messages of samples": r["iid"][..., 1],
            },
            xscale="log",
            xlabel="independent features",
            ylabel="error of the variances (%)",
        ),
        seeded(_amp_key),
    )
}
