"""A small softmax transformer that learns regression in context, every pair of a prompt a row."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from spinlib._core import RNG, check_integer, check_rng
from spinlib.attention._checks import TensorLike, draw, to_shape
from spinlib.attention._layers import Block, restored
from spinlib.attention._models import Model


class InContextTransformer(Model):
    """A small transformer that answers every question of a prompt from the pairs before it, in float32.

    ``model(pairs)`` takes pairs (P, n, D+1) = (x_t, y_t), one in each row, and returns answers (P, n), of which entry
    t is its estimate of label t from the pairs before t. Every x_t enters twice: as a question (x_t, 0, 1), which may
    attend to itself and to the pairs before it, and as a pair (x_t, y_t, 0), which may attend to itself and to the
    pairs before it. A layer has two parts, attention and a feed-forward network, each added to the tokens; there is
    no normalisation and there are no positions.

    ``embed`` (D+2, width) embeds a token, ``layers`` are :class:`Block`, and ``out`` (width,) reads off the answer.
    Weights start as N(0, 1/rows) drawn from ``rng``, those of what a block adds divided by the root of the number of
    layers, and ``out`` as 0, so that the first answers are all 0. Source: Garg et al. (2022), with questions beside
    pairs; the blocks are those of Thesis eqs. (3) to (6), (9). Raises ValueError for sizes below 1, for heads that do
    not divide the width and for pairs of another shape.

    >>> from spinlib.attention import InContextTransformer
    >>> InContextTransformer(2, rng=0)([[[1.0, 2.0, 0.5], [0.0, 1.0, 0.0]]]).tolist()
    [[0.0, 0.0]]
    """

    def __init__(
        self, D: int, width: int = 32, layers: int = 2, heads: int = 4, *, rng: RNG = None
    ):
        super().__init__()
        self.D = check_integer("D", D, 1, hint="it is the dimension of the inputs x")
        width, layers = check_integer("width", width, 1), check_integer("layers", layers, 1)
        generator = check_rng(rng)
        self.embed = draw(generator, self.D + 2, width)
        drawn = [Block(width, heads, 4 * width, norm=False, rng=generator) for _ in range(layers)]
        for block in drawn:
            block.own.W_O.data /= layers**0.5
            block.float().W_2.data /= layers**0.5
        self.layers = torch.nn.ModuleList(drawn)
        self.out = torch.nn.Parameter(torch.zeros(width))
        self.float()

    @classmethod
    def load(cls, weights: Mapping[str, TensorLike]) -> InContextTransformer:
        """The net of stored weights ``embed``, ``out``, and ``W_Q_k`` to ``b_2_k`` of block k; not to be trained.

        Raises ValueError for names or shapes that are not those of one net.
        """
        stems = {name: name.rpartition("_")[::2] for name in weights if "_" in name}
        return restored(
            weights,
            lambda W: cls(
                len(W["embed"]) - 2,
                len(W["out"]),
                len({k for _, k in stems.values()}),
                len(W["W_Q_0"]),
                rng=0,
            ),
            {name: f"layers.{k}.{stem}" for name, (stem, k) in stems.items()},
        )

    def summary(self, pairs: TensorLike) -> tuple[torch.Tensor]:
        """The pairs, checked once, as a tensor of the dtype of the model: what :meth:`readout` takes."""
        hint = "rows (x, y), the last one the question, whose label is not read"
        return (to_shape("pairs", pairs, ("P", "n", self.D + 1), self.dtype, hint),)

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
        for block in self.layers:
            X = block(X, mask=mask)
        return X[:, :n] @ self.out
