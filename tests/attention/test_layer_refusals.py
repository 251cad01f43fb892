"""What the blocks of a transformer refuse, in words."""

import math

import numpy as np
import pytest
import torch

from blocks import D, H, normal, random_block
from spinlib.attention import (
    Attention,
    Block,
    attention_weights,
    causal_mask,
    embed,
    rotary,
    sinusoidal_positions,
)


def refused(kind, words, call):
    with pytest.raises(kind, match=words):
        call()


def test_sizes_that_do_not_fit_are_refused_in_words():
    X, own, block, decoder = (
        normal(0, 5, D),
        Attention(D, H, rng=0),
        random_block(0),
        random_block(0, cross=True),
    )
    refused(
        ValueError,
        r"heads must divide D, got D=12 and heads=5; .*\[1, 2, 3, 4, 6, 12\]",
        lambda: Attention(D, 5),
    )
    refused(ValueError, "heads must be at least 1", lambda: Attention(D, 0))
    refused(ValueError, "hidden must be at least 1", lambda: Block(D, H, 0))
    refused(TypeError, "norm must be True or False", lambda: Block(D, H, 2, norm="after"))
    refused(TypeError, "cross must be True or False", lambda: Block(D, H, 2, cross=1))
    refused(TypeError, "rotate must be True or False", lambda: own(X, rotate="no"))
    refused(ValueError, r"memory must have shape \(..., N, 12\)", lambda: own(X, X[:, :3]))
    refused(ValueError, r"K must have shape \(..., N, 12\)", lambda: attention_weights(X, X[:, :3]))
    refused(ValueError, "without takes none; got memory=tokens", lambda: block(X, X))
    refused(ValueError, "cross=True needs a memory.*got memory=None", lambda: decoder(X))


def test_masks_that_do_not_fit_are_refused_in_words():
    X, own = normal(0, 5, D), Attention(D, H, rng=0)
    wrong = r"mask must have shape \(5, 5\).*got "
    for part in (own, own.attention, random_block(0)):
        refused(ValueError, wrong + r"\(4, 4\)", lambda: part(X, mask=causal_mask(4)))
        refused(ValueError, wrong + r"\(1, 5, 5\)", lambda: part(X, mask=causal_mask(5)[None]))
        two, three = torch.stack([X, X]), causal_mask(5).expand(3, 5, 5)
        refused(ValueError, wrong + r"\(3, 5, 5\)", lambda: part(two, mask=three))
        refused(TypeError, "mask must be boolean", lambda: part(X, mask=np.zeros((5, 5))))
        refused(ValueError, "hides every key", lambda: part(X, mask=~causal_mask(5)))
    refused(ValueError, "hides every key", lambda: attention_weights(X, X, ~causal_mask(5)))
    refused(ValueError, "N must be at least 1", lambda: causal_mask(0))


def test_prompts_that_do_not_fit_are_refused_in_words():
    table, places = normal(0, 5, 4), sinusoidal_positions(3, 4)
    refused(ValueError, "an empty prompt", lambda: embed([], table))
    refused(
        ValueError,
        "the prompt has 4 words, but this model has 3 positions",
        lambda: embed([0] * 4, table, places),
    )
    refused(ValueError, r"words must be from 0 to 4, got 1 to 5", lambda: embed([1, 5], table))
    refused(ValueError, "got -1", lambda: embed([-1], table))
    refused(TypeError, "words must be integers", lambda: embed([0.5], table))
    refused(ValueError, r"table must have shape \(V, D\)", lambda: embed([0], table[0]))
    refused(
        ValueError,
        r"positions must have shape \(N_max, 4\)",
        lambda: embed([0], table, places[:, :3]),
    )
    refused(ValueError, "at least one token", lambda: random_block(0)(normal(0, 0, D)))


def test_positions_refuse_in_words():
    refused(ValueError, "D must be even, got 3", lambda: sinusoidal_positions(2, 3))
    refused(ValueError, "the last axis of X must be even, got 3", lambda: rotary(normal(0, 2, 3)))
    refused(
        ValueError,
        r"positions must have shape \(2,\) .*got \(3,\)",
        lambda: rotary(normal(0, 2, 4), [0, 1, 2]),
    )
    refused(
        ValueError, "base must be finite and >= 1e-75", lambda: sinusoidal_positions(2, 4, base=0)
    )
    refused(ValueError, "Q must be finite", lambda: attention_weights([[math.nan]], [[1.0]]))


@pytest.mark.parametrize("dtype, most", [(torch.float64, "1e\\+75"), (torch.float32, "4e\\+07")])
def test_numbers_that_cannot_be_multiplied_are_refused(dtype, most):
    """layer_norm of +-1e200 is 0, without a word; of a block none of its numbers may be so large."""
    block = random_block(0).to(dtype)
    words = f"must be at most {most} in size"
    X = torch.full((2, D), 1e30 if dtype == torch.float32 else 1e200, dtype=dtype)
    for call in (block, block.own, block.own.attention, rotary, lambda X: attention_weights(X, X)):
        refused(ValueError, words, lambda: call(X))
        assert torch.isfinite(
            call(X[:, :D].clone().fill_(float(most.replace("\\", "")) / 10))
        ).all()
    for name in ("W_O", "W_2"):
        spoiled = random_block(0).to(dtype)
        getattr(spoiled if name == "W_2" else spoiled.own, name).fill_(X[0, 0])
        ones = torch.ones(2, D, dtype=dtype)
        refused(ValueError, words, lambda: spoiled(ones))
    refused(ValueError, words, lambda: Block.load({"W_Q": X}))
    refused(ValueError, "X must be", lambda: block(torch.full((2, D), 1e76, dtype=torch.float64)))
