"""The replica calculation step by step, Thesis eqs. (20) to (46), for the tests of the register of equations."""

from functools import cache
from typing import Any

import sympy as sp

from spinlib.symbolic import J, beta, lam, n, p, q, q0, q1, x
from spinlib.symbolic._replica import ansatz_action, multipliers, q0_hat, q1_hat
from spinlib.symbolic.parisi import parisi_matrix

N = sp.Symbol("N", positive=True)
S, q_hat = sp.symbols("S qhat", real=True)
#: With it the energy is extensive, Thesis eq. (20)
COUPLING_VARIANCE = sp.factorial(p) / (2 * N ** (p - 1))
# overlaps, conjugates, sizes of blocks
RS, ONE_RSB = ((q,), (q_hat,), (1, n)), ((q1, q0), (q1_hat, q0_hat), (1, x, n))


def gaussian_average(expression: sp.Expr, variable: sp.Symbol, variance: sp.Expr) -> sp.Expr:
    """Average of an expression over a Gaussian variable of mean 0 and the given variance; SymPy does the integral.

    The normalisation 1/sqrt(2 pi variance) is part of it (Thesis eq. (26); eq. (27b) loses it).
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
    """
    return sp.expand_log(
        sp.log(gaussian_average(sp.exp(beta * J * S), J, COUPLING_VARIANCE)), force=True
    )


@cache
def disorder_term() -> sp.Expr:
    """Coefficient of the sum of q_ab^p over a, b in (1/N) log of the averaged replicated weight; Thesis eqs. (28)-(30).

    Summed over the couplings, S^2 is N^p / p! times the sum of q_ab^p, up to a relative 1/N.
    """
    return sp.powsimp(sp.simplify(N**p / sp.factorial(p) * disorder_exponent().coeff(S, 2) / N))


def replica_action(overlaps: sp.Matrix, conjugates: sp.Matrix) -> sp.Expr:
    """G[Q] of Thesis eq. (37), sign corrected, for explicit n x n matrices (their diagonals are not used: q_aa = 1)."""
    count = overlaps.rows
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    site = sp.Matrix(count, count, lambda a, b: 2 * lam if a == b else conjugates[a, b])  # eq. (35)
    powers = count + 2 * sum(overlaps[ab] ** p for ab in pairs)
    return (
        sum(overlaps[ab] * conjugates[ab] for ab in pairs)
        + disorder_term() * powers
        - sp.log(site.det()) / 2
        + sp.Rational(count, 2) * sp.log(2 * sp.pi)
    )


def n_to_zero(expression: Any) -> sp.Expr:
    """lim expression / n as n -> 0: the derivative at n = 0 of an expression that vanishes there.

    The step is formal: n was a whole number. Raises ValueError if the expression does not vanish at n = 0.
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
    """lim G / n for one overlap q and its conjugate; Thesis eq. (41) is twice this, with the sign of beta^2 wrong."""
    return n_to_zero(ansatz_action(*RS))


@cache
def rs_multipliers() -> dict[sp.Symbol, sp.Expr]:
    """{lam: ..., q_hat: ...} as functions of q, of dg/dq_hat = 0 and dg/dlam = -1 (Thesis eqs. (42b), (44))."""
    return multipliers(*RS)


@cache
def rs_replicon(size: int = 4) -> sp.Expr:
    """Curvature of minus the action (multipliers eliminated) along q12 = q34 = +e, q13 = q24 = -e, per squared entry.

    From the explicit matrix of ``size`` >= 4 replicas; the answer does not depend on the size, so n -> 0 costs nothing.
    Negative: the replica-symmetric point is unstable. Not in the Thesis; compare Castellani and Cavagna (2005).
    """
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
    """lim G / n for overlaps q1 inside blocks of x replicas and q0 between, multipliers kept."""
    return n_to_zero(ansatz_action(*ONE_RSB))


@cache
def one_rsb_multipliers() -> dict[sp.Symbol, sp.Expr]:
    """{lam: ..., q1_hat: ..., q0_hat: ...} as functions of q1, q0 and x: as :func:`rs_multipliers`, one step broken."""
    return multipliers(*ONE_RSB)
