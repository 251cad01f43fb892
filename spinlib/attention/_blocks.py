"""The blocks of the models of Parts III and IV as pure functions, tokens as columns."""

from __future__ import annotations

import torch

from spinlib.attention._checks import TensorLike, answered, to_prompts, to_real


def linear_attention(X: TensorLike, W: TensorLike) -> torch.Tensor:
    r"""Prediction of simplified linear attention, the corner :math:`\hat y = Y_{D+1,N+1}` of :math:`Y = \frac1N
    XX^\top WX`.

    ``X`` (P, D+1, N+1) holds one prompt a row: N columns (x_i; y_i) and last the query (x; 0). ``W`` is (D+1, D+1), or
    (D+1, D) without its last column, which only meets the query's empty label slot and so changes nothing. Returns (P,)
    of the dtype of X. N is the number of examples, one less than the columns of X (the code published with the paper
    divides by N+1: its W is (N+1)/N times this one). Source: Thesis eqs. (121), (122) and (125), whose ``X_{D,i}`` is
    ``X_{D+1,i}``. ValueError for wrong shapes and where the prediction is beyond the largest number, TypeError for what
    is not numbers.

    >>> import numpy as np
    >>> from spinlib.attention import linear_attention
    >>> X = np.array([[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]])  # D = 1, N = 2: y = x, query 3
    >>> print(linear_attention(X, [[0.5], [0.0]]).item())   # (1*1 + 2*2) / 2 * 0.5 * 3
    3.75
    """
    X = to_prompts(X)
    W = to_real("W", W, X.dtype)
    rows = X.shape[1]
    if W.shape not in ((rows, rows), (rows, rows - 1)):
        raise ValueError(
            f"W must have shape {(rows, rows)} or {(rows, rows - 1)}, got {tuple(W.shape)}; "
            f"X has D+1 = {rows} rows, and W acts on its columns"
        )
    g, query = _summary(X, value=False)
    return answered((g * (query[:, : W.shape[1]] @ W.T)).sum(-1), X=X, W=W)


def softmax_attention(
    X: TensorLike, W_Q: TensorLike, W_K: TensorLike, W_V: TensorLike
) -> torch.Tensor:
    r"""Softmax attention :math:`Y = W_V X\,\mathrm{softmax}\big((W_KX)^\top W_QX/\sqrt D\big)`, every column of the
    softmax summing to one.

    ``X`` (P, D+1, N+1), ``W_Q`` and ``W_K`` (H, D+1), ``W_V`` (rows, D+1); returns Y (P, rows, N+1) of the dtype of X.
    Column j of Y mixes all tokens i with weights that depend on x_i^T W_K^T W_Q x_j. The scale is sqrt(D) as printed,
    whatever H is. Source: Thesis eqs. (119), (165), where the names of W_Q and W_K are exchanged: here, as in most
    texts, W_Q x_j asks. ValueError for shapes that do not match and where scores are beyond the largest number,
    TypeError for what is not numbers.

    >>> from spinlib.attention import softmax_attention
    >>> X = [[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]]              # D = 1, N = 2: y = x, query 3
    >>> zero, one = [[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> print(softmax_attention(X, zero, zero, one)[0, 1, 2].item())   # no preference: the mean of 1, 2 and 0
    1.0
    """
    X = to_prompts(X)
    W_Q, W_K, W_V = (
        to_real(name, W, X.dtype) for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V))
    )
    rows = X.shape[1]
    if W_Q.ndim != 2 or W_Q.shape != W_K.shape or W_Q.shape[1] != rows:
        raise ValueError(
            f"W_Q and W_K must both have shape (H, {rows}), got {tuple(W_Q.shape)} and "
            f"{tuple(W_K.shape)}; they act on the D+1 = {rows} rows of X"
        )
    if W_V.ndim != 2 or W_V.shape[1] != rows:
        raise ValueError(
            f"W_V must have shape (rows, {rows}), got {tuple(W_V.shape)}; "
            f"it acts on the D+1 = {rows} rows of X"
        )
    return answered(W_V @ _softmax_mix(X, X, W_Q, W_K), X=X, W_Q=W_Q, W_K=W_K)


def _softmax_mix(
    X: torch.Tensor, asking: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor
) -> torch.Tensor:
    """Tokens mixed by the softmax for the columns that ask: X (P, n, N+1), asking (P, n, m), returns (P, n, m)."""
    asks = W_K.T @ (W_Q @ asking) / (X.shape[1] - 1) ** 0.5  # (P, n, m), of the size of a token
    return X @ torch.softmax(X.mT @ asks, dim=1)  # columns sum to one


def feed_forward(
    Z: TensorLike, W_1: TensorLike, b_1: TensorLike, W_2: TensorLike, b_2: TensorLike
) -> torch.Tensor:
    r"""The feed-forward net :math:`W_2\,\mathrm{ReLU}(W_1z+b_1)+b_2` on every column z of Z.

    ``Z`` (..., D+1, columns), ``W_1`` (H, D+1), ``b_1`` (H,), ``W_2`` (rows, H), ``b_2`` (rows,); returns
    (..., rows, columns). Source: Thesis eqs. (6), (168), (169); tokens as rows, as in (6), are ``Z.mT``.
    Raises ValueError for shapes that do not match and for NaN or infinite entries, TypeError for what is not numbers.

    >>> from spinlib.attention import feed_forward
    >>> print(feed_forward([[3.0, -3.0]], [[1.0], [-1.0]], [0.0, 0.0], [[1.0, 1.0]], [0.5]).tolist())   # |z| + 1/2
    [[3.5, 3.5]]
    """
    Z = to_real("Z", Z)
    W_1, b_1, W_2, b_2 = (
        to_real(name, value, Z.dtype)
        for name, value in (("W_1", W_1), ("b_1", b_1), ("W_2", W_2), ("b_2", b_2))
    )
    if (
        Z.ndim < 2
        or W_1.ndim != 2
        or W_2.ndim != 2
        or W_1.shape[1] != Z.shape[-2]
        or W_2.shape[1] != W_1.shape[0]
        or b_1.shape != W_1.shape[:1]
        or b_2.shape != W_2.shape[:1]
    ):
        got = ", ".join(str(tuple(part.shape)) for part in (Z, W_1, b_1, W_2, b_2))
        raise ValueError(
            f"feed_forward needs Z (..., n, columns), W_1 (H, n), b_1 (H,), W_2 (rows, H), b_2 (rows,), "
            f"got {got}"
        )
    return _feed_forward(Z, W_1, b_1, W_2, b_2)


def _feed_forward(Z, W_1, b_1, W_2, b_2):
    return W_2 @ torch.relu(W_1 @ Z + b_1[:, None]) + b_2[:, None]


def _summary(X: torch.Tensor, value: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """X X^T / N, or only its last column, and the query column."""
    N = X.shape[2] - 1
    read = X.mT if value else X[:, -1, :, None]  # (P, N+1, D+1) or (P, N+1, 1)
    summary = X @ read / N
    return (summary if value else summary[..., 0]), X[
        :, :, -1
    ].contiguous()  # read at every step of training
