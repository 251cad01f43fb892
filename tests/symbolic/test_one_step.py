"""One step of breaking from replicas, Thesis eqs. (37), (110), (111), (118): determinants, saddle, limits."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_replica import (
    one_rsb_action,
    one_rsb_multipliers,
    replica_action,
)
from identity import equal
from spinlib.symbolic import (
    beta,
    lam,
    n,
    one_rsb_free_energy,
    p,
    q,
    q0,
    q1,
    x,
)
from spinlib.symbolic._replica import ansatz_action, q0_hat, q1_hat
from spinlib.symbolic.parisi import log_det, parisi_matrix, parisi_spectrum, parisi_sum

D = 1 - q1 + x * (q1 - q0)
EQ_46 = beta**2 / 2 * (1 - q**p) + sp.log(1 - q) + q / (1 - q)
EQ_118 = (
    beta**2 / 2 * (1 - (1 - x) * q1**p - x * q0**p)
    + (x - 1) / x * sp.log(1 - q1)
    + sp.log(D) / x
    + q0 / D
)


@pytest.mark.parametrize(("block", "size"), [(1, 3), (2, 4), (2, 6), (3, 6), (4, 8)])
def test_determinant_of_one_step_matrices(block, size):
    a, b, c = (
        sp.symbols("a b c", positive=True) if size < 6 else (7, 3, -2)
    )  # large ones in numbers
    matrix = parisi_matrix((a, b, c), (1, block, size))
    spectrum = parisi_spectrum((a, b, c), (1, block, size))
    assert sum(multiplicity for _, multiplicity in spectrum) == size
    assert sp.expand(sp.Mul(*(e**k for e, k in spectrum)) - matrix.det()) == 0
    assert equal(sum(matrix), parisi_sum((a, b, c), (1, block, size)))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_determinant_of_symmetric_matrices(size):
    a, b = sp.symbols("a b", positive=True)
    t = sp.Symbol("t")
    polynomial = sp.Mul(*((t - e) ** k for e, k in parisi_spectrum((a, b), (1, size))))
    assert sp.expand(polynomial - parisi_matrix((a, b), (1, size)).charpoly(t).as_expr()) == 0
    assert (
        sp.expand(
            sp.exp(log_det((a, b), (1, n)).subs(n, size)) - parisi_matrix((a, b), (1, size)).det()
        )
        == 0
    )


def test_two_steps_of_breaking_too():
    values = sp.symbols("a b c d", positive=True)
    numbers = dict(zip(values, (7, 4, 2, 1)))
    spectrum = parisi_spectrum(values, (1, 2, 4, 8))
    assert (
        sp.Mul(*(e**k for e, k in spectrum)).subs(numbers)
        == parisi_matrix(values, (1, 2, 4, 8)).subs(numbers).det()
    )


def test_matrices_refuse_blocks_that_do_not_fit():
    with pytest.raises(ValueError, match="divide the next"):
        parisi_matrix((1, q1, q0), (1, 2, 5))
    with pytest.raises(ValueError, match="one entry per level"):
        parisi_spectrum((1, q), (2, 4))


@pytest.mark.slow
@pytest.mark.parametrize(("block", "size"), [(2, 4), (3, 6)])
def test_eq_37_explicit_one_step_matrices(block, size):
    numbers = {s: sp.Rational(k + 2, 29) for k, s in enumerate((q0, q0_hat, q1_hat, q1))}
    overlaps, conjugates = [
        [s.subs(numbers) for s in letters] for letters in ((q1, q0), (q1_hat, q0_hat))
    ]
    explicit = replica_action(
        parisi_matrix((1, *overlaps), (1, block, size)),
        parisi_matrix((0, *conjugates), (1, block, size)),
    )
    ansatz = ansatz_action(overlaps, conjugates, (1, block, size))
    assert abs((explicit - ansatz).subs({lam: 2, p: 3}).evalf(30, subs={beta: 1})) < 1e-25


@pytest.mark.slow
def test_eq_118_from_replicas():
    assert equal(one_rsb_free_energy(), EQ_118)
    at = one_rsb_multipliers()
    for letter, slope in ((q1_hat, 0), (q0_hat, 0), (lam, -1)):
        for point in (
            {q0: sp.Rational(1, 5), q1: sp.Rational(3, 4), x: sp.Rational(2, 7)},
            {q0: 0, q1: sp.Rational(1, 3), x: sp.Rational(8, 9)},
        ):
            values = {**{k: value.subs(point) for k, value in at.items()}, **point}
            assert sp.diff(one_rsb_action(), letter).subs(values) == slope  # exact rational numbers


@pytest.mark.slow
def test_eq_118_limits_are_replica_symmetric():
    assert equal(one_rsb_free_energy().subs({q1: q, q0: q}), EQ_46)
    assert equal(one_rsb_free_energy().subs(x, 1), EQ_46.subs(q, q0))  # q1 drops out
    assert equal(sp.limit(one_rsb_free_energy().subs(p, 3), x, 0), EQ_46.subs(q, q1).subs(p, 3))


@pytest.mark.slow
def test_eq_110_111_are_stationarity_of_118():
    half = p * beta**2 / 2
    assert equal(sp.diff(EQ_118, q0), -x * (half * q0 ** (p - 1) - q0 / D**2))
    eq_111 = half * (q1 ** (p - 1) - q0 ** (p - 1)) - (q1 - q0) / ((1 - q1) * D)
    eq_110 = half * q0 ** (p - 1) - q0 / D**2
    assert equal(sp.diff(one_rsb_free_energy(), q1), -(1 - x) * (eq_111 + eq_110))


@pytest.mark.slow
def test_x_equation_that_the_thesis_leaves_out():
    expected = (
        beta**2 / 2 * (q1**p - q0**p)
        + sp.log((1 - q1) / D) / x**2
        + (q1 - q0) / (x * D)
        - q0 * (q1 - q0) / D**2
    )
    assert equal(sp.diff(one_rsb_free_energy(), x), expected)


@pytest.mark.slow
@given(T=st.floats(0.05, 0.58))
@settings(max_examples=15, deadline=None)
def test_one_step_saddle_of_crisanti_and_sommers(T):
    """p = 3, q0 = 0: q1 (1 - q1)^2 = 2 T^2 y / 3, x = (1 - q1)(1 - y) / (q1 y),
    y = .354992548665416 at every T < T_K."""
    y = 0.354992548665416
    roots = np.roots([1, -2, 1, -2 * T**2 * y / 3])
    overlap = sorted(r.real for r in roots if abs(r.imag) < 1e-7 and r.real < 1)[-1]
    at = {
        p: 3,
        beta: sp.Float(1 / T),
        q0: 0,
        q1: sp.Float(overlap),
        x: sp.Float((1 - overlap) * (1 - y) / (overlap * y)),
    }
    scale = float((beta**2 / 2).subs(at))
    for letter in (q1, x):
        assert abs(float(sp.diff(EQ_118.subs(q0, 0), letter).subs(at))) < 1e-9 * scale / (
            1 - overlap
        )
