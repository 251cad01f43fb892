"""The experiment of the chapter on other architectures: five trained models, and the ground state beside them."""
from __future__ import annotations

import warnings

import numpy as np

from spinlib._core import RNG, ConvergenceWarning, check_real
from spinlib.icl import LinearTask, best_weights, features, population_error, predict, weights
from spinlib.inference import ground_state_cg
from spinlib.reproduce._experiment import Experiment

MODELS = ("exact", "SLA", "FLA", "FLA_published", "MHLA", "SA", "TF")


def train_architecture(model: str, D: int, N: int, P: int, *, ridge: float = 0.005, settle: float = 0.005,
                       steps: int = 10_000, H: int = 32, heads: int = 10, warm: int = 500, device: str = "cpu",
                       rng: RNG = None) -> tuple[object, float]:
    """A model trained on P prompts until its test error settles, and its error on fresh prompts (NaN: not settled).

    Batches of 256, Adam with lr .01, float32; ``settle`` and ``steps`` as in ``training.fit``, with 1000 test prompts.
    SA, TF and MHLA multiply three matrices; then zero weights are a minimum of the loss with a ridge, and some starts
    fall into it. So they take their first ``warm`` steps without ridge. The error is a mean over 4000 other prompts,
    with the best linear attention, whose error is known, as control variate: the luck of the prompts mostly cancels.

    >>> from spinlib.reproduce import train_architecture
    >>> model, error = train_architecture("SLA", 3, 30, 500, settle=0.05, rng=0)
    >>> print(0.1 < error < 0.2, (3 + 1) / (30 + 3 + 1) < error)
    True True
    """
    from spinlib.attention import architecture
    from spinlib.training import fit

    ridge, rng, task = check_real("ridge", ridge, minimum=0), np.random.default_rng(rng), LinearTask(D, N)
    train, test, fresh = (task.sample(count, rng=rng) for count in (P, min(P, 1000), 4000))
    module = architecture(model, D, H, heads, rng=rng).float()
    options = dict(batch=min(P, 256), lr=0.01, device=None if device == "cpu" else device, rng=rng)
    options["warm"] = warm if model in ("SA", "TF", "MHLA") else 0
    with warnings.catch_warnings():  # not settling is an answer here: NaN
        warnings.simplefilter("ignore", ConvergenceWarning)
        history = fit(module, train, ridge=ridge, steps=steps, test=test, test_every=20, settle=settle, **options)
    if not history.settled:
        return module, np.nan
    return module, controlled_error(module(fresh.X).detach().numpy(), fresh)


def controlled_error(y_hat: np.ndarray, prompts: object) -> float:
    """Mean of (y_hat - y)^2 over prompts, with the best linear attention as control variate.

    Its mean square on the same prompts is subtracted and its exact error (D+1)/(N+D+1) added: no bias, less noise.

    >>> from spinlib.icl import LinearTask, best_weights, predict
    >>> from spinlib.reproduce import controlled_error
    >>> prompts = LinearTask(4, 10).sample(50, rng=0)
    >>> print(f"{controlled_error(predict(best_weights(4, 10), prompts.X), prompts):.6f} {5 / 15:.6f}")
    0.333333 0.333333
    """
    D, N = prompts.X.shape[1] - 1, prompts.X.shape[2] - 1
    reference = predict(best_weights(D, N), prompts.X)
    extra = (y_hat - prompts.y) ** 2 - (reference - prompts.y) ** 2
    return float(extra.mean() + (D + 1) / (N + D + 1))


def _points(full):
    """Runs in the outer loop: an interrupted sweep has whole curves."""
    lengths, runs = ((10, 40, 70, 100, 150, 200), 6) if full else ((40, 100, 200), 1)
    return [{"model": model, "N": N, "run": run, "D": 20, "P": 10_000, "settle": 0.005 if full else 0.02}
            for run in range(runs) for N in lengths for model in MODELS]


def _seeds(rng, points):
    """The models of one run share its prompts; quick and full share their first run."""
    seed = int(rng.integers(2**32))
    return [np.random.default_rng([seed, p["N"], p["run"]]) for p in points]


def _compute(rng, model, N, run, D, P, settle, device="cpu"):
    if model != "exact":
        module, error = train_architecture(model, D, N, P, settle=settle, device=device, rng=rng)
        if model not in ("SA", "TF"):
            return {"error": error}
        keys = (module.W_Q * module.W_K).sum().item()                 # trace of W_Q^T W_K: attracted or repelled
        return {"error": error, "sign": float(np.sign(keys))}
    state = ground_state_cg(features(LinearTask(D, N).sample(P, rng=rng)), 0.005)
    return {"error": population_error(weights(state.mean, D), N)}


def _collect(points, results):
    """Errors of five trained models and of the ground state against the length of the prompt, Thesis Fig. 15.

    ``N`` (lengths,) and, each (lengths, runs), ``SLA``, ``FLA``, ``SA``, ``TF``, ``MHLA``, ``exact`` (the ground state
    at the same ridge) and ``FLA_published`` (SLA with W = W_K^T W_Q, see ``architecture``);
    NaN where training did not settle. ``SA_sign`` and ``TF_sign`` are the sign of tr W_Q^T W_K: -1 where the query
    attends to the tokens that point away from it. D = 20, P = 10 000, H = 32, 10 heads, ridge .005 on every parameter
    (weight decay .01 of the mean squared error without its half). The models of one run have the same prompts. Quick:
    N = 40, 100, 200, one run, settled to 2 %. Full: six lengths from 10 to 200, six runs (the published figure has
    100), settled to .5 %.
    """
    lengths = sorted({p["N"] for p in points})
    names = (*MODELS, "SA_sign", "TF_sign")
    table = {name: np.full((len(lengths), 1 + max(p["run"] for p in points)), np.nan) for name in names}
    for point, result in zip(points, results):
        place = lengths.index(point["N"]), point["run"]
        table[point["model"]][place] = result["error"]
        if "sign" in result:
            table[f"{point['model']}_sign"][place] = result["sign"]
    return {"N": np.array(lengths), **table}


def _draw(figure, result, color):
    ax = figure.subplots()
    for model, marker in zip(MODELS, "_oxv^sD"):
        ax.errorbar(result["N"], result[model].mean(1), result[model].std(1), fmt=marker, label=model)
    ax.plot(result["N"], 21 / (result["N"] + 21), color=color["exact"], label="best linear attention")
    ax.set(xlabel="length of the prompt N", ylabel="error", ylim=(0, None))
    ax.legend(ncols=2)


FIG15 = Experiment(_points, _compute, _collect, _draw, _seeds)
