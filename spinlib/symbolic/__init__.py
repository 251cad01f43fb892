"""The replica free energies of the spherical p-spin model, derived with SymPy, and a proof that two things are equal.

The letters are module-level symbols: ``beta`` (1/T), ``p`` (spins per coupling), ``J`` (a coupling), ``n`` (replicas),
``x`` (Parisi parameter), ``lam`` (multiplier of Thesis eq. (23), half of the lambda_0 of the book), ``q`` or ``q1, q0``
(overlaps). All energies are per spin. Matrices of replicas are in :mod:`spinlib.symbolic.parisi`.
"""

from spinlib._core import need

need("sympy", "spinlib.symbolic")

from spinlib.symbolic._identity import difference
from spinlib.symbolic._replica import (
    ENTROPY_CONSTANT,
    J,
    beta,
    lam,
    n,
    one_rsb_free_energy,
    p,
    q,
    q0,
    q1,
    rs_free_energy,
    x,
)

__all__ = [
    "ENTROPY_CONSTANT",
    "J",
    "beta",
    "difference",
    "lam",
    "n",
    "one_rsb_free_energy",
    "p",
    "q",
    "q0",
    "q1",
    "rs_free_energy",
    "x",
]
