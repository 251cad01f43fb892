"""Dynamics at N = infinity: against plain solvers, the states of Part I, each other, and samples."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gamma

from spinlib.pspin import PSpin
from spinlib.pspin.dynamics import equilibrium_correlation, quench
from spinlib.pspin.simulation import gaussian_couplings, langevin, random_spins


def plain_correlation(p, T, t_max, n):
    """C' = -T C - (p/2T) int C^(p-1)(t-s) C'(s) ds on a uniform grid: trapezoids, and each step solved for C'."""
    h, v = t_max / n, p / (2 * T)
    C, dC = np.ones(n + 1), np.empty(n + 1)
    dC[0] = -T
    for i in range(1, n + 1):
        new = dC[i - 1]
        for _ in range(6):
            C[i] = C[i - 1] + h / 2 * (dC[i - 1] + new)
            kernel = v * C[i::-1] ** (p - 1) * np.append(dC[:i], new)
            new = -T * C[i] - h * (kernel.sum() - kernel[0] / 2 - kernel[-1] / 2)
        dC[i] = new
    return C


@pytest.mark.parametrize("p, T", [(3, 0.8), (3, 2.0), (4, 0.7), (8, 0.6)])
def test_equilibrium_is_that_of_a_plain_solver(p, T):
    coarse, fine = plain_correlation(p, T, 4.0, 200), plain_correlation(p, T, 4.0, 400)
    found = equilibrium_correlation(PSpin(p), T, np.linspace(0, 4, 201))
    assert np.abs(found - (4 * fine[::2] - coarse) / 3).max() < 1e-4  # extrapolated to step 0


def test_free_limit_and_shapes():
    t = np.array([[0.0, 1e-9], [0.01, 0.02]])
    assert np.allclose(equilibrium_correlation(PSpin(3), 100.0, t), np.exp(-100 * t), atol=2e-4)
    assert equilibrium_correlation(PSpin(3), 1.0, 0.0) == 1.0
    assert equilibrium_correlation(PSpin(3), 1.0, []).shape == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("p", [3, 4, 10])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_between_T_K_and_T_d_it_stops_inside_the_state(p, share):
    model = PSpin(p)
    T = model.T_K + share * (model.T_d - model.T_K)
    assert equilibrium_correlation(model, T, 1e12) == pytest.approx(
        model.state_overlap(T), abs=1e-6
    )


@pytest.mark.slow
def test_times_above_T_d_and_their_exponent():
    model = PSpin(3)
    eps = np.array([1e-2, 1e-3, 1e-4, 1e-5])
    t = np.geomspace(1, 1e11, 3000)
    tau = [
        np.exp(
            np.interp(
                -0.5 / math.e, -equilibrium_correlation(model, model.T_d * (1 + x), t), np.log(t)
            )
        )
        for x in eps
    ]
    assert tau == pytest.approx([4.007e3, 2.369e5, 1.391e7, 8.124e8], rel=1e-3)
    a = brentq(lambda a: gamma(1 - a) ** 2 / gamma(1 - 2 * a) - 0.5, 0.2, 0.45)
    assert 0.5 / a + 0.5 == pytest.approx(1.76498, abs=1e-5)
    assert np.log10(tau[3] / tau[2]) == pytest.approx(0.5 / a + 0.5, abs=3e-3)


def plain_quench(p, T, t_max, h):
    """The two-time equations by Euler's method, term by term as they are written."""
    n = round(t_max / h)
    C, R, energy = np.eye(n + 1), np.eye(n + 1), np.zeros(n + 1)
    for i in range(n):
        c, r = C[i, : i + 1], R[i, : i + 1]
        force, memory = p / 2 * c ** (p - 1), p * (p - 1) / 2 * c ** (p - 2) * r
        energy[i] = -h * (force * r)[:i].sum()
        mu = T - p * energy[i]
        for j in range(i + 1):
            dc = (
                -mu * c[j]
                + h * (force * R[j, : i + 1])[:j].sum()
                + h * (memory * C[j, : i + 1])[:i].sum()
            )
            dr = -mu * r[j] + h * (memory[j:i] * R[j:i, j]).sum()
            C[i + 1, j] = C[j, i + 1] = c[j] + h * dc
            R[i + 1, j] = r[j] + h * dr
    return energy[:-1], C


@pytest.mark.slow
@pytest.mark.parametrize("p, T", [(3, 0.0), (3, 0.4), (4, 0.2)])
def test_quench_is_where_eulers_method_goes(p, T):
    coarse, fine = plain_quench(p, T, 2.0, 0.02), plain_quench(p, T, 2.0, 0.01)
    found = quench(PSpin(p), T, t_max=1.9, step=0.02)
    gap = 2 * fine[0][:191:2] - coarse[0][:96] - found.energy
    assert np.abs(gap).max() < 2e-3  # Euler extrapolated; alone it is off by 0.02
    assert np.abs(2 * fine[1][:191:2, :191:2] - coarse[1][:96, :96] - found.C).max() < 4e-3


