"""Spikes: the law by plain integrals, thresholds by iteration, a table of two codes, limits, and runs on prompts."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from spinlib import ConvergenceWarning
from spinlib.icl import LinearTask, best_weights, population_error, weights
from spinlib.inference import spike_amp
from spinlib.theory import prompt_teacher, spike_evolution, spike_free_energy, spike_thresholds
from stats import mean_error


def channel(v, D, size):
    """(mmse, mutual information) of a weight that is `size` with probability 1/D, in noise v: integrals over r."""
    normal = lambda r: np.exp(-r * r / (2 * v)) / np.sqrt(2 * np.pi * v)
    one, zero = lambda r: normal(r - size) / D, lambda r: normal(r) * (1 - 1 / D)
    heard = lambda r: one(r) + zero(r)
    s = np.sqrt(v)
    pieces = np.unique(np.concatenate([at + np.linspace(-10 * s, 10 * s, 21) for at in (0, size)]))
    total = lambda f: sum(
        quad(f, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in zip(pieces, pieces[1:])
    )
    entropy = total(lambda r: -heard(r) * np.log(max(heard(r), 1e-300)))
    return (
        size**2 / D - total(lambda r: (size * one(r)) ** 2 / max(heard(r), 1e-300)),
        entropy - np.log(2 * np.pi * np.e * v) / 2,
    )


@pytest.mark.parametrize("D, N, noise", [(20, 400, 0.0), (80, 400, 0.2)])
def test_one_sweep_and_phi_by_plain_integrals(D, N, noise):
    """Units of the integrals: a feature has variance 1, a spike size sqrt(c / D)."""
    s0 = prompt_teacher(D, N, noise).unexplained
    c, P = 1 + noise**2 - s0, 3 * D
    E = spike_evolution(D, N, P, noise, n_steps=3)
    for now, later in zip(E, E[1:]):
        mmse, information = channel(now / P, D, np.sqrt(c / D))
        assert later == pytest.approx(s0 + D**2 * mmse, rel=1e-8)
        phi = D**2 * information + P / 2 * (np.log(now / s0) + s0 / now - 1)
        assert spike_free_energy(now, D, N, P, noise) == pytest.approx(phi, rel=1e-7)
    assert E[0] == pytest.approx(1 + noise**2)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 300), st.floats(1, 50), st.floats(0.2, 6), st.floats(0.02, 0.98))
def test_the_slope_of_phi_is_one_sweep(D, ratio, load, place):
    """dPhi/dE = P (E - E') / 2E^2 at any E: stationary points are fixed points, and minima the stable ones."""
    N, P = int(ratio * D) + 1, int(load * D * np.log(D)) + 1
    s0 = prompt_teacher(D, N).unexplained
    E = s0 + place * (1 - s0)
    c = 1 - s0
    h = 1e-4 * E
    slope = (spike_free_energy(E + h, D, N, P) - spike_free_energy(E - h, D, N, P)) / (2 * h)
    mmse = lambda E: (
        quad(
            lambda g: (
                np.exp(-g * g / 2)
                / np.sqrt(2 * np.pi)
                / (1 + np.exp(c * P / (2 * D * E) + np.sqrt(c * P / (D * E)) * g - np.log(D - 1)))
            ),
            -10,
            10,
            limit=200,
        )[0]
        * c
    )
    assert slope == pytest.approx(P / (2 * E * E) * (E - s0 - mmse(E)), rel=1e-4, abs=1e-4 * P)


@pytest.mark.slow
def test_thresholds_by_iteration():
    """The slow road, D = 20, N = 400: where the two starts part, where they meet again, which minimum is deeper."""
    found = spike_thresholds(20, 400)
    for name, first in (("spinodal", 41), ("information", 55), ("algorithm", 67)):
        for P in range(first, first + 4):
            ends = [
                spike_evolution(20, 400, P, informed=start, n_steps=800)[-1]
                for start in (False, True)
            ]
            if name == "information":
                assert (np.diff(spike_free_energy(ends, 20, 400, P))[0] < 0) == (
                    P > found.information
                )
            else:
                assert (ends[0] - ends[1] > 1e-3) == (found.spinodal < P < found.algorithm)


@pytest.mark.parametrize(
    "D, N, table",
    [
        (20, 400, (42.5, 56.4, 68.5)),
        (200, 4000, (503.8, 841.1, 1165.7)),
        (1000, 20_000, (2806.5, 5228.9, 7707.6)),
        (40, 4000, (24.0, 82.8, 150.4)),
        (1000, 100_000, (710.1, 3433.1, 7233.3)),
    ],
)
def test_thresholds_of_another_code(D, N, table):
    found = spike_thresholds(D, N)
    np.testing.assert_allclose(
        [found.spinodal, found.information, found.algorithm], table, atol=0.06
    )


def test_where_there_is_no_transition():
    for D in (20, 60):
        assert np.isnan(list(vars(spike_thresholds(D, 5 * D)).values())).all()
        assert spike_evolution(D, 5 * D, 6 * D, n_steps=500)[-1] == pytest.approx(
            spike_evolution(D, 5 * D, 6 * D, informed=True, n_steps=500)[-1], rel=1e-6
        )
    narrow = spike_thresholds(100, 500)
    assert narrow.spinodal < narrow.information < narrow.algorithm < 1.02 * narrow.spinodal


def test_the_limit_of_many_dimensions_is_slow():
    """(P_d, P_K, P_alg) / 2 D ln D to (s0/c, 1/ln(1/s0), 1/c) at N = 20 D: 10^16 dimensions are far from it."""
    s0 = 1 / 21
    limit = np.array([s0 / (1 - s0), 1 / np.log(1 / s0), 1 / (1 - s0)])
    far = []
    for D in (10**4, 10**8, 10**16):
        found = np.array(list(vars(spike_thresholds(D, 20 * D)).values())) / (2 * D * np.log(D))
        far.append(np.abs(found / limit - 1))
    assert (np.diff(far, axis=0) < 0).all() and (far[-1] < [1.0, 0.03, 0.34]).all()


@pytest.mark.slow
def test_prompts_follow_it_below_and_above_the_hard_phase():
    """D = 40, N = 800, six draws, the prior known: 120 and 260 prompts from nothing (hard phase 89 to 164)."""
    D, N, c = 40, 800, best_weights(40, 800)[0, 0]
    for P, tolerance in ((60, 0.03), (120, 0.06), (260, 0.01)):
        errors = []
        for k in range(6):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = spike_amp(
                    LinearTask(D, N).sample_features(P, rng=[k, 0]), share=1 / D, size=c
                )
            errors.append(population_error(weights(found.mean), N))
        mean, error = mean_error(np.array(errors))
        assert abs(mean - spike_evolution(D, N, P, n_steps=500)[-1]) < tolerance + 3 * error


@pytest.mark.slow
def test_prompts_know_the_lowest_minimum_and_find_the_other():
    """At P = 150 of D = 40: an informed start stays at the lowest minimum of Phi; the thresholds say who finds it."""
    D, N, P = 40, 800, 150
    found = spike_thresholds(D, N)
    assert found.information < P < found.algorithm
    E = np.linspace(0.048, 1, 4000)
    lowest = E[np.argmin(spike_free_energy(E, D, N, P))]
    for k in range(3):
        stays = spike_amp(LinearTask(D, N).sample_features(P, rng=[k, 0]), start=best_weights(D, N))
        assert population_error(weights(stays.mean), N) == pytest.approx(lowest, rel=0.1)
    for k in range(3):  # half above the last threshold nobody is needed to inform it
        above = spike_amp(LinearTask(D, N).sample_features(int(1.6 * found.algorithm), rng=[k, 0]))
        assert population_error(weights(above.mean), N) == pytest.approx(lowest, rel=0.1)


def test_refusals():
    for law in (
        lambda D=40, N=800, P=100, noise=0.0: spike_evolution(D, N, P, noise),
        lambda D=40, N=800, P=100, noise=0.0: spike_free_energy(0.5, D, N, P, noise),
        lambda D=40, N=800, P=100, noise=0.0: spike_thresholds(D, N, noise),
    ):
        with pytest.raises(
            ValueError, match="D must be at least 2, got 1; at D = 1 no weight is 0"
        ):
            law(D=1)
        with pytest.raises(ValueError, match="N must be at least 1"):
            law(N=0)
        with pytest.raises(ValueError, match="noise must be finite and >= 0"):
            law(noise=-0.1)
        with pytest.raises(ValueError, match="so long that nothing is left of a label"):
            law(D=2, N=2**62)
    with pytest.raises(ValueError, match="P must be at least 1, got 0"):
        spike_evolution(40, 800, 0)
    with pytest.raises(ValueError, match="P must be finite and > 0"):
        spike_free_energy(0.5, 40, 800, 0)
    with pytest.raises(ValueError, match="error must be finite and >= "):
        spike_free_energy([0.5, 0.0], 40, 800, 100)
    with pytest.raises(TypeError, match="informed must be True or False, got 1"):
        spike_evolution(40, 800, 100, informed=1)
