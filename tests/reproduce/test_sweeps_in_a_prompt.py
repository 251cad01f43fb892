"""Trained stacks that sweep a prompt: a layer by loops over its tokens, a stored run again, what the page says."""

import numpy as np
import pytest

from spinlib.reproduce import about, load
from spinlib.reproduce._experiments import sweeps_in_a_prompt as sweeps

SWEEPS = sweeps.EXPERIMENTS["prompt_sweeps"]


def one_prompt(kind, weights, X, w, y):
    """Errors and reactions of one prompt, token by token; slopes by differences."""
    N, D = X.shape
    estimate, left, slope, errors, slopes = [0.0] * D, [0.0] * N, 0.0, [], []
    for a, b, p0, p1, p2 in weights:
        kept = slope if "tied" in kind else b
        left = [
            y[i] - sum(X[i, j] * estimate[j] for j in range(D)) + kept * left[i] for i in range(N)
        ]
        v = sum(one**2 for one in left) / N

        def eta(u):
            if kind == "bayes":
                f = sweeps.FRACTION
                inside, outside = (
                    part * np.exp(-(u**2) / 2 / var) / var**0.5
                    for part, var in ((f, 1 + v), (1 - f, v))
                )
                return u / (1 + v) * inside / (inside + outside)
            scale = v if "normed" in kind else 1
            return p0 * u / (1 + np.exp(-np.exp(p1) * u**2 / scale - p2))

        heard = [estimate[j] + a * sum(X[i, j] * left[i] for i in range(N)) for j in range(D)]
        estimate = [eta(u) for u in heard]
        slope = a / N * sum((eta(u + 1e-5) - eta(u - 1e-5)) / 2e-5 for u in heard)
        errors.append(sum((e - t) ** 2 for e, t in zip(estimate, w)) / D / sweeps.FRACTION)
        slopes.append(slope)
    return errors, slopes


@pytest.mark.parametrize("kind", sweeps.KINDS)
def test_a_stack_is_its_loops_over_tokens(kind):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    X, w, y = (one.double() for one in sweeps._prompts(rng, 20, 2, 3))
    weights = torch.tensor([0.9, 0.3, 0.8, 0.2, -1.0]).double() + 0.1 * torch.from_numpy(
        rng.standard_normal((3, 5))
    )
    errors, slopes = sweeps._stack(kind, weights, X, w, y)
    assert errors.shape == slopes.shape == (3, 6)
    for k in range(6):
        m, rule = divmod(k, 3)
        own = one_prompt(
            kind, weights.numpy(), X[m].numpy(), w[m, :, rule].numpy(), y[m, :, rule].numpy()
        )
        np.testing.assert_allclose(errors[:, k], own[0], rtol=1e-6)
        np.testing.assert_allclose(slopes[:, k], own[1], rtol=1e-5)


def test_prompts_have_the_scales_of_the_page():
    pytest.importorskip("torch")
    X, w, y = sweeps._prompts(np.random.default_rng(0), 200, 4, 50)
    assert X.shape == (4, 80, 200) and w.shape == (4, 200, 50) and y.shape == (4, 80, 50)
    assert (X**2).sum(1).mean() == pytest.approx(1, abs=0.02)
    assert (w != 0).double().mean() == pytest.approx(0.1, abs=5 * (0.09 / 40_000) ** 0.5)
    noise = y - X @ w
    assert ((noise**2).mean() / ((X @ w) ** 2).mean()).item() == pytest.approx(1e-3, rel=0.1)


@pytest.mark.slow
def test_a_stored_training_comes_out_again():
    """Single precision and a thousand roundings: within a hundredth, far inside the scatter of the trainings."""
    stored, points = load("prompt_sweeps"), SWEEPS.points(True)
    k = points.index({"D": 128, "kind": "bayes", "run": 0, "steps": 300})
    found = SWEEPS.compute(rng=SWEEPS.seeds(np.random.default_rng(0), points)[k], **points[k])
    for name in ("weights", "theory", "median"):
        np.testing.assert_allclose(found[name], stored[name][k], rtol=1e-2, atol=1e-3)


def test_what_the_page_says():
    """The skip grows in every stack; above theory, less with growing D, and least with a norm."""
    stored = load("prompt_sweeps")
    assert about("prompt_sweeps")["full"] and len(stored["D"]) == len(SWEEPS.points(True))
    learned = stored["weights"][:, 1:, 1]
    above = (learned - stored["theory"][:, :-1]).mean(1)
    pick = lambda kind, D: (stored["kind"] == kind) & (stored["D"] == D)
    for kind in ("normed", "plain", "bayes"):
        means = [above[pick(kind, D)].mean() for D in (128, 400, 1000)]
        assert (learned[stored["kind"] == kind] > 0.4).all()
        assert means[0] > 1.5 * means[1] > 2 * means[2] > 0
    for D in (128, 400, 1000):
        assert above[pick("plain", D)].min() > 2 * above[pick("normed", D)].max()
    assert (stored["weights"][np.char.find(stored["kind"], "none") > 0, 1:, 1] == 0).all()
    final = lambda kind: stored["median"][pick(kind, 400), -1].mean()
    assert final("normed") < final("normed none") and final("plain") < final("plain none")
    assert final("normed tied") < 1.1 * final("normed") and final("plain tied") > final("plain")
    last = pick("normed last", 400)  # the loss is the error of the last layer alone
    assert 0 < above[last].min() and above[last].max() < above[pick("normed", 400)].min()
    assert (learned - stored["theory"][:, :-1])[last][:, 0].mean() < 0
    assert len(SWEEPS.points(False)) == 2
