"""Experiments of the chapter on when a transformer learns: the map of the contrast; messages against training."""

import numpy as np
from scipy.linalg.blas import dsymv

from spinlib.descent import trajectory
from spinlib.icl import (
    Features,
    LinearTask,
    averages,
    contrast,
    population_error,
    to_spin_glass,
    weights,
)
from spinlib.inference import amp, ground_state
from spinlib.reproduce._experiment import Experiment, grid, lines, quiet
from spinlib.spin_glass import SpinGlass


def naive_sweeps(
    glass: SpinGlass,
    rng: np.random.Generator,
    beta: float = 100.0,
    sweeps: int = 100,
    damping: float = 0.9,
) -> tuple[np.ndarray, bool]:
    """The means after the published sweeps of Thesis eq. (153), from normal random means and variances, and whether the
    published criterion holds: the mean squares of the last steps of m and of v sum to less than 1e-6."""
    J, J2 = np.asfortranarray(glass.J), np.asfortranarray(glass.J**2)
    m, v = rng.standard_normal((2, glass.n))
    step = np.inf
    with np.errstate(all="ignore"):  # divergence is an answer here
        for _ in range(sweeps):
            stiffness = glass.lam - dsymv(beta, J2, v)
            new = (glass.h + dsymv(1.0, J, m)) / stiffness, 1 / (beta * stiffness)
            dm, dv = (1 - damping) * (new[0] - m), (1 - damping) * (new[1] - v)
            m, v, step = m + dm, v + dv, np.mean(dm**2) + np.mean(dv**2)
            if not step < 1e12:
                break
    return m, bool(step < 1e-6)


def _points_map(full):
    P = list(range(20, 1001, 20)) if full else [20, 60, 100, 160, 240, 400, 600, 800, 1000]
    return [
        {"N": n, "repeat": k, "P": P, "D": 20}
        for k in range(10 if full else 3)
        for n in (range(2, 101, 2) if full else (2, 4, 10, 20, 40, 60, 80, 100))
    ]


def _cells(rng, N, repeat, P, D):
    n, seen = D * (D + 1), 0
    data = LinearTask(D, N).sample_features(max(P), rng=rng)
    A, h = np.zeros((n, n)), np.zeros(n)
    found = {name: np.full(len(P), np.nan) for name in ("contrast_eq153", *_GROUND)}
    for k, p in enumerate(P):
        mean_A, mean_h = averages(Features(data.u[seen:p], data.query[seen:p], data.y[seen:p]))
        A, h, seen = A + (p - seen) * mean_A, h + (p - seen) * mean_h, p
        stiff, J = np.diagonal(A) / p, -A / p
        np.fill_diagonal(J, 0)
        for ridge, names in ((1.0, _GROUND[:2]), (0.01, _GROUND[2:])):
            glass = SpinGlass(J, h / p, ridge + stiff)
            W = weights(ground_state(glass, variances=False).mean)
            found[names[0]][k], found[names[1]][k] = contrast(W), population_error(W, N)
            if ridge == 1:
                m, converged = naive_sweeps(glass, rng)
                found["contrast_eq153"][k] = contrast(weights(m, D)) if converged else np.nan
    return found


_GROUND = ("contrast_exact", "error_exact", "contrast_weak", "error_weak")


def _collect_map(points, results):
    """The map of the contrast over the length N and the number P of prompts, D = 20 (Thesis Fig. 12a).

    ``N`` (n_N,), ``P`` (n_P,); (n_N, n_P) means over repeats of ``contrast_exact``, ``error_exact`` of the ground state
    at ridge 1, ``contrast_weak``, ``error_weak`` at ridge 0.01, and ``contrast_eq153`` of naive AMP, Thesis eq. (153)
    at ridge 1, over the share ``converged`` of the repeats, NaN where none did: so the published blank cells appear.
    Cells of one N and one repeat share their first prompts. Quick: 3 repeats; full: 10, as published.
    """
    cells = grid(points, results, "N", "repeat")  # (n_N, repeats, n_P)
    good = np.ma.masked_invalid(cells["contrast_eq153"])
    return {
        "N": cells["N"],
        "P": np.array(points[0]["P"]),
        "converged": (~np.ma.getmaskarray(good)).mean(1),
        **{name: cells[name].mean(1) for name in _GROUND},
        "contrast_eq153": good.mean(1).filled(np.nan),
    }


def five_errors(
    data: Features,
    N: int,
    start: np.ndarray,
    weight_decay: float = 0.01,
    corr: float | np.ndarray = 0.0,
    **options,
) -> dict[str, float]:
    """Population errors of the five weights of Fig 12b on one sample of tokens of covariance ``corr``: ``adam``, 5000
    published steps from ``start`` on a mean squared error without its half; ``exact`` and ``exact_half``, at half the
    decay; ``amp_eq153`` and ``amp`` at beta = 100 with these ``options``, NaN where they do not converge."""
    glass = to_spin_glass(data, weight_decay)
    half = SpinGlass(glass.J, glass.h, glass.lam - weight_decay / 2)
    found = {
        "adam": trajectory(half, start, n_steps=5000, lr=0.001, eps=5e-9)[-1],
        "exact": ground_state(glass).mean,
        "exact_half": ground_state(half).mean,
    }
    with quiet():
        for name, onsager in (("amp_eq153", False), ("amp", True)):
            run = amp(glass, beta=100.0, onsager=onsager, **options)
            found[name] = run.mean if run.converged else None
    return {
        name: np.nan if w is None else population_error(weights(w), N, corr=corr)
        for name, w in found.items()
    }


def _points_five(full):
    N, repeats = (range(20, 201, 20), 50) if full else ((20, 100, 200), 2)
    return [{"N": n, "repeat": k, "D": 20, "P": 10_000} for n in N for k in range(repeats)]


def _five(rng, N, repeat, D, P):
    data = LinearTask(D, N).sample_features(P, rng=rng)
    return five_errors(
        data, N, rng.standard_normal(D * (D + 1)) / np.sqrt(D + 1), damping=0.3, tol=1e-8
    )


def _collect_five(points, results):
    """Population errors of five weights of the same 10 000 prompts, D = 20, against their length N (Thesis Fig. 12b).

    ``N`` (n_N,); (n_N, repeats): ``adam`` (5000 full-batch steps of rate 0.001, weight decay 0.01, on the squared error
    without 1/2), naive AMP ``amp_eq153``, ``amp``, ground states ``exact`` at ridge 0.01 and ``exact_half`` at 0.005.
    """
    table = grid(points, results, "N", "repeat")
    return {name: table[name] for name in ("N", *results[0])}


EXPERIMENTS = {
    "fig12a": Experiment(
        _points_map,
        _cells,
        _collect_map,
        lines(
            "N",
            lambda r: {
                f"-: {r['P'][k]} prompts": r["contrast_exact"][:, k]
                for k in range(0, len(r["P"]), 1 + len(r["P"]) // 7)
            },
            xlabel="examples N",
            ylabel="contrast of the ground state",
        ),
    ),
    "fig12b": Experiment(
        _points_five,
        _five,
        _collect_five,
        lines(
            "N",
            {
                "exact": "exact: ground state",
                "amp": "theory: message passing",
                "adam": "training: Adam",
                "amp_eq153": "wrong: messages without reaction",
            },
            xlabel="examples N",
            ylabel="error",
        ),
    ),
}
