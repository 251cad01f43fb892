"""Experiments of the chapter on the statistics of the disorder: histograms of its blocks, and their dependence on N."""

import numpy as np

from spinlib.icl import LinearTask, averages
from spinlib.reproduce._experiment import Experiment, lines
from spinlib.theory import block_moments, prompt_moment

RANGES = {
    "C": (-0.2, 0.4),
    "D": (-0.3, 0.3),
    "E": (-0.1, 0.1),
    "F": (-0.3, 0.3),
    "G": (-0.5, 0.5),
}  # as published
BINS = 100  # and one count is added to each


def disorder(D, N, P, rng):
    """Fields (D+1, D), the matrix -<s s> (n, n) with its diagonal, and the first 20 samples s (20, n), of P prompts."""
    data = LinearTask(D, N).sample_features(P, rng=rng)
    A, h = averages(data)
    return (
        h.reshape(D + 1, D),
        -A,
        (data.u[:20, :, None] * data.query[:20, None, :]).reshape(-1, A.shape[0]),
    )


def kinds_of(D):
    """Where the entries of each kind of coupling stand: flat indices, pairs of one block once."""
    row, column = np.divmod(np.arange(D * (D + 1)), D)
    i, j = np.triu_indices(D * (D + 1))
    label = (row == D).astype(int)
    shared = (row[i] == row[j]) | (column[i] == column[j])
    block, same = label[i] + label[j], i == j
    chosen = {
        "E_diag": same & (block == 0),
        "E_shared": ~same & shared & (block == 0),
        "E_free": ~shared & (block == 0),
        "F_shared": shared & (block == 1),
        "F_free": ~shared & (block == 1),
        "G_diag": same & (block == 2),
        "G": ~same & (block == 2),
    }
    return {name: (i * D * (D + 1) + j)[mask] for name, mask in chosen.items()}


def _fig5_compute(rng, D, N, P, draws):
    places, kinds, off = kinds_of(D), _kinds(D, N, P), ~np.eye(D, dtype=bool)
    counts, powers = np.zeros((len(kinds), 162), dtype=np.int64), np.zeros((len(kinds), 4))
    for first in range(0, draws, 50):  # 50 draws at a time
        drawn = [disorder(D, N, P, one) for one in rng.spawn(min(50, draws - first))]
        h = np.array([one[0] for one in drawn])
        J = np.array([one[1].ravel() for one in drawn])
        s = np.array([one[2] for one in drawn])  # 20 samples are enough
        found = {
            "A": s[..., : D * D],
            "B": s[..., D * D :],
            "C_diag": np.diagonal(h, axis1=1, axis2=2),
            "C": h[:, :D][:, off],
            "D": h[:, D],
        } | {name: J[:, where] for name, where in places.items()}
        for k, (name, (mean, deviation)) in enumerate(kinds.items()):
            z = (found[name].ravel() - mean) / deviation
            counts[k] += np.bincount(
                np.clip(np.floor(10 * z + 81), 0, 161).astype(int), minlength=162
            )
            z2 = z * z
            powers[k] += len(drawn) / len(z) * np.array([z.sum(), z2.sum(), z @ z2, z2 @ z2])
    return {"counts": counts, "powers": powers / draws}


def _kinds(D, N, P):
    """Exact mean and standard deviation of every kind of entry."""
    return {
        "A": (0.0, prompt_moment(D, N, 2) ** 0.5),
        "B": (0.0, prompt_moment(D, N, label=2) ** 0.5),
    } | {name: (m.mean, m.var**0.5) for name, m in block_moments(D, N, P).items()}


def _fig5_collect(points, results):
    """Histograms of the entries of a sample, of the fields and of the couplings (Thesis Fig. 5).

    D = 10, N = 100, P = 1000. ``names`` (kinds,) are A, B (entries of a sample s: the first D rows, the label row) and
    the kinds of entries of :func:`spinlib.theory.block_moments`; of each, ``NAME_edges`` (161,), which reach 8 exact
    standard deviations to both sides of the exact mean, and ``NAME_counts`` (160,). ``outside`` (kinds,) counts what
    lies beyond, ``entries`` (kinds,) all. ``powers`` (points, kinds, 4): the means of the first four powers of the
    entries in these units, over the draws of each point. ``draws``: how often the prompts were drawn. Quick: 2000.
    Full: 100 000, as in the source.
    """
    first = {key: points[0][key] for key in ("D", "N", "P")}
    kinds, counts = _kinds(**first), sum(r["counts"] for r in results)
    out = {
        "names": np.array(list(kinds)),
        "powers": np.array([r["powers"] for r in results]),
        "outside": counts[:, 0] + counts[:, -1],
        "entries": counts.sum(axis=1),
        "draws": np.array(sum(p["draws"] for p in points)),
    }
    for (name, (mean, deviation)), row in zip(kinds.items(), counts, strict=True):
        out[f"{name}_edges"], out[f"{name}_counts"] = (
            mean + deviation * (np.arange(161) - 80) / 10,
            row[1:-1],
        )
    return out


