"""Experiments of the chapter on correlated tokens: blocks of the disorder (Fig 13) and errors (Fig 14).

Everything is written for any covariance K (N+1, N+1) of the N + 1 tokens of a prompt, the query last. Thesis eq. (162)
is ``shared_covariance``, K = c + (1 - c) delta; the program behind the published figures multiplies by the wrong side
of the Cholesky factor K = L L^T, so that its tokens have the covariance L^T L, ``published_covariance``.
"""
from __future__ import annotations

import numpy as np

from spinlib._core import RNG, check_rng
from spinlib.icl import Features, LinearTask, features, to_spin_glass
from spinlib.inference import ground_state
from spinlib.reproduce._experiment import Experiment
from spinlib.reproduce._experiments.learning_phase_diagram import published_adam, settled
from spinlib.spin_glass import SpinGlass


def shared_covariance(N: int, c: float) -> np.ndarray:
    """c + (1 - c) delta for N tokens and the query (Thesis eq. (162)).

    >>> from spinlib.reproduce import shared_covariance
    >>> shared_covariance(1, 0.5).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return np.full((N + 1, N + 1), float(c)) + (1 - c) * np.eye(N + 1)


def published_covariance(N: int, c: float) -> np.ndarray:
    """L^T L, where L is the lower Cholesky factor of ``shared_covariance(N, c)``; c < 1.

    >>> from spinlib.reproduce import published_covariance
    >>> print(f"{published_covariance(200, 0.5)[-1, -1]:.4f}")     # the variance of the query: about 1 - c
    0.5025
    """
    L = np.linalg.cholesky(shared_covariance(N, c))
    return L.T @ L


def token_features(K: np.ndarray, D: int, P: int, *, rng: RNG = None) -> Features:
    """Features of P prompts whose tokens have the covariance K along each coordinate, equal in law to those of whole
    prompts, which are never built: O(P N^2 + P D) time.

    Along the task w the tokens t are drawn one by one; they are the labels, up to a factor. Across w a coordinate
    enters only through its sum with weights t and its query entry, two correlated Gaussians.

    >>> from spinlib.reproduce import shared_covariance, token_features
    >>> token_features(shared_covariance(8, 0.2), 3, 5, rng=0).u.shape
    (5, 4)
    """
    rng, N = check_rng(rng), len(K) - 1
    w = rng.standard_normal((P, D))
    size = np.linalg.norm(w, axis=1)
    t = rng.standard_normal((P, N + 1)) @ np.linalg.cholesky(K).T
    t, asked = t[:, :N], t[:, N]
    tt = (t * t).sum(1)
    own, cross = ((t @ K[:N, :N]) * t).sum(1), t @ K[:N, N]     # variance of the sum, covariance with the query
    e, f = rng.standard_normal((2, P, D))
    across = np.sqrt(own)[:, None] * e
    query = (cross / np.sqrt(own))[:, None] * e + np.sqrt(np.maximum(K[N, N] - cross**2 / own, 0))[:, None] * f
    unit = w / size[:, None]
    across += (tt - (across * unit).sum(1))[:, None] * unit     # the component along w is known
    query += (asked - (query * unit).sum(1))[:, None] * unit
    scale = size / np.sqrt(D)                                   # labels y_j = scale t_j
    return Features(np.column_stack([scale[:, None] * across, scale**2 * tt]) / N, query, scale * asked)


def token_moments(K: np.ndarray, D: int) -> tuple[float, float, float, float, float]:
    r"""The numbers (K_qq, b, alpha, gamma, rho) of the error for tokens of covariance K: with W = (A; v) it is

    .. math:: K_{qq}-2b\,\mathrm{tr}A+\alpha|A|^2+\gamma\,[(\mathrm{tr}A)^2+\mathrm{tr}A^2]+\rho\,|v|^2 .

    >>> from spinlib.reproduce import shared_covariance, token_moments
    >>> print(f"{token_moments(shared_covariance(20, 0.0), 20)[2]:.4f}")        # alpha = (1 + 21 / 20) / 20
    0.1025
    """
    N = len(K) - 1
    M, k, s = K[:N, :N], K[:N, N], K[N, N]
    own = np.diagonal(M)
    square, mixed, sums = (M * M).mean(), k @ M @ k / N**2, own.mean()
    kk = (k * k).mean()
    b = (own.mean() * s + (D + 1) * kk) / D
    alpha = (s * (sums**2 + (D + 1) * square) + 2 * mixed) / D
    gamma = ((D + 2) * mixed + 2 * kk * sums) / D
    rho = (1 + 2 / D) * (s * (sums**2 + 2 * square) + (4 * kk * sums + 8 * mixed) / D)
    return s, b, alpha, gamma, rho


def token_error(W: np.ndarray, K: np.ndarray) -> float:
    """Mean of (y_hat - y)^2 for the weights W (D+1, D) and tokens of covariance K, exact.

    >>> import numpy as np
    >>> from spinlib.icl import population_error
    >>> from spinlib.reproduce import shared_covariance, token_error
    >>> W = np.random.default_rng(0).normal(size=(4, 3))
    >>> abs(token_error(W, shared_covariance(7, 0.3)) - population_error(W, 7, corr=0.3)) < 1e-12
    True
    """
    D = W.shape[1]
    A, v = W[:D], W[D]
    s, b, alpha, gamma, rho = token_moments(K, D)
    trace = np.trace(A)
    return float(s - 2 * b * trace + alpha * (A**2).sum() + gamma * (trace**2 + (A * A.T).sum()) + rho * (v**2).sum())


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
    K = shared_covariance(N, c) if covariance == "shared" else published_covariance(N, c)
    glass = to_spin_glass(token_features(K, D, P, rng=rng), weight_decay)
    half = SpinGlass(glass.J, glass.h, glass.lam - weight_decay / 2)
    start = rng.standard_normal(glass.n) / np.sqrt(D + 1)
    found = {"adam": published_adam(half, start),
             "exact": ground_state(glass).mean, "exact_half": ground_state(half).mean}
    for name, onsager in (("amp_eq153", False), ("amp", True)):
        found[name] = settled(glass, onsager=onsager, damping=0.8, tol=1e-7, max_iter=600)
    return {name: token_error(w.reshape(D + 1, D), K) for name, w in found.items()}


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
