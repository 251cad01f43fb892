"""The complexity of the spherical p-spin model: Kac and Rice, Legendre transforms, both ends of the energies."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.pspin import PSpin

P_VALUES = (3, 4, 6, 10, 50)
some_p = st.one_of(st.sampled_from(P_VALUES), st.integers(3, 200))
below = st.floats(1e-3, 0.999)  # T / T_K


def kac_rice(e, p):
    """Complexity of minima at energy e, from the Kac-Rice formula with the semicircle integrated numerically.

    Density of zero gradient, -ln(pi p)/2 + volume of the sphere, ln(2 pi e)/2; Gaussian energy of variance N/2, -e^2;
    log determinant of the Hessian sqrt(p(p-1)/2) GOE - p e.
    """
    k = np.arange(1, 2001) * np.pi / 2001
    nodes, weights = 2 * np.cos(k), 2 / 2001 * np.sin(k) ** 2
    eigenvalues = math.sqrt(p * (p - 1) / 2) * nodes - p * e
    assert eigenvalues.min() > 0, "minima only"
    return 0.5 - 0.5 * math.log(p / 2) - e**2 + weights @ np.log(eigenvalues)


@pytest.mark.parametrize("p", P_VALUES)
def test_complexity_is_kac_rice(p):
    model = PSpin(p)
    e = np.linspace(
        model.e_ground - 0.05, model.e_threshold - 0.02, 9
    )  # quadrature converges off the edge
    np.testing.assert_allclose(
        model.complexity_at_energy(e), [kac_rice(one, p) for one in e], rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("p", P_VALUES)
def test_complexity_is_auffinger_ben_arous_cerny(p):
    """Their Theorem 2.5 for minima, energies in units where the variance is N: u = sqrt(2) e."""
    model = PSpin(p)
    e = np.linspace(model.e_ground - 0.1, model.e_threshold, 12)
    u, edge = math.sqrt(2) * e, 2 * math.sqrt((p - 1) / p)
    gap = np.sqrt(np.maximum(u**2 - edge**2, 0))
    rate = -u / edge**2 * gap - np.log(-u + gap) + math.log(edge)
    theirs = 0.5 * math.log(p - 1) - (p - 2) / (4 * (p - 1)) * u**2 - rate
    np.testing.assert_allclose(
        model.complexity_at_energy(e), theirs, rtol=0, atol=5e-8
    )  # the edge: sqrt of rounding
    np.testing.assert_allclose(model.complexity_at_energy(e)[:-1], theirs[:-1], rtol=0, atol=1e-12)


def test_complexity_at_both_ends_of_the_energies():
    for p in P_VALUES:
        model = PSpin(p)
        assert model.complexity_at_energy(model.e_ground) == pytest.approx(0, abs=1e-13)
        assert model.complexity_at_energy(model.e_threshold) == pytest.approx(
            0.5 * math.log(p - 1) - (p - 2) / p, abs=1e-13
        )
        assert model.complexity_at_energy(model.e_ground - 0.01) < 0


@given(p=some_p, ratio=below)
@settings(deadline=None, max_examples=50)
def test_equilibrium_states_have_no_complexity(p, ratio):
    model = PSpin(p)
    s = model.solve(ratio * model.T_K)
    assert model.complexity(ratio * model.T_K, s.x) == pytest.approx(0, abs=1e-11)
    assert model.state_overlap(ratio * model.T_K, s.x) == pytest.approx(s.q, abs=1e-13)
    assert (
        model.complexity(ratio * model.T_K)
        < 0
        < model.complexity(ratio * model.T_K, model.x_threshold(ratio * model.T_K))
    )


@given(p=some_p, ratio=st.floats(0.01, 0.99), where=st.floats(0.01, 0.99))
@settings(deadline=None, max_examples=50)
def test_complexity_is_beta_x2_df_dx(p, ratio, where):
    """The corrected Legendre transform: Sigma = beta x^2 d(Phi/x)/dx with Phi/x = f of (118), q at its saddle."""
    model = PSpin(p)
    T = ratio * model.T_d
    x = model.x_threshold(T) + where * (1 - model.x_threshold(T))
    q, h = model.state_overlap(T, x), 1e-4
    slope = (
        model.free_energy(q, T, min(x * (1 + h), 1)) - model.free_energy(q, T, x * (1 - h))
    ) / (min(x * (1 + h), 1) - x * (1 - h))
    scale = 1 + abs(model.complexity(T, x)) + q**p * x**2 / T**2
    assert model.complexity(T, x) == pytest.approx(x**2 / T * slope, abs=1e-4 * scale)
    assert model.complexity(T, x) <= 0.5 * math.log(p - 1) - (p - 2) / p + 1e-12


def states(model, T, n=41):
    """x, f of the states, complexity and f of (118) on the stable branch: the parametric curve Sigma(f)."""
    x = np.linspace(model.x_threshold(T) * (1 + 1e-9), 1, n)
    sigma = np.array([model.complexity(T, one) for one in x])
    f_118 = np.array([model.free_energy(model.state_overlap(T, one), T, one) for one in x])
    return x, f_118 + T * sigma / x, sigma, f_118


@pytest.mark.slow
def test_eq_75_printed_transform_fails():
    """Printed: Phi = -(1/beta) max_f(beta x f - Sigma). Right: Phi = (1/beta) min_f(beta x f - Sigma) = x f of
    (118)."""
    T, model = 0.5, PSpin(3)
    x, f, sigma, f_118 = states(model, T, 2001)
    middle = 1000
    right = T * np.min(x[middle] / T * f - sigma)
    printed = -T * np.max(x[middle] / T * f - sigma)
    assert right == pytest.approx(x[middle] * f_118[middle], abs=1e-12)
    assert printed > 0 > right and abs(printed - right) > 0.5
    slope = np.gradient(
        sigma, f
    )  # the slope of Sigma(f) is beta x, from above T_d states to the ground state
    np.testing.assert_allclose(slope[5:-5], x[5:-5] / T, rtol=2e-3)


@pytest.mark.slow
def test_text_after_eq_75_min_over_x_fails():
    """The thesis takes F = min_x Phi/x; the equilibrium is the maximum over x in [0, 1],
    and the minimum is another value."""
    T, model = 0.5, PSpin(3)
    x, _, _, f_118 = states(model, T, 2001)
    s = model.solve(T)
    assert f_118.max() == pytest.approx(s.f, abs=1e-9) and x[f_118.argmax()] == pytest.approx(
        s.x, abs=1e-3
    )
    assert f_118.min() < s.f - 1e-4 and f_118.argmin() in (0, len(x) - 1)


def test_eq_74_saddle_gives_the_paramagnet_between_T_K_and_T_d():
    """f - T Sigma at slope beta: the states together weigh as much as the paramagnet, -beta/4.

    f of a state also by the Thouless-Anderson-Palmer route (Kurchan, Parisi, Virasoro 1993): its T = 0 energy scaled by
    q^(p/2).
    """
    model = PSpin(3)
    for T in (model.T_K, 0.6, model.T_d):
        q = model.state_overlap(T)
        f_state = model.free_energy(q, T, 1.0) + T * model.complexity(T)
        y = 1 - q
        e0 = -0.5 * math.sqrt(2 * y / 3) * (2 + 1 / y)
        tap = q**1.5 * e0 - T / 2 * math.log1p(-q) - (1 - 3 * q**2 + 2 * q**3) / (4 * T)
        assert f_state == pytest.approx(tap, abs=1e-10)
        assert f_state - T * model.complexity(T) == pytest.approx(-0.25 / T, abs=1e-12)
