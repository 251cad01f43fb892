"""The experiment of the chapter on sweeps in a prompt: trained stacks whose skip over one layer starts from zero."""

from math import cos, log, pi, sqrt

import numpy as np

from spinlib.reproduce._experiment import Experiment, seeded

RATIO, FRACTION, RHO, LAYERS = 0.4, 0.1, 1e-3, 6
KINDS = (
    "normed",
    "plain",
    "bayes",
    "plain none",
    "plain tied",
    "normed none",
    "normed tied",
    "normed last",
)


def _prompts(rng, D, matrices, rules):
    """Inputs X (matrices, N, D), sparse rules (matrices, D, rules) and labels (matrices, N, rules), in float32."""
    import torch

    def normal(*shape):
        return torch.from_numpy(rng.standard_normal(shape, dtype=np.float32))

    N = round(RATIO * D)
    X = normal(matrices, N, D) / sqrt(N)
    w = normal(matrices, D, rules)
    w *= torch.from_numpy(rng.random(w.shape, dtype=np.float32) < FRACTION)
    return X, w, X @ w + sqrt(RHO * FRACTION * D / N) * normal(matrices, N, rules)


def _stack(kind, weights, X, w, y):
    """Errors (LAYERS, prompts) of the layers, and the reaction (D/N) a <eta'> that theory asks of the layer after each.

    ``weights`` (LAYERS, 5): a, b, p0, p1, p2 of each layer; its function of u is p0 u sigmoid(exp(p1) u^2 + p2). In a
    "normed" stack u^2 is in units of the mean square v of the residual; in "bayes" the function is the posterior mean
    in noise of variance v; "tied" takes the reaction of theory for b.
    """
    import torch

    estimate = r = slope = torch.zeros(())
    errors, slopes = [], []
    for a, b, p0, p1, p2 in weights:
        r = y - (X @ estimate if errors else 0) + (slope if "tied" in kind else b) * r
        u = estimate + a * (X.mT @ r)
        v = (r**2).mean(1, keepdim=True)
        if kind == "bayes":
            p0, p1 = 1 / (1 + v), -torch.log(2 * v * (1 + v))
            p2 = log(FRACTION / (1 - FRACTION)) + torch.log(v / (1 + v)) / 2
        z = torch.exp(p1) * u**2 / (v if "normed" in kind else 1)
        s = torch.sigmoid(z + p2)
        estimate = p0 * u * s
        slope = a / RATIO * (p0 * s * (1 + 2 * z * (1 - s))).mean(1, keepdim=True)
        errors.append(((estimate - w) ** 2).mean(1).flatten() / FRACTION)
        slopes.append(slope.flatten())
    return torch.stack(errors), torch.stack(slopes)


def _points(full):
    """Three kinds of stacks at three sizes; the controls at one of them."""
    if not full:
        return [{"D": 40, "kind": kind, "run": 0, "steps": 20} for kind in KINDS[:2]]
    return [
        {"D": D, "kind": kind, "run": run, "steps": 300 if kind == "bayes" else 1000}
        for kinds, sizes in ((KINDS[:3], (1000, 400, 128)), (KINDS[3:], (400,)))
        for kind in kinds
        for D in sizes
        for run in range(3)
    ]


def _compute(rng, D, kind, run, steps, lr=0.02, tests=640):
    """Adam with a cosine decay on fresh prompts, 8 a matrix; about 1000 / D matrices a step, gradients clipped at 1."""
    import torch

    start = torch.tensor([1.0, 0.0, 1.0, log(0.5) if "normed" in kind else log(3), -3.0])
    weights = start.repeat(LAYERS, 1).requires_grad_()
    skips = "none" not in kind and "tied" not in kind
    moves = torch.tensor([kind != "bayes", skips, True, True, True]).float()
    optimizer = torch.optim.Adam([weights], lr=lr)
    for step in range(steps):
        errors = _stack(kind, weights, *_prompts(rng, D, max(1, 1024 // D), 8))[0].mean(1)
        optimizer.zero_grad()
        (errors[-1] + (0 if "last" in kind else 0.3) * errors[:-1].sum()).backward()
        weights.grad *= moves
        torch.nn.utils.clip_grad_norm_([weights], 1)
        optimizer.param_groups[0]["lr"] = lr * (0.51 + 0.49 * cos(pi * step / steps))
        optimizer.step()
    with torch.no_grad():
        found = [_stack(kind, weights, *_prompts(rng, D, 1, 16)) for _ in range(tests // 16)]
    errors, slopes = (torch.cat(one, 1).double().numpy() for one in zip(*found))
    return {
        "weights": weights.detach().double().numpy(),
        "theory": np.median(slopes, 1),
        "median": np.median(errors, 1),
        "mean": errors.mean(1),
        "away": (errors[-1] > 1).mean(),
    }


def _collect(points, results):
    """Trained stacks that sweep prompts of sparse rules: the skip over one layer that they grow from zero.

    Flat arrays, one row a training: its ``kind``, ``D`` and ``run``; ``weights`` (rows, 6, 5), for each layer the step
    a, the strength b of the skip, and p0, p1, p2 of its function p0 u sigmoid(exp(p1) u^2 + p2); and on 640 fresh
    prompts ``theory`` (rows, 6), the median of (D/N) a <eta'>, which the next layer should take for b; ``median`` and
    ``mean`` (rows, 6), the error of each layer over that of the estimate zero; ``away`` (rows,), the fraction of the
    prompts whose last error is above 1. N = .4 D, a fraction .1 of the rule not zero, noise over signal .001. Kinds:
    "normed" (u in units of the root mean square of the residuals), "plain", "bayes" (the posterior mean, b alone
    trained), and with "none" b = 0, "tied" b by theory. The loss is the error of the last layer and .3 times those of
    the others, with "last" that of the last layer alone. Full: D = 128, 400, 1000, three runs of 1000 steps (bayes
    300), the controls at 400. Quick: D = 40, 20 steps, one run of two kinds.
    """
    return {
        name: np.array([one[name] for one in rows])
        for rows in (points, results)
        for name in rows[0]
        if name != "steps"
    }


def _draw(figure, arrays, color):
    """How far the learned strengths are above those of theory, on average over the layers."""
    ax = figure.subplots()
    above = (arrays["weights"][:, 1:, 1] - arrays["theory"][:, :-1]).mean(1)
    for kind in dict.fromkeys(arrays["kind"]):
        ax.plot(*np.stack([arrays["D"], above])[:, arrays["kind"] == kind], "o", label=kind)
    ax.set(xscale="log", xlabel="D", ylabel="skip above theory")
    ax.legend()


EXPERIMENTS = {
    "prompt_sweeps": Experiment(
        _points,
        _compute,
        _collect,
        _draw,
        seeded(lambda p: [p["D"], KINDS.index(p["kind"]), p["run"]]),
    )
}
