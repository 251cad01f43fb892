"""Tensors: what is asked of them, each question once (real, bounded, rows or prompts as columns), and random ones."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

from spinlib._core import check_numbers

TensorLike = ArrayLike | torch.Tensor


def to_tensor(name: str, value: TensorLike) -> torch.Tensor:
    """``value`` as a tensor of real numbers; the graph of a tensor is kept, and the dtype of flags and of floats."""
    if not isinstance(value, torch.Tensor):
        numbers, kind = check_numbers(name, value), np.asarray(value).dtype
        kept = kind if kind in (bool, np.float16, np.float32) else np.float64
        # torch takes no read-only array, as prompts of icl are, and none that runs backwards
        backwards = min(numbers.strides, default=0) < 0
        return torch.from_numpy(np.require(numbers, kept, ["C", "W"] if backwards else ["W"]))
    if value.layout != torch.strided:
        raise TypeError(
            f"{name} must be a dense tensor, got {value.layout}; pass {name}.to_dense()"
        )
    if value.is_complex():
        raise TypeError(
            f"{name} must be an array or tensor of real numbers, got {value.dtype}; "
            "pass its real part if that is what you mean"
        )
    return value


def to_real(name: str, value: TensorLike, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A bounded tensor, floating: of ``dtype``, else of its own, and whole numbers in float64."""
    tensor = to_tensor(name, value)
    return bounded(
        name, tensor.to(dtype or (tensor.dtype if tensor.is_floating_point() else torch.float64))
    )


def bounded(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, all of whose entries are numbers that can be multiplied: four of them, and a sum of such."""
    if not tensor.numel():
        return tensor
    limit = torch.finfo(tensor.dtype).max ** 0.25 / 100
    low, high = tensor.detach().aminmax()
    if not (-limit <= low and high <= limit):
        wrong = int((~torch.isfinite(tensor)).sum())
        raise ValueError(
            f"{name} must be finite, got {wrong} NaN or infinite entries"
            if wrong
            else f"{name} must be at most {limit:.1g} in size in {tensor.dtype}, got "
            f"{max(-low, high).item():.3g}; choose other units"
        )
    return tensor


def to_rows(
    name: str, value: TensorLike, D: int | None = None, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """A bounded tensor (..., N, D) with N, D >= 1."""
    tensor = to_real(name, value, dtype)
    if tensor.ndim < 2 or 0 in tensor.shape or D not in (None, tensor.shape[-1]):
        raise ValueError(
            f"{name} must have shape (..., N, {D or 'D'}) with N, D >= 1, got {tuple(tensor.shape)}; "
            "one token a row, and at least one token"
        )
    return tensor


def to_prompts(
    X: TensorLike, D: int | None = None, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """X as a bounded (P, D+1, N+1) tensor; of a model, its ``D`` and its ``dtype``."""
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


def draw(rng: np.random.Generator, *shape: int, axis: int = -2) -> torch.nn.Parameter:
    """A matrix that starts as N(0, 1/rows), or 1/columns with axis=-1, in float64: it keeps the size of what it
    multiplies."""
    return torch.nn.Parameter(torch.from_numpy(rng.standard_normal(shape) / np.sqrt(shape[axis])))
