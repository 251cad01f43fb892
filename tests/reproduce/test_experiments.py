"""The table of experiments: a file for each chapter that has one, no name twice; tables and pictures of results."""

import pathlib

import numpy as np
import pytest
from matplotlib.figure import Figure

from spinlib.reproduce import _experiments
from spinlib.reproduce._experiment import grid, lines

ROOT = pathlib.Path(__file__).parents[2]


def test_each_file_but_three_is_the_name_of_a_chapter():
    """`large` is of no chapter, `freezing` of sparse_weights, `optimal_weights` of three that share its figures."""
    chapters = {path.stem for path in (ROOT / "chapters").glob("*/*.ipynb")}
    files = {path.stem for path in pathlib.Path(_experiments.__file__).parent.glob("*.py")} - {
        "__init__"
    }
    assert files and files - {"large", "freezing", "optimal_weights"} <= chapters
    tables = [getattr(_experiments, name).EXPERIMENTS for name in files]
    assert sum(map(len, tables)) == len(
        _experiments.EXPERIMENTS
    )  # every file is there, no name twice


def test_a_grid_puts_every_result_in_its_place():
    points = [{"N": n, "run": k, "D": 3} for k in (1, 0) for n in (5, 7, 6)]
    results = [{"count": 10 * p["N"] + p["run"], "curve": np.arange(4) + p["N"]} for p in points]
    table = grid(points, results, "N", "run")
    assert table["N"].tolist() == [5, 6, 7] and table["run"].tolist() == [0, 1]
    assert (
        table["count"].tolist() == [[50, 51], [60, 61], [70, 71]]
        and table["count"].dtype.kind == "i"
    )
    assert table["curve"].shape == (3, 2, 4) and table["curve"][2, 1].tolist() == [7, 8, 9, 10]
    holes = grid(
        points[1:],
        [{**r, "last": 1.0} if p["N"] == 6 else r for p, r in zip(points[1:], results[1:])],
        "N",
        "run",
    )
    assert np.isnan(holes["count"][0, 1]) and np.isnan(holes["curve"][0, 1]).all()
    assert np.isnan(holes["last"]).tolist() == [[True, True], [False, False], [True, True]]
    with pytest.raises(ValueError, match="two points of the same N: name one parameter more"):
        grid(points, results, "N")


def test_lines_are_the_medians_of_what_is_behind_the_first_axis():
    figure = Figure()
    result = {
        "N": np.array([1, 2]),
        "error": np.array([[1.0, 2, 30], [np.nan, 5, 7]]),
        "exact": np.array([3.0, 4]),
    }
    draw = lines("N", {"error": "wrong: error", "exact": "exact: exact"}, ylabel="error")
    draw(figure, result, {"wrong": "red", "exact": "black"})
    (ax,) = figure.axes
    drawn = {line.get_label(): (line.get_color(), line.get_ydata().tolist()) for line in ax.lines}
    assert (
        drawn == {"error": ("red", [2.0, 6.0]), "exact": ("black", [3.0, 4.0])}
        and ax.get_ylabel() == "error"
    )


def test_a_drawing_shows_the_median_in_a_band_of_quartiles():
    """Of 0, 1, 4, 9, 16 the quartiles are 1, 4 and 9; runs that are NaN do not count."""
    values = np.array([[0.0, 16, 4, 1, 9], [100, np.nan, 104, 101, 109], [np.nan] * 5])
    figure = Figure()
    lines("x", {"values": "exact: words"})(figure, {"x": np.arange(3), "values": values}, {})
    (axes,) = figure.axes
    assert axes.lines[0].get_xydata().tolist() == [[0, 4], [1, 102.5]]
    band = axes.collections[0].get_paths()[0].vertices
    ends = [sorted({y for x, y in band if x == at}) for at in (0, 1)]
    assert ends == [[1, 9], [100.75, 105.25]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["words"]
