"""State evolution: its fixed point, its first sweep by hand, and sample-spin AMP itself,
on independent features and on prompts."""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from spinlib import ConvergenceWarning
from spinlib.icl import LinearTask, best_weights, population_error, weights
from spinlib.inference import sample_amp
from spinlib.theory import Teacher, prompt_teacher, state_evolution


def sweeps(S, y, ridge, steps):
    """Sample-spin AMP on any features S (P, n): means and x after each sweep,
    with loops where the package has products."""
    P, n = S.shape
    m, x, g = np.zeros(n), 1 / (ridge + (S**2).mean(0)), np.zeros(P)
    path = []
    for _ in range(steps):
        tau = np.array([np.sum(row**2 * x) for row in S])
        g = (y - S @ m + tau * g) / (P + tau)
        Gamma = np.array([np.sum(column**2 / (P + tau)) for column in S.T])
        x = 1 / (ridge + Gamma)
        m = x * (Gamma * m + S.T @ g)
        path.append((m, x))
    return path


@pytest.mark.parametrize("ridge, P", [(0.03 / 20, 800), (0.2 / 20, 400), (1.0, 3000)])
def test_fixed_point_is_the_deterministic_equivalent_of_ridge_regression(ridge, P):
    """lambda = k [1 - (1/P) sum a/(a+k)] and error = [sum a (k/(a+k))^2 w^2 + s2] / [1 - (1/P) sum (a/(a+k))^2],
    k found by bisection."""
    D, N = 20, 100
    teacher = prompt_teacher(D, N)
    a, b, n = (1 + (D + 1) / N) / D, (1 + 2 / D) * (1 + 2 / N), D * D
    k = brentq(
        lambda k: k * (1 - (n * a / (a + k) + D * b / (b + k)) / P) - ridge,
        ridge,
        ridge + (n * a + D * b) / P + 1,
        xtol=1e-15,
    )
    bias = (k / (a + k)) ** 2 / (D * a) + 1 - 1 / (D * a)
    error = bias / (1 - (n * (a / (a + k)) ** 2 + D * (b / (b + k)) ** 2) / P)
    path = state_evolution(teacher, P=P, ridge=ridge, n_steps=2000)
    assert abs(path.error[-1] / error - 1) < 1e-10
    assert np.allclose(path.x[-1], [k / ridge / (k + a), k / ridge / (k + b)], rtol=1e-10)
    tau = path.x[-1] @ (teacher.count * teacher.variance)
    assert abs(ridge * (1 + tau / P) / k - 1) < 1e-10


def test_first_sweep_by_hand():
    """a = 2, one direction, P = 4, ridge 1: x = 1/3, tau = 2/3, Gamma = 8/(4 + 2/3) = 12/7, x' = 7/19, shrunk 12/19."""
    path = state_evolution(Teacher([2.0], [3.0], 0.5), P=4, ridge=1.0, n_steps=1)
    assert np.allclose(
        path.error, [6.5, 0.5 + 6 * (7 / 19) ** 2 + 6.5 / 4 * (12 / 19) ** 2], rtol=1e-14
    )
    assert np.allclose(path.x[:, 0], [1 / 3, 7 / 19], rtol=1e-14)


def test_many_prompts_need_one_sweep_and_give_the_best_weights():
    D, N, ridge = 20, 100, 0.01
    path = state_evolution(prompt_teacher(D, N), P=10**10, ridge=ridge, n_steps=1)
    assert abs(path.error[1] - population_error(best_weights(D, N, ridge), N)) < 1e-7


def test_a_block_may_be_cut_in_two():
    whole = state_evolution(Teacher([0.5], [2.0], 0.3, count=40), P=50, ridge=0.1, n_steps=9)
    halves = state_evolution(
        Teacher([0.5, 0.5], [1.5, 0.5], 0.3, [30, 10]), P=50, ridge=0.1, n_steps=9
    )
    assert np.allclose(whole.error, halves.error, rtol=1e-13)
    assert np.allclose(whole.x, halves.x, rtol=1e-13)


@pytest.mark.slow
def test_independent_features_follow_it_sweep_by_sweep():
    """Two variances, 12 samples, within 5 standard errors plus 1/n at every sweep;
    the next sweep's value is excluded early on."""
    n, P, ridge, steps = 300, 390, 0.05, 8
    a = np.where(np.arange(n) < n // 3, 2.0, 0.5)
    w = np.full(n, n**-0.5)
    teacher = Teacher([2.0, 0.5], [1 / 3, 2 / 3], 0.1, [n // 3, n - n // 3])
    path = state_evolution(teacher, P=P, ridge=ridge, n_steps=steps)
    errors, x = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        S = rng.standard_normal((P, n)) * np.sqrt(a)
        found = sweeps(S, S @ w + np.sqrt(0.1) * rng.standard_normal(P), ridge, steps)
        errors.append([0.1 + a @ (m - w) ** 2 for m, _ in found])
        x.append([[np.mean(v[a == 2.0]), np.mean(v[a == 0.5])] for _, v in found])
    mean, error = np.mean(errors, 0), np.std(errors, 0, ddof=1) / np.sqrt(12)
    assert (np.abs(mean - path.error[1:]) < 5 * error + mean / n).all() and (
        error < 0.03 * mean
    ).all()
    assert (mean[:3] - path.error[2:5] > 5 * error[:3]).all()
    assert np.allclose(np.mean(x, 0), path.x[1:], rtol=0.01)


def test_the_loop_above_is_sample_amp():
    f = LinearTask(4, 10).sample_features(60, rng=0)
    S = (f.u[:, :, None] * f.query[:, None, :]).reshape(60, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = sample_amp(f, ridge=0.1, max_iter=3)
    mean, x = sweeps(S, f.y, 0.1, 3)[-1]
    assert np.allclose(found.mean, mean, atol=1e-12) and np.allclose(found.var, x, rtol=1e-12)


@pytest.mark.slow
def test_prompts_follow_it_too_and_better_the_larger_they_are():
    """alpha = 2, N = 5D, ridge .2/D: rms relative distance over 8 sweeps, means of 6 samples:
    below 5 % at D = 40, less than half of D = 10."""
    rms = {}
    for D in (10, 40):
        N, P, ridge = 5 * D, 2 * D * D, 0.2 / D
        path = state_evolution(prompt_teacher(D, N), P=P, ridge=ridge, n_steps=8)
        errors, x = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for seed in range(6):
                f = LinearTask(D, N).sample_features(P, rng=seed)
                found = [sample_amp(f, ridge=ridge, max_iter=t) for t in range(1, 9)]
                errors.append([population_error(weights(m.mean, D), N) for m in found])
                x.append(found[-1].var[: D * D].mean())
        rms[D] = np.sqrt(np.mean((np.mean(errors, 0) / path.error[1:] - 1) ** 2))
        assert abs(np.mean(x) / path.x[-1, 0] - 1) < 2.5 / D
    assert rms[40] < 0.05 and rms[10] < 0.2 and rms[40] < rms[10] / 2


def test_refusals():
    teacher = Teacher([1.0], [1.0], 0.1)
    with pytest.raises(ValueError, match="ridge must be finite and >= 0"):
        state_evolution(teacher, P=10, ridge=-0.1)
    with pytest.raises(TypeError, match="P must be an integer"):
        state_evolution(teacher, P=10.0, ridge=0.1)
    with pytest.raises(TypeError, match="teacher must be of type Teacher, got list"):
        state_evolution([1.0], P=10, ridge=0.1)
