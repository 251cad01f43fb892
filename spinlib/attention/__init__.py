"""Attention: the blocks of a transformer, tokens as rows, and the models of Parts III and IV, tokens as columns.

The blocks are functions of torch tensors, and their files are loaded when one of their names is first used: so this
package imports without torch. ``retrieve``, one softmax layer as a memory, is numpy.
"""

from importlib import import_module

from spinlib._core import need
from spinlib.attention._retrieve import retrieve

_FILES = (
    "_blocks",
    "_tokens",
    "_layers",
    "_models",
    "_softmax",
    "_in_context",
)  # all that need torch

__all__ = [
    "InContextTransformer",
    "LinearAttention",
    "SoftmaxAttention",
    "TransformerBlock",
    "architecture",
    "linear_attention",
    "softmax_attention",
    "feed_forward",
    "embed",
    "sinusoidal_positions",
    "retrieve",
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


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need("torch", f"spinlib.attention.{name}")
    files = (import_module(f"{__name__}.{file}") for file in _FILES)
    globals()[name] = found = next(getattr(file, name) for file in files if hasattr(file, name))
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
