"""The error along gradient flow: exact limits, independent Gaussian features, sampled prompts at two sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.descent import flow
from spinlib.icl import LinearTask, population_error, to_spin_glass
from spinlib.random_matrix import mp_edges
from spinlib.spin_glass import SpinGlass
from spinlib.theory import learning_curve, prompt_teacher, training_curve
from stats import mean_error, z_score

TIMES = np.array([0.0, 1.0, 10.0, 40.0, 200.0, 3000.0])


@pytest.mark.parametrize("P", [3, 60, 109, 111, 400])
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_it_ends_where_the_learning_curve_is(P, noise):
    found = training_curve(10, 50, P, [1e9, 1e12], noise)
    np.testing.assert_allclose(found, learning_curve(10, 50, P, 0.0, noise), rtol=1e-7)


@pytest.mark.parametrize("start", [0.0, 0.3])
def test_infinitely_many_prompts_decay_as_two_exponentials(start):
    teacher = prompt_teacher(10, 30, 0.5)
    decay = np.exp(-2 * np.outer(TIMES, teacher.variance))
    want = teacher.unexplained + decay @ (
        teacher.variance * (teacher.signal + teacher.count * start**2)
    )
    np.testing.assert_allclose(training_curve(10, 30, 10**13, TIMES, 0.5, start), want, rtol=1e-10)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 200), st.integers(1, 2000), st.floats(0, 2), st.floats(0, 1)
)
def test_it_starts_with_the_slope_of_the_mean_field(D, N, P, noise, start):
    """d error/dt at 0 is -2 E (w* - W_0) Sigma A (w* - W_0), and E Sigma A = Sigma^2."""
    teacher = prompt_teacher(D, N, noise)
    signal = teacher.signal + teacher.count * start**2
    t = 1e-6 / (1 + D / P) / teacher.variance.max()
    first, then = training_curve(D, N, P, [0.0, t], noise, start)
    assert first == pytest.approx(teacher.unexplained + teacher.variance @ signal, rel=1e-12)
    assert (then - first) / t == pytest.approx(-2 * teacher.variance**2 @ signal, rel=1e-3)


@pytest.mark.parametrize("t", [0.5, 1.0, 2.0])
def test_one_block_of_a_large_system_is_an_integral_over_marchenko_and_pastur(t):
    """Another road: e^(-2 x t) and its noise averaged over the spectrum, D -> infinity at P = t D^2, N = 5 D."""
    D = 4000
    teacher = prompt_teacher(D, 5 * D)
    a, ratio = teacher.variance[0], 1 / t
    low, high = mp_edges(ratio)
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    x = (low + high) / 2 + 2 * np.sqrt(ratio) * np.cos(angle)
    weight = 2 * np.sin(angle) ** 2 / 4000 / x  # without the atom at 0 of ratio > 1
    for time in (1.0, 10.0, 100.0):
        left = np.exp(-x * time)
        want = teacher.unexplained * (
            1 + weight @ ((1 - left) ** 2 / x) * ratio
        ) + a * teacher.signal[0] * (weight @ left**2 + max(0.0, 1 - t))
        assert training_curve(D, 5 * D, round(t * D * D), [time / a])[0] == pytest.approx(
            want, rel=2e-3
        )


@pytest.mark.slow
def test_independent_gaussian_features_follow_it():
    """What the law is exact for in the limit: here only 1/n is left."""
    D, N, P, start = 14, 40, 300, 0.1
    teacher, excess = prompt_teacher(D, N), []
    sigma = np.repeat(teacher.variance, [D * D, D])
    best = np.append(np.eye(D).ravel() * np.sqrt(teacher.signal[0] / D), np.zeros(D))
    law = training_curve(D, N, P, TIMES, start=start)
    for k in range(40):
        rng = np.random.default_rng([k, 0])
        s = rng.standard_normal((P, D * D + D)) * np.sqrt(sigma)
        y = s @ best + np.sqrt(teacher.unexplained) * rng.standard_normal(P)
        A = s.T @ s / P
        glass = SpinGlass(np.diag(np.diag(A)) - A, s.T @ y / P, np.diag(A))
        path = flow(glass, TIMES, start=start * rng.standard_normal(D * D + D))
        excess.append((teacher.unexplained + (path - best) ** 2 @ sigma) / law - 1)
    assert np.abs(np.mean(excess, 0)).max() < 0.02 and np.abs(z_score(excess, 0)).max() < 5


@pytest.mark.slow
def test_sampled_prompts_come_near_as_one_over_D():
    """P = 4 D^2: excess over the law at D = 10 and 20; without its 1/D part nothing is left."""
    excess = []
    for D, repeats in ((10, 80), (20, 16)):
        P, times, rows = 4 * D * D, TIMES * D / 20, []
        for k in range(repeats):
            glass = to_spin_glass(LinearTask(D, 5 * D).sample_features(P, rng=[D, k]), 0.0)
            path = flow(glass, times, start=np.zeros((D + 1, D)))
            rows.append(
                [population_error(W, 5 * D) for W in path] / training_curve(D, 5 * D, P, times) - 1
            )
        excess.append(mean_error(rows))
    (small, small_se), (large, large_se) = excess
    assert (np.abs(2 * large - small) < 4 * np.hypot(2 * large_se, small_se) + 1e-12).all()
    assert np.abs(large).max() < 0.09 and large[0] == pytest.approx(0, abs=1e-12)


def test_with_as_many_prompts_as_weights_the_error_grows_as_the_root_of_time():
    one, four = training_curve(20, 100, 420, [1e8, 4e8])
    assert four / one == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((20, 100, 0, [1.0]), "P must be at least 1"),
        ((20, 100, 10, [-1.0]), "times must be finite and >= 0.*runs forward"),
        ((20, 100, 10, [np.inf]), "times must be finite"),
        ((20, 100, 10, 1.0), "times must"),
        ((20, 100, 10, [1.0], -0.1), "noise must be finite and >= 0"),
        ((20, 100, 10, [1.0], 0.0, -0.1), "start must be finite and >= 0"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        training_curve(*arguments)
