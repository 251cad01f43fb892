"""The house style: one look for every figure, one colour for every kind of result."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import check_array, check_real, need

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

_STYLE: Any = {
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
    "axes.prop_cycle": mpl.cycler(  # type: ignore[attr-defined]
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

    ``limit`` is the largest absolute value of the colour scale (default: that of W). Raises ValueError for limit <=
    0.

    >>> from matplotlib.figure import Figure
    >>> from spinlib.plotting import weight_map
    >>> weight_map(Figure().subplots(), [[1, -2], [0, 0.5]]).get_clim()
    (-2.0, 2.0)
    """
    W = check_array("W", W, (None, None), hint="a weight map is a matrix")
    if not W.size:
        raise ValueError(f"W must have at least one entry, got shape {W.shape}")
    limit = np.abs(W).max() if limit is None else check_real("limit", limit, above=0)
    image = ax.imshow(W, vmin=-limit, vmax=limit, cmap="RdBu_r", interpolation="nearest")
    ax.set(title=title, xticks=[], yticks=[])
    return image
