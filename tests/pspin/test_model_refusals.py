"""What the spherical p-spin model at N = infinity refuses, and how; what its import costs."""

import math
import subprocess
import sys

import numpy as np
import pytest

from spinlib.pspin import PSpin


@pytest.mark.parametrize(
    ("p", "error"),
    [
        (2, ValueError),
        (1, ValueError),
        (-3, ValueError),
        (3.0, TypeError),
        ("3", TypeError),
        (True, TypeError),
        (float("nan"), TypeError),
    ],
)
def test_p_is_an_integer_from_3(p, error):
    with pytest.raises(error, match="p must be"):
        PSpin(p)


@pytest.mark.parametrize("T", [0, -1.0, float("nan"), float("inf")])
def test_temperature_is_positive(T):
    model = PSpin(3)
    for call in (
        model.solve,
        model.rs_overlaps,
        model.complexity,
        model.x_threshold,
        model.state_overlap,
        lambda T: model.free_energy(0.5, T),
        lambda T: model.rs_free_energy(0.5, T),
    ):
        with pytest.raises(ValueError, match="T must be finite and > 0"):
            call(T)
    with pytest.raises(TypeError, match="real number"):
        model.solve("cold")


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_x_and_q_are_in_their_intervals(bad):
    model = PSpin(3)
    with pytest.raises(ValueError, match="x must be"):
        model.free_energy(0.5, 0.5, x=bad)
    with pytest.raises(ValueError, match="x must be"):
        model.complexity(0.5, x=bad)
    with pytest.raises(ValueError, match="0 <= q < 1"):
        model.free_energy(bad, 0.5)
    with pytest.raises(ValueError, match="0 <= q < 1"):
        model.rs_free_energy([0.2, bad], 0.5)
    with pytest.raises(ValueError, match="0 <= q0 <= q"):
        model.free_energy(0.5, 0.5, q0=bad)


def test_q_of_one_and_q0_above_q_are_refused():
    with pytest.raises(ValueError, match="0 <= q < 1, got 1.0"):
        PSpin(3).free_energy([0.5, 1.0], 0.5)
    with pytest.raises(ValueError, match="0 <= q0 <= q, got 0.6"):
        PSpin(3).free_energy(0.5, 0.5, q0=0.6)
    with pytest.raises(TypeError, match="q must be an array of real numbers"):
        PSpin(3).free_energy("half", 0.5)


def test_complexity_names_its_range():
    model = PSpin(3)
    with pytest.raises(ValueError, match=r"x_th\(T\) <= x <= 1 and T <= T_d = 0\.6123724356"):
        model.complexity(0.7)
    with pytest.raises(ValueError, match=r"x_th = 0\.5653760415"):
        model.complexity(0.5, x=0.5)
    with pytest.raises(ValueError, match="there are no states"):
        model.x_threshold(0.7)
    with pytest.raises(
        ValueError, match=r"\[e_ground, e_threshold\] = \[-1\.17167477927, -1\.15470053838\]"
    ):
        model.complexity_at_energy(-1.15)
    with pytest.raises(ValueError, match="e must be"):
        model.complexity_at_energy([-1.16, float("nan")])


def test_arrays_broadcast_and_numbers_stay_numbers():
    model = PSpin(4)
    q = np.linspace(0, 0.9, 5)
    f = model.free_energy(q[:, None], 0.4, x=np.array([0.0, 0.5, 1.0]))
    assert f.shape == (5, 3) and f.dtype == np.float64
    assert f[2, 1] == pytest.approx(model.free_energy(q[2], 0.4, x=0.5), rel=1e-13)
    assert np.ndim(model.free_energy(0.3, 0.4)) == 0
    np.testing.assert_allclose(f[:, 2], f[0, 2], rtol=1e-13)  # at x = 1 q1 does not matter


def test_importing_spinlib_does_not_import_pspin():
    code = "import sys, spinlib; assert 'spinlib.pspin' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("q", ["0.5", [0.2, 0.5j], [[0.1], [0.1, 0.2]]])
def test_text_complex_and_ragged_overlaps_are_refused_rather_than_read(q):
    with pytest.raises(TypeError, match="q must be an array of real numbers"):
        PSpin(3).free_energy(q, 0.5)


@pytest.mark.parametrize("p", [3, 4, 10])
def test_temperatures_near_zero_are_answered_or_refused_in_words(p):
    model = PSpin(p)
    for T in (1e-300, 1e-200, 1e-150):
        for call in (model.complexity, model.state_overlap):
            with pytest.raises(
                ValueError, match="T must not be so small beside x.*complexity_at_energy"
            ):
                call(T)
        assert math.isfinite(model.free_energy(0.5, T)) and model.solve(T).energy == pytest.approx(
            model.e_ground
        )
    T = 1e-100  # states of the energy -1.16 or so, at x = T times a number: the limit is complexity_at_energy
    assert model.complexity(T, 1.5 * model.x_threshold(T)) == pytest.approx(
        model.complexity(1e-8, 1.5 * model.x_threshold(1e-8)), rel=1e-6
    )


def test_just_above_T_d_there_are_no_states():
    model = PSpin(3)
    assert model.x_threshold(model.T_d) == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="T must be <= T_d = .*no states to count"):
        model.x_threshold(1.001 * model.T_d)
