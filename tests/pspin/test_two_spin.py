"""The exact solution at p = 2 against closed forms at N = 2 and 4, its own derivatives, the limit of large N,
and its refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive

from spinlib.pspin.two_spin import solve_two_spin


def eigenvalues(n, seed=0):
    J = np.random.default_rng(seed).standard_normal((n, n)) * np.sqrt(0.5 / n)
    return np.linalg.eigvalsh((J + J.T) / 2)


@pytest.mark.slow
@given(mu=st.tuples(st.floats(-2, 2), st.floats(-2, 2)), T=st.floats(0.02, 10))
@settings(max_examples=40, deadline=None)
def test_known_value_two_spins_are_a_bessel_function(mu, T):
    """On the circle of radius sqrt 2, H = -(mu1 + mu2) - (mu1 - mu2) cos(2 theta),
    and Z = (1/2) int dtheta exp(-H / T)."""
    gap = abs(mu[0] - mu[1]) / T
    exact = np.log(np.pi) + sum(mu) / T + np.log(ive(0, gap)) + gap
    assert abs(solve_two_spin(mu, T).log_z - exact) < 1e-9 * max(1, abs(exact))


@pytest.mark.slow
@given(split=st.floats(0.01, 2), T=st.floats(0.02, 10))
@settings(max_examples=40, deadline=None)
def test_eq_23_contour_integral_with_double_eigenvalues_by_residues(split, T):
    """mu = (a, a, -a, -a): the integrand has two simple poles, Z = pi^2 (e^{4 a beta} - e^{-4 a beta}) / (2 a beta)."""
    a = split / T
    exact = 2 * np.log(np.pi) + 4 * a + np.log(-np.expm1(-8 * a) / (2 * a))
    assert abs(solve_two_spin([split, -split, -split, split], T).log_z - exact) < 1e-9 * max(
        1, abs(exact)
    )


@pytest.mark.parametrize("T", [0.2, 0.5, 1.0, 2.0])
def test_identity_energy_and_occupation_are_derivatives_of_log_z(T):
    mu, h = eigenvalues(24), 1e-4
    found = solve_two_spin(mu, T)
    rise = solve_two_spin(mu, 1 / (1 / T + h)).log_z - solve_two_spin(mu, 1 / (1 / T - h)).log_z
    assert abs(found.energy + rise / (2 * h) / 24) < 1e-6
    for k in (0, 12, 23):
        step = h * (np.arange(24) == k)
        slope = (solve_two_spin(mu + step, T).log_z - solve_two_spin(mu - step, T).log_z) / (2 * h)
        assert abs(found.occupation[k] - T * slope / 24) < 1e-6
    assert abs(found.occupation.sum() - 1) < 1e-12


def test_identity_a_shift_and_an_order_of_the_eigenvalues_change_nothing():
    mu = eigenvalues(12)
    found, shifted, turned = (
        solve_two_spin(mu, 0.7),
        solve_two_spin(mu + 3, 0.7),
        solve_two_spin(mu[::-1], 0.7),
    )
    assert np.allclose(
        [shifted.energy, shifted.log_z], [found.energy - 3, found.log_z + 12 * 3 / 0.7], rtol=1e-11
    )
    assert np.allclose(turned.occupation, found.occupation[::-1], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "T"), [(64, 0.1), (256, 2.0), (1024, 0.01)])
def test_the_quadrature_has_converged(n, T):
    mu = eigenvalues(n)
    coarse, fine = solve_two_spin(mu, T), solve_two_spin(mu, T, n_nodes=400)
    assert abs(coarse.log_z - fine.log_z) < 1e-9
    assert np.abs(coarse.occupation - fine.occupation).max() < 1e-8


@pytest.mark.parametrize(
    ("T", "energy", "condensate"),
    [(2.0, -0.25, 0.0), (1.25, -0.4, 0.0), (0.5, -0.75, 0.5), (0.2, -0.9, 0.8)],
)
def test_limit_of_large_n_condensation_at_T_1(T, energy, condensate):
    """Kosterlitz, Thouless and Jones 1976: e = -1/(2T) above T_c = 1, -1 + T/2 and a condensate 1 - T below."""
    phi = np.linspace(0, np.pi, 200_001)
    quantile = (phi - np.sin(2 * phi) / 2) / np.pi  # of the semicircle of radius 1, mu = cos(phi)
    error = []
    for n in (125, 1000):
        found = solve_two_spin(np.cos(np.interp(np.linspace(0, 1, n), quantile, phi)), T)
        error.append(abs(found.occupation.max() - condensate))
    assert abs(found.energy - energy) < 3e-3
    # it falls at least like n^(-1/3), that is to one half
    assert error[1] < 0.55 * error[0] and error[1] < 0.5 * 1000 ** (-1 / 3)


def test_eq_22_the_saddle_is_the_multiplier_that_holds_the_constraint_on_average():
    mu = eigenvalues(50)
    for T in (0.3, 1.0, 3.0):
        assert abs((0.5 / (solve_two_spin(mu, T).z - mu / T)).sum() / 50 - 1) < 1e-9


@pytest.mark.parametrize(
    ("mu", "T", "words"),
    [
        ([1.0], 1, "number of eigenvalues must be at least 2"),
        ([[1.0, 2.0]], 1, "shape"),
        ([1.0, np.nan], 1, "finite"),
        ([1.0, 2.0], 0, "T must be"),
        ([1.0, 2.0], float("nan"), "T must be"),
        ([1.0, 2.0], 1e-200, "above 1e-100 of the largest eigenvalue"),
    ],
)
def test_refusal(mu, T, words):
    with pytest.raises(ValueError, match=words):
        solve_two_spin(mu, T)
