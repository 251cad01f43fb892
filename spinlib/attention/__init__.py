"""Linear attention, read at one number: the label that the transformer predicts for the query of its prompt."""
from spinlib._core import need

need("torch", "spinlib.attention")

from spinlib.attention._blocks import linear_attention
from spinlib.attention._models import LinearAttention

__all__ = ["LinearAttention", "linear_attention"]
