"""VAMP: exact means, variances that are right for every spectrum of random eigenvectors,
and the R-transform that it finds."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib import ConvergenceWarning
from spinlib.inference import amp, ground_state, vamp
from spinlib.random_matrix import wishart
from spinlib.spin_glass import SpinGlass, gaussian_glass


def glass_of(A, ridge, rng=0):
    diagonal = np.diagonal(A)
    return SpinGlass(
        np.diag(diagonal) - A, np.random.default_rng(rng).standard_normal(len(A)), ridge + diagonal
    )


def rotated(spectrum, rng):
    """A symmetric matrix with this spectrum and uniformly random eigenvectors."""
    Q, R = np.linalg.qr(np.random.default_rng(rng).standard_normal((len(spectrum),) * 2))
    Q = Q * np.sign(np.diagonal(R))
    A = Q @ np.diag(spectrum) @ Q.T
    return (A + A.T) / 2


def two_ridges(n):
    return np.where(np.arange(n) < n // 2, 0.1, 1.0)


@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(2, 12),
    gamma=st.floats(0.2, 3.0),
    seed=st.integers(0, 2**16),
    beta=st.floats(0.1, 10.0),
)
def test_means_are_the_ground_state_for_any_couplings(n, gamma, seed, beta):
    ridge = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    glass = glass_of(wishart(n, max(1, int(n / gamma)), rng=seed), ridge, seed)
    found, exact = (
        vamp(glass, ridge=ridge, beta=beta, damping=0.3, max_iter=5000),
        ground_state(glass, beta=beta),
    )
    assert (
        found.converged and np.allclose(found.mean, exact.mean, atol=1e-7) and (found.var > 0).all()
    )


def test_one_ridge_for_all_gives_the_average_variance_exactly():
    glass = glass_of(wishart(60, 40, rng=1), 0.3)
    found = vamp(glass, ridge=0.3, beta=2.0)
    assert (
        found.converged
        and abs(found.var.mean() / ground_state(glass, beta=2.0).var.mean() - 1) < 1e-10
    )
    assert np.ptp(found.var) < 1e-12


@pytest.mark.parametrize("ratio", [0.25, 2.0])
def test_wishart_couplings_have_the_r_transform_of_marchenko_and_pastur(ratio):
    """gamma = R(-x) = 1/(1 + ratio x), also with fewer samples than spins; deviations are of order 1/n."""
    n, ridge = 600, two_ridges(600)
    found = vamp(glass_of(wishart(n, int(n / ratio), rng=3), ridge), ridge=ridge)
    gamma = 1 / found.var - ridge
    assert found.converged and np.ptp(gamma) < 1e-9
    assert abs(gamma[0] * (1 + ratio * found.var.mean()) - 1) < 5 / n


@pytest.mark.parametrize("spectrum", ["two values", "projector"])
def test_variances_are_right_for_every_spectrum(spectrum):
    """On average over the spins of each ridge, to 1.5 % at n = 400; Wishart's formula is off by 10 %,
    the pair term has no fixed point."""
    n, ridge = 400, two_ridges(400)
    values = (
        np.where(np.arange(n) % 2, 1.9, 0.1)
        if spectrum == "two values"
        else np.where(np.arange(n) % 2, 2.0, 0.0)
    )
    glass = glass_of(rotated(values, 5), ridge)
    ratio = vamp(glass, ridge=ridge).var / ground_state(glass).var - 1
    assert abs(ratio[: n // 2].mean()) < 0.015 and abs(ratio[n // 2 :].mean()) < 0.015
    x = 1.0
    for _ in range(200):
        x = np.mean(
            1 / (ridge + 1 / (1 + values.var() * x))
        )  # Marchenko-Pastur with the same mean and variance
    wrong = 1 / (ridge + 1 / (1 + values.var() * x)) / ground_state(glass).var - 1
    assert np.abs([wrong[: n // 2].mean(), wrong[n // 2 :].mean()]).max() > 0.1
    with pytest.warns(ConvergenceWarning):
        amp(glass, damping=0.5)


def test_no_fixed_point_is_reported():
    """A = diag(lam - ridge) - J with a negative eigenvalue: the messages stop being Gaussian, and say so."""
    glass = glass_of(wishart(40, 20, rng=0), 0.05)
    with pytest.warns(ConvergenceWarning, match="vamp did not converge"):
        found = vamp(glass, ridge=glass.lam * 0.98)
    assert not found.converged and np.isfinite(found.mean).all()


def test_a_negative_weight_stops_it_at_once():
    """Precision of a Gaussian must be positive. This glass has no minimum, and without that rule the messages would
    settle on a saddle of the energy and call it converged."""
    glass = gaussian_glass(6, stiffness=0.517, field=1.0, rng=72)
    assert np.linalg.eigvalsh(glass.hessian)[0] < -0.7
    with pytest.warns(ConvergenceWarning, match="left the finite numbers after 0 sweeps"):
        found = vamp(glass, ridge=0.12)
    assert not found.converged and np.isfinite(found.mean).all()


def test_refusals():
    glass = SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1])
    with pytest.raises(
        ValueError, match=r"ridge must have shape \(2,\), got \(3,\); give a number"
    ):
        vamp(glass, ridge=[0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="ridge must be finite and >= 0"):
        vamp(glass, ridge=-0.1)
    with pytest.raises(TypeError, match="glass must be of type SpinGlass"):
        vamp("glass", ridge=0.1)
    with pytest.raises(ValueError, match="damping"), warnings.catch_warnings():
        vamp(glass, ridge=0.1, damping=1.0)
