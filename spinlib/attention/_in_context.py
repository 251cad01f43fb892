"""A small softmax transformer that learns regression in context, every pair of a prompt a row."""

from __future__ import annotations

from math import sqrt

import torch

from spinlib._core import RNG, check_integer, check_rng
from spinlib.attention._checks import TensorLike, to_real
from spinlib.attention._layers import Heads, Layer, multi_head


class InContextTransformer(torch.nn.Module):
    """A small transformer that answers every question of a prompt from the pairs before it, in float32.

    ``model(pairs)`` takes pairs (P, n, D+1) = (x_t, y_t), one a row, and returns answers (P, n): entry t is its guess
    of label t from the pairs before t. Every x_t enters twice: as a question (x_t, 0, 1), which may look at itself and
    at the pairs before it, and as a pair (x_t, y_t, 0), which may look at itself and the pairs before. Two blocks a
    layer, attention and feed-forward net, each added to the tokens; no normalisation and no positions.

    ``embed`` (D+2, width) reads a token, ``layers`` are :class:`Layer`, ``out`` (width,) reads the answer. Weights
    start as N(0, 1/rows) drawn from ``rng``, what a block adds divided by the root of the number of layers, and ``out``
    as 0, so that its first answers are all 0. Source: Garg et al. (2022), with questions beside pairs; the blocks are
    those of Thesis eqs. (3) to (6), (9). ValueError for sizes below 1, for heads that do not divide the width and for
    pairs of another shape.

    >>> from spinlib.attention import InContextTransformer
    >>> model = InContextTransformer(2, rng=0)
    >>> print(model, model([[[1.0, 2.0, 0.5], [0.0, 1.0, 0.0]]]).tolist())
    InContextTransformer(D=2, width=32, layers=2) [[0.0, 0.0]]
    """

    def __init__(
        self, D: int, width: int = 32, layers: int = 2, heads: int = 4, *, rng: RNG = None
    ):
        super().__init__()
        self.D, width = (
            check_integer("D", D, 1, hint="it is the dimension of the inputs x"),
            check_integer("width", width, 1),
        )
        layers, rng = check_integer("layers", layers, 1), check_rng(rng)
        self.embed = self._weight(
            torch.from_numpy(rng.standard_normal((self.D + 2, width)) / sqrt(self.D + 2))
        )
        self.layers = tuple(
            self._layer(k, Layer.draw(width, heads, 4 * width, rng=rng), sqrt(layers))
            for k in range(layers)
        )
        self.out = self._weight(torch.zeros(width))

    @staticmethod
    def _weight(values: torch.Tensor) -> torch.nn.Parameter:
        return torch.nn.Parameter(values.float())

    def _layer(self, k: int, drawn: Layer, root: float) -> Layer:
        """Layer k whose matrices are parameters of this module; its normalisations are not used."""
        own = drawn.own
        trained = {
            "W_Q": own.W_Q,
            "W_K": own.W_K,
            "W_V": own.W_V,
            "W_O": own.W_O / root,
            "W_1": drawn.W_1,
            "b_1": drawn.b_1,
            "W_2": drawn.W_2.float() / root,
            "b_2": drawn.b_2,
        }
        trained = {name: self._weight(values) for name, values in trained.items()}
        for name, parameter in trained.items():
            self.register_parameter(f"{name}_{k}", parameter)
        heads = Heads(*(trained.pop(name) for name in ("W_Q", "W_K", "W_V", "W_O")))
        return Layer(heads, **trained, gain=drawn.gain, shift=drawn.shift)

    def extra_repr(self) -> str:
        """What torch prints of the model: its sizes."""
        return f"D={self.D}, width={len(self.out)}, layers={len(self.layers)}"

    def forward(self, pairs: TensorLike) -> torch.Tensor:
        """The answers (P, n) to pairs (P, n, D+1)."""
        return self.readout(*self.summary(pairs))

    def summary(self, pairs: TensorLike) -> tuple[torch.Tensor]:
        """The pairs, checked once, as a tensor of the dtype of the model: what :meth:`readout` takes."""
        pairs = to_real("pairs", pairs, self.embed.dtype)
        if pairs.ndim != 3 or 0 in pairs.shape or pairs.shape[2] != self.D + 1:
            raise ValueError(
                f"pairs must have shape (P, n, {self.D + 1}) with P, n >= 1, got {tuple(pairs.shape)}; "
                "rows (x, y), the last one the question, whose label is not read"
            )
        return (pairs,)

    def readout(self, pairs: torch.Tensor) -> torch.Tensor:
        """The answers (P, n) from the tensor of ``summary(pairs)``."""
        n, one = pairs.shape[1], torch.ones_like(pairs[:, :, :1])
        questions = torch.cat([pairs[:, :, :-1], 0 * one, one], 2)
        X = torch.cat([questions, torch.cat([pairs, 0 * one], 2)], 1) @ self.embed
        itself = torch.eye(n, dtype=torch.bool, device=pairs.device)
        before = torch.ones(n, n, dtype=torch.bool, device=pairs.device).tril(-1)
        mask = torch.cat(
            [torch.cat([itself, before], 1), torch.cat([itself & ~itself, before | itself], 1)]
        )
        for layer in self.layers:
            X = X + multi_head(X, layer.own, mask=mask)
            X = X + torch.relu(X @ layer.W_1 + layer.b_1) @ layer.W_2 + layer.b_2
        return X[:, :n] @ self.out
