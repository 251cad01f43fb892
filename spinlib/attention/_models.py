"""What the models of Parts III and IV compute, tokens as columns; the trainable models, and all of them by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike

from spinlib._core import RNG, check_array, check_flag, check_integer, check_rng
from spinlib.attention._checks import TensorLike, bounded, draw, to_prompts, to_shape


class Model(torch.nn.Module):
    """A trainable model: ``summary(X)`` checks and condenses what it is given, ``readout`` answers from that."""

    summary: Callable[..., tuple[torch.Tensor, ...]]
    readout: Callable[..., torch.Tensor]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights; ``model.float()`` makes it float32."""
        return next(self.parameters()).dtype

    def forward(self, X: TensorLike) -> torch.Tensor:
        """The answers: y_hat (P,) for prompts X (P, D+1, N+1)."""
        return bounded("the prediction", self.readout(*self.summary(X)))


class LinearAttention(Model):
    r"""Linear attention with trainable weights, :math:`\hat y=\sum_h[\frac1N V_h XX^\top W_h X]_{D+1,N+1}`, in float64.

    ``model(X)`` takes X (P, D+1, N+1) and returns y_hat (P,). Options: ``factored`` writes W = W_K^T W_Q and trains
    both (Thesis eq. (120); its names of W_Q and W_K are exchanged, which linear attention does not notice);
    ``value`` trains the value matrix V instead of V = 1; ``heads`` sums that many independent heads; ``output`` mixes
    the heads with a trained matrix W_O (D+1, heads (D+1)), Thesis eq. (170) (needs ``value``). W_O could be multiplied
    into the V_h and adds no function, but with a ridge on every parameter it changes where training ends.

    Every other matrix is (heads, D+1, D+1) as in the transformer, including what the prediction never sees: the last
    column of W meets the query's empty label slot, and of W_O, or of V without it, only the last row is read. The
    data exert no force on these entries; only a ridge moves them. ``weights()`` returns W without that column, as
    ``spinlib.icl`` uses it. All entries start as N(0, 1/columns) drawn from ``rng``. Source: Thesis eqs. (120),
    (121), (163), (164), (170), (171), (172). Raises ValueError for D or heads below 1, for output without value and
    for an X of another D.

    >>> from spinlib.attention import LinearAttention
    >>> model = LinearAttention(1, rng=0).set_weights([[0.5], [0.0]])
    >>> model([[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]]).tolist()
    [3.75]
    """

    def __init__(
        self,
        D: int,
        *,
        value: bool = False,
        factored: bool = False,
        heads: int = 1,
        output: bool = False,
        rng: RNG = None,
    ):
        super().__init__()
        self.D = check_integer("D", D, 1, hint="it is the dimension of the inputs x")
        self.heads = check_integer("heads", heads, 1)
        self.value, self.factored = check_flag("value", value), check_flag("factored", factored)
        self.output = check_flag("output", output)
        if self.output and not self.value:
            raise ValueError(
                "output=True needs value=True, got value=False; the output mixes heads with values"
            )
        rng, n = check_rng(rng), self.D + 1
        if self.factored:
            self.W_Q, self.W_K = (draw(rng, self.heads, n, n, axis=-1) for _ in range(2))
        else:
            self.W = draw(rng, self.heads, n, n, axis=-1)
        if self.value:
            self.W_V = draw(rng, self.heads, n, n, axis=-1)
        if self.output:
            self.W_O = draw(rng, n, self.heads * n, axis=-1)

    def summary(self, X: TensorLike) -> tuple[torch.Tensor, torch.Tensor]:
        """All that attention reads of X, without any weight: X X^T / N (its last column if V = 1) and the query.

        Shapes (P, D+1, D+1), or (P, D+1) when ``value`` is off, and (P, D+1). Training computes it once.
        """
        X = to_prompts(X, self.D, self.dtype)
        query = X[:, :, -1].contiguous()  # read at every step of training
        if self.value:
            return X @ X.mT / (X.shape[2] - 1), query
        return (X @ X[:, -1, :, None] / (X.shape[2] - 1))[..., 0], query

    def features(self, u: ArrayLike, query: ArrayLike) -> tuple[torch.Tensor, torch.Tensor]:
        """What :meth:`summary` returns of prompts of which only ``u`` (P, D+1) and ``query`` (P, D) are known.

        Raises ValueError for a model with values, which reads more of a prompt.
        """
        if self.value:
            raise ValueError(
                "features (u, query, y) suffice only for linear attention with value=False; "
                "give this model prompts with X, from LinearTask.sample"
            )
        hint = f"this model has D = {self.D}"
        read = to_shape("u", u, ("P", self.D + 1), self.dtype, hint)
        asks = to_shape("query", query, (len(read), self.D), self.dtype, hint)
        return read, torch.nn.functional.pad(asks, (0, 1))  # the query's label slot is empty

    def readout(self, summary: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        """y_hat (P,) from the two tensors of :meth:`summary`."""
        W = self.W_K.mT @ self.W_Q if self.factored else self.W  # (heads, D+1, D+1)
        if not self.value:
            return (summary * (query @ W.sum(0).T)).sum(-1)
        values = self.W_V[:, -1]  # (heads, D+1): of each head's values, the row that is read
        if self.output:
            values = (self.W_O[-1].view(self.heads, 1, -1) @ self.W_V)[:, 0]
        left = summary @ values.T  # (P, D+1, heads): X X^T V^T e_{D+1} / N
        right = torch.einsum("pm,hnm->pnh", query, W)  # (P, D+1, heads): W_h x
        return (left * right).sum((1, 2))

    def weights(self) -> np.ndarray:
        """W (D+1, D) as numpy: W_K^T W_Q where factored, summed over heads, without its idle last column.

        With ``value`` and several heads no single W exists: ValueError; read ``model.W`` (or W_Q, W_K) and
        ``model.W_V``.
        """
        if self.value and (self.heads > 1 or self.output):
            raise ValueError(
                "heads with values have no common W; read the parameters W (or W_Q, W_K) and W_V of the "
                "model"
            )
        W = self.W_K.mT @ self.W_Q if self.factored else self.W
        return W.detach().sum(0)[:, : self.D].double().numpy().copy()

    def set_weights(self, W: ArrayLike) -> LinearAttention:
        """Set W from a (D+1, D) array, with 0 in the idle last column; returns the model. Merged single head only."""
        if self.factored or self.heads > 1:
            raise ValueError(
                "set_weights needs one merged matrix, got factored or several heads; set the parameters "
                "of the model instead, for example model.W_Q.data[0] = ..."
            )
        W = check_array("W", W, (self.D + 1, self.D), hint="W acts on the D entries of the query")
        self.W.data[0] = torch.nn.functional.pad(torch.tensor(W.copy()), (0, 1))
        return self


class SoftmaxAttention(Model):
    r"""Softmax attention with trainable weights, :math:`\hat y = Y_{D+1,N+1}` of Thesis eq. (165), in float64.

    ``model(X)`` takes X (P, D+1, N+1) and returns y_hat (P,). ``H`` is the number of rows of W_Q and W_K (H, D+1);
    W_V is (D+1, D+1), and only its last row is used. Only the column of the query is computed, because training needs
    no more. All entries start as N(0, 1/(D+1)) drawn from ``rng``. Source: Thesis eq. (165), with its scale sqrt(D)
    and the usual names: W_Q acts on the token that asks. Raises ValueError for D or H below 1 and for an X of another
    D.

    >>> from spinlib.attention import SoftmaxAttention
    >>> model = SoftmaxAttention(1, 2, rng=0)
    >>> tuple(model([[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]]).shape)
    (1,)
    """

    def __init__(self, D: int, H: int, *, rng: RNG = None):
        super().__init__()
        self.D = check_integer("D", D, 1, hint="it is the dimension of the inputs x")
        self.H = check_integer("H", H, 1, hint="it is the number of components of queries and keys")
        rng = check_rng(rng)
        self.W_K, self.W_Q, self.W_V = (
            draw(rng, rows, self.D + 1, axis=-1) for rows in (self.H, self.H, self.D + 1)
        )
        self._more(rng)

    def _more(self, rng: np.random.Generator) -> None:
        """Further parameters of a larger model."""

    def summary(self, X: TensorLike) -> tuple[torch.Tensor]:
        """The prompts, checked once, as a tensor of the dtype of the model: what :meth:`readout` takes."""
        return (to_prompts(X, self.D, self.dtype),)

    def mix(self, X: torch.Tensor) -> torch.Tensor:
        """The tokens as the query mixes them, X softmax(...) at the last column, (P, D+1)."""
        asks = self.W_K.T @ (self.W_Q @ X[:, :, -1:]) / self.D**0.5  # of the size of a token
        return (X @ torch.softmax(X.mT @ asks, dim=1))[..., 0]  # columns sum to one

    def readout(self, X: torch.Tensor) -> torch.Tensor:
        """y_hat (P,) from the tensor of ``summary(X)``."""
        return self.mix(X) @ self.W_V[-1]


class TransformerBlock(SoftmaxAttention):
    r"""One block of a transformer, softmax attention and a feed-forward net with residual connections, in float64.

    ``model(X)`` takes X (P, D+1, N+1) and returns y_hat (P,), the corner of :math:`Y = Z +
    W_2\,\mathrm{ReLU}(W_1Z+b_1)+b_2` with :math:`Z = Y_{SA}(X) + X`. ``H`` is the number of rows of W_Q, W_K and of
    W_1 (H, D+1). There is no layer normalisation. Weights start as N(0, 1/columns) drawn from ``rng``, the biases as
    0. Source: Thesis eqs. (166) to (169). Raises ValueError for D or H below 1 and for an X of another D.

    >>> from spinlib.attention import architecture
    >>> model = architecture("TF", 20, 32, rng=0)
    >>> sum(p.numel() for p in model.parameters())
    3182
    """

    def _more(self, rng: np.random.Generator) -> None:
        n = self.D + 1
        self.W_1, self.W_2 = draw(rng, self.H, n, axis=-1), draw(rng, n, self.H, axis=-1)
        self.b_1 = torch.nn.Parameter(torch.zeros(self.H, dtype=torch.float64))
        self.b_2 = torch.nn.Parameter(torch.zeros(n, dtype=torch.float64))

    def readout(self, X: torch.Tensor) -> torch.Tensor:
        """y_hat (P,) from the tensor of ``summary(X)``; of the last layer only the last row is computed."""
        z = self.mix(X) @ self.W_V.T + X[:, :, -1]  # (P, D+1): attention and residual
        hidden = torch.relu(self.W_1 @ z.T + self.b_1[:, None])  # (H, P)
        return z[:, -1] + (self.W_2[-1:] @ hidden)[0] + self.b_2[-1]


def architecture(
    model: str, D: int, H: int = 32, heads: int = 10, *, rng: RNG = None
) -> torch.nn.Module:
    """The model of that name with fresh weights: SLA, FLA, FLA_published, MHLA, SA or TF.

    SLA, FLA, MHLA, SA and TF are Thesis eqs. (163), (164), (170), (165) and (166) to (169). FLA_published has V = 1
    and W = W_K^T W_Q, eq. (172), a second way to factor SLA (the name is historical; see the test of the published
    value). Raises ValueError for another name, naming these.

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
    if not isinstance(model, str) or model not in makers:
        raise ValueError(f"there is no architecture {model!r}; choose one of: {', '.join(makers)}")
    check_integer("H", H, 1), check_integer("heads", heads, 1)  # also where the model has none
    return makers[model]()
