"""Prompts and what the energy needs of them, with the checks that every function of the package shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import Noun, check_array, check_type, freeze


@dataclass(frozen=True, eq=False, repr=False)
class Prompts(Noun):
    """P prompts as the attention sees them (Thesis eq. (122)).

    ``X`` (P, D+1, N+1): columns are N tokens (x_i; y_i) and the query (x; 0); ``y`` (P,): labels of the queries; ``w``
    (P, D): the hidden task vectors; all kept as read-only copies. ValueError where shapes disagree, entries are not
    finite, or the slot of the query's label is not zero.
    """

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    if TYPE_CHECKING:

        def __init__(self, X: ArrayLike, y: ArrayLike, w: ArrayLike) -> None: ...

    def __post_init__(self):
        X = check_prompts(self.X)
        P, rows, _ = X.shape
        y = check_array("y", self.y, (P,), hint="one query label a prompt")
        w = check_array("w", self.w, (P, rows - 1), hint="one task vector of length D a prompt")
        freeze(self, X=X, y=y, w=w)

    def __repr__(self) -> str:
        P, rows, columns = self.X.shape
        return f"Prompts(P={P}, D={rows - 1}, N={columns - 1})"


@dataclass(frozen=True, eq=False, repr=False)
class Features(Noun):
    """What the energy needs of the prompts: the sample s = u (x) query, of rank one (Thesis eqs. (126), (131)).

    ``u`` (P, D+1) = (X0 y0 / N; y0.y0 / N), ``query`` (P, D), ``y`` (P,). The zero column of eq. (126) is left out.
    ValueError where shapes disagree or entries are not finite.
    """

    u: np.ndarray
    query: np.ndarray
    y: np.ndarray

    if TYPE_CHECKING:

        def __init__(self, u: ArrayLike, query: ArrayLike, y: ArrayLike) -> None: ...

    def __post_init__(self):
        query = check_array("query", self.query, (None, None), hint="query is (P, D)")
        P, D = query.shape
        if P < 1 or D < 1:
            raise ValueError(
                f"query must be (P, D) with P >= 1 and D >= 1, at least one prompt, got {query.shape}"
            )
        u = check_array("u", self.u, (P, D + 1), hint="u is (P, D + 1) where query is (P, D)")
        y = check_array("y", self.y, (P,), hint="one query label a prompt")
        freeze(self, u=u, query=query, y=y)

    def __repr__(self) -> str:
        return f"Features(P={self.query.shape[0]}, D={self.query.shape[1]})"


def features(prompts: Prompts | Features) -> Features:
    """The two vectors u = (X0 y0; y0.y0) / N and query that make up eq. (126): s = u (x) query; Features as they are.

    Source: Thesis eqs. (126), (131), with the first row index D+1 that eq. (125) misprints as D. Scale 1/N, not the
    1/(N+1) of the published code. TypeError for others.

    >>> from spinlib.icl import LinearTask, features
    >>> data = features(LinearTask(D=3, N=5).sample(2, rng=0))
    >>> data.u.shape, data.query.shape, data.y.shape
    ((2, 4), (2, 3), (2,))
    """
    check_type(
        "prompts",
        prompts,
        (Prompts, Features),
        "make them with LinearTask(D, N).sample(P) or .sample_features(P)",
    )
    return prompts if isinstance(prompts, Features) else Features(*read(prompts.X), prompts.y)


def check_prompts(X: ArrayLike) -> np.ndarray:
    """X as prompts (P, D+1, N+1) with P, D, N >= 1 and a zero in the query's label slot, or ValueError."""
    X = check_array("X", X, (None, None, None), hint="prompts are (P, D + 1, N + 1)")
    if X.shape[0] < 1 or X.shape[1] < 2 or X.shape[2] < 2:
        raise ValueError(f"X must be (P, D + 1, N + 1) with P, D, N >= 1, got {X.shape}")
    if X[:, -1, -1].any():
        raise ValueError(
            "X[:, -1, -1] must be 0, got other numbers: the slot of the query's label; set it to 0"
        )
    return X


def read(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(u, query) of checked prompts; u = (X0 y0; y0.y0) / N."""
    N = X.shape[2] - 1
    return (X[:, :, :N] @ X[:, -1, :N, None])[:, :, 0] / N, X[:, :-1, N].copy()
