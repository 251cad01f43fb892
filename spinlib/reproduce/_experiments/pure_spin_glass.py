"""Experiments of the chapter on the pure spin glass: Thesis Figs. 17 and 18."""

import numpy as np

from spinlib.icl import LinearTask, contrast, population_error, to_spin_glass, weights
from spinlib.landscape import block_values
from spinlib.reproduce._experiment import Experiment, lines
from spinlib.spin_glass import SpinGlass, shuffled

D, N, P = 10, 100, 1000
BLOCKS = {"C": 2, "D": 1, "E": 2, "F": 2, "G": 1}  # components that enough entries allow


def _fig17_points(full):
    return [{"D": D, "N": N, "P": P} for _ in range(100 if full else 8)]


def _fig17_compute(*, rng, D, N, P):
    glass = to_spin_glass(LinearTask(D, N).sample_features(P, rng=rng), 0.0)
    found = {}
    for name, values in block_values(glass).items():
        fit, one = _fit(values, BLOCKS[name]), np.array([[1.0], [values.mean()], [values.std()]])
        found |= {
            f"values_{name}": values,
            f"fit_{name}": fit,
            f"gain_{name}": np.log(_density(fit, values) / _density(one, values)).sum(),
        }
    row, column = np.divmod(np.arange(D * D), D)
    i, j = np.triu_indices(D * D, 1)
    share = (row[i] == row[j]).astype(int) + 2 * (column[i] == column[j])
    found["square_E"] = np.array([(found["values_E"][share == k] ** 2).mean() for k in range(3)])
    return found


def _fit(values, kinds):
    """The likeliest mixture of Gaussians: shares, means, widths (3, kinds), by increasing width (scikit-learn)."""
    from sklearn.mixture import GaussianMixture

    found = GaussianMixture(
        kinds,
        means_init=np.zeros((kinds, 1)),
        tol=1e-6,
        max_iter=5000,
        reg_covar=1e-9,
        weights_init=np.full(kinds, 1 / kinds),
        precisions_init=(1 / (2.0 ** (np.arange(kinds) - (kinds - 1) / 2)) ** 2)[:, None, None],
    ).fit(((values - values.mean()) / values.std())[:, None])
    return np.array(
        [
            found.weights_ / found.weights_.sum(),
            values.mean() + values.std() * found.means_[:, 0],
            values.std() * np.sqrt(found.covariances_[:, 0, 0]),
        ]
    )[:, found.covariances_[:, 0, 0].argsort()]


def _draw(mixture, size, rng):
    share, mean, sd = mixture
    kind = rng.choice(len(share), p=share, size=size)
    return mean[kind] + sd[kind] * rng.standard_normal(size)


def _density(mixture, x):
    share, mean, sd = mixture
    z = (x[:, None] - mean) / sd
    return np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * sd) @ share


def _fig17_collect(points, results):
    """Entries of the blocks of fields and couplings with Gaussian mixtures fitted to them (Thesis Fig. 17).

    D = 10, N = 100, P = 1000, ridge 0. For each block of fields C (W11) and D (label row) and of couplings E (inside
    W11), F (between), G (inside the row): ``values_C`` (entries,) and so on of the first draw; ``fit_C`` (draws, 3,
    components) weights, means and standard deviations (two components for C, E, F; one for D, G, which have few
    entries); ``gain_C`` (draws,) logarithm of the likelihood of the fit over that of one Gaussian. ``square_E`` (draws,
    3): mean square of couplings of two weights of W11 that share neither index, the row, the column. Quick: 8 draws,
    full: 100.
    """
    first = {name: value for name, value in results[0].items() if name.startswith("values_")}
    return first | {
        name: np.array([r[name] for r in results]) for name in results[0] if name not in first
    }


def _shape(values):
    """The histogram of the entries of a block, in standard deviations from their mean."""
    return np.histogram((values - values.mean()) / values.std(), 40, (-4, 4), density=True)[0]


def _fig18_points(full):
    ridges = [0.003, 0.01, 0.03, 0.05, 0.1, 0.3, 1.0]
    return [{"D": D, "N": N, "P": P, "ridges": ridges} for _ in range(200 if full else 20)]


