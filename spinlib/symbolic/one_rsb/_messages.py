"""The message of x replicas, from the joint Gaussian to the closed equations: Thesis eqs. (76)-(112)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import sympy as sp

from spinlib.symbolic._letters import J, beta, lam, p, q0, q1, x
from spinlib.symbolic.cavity import K_VARIANCE
from spinlib.symbolic.parisi import parisi_spectrum

h, A = sp.symbols("h A", real=True)
between, within = sp.symbols("Delta0 Delta1", positive=True)
B_d, B_nd, D1, D0 = sp.symbols(
    "B_d B_nd D1 D0", positive=True
)  #: D1 = B_d + B_nd and D0 = B_nd on the graph's average


def replica_spins(count: int) -> tuple[sp.Symbol, ...]:
    """The spin of one site in ``count`` replicas, as symbols.

    >>> from spinlib.symbolic.one_rsb import replica_spins
    >>> replica_spins(3)
    (sigma1, sigma2, sigma3)
    """
    return sp.symbols(f"sigma1:{count + 1}", real=True)


# --- the joint message and its moments -----------------------------------------------------------------------------


@cache
def _gaussian_log():
    """ln of E exp(t s) for a Gaussian s of mean a, variance b; SymPy integrates."""
    t, s, a = sp.symbols("t s a", real=True)
    b = sp.Symbol("b", positive=True)
    value = sp.integrate(
        sp.exp(t * s - (s - a) ** 2 / (2 * b)) / sp.sqrt(2 * sp.pi * b), (s, -sp.oo, sp.oo)
    )
    return (t, a, b), sp.expand(sp.expand_log(sp.log(sp.simplify(value)), force=True))


def joint_log_average(
    sources: Sequence, mean: Any = h, between: Any = between, within: Any = within
) -> sp.Expr:
    """ln E exp(sum_a t_a sigma_a) of the joint message with ``sources`` t_a, one a replica; Thesis eqs. (76)-(78).

    First over the spin of each replica at the state's mean, then over that mean: two Gaussian integrals.

    >>> from spinlib.symbolic.one_rsb import joint_log_average
    >>> joint_log_average([1, 0])
    Delta0/2 + Delta1/2 + h
    """
    (t, a, b), log = _gaussian_log()
    m = sp.Symbol("m_state", real=True)
    inside = sp.expand(sum(log.subs({t: source, a: m, b: within}) for source in sources))
    return sp.expand(
        inside.coeff(m, 0)
        + log.subs({t: inside.coeff(m, 1), a: mean, b: between}, simultaneous=True)
    )


@cache
def replica_moments() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """(E sigma, E sigma^2, E sigma sigma') of one spin, the last over two replicas; Thesis eqs. (79)-(81).

    So h, Delta0, Delta1 are E sigma, E sigma sigma' - h^2, E sigma^2 - E sigma sigma': Thesis eqs. (82)-(84).

    >>> from spinlib.symbolic.one_rsb import replica_moments
    >>> replica_moments()
    (h, Delta0 + Delta1 + h**2, Delta0 + h**2)
    """
    t, u = sp.symbols("t u", real=True)
    generating = sp.exp(joint_log_average([t, u]))
    at_zero = lambda expression: sp.expand(expression.subs({t: 0, u: 0}))
    return tuple(at_zero(sp.diff(generating, *by)) for by in ((t,), (t, t), (t, u)))


# --- from messages to messages -------------------------------------------------------------------------------------


def weak_coupling_log(spins: Sequence[tuple], amplitudes: Sequence) -> sp.Expr:
    """ln E exp(beta J sum_a amplitude_a prod_j sigma_j^a) to order J^2; Thesis eqs. (86)-(91).

    ``spins`` = [(h_j, Delta0_j, Delta1_j), ...]; one amplitude a replica: the spins of the site that hears the message,
    or ones for the whole factor.

    >>> from spinlib.symbolic.one_rsb import weak_coupling_log, h, between, within
    >>> weak_coupling_log([(h, between, within)], [1])
    Delta0*J**2*beta**2/2 + Delta1*J**2*beta**2/2 + J*beta*h
    """
    first, same, cross = (
        sp.Mul(
            *(moment.subs({h: a, between: b, within: c}, simultaneous=True) for a, b, c in spins)
        )
        for moment in replica_moments()
    )
    linear = sum(amplitudes) * first
    total, squares = sum(amplitudes), sum(a**2 for a in amplitudes)
    square = squares * same + (total**2 - squares) * cross
    return sp.expand(beta * J * linear + (beta * J) ** 2 * (square - linear**2) / 2)


def replica_message(
    log_weight: sp.Expr, sources: Sequence[sp.Symbol]
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """(A, B_d, B_nd) of exp(A sum s_a - B_d sum s_a^2 / 2 + B_nd sum_(a != b) s_a s_b / 2); Thesis eqs. (92)-(96).

    ``sources`` are the replicas of the spin. Raises ValueError if the weight is not of this form.

    >>> from spinlib.symbolic.one_rsb import replica_message, replica_spins
    >>> s = replica_spins(2)
    >>> replica_message(5 * sum(s) - s[0]**2 - s[1]**2 + 3 * s[0] * s[1], s)
    (5, 2, 3)
    """
    if len(sources) < 2:
        raise ValueError(
            f"sources must be at least 2 replicas, got {len(sources)}; with one there is no B_nd"
        )
    s, t = sources[:2]
    found = sp.Poly(sp.expand(log_weight), *sources)
    a, b_d, b_nd = (
        found.coeff_monomial(s),
        -2 * found.coeff_monomial(s**2),
        found.coeff_monomial(s * t),
    )
    total, squares = sum(sources), sum(c**2 for c in sources)
    rebuilt = a * total - b_d * squares / 2 + b_nd * (total**2 - squares) / 2
    if sp.expand(log_weight - rebuilt) != 0:
        raise ValueError(
            "log_weight must be quadratic, treat all replicas alike and have no constant; expand it to "
            f"order J^2 and leave the normalisation out; {sp.expand(log_weight - rebuilt)} is left over"
        )
    return a, b_d, b_nd


def message_moments(
    A: Any = A, B_d: Any = B_d, B_nd: Any = B_nd, x: Any = x
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """(h, Delta0, Delta1) of the Gaussian with sums ``A, B_d, B_nd``, for any x replicas; Thesis eqs. (97)-(102).

    The matrix B_d on, -B_nd off the diagonal is inverted through its spectrum, so x may be a symbol or a fraction.
    Infinite where B_d = (x - 1) B_nd: there the states no longer have a finite spread.

    >>> from spinlib.symbolic.one_rsb import message_moments
    >>> message_moments(6, 4, 1, 2)
    (2, 1/15, 1/5)
    """
    (inner, _), (outer, _) = parisi_spectrum((B_d, -B_nd), (1, x))
    off = (1 / outer - 1 / inner) / sp.sympify(
        x
    )  # the inverse has 1 / eigenvalue, the same eigenvectors
    return tuple(sp.factor(value) for value in (sp.sympify(A) / outer, off, 1 / inner))


# --- the average over the graph, <J> = 0 ---------------------------------------------------------------------------


@cache
def graph_averages() -> dict[str, sp.Expr]:
    """{'field': E A^2, 'D1': B_d + B_nd, 'D0': B_nd} summed over a spin's K couplings; Thesis eqs. (104)-(106), (109).

    h of different messages are independent with E h^2 = q0; E sigma^2 = 1 and E sigma sigma' = q1 after (83), (84).

    >>> from spinlib.symbolic.one_rsb import graph_averages
    >>> graph_averages()['field']
    beta**2*p*q0**(p - 1)/2
    """
    # of the product of p - 1 spins: E h^2, E s^2, E s s'
    mean, same, cross = sp.symbols("mean same cross", positive=True)
    spins = replica_spins(2)
    log = weak_coupling_log([(sp.sqrt(mean), cross - mean, same - cross)], spins)
    linear, b_d, b_nd = replica_message(log, spins)
    summed = lambda expression: (sp.expand(expression).coeff(J, 2) * K_VARIANCE).subs(
        {mean: q0 ** (p - 1), cross: q1 ** (p - 1), same: 1}
    )
    return {"field": summed(linear**2), "D1": lam + summed(b_d + b_nd), "D0": summed(b_nd)}


@cache
def closed_equations(multiplied: bool = True) -> dict[str, sp.Expr]:
    """{'q0', 'q1', 'lam'}: right minus left of Thesis eqs. (104), (111), (112), with lam; (104) is (110) times q0.

    With ``multiplied=False`` the first is eq. (110) as printed, divided by q0: it loses q0 = 0, the solution without a
    field.

    >>> from spinlib.symbolic.one_rsb import closed_equations, q0
    >>> from spinlib.symbolic import p
    >>> closed_equations()['q0'].subs(p, 3).subs(q0, 0)
    0
    """
    average = graph_averages()
    inner, outer = average["D1"], average["D1"] - x * average["D0"]
    first = (
        average["field"] / outer**2 - q0
        if multiplied
        else outer**2 - sp.powsimp(average["field"] / q0)
    )
    return {
        "q0": first,
        "q1": average["D0"] / (inner * outer) - (q1 - q0),
        "lam": 1 / inner - (1 - q1),
    }


@cache
def multiplier() -> sp.Expr:
    """lam as a function of q1 from 1/D1 = 1 - q1, Thesis eq. (112); at x = 1 and q1 = q0 it is that of eq. (59).

    >>> from spinlib.symbolic.one_rsb import multiplier, p, q1
    >>> multiplier().subs(p, 3).subs(q1, 0)
    3*beta**2/2 + 1
    """
    return 1 / (1 - q1) - (graph_averages()["D1"] - lam)


@cache
def saddle_equations() -> tuple[sp.Expr, sp.Expr]:
    """(E_0, E_1), zero on the saddle, with lam eliminated; E_0 keeps q0 = 0. Thesis eqs. (110), (111).

    From (112), 1/D1 = 1 - q1, and (107) turned round, 1/(D1 - x D0) = 1 - q1 + x (q1 - q0) =: D. Then (104) is E_0 = 0
    and (107) is E_1 = 0.

    >>> from spinlib.symbolic.one_rsb import saddle_equations, p, q0
    >>> saddle_equations()[0].subs(p, 3).subs(q0, 0)
    0
    """
    average, D = graph_averages(), 1 - q1 + x * (q1 - q0)
    return average["field"] - q0 / D**2, average["D0"] - (q1 - q0) / ((1 - q1) * D)


def on_the_saddle(expression: sp.Expr) -> sp.Expr:
    """The expression with q0^p and q1^p eliminated by :func:`saddle_equations`, valid at q0 = 0 and at q0 > 0.

    >>> from spinlib.symbolic.one_rsb import on_the_saddle, saddle_equations
    >>> [on_the_saddle(e) for e in saddle_equations()]
    [0, 0]
    """
    c, D = p * beta**2 / 2, 1 - q1 + x * (q1 - q0)
    power0 = q0 / (c * D**2)  # q0^(p-1)
    power1 = power0 + (q1 - q0) / (c * (1 - q1) * D)  # q1^(p-1)
    split = sp.expand(sp.expand_power_exp(sp.expand(expression)))
    return sp.simplify(split.subs({q0**p: q0 * power0, q1**p: q1 * power1}))
