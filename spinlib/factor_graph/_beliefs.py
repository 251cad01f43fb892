"""Belief propagation, the Bethe free energy of what it finds, and enumeration to check both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    RNG,
    Callback,
    Found,
    check_array,
    check_rng,
    check_type,
    iterate,
)
from spinlib.factor_graph._graph import BUILD, FactorGraph
from spinlib.factor_graph._sum_product import Layout, normalised


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Beliefs(Found):
    """What belief propagation found.

    ``marginals`` is (n, K) with K the largest number of states (0 where a variable has fewer); ``factor_marginals``
    has one table for each factor; ``log_Z`` is the Bethe value; ``messages`` (edges, K) are those from factors to
    variables, with edges in the order of ``FactorGraph.edges``; and ``converged``, ``n_iter``, ``residual``,
    ``history``, ``reason`` are as in every iteration here.

    >>> from spinlib.factor_graph import bp, ising
    >>> found = bp(ising([[0, 1], [1, 0]]))
    >>> found.marginals.tolist(), found.factor_marginals[0].shape, found.messages.shape
    ([[0.5, 0.5], [0.5, 0.5]], (2, 2), (2, 2))
    """

    marginals: np.ndarray
    factor_marginals: tuple[np.ndarray, ...]
    log_Z: float
    messages: np.ndarray


def bp(
    graph: FactorGraph,
    *,
    damping: float = 0.0,
    tol: float = 1e-12,
    max_iter: int = 500,
    start: str | ArrayLike = "uniform",
    callback: Callback = None,
    rng: RNG = None,
) -> Beliefs:
    """Sum-product belief propagation: exact on trees, the Bethe approximation where it converges on a graph with loops.

    All messages are sent at once, in arrays (factors of one shape together). ``start`` is "uniform", "random"
    (positive messages from ``rng``) or the messages of an earlier run. ``damping`` is the weight of the old message.
    ``callback((messages,), residual)`` is called after every sweep; the messages are a ``start`` to go on from.
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
            callback=callback,
            name="belief propagation",
            remedy="raise damping (0.5 is a good start) or max_iter, or lower beta",
        )
        if len(messages)
        else Found(state=(messages,))
    )
    marginals, tables, variable, factor = layout.beliefs(run.state[0])
    return Beliefs(
        marginals=marginals,
        factor_marginals=tables,
        log_Z=float(variable.sum() - ((layout.degree - 1) * factor).sum()),
        messages=run.state[0],
        **vars(run),
    )


def bethe_terms(graph: FactorGraph, messages: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    r"""Shifts of log Z by each variable (n,) and each factor (M,), from messages (E, K) of factors to variables.

    The first is the log Z gained by adding variable i together with its factors, :math:`\ln\sum_x\prod_b u_{b\to
    i}(x)`, the second that gained by adding factor a alone, :math:`\ln\sum f_a\prod_j m_{j\to a}`; m are the messages
    of variables to factors that follow from ``messages``, and u the unnormalised messages of factors. The Bethe value
    is ``variable.sum() - ((degree - 1) * factor).sum()`` with the degree of each factor. For p-spin Ising factors the
    second is log[cosh(beta J) (1 + tanh(beta J) prod m)]. Raises ValueError as bp does. Source: slides of
    pspin_ising; Mezard and Montanari (2009), 14.2.4.

    >>> from spinlib.factor_graph import bethe_terms, bp, ising
    >>> pair = ising([[0, 1], [1, 0]])
    >>> variable, factor = bethe_terms(pair, bp(pair).messages)
    >>> print(f"{variable.sum() - factor.sum():.5f}")
    1.82008
    """
    layout = Layout(check_type("graph", graph, FactorGraph, BUILD))
    return layout.beliefs(_messages(messages, layout.valid))[2:]


def enumerate_states(graph: FactorGraph) -> tuple[np.ndarray, float]:
    """Exact marginals (n, K) and log Z by summing over every state.

    Source: the definition of both. Raises ValueError above 2^20 states, and when no state has a positive weight.

    >>> from spinlib.factor_graph import enumerate_states, ising
    >>> marginals, log_Z = enumerate_states(ising([[0, 1], [1, 0]], h=[0.5, 0]))
    >>> print(f"{log_Z:.5f} {marginals[1, 1]:.5f}")
    1.94019 0.67597
    """
    if math.prod(check_type("graph", graph, FactorGraph, BUILD).cards) > 2**20:
        raise ValueError(
            f"enumeration is limited to 2^20 states, got 2^{np.log2(graph.cards).sum():.1f} "
            f"({graph.n} variables); use bp, or fewer variables"
        )
    live = [i for i, c in enumerate(graph.cards) if c > 1]
    axis = {i: k for k, i in enumerate(live)}
    log_weight = np.zeros([graph.cards[i] for i in live])
    with np.errstate(divide="ignore"):
        for scope, table in graph.factors:
            kept = [i for i in scope if i in axis]
            log = np.log(table).reshape([graph.cards[i] for i in kept])
            log_weight += log.transpose(np.argsort([axis[i] for i in kept])).reshape(
                [c if i in kept else 1 for i, c in zip(live, log_weight.shape)]
            )
    top = log_weight.max()
    if np.isneginf(top):
        raise ValueError(
            "no state has a positive weight: the factors contradict each other; "
            "look for zeros in the tables"
        )
    weight = np.exp(log_weight - top)
    Z = weight.sum()
    marginals = np.zeros((graph.n, max(graph.cards)))
    marginals[:, 0] = 1.0
    for i, k in axis.items():
        marginals[i, : graph.cards[i]] = (
            weight.sum(tuple(j for j in range(weight.ndim) if j != k)) / Z
        )
    return marginals, float(top + np.log(Z))


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
