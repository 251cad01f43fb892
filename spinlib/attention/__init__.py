"""Attention: the blocks of a transformer, tokens as rows, and the models of Parts III and IV, tokens as columns.

Files that need torch are loaded when one of their names is first used: so this package imports without it.
``retrieve``, one softmax layer as a memory, is numpy.
"""

from importlib import import_module

from spinlib._core import need
from spinlib.attention._retrieve import retrieve

_FILES = ("_tokens", "_layers", "_models", "_in_context")  # all that need torch

__all__ = [
    "Attention",
    "Block",
    "InContextTransformer",
    "LinearAttention",
    "SoftmaxAttention",
    "architecture",
    "attention_weights",
    "causal_mask",
    "embed",
    "retrieve",
    "rotary",
    "sinusoidal_positions",
]


def __getattr__(name: str):  # of any type, so that mypy lets a class be called
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need("torch", f"spinlib.attention.{name}")
    files = (import_module(f"{__name__}.{file}") for file in _FILES)
    globals()[name] = found = next(getattr(file, name) for file in files if hasattr(file, name))
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
