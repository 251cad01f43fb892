"""The iteration loop and the input checks."""
import numpy as np
import pytest

from spinlib import ConvergenceWarning
from spinlib._core import check_array, check_damping, check_integer, check_real, iterate


def test_fixed_point_of_a_linear_map():
    M = np.array([[0.5, 0.2], [0.1, -0.4]])
    b = np.array([1.0, 2.0])
    found = iterate(lambda s: (M @ s[0] + b,), (np.zeros(2),), tol=1e-13)
    np.testing.assert_allclose(found.state[0], np.linalg.solve(np.eye(2) - M, b), rtol=1e-12)
    assert found.converged and found.n_iter == len(found.history) and found.residual == found.history[-1]


def test_damping_rescues_a_period_two_cycle():
    flip = lambda s: (1.0 - 1.05 * s[0],)  # eigenvalue -1.05: diverges without damping
    with pytest.warns(ConvergenceWarning, match="raise damping"):
        assert not iterate(flip, (np.array([0.3]),), max_iter=50).converged
    damped = iterate(flip, (np.array([0.3]),), damping=0.5)
    assert damped.converged and damped.state[0][0] == pytest.approx(1 / 2.05)


def test_residual_is_taken_before_damping():
    with pytest.warns(ConvergenceWarning, match="stopped at residual"):
        slow = iterate(lambda s: (0.0 * s[0] + 1.0,), (np.array([0.0]),), damping=0.999, tol=1e-2, max_iter=1)
    assert slow.residual == pytest.approx(1.0) and slow.state[0][0] == pytest.approx(0.001)


def test_divergence_keeps_the_last_finite_state():
    with pytest.warns(ConvergenceWarning, match="left the finite numbers"):
        found = iterate(lambda s: (s[0] ** 2,), (np.array([10.0]),), max_iter=100)
    assert np.isfinite(found.state[0]).all() and not found.converged and found.n_iter < 100


@pytest.mark.parametrize("value", [-0.1, 1.0, 2, np.nan])
def test_damping_outside_the_unit_interval(value):
    with pytest.raises(ValueError, match="weight of the OLD value"):
        check_damping(value)


@pytest.mark.parametrize(("value", "error"), [(3.0, TypeError), ("3", TypeError), (True, TypeError), (2, ValueError)])
def test_integers(value, error):
    with pytest.raises(error, match="p must be"):
        check_integer("p", value, 3)
    assert check_integer("p", np.int64(3), 3) == 3


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
def test_reals(value):
    with pytest.raises(ValueError, match="T must be finite and > 0"):
        check_real("T", value, above=0)
    with pytest.raises(TypeError, match="real number"):
        check_real("T", "warm", above=0)


def test_arrays():
    with pytest.raises(ValueError, match=r"shape \(any, 3\), got \(2, 2\)"):
        check_array("W", np.eye(2), (None, 3))
    with pytest.raises(ValueError, match="1 NaN or infinite"):
        check_array("h", [1.0, np.nan], (None,))
    with pytest.raises(TypeError, match="real numbers"):
        check_array("h", ["a"], (1,))