def histograms(h, J, D):
    """Counts (5, 100) of the entries off the diagonal of the blocks C, D, E, F, G in the published ranges."""
    n = D * D
    off, pairs = ~np.eye(D, dtype=bool), ~np.eye(n, dtype=bool)
    entries = (h[:D][off], h[D], J[:n, :n][pairs], J[:n, n:].ravel(), J[n:, n:][off])
    rows = []
    for x, (low, high) in zip(entries, RANGES.values(), strict=True):
        place = np.floor((x - low) * (BINS / (high - low)))
        rows.append(np.bincount(place[(place >= 0) & (place < BINS)].astype(int), minlength=BINS))
    return np.array(rows)


def divergence(p, q):
    """Kullback-Leibler divergence in bits of the laws with these counts (..., bins), one count added to each bin."""
    p, q = p + 1.0, q + 1.0
    p, q = p / p.sum(-1, keepdims=True), q / q.sum(-1, keepdims=True)
    return (p * np.log2(p / q)).sum(-1)


def _fig6_compute(rng, D, P, lengths, draws):
    counts = np.zeros((len(lengths) + 1, 5, BINS), dtype=np.int64)
    kl = np.zeros((draws, len(lengths) + 1, 5))
    for k, one in enumerate(rng.spawn(draws)):
        rows = np.array(
            [histograms(*disorder(D, N, P, one)[:2], D) for N in [*lengths, lengths[0]]]
        )
        counts += rows
        kl[k] = divergence(rows[0], rows)
    return {"counts": counts, "kl": kl.sum(axis=0), "kl2": (kl**2).sum(axis=0)}


def _fig6_collect(points, results):
    """How far the law of the entries of each block moves with N (Thesis Fig. 6), D = 20, P = 1000, in bits.

    ``N`` (11,), ``blocks`` (5,), ``draws``. Of each block C, D of the fields and E, F, G of the couplings the published
    estimator ``NAME`` (11,), the mean over draws of the divergence of the histogram at N = 20 from that at N: 100 bins
    of fixed range, entries off the diagonal, one count added to each bin; its standard error ``NAME_error``; the same
    for two independent draws at N = 20, ``NAME_floor`` and ``NAME_floor_error`` (numbers); and ``NAME_pooled`` (11,),
    the divergence of the histograms pooled over all draws, less its own noise floor to first order. ``NAME_counts``
    (12, 100): these histograms, the last one of the second draws at N = 20. Quick: 64 draws. Full: 1000, as published.
    """
    draws = sum(p["draws"] for p in points)
    counts, kl, kl2 = (sum(r[key] for r in results) for key in ("counts", "kl", "kl2"))
    mean = kl / draws
    error = np.sqrt(np.maximum(kl2 / draws - mean**2, 0) / max(1, draws - 1))
    out = {
        "N": np.array(points[0]["lengths"]),
        "blocks": np.array(list(RANGES)),
        "draws": np.array(draws),
    }
    for b, name in enumerate(RANGES):
        twice = 2 if name in "EG" else 1  # J is symmetric: each pair is counted twice
        out |= {
            name: mean[:-1, b],
            f"{name}_error": error[:-1, b],
            f"{name}_floor": mean[-1, b],
            f"{name}_floor_error": error[-1, b],
            f"{name}_counts": counts[:, b],
            f"{name}_pooled": np.array(  # a histogram against itself has no floor
                [0.0, *(_pooled(counts[0, b], row, twice) for row in counts[1:-1, b])]
            ),
        }
    return out


def _pooled(p, q, twice):
    """Divergence of two pooled histograms less its floor: half of the sum of the relative variances of the bins."""
    weight = (p + 1) / (q + 1) * (q.sum() + len(q)) / (p.sum() + len(p))
    floor = (p / (p + 1)).sum() / (p.sum() + len(p)) + (weight * q / (q + 1)).sum() / (
        q.sum() + len(q)
    )
    return divergence(p, q) - twice * floor / (2 * np.log(2))


EXPERIMENTS = {
    "fig5": Experiment(
        lambda full: [{"D": 10, "N": 100, "P": 1000, "draws": 500}] * (200 if full else 4),
        _fig5_compute,
        _fig5_collect,
        lines(
            lambda r: (np.arange(160) - 79.5) / 10,
            lambda r: {f"-: {name}": 10 * r[f"{name}_counts"] / r["draws"] for name in r["names"]},
            yscale="log",
            xlabel="(entry - mean) / standard deviation",
            ylabel="entries of a draw",
        ),
    ),
    "fig6": Experiment(
        lambda full: (
            [
                {
                    "D": 20,
                    "P": 1000,
                    "lengths": [20, 21, *range(40, 201, 20)],
                    "draws": 10 if full else 8,
                }
            ]
            * (100 if full else 8)
        ),
        _fig6_compute,
        _fig6_collect,
        lines(
            "N",
            {name: f"-: block {name}" for name in RANGES},
            xlabel="examples N",
            ylabel="bits from the law at N = 20",
        ),
    ),
}
