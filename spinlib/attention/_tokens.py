"""From words to tokens and back, tokens as rows: embedding, positions, normalisation, output."""

from __future__ import annotations

import torch

from spinlib._core import check_integer, check_real, check_whole
from spinlib.attention._checks import TensorLike, to_real, to_rows


def embed(
    words: TensorLike, table: TensorLike, positions: TensorLike | None = None
) -> torch.Tensor:
    r"""The input of a transformer, :math:`x_i=v_{u_i}+p_i`: a row of the table for each word, plus its position.

    ``words`` (..., N) are integers below the size V of the vocabulary, ``table`` is (V, D), ``positions`` (N_max, D)
    has a row for each place of the longest context. Returns (..., N, D). Source: Thesis section 2.1.1; Vaswani et al.
    (2017). ValueError for no words, an unknown word and more than N_max of them, TypeError for words that are not
    integers.

    >>> from spinlib.attention import embed
    >>> embed([2, 0], [[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]], [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]).tolist()
    [[5.0, 5.0], [1.5, 0.5]]
    """
    words = torch.from_numpy(check_whole("words", words, "they are row numbers of the table"))
    table = to_real("table", table)
    if words.numel() == 0 or words.ndim == 0:
        raise ValueError(
            f"words must have shape (..., N) with N >= 1, got {tuple(words.shape)}; an empty prompt has "
            "no token that could attend: begin it with a start word"
        )
    if table.ndim != 2:
        raise ValueError(f"table must have shape (V, D), got {tuple(table.shape)}; one row a word")
    if words.min() < 0 or words.max() >= len(table):
        raise ValueError(
            f"words must be from 0 to {len(table) - 1}, got {words.min().item()} to "
            f"{words.max().item()}; the table has {len(table)} rows"
        )
    if positions is None:
        return table[words]
    positions, N = to_real("positions", positions).to(table.dtype), words.shape[-1]
    if positions.ndim != 2 or positions.shape[1] != table.shape[1]:
        raise ValueError(
            f"positions must have shape (N_max, {table.shape[1]}), got {tuple(positions.shape)}; they are "
            "added to the rows of the table"
        )
    if N > len(positions):
        raise ValueError(
            f"the prompt has {N} words, but this model has {len(positions)} positions; cut the prompt to "
            f"its last {len(positions)} words, or make more positions"
        )
    return table[words] + positions[:N]


def sinusoidal_positions(N: int, D: int, *, base: float = 10_000.0) -> torch.Tensor:
    r"""Positions as D/2 clock hands: :math:`p_{n,2k}=\sin(n\omega_k)`, :math:`p_{n,2k+1}=\cos(n\omega_k)`,
    :math:`\omega_k=\text{base}^{-2k/D}`, with n from 0.

    Returns (N, D) in float64. A shift of the position is a rotation of every hand, the same for all n. Source: Thesis
    section 2.1.1; Vaswani et al. (2017). ValueError for an odd D, N below 1 and a base that is not positive.

    >>> from spinlib.attention import sinusoidal_positions
    >>> [round(x, 4) for x in sinusoidal_positions(3, 2)[2].tolist()]      # sin 2, cos 2
    [0.9093, -0.4161]
    """
    angle = torch.arange(check_integer("N", N, 1), dtype=torch.float64)[:, None] * _speeds(
        "D", D, base
    )
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def rotary(
    X: TensorLike, positions: TensorLike | None = None, *, base: float = 10_000.0
) -> torch.Tensor:
    r"""Rotary positions: the pair (2k, 2k+1) of the components of row n is turned by the angle :math:`n\omega_k`,
    :math:`\omega_k=\text{base}^{-2k/d}`.

    ``X`` (..., N, d) are queries or keys, ``positions`` (N,) their places (0, 1, ... if not given). Returns the shape
    of X. The dot product of a turned query and a turned key depends on the difference of their places only. Source:
    Thesis section 2.1.1; Su et al. (2024). ValueError for an odd d and for positions that are not one a row.

    >>> from math import pi
    >>> from spinlib.attention import rotary
    >>> [round(x, 12) for x in rotary([[1.0, 0.0]], [pi / 2])[0].tolist()]         # a quarter of a turn
    [0.0, 1.0]
    """
    X = to_rows("X", X)
    N, d = X.shape[-2:]
    place = torch.arange(N) if positions is None else to_real("positions", positions)
    if place.shape != (N,):
        raise ValueError(
            f"positions must have shape {(N,)}, got {tuple(place.shape)}; one place for each row of X"
        )
    angle = place.double()[:, None] * _speeds("the last axis of X", d, base)
    cos, sin = angle.cos().to(X.dtype), angle.sin().to(X.dtype)
    even, odd = X[..., 0::2], X[..., 1::2]
    return torch.stack([cos * even - sin * odd, sin * even + cos * odd], -1).flatten(-2)