def _fig18_compute(*, rng, D, N, P, ridges):
    glass, fresh = (
        to_spin_glass(LinearTask(D, N).sample_features(P, rng=rng), 0.0) for _ in range(2)
    )
    fields = np.concatenate([rng.permutation(glass.h[: D * D]), glass.h[D * D :]])
    variants = {
        "real": glass,
        "shuffled": shuffled(glass, np.repeat([0, 1], [D * D, D]), rng=rng),
        "resampled": SpinGlass(_resampled(glass, rng), glass.h, glass.lam),
        "fresh": SpinGlass(fresh.J, glass.h, fresh.lam),
        "no_coupling": SpinGlass(np.zeros_like(glass.J), glass.h, glass.lam),
        "moved_fields": SpinGlass(np.zeros_like(glass.J), fields, glass.lam),
    }
    found = {}
    for name, one in variants.items():
        values, vectors = np.linalg.eigh(one.hessian)
        field = vectors.T @ one.h
        solved = [
            weights(vectors @ (field / (values + ridge))) if values[0] + ridge > 0 else None
            for ridge in ridges
        ]
        found[name] = np.array([np.nan if W is None else population_error(W, N) for W in solved])
        if name in ("real", "resampled", "moved_fields"):
            found[f"contrast_{name}"] = np.array(
                [np.nan if W is None else contrast(W) for W in solved]
            )
    first, row = slice(0, D * D), slice(D * D, None)
    return found | {
        "square_J": np.array(
            [
                (glass.J[a, b] ** 2).sum()
                / (glass.J[a, b].size - (len(glass.h[a]) if a == b else 0))
                for a, b in ((first, first), (first, row), (row, row))
            ]
        ),
        "trace_h": glass.h[first].reshape(D, D).trace(),
        "square_h": np.array([(glass.h[first] ** 2).mean(), (glass.h[row] ** 2).mean()]),
    }


def _resampled(glass, rng):
    """Couplings drawn from the mixtures fitted to the blocks of ``glass``, symmetric, with a zero diagonal."""
    blocks = {
        name: _draw(_fit(values, BLOCKS[name]), len(values), rng)
        for name, values in block_values(glass).items()
        if name in "EFG"
    }
    size, J = len(block_values(glass)["C"]), np.zeros_like(glass.J)
    J[np.triu_indices(size, 1)] = blocks["E"]
    J[:size, size:] = blocks["F"].reshape(size, -1)
    J[size:, size:][np.triu_indices(glass.n - size, 1)] = blocks["G"]
    return J + J.T


def _fig18_collect(points, results):
    """Errors of the ground state with couplings and fields changed (Thesis Fig. 18): D = 10, N = 100, P = 1000.

    ``ridge`` (ridges,); errors (ridges, draws), NaN where there is no ground state: ``real``; ``shuffled``, couplings
    permuted inside the blocks; ``resampled``, couplings drawn from mixtures fitted to the blocks; ``fresh``, couplings
    and stiffnesses of 1000 other prompts; ``no_coupling``; ``moved_fields``, no couplings and the fields of W11 in
    random places. ``contrast_real``, ``contrast_resampled``, ``contrast_moved_fields`` (ridges, draws). For theory, of
    each draw: ``square_J`` (draws, 3) mean square couplings inside W11, between, inside the row; ``square_h`` (draws,
    2); ``trace_h`` (draws,) of the fields as a matrix. Quick: 20 draws, full: 200.
    """
    last = ("square_J", "square_h", "trace_h")  # here the draws stay the first axis
    return {"ridge": np.array(points[0]["ridges"])} | {
        name: np.stack([r[name] for r in results], 0 if name in last else -1) for name in results[0]
    }


EXPERIMENTS = {
    "fig17": Experiment(
        _fig17_points,
        _fig17_compute,
        _fig17_collect,
        lines(
            lambda r: np.arange(-3.9, 4, 0.2),
            lambda r: {f"-: block {name}": _shape(r[f"values_{name}"]) for name in BLOCKS},
            yscale="log",
            xlabel="(entry - mean) / standard deviation",
            ylabel="density",
        ),
        needs=("sklearn",),
    ),
    "fig18": Experiment(
        _fig18_points,
        _fig18_compute,
        _fig18_collect,
        lines(
            "ridge",
            {
                "real": "exact: the glass of the prompts",
                "shuffled": "wrong: couplings shuffled",
                "fresh": "sample: couplings of other prompts",
                "no_coupling": "reference: no couplings",
            },
            xscale="log",
            xlabel="ridge",
            ylabel="error",
        ),
        needs=("sklearn",),
    ),
}
