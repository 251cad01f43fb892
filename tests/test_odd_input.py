"""Input that numpy or torch would take, or refuse in words of their own: what the fuzz of odd types has found."""

from functools import partial

import numpy as np
import pytest
import torch

from spinlib import attention, icl, inference, plotting, pspin, random_matrix, reproduce, theory
from spinlib.factor_graph import FactorGraph
from spinlib.pspin.dynamics import quench
from spinlib.spin_glass import gaussian_glass

FEATURES = icl.LinearTask(2, 3).sample_features(12, rng=1)
GLASS = gaussian_glass(4, coupling=0.3, field=1.0, rng=2)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_the_square_of_a_small_integer_does_not_overflow(kind):
    """The check of ``block_moments`` did not reach its caller: -2419.8 for -34.8 at D = np.int8(127)."""
    for D in (12, 16):
        assert theory.shuffled_edge(kind(D), 50, 3000) == theory.shuffled_edge(D, 50, 3000)
        given = theory.shuffled_error(kind(D), 50, 3000, 0.1)
        assert given == theory.shuffled_error(D, 50, 3000, 0.1)


@pytest.mark.parametrize("tol", [np.uint8(30), np.int8(127), np.float16(0.25)])
def test_a_tolerance_of_any_type_is_its_number(tol):
    """Ten times np.uint8(30) is 44."""
    given, plain = (
        inference.ground_state_cg(FEATURES, ridge=0.5, tol=t) for t in (tol, float(tol))
    )
    assert given.converged and given.n_iter == plain.n_iter
    assert (given.mean == plain.mean).all()


@pytest.mark.parametrize(
    "span", [np.timedelta64(3, "s"), np.timedelta64(3, "ns"), np.timedelta64(3)]
)
def test_a_span_of_time_is_no_number(span):
    """numpy counts it among its signed integers."""
    for call in (theory.bayes_error, attention.causal_mask, random_matrix.mp_edges):
        with pytest.raises(
            TypeError, match="must be (an integer|a real number), got np.timedelta64"
        ):
            call(span, 3) if call is theory.bayes_error else call(span)
    with pytest.raises(
        TypeError, match="the scope of factor 0 must be an array of real .* timedelta64"
    ):
        FactorGraph((2, 2), [(np.array([0, 1], "m8[s]"), np.ones((2, 2)))])


def test_a_masked_number_is_refused():
    """The words of the refusal asked for the number behind the mask."""
    for call in (theory.bayes_error, attention.sinusoidal_positions):
        with pytest.raises(TypeError, match="must be an array without a mask"):
            call(np.ma.masked_array(3, mask=True), 4)


def test_a_mask_inside_lists_is_not_lost():
    row = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    for call, value in ((icl.linear_attention, [[row, row]]), (icl.in_context_ridge, [[row, row]])):
        with pytest.raises(TypeError, match="X must be an array without a mask"):
            call(X=value, **({"W": np.eye(2, 1)} if call is icl.linear_attention else {}))
    with pytest.raises(TypeError, match="pairs must be an array without a mask"):
        icl.pool_posterior([[row, row]], [[1.0]], 0.1)


@pytest.mark.parametrize("value", [np.longdouble("1e400"), -np.longdouble("1e400")])
def test_a_long_double_beyond_the_floats_is_refused_as_infinite(value):
    for call in (partial(attention.retrieve, [[1.0]]), lambda x: GLASS.energy([*x, 0, 0, 0])):
        with pytest.raises(ValueError, match="must be finite, got -?inf"):
            call(np.array([value]))


def test_a_sparse_tensor_is_refused():
    with pytest.raises(TypeError, match=r"Q must be a dense tensor.*pass Q.to_dense\(\)"):
        attention.attention_weights(torch.eye(2).to_sparse(), torch.eye(2))
    with pytest.raises(TypeError, match="X must be a dense tensor"):
        attention.rotary(torch.eye(2).to_sparse())


