"""Belief propagation, and the Bethe free energy of what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    RNG,
    Found,
    check_array,
    check_probabilities,
    check_rng,
    check_type,
    iterate,
    one_line,
)
from spinlib.factor_graph._graph import BUILD, FactorGraph
from spinlib.factor_graph._sum_product import Layout, normalised


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Beliefs(Found):
    """What belief propagation found.

    ``marginals`` (n, K) with K the largest number of states (0 where a variable has fewer); ``factor_marginals`` one
    table a factor; ``log_Z`` the Bethe value; ``messages`` (edges, K) from factors to variables, edges in the order of
    ``FactorGraph.edges``; ``converged``, ``n_iter``, ``residual``, ``history``, ``reason`` as in every iteration here.
    """

    marginals: np.ndarray
    factor_marginals: tuple[np.ndarray, ...]
    log_Z: float
    messages: np.ndarray

    __repr__ = one_line


def bp(
    graph: FactorGraph,
    *,
    damping: float = 0.0,
    tol: float = 1e-12,
    max_iter: int = 500,
    start: str | ArrayLike = "uniform",
    rng: RNG = None,
) -> Beliefs:
    """Sum-product belief propagation: exact on trees, the Bethe approximation where it converges on a graph with loops.

    All messages are sent at once, in arrays (factors of one shape together). ``start`` is "uniform", "random"
    (positive messages from ``rng``) or the messages of an earlier run. ``damping`` is the weight of the old message.
    Source: Yedidia, Freeman and Weiss (2005); Mezard and Montanari (2009), chapter 14. Not converging warns with
    ConvergenceWarning and returns the last state with ``converged=False``; contradicting factors raise ValueError.

    >>> from spinlib.factor_graph import bp, ising
    >>> triangle = bp(ising([[0, 1, 1], [1, 0, 1], [1, 1, 0]], h=0.1, beta=0.3))
    >>> print(triangle.converged, f"{triangle.log_Z:.3f}")
    True 2.215
    """
    layout = Layout(check_type("graph", graph, FactorGraph, BUILD))
    shape, rng = layout.valid.shape, check_rng(rng)
    if isinstance(start, str):
        if start not in ("uniform", "random"):
            raise ValueError(
                f"start must be 'uniform', 'random' or messages of shape {shape}, got {start!r}"
            )
        messages = np.ones(shape) if start == "uniform" else rng.uniform(0.05, 1.0, shape)
    else:
        messages = _messages(start, layout.valid)
    messages = normalised(messages * layout.valid)
    run = (
        iterate(
            lambda state: (layout.sweep(state[0]),),
            (messages,),
            damping=damping,
            tol=tol,
            max_iter=max_iter,
            name="belief propagation",
            remedy="raise damping (0.5 is a good start) or max_iter, or lower beta",
        )
        if len(messages)
        else Found(state=(messages,), converged=True, n_iter=0, residual=0.0, history=np.zeros(0))
    )
    marginals, tables, log_Z = layout.beliefs(run.state[0])
    return Beliefs(
        marginals=marginals,
        factor_marginals=tables,
        log_Z=log_Z,
        messages=run.state[0],
        **vars(run),
    )


def bethe_terms(graph: FactorGraph, messages: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    r"""Shifts of log Z by each variable (n,) and each factor (M,), from messages (E, K) of factors to variables.

    The first is log Z gained by adding variable i together with its factors, :math:`\ln\sum_x\prod_b u_{b\to i}(x)`,
    the second by adding factor a alone, :math:`\ln\sum f_a\prod_j m_{j\to a}`; m are the messages of variables to
    factors that follow from ``messages`` and u the unnormalised answers. The Bethe value is ``variable.sum() - ((degree
    - 1) * factor).sum()`` with the degree of each factor. For p-spin Ising factors the second is log[cosh(beta J) (1 +
    tanh(beta J) prod m)]. ValueError: as bp. Source: slides of pspin_ising; Mezard and Montanari (2009), 14.2.4.

    >>> from spinlib.factor_graph import bethe_terms, bp, ising
    >>> pair = ising([[0, 1], [1, 0]])
    >>> variable, factor = bethe_terms(pair, bp(pair).messages)
    >>> print(f"{variable.sum() - factor.sum():.5f}")
    1.82008
    """
    layout = Layout(check_type("graph", graph, FactorGraph, BUILD))
    return layout.terms(_messages(messages, layout.valid))


def bethe_free_energy(
    graph: FactorGraph, marginals: ArrayLike, factor_marginals: Sequence[ArrayLike]
) -> float:
    r"""Gibbs free energy in Bethe's approximation, in units of the temperature, for any beliefs.

    :math:`\sum_a\sum b_a\ln(b_a/f_a) - \sum_i(d_i-1)\sum b_i\ln b_i` with d_i the number of factors at variable i;
    minus log Z at a fixed point of belief propagation. Beliefs should be consistent (b_i a marginal of b_a), which is
    not checked. Source: Yedidia, Freeman and Weiss (2005). Raises ValueError for shapes that do not fit the graph, and
    for beliefs that are negative or do not sum to 1; inf where a belief is positive on a state of weight 0.

    >>> from spinlib.factor_graph import bethe_free_energy, bp, ising
    >>> pair = ising([[0, 1], [1, 0]])
    >>> found = bp(pair)
    >>> print(f"{bethe_free_energy(pair, found.marginals, found.factor_marginals):.5f}")
    -1.82008
    """
    check_type("graph", graph, FactorGraph, BUILD)
    b = check_probabilities("marginals", marginals, (graph.n, max(graph.cards)))
    check_type("factor_marginals", factor_marginals, Sequence, "pass Beliefs.factor_marginals")
    if len(factor_marginals) != len(graph.factors):
        raise ValueError(
            f"factor_marginals must hold {len(graph.factors)} tables, one a factor, got "
            f"{len(factor_marginals)}"
        )
    total = 0.0
    for a, ((_, table), belief) in enumerate(zip(graph.factors, factor_marginals)):
        belief = check_array(f"factor_marginals[{a}]", belief, table.shape)
        check_probabilities(f"factor_marginals[{a}]", belief.ravel(), (None,))
        used = belief > 0
        with np.errstate(divide="ignore"):
            total += float((belief[used] * (np.log(belief[used]) - np.log(table[used]))).sum())
    return total - sum(
        (d - 1) * float((row * np.log(np.where(row > 0, row, 1.0))).sum())
        for d, row in zip(np.bincount(graph.edges[:, 1], minlength=graph.n).tolist(), b)
    )


def _messages(messages, valid) -> np.ndarray:
    messages = check_array(
        "messages",
        messages,
        valid.shape,
        hint="one row per edge of the graph: Beliefs.messages of the same graph",
    )
    if (messages < 0).any():
        raise ValueError(
            f"messages must be >= 0, got least {messages.min():g}; they are weights of states"
        )
    empty = np.flatnonzero((messages * valid).sum(-1) == 0)
    if len(empty):
        raise ValueError(
            f"each message needs a state of positive weight, got only zeros in row {empty[0]}; "
            "start from uniform messages"
        )
    return messages
