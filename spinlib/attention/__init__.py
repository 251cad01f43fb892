"""Attention, linear and softmax, read at one number: the label predicted for the query of a prompt."""
from spinlib._core import need

need("torch", "spinlib.attention")

from spinlib.attention._blocks import feed_forward, linear_attention, softmax_attention
from spinlib.attention._models import LinearAttention
from spinlib.attention._softmax import SoftmaxAttention, TransformerBlock

__all__ = [
    "LinearAttention",
    "SoftmaxAttention",
    "TransformerBlock",
    "linear_attention",
    "softmax_attention",
    "feed_forward",
]
