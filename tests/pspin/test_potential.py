"""The two-replica potential: its minima against the one-step solution, its branches against stationarity, refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar, root

from spinlib.pspin import PSpin, two_replica_potential
from spinlib.pspin._potential import _phi, _Slice

ORDERS = (3, 4, 6, 10, 30)


def window(model, share):
    """A temperature between T_K (share 0) and T_d (share 1)."""
    return model.T_K + share * (model.T_d - model.T_K)


def functional(p, T, q, r1, r0, x):
    """V of the page, for any overlaps r1 >= r0 and x of the second copy."""
    D = 1 - r1 + x * (r1 - r0)
    logs = (x - 1) / x * np.log(1 - r1) + np.log(D) / x + (r0 - q**2) / D
    return -(q**p) / (2 * T) + ((1 - x) * r1**p + x * r0**p) / (4 * T) - T / 2 * logs


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_second_minimum_is_the_state_and_costs_its_complexity(p, share):
    model = PSpin(p)
    T = min(window(model, share), model.T_d)
    q = model.state_overlap(T)
    assert two_replica_potential(model, q, T) == pytest.approx(T * model.complexity(T), abs=1e-14)
    if share < 1:
        bounds = (q - 0.3 * (1 - q) * (1 - share), 1 - 0.5 * (1 - q))
        found = minimize_scalar(
            lambda at: two_replica_potential(model, at, T),
            bounds=bounds,
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert found.x == pytest.approx(q, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("p", ORDERS)
def test_second_minimum_appears_at_T_d(p):
    model, grid = PSpin(p), np.linspace(0, 0.995, 400)
    above, below = (
        np.diff(two_replica_potential(model, grid, T))
        for T in (1.003 * model.T_d, 0.99 * model.T_d)
    )
    assert (above > 0).all() and (below < 0).any()
    q = (p - 2) / (p - 1)
    h = 1e-3 * (1 - q)
    # slope and curvature vanish from the right
    V = two_replica_potential(model, np.array([q, q + h, q + 2 * h]), model.T_d)
    assert abs(V[1] - V[0]) / h < 1e-3 and abs(V[2] - 2 * V[1] + V[0]) / h**2 < 0.1 * model.p**2


def test_touches_the_paramagnet_at_T_K_and_no_earlier():
    model, grid = PSpin(3), np.linspace(0.05, 0.9, 300)
    assert two_replica_potential(model, model.state_overlap(model.T_K), model.T_K) == pytest.approx(
        0, abs=1e-14
    )
    for T in (model.T_K, 0.6, 0.7, 3.0):
        assert (two_replica_potential(model, grid, T) > -1e-14).all()
    assert two_replica_potential(model, 0.0, 0.6) == 0


@pytest.mark.parametrize(
    "p, share", [(3, 0.0), (3, 0.5), (3, 1.5), (4, 0.4), (10, 0.4), (10, 1.05)]
)
def test_broken_branch_is_stationary_and_above_the_symmetric_one(p, share):
    """All three derivatives of the written-out functional vanish; the symmetric formula is lower; both ends join it."""
    model = PSpin(p)
    T = window(model, share)
    here = _Slice(p, T)
    assert 0 <= here.q_first < here.q_last < 1
    for q in here.q_first + (here.q_last - here.q_first) * np.array([0.1, 0.4, 0.8]):
        r1, r0, x = here.overlaps(q)
        assert 0 < x < 1 and 0 < r0 < r1 < 1
        for k, h in ((0, 1e-6 * (1 - r1)), (1, 1e-6 * (1 - r1)), (2, 1e-6)):
            step = h * np.eye(3)[k]
            up, down = (
                functional(p, T, q, *(np.array([r1, r0, x]) + sign * step)) for sign in (1, -1)
            )
            assert abs(up - down) / (2 * h) < 2e-7 / (1 - r1)
        roots = np.linspace(0, 0.9999, 200_001)
        at = np.flatnonzero(
            np.diff(np.sign(roots - here.mu * roots ** (p - 1) * (1 - roots) ** 2 - q**2))
        )
        symmetric = [functional(p, T, q, roots[k], roots[k], 1.0) for k in at]
        assert two_replica_potential(model, q, T) > max(symmetric) + 1e-8
    for edge in (here.q_first, here.q_last):
        if edge > 1e-3:
            left, right = (two_replica_potential(model, edge + d, T) for d in (-1e-7, 1e-7))
            assert abs(left - right) < 1e-6


def test_symmetric_everywhere_above_two_thirds_for_p_3():
    """The replicon p(p-1) r^(p-2) (1-r)^2 / 2T^2 < 1 at its worst r = 1/3 from T = 2/3 on."""
    assert _Slice(3, 0.6666).q_first < 1 == _Slice(3, 0.6667).q_first
    r, q, T = 0.3, 0.0, 1.0
    q = np.sqrt(r - 1.5 * r**2 * (1 - r) ** 2)
    assert two_replica_potential(PSpin(3), q, T) == pytest.approx(
        functional(3, T, q, r, r, 1.0), abs=1e-15
    )


def test_high_temperature_is_the_cost_of_an_angle():
    """T V -> -(T^2/2) ln(1 - q^2) - q^p / 2 + q^(2p) / 4: the slice, the field of the first copy, what it leaves."""
    q, T = np.array([0.1, 0.5, 0.9]), 200.0
    V = two_replica_potential(PSpin(4), q, T)
    assert np.abs(T * V - (-0.5 * T**2 * np.log(1 - q**2) - 0.5 * q**4 + 0.25 * q**8)).max() < 1e-3


def test_phi_is_smooth_where_its_series_takes_over():
    assert abs(_phi(1 - 0.999e-3) - _phi(1 - 1.001e-3)) < 1e-6 and _phi(1.0) == 0.5
    assert _phi(1 - 1e-3) == pytest.approx(0.5 - 1e-3 / 6, abs=1e-6)


def test_shapes_and_refusals():
    model = PSpin(3)
    assert isinstance(two_replica_potential(model, 0.5, 0.6), float)
    assert two_replica_potential(model, np.zeros((2, 3)), 0.6).shape == (2, 3)
    with pytest.raises(
        ValueError, match="T must be >= T_K = 0.5860.* got 0.5; below T_K the first copy"
    ):
        two_replica_potential(model, 0.5, 0.5)
    for wrong in (-0.1, 1.0, np.nan):
        with pytest.raises(ValueError, match="q must be an overlap, 0 <= q < 1"):
            two_replica_potential(model, [0.2, wrong], 0.6)
    with pytest.raises(TypeError, match=r"model must be .*PSpin.* make one: PSpin\(p=3\)"):
        two_replica_potential(3, 0.5, 0.6)
    with pytest.raises(ValueError, match="T must be"):
        two_replica_potential(model, 0.5, 0.0)


def test_the_series_of_phi_continues_the_closed_form():
    """At 1 - y = 0.001, where one takes over from the other."""
    for w in (0.99e-3, 0.5e-3):
        assert _phi(1 - w) == pytest.approx(-(1 - w) * (np.log1p(-w) + w) / w**2, rel=1e-9)


def test_the_potential_ends_at_T_K():
    model = PSpin(4)
    assert np.isfinite(two_replica_potential(model, 0.1, model.T_K))
    with pytest.raises(ValueError, match="T must be >= T_K = "):
        two_replica_potential(model, 0.1, 0.999 * model.T_K)


@pytest.mark.parametrize(
    ("p", "T", "q", "start"),
    [(3, 0.605, 0.426, (0.55, 0.35, 0.7)), (3, 0.605, 0.44, (0.55, 0.35, 0.7))]
    + [(4, 0.51, 0.62, (0.7, 0.5, 0.9))],
)
def test_between_the_minima_it_is_a_stationary_value_to_rounding(p, T, q, start):
    """Newton on slopes by complex steps: where breaking has nearly ended, y near .8, a short series is not enough."""

    def slopes(overlaps):
        shifts = 1e-30j * np.eye(3)
        return [functional(p, T, q, *(overlaps + shift)).imag / 1e-30 for shift in shifts]

    at = root(slopes, start, tol=1e-14).x
    assert np.abs(slopes(at)).max() < 1e-14 and at[2] < 0.99  # one step broken
    V = two_replica_potential(PSpin(p), q, T)
    assert V == pytest.approx(functional(p, T, q, *at), rel=0, abs=2e-15)
