"""The house style is a context and leaves nothing behind; weight maps keep zero white."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")

import matplotlib.pyplot as plt

from spinlib.factor_graph import pspin_ising, tree_scopes
from spinlib.plotting import COLOR, factor_graph, style, weight_map


def test_style_is_undone():
    before = dict(matplotlib.rcParams)
    with style():
        assert matplotlib.rcParams["axes.grid"]
    assert dict(matplotlib.rcParams) == before


def test_colours_are_distinct():
    assert len(set(COLOR.values())) == len(COLOR)


def test_weight_map_is_symmetric_about_zero():
    fig, ax = plt.subplots()
    image = weight_map(ax, np.array([[1.0, -3.0]]))
    assert image.get_clim() == (-3.0, 3.0) == weight_map(ax, np.array([[-1.0, 3.0]])).get_clim()
    plt.close(fig)


def test_factor_graph_puts_neighbours_near():
    graph = pspin_ising(9, tree_scopes(4, 3, rng=0), 1.0)
    fig, ax = plt.subplots()
    spins, squares = factor_graph(ax, graph)
    near = [
        np.linalg.norm(spins[i] - squares[a])
        for a, (scope, _) in enumerate(graph.factors)
        for i in scope
    ]
    assert spins.shape == (9, 2) and squares.shape == (4, 2)
    assert 0.7 < min(near) and max(near) < 1.4  # an edge is one unit long
    assert len(ax.lines) == 12 and np.ptp(spins[:, 0]) >= np.ptp(spins[:, 1])
    plt.close(fig)


def test_factor_graph_draws_circles_squares_and_names_where_they_are():
    graph = pspin_ising(9, tree_scopes(4, 3, rng=0), 1.0)
    fig, ax = plt.subplots()
    spins, squares = factor_graph(ax, graph, factor_names="abcd")
    circles, boxes = ax.collections
    np.testing.assert_allclose(circles.get_offsets(), spins)
    np.testing.assert_allclose(boxes.get_offsets(), squares)
    assert matplotlib.colors.to_hex(circles.get_facecolor()[0]) == "#ffffff"
    assert matplotlib.colors.to_hex(circles.get_edgecolor()[0]) == COLOR["exact"].lower()
    assert matplotlib.colors.to_hex(boxes.get_facecolor()[0]) == COLOR["theory"].lower()
    # nodes hide the ends of the edges
    assert boxes.get_zorder() == circles.get_zorder() > ax.lines[0].get_zorder()
    assert [t.get_text() for t in ax.texts] == [*map(str, range(9)), *"abcd"]
    np.testing.assert_allclose(
        [t.get_position() for t in ax.texts], np.concatenate([spins, squares])
    )
    place = np.concatenate([spins, squares])
    spread = np.cov(place.T)
    assert (
        abs(spread[0, 1]) < 1e-8 * spread[0, 0] and spread[0, 0] > spread[1, 1]
    )  # the long direction lies across
    plt.close(fig)


def test_every_edge_is_drawn_from_its_spin_to_its_factor():
    graph = pspin_ising(9, tree_scopes(4, 3, rng=0), 1.0)
    fig, ax = plt.subplots()
    spins, squares = factor_graph(ax, graph)
    ends = [
        np.array([spins[i], squares[a]])
        for a, (scope, _) in enumerate(graph.factors)
        for i in scope
    ]
    np.testing.assert_allclose([line.get_xydata() for line in ax.lines], ends)
    np.testing.assert_array_equal(
        factor_graph(ax, graph, rng=0)[0], spins
    )  # the same picture every time
    plt.close(fig)


def test_parts_of_a_graph_that_do_not_meet_lie_apart():
    graph = pspin_ising(6, [[0, 1, 2], [3, 4, 5]], 1.0)
    fig, ax = plt.subplots()
    spins, _ = factor_graph(ax, graph)
    between = np.linalg.norm(spins[:3, None] - spins[3:], axis=-1)
    assert between.min() > 2 and between.mean() == pytest.approx(
        4, rel=0.2
    )  # the widest part, 2, and 2 more
    plt.close(fig)


def test_a_weight_map_has_no_ticks_and_no_grid():
    fig, ax = plt.subplots()
    with style():
        weight_map(ax, np.eye(3))
    fig.canvas.draw()
    assert not len(ax.get_xticks()) and not len(ax.get_yticks())
    assert not ax.get_xgridlines() and not ax.get_ygridlines()  # the style has a grid
    plt.close(fig)


@pytest.mark.parametrize(
    "call,error,words",
    [
        (
            lambda ax: factor_graph(ax, "graph"),
            TypeError,
            "graph must be of type FactorGraph, got str",
        ),
        (lambda ax: weight_map(ax, np.zeros(3)), ValueError, r"W must have shape \(any, any\)"),
        (lambda ax: weight_map(ax, [["a"]]), TypeError, "W must be an array of real numbers"),
        (lambda ax: weight_map(ax, np.eye(2), limit=0), ValueError, "limit must be finite and > 0"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    fig, ax = plt.subplots()
    with pytest.raises(error, match=words):
        call(ax)
    plt.close(fig)
