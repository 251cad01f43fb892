"""The house style is a context and leaves nothing behind; weight maps keep zero white."""
import matplotlib
import numpy as np

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402

from spinlib.factor_graph import pspin_ising, tree_scopes  # noqa: E402
from spinlib.plotting import COLOR, factor_graph, style, weight_map  # noqa: E402


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
    assert image.get_clim() == (-3.0, 3.0)
    plt.close(fig)


def test_factor_graph_puts_neighbours_near():
    graph = pspin_ising(9, tree_scopes(4, 3, rng=0), 1.0)
    fig, ax = plt.subplots()
    spins, squares = factor_graph(ax, graph)
    near = [np.linalg.norm(spins[i] - squares[a]) for a, (scope, _) in enumerate(graph.factors) for i in scope]
    assert spins.shape == (9, 2) and squares.shape == (4, 2)
    assert 0.7 < min(near) and max(near) < 1.4          # an edge is one unit long
    assert len(ax.lines) == 12 and np.ptp(spins[:, 0]) >= np.ptp(spins[:, 1])
    plt.close(fig)
