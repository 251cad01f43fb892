"""The five models of the chapter on other architectures, by the names that the thesis gives them."""
from __future__ import annotations

import torch

from spinlib._core import RNG
from spinlib.attention._models import LinearAttention
from spinlib.attention._softmax import SoftmaxAttention, TransformerBlock


def architecture(model: str, D: int, H: int = 32, heads: int = 10, *, rng: RNG = None) -> torch.nn.Module:
    """The model of that name with fresh weights: SLA, FLA, FLA_published, MHLA, SA or TF.

    SLA, FLA, MHLA, SA and TF are Thesis eqs. (163), (164), (170), (165) and (166) to (169). FLA_published has V = 1 and
    W = W_K^T W_Q, eq. (172), a second way to factor SLA (the name is historical; see the test of the published value).
    ValueError for another name, naming these.

    >>> from spinlib.attention import architecture
    >>> for name in ("SLA", "FLA", "MHLA", "SA", "TF"):
    ...     print(name, sum(p.numel() for p in architecture(name, 20).parameters()))
    SLA 441
    FLA 882
    MHLA 13230
    SA 1785
    TF 3182
    """
    makers = {
        "SLA": lambda: LinearAttention(D, rng=rng),
        "FLA": lambda: LinearAttention(D, value=True, rng=rng),
        "FLA_published": lambda: LinearAttention(D, factored=True, rng=rng),
        "MHLA": lambda: LinearAttention(D, value=True, heads=heads, output=True, rng=rng),
        "SA": lambda: SoftmaxAttention(D, H, rng=rng),
        "TF": lambda: TransformerBlock(D, H, rng=rng),
    }
    if model not in makers:
        raise ValueError(f"there is no architecture {model!r}; choose one of: {', '.join(makers)}")
    return makers[model]()
