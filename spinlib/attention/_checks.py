"""What the blocks ask of their tensors, each question once: real, finite, tokens as rows or prompts as columns."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

TensorLike = ArrayLike | torch.Tensor


def to_tensor(name: str, value: TensorLike) -> torch.Tensor:
    """``value`` as a tensor of real numbers; the graph of a tensor is kept."""
    try:
        value = np.asarray(value, dtype=np.float64) if isinstance(value, (list, tuple)) else value
        # as the prompts of icl are: torch needs its own
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            value = value.copy()
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(
            f"{name} must be an array or tensor of real numbers, got {type(value).__name__}"
        ) from error
    if tensor.is_complex():
        raise TypeError(
            f"{name} must be an array or tensor of real numbers, got {tensor.dtype}; "
            "pass its real part if that is what you mean"
        )
    return tensor


def to_real(name: str, value: TensorLike, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A finite tensor, floating: of ``dtype``, else of its own, and whole numbers in float64."""
    tensor = to_tensor(name, value)
    return finite(
        name, tensor.to(dtype or (tensor.dtype if tensor.is_floating_point() else torch.float64))
    )


def to_rows(name: str, value: TensorLike) -> torch.Tensor:
    """A finite tensor (..., N, D) with N, D >= 1."""
    tensor = to_real(name, value)
    if tensor.ndim < 2 or 0 in tensor.shape:
        raise ValueError(
            f"{name} must have shape (..., N, D) with N, D >= 1, got {tuple(tensor.shape)}; "
            "one token a row, and at least one token"
        )
    return tensor


def to_prompts(
    X: TensorLike, D: int | None = None, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """X as a finite (P, D+1, N+1) tensor; of a model, its ``D`` and its ``dtype``."""
    X = to_real("X", X, dtype)
    if X.ndim != 3 or X.shape[0] < 1 or X.shape[1] < 2 or X.shape[2] < 2:
        raise ValueError(
            f"X must have shape (P, D+1, N+1) with P, D, N >= 1, got {tuple(X.shape)}; "
            "give one prompt a leading axis: X[None]"
        )
    if D is not None and X.shape[1] != D + 1:
        raise ValueError(
            f"X must have D+1 = {D + 1} rows, got shape {tuple(X.shape)}; this model has D = {D}"
        )
    return X


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether no entry is NaN or infinite. A finite sum proves it, without a mask; entries are asked if it is not."""
    return bool(torch.isfinite(tensor.detach().sum()) or torch.isfinite(tensor).all())


def finite(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, without NaN and infinite entries."""
    if not is_finite(tensor):
        raise ValueError(
            f"{name} must be finite, got {int((~torch.isfinite(tensor)).sum())} NaN or infinite entries"
        )
    return tensor


def answered(found: torch.Tensor, **given: torch.Tensor) -> torch.Tensor:
    """What was computed, where it is finite; else ValueError with the size of what was given."""
    if not is_finite(found):
        sizes = " and ".join(
            f"{name} up to {part.detach().abs().max().item():.3g}" for name, part in given.items()
        )
        raise ValueError(
            f"the prediction left the finite numbers, with {sizes}; scale {next(iter(given))}"
        )
    return found
