"""Figure 16: one matrix W, or the product W_K^T W_Q, trained without ridge, against the number of prompts.

Settings of the published figure: D = 20, N = 100, all weights start from
N(0, 1/(D + 1)), Adam with lr .01 and no decay, 3000 steps, P = int(alpha D^2), 50 runs. Source: Thesis eqs. (171),
(172) and Fig. 16; the start is that of the published code (the text says N(0, 1)).
"""

import numpy as np

from spinlib.descent import trajectory
from spinlib.icl import LinearTask, population_error, to_spin_glass
from spinlib.reproduce._experiment import Experiment, lines


def _points(full: bool) -> list[dict]:
    alphas = [k / 10 for k in range(1, 21)] + [0.95, 1.05] if full else [0.3, 0.6, 0.9, 1.05, 1.5]
    return [
        {"alpha": alpha, "repeats": 10 if full else 3, "D": 20, "N": 100, "steps": 3000}
        for alpha in sorted(alphas)
        for _ in range(5 if full else 1)
    ]


def _compute(
    rng: np.random.Generator, alpha: float, repeats: int, D: int, N: int, steps: int
) -> dict:
    errors = {name: np.empty(repeats) for name in ("merged", "separate", "exact")}
    for run in range(repeats):
        glass = to_spin_glass(LinearTask(D, N).sample_features(int(alpha * D * D), rng=rng), 0.0)
        W, W_K, W_Q = (rng.standard_normal((D + 1, k)) / np.sqrt(D + 1) for k in (D, D + 1, D))
        least = (
            np.linalg.pinv(glass.hessian, rcond=1e-12, hermitian=True) @ glass.h
        )  # of all minima that of least norm
        for name, weights in (
            ("merged", trajectory(glass, W, n_steps=steps)[-1]),
            ("exact", least.reshape(D + 1, D)),
            ("separate", trajectory(glass, (W_K, W_Q), n_steps=steps)[-1]),
        ):
            errors[name][run] = population_error(weights, N)
    return errors


def _collect(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """Errors of one trained matrix and of a product of two, against the number of prompts (Thesis Fig. 16).

    alpha (n_alpha,); merged, separate, exact (n_alpha, runs): errors of the trained W, of the trained W_K^T W_Q, and of
    the ground state at ridge 0 (of least norm where there are many).
    """
    alphas = sorted({point["alpha"] for point in points})
    return {"alpha": np.array(alphas)} | {
        name: np.array(
            [
                np.concatenate([r[name] for p, r in zip(points, results) if p["alpha"] == alpha])
                for alpha in alphas
            ]
        )
        for name in ("merged", "separate", "exact")
    }


EXPERIMENTS = {
    "fig16": Experiment(
        _points,
        _compute,
        _collect,
        lines(
            "alpha",
            {
                "merged": "wrong: one matrix W, trained",
                "separate": "training: keys and queries, trained",
                "exact": "exact: ground state of least norm",
            },
            yscale="log",
            xlabel="$P/D^2$",
            ylabel="error",
            ylim=(0.1, 30),
        ),
    )
}