def layer_norm(
    X: TensorLike, gain: TensorLike = 1.0, shift: TensorLike = 0.0, *, eps: float = 1e-5
) -> torch.Tensor:
    r"""Layer normalisation :math:`\gamma(x-\mu)/\sqrt{\sigma^2+\epsilon}+\beta` of every row x by its own mean and
    variance.

    ``X`` (..., D); ``gain`` and ``shift`` (D,) or numbers. ``eps`` = 0 is the formula as printed; 1e-5 is the habit of
    programs. Returns the shape of X. Source: Thesis eq. (7). ValueError for shapes that do not match, and where a row
    is constant and ``eps`` = 0.

    >>> from spinlib.attention import layer_norm
    >>> layer_norm([[1.0, 3.0]], 2.0, 10.0, eps=0).tolist()
    [[8.0, 12.0]]
    """
    X, (gain, shift) = _features(X, gain=gain, shift=shift)
    centred = X - X.mean(-1, keepdim=True)
    return _divide(centred, eps, "a constant row") * gain + shift


def rms_norm(X: TensorLike, gain: TensorLike = 1.0, *, eps: float = 1e-5) -> torch.Tensor:
    r"""RMS normalisation :math:`\gamma x/\sqrt{\frac1D\sum_ix_i^2+\epsilon}` of every row x: its length becomes
    :math:`\sqrt D`.

    ``X`` (..., D); ``gain`` (D,) or a number. Returns the shape of X. Source: Thesis eq. (8), with the mean over the D
    features and a gain. ValueError for shapes that do not match, and where a row is zero and ``eps`` = 0.

    >>> from spinlib.attention import rms_norm
    >>> [round(x, 4) for x in rms_norm([3.0, 4.0], eps=0).tolist()]
    [0.8485, 1.1314]
    """
    X, (gain,) = _features(X, gain=gain)
    return _divide(X, eps, "a row of zeros") * gain


def output_probabilities(X: TensorLike, W: TensorLike, b: TensorLike) -> torch.Tensor:
    r"""The output :math:`\mathrm{softmax}(XW+b)`: a law over the vocabulary for every row.

    ``X`` (..., N, D), ``W`` (D, V), ``b`` (V,); returns (..., N, V), rows summing to one. Source: Thesis eqs. (5),
    (14). ValueError for shapes that do not match.

    >>> from spinlib.attention import output_probabilities
    >>> output_probabilities([[1.0]], [[0.0, 0.0]], [0.0, 0.0]).tolist()
    [[0.5, 0.5]]
    """
    X = to_rows("X", X)
    W, b = to_real("W", W).to(X.dtype), to_real("b", b).to(X.dtype)
    if W.ndim != 2 or len(W) != X.shape[-1] or b.shape != W.shape[1:]:
        raise ValueError(
            f"W must have shape ({X.shape[-1]}, V) and b (V,), got {tuple(W.shape)} and {tuple(b.shape)}; "
            f"the rows of X have {X.shape[-1]} features"
        )
    return torch.softmax(X @ W + b, -1)


def _speeds(name: str, D: int, base: float) -> torch.Tensor:
    """The angle that each of the D/2 hands turns from one position to the next."""
    D = check_integer(name, D, 2, hint="positions are pairs of a sine and a cosine")
    if D % 2:
        raise ValueError(
            f"{name} must be even, got {D}; positions are pairs of a sine and a cosine"
        )
    return check_real("base", base, above=0) ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)


def _features(X: TensorLike, **vectors: TensorLike) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """X (..., D) and vectors (D,) or numbers, of one dtype."""
    X = to_real("X", X)
    if X.ndim < 1 or X.numel() == 0:
        raise ValueError(f"X must have shape (..., D) with D >= 1, got {tuple(X.shape)}")
    found = []
    for name, value in vectors.items():
        found.append(to_real(name, value).to(X.dtype))
        if found[-1].shape not in ((), X.shape[-1:]):
            raise ValueError(
                f"{name} must be a number or have shape {tuple(X.shape[-1:])}, got "
                f"{tuple(found[-1].shape)}; it multiplies the features"
            )
    return X, found


def _divide(X: torch.Tensor, eps: float, what: str) -> torch.Tensor:
    """X over the root of its mean square, row by row."""
    square = X.square().mean(-1, keepdim=True) + check_real("eps", eps, minimum=0)
    if not (square > 0).all():
        raise ValueError(f"{what} cannot be normalised with eps=0; give a small eps such as 1e-5")
    return X / square.sqrt()
