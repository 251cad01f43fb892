"""The replica calculation for the spherical p-spin model, derived with SymPy.

Nothing here is a formula typed in at its end: every function builds its answer from the step before. The letters are
module-level symbols: ``beta`` (1/T), ``p`` (spins per coupling), ``n`` (replicas), ``N`` (spins), ``x`` (Parisi
parameter), ``lam`` (multiplier of Thesis eq. (23), half of the lambda_0 of the book), ``q`` or ``q1, q0`` (overlaps),
``q_hat, q1_hat, q0_hat`` (their conjugates). All energies are per spin.
"""

from spinlib._core import need

need("sympy", "spinlib.symbolic")

from spinlib.symbolic._identity import difference, equal
from spinlib.symbolic._letters import J, N, S, beta, lam, n, p, q, q0, q0_hat, q1, q1_hat, q_hat, x
from spinlib.symbolic._replica import (
    COUPLING_VARIANCE,
    ENTROPY_CONSTANT,
    ansatz_action,
    disorder_exponent,
    disorder_term,
    gaussian_average,
    n_to_zero,
    one_rsb_action,
    one_rsb_free_energy,
    one_rsb_multipliers,
    parisi_parameter_equation,
    replica_action,
    rs_action,
    rs_free_energy,
    rs_multipliers,
    rs_replicon,
)

__all__ = [
    "COUPLING_VARIANCE",
    "ENTROPY_CONSTANT",
    "J",
    "N",
    "S",
    "ansatz_action",
    "beta",
    "difference",
    "disorder_exponent",
    "disorder_term",
    "equal",
    "gaussian_average",
    "lam",
    "n",
    "n_to_zero",
    "one_rsb_action",
    "one_rsb_free_energy",
    "one_rsb_multipliers",
    "p",
    "parisi_parameter_equation",
    "q",
    "q0",
    "q0_hat",
    "q1",
    "q1_hat",
    "q_hat",
    "replica_action",
    "rs_action",
    "rs_free_energy",
    "rs_multipliers",
    "rs_replicon",
    "x",
]
