"""Whether two expressions are the same, by algebra."""

from __future__ import annotations

from typing import Any

import sympy as sp


def difference(a: Any, b: Any) -> sp.Expr:
    """``a - b``, simplified; 0 (the exact integer) proves that the two expressions are identical.

    >>> from spinlib.symbolic import difference, q
    >>> difference(q / (1 - q) + 1, 1 / (1 - q))
    0
    """
    gap = sp.expand(sp.sympify(a) - sp.sympify(b))
    if gap == 0 or sp.cancel(_flatten(gap)) == 0:
        return sp.Integer(0)
    return min(gap, sp.factor(gap), key=sp.count_ops)


def _flatten(expression):
    """Powers as q^p times whole powers of q, logarithms as sums over irreducible factors: then it is rational."""
    expression = sp.expand_power_base(sp.expand_power_exp(expression), force=True)
    split = lambda log: (
        _split_log(log.args[0]) if log.free_symbols else sp.expand_log(log, force=True)
    )
    return expression.subs({log: split(log) for log in expression.atoms(sp.log)})


def _split_log(argument):
    parts = sp.Integer(0)
    # a factor or its negative, whichever has a positive leading coefficient
    turned = lambda factor: -factor if factor.could_extract_minus_sign() else factor
    for side, sign in zip(sp.fraction(sp.cancel(argument)), (1, -1)):
        number, factors = sp.factor_list(side)
        parts += sign * (
            sp.log(abs(number)) + sum(power * sp.log(turned(factor)) for factor, power in factors)
        )
    return parts
