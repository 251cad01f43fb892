"""The cavity calculation with one step of replica symmetry breaking, derived with SymPy: Thesis eqs. (76)-(117).

A message is joint over x replicas: they share the mean of their state, which is Gaussian over the states. Letters as in
:mod:`spinlib.symbolic` and :mod:`spinlib.symbolic.cavity`; ``h`` is the mean over all states, ``between`` (Delta0 of
the Thesis, q1 - q0) the variance of the states' means, ``within`` (Delta1, 1 - q1) the variance inside a state.
q1 is the overlap INSIDE a state and q0 the one BETWEEN states; the Thesis swaps the two after its eq. (84).
"""

from spinlib.symbolic._letters import J, beta, lam, p, q0, q1, x
from spinlib.symbolic.cavity import K
from spinlib.symbolic.one_rsb._bethe import (
    bethe_free_energy,
    edge_term,
    factor_term,
    node_log,
    node_term,
)
from spinlib.symbolic.one_rsb._messages import (
    A,
    B_d,
    B_nd,
    D0,
    D1,
    between,
    closed_equations,
    graph_averages,
    h,
    joint_log_average,
    message_moments,
    multiplier,
    on_the_saddle,
    replica_message,
    replica_moments,
    replica_spins,
    saddle_equations,
    weak_coupling_log,
    within,
)

__all__ = [  # the letters, then in the order of the derivation
    "J",
    "K",
    "beta",
    "lam",
    "p",
    "q0",
    "q1",
    "x",
    "A",
    "B_d",
    "B_nd",
    "D0",
    "D1",
    "between",
    "h",
    "within",
    "replica_spins",
    "joint_log_average",
    "replica_moments",
    "weak_coupling_log",
    "replica_message",
    "message_moments",
    "graph_averages",
    "closed_equations",
    "multiplier",
    "saddle_equations",
    "on_the_saddle",
    "factor_term",
    "node_log",
    "node_term",
    "edge_term",
    "bethe_free_energy",
]
