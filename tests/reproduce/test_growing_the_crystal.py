"""Sparse weights and windows of queries: stored points again, posteriors by integration, one window is spike_amp."""

import numpy as np
import pytest
from scipy.stats import norm

from spinlib.icl import Features, LinearTask, best_weights, population_error
from spinlib.inference import spike_amp
from spinlib.reproduce import load
from spinlib.reproduce._experiments import growing_the_crystal as crystal

LADDER, CURRICULUM, TRAINING = (
    crystal.EXPERIMENTS[f"sparse_{name}"] for name in ("ladder", "curriculum", "training")
)


def again(experiment, k):
    points = experiment.points(True)
    return points[k], experiment.compute(
        rng=experiment.seeds(np.random.default_rng(0), points)[k], **points[k]
    )


@pytest.mark.slow
def test_a_stored_draw_of_the_ladder_comes_out_again():
    stored = load("sparse_ladder")
    point, found = again(LADDER, 62)
    place = list(stored["P"]).index(point["P"]), point["draw"]
    assert point == {"P": 260, "draw": 2} and len(found) == 13
    for name, value in found.items():
        assert value == pytest.approx(stored[name][place], rel=1e-3), name
    assert stored["floor"] == pytest.approx(population_error(best_weights(40, 800), 800))


@pytest.mark.parametrize("k", [20, 160, 200, 365, 430])
def test_a_stored_run_of_the_curriculum_comes_out_again(k):
    stored = load("sparse_curriculum")
    point, found = again(CURRICULUM, k)
    assert all(stored[name][k] == value for name, value in point.items())
    assert found["error"] == pytest.approx(stored["error"][k], rel=1e-3)
    assert abs(found["sweeps"] - stored["sweeps"][k]) < 4


@pytest.mark.parametrize("k", [9, pytest.param(100, marks=pytest.mark.slow)])
def test_a_stored_training_comes_out_again(k):
    stored, (point, found) = load("sparse_training"), again(TRAINING, k)
    at = *(list(stored[name]).index(point[name]) for name in ("D", "P")), point["draw"]
    assert found["error"] == pytest.approx(stored["error"][at], rel=1e-2)


@pytest.mark.slow
def test_a_training_is_descent_on_the_square(D=20, P=120, steps=1800):
    """The same descent with the matrix of features, in double precision: the gradient of the loss in U by hand."""
    u, x, y, _ = crystal.window_prompts(np.random.default_rng(0), D, 20 * D, "growing", 1, P)
    S = (u[:, :, None] * x[:, None]).reshape(P, D * D).astype(float)
    U, errors = np.full(D * D, 1e-8), []
    for k in range(steps):
        if k % 20 == 0:
            errors.append(population_error(np.vstack([(U**2).reshape(D, D), np.zeros(D)]), 20 * D))
        slope = 2 * U * (S.T @ (S @ U**2 - y)) / P  # of |y - S U^2|^2 / 2 P
        U = U - 0.0075 * D * slope
    found = crystal._training(np.random.default_rng(0), D, P, 0, steps=steps)
    assert errors[0] == pytest.approx(1) and min(errors) < 0.5
    assert found["error"] == pytest.approx(min(errors), rel=1e-3)


def test_one_spike_in_each_column_by_enumeration():
    """Three places in each of two columns: the posterior of one spike at either place, by Bayes' rule."""
    rng = np.random.default_rng(0)
    r, v, size = rng.standard_normal((3, 2)), 0.2 + rng.random((3, 2)), 0.9
    like = np.array(
        [norm.pdf(r, size * (np.arange(3)[:, None] == k), v**0.5).prod(0) for k in range(3)]
    )
    p = like / like.sum(0)
    mean, var, share, found = crystal.posterior(r, v, 0.5, size, "columns")
    np.testing.assert_allclose(mean, size * p)
    np.testing.assert_allclose(var, size**2 * p * (1 - p))
    assert share == pytest.approx(1 / 3) and found == pytest.approx((p * r).sum() / 2)


