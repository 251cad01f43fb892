"""Attention with many heads and the layers of the encoder and the decoder, tokens as rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from spinlib._core import RNG, check_flag, check_integer, check_rng, check_type
from spinlib.attention._blocks import feed_forward
from spinlib.attention._checks import TensorLike, is_finite, to_real, to_rows, to_tensor
from spinlib.attention._tokens import layer_norm, rotary


def causal_mask(N: int) -> torch.Tensor:
    """The mask (N, N) of a decoder: True where row i may look at column j, which is j <= i.

    Source: Thesis eq. (9), whose two cases are exchanged in print. ValueError for N below 1.

    >>> from spinlib.attention import causal_mask
    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    N = check_integer("N", N, 1, hint="an empty prompt has no token that could attend")
    return torch.ones(N, N, dtype=torch.bool).tril()


def attention_weights(Q: TensorLike, K: TensorLike, mask: TensorLike | None = None) -> torch.Tensor:
    r"""The attention matrix :math:`\mathrm{softmax}(QK^\top/\sqrt{d_k})`: row i says how query i shares its attention
    among the keys.

    ``Q`` (..., n, d_k), ``K`` (..., m, d_k), ``mask`` booleans (..., n, m), True where query i may look at key j.
    Returns (..., n, m), rows summing to one, exactly 0 where the mask hides. Source: Thesis eqs. (4), (5), (10b).
    ValueError for shapes that do not match and for a query that may look nowhere, TypeError for a mask that is not
    boolean.

    >>> from spinlib.attention import attention_weights
    >>> attention_weights([[0.0]], [[1.0], [2.0], [3.0]]).mul(3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    Q = to_rows("Q", Q)
    K = to_rows("K", K).to(Q.dtype)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"queries and keys must have as many components, got Q {tuple(Q.shape)} and "
            f"K {tuple(K.shape)}; their dot product is the score"
        )
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if not is_finite(scores):
        raise ValueError(
            f"the scores left the finite numbers, with Q up to {Q.detach().abs().max().item():.3g} and K "
            f"up to {K.detach().abs().max().item():.3g}; scale them"
        )
    if mask is not None:
        mask = to_tensor("mask", mask)
        if mask.dtype != torch.bool:
            raise TypeError(
                f"mask must be boolean, True where a query may look, got {mask.dtype}; for a mask of 0 and "
                "-inf give mask == 0"
            )
        n, m = scores.shape[-2:]
        if mask.shape[-2:] != (n, m) or mask.ndim > scores.ndim:
            raise ValueError(
                f"mask must have shape {(n, m)}, with the leading axes of the scores "
                f"{tuple(scores.shape)} or none, got {tuple(mask.shape)}; a row for each of the {n} "
                f"queries, a column for each of the {m} keys"
            )
        if not mask.any(-1).all():
            raise ValueError(
                "the mask hides every key from a query, and its attention has nowhere to go; "
                "leave each row at least one True"
            )
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1)


def scaled_dot_product(
    Q: TensorLike, K: TensorLike, V: TensorLike, mask: TensorLike | None = None
) -> torch.Tensor:
    r"""Scaled dot-product attention :math:`\mathrm{softmax}(QK^\top/\sqrt{d_k})\,V`.

    ``Q`` (..., n, d_k), ``K`` (..., m, d_k), ``V`` (..., m, d_v), ``mask`` as in :func:`attention_weights`; returns
    (..., n, d_v). Source: Thesis eqs. (4), (10b). Raises what :func:`attention_weights` raises, and ValueError where
    keys and values differ in number.

    >>> from spinlib.attention import scaled_dot_product
    >>> scaled_dot_product([[0.0]], [[1.0], [2.0]], [[10.0], [20.0]]).tolist()     # no preference: the mean
    [[15.0]]
    """
    A = attention_weights(Q, K, mask)
    V = to_rows("V", V).to(A.dtype)
    if V.shape[-2] != A.shape[-1]:
        raise ValueError(f"each key needs its value, got {A.shape[-1]} keys and V {tuple(V.shape)}")
    return A @ V


@dataclass(frozen=True, eq=False)
class Heads:
    """The weights of an attention block with H heads, in float64 where they are drawn.

    ``W_Q`` (H, D, d_k), ``W_K`` (H, D, d_k), ``W_V`` (H, D, d_v), ``W_O`` (H d_v, D). Source: Thesis eqs. (3), (10c).
    ValueError for shapes that do not match.

    >>> from spinlib.attention import Heads
    >>> Heads.draw(8, 2, rng=0)
    Heads(H=2, D=8, d_k=4, d_v=4)
    """

    W_Q: torch.Tensor
    W_K: torch.Tensor
    W_V: torch.Tensor
    W_O: torch.Tensor

    def __post_init__(self):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            object.__setattr__(self, name, to_real(name, getattr(self, name)))
        Q, K, V, O = (tuple(W.shape) for W in (self.W_Q, self.W_K, self.W_V, self.W_O))
        if len(Q) != 3 or Q != K or len(V) != 3 or V[:2] != Q[:2] or O != (V[0] * V[2], Q[1]):
            raise ValueError(
                "heads need W_Q and W_K (H, D, d_k), W_V (H, D, d_v), W_O (H d_v, D), got "
                f"{Q}, {K}, {V}, {O}"
            )

    def __repr__(self) -> str:
        H, D, d_k = self.W_Q.shape
        return f"Heads(H={H}, D={D}, d_k={d_k}, d_v={self.W_V.shape[-1]})"

    @classmethod
    def draw(cls, D: int, heads: int, *, rng: RNG = None) -> Heads:
        """Random weights N(0, 1/D) with d_k = d_v = D / heads; ValueError where heads does not divide D."""
        D, H = check_integer("D", D, 1), check_integer("heads", heads, 1)
        if D % H:
            raise ValueError(
                f"heads must divide D, got D={D} and heads={H}; each head has D/heads components: "
                f"take one of {[h for h in range(1, D + 1) if D % h == 0]}"
            )
        rng = check_rng(rng)
        shapes = [(H, D, D // H)] * 3 + [(D, D)]
        return cls(*(torch.from_numpy(rng.standard_normal(shape) / D**0.5) for shape in shapes))

    def attention(
        self,
        X: TensorLike,
        memory: TensorLike | None = None,
        mask: TensorLike | None = None,
        *,
        rotate: bool = False,
    ) -> torch.Tensor:
        """The attention matrices (..., H, n, m) of :func:`multi_head`, one for each head."""
        return attention_weights(*self._ask(X, memory, rotate)[:2], self._masks(mask))

    def _ask(self, X, memory, rotate):
        """Queries of X, keys and values of the memory, each (..., H, tokens, components)."""
        X = to_rows("X", X).to(self.W_Q.dtype)
        memory = X if memory is None else to_rows("memory", memory).to(X.dtype)
        D = self.W_Q.shape[1]
        for name, tokens in (("X", X), ("memory", memory)):
            if tokens.shape[-1] != D:
                raise ValueError(
                    f"{name} must have shape (..., N, {D}), got {tuple(tokens.shape)}; these heads have "
                    f"D = {D}, one token a row"
                )
        Q, K, V = (
            part.unsqueeze(-3) @ W
            for part, W in ((X, self.W_Q), (memory, self.W_K), (memory, self.W_V))
        )
        return (rotary(Q), rotary(K), V) if check_flag("rotate", rotate) else (Q, K, V)

    @staticmethod
    def _masks(mask):
        """The same mask for every head."""
        if mask is None:
            return None
        mask = to_tensor("mask", mask)
        return mask.unsqueeze(-3) if mask.ndim > 2 else mask


def multi_head(
    X: TensorLike,
    heads: Heads,
    memory: TensorLike | None = None,
    mask: TensorLike | None = None,
    *,
    rotate: bool = False,
) -> torch.Tensor:
    r"""Multi-head attention :math:`\mathrm{Concat}(\mathrm{Attn}_1,\dots,\mathrm{Attn}_H)\,W_O`.

    ``X`` (..., n, D) asks, ``memory`` (..., m, D) answers; without a memory X asks itself (self-attention), with one it
    is cross-attention. ``mask`` (..., n, m) is common to the heads; ``rotate`` turns queries and keys by
    :func:`rotary`. Returns (..., n, D). Source: Thesis eqs. (3), (4), (10a)-(10c), (12a)-(12c). ValueError for shapes
    that do not match.

    >>> from spinlib.attention import Heads, multi_head
    >>> tuple(multi_head([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], Heads.draw(2, 2, rng=0)).shape)
    (3, 2)
    """
    check_type("heads", heads, Heads, "draw some with Heads.draw(D, heads)")
    Q, K, V = heads._ask(X, memory, rotate)
    found = scaled_dot_product(Q, K, V, heads._masks(mask))  # (..., H, n, d_v)
    return found.transpose(-3, -2).flatten(-2) @ heads.W_O


@dataclass(frozen=True, eq=False)
class Layer:
    """The weights of one layer: attention, feed-forward net, normalisations; with ``cross`` a layer of a decoder.

    ``own`` and ``cross`` are :class:`Heads`; ``W_1`` (D, d_f), ``b_1`` (d_f,), ``W_2`` (d_f, D), ``b_2`` (D,); ``gain``
    and ``shift`` (2, D), or (3, D) with ``cross``: one row for each normalisation, in the order of the data. Source:
    Thesis eqs. (1), (2), (6), (11), (13). ValueError for shapes that do not match.

    >>> from spinlib.attention import Layer
    >>> Layer.draw(8, 2, 32, rng=0)
    Layer(own=Heads(H=2, D=8, d_k=4, d_v=4), d_f=32)
    """

    own: Heads
    W_1: torch.Tensor
    b_1: torch.Tensor
    W_2: torch.Tensor
    b_2: torch.Tensor
    gain: torch.Tensor
    shift: torch.Tensor
    cross: Heads | None = None

    def __post_init__(self):
        check_type("own", self.own, Heads, "draw some with Heads.draw(D, heads)")
        for name in ("W_1", "b_1", "W_2", "b_2", "gain", "shift"):
            object.__setattr__(self, name, to_real(name, getattr(self, name)))
        D, norms = self.own.W_O.shape[1], 2
        if self.cross is not None:
            check_type("cross", self.cross, Heads, "draw some with Heads.draw(D, heads)")
            norms = 3
        hidden = self.b_1.shape[-1] if self.b_1.ndim else 0
        want = {
            "W_1": (D, hidden),
            "b_1": (hidden,),
            "W_2": (hidden, D),
            "b_2": (D,),
            "gain": (norms, D),
            "shift": (norms, D),
        }
        for name, shape in want.items():
            if tuple(getattr(self, name).shape) != shape:
                raise ValueError(
                    f"{name} must have shape {shape}, got {tuple(getattr(self, name).shape)}; D = {D} as "
                    f"in the heads, {hidden} hidden units as in b_1, {norms} normalisations"
                )
        if self.cross is not None and self.cross.W_O.shape[1] != D:
            raise ValueError(f"cross must have D = {D} as own, got {self.cross}")

    def __repr__(self) -> str:
        cross = "" if self.cross is None else f", cross={self.cross}"
        return f"Layer(own={self.own}, d_f={len(self.b_1)}{cross})"

    @classmethod
    def draw(
        cls, D: int, heads: int, hidden: int, *, cross: bool = False, rng: RNG = None
    ) -> Layer:
        """Random matrices N(0, 1/rows); biases and shifts 0, gains 1."""
        rng, hidden = check_rng(rng), check_integer("hidden", hidden, 1)
        own = Heads.draw(D, heads, rng=rng)
        other = Heads.draw(D, heads, rng=rng) if check_flag("cross", cross) else None
        W_1 = torch.from_numpy(rng.standard_normal((D, hidden)) / D**0.5)
        W_2 = torch.from_numpy(rng.standard_normal((hidden, D)) / hidden**0.5)
        zero, norms = torch.zeros(max(hidden, D), dtype=torch.float64), 2 + cross
        return cls(
            own,
            W_1,
            zero[:hidden],
            W_2,
            zero[:D],
            zero.new_ones(norms, D),
            zero.new_zeros(norms, D),
            other,
        )


def encoder_layer(
    X: TensorLike,
    layer: Layer,
    mask: TensorLike | None = None,
    *,
    rotate: bool = False,
    eps: float = 1e-5,
) -> torch.Tensor:
    r"""One layer without cross-attention: :math:`Z=\mathrm{LN}(\mathrm{MHA}(X)+X)`, then
    :math:`\mathrm{LN}(\mathrm{FNN}(Z)+Z)`.

    ``X`` (..., N, D); returns the same shape. With ``mask`` = :func:`causal_mask` it is the layer of a decoder-only
    model. ``eps`` is that of :func:`layer_norm`. Source: Thesis eqs. (1), (2), (11). ValueError for shapes that do not
    match and for a layer with cross-attention.

    >>> from spinlib.attention import Layer, encoder_layer
    >>> tuple(encoder_layer([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]], Layer.draw(2, 1, 4, rng=0)).shape)
    (3, 2)
    """
    check_type("layer", layer, Layer, "draw one with Layer.draw(D, heads, hidden)")
    if layer.cross is not None:
        raise ValueError(
            f"encoder_layer needs a layer without cross-attention, got {layer}; use decoder_layer"
        )
    X = to_rows("X", X).to(layer.W_1.dtype)
    Z = layer_norm(
        multi_head(X, layer.own, mask=mask, rotate=rotate) + X,
        layer.gain[0],
        layer.shift[0],
        eps=eps,
    )
    return layer_norm(_feed(Z, layer) + Z, layer.gain[1], layer.shift[1], eps=eps)


def decoder_layer(
    X: TensorLike, memory: TensorLike, layer: Layer, *, eps: float = 1e-5
) -> torch.Tensor:
    """One layer of the decoder: masked attention, cross-attention to the memory, feed-forward net, each with residual
    connection and normalisation.

    ``X`` (..., n, D) are the tokens written so far, ``memory`` (..., m, D) the output of the last layer of the encoder.
    Returns (..., n, D); row i depends on rows j <= i of X and on the whole memory. Source: Thesis eqs. (10)-(13), with
    the feed-forward net that is missing after (13). ValueError for shapes that do not match and for a layer without
    cross-attention.

    >>> from spinlib.attention import Layer, decoder_layer
    >>> layer = Layer.draw(2, 1, 4, cross=True, rng=0)
    >>> tuple(decoder_layer([[1.0, 2.0]], [[0.5, -1.0], [0.0, 1.0]], layer).shape)
    (1, 2)
    """
    check_type("layer", layer, Layer, "draw one with Layer.draw(D, heads, hidden, cross=True)")
    if layer.cross is None:
        raise ValueError(
            f"decoder_layer needs a layer with cross-attention, got {layer}; draw it with cross=True"
        )
    X = to_rows("X", X).to(layer.W_1.dtype)
    A = layer_norm(
        multi_head(X, layer.own, mask=causal_mask(X.shape[-2])) + X,
        layer.gain[0],
        layer.shift[0],
        eps=eps,
    )
    B = layer_norm(multi_head(A, layer.cross, memory) + A, layer.gain[1], layer.shift[1], eps=eps)
    return layer_norm(_feed(B, layer) + B, layer.gain[2], layer.shift[2], eps=eps)


def _feed(Z: torch.Tensor, layer: Layer) -> torch.Tensor:
    """The feed-forward net on rows."""
    return feed_forward(Z.mT, layer.W_1.mT, layer.b_1, layer.W_2.mT, layer.b_2).mT
