"""Random tensors and blocks for the tests of attention."""

import numpy as np
import torch

from spinlib.attention import Block

D, H = 12, 3


def normal(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def random_block(seed, cross=False, norm=True):
    """A block whose biases, gains and shifts are not the ones it is born with; not to be trained."""
    block = Block(D, H, 20, cross=cross, norm=norm, rng=seed).requires_grad_(False)
    for i, name in enumerate(("b_1", "b_2", "gain", "shift")):
        part = getattr(block, name)
        part += 0.3 * normal(seed + 100 + i, *part.shape)
    return block