def test_weights_that_run_backwards_are_set():
    W = np.arange(6.0).reshape(3, 2)
    model = attention.LinearAttention(2, rng=0).set_weights(W[::-1])
    assert (model.weights() == W[::-1]).all()
    W[:] = 0  # the weights are a copy
    assert model.weights()[0].tolist() == [4.0, 5.0]


@pytest.mark.parametrize("name", ["SLA", "FLA", "FLA_published", "MHLA", "SA", "TF"])
def test_sizes_are_checked_also_where_a_model_has_none(name):
    for wrong, words in ((np.nan, "an integer"), ("3", "an integer"), (0, "at least 1")):
        for size in ("H", "heads"):
            with pytest.raises((TypeError, ValueError), match=f"{size} must be {words}"):
                attention.architecture(name, 2, **{size: wrong})


def test_a_temperature_beyond_all_numbers_is_refused():
    """At beta = 1e-310 the variances were inf, with a warning of numpy's."""
    for beta in (5e-324, 1e-310, 1e-76):
        for solve in (inference.amp, inference.relaxed_bp, inference.ground_state):
            with pytest.raises(ValueError, match="beta must be finite and > 0 and >= 1e-75"):
                solve(GLASS, beta=beta)
        with pytest.raises(ValueError, match="beta must be finite and > 0 and >= 1e-75"):
            inference.sample_amp(FEATURES, ridge=0.5, beta=beta)
    assert np.isfinite(inference.ground_state(GLASS, beta=1e-75).var).all()


def test_moments_beyond_the_largest_number_are_refused():
    with pytest.raises(ValueError, match="k must be so small .* below 1e308, got 2000"):
        random_matrix.mp_moment(2000, 0.5)
    with pytest.raises(ValueError, match="k must be so small .* below 1e308, got 5"):
        random_matrix.mp_moment(5, 0.5, 1e75)
    with pytest.raises(
        ValueError, match="first, second and label must be so small .* got 200, 0 and 0"
    ):
        theory.prompt_moment(2, 3, first=200)


def test_a_density_needs_a_sample_of_norms():
    with pytest.raises(
        ValueError, match=r"norms must have shape \(any, 2\), got \(0, 2\); no axis may be empty"
    ):
        theory.hessian_density([0.5], theory.prompt_teacher(2, 3), 9, norms=np.ones((0, 2)))


def test_a_quench_in_steps_too_small_is_refused():
    with pytest.raises(
        ValueError, match="t_max / step must be from 2 to 6000, got 1 / 4.94066e-324"
    ):
        quench(pspin.PSpin(3), t_max=1.0, step=5e-324)


def test_an_energy_whose_square_is_no_number_is_refused():
    for e in (-1e76, -1e300):
        with pytest.raises(ValueError, match="e must be at most e_threshold, and >= -1e75"):
            pspin.PSpin(3).complexity_at_energy(e)
    assert np.isfinite(pspin.PSpin(3).complexity_at_energy(-1e75))


def test_a_map_of_no_weights_is_refused():
    with pytest.raises(
        ValueError, match=r"W must have shape \(any, any\), got \(0, 2\); no axis may be empty"
    ):
        plotting.weight_map(None, np.ones((0, 2)))


@pytest.mark.parametrize("folder", [3, 0, {}, np.ones(2), ("a",)])
def test_what_is_no_folder_is_refused(folder):
    """0 and {} were read as no folder at all."""
    for call in (reproduce.load, reproduce.about):
        with pytest.raises(TypeError, match="folder must be of type str or PathLike"):
            call("amp_variances", folder)


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-100, 1e30, 1e75])
def test_a_pool_whose_powers_are_no_numbers_is_refused(scale):
    """At 1e40 numpy's squares were inf; at 1e-100 it divided 0 by 0."""
    tasks = np.array([[1.0, 0.5], [-0.25, 1.0]])
    with pytest.raises(ValueError, match="the largest of tasks and noise must be .* >= 1e-18"):
        theory.pool_errors(scale * tasks, 5, 30, 0.1)
    for edge in (1e-18, 1e18):
        assert np.isfinite(theory.pool_errors(edge * tasks, 5, 30, 0.1)).all()