@pytest.mark.slow
@pytest.mark.parametrize("T", [0.0, 0.3])
def test_quench_is_of_third_order(T):
    e = [quench(PSpin(3), T, t_max=3.0, step=h).energy[-1] for h in (0.1, 0.05, 0.025, 0.0125)]
    assert abs(e[1] - e[3]) < 2e-4 and abs(e[2] - e[3]) < 3e-5
    assert abs(e[0] - e[1]) > 5 * abs(e[1] - e[2])


def test_quench_obeys_the_constraint_and_its_symmetries():
    path = quench(PSpin(3), 0.3, t_max=10.0)
    assert np.array_equal(path.C, path.C.T) and np.array_equal(np.diag(path.C), np.ones(201))
    assert np.array_equal(path.R, np.tril(path.R)) and np.array_equal(np.diag(path.R), np.ones(201))
    assert (np.diff(path.energy) < 0).all() and path.energy[0] == 0
    # the force along the spins, p e - mu, balances the noise: the corrector keeps the sphere to its order
    extrapolated = 3 * path.C[-1, -2] - 3 * path.C[-1, -3] + path.C[-1, -4]
    assert extrapolated == pytest.approx(1, abs=1e-3)


def test_above_T_d_the_quench_ends_in_equilibrium():
    model = PSpin(3)
    path = quench(model, 1.2, t_max=20.0)
    assert path.energy[-1] == pytest.approx(-0.5 / 1.2, abs=1e-3)
    lag = path.t[:61]
    late = path.C[-1, ::-1][:61]
    assert np.abs(late - equilibrium_correlation(model, 1.2, lag)).max() < 1e-3
    response = path.R[-1, ::-1][2:60]  # fluctuation-dissipation: R = -C'/T
    assert np.abs(response + np.gradient(late, lag)[2:60] / 1.2).max() < 5e-3


def test_below_T_d_the_quench_approaches_the_marginal_states():
    model, T = PSpin(3), 0.3
    path = quench(model, T, t_max=30.0, step=0.1)
    x = model.x_threshold(T)
    marginal = -0.5 / T * (1 - (1 - x) * model.state_overlap(T, x) ** 3)
    gap = path.energy[[50, 100, 200, 300]] - marginal
    assert (gap > 0).all()
    assert np.diff(np.log(gap)) / np.diff(np.log([5, 10, 20, 300 / 10])) == pytest.approx(
        -0.67, abs=0.05
    )


def test_samples_follow_it():
    """12 samples of 48 spins at times where finite size hardly shows."""
    path, e = quench(PSpin(3), 0.0, t_max=1.0, step=0.02), []
    for k in range(12):
        J = gaussian_couplings(48, rng=[k, 0])
        run = langevin(J, random_spins(48, (4,), rng=[k, 1]), 0.0, dt=0.02, n_steps=50, every=25)
        e.append(J.energy(run).mean(axis=1) / 48)
    error = np.std(e, axis=0, ddof=1) / math.sqrt(12)
    assert (np.abs(np.mean(e, axis=0) - path.energy[[0, 25, 50]]) < 5 * error + 0.01).all()


def test_refusals():
    model = PSpin(3)
    with pytest.raises(ValueError, match="at least T_K = 0.586.*use quench"):
        equilibrium_correlation(model, 0.5, [1.0])
    with pytest.raises(ValueError, match="times"):
        equilibrium_correlation(model, 0.7, [-1.0])
    with pytest.raises(ValueError, match="times"):
        equilibrium_correlation(model, 0.7, [np.inf])
    for call in (lambda m: equilibrium_correlation(m, 0.7, [1.0]), lambda m: quench(m)):
        with pytest.raises(TypeError, match="write PSpin"):
            call(3)
    with pytest.raises(ValueError, match="T must be"):
        quench(model, -0.1)
    with pytest.raises(ValueError, match="from 2 to 6000.*choose"):
        quench(model, t_max=1e4)
    with pytest.raises(ValueError, match="from 2 to 6000"):
        quench(model, t_max=0.05, step=0.05)
    with pytest.raises(ValueError, match="left the numbers.*lower the step"):
        quench(model, t_max=100.0, step=1.0)


def test_equilibrium_ends_at_T_K():
    model = PSpin(3)
    assert equilibrium_correlation(model, model.T_K, 0.0) == 1
    with pytest.raises(ValueError, match="T must be at least T_K = "):
        equilibrium_correlation(model, 0.999 * model.T_K, 1.0)


@pytest.mark.parametrize(("t_max", "step", "n"), [(2.1, 0.3, 7), (0.6, 0.2, 3), (2.7, 0.15, 18)])
def test_a_quench_ends_at_its_time_whatever_rounding_says(t_max, step, n):
    """2.1 / 0.3 is 7.000000000000001, and 0.6 / 0.2 is 2.9999999999999996."""
    path = quench(PSpin(3), t_max=t_max, step=step)
    assert len(path.t) == n + 1 and path.t[-1] == pytest.approx(t_max, rel=1e-12)
    assert (
        len(quench(PSpin(3), t_max=t_max + 1e-3, step=step).t) == n + 2
    )  # a step that is begun counts
