"""Attention: the blocks of a transformer, tokens as rows, and the models of Parts III and IV, tokens as columns."""
from spinlib._core import need

need("torch", "spinlib.attention")

from spinlib.attention._blocks import feed_forward, linear_attention, softmax_attention
from spinlib.attention._layers import (
    Heads,
    Layer,
    attention_weights,
    causal_mask,
    decoder_layer,
    encoder_layer,
    multi_head,
    scaled_dot_product,
)
from spinlib.attention._models import LinearAttention
from spinlib.attention._softmax import SoftmaxAttention, TransformerBlock
from spinlib.attention._tokens import (
    embed,
    layer_norm,
    output_probabilities,
    rms_norm,
    rotary,
    sinusoidal_positions,
)

__all__ = [
    "LinearAttention",
    "SoftmaxAttention",
    "TransformerBlock",
    "linear_attention",
    "softmax_attention",
    "feed_forward",
    "embed",
    "sinusoidal_positions",
    "rotary",
    "causal_mask",
    "attention_weights",
    "scaled_dot_product",
    "Heads",
    "multi_head",
    "layer_norm",
    "rms_norm",
    "Layer",
    "encoder_layer",
    "decoder_layer",
    "output_probabilities",
]
