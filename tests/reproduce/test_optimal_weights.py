"""Figs. 7 to 9: keys and shapes, spectra, the inverse Wishart moments, trained weights, messages against the glass."""

import numpy as np
import pytest

from spinlib.icl import Features, LinearTask, population_error, to_spin_glass
from spinlib.random_matrix import mp_edges, mp_moment
from spinlib.reproduce import _run, run
from spinlib.reproduce._experiments.optimal_weights import (
    EXPERIMENTS,
    _compute7,
    _compute8,
    _compute9,
    mean_distance,
)
from spinlib.spin_glass import SpinGlass
from stats import z_score

FIG7 = EXPERIMENTS["fig7"]
FIG8 = EXPERIMENTS["fig8"]
FIG9 = EXPERIMENTS["fig9"]


def tiny(experiment, keep, **smaller):
    """Arrays of the points number ``keep`` of the quick plan, made smaller."""
    points = [{**experiment.points(False)[k], **smaller} for k in keep]
    results = [experiment.compute(rng=np.random.default_rng(k), **p) for k, p in zip(keep, points)]
    return experiment.collect(points, results)


# --- fig7 ---------------------------------------------------------------------------------------------------------


def test_fig7_spectra_have_the_moments_and_edges_of_the_law():
    arrays = tiny(FIG7, [0, 2, 3], matrices=4)
    assert sorted(arrays) == ["N", "eigenvalues_100", "eigenvalues_1000", "eigenvalues_500"]
    for N in arrays["N"]:
        values = arrays[f"eigenvalues_{N}"]
        assert values.shape == (4, 100) and values.dtype == np.float32
        low, high = mp_edges(100 / N)
        assert values.min() > 0.85 * low - 1e-6 and values.max() < 1.1 * high
        # E tr C^2 / D = 1 + (D + 1) / N at every size; the limit is 1 + D / N
        assert values.astype(float).mean() == pytest.approx(1, abs=0.01)
        assert (values.astype(float) ** 2).mean() == pytest.approx(mp_moment(2, 101 / N), rel=0.03)


def test_fig7_full_is_that_of_the_figure():
    assert {p["matrices"] for p in FIG7.points(True)} == {10_000} and FIG7.points(True)[0][
        "D"
    ] == 100


# --- fig8 ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("D,N", [(10, 50), (3, 12), (1, 9)])
def test_the_mean_distance_is_the_inverse_wishart_moment(D, N):
    found = _compute8(D, N, 20_000 // D, 0, rng=np.random.default_rng(1))["distance"]
    assert abs(z_score(found, mean_distance(D, N))) < 4
    assert abs(z_score(found, mean_distance(D, N + 1))) > 3  # the comparison can fail


def test_one_number_by_hand():
    """D = 1: C0 is chi-square_N / N, so E (1/C0 - 1)^2 = N^2 / ((N-2)(N-4)) - 2N / (N-2) + 1."""
    for N in (6, 10, 50):
        assert mean_distance(1, N) == pytest.approx(
            N**2 / ((N - 2) * (N - 4)) - 2 * N / (N - 2) + 1, rel=1e-12
        )


@pytest.mark.slow
def test_fig8_training_approaches_the_exact_solution():
    arrays = tiny(FIG8, [0, 6, 7])
    assert (
        arrays["distance"].shape == (100,)
        and arrays["curve"].shape == (2, 101)
        and arrays["epochs"][-1] == 1000
    )
    assert arrays["mean_exact"] == pytest.approx(0.0558, abs=5e-5)
    off = np.abs(arrays["curve"][:, -1] / arrays["curve_exact"] - 1)
    assert (
        off.max() < 0.25 and (arrays["curve"][:, 0] > 0.15).all()
    )  # 1000 epochs are nearly enough


# --- fig9 ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fig9_shapes_training_and_messages():
    arrays = tiny(FIG9, [0, 1, 2, 3, 4, 5, 6], steps=600)
    assert all(
        arrays[k].shape == (11, 11)
        for k in ("W_few", "W_many", "start_few", "start_many", "mean", "var")
    )
    assert arrays["error_few"].shape == arrays["steps"].shape and arrays["diagonal"].shape == (5,)
    np.testing.assert_array_equal(
        arrays["W_many"][:, 10], arrays["start_many"][:, 10]
    )  # the idle column stays
    assert arrays["error_few"][-1] > 0.8 > 0.2 > arrays["error_many"][-1]
    assert arrays["error_many"][-1] == pytest.approx(
        population_error(arrays["W_many"][:, :10], 100), rel=0.1
    )
    assert arrays["diagonal"][0] == pytest.approx(np.diagonal(arrays["mean"])[:10].mean())
    # published, one draw: .8576; one draw has sd .007, and the mean of 20 other draws was .850
    assert arrays["diagonal"].mean() == pytest.approx(0.850, abs=4 * 0.007 / 5**0.5)
    assert 0.002 < arrays["diagonal"].std(ddof=1) < 0.02
    np.testing.assert_allclose(arrays["var"][:, 10], 1.0, rtol=1e-12)


def test_fig9_messages_solve_the_equation_without_the_reaction_term():
    """(diag(lam) - R - J) m = h with R_i = beta sum_j J_ij^2 v_j, and v_i = 1 / (beta (lam_i - R_i))."""
    found = _compute9(4, 30, 800, "messages", 0, rng=np.random.default_rng(3))
    data = LinearTask(4, 30).sample_features(800, rng=np.random.default_rng(3))
    glass = to_spin_glass(Features(data.u, data.query, data.y), 0.01)
    var = found["var"][:, :4].ravel()
    R = 100 * (glass.J**2) @ var
    np.testing.assert_allclose(var, 1 / (100 * (glass.lam - R)), rtol=1e-8)
    biased = np.linalg.solve(SpinGlass(glass.J, glass.h, glass.lam - R).hessian, glass.h)
    np.testing.assert_allclose(found["mean"][:, :4].ravel(), biased, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_fig9_training_on_few_prompts_ends_on_them():
    found = _compute9(4, 30, 3, "training", 1500, rng=np.random.default_rng(5))
    data = LinearTask(4, 30).sample_features(3, rng=np.random.default_rng(5))
    answer = ((data.u @ found["W"][:, :4]) * data.query).sum(1)
    np.testing.assert_allclose(answer, data.y, atol=1e-3)  # 3 equations, 20 unknowns


# --- all three ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_they_are_in_the_table_and_described():
    assert "inverse Wishart" in _run.describe("fig8") and "reaction term" in _run.describe("fig9")
    assert run("fig7", rng=1)["eigenvalues_100"].shape == (20, 100)
    assert _compute7(5, 7, 2, rng=np.random.default_rng(0))["eigenvalues"].shape == (2, 5)


@pytest.mark.slow
@pytest.mark.parametrize("experiment,keep", [(FIG7, [0]), (FIG8, [0, 6]), (FIG9, [0, 1, 2])])
def test_the_plain_pictures_can_be_drawn(experiment, keep):
    figure_module = pytest.importorskip("matplotlib.figure")
    from spinlib.plotting import COLOR

    smaller = {7: {"matrices": 2}, 8: {}, 9: {"steps": 50}}[{FIG7: 7, FIG8: 8, FIG9: 9}[experiment]]
    figure = figure_module.Figure()
    experiment.draw(figure, tiny(experiment, keep, **smaller), COLOR)
    assert figure.axes
