"""Attention: the blocks of a transformer, tokens as rows, and the models of Parts III and IV, tokens as columns.

The blocks are functions of torch tensors, and their files are loaded when one of their names is first used: so this
package imports without torch. ``retrieve``, one softmax layer as a memory, is numpy.
"""
from importlib import import_module

from spinlib._core import need
from spinlib.attention._retrieve import retrieve

_FILES = {
    "_blocks": ("feed_forward", "linear_attention", "softmax_attention"),
    "_in_context": ("InContextTransformer",),
    "_layers": ("Heads", "Layer", "attention_weights", "causal_mask", "decoder_layer", "encoder_layer", "multi_head",
                "scaled_dot_product"),
    "_models": ("LinearAttention",),
    "_softmax": ("SoftmaxAttention", "TransformerBlock", "architecture"),
    "_tokens": ("embed", "layer_norm", "output_probabilities", "rms_norm", "rotary", "sinusoidal_positions"),
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names}

__all__ = [
    "InContextTransformer", "LinearAttention", "SoftmaxAttention", "TransformerBlock", "architecture",
    "linear_attention", "softmax_attention", "feed_forward",
    "embed", "sinusoidal_positions", "retrieve", "rotary", "causal_mask", "attention_weights", "scaled_dot_product",
    "Heads", "multi_head",
    "layer_norm", "rms_norm", "Layer", "encoder_layer", "decoder_layer", "output_probabilities",
]


def __getattr__(name: str) -> object:
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need("torch", f"spinlib.attention.{name}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
