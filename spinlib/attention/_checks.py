"""Tensors: what is asked of them, each question once (real, bounded, rows or prompts as columns), and random ones."""

from types import EllipsisType

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


def to_shape(
    name: str,
    value: TensorLike,
    shape: tuple[EllipsisType | int | str, ...],
    dtype: torch.dtype | None = None,
    hint: str = "",
) -> torch.Tensor:
    """A bounded tensor of this shape without an empty axis: a letter stands for any length, ... for any axes before."""
    tensor = to_real(name, value, dtype)
    lengths = [n for n in shape if n is not ...]
    own = tensor.shape[-len(lengths) :]
    if (
        0 in tensor.shape
        or len(own) < len(lengths)
        or (len(own) < tensor.ndim and ... not in shape)
        or any(isinstance(n, int) and n != have for n, have in zip(lengths, own))
    ):
        words = ", ".join("..." if n is ... else str(n) for n in shape)
        raise ValueError(
            f"{name} must have shape ({words}{',' * (len(shape) == 1)}) and no empty axis, "
            f"got {tuple(tensor.shape)}; {hint}"
        )
    return tensor


def to_rows(
    name: str, value: TensorLike, D: int | str = "D", dtype: torch.dtype | None = None
) -> torch.Tensor:
    """A bounded tensor (..., N, D) with N, D >= 1."""
    return to_shape(name, value, (..., "N", D), dtype, "one token a row, and at least one token")


def to_prompts(X: TensorLike, D: int, dtype: torch.dtype) -> torch.Tensor:
    """X as a bounded (P, D+1, N+1) tensor of a model, its ``D`` and its ``dtype``."""
    X = to_real("X", X, dtype)
    if X.ndim != 3 or not (len(X) and X.shape[1] == D + 1 and X.shape[2] > 1):
        raise ValueError(
            f"X must have shape (P, D+1, N+1) with P, D, N >= 1, got {tuple(X.shape)}; "
            f"this model has D = {D}; give one prompt a leading axis: X[None]"
        )
    return X


def draw(rng: np.random.Generator, *shape: int, axis: int = -2) -> torch.nn.Parameter:
    """A matrix that starts as N(0, 1/rows), or 1/columns with axis=-1, in float64: it keeps the size of what it
    multiplies."""
    return torch.nn.Parameter(torch.from_numpy(rng.standard_normal(shape) / np.sqrt(shape[axis])))
