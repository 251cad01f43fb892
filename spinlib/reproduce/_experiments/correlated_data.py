"""Experiments of the chapter on correlated tokens: blocks of the disorder (Fig 13) and errors (Fig 14).

Thesis eq. (162) is the covariance K = c + (1 - c) delta of the tokens; the program behind the published figures
multiplies by the wrong side of the Cholesky factor K = L L^T, so that its tokens have the covariance L^T L.
"""
from __future__ import annotations

import numpy as np

from spinlib.icl import LinearTask, features, population_error, to_spin_glass
from spinlib.inference import ground_state
from spinlib.reproduce._experiment import Experiment
from spinlib.reproduce._experiments.learning_phase_diagram import published_adam, settled
from spinlib.spin_glass import SpinGlass


def published_covariance(N: int, c: float) -> np.ndarray:
    """L^T L, where L is the lower Cholesky factor of the covariance c + (1 - c) delta; c < 1."""
    L = np.linalg.cholesky(np.full((N + 1, N + 1), float(c)) + (1 - c) * np.eye(N + 1))
    return L.T @ L


def _points_blocks(full):
    return [{"c": c, "repeat": k, "D": 10, "N": 100, "P": 1000} for c in (0.0, 0.2, 0.5, 0.8)
            for k in range(50 if full else 4)]


_EDGES = {"C_diagonal": (-0.2, 1.6), "C": (-0.3, 0.3), "D": (-0.8, 0.8), "E_diagonal": (-2.4, 0.1), "E": (-0.15, 0.15),
          "F": (-1.2, 1.2), "G": (-1.0, 1.0)}


def _blocks(rng, c, repeat, D, N, P):
    """Histograms of the entries of h (blocks C, D) and of J (blocks E, F, G), counts of 60 bins; what lies outside is
    counted in the last bin of its side. C_diagonal: h of the D diagonal spins. E_diagonal: J between two of them, E:
    all other J inside W11."""
    data = features(LinearTask(D, N, corr=c).sample(P, rng=rng))
    glass = to_spin_glass(data, 0.0)
    h = glass.h.reshape(D + 1, D)
    J = glass.J.reshape(D + 1, D, D + 1, D)
    inner = J[:D, :, :D].reshape(D * D, D * D)
    spins = np.eye(D, dtype=bool).ravel()
    pairs = np.triu(np.ones((D * D, D * D), bool), 1)
    both = pairs & np.outer(spins, spins)
    label = J[D, :, D][np.triu_indices(D, 1)]
    entries = {"C_diagonal": np.diagonal(h[:D]), "C": h[:D][~np.eye(D, dtype=bool)], "D": h[D],
               "E_diagonal": inner[both], "E": inner[pairs & ~both], "F": J[:D, :, D].ravel(), "G": label}
    found = {}
    for name, values in entries.items():
        low, high = _EDGES[name]
        found[name] = np.histogram(np.clip(values, low, high), 60, (low, high))[0].astype(float)
        found[f"{name}_mean"], found[f"{name}_square"] = float(values.mean()), float((values**2).mean())
    return found


def _collect_blocks(points, results):
    """``c`` (n_c,) and for each block ``NAME_edges`` (61,), ``NAME`` (n_c, 60) densities, ``NAME_mean``, ``NAME_sd``
    (n_c,)."""
    c = np.array(sorted({p["c"] for p in points}))
    result = {"c": c}
    for name, (low, high) in _EDGES.items():
        pick = {}
        for key in (name, f"{name}_mean", f"{name}_square"):
            pick[key] = np.array([np.mean([r[key] for p, r in zip(points, results, strict=True) if p["c"] == value],
                                          axis=0) for value in c])
        edges = np.linspace(low, high, 61)
        result[f"{name}_edges"] = edges
        result[name] = pick[name] / pick[name].sum(1, keepdims=True) / (edges[1] - edges[0])
        result[f"{name}_mean"] = pick[f"{name}_mean"]
        result[f"{name}_sd"] = np.sqrt(pick[f"{name}_square"] - pick[f"{name}_mean"] ** 2)
    return result


def _draw_blocks(fig, result, color):
    names = list(_EDGES)
    for ax, name in zip(fig.subplots(len(names), 1), names, strict=True):
        for density in result[name]:
            ax.stairs(density, result[f"{name}_edges"])
        ax.set(title=name)


REPEATS_ERRORS = 20


def _points_errors(full):
    c, repeats = (np.arange(5, 100, 5) / 100, REPEATS_ERRORS) if full else ((0.05, 0.25, 0.45, 0.7, 0.95), 1)
    return [{"c": float(value), "covariance": kind, "repeat": k, "D": 20, "N": 200, "P": 10_000, "weight_decay": 0.01}
            for k in range(repeats) for value in c for kind in ("shared", "published")]


def _errors(rng, c, covariance, repeat, D, N, P, weight_decay):
    corr = c if covariance == "shared" else published_covariance(N, c)
    glass = to_spin_glass(LinearTask(D, N, corr=corr).sample_features(P, rng=rng), weight_decay)
    half = SpinGlass(glass.J, glass.h, glass.lam - weight_decay / 2)
    start = rng.standard_normal(glass.n) / np.sqrt(D + 1)
    found = {"adam": published_adam(half, start),
             "exact": ground_state(glass).mean, "exact_half": ground_state(half).mean}
    for name, onsager in (("amp_eq153", False), ("amp", True)):
        found[name] = settled(glass, onsager=onsager, damping=0.8, tol=1e-7, max_iter=600)
    return {name: population_error(w.reshape(D + 1, D), N, corr=corr) if np.isfinite(w).all() else np.nan
            for name, w in found.items()}


def _collect_errors(points, results):
    """``c`` (n_c,); ``adam``, ``amp_eq153``, ``amp``, ``exact``, ``exact_half`` (n_c, repeats), errors for the
    covariance of Thesis eq. (162), the same with ``_published`` for L^T L; NaN where messages do not converge."""
    c = np.array(sorted({p["c"] for p in points}))
    result = {"c": c}
    for kind, suffix in (("shared", ""), ("published", "_published")):
        for name in ("adam", "amp_eq153", "amp", "exact", "exact_half"):
            result[name + suffix] = np.array([[r[name] for p, r in zip(points, results, strict=True)
                                               if p["c"] == value and p["covariance"] == kind] for value in c])
    return result


def _draw_errors(fig, result, color):
    ax = fig.subplots()
    for suffix, line in (("", "-"), ("_published", "--")):
        for name, key in (("exact", "exact"), ("adam", "training"), ("amp_eq153", "wrong")):
            ax.plot(result["c"], np.mean(result[name + suffix], axis=1), line, color=color[key], label=name + suffix)
    ax.set(xlabel="covariance c of two tokens", ylabel="error")
    ax.legend()


EXPERIMENTS = {
    "fig13": Experiment(_points_blocks, _blocks, _collect_blocks, _draw_blocks),
    "fig14": Experiment(_points_errors, _errors, _collect_errors, _draw_errors),
}