@pytest.mark.parametrize("kind", ["two_points", "ternary", "gaussian"])
def test_a_posterior_by_integration(kind):
    share, size, v, r = 0.2, 0.9, 0.3, np.array([[0.7]])
    mean, var, _, _ = crystal.posterior(r, v, share, size, kind)
    w = np.linspace(-9, 9, 180_001)
    spikes = norm.pdf(w, 0, size) * (w[1] - w[0])
    if kind != "gaussian":
        spikes = sum(1.0 * (np.abs(w - one * size) < 1e-9) for one in crystal.SPIKES[kind]) / len(
            crystal.SPIKES[kind]
        )
    p = (share * spikes + (1 - share) * (np.abs(w) < 1e-9)) * norm.pdf(r[0, 0], w, v**0.5)
    p /= p.sum()
    assert mean[0, 0] == pytest.approx(p @ w, abs=1e-7) and var[0, 0] == pytest.approx(
        p @ w**2 - (p @ w) ** 2, abs=1e-7
    )


def test_one_window_is_spike_amp():
    data = LinearTask(12, 240).sample_features(90, rng=[0, 0])
    u = data.u[:, :12]
    one = crystal.messages(u, data.query, data.y, np.zeros(90, int), "two_points", tol=1e-12)
    other = spike_amp(Features(np.column_stack([u, np.zeros(90)]), data.query, data.y), tol=1e-12)
    np.testing.assert_allclose(one, other.mean.reshape(13, 12)[:12], atol=1e-9)


@pytest.mark.parametrize("design, blocks", [("chain", 5), ("growing", 5), ("growing", 1)])
def test_prompts_on_windows(design, blocks):
    """Labels of variance 1, queries on their windows only, and features as those of all prompts."""
    rng = np.random.default_rng(0)
    seen, window = crystal.windows(design, blocks, 20_000, best_weights(10, 200)[0, 0])
    u, x, y, same = crystal.window_prompts(rng, 10, 200, design, blocks, 20_000)
    assert (window == same).all() and (
        (x != 0) == np.repeat(seen, 10 // blocks, axis=1)[window]
    ).all()
    for k in range(len(seen)):
        assert (y[window == k] ** 2).mean() == pytest.approx(
            1, abs=5 * 1.6 * (window == k).sum() ** -0.5
        )
    reference = LinearTask(10, 200).sample_features(20_000, rng=[1, 0]).u[:, :10]
    assert (u**2).mean() == pytest.approx((reference**2).mean(), rel=0.02)
    c = (u * x).sum(1) @ y / ((u * x).sum(1) ** 2).sum()  # the best multiple of the unit matrix
    assert c == pytest.approx(best_weights(10, 200)[0, 0], abs=0.01)


def test_graded_queries():
    """Variances that fall by the profile, with mean 1; labels of variance 1."""
    u, x, y, window = crystal.window_prompts(
        np.random.default_rng(0), 10, 200, "graded", 10, 40_000
    )
    v = np.maximum(np.exp(-0.25 * np.arange(1, 11)), np.exp(-2))
    np.testing.assert_allclose((x**2).mean(0), v / v.mean(), rtol=0.05)
    assert (window == 0).all() and (y**2).mean() == pytest.approx(1, abs=0.04)


def test_what_the_page_says():
    """Half of the draws: growing windows before P_alg at D = 160 and 400, uniform ones not; a quick run."""
    runs = load("sparse_curriculum")
    for D, growing, uniform in ((160, 780, 840), (400, 2100, 2600)):
        for name, P, most in (("growing", growing, True), ("uniform", uniform, False)):
            own = (runs["D"] == D) & (runs["design"] == name) & (runs["P"] == P)
            assert ((runs["error"][own] < 0.075).mean() > 0.5) == most
    assert runs["front"].shape == (48, 101, 20) and len(CURRICULUM.points(False)) == 2


@pytest.mark.parametrize("gain, sweeps", [(0.006, 401), (0.004, 101)])
def test_a_run_is_given_up_where_sixty_sweeps_gain_too_little(monkeypatch, gain, sweeps, D=20):
    """Weights whose error falls from 1 by ``gain`` in sixty sweeps, of single precision; none stops before 100."""
    c = best_weights(D, 20 * D)[0, 0]

    def messages(*_, watch, sweeps, **__):
        for k in range(sweeps):
            if watch((np.eye(D) * (c - np.sqrt(c * (c - gain * k / 60))),)):
                break

    monkeypatch.setattr(crystal, "messages", messages)
    found = crystal._curriculum(np.random.default_rng(0), D, "growing", 5, 60, 0)
    assert found["sweeps"] == sweeps
    assert found["error"] == pytest.approx(1 - gain * (sweeps - 1) / 60, rel=1e-6)
