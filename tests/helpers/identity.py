"""Equality of two expressions, proved by algebra or refuted at a point."""

from typing import Any

import sympy as sp

from spinlib.symbolic import difference, p


def equal(a: Any, b: Any) -> bool:
    """True if algebra reduces ``a - b`` to the exact 0: a proof for all values of the symbols at which both are real.

    False is proved as well, by a witness: a point of rational numbers in (0, 1) (3 more for ``p``) at which the two
    differ by more than 1e-20 in 40-digit arithmetic. Numbers alone never make it True: two expressions that agree at
    the point but do not reduce to 0 raise ArithmeticError. Logarithms are taken to be of positive arguments.
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
