"""The blocks as pure functions of tensors, with their checks of input."""
from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

TensorLike = ArrayLike | torch.Tensor


def linear_attention(X: TensorLike, W: TensorLike) -> torch.Tensor:
    r"""Prediction of simplified linear attention, the corner :math:`\hat y = Y_{D+1,N+1}` of :math:`Y = \frac1N
    XX^\top WX`.

    ``X`` (P, D+1, N+1) holds one prompt a row: N columns (x_i; y_i) and last the query (x; 0). ``W`` is
    (D+1, D+1), or (D+1, D) without its last column, which only meets the query's empty label slot and so changes
    nothing. Returns (P,) of the dtype of X. N is the number of examples, one less than the columns of X
    (the code published with the paper divides by N+1: its W is (N+1)/N times this one).

    Source: Thesis eqs. (121), (122) and (125), whose ``X_{D,i}`` is ``X_{D+1,i}``.
    Raises ValueError for wrong shapes and where the prediction is beyond the largest number, TypeError for what is not
    numbers.

    >>> import numpy as np
    >>> from spinlib.attention import linear_attention
    >>> X = np.array([[[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]]])  # D = 1, N = 2: y = x, query 3
    >>> print(linear_attention(X, [[0.5], [0.0]]).item())   # (1*1 + 2*2) / 2 * 0.5 * 3
    3.75
    """
    X = _prompts(X)
    W = _tensor("W", W).to(X.dtype)
    rows = X.shape[1]
    if W.shape not in ((rows, rows), (rows, rows - 1)):
        raise ValueError(f"W must have shape {(rows, rows)} or {(rows, rows - 1)}, got {tuple(W.shape)}; "
                         f"X has D+1 = {rows} rows, and W acts on its columns")
    _finite("W", W)
    g, query = _summary(X, value=False)
    found = (g * (query[:, :W.shape[1]] @ W.T)).sum(-1)
    if not torch.isfinite(found).all():
        raise ValueError(f"the prediction left the finite numbers, with X up to {X.detach().abs().max().item():.3g} "
                         f"and W up to {W.detach().abs().max().item():.3g}; it grows as X^3, so scale X")
    return found


def _prompts(X: TensorLike, dtype: torch.dtype | None = None) -> torch.Tensor:
    """X as a floating (P, D+1, N+1) tensor with finite entries."""
    X = _tensor("X", X)
    X = X.to(dtype or (X.dtype if X.is_floating_point() else torch.float64))
    if X.ndim != 3 or X.shape[0] < 1 or X.shape[1] < 2 or X.shape[2] < 2:
        raise ValueError(f"X must have shape (P, D+1, N+1) with P, D, N >= 1, got {tuple(X.shape)}; "
                         "give one prompt a leading axis: X[None]")
    return _finite("X", X)


def _tensor(name: str, value: TensorLike) -> torch.Tensor:
    """``value`` as a tensor of real numbers; the graph of a tensor is kept."""
    try:
        value = np.asarray(value, dtype=np.float64) if isinstance(value, (list, tuple)) else value
        # as the prompts of icl are: torch needs its own
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            value = value.copy()
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(f"{name} must be an array or tensor of real numbers, got {type(value).__name__}") from error
    if tensor.is_complex():
        raise TypeError(f"{name} must be an array or tensor of real numbers, got {tensor.dtype}; "
                        "pass its real part if that is what you mean")
    return tensor


def _finite(name: str, tensor: torch.Tensor) -> torch.Tensor:
    if not torch.isfinite(tensor).all():
        raise ValueError(f"{name} must be finite, got {int((~torch.isfinite(tensor)).sum())} NaN or infinite entries")
    return tensor


def _summary(X: torch.Tensor, value: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """X X^T / N, or only its last column, and the query column."""
    N = X.shape[2] - 1
    read = X.mT if value else X[:, -1, :, None]                             # (P, N+1, D+1) or (P, N+1, 1)
    summary = X @ read / N
    return (summary if value else summary[..., 0]), X[:, :, -1].contiguous()   # read at every step of training
