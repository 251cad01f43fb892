"""What the blocks of a transformer refuse, in words."""

import math

import numpy as np
import pytest
import torch

from blocks import D, H, normal, random_layer
from spinlib.attention import (
    Heads,
    Layer,
    attention_weights,
    causal_mask,
    decoder_layer,
    embed,
    encoder_layer,
    layer_norm,
    multi_head,
    output_probabilities,
    rms_norm,
    rotary,
    scaled_dot_product,
    sinusoidal_positions,
)


def refused(kind, words, call):
    with pytest.raises(kind, match=words):
        call()


def test_sizes_that_do_not_fit_are_refused_in_words():
    X, heads, layer, decoder = (
        normal(0, 5, D),
        Heads.draw(D, H),
        random_layer(0),
        random_layer(0, cross=True),
    )
    refused(
        ValueError,
        r"heads must divide D, got D=12 and heads=5; .*\[1, 2, 3, 4, 6, 12\]",
        lambda: Heads.draw(D, 5),
    )
    refused(ValueError, "heads must be at least 1", lambda: Heads.draw(D, 0))
    refused(ValueError, "hidden must be at least 1", lambda: Layer.draw(D, H, 0))
    refused(
        ValueError, r"memory must have shape \(..., N, 12\)", lambda: multi_head(X, heads, X[:, :3])
    )
    refused(ValueError, "as many components", lambda: attention_weights(X, X[:, :3]))
    refused(
        ValueError,
        r"each key needs its value, got 5 keys and V \(4, 12\)",
        lambda: scaled_dot_product(X, X, X[:4]),
    )
    refused(TypeError, r"Heads\.draw", lambda: multi_head(X, layer))
    refused(ValueError, "use decoder_layer", lambda: encoder_layer(X, decoder))
    refused(ValueError, "cross=True", lambda: decoder_layer(X, X, layer))
    refused(
        ValueError,
        r"W_2 must have shape \(20, 12\)",
        lambda: Layer(
            layer.own, layer.W_1, layer.b_1, layer.W_2[:3], layer.b_2, layer.gain, layer.shift
        ),
    )
    refused(
        ValueError,
        r"gain must have shape \(3, 12\)",
        lambda: Layer(
            layer.own,
            layer.W_1,
            layer.b_1,
            layer.W_2,
            layer.b_2,
            layer.gain,
            layer.shift,
            decoder.cross,
        ),
    )
    refused(
        ValueError,
        "cross must have D = 12",
        lambda: Layer(
            layer.own,
            layer.W_1,
            layer.b_1,
            layer.W_2,
            layer.b_2,
            decoder.gain,
            decoder.shift,
            Heads.draw(8, 2),
        ),
    )
    refused(ValueError, r"W must have shape \(12, V\)", lambda: output_probabilities(X, X, X[0]))


def test_masks_that_do_not_fit_are_refused_in_words():
    X, heads = normal(0, 5, D), Heads.draw(D, H)
    refused(
        ValueError,
        r"mask must have shape \(5, 5\).*got \(4, 4\)",
        lambda: multi_head(X, heads, mask=causal_mask(4)),
    )
    refused(
        ValueError,
        r"mask must have shape \(5, 5\).*got \(1, 1, 5, 5\)",
        lambda: multi_head(X, heads, mask=causal_mask(5)[None]),
    )
    refused(TypeError, "mask must be boolean", lambda: multi_head(X, heads, mask=np.zeros((5, 5))))
    refused(ValueError, "hides every key", lambda: multi_head(X, heads, mask=~causal_mask(5)))
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
    refused(
        ValueError, "at least one token", lambda: encoder_layer(normal(0, 0, D), random_layer(0))
    )


def test_positions_and_norms_refuse_in_words():
    refused(ValueError, "D must be even, got 3", lambda: sinusoidal_positions(2, 3))
    refused(ValueError, "the last axis of X must be even, got 3", lambda: rotary(normal(0, 2, 3)))
    refused(
        ValueError,
        r"positions must have shape \(2,\), got \(3,\)",
        lambda: rotary(normal(0, 2, 4), [0, 1, 2]),
    )
    refused(ValueError, "base must be finite and > 0", lambda: sinusoidal_positions(2, 4, base=0))
    refused(
        ValueError, "constant row cannot be normalised", lambda: layer_norm(torch.ones(2, 3), eps=0)
    )
    refused(
        ValueError, "row of zeros cannot be normalised", lambda: rms_norm(torch.zeros(2, 3), eps=0)
    )
    refused(
        ValueError,
        r"gain must be a number or have shape \(3,\), got \(2,\)",
        lambda: layer_norm(torch.ones(2, 3), [1.0, 2.0]),
    )
    refused(ValueError, "Q must be finite", lambda: attention_weights([[math.nan]], [[1.0]]))
    refused(
        ValueError,
        "scores left the finite numbers",
        lambda: attention_weights([[1e200]], [[1e200]]),
    )
