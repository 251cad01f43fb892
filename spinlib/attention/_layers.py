"""Tokens as rows: attention with many heads, the block of encoder and decoder."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from spinlib._core import RNG, check_flag, check_integer, check_rng
from spinlib.attention._checks import (
    TensorLike,
    bounded,
    draw,
    to_real,
    to_rows,
    to_tensor,
)
from spinlib.attention._tokens import rotary


def causal_mask(N: int) -> torch.Tensor:
    """The mask (N, N) of a decoder: True where row i may attend to column j, which is j <= i.

    Source: Thesis eq. (9), whose two cases are exchanged in print. Raises ValueError for N below 1.

    >>> from spinlib.attention import causal_mask
    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    N = check_integer("N", N, 1, hint="an empty prompt has no token that could attend")
    return torch.ones(N, N, dtype=torch.bool).tril()


def attention_weights(Q: TensorLike, K: TensorLike, mask: TensorLike | None = None) -> torch.Tensor:
    r"""The attention matrix :math:`\mathrm{softmax}(QK^\top/\sqrt{d_k})`: row i has the weights with which query i
    attends to the keys.

    ``Q`` is (..., n, d_k), ``K`` is (..., m, d_k), and ``mask`` holds booleans (..., n, m), True where query i may
    attend to key j. The result (..., n, m) has rows that sum to one, and is exactly 0 where the mask hides;
    multiplied by the values it is ``torch.nn.functional.scaled_dot_product_attention``. Source: Thesis eqs. (4), (5),
    (10b). Raises ValueError for shapes that do not match, for entries that are too large and for a query that may
    attend to no key, and TypeError for a mask that is not boolean.

    >>> from spinlib.attention import attention_weights
    >>> attention_weights([[0.0]], [[1.0], [2.0], [3.0]]).mul(3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    Q = to_rows("Q", Q)
    K = to_rows("K", K, Q.shape[-1], Q.dtype)
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~_to_mask(mask, scores.shape), -torch.inf)
    return torch.softmax(scores, -1)


def _to_mask(mask: TensorLike, shape: tuple[int, ...]) -> torch.Tensor:
    """A boolean mask for scores of this shape, which leaves every query a key."""
    found = to_tensor("mask", mask)
    if found.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True where a query may look, got {found.dtype}; for a mask of 0 and "
            "-inf give mask == 0"
        )
    if (
        found.shape[-2:] != shape[-2:]
        or found.ndim > len(shape)
        or any(a not in (1, b) for a, b in zip(found.shape[-3::-1], shape[-3::-1]))
    ):
        raise ValueError(
            f"mask must have shape {tuple(shape[-2:])}, with the leading axes of the scores {tuple(shape)} or "
            f"none, got {tuple(found.shape)}; a row for each query, a column for each key"
        )
    if not found.any(-1).all():
        raise ValueError(
            "the mask hides every key from a query, and its attention has nowhere to go; "
            "leave each row at least one True"
        )
    return found


class Attention(torch.nn.Module):
    r"""Multi-head attention :math:`\mathrm{Concat}(\mathrm{Attn}_1,\dots,\mathrm{Attn}_H)\,W_O`, tokens as rows.

    In ``attention(X, memory, mask)`` the tokens of ``X`` (..., n, D) give the queries and those of ``memory`` (...,
    m, D) the keys and values. Without a memory these come from X too (self-attention); with one it is
    cross-attention. ``mask`` (..., n, m) is common to the heads; ``rotate`` turns queries and keys by :func:`rotary`.
    The result has shape (..., n, D). The weights ``W_Q``, ``W_K``, ``W_V`` (H, D, D/H) and ``W_O`` (D, D) start as
    N(0, 1/D) drawn from ``rng``, in float64. Source: Thesis eqs. (3), (4), (10a)-(10c), (12a)-(12c). Raises
    ValueError for shapes that do not match and where heads does not divide D.

    >>> from spinlib.attention import Attention
    >>> tuple(Attention(2, 2, rng=0)([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).shape)
    (3, 2)
    """

    def __init__(self, D: int, heads: int, *, rng: RNG = None):
        super().__init__()
        D, heads = check_integer("D", D, 1), check_integer("heads", heads, 1)
        if D % heads:
            raise ValueError(
                f"heads must divide D, got D={D} and heads={heads}; each head has D/heads components: "
                f"take one of {[h for h in range(1, D + 1) if D % h == 0]}"
            )
        generator = check_rng(rng)
        self.W_Q, self.W_K, self.W_V = (draw(generator, heads, D, D // heads) for _ in range(3))
        self.W_O = draw(generator, D, D)

    def attention(
        self,
        X: TensorLike,
        memory: TensorLike | None = None,
        mask: TensorLike | None = None,
        *,
        rotate: bool = False,
    ) -> torch.Tensor:
        """The attention matrices (..., H, n, m), one for each head."""
        Q, K, _, seen = self._parts(X, memory, mask, rotate)
        return attention_weights(Q, K, seen)

    def forward(
        self,
        X: TensorLike,
        memory: TensorLike | None = None,
        mask: TensorLike | None = None,
        *,
        rotate: bool = False,
    ) -> torch.Tensor:
        """What the heads found, mixed: (..., n, D)."""
        Q, K, V, seen = self._parts(X, memory, mask, rotate)
        found = scaled_dot_product_attention(Q, K, V, attn_mask=seen)  # (..., H, n, D/H)
        return bounded("what attention found", found.transpose(-3, -2).flatten(-2) @ self.W_O)

    def _parts(
        self, X: TensorLike, memory: TensorLike | None, mask: TensorLike | None, rotate: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Queries of X, keys and values of the memory, (..., H, tokens, components); one mask for every head."""
        D, dtype = self.W_O.shape[1], self.W_O.dtype
        asks = to_rows("X", X, D, dtype)
        found = asks if memory is None else to_rows("memory", memory, D, dtype)
        Q, K, V = (
            part.unsqueeze(-3) @ W
            for part, W in ((asks, self.W_Q), (found, self.W_K), (found, self.W_V))
        )
        if check_flag("rotate", rotate):
            Q, K = rotary(Q), rotary(K)
        if mask is None:
            return Q, K, V, None
        seen = _to_mask(mask, (*asks.shape[:-1], found.shape[-2]))
        return Q, K, V, seen.unsqueeze(-3) if seen.ndim > 2 else seen


class Block(torch.nn.Module):
    r"""One block of an encoder, or with ``cross`` of a decoder: attention, feed-forward net, normalisations.

    Each part f (``own`` attention, ``cross`` attention to a memory, then the network :meth:`feed`) is added to the
    tokens and normalised: :math:`x\to\mathrm{LN}(f(x)+x)`, or :math:`x\to f(x)+x` without ``norm``. ``block(X,
    memory, mask)`` takes X (..., N, D) and returns this shape; ``mask`` and ``rotate`` are those of
    :class:`Attention`, for its own attention. With :func:`causal_mask` it is the block of a decoder, or of a
    decoder-only model. ``W_1`` (D, hidden) and ``W_2`` (hidden, D) start as N(0, 1/rows) drawn from ``rng``, ``b_1``
    and ``b_2`` as 0; ``gain`` and ``shift`` have a row for each normalisation and start as 1 and 0. Source: Thesis
    eqs. (1), (2), (6), (7), (10)-(13). Raises ValueError for shapes that do not match and for a memory without
    ``cross`` or the reverse.

    >>> from spinlib.attention import Block
    >>> tuple(Block(2, 1, 4, rng=0)([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]]).shape)
    (3, 2)
    """

    gain: torch.nn.Parameter
    shift: torch.nn.Parameter

    def __init__(
        self,
        D: int,
        heads: int,
        hidden: int,
        *,
        cross: bool = False,
        norm: bool = True,
        rng: RNG = None,
    ):
        super().__init__()
        generator, hidden = check_rng(rng), check_integer("hidden", hidden, 1)
        self.norm, norms = check_flag("norm", norm), 2 + check_flag("cross", cross)
        self.own = Attention(D, heads, rng=generator)
        self.cross = Attention(D, heads, rng=generator) if cross else None
        D = self.own.W_O.shape[1]
        self.W_1, self.W_2 = draw(generator, D, hidden), draw(generator, hidden, D)
        zeros = torch.zeros(norms, D, dtype=torch.float64)
        self.b_1 = torch.nn.Parameter(torch.zeros(hidden, dtype=torch.float64))
        self.b_2 = torch.nn.Parameter(zeros[0].clone())
        for name, start in (("gain", 1 + zeros), ("shift", zeros)):
            self.register_parameter(name, torch.nn.Parameter(start) if norm else None)

    @classmethod
    def load(cls, weights: Mapping[str, TensorLike]) -> "Block":
        """A block without ``cross`` from stored weights, named as its parameters; in their dtype, not to be trained.

        Without ``gain`` and ``shift`` it does not normalise.

        Raises ValueError for names or shapes that are not those of one block.
        """
        return restored(
            weights,
            lambda W: cls(len(W["b_2"]), len(W["W_Q"]), len(W["b_1"]), norm="gain" in W, rng=0),
            {},
        )

    def feed(self, Z: torch.Tensor) -> torch.Tensor:
        r"""The feed-forward net :math:`\mathrm{ReLU}(zW_1+b_1)\,W_2+b_2` on every row z; Thesis eq. (6)."""
        return torch.relu(Z @ self.W_1 + self.b_1) @ self.W_2 + self.b_2

    def forward(
        self,
        X: TensorLike,
        memory: TensorLike | None = None,
        mask: TensorLike | None = None,
        *,
        rotate: bool = False,
    ) -> torch.Tensor:
        """The tokens after the block, of the shape of X."""
        if (memory is None) != (self.cross is None):
            raise ValueError(
                "a block with cross=True needs a memory, and one without takes none; "
                f"got memory={'None' if memory is None else 'tokens'}"
            )
        tokens = to_rows("X", X, len(self.b_2), self.b_2.dtype)
        tokens = self._added(tokens, self.own(tokens, mask=mask, rotate=rotate), 0)
        if self.cross is not None:
            tokens = self._added(tokens, self.cross(tokens, memory), 1)
        return self._added(tokens, self.feed(tokens), -1)

    def _added(self, X: torch.Tensor, found: torch.Tensor, k: int) -> torch.Tensor:
        """The tokens with what a part found added, normalised for the k-th time if the block does so."""
        X = bounded("the tokens inside the block", found + X)
        return layer_norm(X, X.shape[-1:], self.gain[k], self.shift[k]) if self.norm else X


def restored(
    weights: Mapping[str, TensorLike],
    make: Callable[[dict[str, torch.Tensor]], torch.nn.Module],
    names: Mapping[str, str],
) -> Any:
    """The module that ``make`` builds from the sizes of stored weights, with these weights, not to be trained.

    A stored name becomes ``names[name]``, and the four matrices of a block's attention are those of its ``own``.
    """
    W = {name: to_real(name, value) for name, value in weights.items()}
    try:
        module = make(W).to(next(iter(W.values())).dtype)
        module.load_state_dict(
            {
                re.sub("W_([QKVO])$", r"own.W_\1", names.get(name, name)): value
                for name, value in W.items()
            }
        )
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        shapes = ", ".join(f"{name} {tuple(value.shape)}" for name, value in W.items())
        raise ValueError(f"these weights do not fit together, got {shapes}") from error
    return module.requires_grad_(False)
