"""The house style is a context and leaves nothing behind; weight maps keep zero white."""
import matplotlib
import numpy as np

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402

from spinlib.plotting import COLOR, style, weight_map  # noqa: E402


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
