"""Merged and separate weights: what gradient descent leaves, and the stored runs of Figure 16."""

import numpy as np
import pytest

from spinlib.descent import trajectory
from spinlib.icl import LinearTask, population_error, to_spin_glass
from spinlib.reproduce import load
from spinlib.reproduce._experiments.merged_or_separate import EXPERIMENTS
from spinlib.theory import learning_curve, prompt_teacher, ridge_equivalent
from stats import mean_error

FIG16 = EXPERIMENTS["fig16"]


def start(D, rng, size=1.0):
    rng = np.random.default_rng(rng)
    return [size * rng.standard_normal((D + 1, k)) / np.sqrt(D + 1) for k in (D, D + 1, D)]


@pytest.mark.slow
def test_gradient_descent_keeps_the_unseen_part_and_adam_does_not():
    D, P = 5, 12
    glass = to_spin_glass(LinearTask(D, 20).sample_features(P, rng=3), 0.0)
    A, h = glass.hessian, glass.h
    seen = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    unseen = np.eye(len(h)) - seen @ A
    W = start(D, 4)[0]
    by_descent = trajectory(glass, W, n_steps=60_000, lr=1 / np.linalg.eigvalsh(A)[-1], adam=False)[
        -1
    ].ravel()
    assert np.abs(by_descent - seen @ h - unseen @ W.ravel()).max() < 1e-8
    by_adam = trajectory(glass, W)[-1].ravel()
    assert (
        np.abs(A @ by_adam - h).max() < 1e-4
        and np.linalg.norm(unseen @ (by_adam - W.ravel())) > 0.3
    )


@pytest.mark.slow
def test_cost_of_the_start():
    """E - E_min averages to rho^2 tr(Pi Sigma), and that to rho^2 k P, over training sets within 4 standard errors."""
    D, N, P = 20, 100, 240
    kappa = ridge_equivalent(prompt_teacher(D, N), P, 0).kappa
    gaps, traces = [], []
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        glass = to_spin_glass(LinearTask(D, N).sample_features(P, rng=rng), 0.0)
        A, h = glass.hessian, glass.h
        seen = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
        unseen = np.eye(len(h)) - seen @ A
        least = (seen @ h).reshape(D + 1, D)
        traces.append(
            np.diag(unseen) @ np.repeat(prompt_teacher(D, N).variance, [D * D, D]) / (D + 1)
        )
        starts = [rng.standard_normal(D * (D + 1)) / np.sqrt(D + 1) for _ in range(20)]
        gaps.append(
            np.mean([population_error(least + (unseen @ w).reshape(D + 1, D), N) for w in starts])
            - population_error(least, N)
        )
    mean, bar = mean_error(np.array(gaps) - traces)
    assert abs(mean) < 4 * bar
    assert np.mean(traces) == pytest.approx(kappa * P / (D + 1), rel=0.03)


def test_gradient_flow_of_the_product_conserves_the_difference():
    glass = to_spin_glass(LinearTask(4, 20).sample_features(30, rng=6), 0.0)
    A, h = glass.hessian, glass.h
    _, W_K, W_Q = start(4, 7)
    drifts = []
    for step in (0.02, 0.01):
        K, Q = W_K.copy(), W_Q.copy()
        for _ in range(round(20 / step)):
            G = (A @ (K.T @ Q).ravel() - h).reshape(5, 4)
            K, Q = K - step * Q @ G.T, Q - step * K @ G
        drifts.append(np.abs(Q @ Q.T - K @ K.T - W_Q @ W_Q.T + W_K @ W_K.T).max())
    assert drifts[0] / drifts[1] == pytest.approx(2, abs=0.1) and drifts[1] < 0.01


def test_keys_and_shapes_of_a_tiny_run():
    points = [
        {"alpha": alpha, "repeats": 1, "D": 3, "N": 10, "steps": 20}
        for alpha in (0.5, 2.0, 0.5, 2.0)
    ]
    found = FIG16.collect(
        points, [FIG16.compute(rng=np.random.default_rng(k), **p) for k, p in enumerate(points)]
    )
    assert set(found) == {"alpha", "merged", "separate", "exact"} and found["alpha"].tolist() == [
        0.5,
        2.0,
    ]
    assert all(found[name].shape == (2, 2) for name in ("merged", "separate", "exact"))


@pytest.mark.slow
def test_stored_runs_hold_their_points():
    points = FIG16.points(True)
    k = [p["alpha"] for p in points].index(1.8)
    rng = FIG16.seeds(np.random.default_rng(0), points)[k]
    point = FIG16.compute(rng=rng, **(points[k] | {"repeats": 1}))
    stored = load("fig16")
    row = stored["alpha"].tolist().index(1.8)
    for name in ("merged", "separate", "exact"):
        assert stored[name].shape == (22, 50)
        assert stored[name][row, 0] == pytest.approx(point[name][0], rel=1e-4)


def test_stored_runs_show_the_peak_and_the_theory():
    stored = load("fig16")
    alpha, middle = (
        stored["alpha"],
        {n: np.median(stored[n], axis=1) for n in ("merged", "separate", "exact")},
    )
    assert all(alpha[np.argmax(m)] == 1.05 for m in middle.values())  # P = 420 = D (D + 1)
    few, many = alpha < 0.95, alpha > 1.15
    assert (middle["exact"][few] < middle["separate"][few]).all()
    assert (middle["separate"][few] < middle["merged"][few]).all()
    assert np.allclose(middle["merged"][many], middle["separate"][many], rtol=0.01)
    theory = np.array([learning_curve(20, 100, int(a * 400), 0.0) for a in alpha[alpha > 1.35]])
    excess = stored["exact"][alpha > 1.35].mean(1) / theory
    assert (excess > 1).all() and (excess < 1.25).all()  # unequal prompts, order 1/D
