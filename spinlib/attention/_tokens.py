"""Tokens as rows: embedding and positions."""

import torch

from spinlib._core import check_integer, check_real, check_whole
from spinlib.attention._checks import TensorLike, to_rows, to_shape


def embed(
    words: TensorLike, table: TensorLike, positions: TensorLike | None = None
) -> torch.Tensor:
    r"""The input of a transformer, :math:`x_i=v_{u_i}+p_i`: a row of the table for each word, plus its position.

    ``words`` (..., N) are integers below the size V of the vocabulary, ``table`` is (V, D), and ``positions`` (N_max,
    D) has a row for each place of the longest context. The result has shape (..., N, D). Source: Thesis section
    2.1.1; Vaswani et al. (2017). Raises ValueError if there are no words, more than N_max of them or an unknown one,
    and TypeError for words that are not integers.

    >>> from spinlib.attention import embed
    >>> embed([2, 0], [[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]], [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]).tolist()
    [[5.0, 5.0], [1.5, 0.5]]
    """
    words = torch.from_numpy(check_whole("words", words, "they are row numbers of the table"))
    table = to_shape("table", table, ("V", "D"), hint="one row a word")
    if words.numel() == 0 or words.ndim == 0:
        raise ValueError(
            f"words must have shape (..., N) with N >= 1, got {tuple(words.shape)}; an empty prompt has "
            "no token that could attend: begin it with a start word"
        )
    if words.min() < 0 or words.max() >= len(table):
        raise ValueError(
            f"words must be from 0 to {len(table) - 1}, got {words.min().item()} to "
            f"{words.max().item()}; the table has {len(table)} rows"
        )
    if positions is None:
        return table[words]
    places = to_shape(
        "positions",
        positions,
        ("N_max", table.shape[1]),
        table.dtype,
        "they are added to the rows of the table",
    )
    if words.shape[-1] > len(places):
        raise ValueError(
            f"the prompt has {words.shape[-1]} words, but this model has {len(places)} positions; cut the "
            f"prompt to its last {len(places)} words, or make more positions"
        )
    return table[words] + places[: words.shape[-1]]


def sinusoidal_positions(N: int, D: int, *, base: float = 10_000.0) -> torch.Tensor:
    r"""Positions as D/2 clock hands: :math:`p_{n,2k}=\sin(n\omega_k)`, :math:`p_{n,2k+1}=\cos(n\omega_k)`,
    :math:`\omega_k=\text{base}^{-2k/D}`, with n from 0.

    Returns (N, D) in float64. A shift of the position is a rotation of every hand, the same for all n. Source: Thesis
    section 2.1.1; Vaswani et al. (2017). Raises ValueError for an odd D, N below 1 and a base below 1e-75.

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

    ``X`` (..., N, d) are queries or keys, and ``positions`` (N,) their places (0, 1, ... if not given). The result
    has the shape of X. The dot product of a turned query and a turned key depends only on the difference of their
    places. Source: Thesis section 2.1.1; Su et al. (2024). Raises ValueError for an odd d and for positions that are
    not one for each row.

    >>> from math import pi
    >>> from spinlib.attention import rotary
    >>> [round(x, 12) for x in rotary([[1.0, 0.0]], [pi / 2])[0].tolist()]         # a quarter of a turn
    [0.0, 1.0]
    """
    X = to_rows("X", X)
    N, d = X.shape[-2:]
    places = torch.arange(N) if positions is None else positions
    place = to_shape("positions", places, (N,), hint="one place for each row of X")
    angle = place.double()[:, None] * _speeds("the last axis of X", d, base)
    cos, sin = angle.cos().to(X.dtype), angle.sin().to(X.dtype)
    even, odd = X[..., 0::2], X[..., 1::2]
    return torch.stack([cos * even - sin * odd, sin * even + cos * odd], -1).flatten(-2)


def _speeds(name: str, D: int, base: float) -> torch.Tensor:
    """The angle that each of the D/2 hands turns from one position to the next."""
    D = check_integer(name, D, 2, hint="positions are pairs of a sine and a cosine")
    if D % 2:
        raise ValueError(
            f"{name} must be even, got {D}; positions are pairs of a sine and a cosine"
        )
    return check_real("base", base, minimum=1e-75) ** (
        -torch.arange(0, D, 2, dtype=torch.float64) / D
    )
