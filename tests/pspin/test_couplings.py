"""Couplings of finite p-spin systems: gradients, covariance of the energy, a configuration hidden in them."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.pspin import PSpin
from spinlib.pspin.simulation import (
    Couplings,
    descend,
    gaussian_couplings,
    overlap,
    parallel_tempering,
    planted_couplings,
    random_spins,
)
from stats import z_score


@pytest.mark.slow
@given(p=st.integers(2, 4), n=st.integers(4, 9), seed=st.integers(0, 10**6), distinct=st.booleans())
@settings(max_examples=30, deadline=None)
def test_eq_19_gradient_is_the_derivative_of_the_energy(p, n, seed, distinct):
    J, s = (
        gaussian_couplings(n, p, distinct=distinct, rng=seed),
        random_spins(n, (3, 2), rng=seed + 1),
    )
    h, slope = 1e-5, np.empty(s.shape)
    for i in range(n):
        e = h * (np.arange(n) == i)
        slope[..., i] = (J.energy(s + e) - J.energy(s - e)) / (2 * h)
    assert np.abs(J.gradient(s) - slope).max() < 1e-7 * max(1, np.abs(slope).max())


def test_eq_19_energy_is_the_sum_over_index_tuples():
    """Oracle: the same generator draws the couplings before they are made symmetric;
    sum over distinct triples one by one."""
    n, s = 6, random_spins(6, rng=5)
    raw = np.random.default_rng(3).standard_normal((n, n, n)) * np.sqrt(0.5 / n**2)
    total = -sum(
        raw[i, j, k] * s[i] * s[j] * s[k] for i in range(n) for j in range(n) for k in range(n)
    )
    assert abs(gaussian_couplings(n, 3, rng=3).energy(s) - total) < 1e-12
    value = iter(
        np.random.default_rng(3).standard_normal(comb(n, 3)) * np.sqrt(factorial(3) / (2 * n**2))
    )
    total = -sum(
        next(value) * s[i] * s[j] * s[k]
        for i in range(n)
        for j in range(i + 1, n)
        for k in range(j + 1, n)
    )
    assert abs(gaussian_couplings(n, 3, distinct=True, rng=3).energy(s) - total) < 1e-12


def covariance(n, distinct, s, t, draws=1500):
    rng = np.random.default_rng(7)
    both = np.array(
        [
            gaussian_couplings(n, 3, distinct=distinct, rng=rng).energy(np.array([s, t]))
            for _ in range(draws)
        ]
    )
    product = both[:, 0] * both[:, 1]
    return product.mean(), product.std(ddof=1) / np.sqrt(draws)


@pytest.mark.slow
def test_eq_20_covariance_of_the_energy_for_both_definitions():
    """All tuples: (N/2) q^p exactly. Distinct indices as printed: the elementary symmetric polynomial of s_i t_i,
    well away from it."""
    n, s = 7, random_spins(7, rng=1)
    t = random_spins(7, rng=2)
    t = 0.8 * s + 0.6 * np.sqrt(7) * (u := t - s * overlap(s, t)) / np.linalg.norm(u)
    assert abs(overlap(s, t) - 0.8) < 1e-12
    exact, x = 0.5 * n * 0.8**3, s * t
    polynomial = (
        factorial(3)
        / (2 * n**2)
        * (x.sum() ** 3 - 3 * x.sum() * (x**2).sum() + 2 * (x**3).sum())
        / 6
    )
    mean, error = covariance(n, False, s, t)
    assert abs(mean - exact) < 5 * error
    mean, error = covariance(n, True, s, t)
    assert abs(mean - polynomial) < 5 * error
    assert abs(mean - exact) > 10 * error


@pytest.mark.parametrize("n", [8, 64])
def test_eq_20_variance_of_the_energy_is_too_small_at_finite_n(n):
    """Averaged over the sphere, Var H = (N/2)(N-1)(N-2)/((N+2)(N+4)) for distinct triples:
    13 % short of N/2 at N = 64."""
    s = random_spins(n, (20_000,), rng=0) ** 2
    e3 = (s.sum(1) ** 3 - 3 * s.sum(1) * (s**2).sum(1) + 2 * (s**3).sum(1)) / 6
    variance = factorial(3) / (2 * n**2) * e3
    expected = 0.5 * n * (n - 1) * (n - 2) / ((n + 2) * (n + 4))
    assert abs(variance.mean() - expected) < 5 * variance.std(ddof=1) / np.sqrt(len(variance))
    assert n != 64 or abs(expected / (n / 2) - 0.87) < 0.005


def test_couplings_are_symmetric_and_distinct_ones_vanish_on_the_diagonal():
    for distinct in (False, True):
        J = gaussian_couplings(6, 3, distinct=distinct, rng=0).tensor
        assert all(
            np.array_equal(J, np.transpose(J, axes))
            or np.allclose(J, np.transpose(J, axes), rtol=1e-14)
            for axes in permutations(range(3))
        )
    assert not J[np.arange(6), np.arange(6)].any() and J[0, 1, 2] != 0


def test_couplings_keep_their_own_tensor_and_compare_by_identity():
    tensor = np.array([[0.0, 0.5], [0.5, 0.0]])
    couplings = Couplings(tensor)
    tensor[0, 1] = 99
    assert (
        couplings.energy([1.0, 1.0]) == -1
        and couplings == couplings
        and couplings != Couplings(couplings.tensor)
    )
    with pytest.raises(ValueError, match="read-only"):
        couplings.tensor[0, 1] = 99
    assert repr(couplings) == "Couplings(tensor: (2, 2))"
    T = np.array([0.8, 1.0])
    run = parallel_tempering(couplings, T, n_sweeps=2, rng=0)
    T[0] = 99
    assert run.T[0] == 0.8 and "\n" not in repr(run) and len(repr(run)) < 200
    assert "converged=True" in repr(descend(couplings, random_spins(2, rng=0)))


def test_symmetry_and_the_sphere_are_held_to_rounding():
    J = gaussian_couplings(6, 3, rng=0)
    bent = J.tensor.copy()
    bent[0, 1, 2] *= 1 + 1e-9
    with pytest.raises(ValueError, match="tensor must be symmetric"):
        Couplings(bent)
    s = random_spins(6, rng=1)
    descend(J, s * (1 + 1e-12), max_iter=5000)
    with pytest.raises(ValueError, match="on the sphere"):
        descend(J, s * (1 + 1e-7))


# --- a configuration hidden in the couplings --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(5, 2), (5, 3), (4, 4)])
def test_a_plant_shifts_each_coupling(n, p):
    """Entry by entry: plant_i1 ... plant_ip / (2 T N^(p-1)); plant and noise stay as T changes."""
    warm, plant = planted_couplings(n, p, T=2.0, rng=3)
    cold, again = planted_couplings(n, p, T=0.25, rng=3)
    assert np.array_equal(plant, again) and abs((plant**2).sum() - n) < 1e-12
    for index in np.ndindex(*(n,) * p):
        shift = (4 - 0.5) * np.prod(plant[list(index)]) / (2 * n ** (p - 1))
        assert abs(cold.tensor[index] - warm.tensor[index] - shift) < 1e-13
    rng = np.random.default_rng(3)
    random_spins(n, rng=rng)
    noise = gaussian_couplings(n, p, rng=rng).tensor
    assert np.abs(warm.tensor - noise - (cold.tensor - warm.tensor) / 7).max() < 1e-13


@pytest.mark.parametrize("p", [2, 3])
def test_energy_of_the_plant(p):
    """-1/(2T) per spin on average."""
    n, T, found = 8, 0.6, []
    for seed in range(400):
        J, plant = planted_couplings(n, p, T=T, rng=[seed, 4])
        found.append(J.energy(plant) / n + 1 / (2 * T))
    assert abs(z_score(found, 0)) < 4


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 3])
def test_plant_and_posterior_sample_are_exchangeable(p):
    """Exact sums over the circle, N = 2: overlap with the plant = overlap of two samples, and e = -1/(2T);
    at another temperature neither holds."""
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    circle, T, found = np.sqrt(2) * np.stack([np.cos(angle), np.sin(angle)], -1), 0.5, []
    for seed in range(1500):
        J, plant = planted_couplings(2, p, T=T, rng=[seed, 8])
        H, row = J.energy(circle), []
        for student in (T, 1.2):
            w = np.exp(-(H - H.min()) / student)
            w /= w.sum()
            # squares: at p = 2 a configuration and its mirror image weigh the same
            pair = ((circle @ circle.T / 2) ** 2 @ w) @ w
            row += [((circle @ plant / 2) ** 2 @ w) - pair, w @ H / 2 + 0.5 / T]
        found.append(row)
    right_q, right_e, wrong_q, wrong_e = z_score(found, 0)
    assert max(abs(right_q), abs(right_e)) < 4 and min(abs(wrong_q), abs(wrong_e)) > 6


def test_the_crystal_is_the_state_of_the_infinite_system():
    """g q^(p-2) (1-q) = 1 is the overlap inside a state, and where f(q) = f(0) is T_K."""
    model = PSpin(3)
    for T in (0.59, 0.6, 0.61):
        assert abs((1 + np.sqrt(1 - 8 * T**2 / 3)) / 2 - model.state_overlap(T)) < 1e-12
    q = (1 + np.sqrt(1 - 8 * model.T_K**2 / 3)) / 2
    assert abs(q**3 / (4 * model.T_K**2) + (np.log(1 - q) + q) / 2) < 1e-12


def test_eight_indices_are_allowed():
    """Two spins, 2^8 couplings: the largest p whose orders are summed."""
    assert gaussian_couplings(2, 8, rng=0).p == 8
