"""Experiments of the chapter on the energy landscape: Thesis Figs. 10 and 11."""

import numpy as np

from spinlib.icl import LinearTask, to_spin_glass
from spinlib.inference import ground_state
from spinlib.landscape import hessian_spectrum
from spinlib.reproduce._experiment import Experiment, grid, lines

EDGES = np.geomspace(1e-4, 20, 121)  # of the histograms of eigenvalues
KEPT = 10  # matrices whose eigenvalues are kept one by one


def _fig10_points(full):
    prompts = range(25, 2001, 25) if full else (25, 100, 250, 500, 800, 1200, 2000)
    batches, samples = (100, 50) if full else (1, 20)
    return [
        {"kind": "zeros", "D": D, "N": 100, "P": P} for D in range(10, 41, 5) for P in prompts
    ] + [
        {"kind": "spectrum", "D": 20, "N": 100, "P": P, "samples": samples}
        for P in (100, 420, 1000, 5000)
        for _ in range(batches)
    ]


def _fig10_compute(*, rng, kind, D, N, P, samples=1):
    task, n = LinearTask(D, N), D * (D + 1)
    if kind == "zeros":
        spectrum = hessian_spectrum(task.sample_features(P, rng=rng))
        flat = np.sum(spectrum <= n * np.finfo(float).eps * spectrum[-1])
        return {"ratio": (flat + D + 1) / (D + 1) ** 2}
    values = np.array([hessian_spectrum(task.sample_features(P, rng=rng)) for _ in range(samples)])[
        :, max(0, n - P) :
    ]
    return {"counts": np.histogram(values, EDGES)[0], "values": values[:KEPT].astype(np.float32)}


def _fig10_collect(points, results):
    """Flat directions and curvatures of the glass at ridge 0, N = 100 (Thesis Fig. 10).

    ``D`` (sizes,), ``P`` (prompts,) and ``zero_ratio`` (sizes, prompts), counted in the (D+1)^2 curvatures of a square
    W, one sample a cell (threshold n eps times the largest). For D = 20 and P' = 100, 420, 1000, 5000:
    ``eigenvalues_P'`` (10, min(P', n)) non-zero ones of ten matrices (float32), and of all of them ``counts_P'`` (120,)
    between ``edges`` (121,), and ``matrices``. Quick: 7 x 7 cells, 20 matrices; full: 7 x 80 cells, 5000 matrices as
    in the thesis.
    """
    zeros = sum(p["kind"] == "zeros" for p in points)
    table = grid(points[:zeros], results[:zeros], "D", "P")
    found = {
        "D": table["D"],
        "P": table["P"],
        "edges": EDGES,
        "zero_ratio": table["ratio"].astype(float),
    }
    for here in sorted({p["P"] for p in points[zeros:]}):
        mine = [k for k, p in enumerate(points) if k >= zeros and p["P"] == here]
        found |= {
            f"eigenvalues_{here}": results[mine[0]]["values"],
            f"counts_{here}": np.sum([results[k]["counts"] for k in mine], axis=0),
            "matrices": np.array(sum(points[k]["samples"] for k in mine)),
        }
    return found


def _fig11_points(full):
    return [{"D": 10, "N": 50, "P": P, "points": 1000 if full else 300} for P in (10, 1000)]


def _fig11_compute(*, rng, D, N, P, points):
    from sklearn.manifold import TSNE

    glass = to_spin_glass(LinearTask(D, N).sample_features(P, rng=rng), 0.01)
    W = rng.standard_normal((points, glass.n))
    energy = glass.energy(W)
    place = TSNE(init="random", random_state=int(rng.integers(2**31)), n_jobs=1).fit_transform(W)
    length = (W**2).sum(1)
    return {
        "energy": energy,
        "energy_twice": energy + 0.5 * (W**2) @ (glass.lam - 0.01),
        "place": place,
        "ground": glass.energy(ground_state(glass).mean),
        "mean_exact": 0.5 * glass.lam.sum(),
        "in_picture": _likeness(energy, place),
        "in_space": _likeness(energy, W),
        "chance": np.std(
            [_likeness(one, place) for one in rng.permuted(np.tile(energy, (200, 1)), axis=1)]
        ),
        "length": np.corrcoef(energy, length)[0, 1],
        "rim": np.corrcoef(length, np.linalg.norm(place - place.mean(0), axis=1))[0, 1],
        "length_exact": glass.lam.sum()
        / np.sqrt(glass.n * (glass.hessian**2).sum() + 2 * glass.n * (glass.h**2).sum()),
    }


def _likeness(energy, place, neighbours=10):
    """Correlation of the energy of a point with the mean over its nearest neighbours in ``place``."""
    square = (place**2).sum(1)
    distance = square[:, None] + square - 2 * place @ place.T
    np.fill_diagonal(distance, np.inf)
    near = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    return np.corrcoef(energy, energy[near].mean(1))[0, 1]


def _fig11_collect(points, results):
    """Energies of random weights and their places in a t-SNE picture (Thesis Fig. 11): D = 10, N = 50, ridge .01.

    First axis: P = 10, 1000 prompts. ``energy`` (2, points) of W with N(0, 1) entries, ``energy_twice`` with the
    diagonal of J left in, as published, ``place`` (2, points, 2) by t-SNE (scikit-learn; not the same digits on another
    processor), ``ground`` the lowest energy, ``mean_exact`` that of random weights; ``in_picture``, ``in_space``
    (2,): correlation of a point's energy with the mean of its 10 nearest neighbours, in the picture and among the
    weights; ``chance``: standard deviation of the first where energies are shuffled. ``length``: correlation of the
    energy with |W|^2, exactly ``length_exact`` for many points; ``rim``: that of |W|^2 with the distance from the
    middle of the picture. Points: 300, full: 1000.
    """
    return grid(points, results, "P")


EXPERIMENTS = {
    "fig10": Experiment(
        _fig10_points,
        _fig10_compute,
        _fig10_collect,
        lines(
            "P",
            lambda r: {f"-: D = {D}": share for D, share in zip(r["D"], r["zero_ratio"])},
            xlabel="prompts P",
            ylabel="share of flat directions",
        ),
    ),
    "fig11": Experiment(
        _fig11_points,
        _fig11_compute,
        _fig11_collect,
        lines(
            "P",
            {
                "in_space": "exact: neighbours among the weights",
                "in_picture": "simulation: neighbours in the picture",
                "chance": "reference: of shuffled energies, standard deviation",
            },
            xscale="log",
            xlabel="prompts P",
            ylabel="correlation of an energy with its neighbours",
        ),
        needs=("sklearn",),
    ),
}
