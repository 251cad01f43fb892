"""Random tensors and layers for the tests of the blocks of a transformer."""

import numpy as np
import torch

from spinlib.attention import Layer

D, H = 12, 3


def normal(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def random_layer(seed, cross=False):
    """A layer whose biases, gains and shifts are not the ones it is born with."""
    start = Layer.draw(D, H, 20, cross=cross, rng=seed)
    parts = {
        name: getattr(start, name) + 0.3 * normal(seed + 100 + i, *getattr(start, name).shape)
        for i, name in enumerate(("b_1", "b_2", "gain", "shift"))
    }
    return Layer(
        start.own,
        start.W_1,
        parts["b_1"],
        start.W_2,
        parts["b_2"],
        parts["gain"],
        parts["shift"],
        start.cross,
    )
