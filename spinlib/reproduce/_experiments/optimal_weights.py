"""Experiments on the optimal weights: Thesis Figs. 7, 8, 9 (S5, S6, 2 of arXiv:2408.02288)."""

import numpy as np

from spinlib.icl import LinearTask, to_spin_glass, weights
from spinlib.inference import amp
from spinlib.random_matrix import wishart
from spinlib.reproduce._experiment import Experiment, lines

# --- Fig. 7: the spectrum of the covariance of a prompt ---------------------------------------------------------------


def _points7(full: bool) -> list[dict]:
    return [
        {"D": 100, "N": N, "matrices": 10_000 if full else 20}
        for N in (100, 200, 500, 1000, 10_000)
    ]


def _compute7(D: int, N: int, matrices: int, *, rng: np.random.Generator) -> dict:
    """Eigenvalues of ``matrices`` sample covariances C0 (D, D) of N examples each, ascending within a matrix."""
    return {
        "eigenvalues": np.array(
            [np.linalg.eigvalsh(wishart(D, N, rng=rng)) for _ in range(matrices)], np.float32
        )
    }


def _collect7(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """Spectra of C0 = X0 X0^T / N, D = 100 (Thesis Fig. 7).

    ``N`` (5,) = 100, 200, 500, 1000, 10 000; of each ``eigenvalues_N`` (matrices, 100), float32. Quick: 20 matrices,
    full: the 10 000 of the figure (4 MB a size, so the full run is not stored).
    """
    return {
        "N": np.array([p["N"] for p in points]),
        **{f"eigenvalues_{p['N']}": r["eigenvalues"] for p, r in zip(points, results)},
    }


# --- Fig. 8: weights that answer one prompt exactly -------------------------------------------------------------------


def _points8(full: bool) -> list[dict]:
    return [{"D": 10, "N": 50, "draws": 100, "epochs": 0}] * (50 if full else 6) + [
        {"D": 10, "N": 50, "draws": 1, "epochs": 1000}
    ] * (50 if full else 10)


def _compute8(D: int, N: int, draws: int, epochs: int, *, rng: np.random.Generator) -> dict:
    """Mean squares of the entries of W11 - I and W21, added, where W solves Thesis eq. (157) for one C0 and D tasks.

    ``epochs`` 0: the exact solution W11 = C0^-1, W21 = 0, of ``draws`` covariances. Otherwise Adam (rate .01) from
    entries N(0, 1/(D+1)) on the mean square of both sides' difference, recorded every tenth epoch; the last entry of
    the curve is that of the exact solution.
    """
    inverse = np.linalg.inv([wishart(D, N, rng=rng) for _ in range(draws)])
    distance = ((inverse - np.eye(D)) ** 2).mean(axis=(1, 2))
    return (
        {"distance": distance}
        if not epochs
        else {"curve": [*_adam(inverse[0], epochs, rng), *distance]}
    )


def _adam(inverse: np.ndarray, epochs: int, rng: np.random.Generator) -> list[float]:
    import torch

    D = len(inverse)
    C0, one = torch.tensor(np.linalg.inv(inverse)), torch.eye(D, dtype=torch.float64)
    w = torch.tensor(rng.standard_normal((D, D, 1)) / np.sqrt(D))
    W = torch.tensor(rng.standard_normal((D + 1, D)) / np.sqrt(D + 1), requires_grad=True)
    adam, curve = torch.optim.Adam([W], lr=0.01), []
    for epoch in range(epochs + 1):
        if epoch % 10 == 0:
            with torch.no_grad():
                curve.append(float(((W[:D] - one) ** 2).mean() + (W[D] ** 2).mean()))
        adam.zero_grad()
        ((C0 @ (W[:D] + w * W[D]) - one) ** 2).mean().backward()
        adam.step()
    return curve


def mean_distance(D: int, N: int) -> float:
    """The exact mean of the distance, [N^2 (N-1) / ((N-D)(N-D-1)(N-D-3)) - 2N / (N-D-1) + 1] / D, for N > D + 3."""
    return (N**2 * (N - 1) / ((N - D) * (N - D - 1) * (N - D - 3)) - 2 * N / (N - D - 1) + 1) / D


def _collect8(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """How far from the identity the weights are that answer all tasks of one prompt matrix (Thesis Fig. 8).

    D = 10, N = 50. ``distance`` (draws,): the mean squares of the entries of W11 - I and of W21, added, at the exact
    solution W11 = C0^-1, W21 = 0; ``mean_exact`` its mean by the moments of the inverse Wishart law; ``curve`` (runs,
    101): the same every ten epochs of Adam on Thesis eq. (157) with 10 tasks; ``curve_exact`` (runs,): the
    exact solution of the same runs; ``epochs`` (101,). Quick: 600 draws, 10 runs; full: 5000 and 50, as in the figure.
    """
    curve = np.array([r["curve"] for r in results if "curve" in r])
    return {
        "distance": np.concatenate([r["distance"] for r in results if "distance" in r]),
        "mean_exact": np.array(mean_distance(points[0]["D"], points[0]["N"])),
        "epochs": np.arange(0, max(p["epochs"] for p in points) + 1, 10),
        "curve": curve[:, :-1],
        "curve_exact": curve[:, -1],
    }


# --- Fig. 9: trained weights, and the means and variances of message passing ------------------------------------------


def _points9(full: bool) -> list[dict]:
    return [{"D": 10, "N": 100, "P": P, "what": "training", "steps": 3000} for P in (10, 1000)] + [
        {"D": 10, "N": 100, "P": 5000, "what": "messages", "steps": 0}
    ] * (50 if full else 5)


def _compute9(D: int, N: int, P: int, what: str, steps: int, *, rng: np.random.Generator) -> dict:
    """One training without ridge, or one run of Thesis eq. (153) with ridge .01 and beta 100; W is (D+1, D+1)."""
    data = LinearTask(D, N).sample_features(P, rng=rng)
    if what == "messages":
        ridge, beta = 0.01, 100.0
        found = amp(to_spin_glass(data, ridge), beta=beta, onsager=False, damping=0.5)
        idle = np.full(
            (D + 1, 1), 1 / (beta * ridge)
        )  # the last column meets no data: mean 0, this variance
        return {
            "mean": np.hstack([weights(found.mean, D), 0 * idle]),
            "var": np.hstack([weights(found.var, D), idle]),
        }
    from spinlib.attention import LinearAttention
    from spinlib.training import fit

    start = rng.standard_normal((D + 1, D + 1)) / np.sqrt(D + 1)
    model = LinearAttention(D).set_weights(start[:, :D])
    history = fit(
        model,
        data,
        n_steps=steps,
        test=LinearTask(D, N).sample_features(5000, rng=rng),
        test_every=50,
    )
    return {
        "W": np.hstack([model.weights(), start[:, D:]]),
        "start": start,  # no ridge: the idle column stays
        "steps": history.test_steps,
        "error": history.test_error,
    }


def _collect9(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """Weights of two trainings, and means and variances of message passing (Thesis Fig. 9).

    D = 10, N = 100. ``W_few``, ``W_many`` (11, 11): after 3000 steps of Adam (rate .01, no ridge) on P = 10 and 1000
    prompts, started from ``start_few``, ``start_many`` of entries N(0, 1/11); ``steps`` (n,), ``error_few``,
    ``error_many`` (n,): error on 5000 new prompts. ``mean``, ``var`` (11, 11): Thesis eq. (153), which lacks the
    reaction term, at P = 5000, ridge .01, beta 100, for one draw of the prompts; the idle last column in closed form.
    ``diagonal`` (draws,): the mean of the ten diagonal means, of this draw first. Quick: 5 draws; full: 50.
    """
    few, many, *messages = results
    return {
        "W_few": few["W"],
        "W_many": many["W"],
        "start_few": few["start"],
        "start_many": many["start"],
        "steps": few["steps"],
        "error_few": few["error"],
        "error_many": many["error"],
        "mean": messages[0]["mean"],
        "var": messages[0]["var"],
        "diagonal": np.array([np.diagonal(r["mean"])[:-1].mean() for r in messages]),
    }


EXPERIMENTS = {
    "fig7": Experiment(
        _points7,
        _compute7,
        _collect7,
        lines(
            lambda r: np.arange(0.1, 10, 0.2),
            lambda r: {
                f"-: N = {N}": np.histogram(r[f"eigenvalues_{N}"], 50, (0, 10), density=True)[0]
                for N in r["N"]
            },
            yscale="log",
            xlabel="eigenvalue",
            ylabel="density",
        ),
    ),
    "fig8": Experiment(
        _points8,
        _compute8,
        _collect8,
        lines(
            "epochs",
            {"curve": "training: Adam on one prompt matrix"},
            axis=-1,
            yscale="log",
            xlabel="epoch",
            ylabel="distance of the weights from the identity",
        ),
    ),
    "fig9": Experiment(
        _points9,
        _compute9,
        _collect9,
        lines(
            "steps",
            {"error_few": "wrong: 10 prompts", "error_many": "training: 1000 prompts"},
            yscale="log",
            xlabel="steps of Adam",
            ylabel="error on new prompts",
        ),
    ),
}
