"""Merged and separate weights: training on A and h, what gradient descent leaves, and the stored runs of Figure 16."""
import numpy as np
import pytest
import torch

from spinlib.attention import LinearAttention
from spinlib.icl import LinearTask, learning_curve, loss, population_error
from spinlib.random_matrix import ridge_equivalent
from spinlib.reproduce import descend, load, moments
from spinlib.reproduce._experiments.merged_or_separate import EXPERIMENTS
from spinlib.training import fit
from stats import mean_error

FIG16 = EXPERIMENTS["fig16"]


def start(D, rng, size=1.0):
    rng = np.random.default_rng(rng)
    return [size * rng.standard_normal((D + 1, k)) / np.sqrt(D + 1) for k in (D, D + 1, D)]


def test_moments_hold_the_loss():
    prompts = LinearTask(4, 9).sample(30, rng=0)
    A, h = moments(prompts)
    W = start(4, 1)[0]
    w = W.ravel()
    assert loss(W, prompts, 0.0) == pytest.approx(w @ A @ w / 2 - h @ w + np.mean(prompts.y**2) / 2, rel=1e-12)


def test_descend_is_torch_adam_on_the_prompts():
    D, data = 4, LinearTask(4, 12).sample_features(40, rng=0)
    A, h = moments(data)
    W, W_Q, W_K = start(D, 1)
    one = LinearAttention(D).set_weights(W)
    fit(one, data, steps=50, lr=0.01)
    assert np.abs(one.weights() - descend([W], A, h, steps=50)[-1]).max() < 1e-9
    two = LinearAttention(D, factored=True)                          # its W is W_K^T W_Q: the names are exchanged
    with torch.no_grad():
        two.W_K[0] = torch.tensor(W_Q)
        two.W_Q[0] = torch.tensor(np.pad(W_K, ((0, 0), (0, 1))))
    fit(two, data, steps=50, lr=0.01)
    assert np.abs(two.weights() - descend([W_Q, W_K], A, h, steps=50)[-1]).max() < 1e-9


def test_gradient_descent_keeps_the_unseen_part_and_adam_does_not():
    D, P = 5, 12
    A, h = moments(LinearTask(D, 20).sample_features(P, rng=3))
    seen = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    unseen = np.eye(len(h)) - seen @ A
    W = start(D, 4)[0]
    by_descent = descend([W], A, h, steps=60_000, lr=1 / np.linalg.eigvalsh(A)[-1], adam=False)[-1].ravel()
    assert np.abs(by_descent - seen @ h - unseen @ W.ravel()).max() < 1e-8
    by_adam = descend([W], A, h)[-1].ravel()
    assert np.abs(A @ by_adam - h).max() < 1e-4 and np.linalg.norm(unseen @ (by_adam - W.ravel())) > 0.3


def test_cost_of_the_start():
    """E - E_min averages to rho^2 tr(Pi Sigma), and that to rho^2 k P, over training sets within 4 standard errors."""
    D, N, P = 20, 100, 240
    a, b = (1 + (D + 1) / N) / D, (1 + 2 / D) * (1 + 2 / N)
    kappa = ridge_equivalent([a, b], [0.8, 0.0], 0.2, P, 0, count=[D * D, D]).kappa
    gaps, traces = [], []
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        A, h = moments(LinearTask(D, N).sample_features(P, rng=rng))
        seen = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
        unseen = np.eye(len(h)) - seen @ A
        least = (seen @ h).reshape(D + 1, D)
        traces.append(np.diag(unseen) @ np.repeat([a, b], [D * D, D]) / (D + 1))
        starts = [rng.standard_normal(D * (D + 1)) / np.sqrt(D + 1) for _ in range(20)]
        gaps.append(np.mean([population_error(least + (unseen @ w).reshape(D + 1, D), N) for w in starts])
                    - population_error(least, N))
    mean, bar = mean_error(np.array(gaps) - traces)
    assert abs(mean) < 4 * bar
    assert np.mean(traces) == pytest.approx(kappa * P / (D + 1), rel=0.03)


def test_gradient_flow_of_the_product_conserves_the_difference():
    A, h = moments(LinearTask(4, 20).sample_features(30, rng=6))
    _, W_Q, W_K = start(4, 7)
    drifts = []
    for step in (0.02, 0.01):
        Q, K = W_Q.copy(), W_K.copy()
        for _ in range(round(20 / step)):
            G = (A @ (Q.T @ K).ravel() - h).reshape(5, 4)
            Q, K = Q - step * K @ G.T, K - step * Q @ G
        drifts.append(np.abs(Q @ Q.T - K @ K.T - W_Q @ W_Q.T + W_K @ W_K.T).max())
    assert drifts[0] / drifts[1] == pytest.approx(2, abs=0.1) and drifts[1] < 0.01


def test_keys_and_shapes_of_a_tiny_run():
    points = [{"alpha": alpha, "repeats": 1, "D": 3, "N": 10, "steps": 20} for alpha in (0.5, 2.0, 0.5, 2.0)]
    found = FIG16.collect(points, [FIG16.compute(rng=np.random.default_rng(k), **p) for k, p in enumerate(points)])
    assert set(found) == {"alpha", "merged", "separate", "exact"} and found["alpha"].tolist() == [0.5, 2.0]
    assert all(found[name].shape == (2, 2) for name in ("merged", "separate", "exact"))


def test_stored_runs_hold_their_points():
    points = FIG16.points(True)
    k = [p["alpha"] for p in points].index(1.8)
    rng = FIG16.generators(np.random.default_rng(0), points)[k]
    point = FIG16.compute(rng=rng, **(points[k] | {"repeats": 1}))
    stored = load("fig16")
    row = stored["alpha"].tolist().index(1.8)
    for name in ("merged", "separate", "exact"):
        assert stored[name].shape == (22, 50)
        assert stored[name][row, 0] == pytest.approx(point[name][0], rel=1e-4)


def test_stored_runs_show_the_peak_and_the_theory():
    stored = load("fig16")
    alpha, middle = stored["alpha"], {n: np.median(stored[n], axis=1) for n in ("merged", "separate", "exact")}
    assert all(alpha[np.argmax(m)] == 1.05 for m in middle.values())          # P = 420 = D (D + 1)
    few, many = alpha < 0.95, alpha > 1.15
    assert (middle["exact"][few] < middle["separate"][few]).all()
    assert (middle["separate"][few] < middle["merged"][few]).all()
    assert np.allclose(middle["merged"][many], middle["separate"][many], rtol=0.01)
    theory = np.array([learning_curve(20, 100, int(a * 400), 0.0) for a in alpha[alpha > 1.35]])
    excess = stored["exact"][alpha > 1.35].mean(1) / theory
    assert (excess > 1).all() and (excess < 1.25).all()                       # unequal prompts, order 1/D


@pytest.mark.parametrize("weights, words", [
    ([np.zeros((3, 3))], r"where D \(D \+ 1\) = 6"),
    ([np.zeros((3, 3)), np.zeros((2, 2))], "got shapes"),
    ([np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((2, 2))], "got shapes")])
def test_bad_input(weights, words):
    with pytest.raises(ValueError, match=words):
        descend(weights, np.eye(6), np.zeros(6), steps=1)


def test_a_step_that_is_too_large_is_told_in_words():
    with pytest.raises(ValueError, match="lr must be small enough"):
        descend([np.ones((3, 2))], np.eye(6), np.zeros(6), steps=2000, lr=3.0, adam=False)
