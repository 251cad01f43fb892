"""Whether two expressions are the same: proved by algebra, or refuted at a point."""

from __future__ import annotations

from typing import Any

import sympy as sp

from spinlib.symbolic._letters import p


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


def equal(a: Any, b: Any) -> bool:
    """True if algebra reduces ``a - b`` to the exact 0: a proof for all values of the symbols at which both are real.

    False is proved as well, by a witness: a point of rational numbers in (0, 1) (3 more for ``p``) at which the two
    differ by more than 1e-20 in 40-digit arithmetic. Numbers alone never make it True: two expressions that agree at
    the point but do not reduce to 0 raise ArithmeticError. Logarithms are taken to be of positive arguments.

    >>> from spinlib.symbolic import equal, q
    >>> equal(q**2 - 1, (q - 1) * (q + 1)), equal(q**2 + 1, (q - 1) * (q + 1))
    (True, False)
    """
    gap = difference(a, b)
    if gap == 0:
        return True
    letters = sorted(gap.free_symbols, key=str)
    point = {
        s: sp.Rational(2 * k + 5, 41 + 3 * k) + (3 if s == p else 0) for k, s in enumerate(letters)
    }
    if abs(gap.subs(point).evalf(40)) > sp.Float("1e-20"):
        return False
    raise ArithmeticError(
        f"undecided: {gap} vanishes at {point} but did not simplify to 0; "
        "rewrite one side and compare again"
    )


def _flatten(expression):
    """Powers as q^p times whole powers of q, logarithms as sums over irreducible factors: then it is rational."""
    expression = sp.expand_power_base(sp.expand_power_exp(expression), force=True)
    split = lambda log: (
        _split_log(log.args[0]) if log.free_symbols else sp.expand_log(log, force=True)
    )
    return expression.subs({log: split(log) for log in expression.atoms(sp.log)})


def _split_log(argument):
    parts = sp.Integer(0)
    for side, sign in zip(sp.fraction(sp.cancel(argument)), (1, -1)):
        number, factors = sp.factor_list(side)
        parts += sign * (
            sp.log(abs(number)) + sum(power * sp.log(_orient(factor)) for factor, power in factors)
        )
    return parts


def _orient(factor):
    """The factor or its negative, whichever has a positive leading coefficient, for the log of its absolute value."""
    return -factor if factor.could_extract_minus_sign() else factor
