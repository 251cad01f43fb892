"""The house style: one look for every figure, one colour for every kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import shortest_path

from spinlib._core import RNG, check_array, check_real, check_rng, check_type, need
from spinlib.factor_graph import FactorGraph

need("matplotlib", "spinlib.plotting")

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

# Okabe-Ito colours (safe for colour-blind readers), by meaning. The same meaning has the same colour in every chapter.
COLOR = {
    "exact": "#000000",  # closed form, linear algebra, enumeration
    "theory": "#0072B2",  # the right asymptotic theory: 1RSB, corrected AMP
    "wrong": "#D55E00",  # what fails: the replica-symmetric branch, eq. (153) as printed, a misprint
    "message": "#009E73",  # cavity, belief propagation, relaxed BP
    "simulation": "#CC79A7",  # Monte Carlo, sampling
    "training": "#E69F00",  # gradient descent, Adam
    "sample": "#56B4E9",  # sample-spin AMP, a second data set
    "reference": "#7F7F7F",  # paramagnet, annealed average, zero lines, published values
}

_STYLE = {
    "figure.figsize": (6.4, 3.6),
    "figure.dpi": 130,
    "savefig.dpi": 130,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.labelsize": 11,
    "axes.titlesize": 11,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "mathtext.fontset": "cm",
    "image.cmap": "RdBu_r",
    "axes.prop_cycle": mpl.cycler(
        color=[
            COLOR[k]
            for k in ("theory", "wrong", "message", "training", "simulation", "sample", "exact")
        ]
    ),
}


def style() -> AbstractContextManager:
    """The house style as a context: ``with style(): fig, ax = plt.subplots(); ...; plt.show()``.

    >>> import matplotlib as mpl
    >>> from spinlib.plotting import style
    >>> with style():
    ...     mpl.rcParams["figure.dpi"]
    130.0
    """
    return mpl.rc_context(_STYLE)


def weight_map(ax: Axes, W: ArrayLike, *, limit: float | None = None, title: str = "") -> AxesImage:
    """Draw a weight matrix W (rows, columns) on ``ax`` with zero white; returns the image for a colour bar.

    ``limit`` is the largest absolute value of the colour scale (default: that of W). ValueError for limit <= 0.
    """
    W = check_array("W", W, (None, None), hint="a weight map is a matrix")
    limit = np.abs(W).max() if limit is None else check_real("limit", limit, above=0)
    image = ax.imshow(W, vmin=-limit, vmax=limit, cmap="RdBu_r", interpolation="nearest")
    ax.set(title=title, xticks=[], yticks=[])
    return image


def factor_graph(
    ax: Axes,
    graph: FactorGraph,
    *,
    names: Sequence | None = None,
    factor_names: Sequence | None = None,
    colors: Sequence | None = None,
    rng: RNG = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a :class:`spinlib.factor_graph.FactorGraph` on ``ax``: a circle a variable, a square a factor.

    ``names`` and ``factor_names`` label the nodes (default: numbers, and nothing), ``colors`` fills the squares.
    Nodes are placed so that distances on the page resemble distances on the graph (stress majorisation from a
    random start ``rng``). Returns positions (n, 2) and (M, 2). ValueError for names or colors of another number.
    """
    check_type(
        "graph", graph, FactorGraph, "build one with factor_graph.ising, pspin_ising or FactorGraph"
    )
    n, scopes = len(graph.cards), [scope for scope, _ in graph.factors]
    total = n + len(scopes)
    for name, said, size in (
        ("names", names, n),
        ("factor_names", factor_names, len(scopes)),
        ("colors", colors, len(scopes)),
    ):
        if said is not None and (not hasattr(said, "__len__") or len(said) != size):
            raise ValueError(f"{name} must be a list of {size}, one a node, got {said!r}")
    joined = np.zeros((total, total))
    for a, scope in enumerate(scopes):
        joined[list(scope), n + a] = 1
    far = shortest_path(joined, directed=False)
    far[np.isinf(far)] = far[np.isfinite(far)].max() + 2.0
    place = check_rng(rng).standard_normal((total, 2))
    weight = 1 / np.where(far > 0, far, np.inf) ** 2
    inverse = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    for _ in range(400):
        between = np.linalg.norm(place[:, None] - place[None], axis=-1)
        pull = weight * far / np.where(between > 0, between, np.inf)
        place = inverse @ (np.diag(pull.sum(1)) - pull) @ place
    place = (
        place @ np.linalg.svd(place - place.mean(0))[2].T
    )  # the long direction lies across the page
    for a, scope in enumerate(scopes):
        for i in scope:
            ax.plot(*place[[i, n + a]].T, color=COLOR["reference"], lw=1.2, zorder=1)
    colors = [COLOR["theory"]] * len(scopes) if colors is None else colors
    ax.scatter(
        *place[:n].T, s=190, facecolor="white", edgecolor=COLOR["exact"], linewidth=1.3, zorder=2
    )
    ax.scatter(*place[n:].T, s=130, marker="s", c=colors, zorder=2)
    for spot, text in zip(place, [*(range(n) if names is None else names), *(factor_names or [])]):
        ax.text(*spot, text, ha="center", va="center", fontsize=8, zorder=3)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.1)
    return place[:n], place[n:]
