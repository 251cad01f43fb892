"""Discrete sum-product on factor graphs: messages, marginals and the Bethe free energy, with enumeration to check them."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (RNG, check_array, check_integer, check_probabilities, check_real, check_type, iterate, one_line,
                           read_only)
from spinlib._sum_product import Layout, normalised

LARGEST = 2**20  # states that enumerate_states accepts
BUILD = "build one with ising, pspin_ising or FactorGraph"


@dataclass(frozen=True, eq=False, repr=False)
class FactorGraph:
    r"""A distribution :math:`p(x) = \frac1Z\prod_a f_a(x_{\partial a})` over variables with finitely many states.

    ``cards`` holds the number of states of each variable; ``factors`` the pairs (scope, table): the numbers of the
    variables of a factor, and its non-negative weights with one axis per variable of the scope, in that order.
    Source: Kschischang, Frey and Loeliger (2001); Yedidia, Freeman and Weiss (2005).
    Raises ValueError when a table does not match its scope, or holds a negative or non-finite weight.

    >>> from spinlib.factor_graph import FactorGraph, bp
    >>> graph = FactorGraph(cards=(2, 3), factors=[((0, 1), [[1, 2, 3], [3, 2, 1]]), ((1,), [1, 0, 1])])
    >>> found = bp(graph)
    >>> print(f"{found.log_Z:.5f}", found.marginals[0])
    2.07944 [0.5 0.5 0. ]
    """

    cards: tuple[int, ...]
    factors: tuple[tuple[tuple[int, ...], np.ndarray], ...]

    def __post_init__(self):
        cards = check_type("cards", self.cards, (Sequence, np.ndarray), "cards=(2, 3) are two variables of 2 and 3 states")
        cards = tuple(check_integer(f"cards[{i}]", c, 1) for i, c in enumerate(cards))
        check_type("factors", self.factors, Sequence, "factors=[((0, 1), table)] is one factor of two variables")
        factors = []
        for a, factor in enumerate(self.factors):
            if not (isinstance(factor, Sequence) and len(factor) == 2):
                raise TypeError(f"factor {a} must be a pair (scope, table), got {type(factor).__name__}")
            scope, table = tuple(_whole(f"the scope of factor {a}", factor[0]).ravel().tolist()), factor[1]
            if len(set(scope)) < len(scope) or not all(0 <= i < len(cards) for i in scope):
                raise ValueError(f"factor {a} has scope {scope}; it must name different variables, each from 0 to {len(cards) - 1}")
            want = tuple(cards[i] for i in scope)
            table = np.asarray(table)
            if table.shape != want:
                raise ValueError(f"the table of factor {a} has shape {table.shape}, its scope {scope} has {want} states; "
                                 "give one axis per variable of the scope, in the order of the scope")
            table = check_array(f"the table of factor {a}", table, want)
            if (table < 0).any() or not (table > 0).any():
                raise ValueError(f"the table of factor {a} must hold weights >= 0, at least one of them > 0, got least "
                                 f"{table.min():g} and largest {table.max():g}; pass exp(-beta E) for an energy E")
            factors.append((scope, read_only(table)))
        if not cards:
            raise ValueError("cards is empty; a factor graph needs at least one variable")
        object.__setattr__(self, "cards", cards)
        object.__setattr__(self, "factors", tuple(factors))

    def __repr__(self) -> str:
        return f"FactorGraph({self.n} variables, {len(self.factors)} factors)"

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.cards)

    def with_factor(self, scope: Sequence[int], table: ArrayLike) -> FactorGraph:
        """The same graph with one more factor node."""
        return FactorGraph(self.cards, (*self.factors, (scope, table)))


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs:
    """What belief propagation found.

    ``marginals`` (n, K) with K the largest number of states (0 where a variable has fewer); ``factor_marginals``
    one table a factor; ``log_Z`` the Bethe value; ``messages`` (edges, K) from factors to variables, edges in the
    order of :func:`edges`; ``converged``, ``n_iter``, ``residual``, ``history`` and ``reason`` as in every iteration here.
    """

    marginals: np.ndarray
    factor_marginals: tuple[np.ndarray, ...]
    log_Z: float
    messages: np.ndarray
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray
    reason: str = ""

    __repr__ = one_line


# --- graphs of Ising spins: state 0 is spin -1, state 1 is spin +1 --------------------------------------------------

def pspin_ising(n_spins: int, scopes: ArrayLike, J: ArrayLike, *, h: ArrayLike = 0.0,
                beta: float = 1.0) -> FactorGraph:
    r"""Ising spins with :math:`H = -\sum_a J_a\prod_{i\in\partial a}\sigma_i - \sum_i h_i\sigma_i`, weights exp(-beta H).

    ``scopes`` (M, p) names the spins of each factor, ``J`` is a number or (M,), ``h`` a number or (n_spins,); a zero
    field makes no factor. State 0 is spin -1, state 1 is spin +1. The factors of J come first, in order.
    Source: the slides of a talk by the author of the thesis (July 2025), "A simple example". Raises ValueError for shapes or scopes that do not fit.

    >>> from spinlib.factor_graph import bp, pspin_ising
    >>> one = pspin_ising(3, [(0, 1, 2)], 1.0)
    >>> print(f"{bp(one).log_Z:.5f}")          # log(8 cosh 1)
    2.51322
    """
    n_spins, beta = check_integer("n_spins", n_spins, 1), check_real("beta", beta, minimum=0)
    scopes = _whole("scopes", scopes)
    if scopes.ndim != 2 or scopes.shape[1] < 1:
        raise ValueError(f"scopes must have shape (M, p), one row of p >= 1 spins a factor, got {scopes.shape}")
    M, p = scopes.shape
    J = check_array("J", np.full(M, J) if np.ndim(J) == 0 else J, (M,), hint="give one coupling per row of scopes")
    h = check_array("h", np.full(n_spins, h) if np.ndim(h) == 0 else h, (n_spins,), hint="give one field per spin")
    sign = np.array([-1.0, 1.0])
    if max(beta * np.abs(J).max(initial=0), beta * np.abs(h).max()) > 700:
        raise ValueError(f"beta |J| and beta |h| must be at most 700, got beta={beta:g} with max |J|={np.abs(J).max(initial=0):g} "
                         f"and max |h|={np.abs(h).max():g}: the weight exp(beta J) leaves the finite numbers; lower beta")
    product = reduce(np.multiply.outer, [sign] * p)
    factors = [(tuple(scope), np.exp(beta * J_a * product)) for scope, J_a in zip(scopes.tolist(), J)]
    factors += [((i,), np.exp(beta * h[i] * sign)) for i in np.flatnonzero(h).tolist()]
    return FactorGraph((2,) * n_spins, factors)


def ising(J: ArrayLike, h: ArrayLike = 0.0, beta: float = 1.0) -> FactorGraph:
    r"""Ising spins with pair couplings, :math:`H = -\sum_{i<j}J_{ij}\sigma_i\sigma_j - \sum_i h_i\sigma_i`.

    ``J`` (n, n) symmetric with zero diagonal, ``h`` a number or (n,); zero couplings make no factor.
    Raises ValueError for a J that is not symmetric or has a diagonal.

    >>> from spinlib.factor_graph import bp, ising
    >>> print(f"{bp(ising([[0, 1], [1, 0]])).log_Z:.5f}")          # log(4 cosh 1)
    1.82008
    """
    J = check_array("J", J, (None, None))
    if J.shape[0] != J.shape[1] or (J != J.T).any() or np.diagonal(J).any():
        raise ValueError(f"J must be square, symmetric and zero on its diagonal, got shape {J.shape}; "
                         "pass (J + J.T) / 2 with np.fill_diagonal(J, 0) if that is what you mean")
    i, k = np.nonzero(np.triu(J))
    return pspin_ising(len(J), np.stack([i, k], axis=1), J[i, k], h=h, beta=beta)


def magnetisations(marginals: ArrayLike) -> np.ndarray:
    """Mean spins (n,) from marginals (n, 2) of Ising spins.

    >>> from spinlib.factor_graph import magnetisations
    >>> magnetisations([[0.25, 0.75]])
    array([0.5])
    """
    marginals = check_probabilities("marginals", marginals, (None, 2), "only two-state variables have a magnetisation")
    return marginals[:, 1] - marginals[:, 0]


def tree_scopes(M: int, p: int, *, rng: RNG = None) -> np.ndarray:
    """Scopes (M, p) of a random tree of M factors of p spins on M(p-1)+1 spins: each new factor hangs on one old spin.

    >>> tree_scopes(2, 3, rng=0).shape
    (2, 3)
    """
    M, p = check_integer("M", M, 1), check_integer("p", p, 2)
    rng = np.random.default_rng(rng)
    new = 1 + np.arange(M * (p - 1)).reshape(M, p - 1)
    return np.column_stack([rng.integers(new[:, 0]), new])


def random_scopes(n_spins: int, M: int, p: int, *, rng: RNG = None) -> np.ndarray:
    """Scopes (M, p) of M factors, each on p different spins drawn at random: a random graph, with loops.

    >>> random_scopes(5, 4, 3, rng=0).shape
    (4, 3)
    """
    n_spins, M, p = check_integer("n_spins", n_spins, 1), check_integer("M", M, 1), check_integer("p", p, 1)
    if p > n_spins:
        raise ValueError(f"p must be at most n_spins = {n_spins}, got {p}; a factor needs p different spins")
    return np.argsort(np.random.default_rng(rng).random((M, n_spins)), axis=1)[:, :p]


# --- exact ----------------------------------------------------------------------------------------------------------

def enumerate_states(graph: FactorGraph) -> tuple[np.ndarray, float]:
    """Exact marginals (n, K) and log Z by summing over every state.

    Raises ValueError above 2^20 states, and when no state has a positive weight.

    >>> from spinlib.factor_graph import enumerate_states, ising
    >>> marginals, log_Z = enumerate_states(ising([[0, 1], [1, 0]], h=[0.5, 0]))
    >>> print(f"{log_Z:.5f} {marginals[1, 1]:.5f}")
    1.94019 0.67597
    """
    if math.prod(check_type("graph", graph, FactorGraph, BUILD).cards) > LARGEST:
        raise ValueError(f"enumeration is limited to 2^20 states, got 2^{np.log2(graph.cards).sum():.1f} "
                         f"({graph.n} variables); use bp, or fewer variables")
    live = [i for i, c in enumerate(graph.cards) if c > 1]
    axis = {i: k for k, i in enumerate(live)}
    log_weight = np.zeros([graph.cards[i] for i in live])
    with np.errstate(divide="ignore"):
        for scope, table in graph.factors:
            kept = [i for i in scope if i in axis]
            ordered = np.log(table).reshape([graph.cards[i] for i in kept]).transpose(np.argsort([axis[i] for i in kept]))
            log_weight += ordered.reshape([c if i in kept else 1 for i, c in zip(live, log_weight.shape)])
    top = log_weight.max()
    if np.isneginf(top):
        raise ValueError("no state has a positive weight: the factors contradict each other; look for zeros in the tables")
    weight = np.exp(log_weight - top)
    Z = weight.sum()
    marginals = np.zeros((graph.n, max(graph.cards)))
    marginals[:, 0] = 1.0
    for i, k in axis.items():
        marginals[i, :graph.cards[i]] = weight.sum(tuple(j for j in range(weight.ndim) if j != k)) / Z
    return marginals, float(top + np.log(Z))


# --- belief propagation ---------------------------------------------------------------------------------------------

def edges(graph: FactorGraph) -> np.ndarray:
    """The edges (factor, variable) of the graph, (E, 2), in the order of the messages.

    >>> from spinlib.factor_graph import edges, ising
    >>> edges(ising([[0, 1], [1, 0]])).tolist()
    [[0, 0], [0, 1]]
    """
    factors = check_type("graph", graph, FactorGraph, BUILD).factors
    return np.array([(a, i) for a, (scope, _) in enumerate(factors) for i in scope], dtype=int).reshape(-1, 2)


def bp(graph: FactorGraph, *, damping: float = 0.0, tol: float = 1e-12, max_iter: int = 500,
       start: str | ArrayLike = "uniform", rng: RNG = None) -> Beliefs:
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
    layout = Layout(graph, edges(graph))
    shape = layout.valid.shape
    if isinstance(start, str):
        if start not in ("uniform", "random"):
            raise ValueError(f"start must be 'uniform', 'random' or messages of shape {shape}, got {start!r}")
        messages = np.ones(shape) if start == "uniform" else np.random.default_rng(rng).uniform(0.05, 1.0, shape)
    else:
        messages = _messages(start, layout.valid)
    messages = normalised(messages * layout.valid)
    if not len(messages):
        return Beliefs(*layout.beliefs(messages), messages, True, 0, 0.0, np.zeros(0))
    run = iterate(lambda state: (layout.sweep(state[0]),), (messages,), damping=damping, tol=tol, max_iter=max_iter,
                  name="belief propagation", remedy="raise damping (0.5 is a good start) or max_iter, or lower beta")
    return Beliefs(*layout.beliefs(run.state[0]), run.state[0], run.converged, run.n_iter, run.residual,
                   run.history, run.reason)


def bethe_terms(graph: FactorGraph, messages: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    r"""Shifts of log Z by each variable (n,) and each factor (M,), from messages (E, K) of factors to variables.

    The first is log Z gained by adding variable i together with its factors, :math:`\ln\sum_x\prod_b u_{b\to i}(x)`,
    the second by adding factor a alone, :math:`\ln\sum f_a\prod_j m_{j\to a}`; m are the messages of variables to
    factors that follow from ``messages`` and u the unnormalised answers. The Bethe value is
    ``variable.sum() - ((degree - 1) * factor).sum()`` with the degree of each factor. For p-spin Ising factors the
    second is log[cosh(beta J) (1 + tanh(beta J) prod m)]. Source: the slides of pspin_ising; Mezard and Montanari (2009), 14.2.4.

    >>> from spinlib.factor_graph import bethe_terms, bp, ising
    >>> pair = ising([[0, 1], [1, 0]])
    >>> variable, factor = bethe_terms(pair, bp(pair).messages)
    >>> print(f"{variable.sum() - factor.sum():.5f}")
    1.82008
    """
    layout = Layout(graph, edges(graph))
    return layout.terms(_messages(messages, layout.valid))


def bethe_free_energy(graph: FactorGraph, marginals: ArrayLike, factor_marginals: Sequence[ArrayLike]) -> float:
    r"""Gibbs free energy in Bethe's approximation, in units of the temperature, for any beliefs.

    :math:`\sum_a\sum b_a\ln(b_a/f_a) - \sum_i(d_i-1)\sum b_i\ln b_i` with d_i the number of factors at variable i; minus
    log Z at a fixed point of belief propagation. Beliefs should be consistent (b_i a marginal of b_a), which is not
    checked. Source: Yedidia, Freeman and Weiss (2005). Raises ValueError for shapes that do not fit the graph, and for
    beliefs that are negative or do not sum to 1; inf where a belief is positive on a state of weight 0.

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
        raise ValueError(f"factor_marginals must hold {len(graph.factors)} tables, one a factor, got {len(factor_marginals)}")
    xlogx = lambda p: float((p * np.log(np.where(p > 0, p, 1.0))).sum())
    total = 0.0
    for a, ((_, table), belief) in enumerate(zip(graph.factors, factor_marginals)):
        belief = check_array(f"factor_marginals[{a}]", belief, table.shape)
        check_probabilities(f"factor_marginals[{a}]", belief.ravel(), (None,))
        used = belief > 0
        with np.errstate(divide="ignore"):
            total += float((belief[used] * (np.log(belief[used]) - np.log(table[used]))).sum())
    degree = np.bincount(edges(graph)[:, 1], minlength=graph.n)
    return total - sum((d - 1) * xlogx(row) for d, row in zip(degree.tolist(), b))


def _whole(name, numbers) -> np.ndarray:
    try:
        array = np.asarray(numbers)
    except ValueError as error:
        raise ValueError(f"{name} must be rows of equal length, got {numbers!r}") from error
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must hold whole numbers, the names of variables, got {numbers!r}")
    return array.astype(int)


def _messages(messages, valid) -> np.ndarray:
    messages = check_array("messages", messages, valid.shape, hint="one row per edge of the graph: Beliefs.messages of the same graph")
    if (messages < 0).any():
        raise ValueError(f"messages must be >= 0, got least {messages.min():g}; they are weights of states")
    empty = np.flatnonzero((messages * valid).sum(-1) == 0)
    if len(empty):
        raise ValueError(f"each message needs a state of positive weight, got only zeros in row {empty[0]}; start from uniform messages")
    return messages
