"""The Bethe free energy of x replicas, ln Z per spin: Thesis eqs. (113)-(117)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from spinlib.symbolic._letters import J, beta, lam, p, q0, q1, x
from spinlib.symbolic.cavity import K, K_VARIANCE, log_Z_message
from spinlib.symbolic.one_rsb._messages import (
    A,
    D0,
    D1,
    between,
    h,
    multiplier,
    replica_message,
    replica_moments,
    replica_spins,
    weak_coupling_log,
    within,
)


@cache
def factor_term() -> sp.Expr:
    """Sum over couplings of beta F_a^RSB, per spin; Thesis eq. (114) with <J> = 0.

    Each state weighs its own replica-symmetric factor with the power x: the average over states of exp(x beta F_a),
    where beta F_a = beta J prod m + beta^2 J^2 (prod(Delta1 + m^2) - prod m^2) / 2 is Thesis eq. (66). x is a symbol.

    >>> from spinlib.symbolic.one_rsb import factor_term, q0, q1
    >>> from spinlib.symbolic.cavity import factor_term as rs
    >>> from spinlib.symbolic import equal, q, x
    >>> equal(factor_term().subs({q0: q, q1: q}), x * rs())
    True
    """
    # over p spins: prod h^2, E prod m^2, E prod sigma^2
    mean, cross, same = sp.symbols("mean cross same", positive=True)
    # ln E exp(x beta F) to order J^2: the mean of each term, plus half the variance over states of the first
    log = x * beta**2 * J**2 * (same - cross) / 2 + (x * beta * J) ** 2 * (cross - mean) / 2
    return sp.expand(log.coeff(J, 2) * K_VARIANCE / p).subs({same: 1, cross: q1**p, mean: q0**p})


@cache
def node_log() -> sp.Expr:
    """beta F_i^RSB for sums A, D1, D0 of all couplings, x a symbol; Thesis eq. (115) without the normalisations.

    Over the states the field of a spin is Gaussian, of mean A and variance D0; in each of them the spin gives the
    replica-symmetric ln Z_i = ln(2 pi / D1) / 2 + field^2 / (2 D1). SymPy averages its x-th power.

    >>> from spinlib.symbolic.one_rsb import node_log, A, D0
    >>> node_log().subs({A: 0, D0: 0}).expand()
    -x*log(D1)/2 + x*log(2)/2 + x*log(pi)/2
    """
    z, narrow = (
        sp.Symbol("z", real=True),
        sp.Symbol("narrow", positive=True),
    )  # narrow = 1 - x D0 / D1 > 0
    power = x * (A + sp.sqrt(D0) * z) ** 2 / (2 * D1) - z**2 / 2
    linear, rest, l = (
        sp.expand(power).coeff(z, 1),
        sp.expand(power).coeff(z, 0),
        sp.Symbol("l", real=True),
    )
    integral = sp.simplify(
        sp.integrate(sp.exp(l * z - narrow * z**2 / 2) / sp.sqrt(2 * sp.pi), (z, -sp.oo, sp.oo))
    )
    log = sp.expand_log(sp.log(integral), force=True).subs(l, linear).subs(narrow, 1 - x * D0 / D1)
    return x * (sp.log(2) + sp.log(sp.pi) - sp.log(D1)) / 2 + rest + log


@cache
def node_term() -> sp.Expr:
    """Mean over spins of :func:`node_log` with E A^2 = q0 (D1 - x D0)^2 and the saddle's D1, D0; Thesis eq. (115).

    >>> from spinlib.symbolic.one_rsb import node_term
    >>> from spinlib.symbolic.cavity import K
    >>> sorted(map(str, node_term().coeff(K).free_symbols))
    ['logZmessage', 'x']
    """
    log, inner, outer = (
        node_log(),
        1 / (1 - q1),
        1 / (1 - q1 + x * (q1 - q0)),
    )  # D1 and D1 - x D0 on the saddle
    put = lambda e: e.subs(D0, (D1 - outer) / x).subs(D1, inner)
    quadratic = sp.cancel(sp.expand(log).coeff(A, 2)) * (D1 - x * D0) ** 2
    logs = log.subs(A, 0)
    logs = logs.subs(
        {a: _log_of_factors(put(a.args[0])) for a in logs.atoms(sp.log) if a.free_symbols}
    )
    return sp.expand(logs) + q0 * sp.factor(put(sp.cancel(quadratic))) - x * K * log_Z_message


def _log_of_factors(argument):
    """ln of a fraction as a sum over its factors, each with the sign that makes it positive at zero overlaps."""
    above, below = (sp.factor_list(side)[1] for side in sp.fraction(sp.cancel(argument)))
    sign = lambda factor: sp.sign(factor.subs({q0: 0, q1: 0}))
    powers = above + [(factor, -power) for factor, power in below]
    return sum(power * sp.log(sp.expand(sign(factor) * factor)) for factor, power in powers)


@cache
def edge_term(printed: bool = False) -> sp.Expr:
    """Sum over edges of beta F_ai^RSB, per spin; Thesis eq. (116). ``printed=True`` keeps the normalisations only.

    Derived on one edge: the factor's message (A, B_d, B_nd), with its share of the multiplier, is averaged over the
    joint message of x replicas of the spin, to order J^2 and 1/K; for that only E sigma, E sigma^2 and E sigma sigma'
    are needed. The slip of eq. (68) again: Z_(ai) Z_(a->i)^x = Z_a <exp(-lam sum sigma^2 / 2K)>, each 1 + O(1/K), on K
    edges a spin.

    >>> from spinlib.symbolic.one_rsb import edge_term, factor_term, lam, p, x
    >>> (edge_term() - edge_term(printed=True) - p * factor_term() + lam * x / 2).expand()
    0
    """
    normalisation = -x * K * log_Z_message
    if printed:
        return normalisation
    mean, same, cross, share = sp.symbols(
        "mean same cross share", positive=True
    )  # of the p - 1 other spins; 1 / K
    spins = replica_spins(2)
    linear, b_d, b_nd = replica_message(
        weak_coupling_log([(sp.sqrt(mean), cross - mean, same - cross)], spins), spins
    )
    first, square, pair = (
        replica_moments()
    )  # of the spin: sums over x replicas have x squares and x (x - 1) pairs
    squares, pairs = x * square, x * (x - 1) * pair
    variance = squares + pairs - (x * first) ** 2
    edge = sp.expand((linear**2 * variance - (b_d + share * lam) * squares + b_nd * pairs) / 2)
    per_spin = edge.coeff(J, 2) * K_VARIANCE + edge.coeff(J, 0).coeff(share)  # K edges, <J> = 0
    per_spin = per_spin.subs({mean: q0 ** (p - 1), cross: q1 ** (p - 1), same: 1})
    per_spin = per_spin.subs({h: sp.sqrt(q0), between: q1 - q0, within: 1 - q1})
    return normalisation + sp.expand(sp.powsimp(sp.expand(per_spin)))


@cache
def bethe_free_energy(printed: bool = False) -> sp.Expr:
    """-2 beta f = 2/x (factors + nodes - edges) at the multiplier of eq. (112); Thesis eqs. (113), (117), (118).

    ``printed=True`` uses the edges as printed and gives (118) identically; the right edges give it on the saddle, where
    what (118) drops is the constant 1 per spin: together they make ``ENTROPY_CONSTANT``.

    >>> from spinlib.symbolic.one_rsb import bethe_free_energy
    >>> from spinlib.symbolic import equal, one_rsb_free_energy
    >>> import sympy as sp
    >>> equal(bethe_free_energy(printed=True), one_rsb_free_energy() + sp.log(2 * sp.pi))
    True
    """
    total = factor_term() + node_term() - edge_term(printed)
    return sp.expand(sp.expand(2 * total / x).subs(lam, multiplier()))
