"""The replica calculation step by step: the public face is :mod:`spinlib.symbolic`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import sympy as sp

from spinlib._core import check_integer, check_type
from spinlib.symbolic._letters import J, N, S, beta, lam, n, p, q, q0, q0_hat, q1, q1_hat, q_hat, x
from spinlib.symbolic.parisi import log_det, parisi_matrix, parisi_spectrum, parisi_sum

COUPLING_VARIANCE = sp.factorial(p) / (
    2 * N ** (p - 1)
)  #: With it the energy is extensive, Thesis eq. (20)
#: What Thesis eqs. (46) and (118) leave out of -2 beta f, the entropy of the sphere
ENTROPY_CONSTANT = 1 + sp.log(2 * sp.pi)


# --- the disorder average ------------------------------------------------------------------------------------------


def gaussian_average(expression: sp.Expr, variable: sp.Symbol, variance: sp.Expr) -> sp.Expr:
    """Average of an expression over a Gaussian variable of mean 0 and the given variance; SymPy does the integral.

    The normalisation 1/sqrt(2 pi variance) is part of it (Thesis eq. (26); eq. (27b) loses it).

    >>> from spinlib.symbolic import gaussian_average, J, beta
    >>> gaussian_average(J**4, J, beta)
    3*beta**2
    """
    spread = sp.Symbol("spread", positive=True)
    weight = sp.exp(-(variable**2) / (2 * spread)) / sp.sqrt(2 * sp.pi * spread)
    return sp.simplify(sp.integrate(expression * weight, (variable, -sp.oo, sp.oo))).subs(
        spread, variance
    )


@cache
def disorder_exponent() -> sp.Expr:
    """log E exp(beta J S) for one coupling, S the sum over replicas of its product of spins (Thesis eqs. (26), (27c)).

    The sign is PLUS: averaging an exponential of a Gaussian can only raise it.

    >>> from spinlib.symbolic import disorder_exponent, p
    >>> disorder_exponent().subs(p, 3)
    3*S**2*beta**2/(2*N**2)
    """
    return sp.expand_log(
        sp.log(gaussian_average(sp.exp(beta * J * S), J, COUPLING_VARIANCE)), force=True
    )


@cache
def disorder_term() -> sp.Expr:
    """Coefficient of the sum of q_ab^p over a, b in (1/N) log of the averaged replicated weight; Thesis eqs. (28)-(30).

    Summed over the couplings, S^2 is N^p / p! times the sum of q_ab^p, up to a relative 1/N.

    >>> from spinlib.symbolic import disorder_term
    >>> disorder_term()
    beta**2/4
    """
    return sp.powsimp(sp.simplify(N**p / sp.factorial(p) * disorder_exponent().coeff(S, 2) / N))


# --- the replica action and its limit ------------------------------------------------------------------------------

# overlaps, conjugates, sizes of blocks
_RS, _ONE_RSB = ((q,), (q_hat,), (1, n)), ((q1, q0), (q1_hat, q0_hat), (1, x, n))


def replica_action(overlaps: sp.Matrix, conjugates: sp.Matrix) -> sp.Expr:
    """G[Q] of Thesis eq. (37), sign corrected, for explicit n x n matrices (their diagonals are not used: q_aa = 1).

    >>> from spinlib.symbolic import replica_action, q, q_hat
    >>> from spinlib.symbolic.parisi import parisi_matrix
    >>> G = replica_action(parisi_matrix((1, q), (1, 2)), parisi_matrix((0, q_hat), (1, 2)))
    >>> G.coeff(q_hat)
    q
    """
    for name, matrix in (("overlaps", overlaps), ("conjugates", conjugates)):
        check_type(
            name, matrix, sp.MatrixBase, "make one with parisi_matrix, or sympy.Matrix(n, n, ...)"
        )
    count = overlaps.rows
    if overlaps.shape != (count, count) or conjugates.shape != (count, count) or count < 1:
        raise ValueError(
            f"overlaps and conjugates must be square matrices of one size n x n, got {overlaps.shape} and "
            f"{conjugates.shape}; n is the number of replicas"
        )
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    site = sp.Matrix(count, count, lambda a, b: 2 * lam if a == b else conjugates[a, b])  # eq. (35)
    powers = count + 2 * sum(overlaps[ab] ** p for ab in pairs)
    return (
        sum(overlaps[ab] * conjugates[ab] for ab in pairs)
        + disorder_term() * powers
        - sp.log(site.det()) / 2
        + sp.Rational(count, 2) * sp.log(2 * sp.pi)
    )


def ansatz_action(overlaps: Sequence, conjugates: Sequence, sizes: Sequence) -> sp.Expr:
    """G of Thesis eq. (37) for nested blocks, with n (and x) symbols: eq. (40), sign corrected, for one overlap.

    ``overlaps`` and ``conjugates`` go from the inner block outwards: (q,), or (q1, q0) with sizes (1, x, n).

    >>> from spinlib.symbolic import ansatz_action, n_to_zero, n, q, q_hat, beta
    >>> n_to_zero(ansatz_action((q,), (q_hat,), (1, n))).coeff(beta, 2)
    1/4 - q**p/4
    """
    products = [a * b for a, b in zip(overlaps, conjugates, strict=True)]
    return (
        parisi_sum((0, *products), sizes) / 2
        + disorder_term() * parisi_sum((1, *(v**p for v in overlaps)), sizes)
        - log_det((2 * lam, *conjugates), sizes) / 2
        + sp.sympify(sizes[-1]) / 2 * sp.log(2 * sp.pi)
    )


def n_to_zero(expression: Any) -> sp.Expr:
    """lim expression / n as n -> 0: the derivative at n = 0 of an expression that vanishes there.

    The step is formal: n was a whole number. Raises ValueError if the expression does not vanish at n = 0.

    >>> from spinlib.symbolic import n_to_zero, n, q
    >>> n_to_zero(n * (n - 1) / 2 * q)
    -q/2
    """
    expression = sp.sympify(expression)
    rest = sp.simplify(expression.subs(n, 0))
    if rest != 0:
        raise ValueError(
            f"the expression must vanish at n = 0, but it is {rest} there: lim expression / n does not "
            "exist; subtract that constant first"
        )
    return sp.expand(sp.diff(expression, n).subs(n, 0))


@cache
def rs_action() -> sp.Expr:
    """lim G / n for one overlap q and its conjugate; Thesis eq. (41) is twice this, with the sign of beta^2 wrong.

    >>> from spinlib.symbolic import rs_action, q, q_hat
    >>> rs_action().coeff(q).coeff(q_hat)
    -1/2
    """
    return n_to_zero(ansatz_action(*_RS))


@cache
def rs_multipliers() -> dict[sp.Symbol, sp.Expr]:
    """{lam: ..., q_hat: ...} as functions of q, of dg/dq_hat = 0 and dg/dlam = -1 (Thesis eqs. (42b), (44)).

    >>> from spinlib.symbolic import rs_multipliers, q_hat
    >>> rs_multipliers()[q_hat]
    -q/(q - 1)**2
    """
    return _multipliers(*_RS)


@cache
def rs_free_energy() -> sp.Expr:
    """-2 beta f of the replica-symmetric ansatz without ``ENTROPY_CONSTANT``; Thesis eq. (46).

    From the action with the Legendre term, -beta f = lam + lim G / n (what Thesis eq. (39) leaves out), and the
    multipliers eliminated. At given beta the physical q is the one where f is LARGEST among the stationary points.

    >>> from spinlib.symbolic import rs_free_energy
    >>> rs_free_energy()
    beta**2*(1/2 - q**p/2) + q/(1 - q) + log(1 - q)
    """
    return _eliminate(rs_action(), rs_multipliers())


@cache
def rs_replicon(size: int = 4) -> sp.Expr:
    """Curvature of minus the action (multipliers eliminated) along q12 = q34 = +e, q13 = q24 = -e, per squared entry.

    From the explicit matrix of ``size`` >= 4 replicas; the answer does not depend on the size, so n -> 0 costs nothing.
    Negative: the replica-symmetric point is unstable. Not in the Thesis; compare Castellani and Cavagna (2005).

    >>> from spinlib.symbolic import rs_replicon, p, q
    >>> rs_replicon().subs(p, 3).subs(q, 0)
    1
    """
    size = check_integer(
        "size", size, 4, hint="the replicon moves four replicas against one another"
    )
    e = sp.Symbol("e", real=True)
    matrix = parisi_matrix((1, q), (1, size))
    for (a, b), sign in {(0, 1): 1, (2, 3): 1, (0, 2): -1, (1, 3): -1}.items():
        matrix[a, b] = matrix[b, a] = q + sign * e
    powers = 2 * sum(matrix[a, b] ** p for a in range(size) for b in range(a + 1, size))
    action = disorder_term() * powers + sp.log(sp.factor(matrix.det())) / 2
    curvature = sp.expand(-sp.diff(action, e, 2).subs(e, 0) / 4)
    return sp.factor(sp.powsimp(curvature.coeff(beta, 2))) * beta**2 + sp.factor(
        curvature.coeff(beta, 0)
    )


@cache
def one_rsb_action() -> sp.Expr:
    """lim G / n for overlaps q1 inside blocks of x replicas and q0 between them, before the multipliers are eliminated.

    >>> from spinlib.symbolic import one_rsb_action, rs_action, q, q0, q1, q_hat, q0_hat, q1_hat, equal
    >>> equal(one_rsb_action().subs({q1: q, q0: q, q1_hat: q_hat, q0_hat: q_hat}), rs_action())
    True
    """
    return n_to_zero(ansatz_action(*_ONE_RSB))


@cache
def one_rsb_multipliers() -> dict[sp.Symbol, sp.Expr]:
    """{lam: ..., q1_hat: ..., q0_hat: ...} as functions of q1, q0 and x: as :func:`rs_multipliers`, one step broken."""
    return _multipliers(*_ONE_RSB)


@cache
def one_rsb_free_energy() -> sp.Expr:
    """-2 beta f with one step of breaking, without ``ENTROPY_CONSTANT``; Thesis eq. (118) divided by x N / 2.

    >>> from spinlib.symbolic import one_rsb_free_energy, rs_free_energy, q, q0, q1, equal
    >>> equal(one_rsb_free_energy().subs({q0: q, q1: q}), rs_free_energy())
    True
    """
    return _eliminate(one_rsb_action(), one_rsb_multipliers())


@cache
def parisi_parameter_equation() -> sp.Expr:
    """d(-2 beta f)/dx, whose zero fixes x in [0, 1]: the equation that is missing beside (110)-(112) in the Thesis.

    At fixed q0 and q1 the physical x is the one where f is largest; at q1 = q0 it holds for every x.

    >>> from spinlib.symbolic import parisi_parameter_equation, q0, q1
    >>> parisi_parameter_equation().subs(q0, q1)
    0
    """
    return sp.diff(one_rsb_free_energy(), x)


def _multipliers(overlaps, conjugates, sizes):
    """lam n + sum_(a<b) q q_hat - ln det(Q) / 2 is stationary where Q is the inverse of the overlap matrix.

    The two matrices share eigenvectors, so this is one linear equation per eigenvalue; then n -> 0.
    """
    site = parisi_spectrum((2 * lam, *conjugates), sizes)
    overlap = parisi_spectrum((1, *overlaps), sizes)
    solution = sp.solve(
        [a - 1 / b for (a, _), (b, _) in zip(site, overlap)], [lam, *conjugates], dict=True
    )[0]
    return {letter: sp.factor(sp.cancel(value).subs(n, 0)) for letter, value in solution.items()}


def _eliminate(action, multipliers):
    """2 (lam + action) at the multipliers, without the constant: energy + logarithms + one rational term."""
    full = sp.expand(2 * (lam + action))
    energy, logs = (
        full.coeff(beta, 2) * beta**2,
        sum(term for term in full.args if term.has(sp.log)),
    )
    rational = _positive(sp.cancel((full - energy - logs).subs(multipliers) - 1))
    put = lambda log: -sp.log(_positive(sp.cancel(1 / log.args[0].subs(multipliers))))
    at_saddle = {log: put(log) for log in logs.atoms(sp.log) if log.free_symbols}
    return energy + (logs - sp.log(2) - sp.log(sp.pi)).subs(at_saddle) + rational


def _positive(fraction):
    """The fraction with signs chosen so that its denominator is positive at overlap 0."""
    above, below = sp.fraction(fraction)
    sign = sp.sign(below.subs({letter: 0 for letter in below.free_symbols}))
    return sp.expand(sign * above) / sp.expand(sign * below)
