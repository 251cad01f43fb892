"""The replica calculation, its letters and its way from the action to the free energy: see :mod:`spinlib.symbolic`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import sympy as sp

from spinlib.symbolic.parisi import log_det, parisi_spectrum, parisi_sum

beta, p, x, q, q0, q1 = sp.symbols("beta p x q q0 q1", positive=True)
J, lam, n, q0_hat, q1_hat = sp.symbols("J lambda n qhat0 qhat1", real=True)

#: What Thesis eqs. (46) and (118) leave out of -2 beta f, the entropy of the sphere
ENTROPY_CONSTANT = 1 + sp.log(2 * sp.pi)


def ansatz_action(overlaps: Sequence, conjugates: Sequence, sizes: Sequence) -> sp.Expr:
    """G of Thesis eq. (37), sign corrected, for nested blocks; ``overlaps`` go from the inner block outwards.

    beta^2 / 4 is the disorder average of Thesis eqs. (26)-(30); the sign is PLUS.
    """
    return (
        parisi_sum((0, *(a * b for a, b in zip(overlaps, conjugates))), sizes) / 2
        + beta**2 / 4 * parisi_sum((1, *(v**p for v in overlaps)), sizes)
        - log_det((2 * lam, *conjugates), sizes) / 2
        + sp.sympify(sizes[-1]) / 2 * sp.log(2 * sp.pi)
    )


def multipliers(overlaps: Sequence, conjugates: Sequence, sizes: Sequence) -> dict:
    """{lam: ..., conjugates: ...} at n = 0: lam n + G is stationary where 2 lam, q_hat invert the overlap matrix.

    The two matrices share eigenvectors, so this is one linear equation per eigenvalue; then n -> 0.
    """
    site = parisi_spectrum((2 * lam, *conjugates), sizes)
    overlap = parisi_spectrum((1, *overlaps), sizes)
    equations = [a - 1 / b for (a, _), (b, _) in zip(site, overlap)]
    solution = sp.solve(equations, [lam, *conjugates], dict=True)[0]
    return {letter: sp.factor(sp.cancel(value).subs(n, 0)) for letter, value in solution.items()}


@cache
def one_rsb_free_energy() -> sp.Expr:
    """-2 beta f with one step of breaking, without ``ENTROPY_CONSTANT``; Thesis eq. (118) divided by x N / 2.

    From the action with the Legendre term, -beta f = lam + lim G / n (what Thesis eq. (39) leaves out), and the
    multipliers eliminated. At given beta the physical point is the one where f is LARGEST among the stationary points.

    >>> from spinlib.symbolic import one_rsb_free_energy, rs_free_energy, q0, x, difference, q
    >>> difference(one_rsb_free_energy().subs(x, 1), rs_free_energy().subs(q, q0))
    0
    """
    ansatz = (q1, q0), (q1_hat, q0_hat), (1, x, n)
    action, at = sp.diff(ansatz_action(*ansatz), n).subs(n, 0), multipliers(*ansatz)
    full = sp.expand(2 * (lam + action))
    logs = sum(term for term in full.args if term.has(sp.log))
    energy = full.coeff(beta, 2) * beta**2
    rational = _positive(sp.cancel((full - energy - logs).subs(at) - 1))
    put = lambda log: -sp.log(_positive(sp.cancel(1 / log.args[0].subs(at))))
    at_saddle = {log: put(log) for log in logs.atoms(sp.log) if log.free_symbols}
    return energy + (logs - sp.log(2) - sp.log(sp.pi)).subs(at_saddle) + rational


@cache
def rs_free_energy() -> sp.Expr:
    """-2 beta f of the replica-symmetric ansatz without ``ENTROPY_CONSTANT``; Thesis eq. (46): q1 = q0 = q.

    >>> from spinlib.symbolic import rs_free_energy
    >>> rs_free_energy()
    beta**2*(1/2 - q**p/2) + q/(1 - q) + log(1 - q)
    """
    return one_rsb_free_energy().subs({q0: q, q1: q})


def _positive(fraction):
    """The fraction with signs chosen so that its denominator is positive at overlap 0."""
    above, below = sp.fraction(fraction)
    sign = sp.sign(below.subs({letter: 0 for letter in below.free_symbols}))
    return sp.expand(sign * above) / sp.expand(sign * below)
