"""Discrete sum-product on factor graphs: messages, marginals, Bethe free energy; enumeration to check them."""

from spinlib.factor_graph._beliefs import Beliefs, bethe_terms, bp, enumerate_states
from spinlib.factor_graph._graph import FactorGraph
from spinlib.factor_graph._ising import ising, pspin_ising

__all__ = [
    "Beliefs",
    "FactorGraph",
    "bethe_terms",
    "bp",
    "enumerate_states",
    "ising",
    "pspin_ising",
]
