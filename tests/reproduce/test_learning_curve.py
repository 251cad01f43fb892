"""The experiment on finite sizes: keys, the stored file, and what it shows."""

import numpy as np
import pytest

from spinlib.reproduce import about, load, run
from spinlib.reproduce._experiments.learning_curve import EXPERIMENTS

LEARNING_SIZES = EXPERIMENTS["learning_sizes"]


def test_keys_and_shapes_of_a_tiny_run():
    points = [{"D": 4, "samples": 3}, {"D": 4, "samples": 2}, {"D": 6, "samples": 2}]
    results = [
        LEARNING_SIZES.compute(rng=np.random.default_rng(k), **point)
        for k, point in enumerate(points)
    ]
    found = LEARNING_SIZES.collect(points, results)
    assert {name: len(value) for name, value in found.items()} == dict.fromkeys(
        ["D", "samples", "mean", "standard_error", "theory"], 2
    )
    assert found["samples"].tolist() == [5, 2]
    assert found["mean"][0] == np.concatenate([results[0]["error"], results[1]["error"]]).mean()


@pytest.mark.slow
def test_stored_file_holds_its_first_point_and_an_excess_that_falls_as_one_over_D():
    stored = load("learning_sizes")
    assert stored["D"].tolist() == [10, 20, 40, 80] and stored["samples"].tolist() == [
        400,
        300,
        80,
        16,
    ]
    points = LEARNING_SIZES.points(True)
    rng = LEARNING_SIZES.seeds(np.random.default_rng(0), points)[0]
    first = LEARNING_SIZES.compute(rng=rng, **points[0])  # all 400 samples of D = 10
    assert np.isclose(first["error"].mean(), stored["mean"][0], rtol=1e-6)
    times = stored["D"] * (stored["mean"] / stored["theory"] - 1)  # about 1.5 at the larger sizes
    bars = stored["D"] * stored["standard_error"] / stored["theory"]
    assert (np.abs(times[1:] - 1.4) < 4 * bars[1:]).all()
    assert about("learning_sizes")["full"]


@pytest.mark.slow
def test_quick_run_agrees_with_the_stored_one():
    quick, stored = run("learning_sizes", rng=5), load("learning_sizes")
    far = np.abs(quick["mean"] - stored["mean"][:3]) / np.hypot(
        quick["standard_error"], stored["standard_error"][:3]
    )
    assert (far < 5).all()


def test_standard_errors_are_those_of_a_sample():
    """Points of one size are put together, and the deviation is divided by n - 1."""
    collect = EXPERIMENTS["learning_sizes"].collect
    points = [{"D": D, "samples": 2} for D in (20, 10, 20)]
    errors = [np.array(pair) for pair in ([1.0, 2.0], [0.5, 0.9], [4.0, 7.0])]
    out = collect(points, [{"error": e, "theory": float(len(e))} for e in errors])
    assert out["D"].tolist() == [10, 20] and out["samples"].tolist() == [2, 4]
    assert out["mean"] == pytest.approx([0.7, 3.5])
    # 0.4 / 2 of a pair; squares of 2.5, 1.5, .5, 3.5 over 3 and over 4
    assert out["standard_error"] == pytest.approx([0.2, (21 / 12) ** 0.5])
