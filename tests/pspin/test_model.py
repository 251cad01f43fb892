"""Spherical p-spin at N = infinity: known values, second routes, stationarity."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, minimize_scalar, root

from spinlib.pspin import OneRSB, PSpin

P_VALUES = (3, 4, 6, 10, 50)
some_p = st.one_of(st.sampled_from(P_VALUES), st.integers(3, 200))
below = st.floats(1e-3, 0.999)  # T / T_K


def eq_118(q1, q0, x, T, p):
    """f of Thesis eq. (118), written as printed: -x beta F = (x N / 2) { ... }."""
    D = 1 - x * q0 - (1 - x) * q1
    braces = (
        (1 - (1 - x) * q1**p - x * q0**p) / (2 * T**2)
        + q0 / D
        + (x - 1) / x * np.log(1 - q1)
        + np.log(D) / x
    )
    return -T / 2 * braces


def saddle_residuals(v, T, p):
    """d/dq1 and d/dx of eq. (118) at q0 = 0, differentiated by hand and kept in q and x (no y)."""
    q, x = v
    D = 1 - q + x * q
    return [
        p * q ** (p - 2) / (2 * T**2) - 1 / ((1 - q) * D),
        q**p / (2 * T**2) + np.log((1 - q) / D) / x**2 + q / (x * D),
    ]


# --- known values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("T_K", 0.586053972417364),
        ("T_d", 0.612372435695795),
        ("e_ground", -1.17167477926529),
        ("e_threshold", -1.15470053837925),
    ],
)
def test_known_values_p3(name, value):  # Crisanti and Sommers closed forms, 40-digit arithmetic
    assert getattr(PSpin(3), name) == pytest.approx(value, abs=1e-13)


@pytest.mark.parametrize(
    ("T", "x", "q", "f", "e"),
    [
        (0.1, 0.0954469117887616, 0.950090702730605, -0.953245355230722, -1.12118318384884),
        (0.3, 0.343921249098558, 0.840842173068417, -0.684327104171787, -1.01661454596413),
        (0.5, 0.736148077620924, 0.711665976986961, -0.493255573601986, -0.90489816998512),
    ],
)
def test_known_saddles_p3(T, x, q, f, e):  # Crisanti and Sommers closed forms
    s = PSpin().solve(T)
    np.testing.assert_allclose((s.x, s.q, s.f, s.energy), (x, q, f, e), rtol=0, atol=5e-14)


def test_known_states_between_T_K_and_T_d():  # Crisanti and Sommers closed forms
    model = PSpin(3)
    assert model.state_overlap(0.599213204056579) == pytest.approx(0.603097158332156, abs=1e-12)
    assert model.complexity(0.599213204056579) == pytest.approx(0.0077481119643304, abs=1e-13)
    assert model.complexity(model.T_d) == pytest.approx(0.0132402569466393, abs=1e-14)
    assert model.state_overlap(model.T_d) == pytest.approx(0.5, abs=1e-14)
    assert model.x_threshold(0.5) == pytest.approx(0.565376041509975, abs=1e-13)


def test_random_energy_model_limit():
    """Large p: Sigma(e) -> S - e^2 with S = L/2, L = 1/(p y_K) and e_ground -> -sqrt(S);
    T_d -> 1/sqrt(2e), e_th -> -sqrt(2)."""
    model = PSpin(10**9)
    assert model.T_d == pytest.approx(1 / math.sqrt(2 * math.e), abs=1e-9)
    assert model.e_threshold == pytest.approx(-math.sqrt(2), abs=1e-8)
    L = brentq(
        lambda L: L + 1 - math.log(L) - math.log(1e9), 5, 60
    )  # -2 Sigma = 0 at leading order in 1/p
    assert model.e_ground == pytest.approx(-(1 + L) / math.sqrt(2 * L), abs=1e-7)
    assert model.T_K == pytest.approx(math.exp(-0.5 / L) / math.sqrt(2 * L), abs=1e-7)


# --- second routes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", P_VALUES)
def test_T_K_and_T_d_without_y(p):
    """At x = 1 stationarity in q is p q^(p-2)(1-q) = 2T^2; its largest T is T_d, and the one with d/dx = 0 is T_K."""
    T_of = lambda q: math.sqrt(p * q ** (p - 2) * (1 - q) / 2)
    slope_in_x = lambda q: q**2 / (p * (1 - q)) + math.log1p(-q) + q
    top = minimize_scalar(
        lambda q: -T_of(q), bounds=((p - 3) / p, 1), method="bounded", options={"xatol": 1e-10}
    )
    assert PSpin(p).T_d == pytest.approx(-top.fun, abs=1e-12)
    q_K = brentq(slope_in_x, top.x, 1 - 1e-9, xtol=1e-15)
    assert PSpin(p).T_K == pytest.approx(T_of(q_K), abs=1e-11)
    assert PSpin(p).state_overlap(PSpin(p).T_K) == pytest.approx(q_K, abs=1e-10)


@pytest.mark.parametrize("p", P_VALUES)
@pytest.mark.parametrize("ratio", [0.3, 0.9])
def test_two_dimensional_saddle(p, ratio):
    T = ratio * PSpin(p).T_K
    s = PSpin(p).solve(T)
    found = root(saddle_residuals, (1 - 1.02 * (1 - s.q), 0.98 * s.x), args=(T, p), tol=1e-13)
    np.testing.assert_allclose((s.q, s.x), found.x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("p", (3, 4, 10))
def test_ground_state_by_minimising_at_zero_temperature(p):
    """T -> 0 with chi = (1-q)/T and mu = x/T fixed: -2e = min of (mu + p chi)/2 + ln(1 + mu/chi)/mu."""
    energy = lambda v: (
        (math.exp(v[0]) + p * math.exp(v[1])) / 2
        + math.log1p(math.exp(v[0] - v[1])) / math.exp(v[0])
    )
    found = minimize(
        energy, (0.0, -1.0), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}
    )
    assert PSpin(p).e_ground == pytest.approx(-found.fun / 2, abs=1e-12)
    assert PSpin(p).solve(1e-6).x / 1e-6 == pytest.approx(math.exp(found.x[0]), abs=1e-5)


# --- Thesis eqs. (45), (46), (118) -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    p=some_p,
    q=st.floats(0.02, 0.97),
    x=st.floats(0.01, 1),
    ratio=st.floats(0, 1),
    T=st.floats(0.05, 3),
)
@settings(deadline=None, max_examples=60)
def test_eq_118_as_printed(p, q, x, ratio, T):
    f = PSpin(p).free_energy(q, T, x, q0=ratio * q)
    assert f == pytest.approx(eq_118(q, ratio * q, x, T, p), rel=1e-11, abs=1e-11)


@pytest.mark.slow
@given(p=some_p, q=st.floats(0, 0.97), x=st.floats(0, 1), q0=st.floats(0, 1), T=st.floats(0.05, 3))
@settings(deadline=None, max_examples=60)
def test_eq_118_contains_the_replica_symmetric_one(p, q, x, q0, T):
    """At q1 = q0 for every x, at x = 1 (overlap q0) and at x = 0 (overlap q1) it is eq. (46)."""
    model, q0 = PSpin(p), q0 * q
    rs = lambda q: -T / 2 * ((1 - q**p) / (2 * T**2) + math.log(1 - q) + q / (1 - q))
    for value, overlap in (
        (model.free_energy(q, T, x, q0=q), q),
        (model.free_energy(q, T, 1.0, q0), q0),
        (model.free_energy(q, T, 0.0, q0), q),
        (model.rs_free_energy(q, T), q),
    ):
        assert value == pytest.approx(rs(overlap), rel=1e-12, abs=1e-12)
    assert model.free_energy(q, T, 1e-9, q0) == pytest.approx(
        rs(q), rel=1e-5, abs=1e-5
    )  # no jump at x = 0


def test_eq_45_roots_are_not_T_d():
    """The spinodal of (45) at p = 3 is T = sqrt(2)/3; its ordered branch would win below T = .4548,
    a fake transition."""
    model = PSpin(3)
    spinodal = math.sqrt(2) / 3
    assert model.rs_overlaps(spinodal * (1 + 1e-12)) == () and spinodal < model.T_K < model.T_d
    np.testing.assert_allclose(model.rs_overlaps(spinodal * (1 - 1e-14)), [1 / 3, 1 / 3], atol=1e-6)
    for T in (1e-3, 0.1, 0.4):
        low, high = model.rs_overlaps(T)
        assert 0 < low < 1 / 3 < high < 1
        for q in (low, high):
            assert q * (1 - q) ** 2 == pytest.approx(2 * T**2 / 3, rel=1e-10)
    excess = lambda T: (
        model.rs_free_energy(model.rs_overlaps(T)[1], T) - model.rs_free_energy(0.0, T)
    )
    assert brentq(excess, 0.4, 0.47) == pytest.approx(
        0.454820944487319, abs=1e-11
    )  # Crisanti and Sommers closed forms
    T = 1e-4
    assert model.rs_free_energy(model.rs_overlaps(T)[1], T) == pytest.approx(
        -math.sqrt(1.5), abs=2e-3
    )
    assert (
        -math.sqrt(1.5) < model.e_ground
    )  # below the true ground state: replica symmetry is wrong


@given(p=some_p, T=st.floats(1e-3, 1))
@settings(deadline=None, max_examples=60)
def test_eq_45_every_p(p, T):
    roots = PSpin(p).rs_overlaps(T)
    best = (
        math.log(p / 2) + (p - 2) * math.log1p(-2 / p) + 2 * math.log(2 / p)
    )  # ln of the square of the spinodal
    assert len(roots) == (2 if 2 * math.log(T) <= best else 0)
    for q in roots:
        if q < 1 - 1e-8:
            assert (p - 2) * math.log(q) + 2 * math.log1p(-q) == pytest.approx(
                math.log(2 * T**2 / p), abs=1e-7
            )


# --- the saddle: stationarity, maximum, thermodynamics ----------------------------------------------------------------


@given(p=some_p, ratio=below)
@settings(deadline=None, max_examples=80)
def test_f_is_stationary_and_a_maximum_in_q_and_x(p, ratio):
    model = PSpin(p)
    T = ratio * model.T_K
    s = model.solve(T)
    w, h = 1 - s.q, 1e-4
    in_w = lambda d: model.free_energy(1 - w * (1 + d), T, s.x)
    in_x = lambda d: model.free_energy(s.q, T, s.x * (1 + d))
    assert 0 < s.x < 1 and s.q > (p - 2) / (p - 1)
    for f, far in ((in_w, 0.01), (in_x, min(0.01, 1 / s.x - 1))):
        assert abs(f(h) - f(-h)) / (2 * h) < 1e-6 * max(T, 1e-2)  # f is of the order of T + |e|
        assert f(far) < f(0) and f(-far) < f(0)


@given(p=some_p, ratio=below)
@settings(deadline=None, max_examples=60)
def test_eq_111_and_the_x_equation_that_the_thesis_leaves_out(p, ratio):
    T = ratio * PSpin(p).T_K
    s = PSpin(p).solve(T)
    (q, x), w = (s.q, s.x), 1 - s.q
    D = w + x * q
    assert p * q ** (p - 2) * w * D / (2 * T**2) == pytest.approx(1, rel=1e-8)
    assert x**2 * q**p / (2 * T**2) + x * q / D == pytest.approx(math.log(D / w), rel=1e-8)


@given(p=some_p, ratio=below)
@settings(deadline=None, max_examples=60)
def test_energy_is_the_derivative_of_beta_f(p, ratio):
    model = PSpin(p)
    beta, h = 1 / (ratio * model.T_K), 1e-4
    beta_f = lambda k: beta * (1 + k * h) * model.solve(1 / (beta * (1 + k * h))).f
    slope = (8 * (beta_f(1) - beta_f(-1)) - (beta_f(2) - beta_f(-2))) / (12 * h * beta)
    assert model.solve(1 / beta).energy == pytest.approx(slope, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("p", P_VALUES)
def test_no_latent_heat_at_T_K(p):
    model = PSpin(p)
    under, over = model.solve(model.T_K * (1 - 1e-9)), model.solve(model.T_K * (1 + 1e-9))
    assert model.solve(model.T_K) == OneRSB(
        q=0.0, x=1.0, f=-0.25 / model.T_K, energy=-0.5 / model.T_K
    )
    assert under.f == pytest.approx(over.f, abs=5e-9) and under.energy == pytest.approx(
        over.energy, abs=2e-8
    )
    assert under.x == pytest.approx(1, abs=1e-8) and under.q > 0.6 and over.q == 0


def test_nothing_happens_at_T_d_and_below_T_K_f_is_above_the_paramagnet():
    model = PSpin(3)
    for T in (model.T_d * 0.99, model.T_d * 1.01, 5.0):
        assert model.solve(T) == OneRSB(0.0, 1.0, -0.25 / T, -0.5 / T)
    for T in (0.1, 0.5, 0.58):
        assert model.solve(T).f > -0.25 / T  # a maximum over x in [0, 1], not a minimum


@pytest.mark.parametrize("p", P_VALUES)
@pytest.mark.parametrize("T", [1e-3, 1e-8, 1e-200])
def test_low_temperature(p, T):
    model = PSpin(p)
    s = model.solve(T)
    assert s.energy == pytest.approx(
        model.e_ground + T / 2, abs=1e-12 + 2 * T**2 * p**2
    )  # heat capacity 1/2: harmonic
    assert s.f == pytest.approx(model.e_ground, abs=20 * T + 1e-12)
    assert 0 < s.x < 10 * T and 0 <= 1 - s.q < 10 * T
