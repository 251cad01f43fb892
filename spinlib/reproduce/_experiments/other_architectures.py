"""The experiment of the chapter on other architectures: five trained models, and the ground state beside them."""

import numpy as np

from spinlib.icl import LinearTask, controlled_error, features, population_error, weights
from spinlib.inference import ground_state_cg
from spinlib.reproduce._experiment import Experiment, grid, lines, quiet, seeded

MODELS = ("exact", "SLA", "FLA", "FLA_published", "MHLA", "SA", "TF")


def _train(model, D, N, P, settle, device, rng):
    """A model trained on P prompts until its test error settles, and its error on fresh prompts (NaN: not settled).

    Batches of 256, Adam with lr .01, float32; at most 10 000 steps, 1000 test prompts, ridge .005. SA, TF and MHLA
    multiply three matrices; then zero weights are a minimum of the loss with a ridge, and some starts fall into it. So
    they take 500 first steps without ridge. The error is a mean over 4000 other prompts.
    """
    from spinlib.attention import architecture
    from spinlib.training import fit

    task = LinearTask(D, N)
    train, test, fresh = (task.sample(count, rng=rng) for count in (P, min(P, 1000), 4000))
    module = architecture(model, D, rng=rng).float()
    with quiet():
        history = fit(
            module,
            train,
            ridge=0.005,
            n_steps=10_000,
            batch=min(P, 256),
            test=test,
            test_every=20,
            settle=settle,
            warm=500 if model in ("SA", "TF", "MHLA") else 0,
            device=None if device == "cpu" else device,
            rng=rng,
        )
    return module, (
        controlled_error(module(fresh.X).detach().numpy(), fresh) if history.settled else np.nan
    )


def _points(full):
    """Runs in the outer loop: an interrupted sweep has whole curves."""
    lengths, runs = ((10, 40, 70, 100, 150, 200), 6) if full else ((10, 40), 1)
    return [
        {
            "model": model,
            "N": N,
            "run": run,
            "D": 20,
            "P": 10_000,
            "settle": 0.005 if full else 0.05,
        }
        for run in range(runs)
        for N in lengths
        for model in MODELS
    ]


def _compute(rng, model, N, run, D, P, settle, device="cpu"):
    if model != "exact":
        module, error = _train(model, D, N, P, settle, device, rng)
        if model not in ("SA", "TF"):
            return {"error": error}
        return {  # of the trace of W_K^T W_Q: attracted or repelled
            "error": error,
            "sign": float(np.sign((module.W_Q * module.W_K).sum().item())),
        }
    state = ground_state_cg(features(LinearTask(D, N).sample(P, rng=rng)), ridge=0.005)
    return {"error": population_error(weights(state.mean, D), N)}


def _collect(points, results):
    """Errors of five trained models and of the ground state against the length of the prompt, Thesis Fig. 15.

    ``N`` (lengths,) and, each (lengths, runs), ``SLA``, ``FLA``, ``SA``, ``TF``, ``MHLA``, ``exact`` (the ground state
    at the same ridge) and ``FLA_published`` (SLA with W = W_K^T W_Q, see ``attention.architecture``);
    NaN where training did not settle. ``SA_sign`` and ``TF_sign`` are the sign of tr W_K^T W_Q: -1 where the query
    attends to the tokens that point away from it. D = 20, P = 10 000, H = 32, 10 heads, ridge .005 on every parameter
    (weight decay .01 of the mean squared error without its half). The models of one run have the same prompts. Quick:
    N = 10 and 40, one run, settled to 5 %. Full: six lengths from 10 to 200, six runs (the published figure has 100),
    settled to .5 %.
    """
    table = grid(points, results, "model", "N", "run")
    row = {name: k for k, name in enumerate(table["model"])}
    return {
        "N": table["N"],
        **{name: table["error"][row[name]] for name in MODELS},
        "SA_sign": table["sign"][row["SA"]],
        "TF_sign": table["sign"][row["TF"]],
    }


EXPERIMENTS = {
    "fig15": Experiment(
        _points,
        _compute,
        _collect,
        lines(
            "N",
            {
                "exact": "exact: ground state",
                "SLA": "-: linear attention, one matrix",
                "FLA": "-: linear attention, keys and queries",
                "MHLA": "-: linear attention, 10 heads",
                "SA": "-: softmax attention",
                "TF": "-: softmax and a network behind it",
            },
            xlabel="length of the prompt N",
            ylabel="error",
        ),
        seeded(lambda p: [p["N"], p["run"]]),  # the models of one run share its prompts
    )
}
