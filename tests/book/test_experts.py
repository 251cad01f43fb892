"""The lines that `make bench` holds spinlib against do what spinlib does: the same numbers."""

import warnings

import numpy as np
import pytest

import experts


def both(make):
    ours, expert, words = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fixed number of sweeps does not converge, on purpose
        assert words
        return ours(), expert()


@pytest.mark.slow
def test_they_compute_the_same():
    glass, (J, h, lam) = both(experts.couplings)
    for ours, expert in ((glass.J, J), (glass.h, h), (glass.lam, lam)):
        np.testing.assert_allclose(ours, expert, atol=1e-13)
    found, (mean, var) = both(experts.ground_state)
    np.testing.assert_allclose(found.mean, mean, atol=1e-11)
    np.testing.assert_allclose(found.var, var, rtol=1e-9)
    for make in (experts.amp, experts.sample_amp):
        found, (m, x) = both(make)
        np.testing.assert_allclose(found.mean, m.ravel(), atol=1e-9)
        np.testing.assert_allclose(found.var, x.ravel(), rtol=1e-9)
    found, (m, x) = both(experts.relaxed_bp)
    np.testing.assert_allclose(found.mean, np.diagonal(m), atol=1e-9)
    found, W = both(lambda: experts.conjugate_gradients(D=10, P=500))
    np.testing.assert_allclose(found.mean, W.ravel(), atol=1e-8)
    path, w = both(experts.training_on_averages)
    np.testing.assert_allclose(path[-1], w, atol=1e-10)
    history, losses = both(lambda: experts.training(steps=5))
    np.testing.assert_allclose(history.loss[:5], losses, rtol=1e-8)
    found, s = both(lambda: experts.tempering(n=8, sweeps=2))
    np.testing.assert_allclose(found.s, s, atol=1e-8)
    found, marginals = both(lambda: experts.belief_propagation(factors=20))
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-10)


def test_each_has_a_bound():
    assert all(callable(make) and bound in (1.3, 3.0) for make, bound in experts.EXPERTS.values())
