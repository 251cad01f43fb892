"""The cavity calculation with one step of breaking: (76)-(117), what is printed wrong in it,
and its agreement with replicas."""

from functools import cache

import numpy as np
import pytest
import sympy as sp

import proof_cavity as rs
from spinlib.symbolic.parisi import parisi_matrix
from spinlib.pspin import PSpin
from identity import equal
from spinlib.symbolic import (
    ENTROPY_CONSTANT,
    J,
    beta,
    lam,
    one_rsb_free_energy,
    p,
    q,
    q0,
    q1,
    x,
)
from proof_one_rsb import (
    A,
    B_d,
    B_nd,
    D0,
    D1,
    K,
    between,
    bethe_free_energy,
    closed_equations,
    edge_term,
    factor_term,
    graph_averages,
    h,
    joint_log_average,
    message_moments,
    multiplier,
    node_log,
    node_term,
    on_the_saddle,
    replica_message,
    replica_moments,
    replica_spins,
    saddle_equations,
    weak_coupling_log,
    within,
)

HALF, D = p * beta**2 / 2, 1 - q1 + x * (q1 - q0)
SIZES = (2, 3, 4)
# PSpin(3).solve(0.5), which knows no cavity
SADDLE = {p: 3, beta: 2, q0: 0, q1: 0.7116659769869611, x: 0.7361480776209235}


def plain(expression):
    """Powers with a symbolic exponent as letters, so that comparing is algebra of fractions."""
    split = sp.expand_power_exp(sp.sympify(expression))
    return split.subs({q0**p: q0 * sp.Symbol("P0"), q1**p: q1 * sp.Symbol("P1")})


def same_fraction(a, b):
    return sp.cancel(sp.together(plain(a) - plain(b))) == 0


def spins_of_a_factor(names):
    return [tuple(sp.symbols(f"h_{k} Delta0_{k} Delta1_{k}", positive=True)) for k in names]


@pytest.mark.slow
@pytest.mark.parametrize("count", SIZES)
def test_eq_76_77_78_joint_message_is_gaussian_with_two_covariances(count):
    t = sp.symbols(f"t1:{count + 1}", real=True)
    covariance = parisi_matrix((within + between, between), (1, count))
    vector = sp.Matrix(t)
    assert equal(joint_log_average(t), h * sum(t) + (vector.T * covariance * vector)[0] / 2)


@pytest.mark.slow
def test_eq_79_80_81_moments():
    first, second, cross = replica_moments()
    assert (first, sp.expand(second), sp.expand(cross)) == (
        h,
        within + between + h**2,
        between + h**2,
    )


@pytest.mark.slow
def test_eq_82_83_84_the_three_numbers_from_the_moments():
    """The mean of a state, then two spins around it, by Gauss-Hermite:
    h, Delta0, Delta1 come back from their moments."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    mean, spread, inside = 0.6, 0.3, 0.45
    state, a, b = np.meshgrid(nodes, nodes, nodes, indexing="ij")
    weight = weights[:, None, None] * weights[:, None] * weights
    s, t = (mean + np.sqrt(spread) * state + np.sqrt(inside) * z for z in (a, b))
    moments = [(weight * e).sum() for e in (s, s**2, s * t)]
    at = {h: mean, between: spread, within: inside}
    assert [float(e.subs(at)) for e in replica_moments()] == pytest.approx(moments, rel=1e-12)
    assert moments[2] - moments[0] ** 2 == pytest.approx(spread) and moments[1] - moments[
        2
    ] == pytest.approx(inside)
    assert moments[1] - moments[2] != pytest.approx(spread)  # the two swapped, as they could be


def test_eq_84_text_q1_is_inside_a_state_and_q0_between_states():
    """Drawn, not typed: 400 states of 400 spins with two configurations each; the sentence as printed swaps the two."""
    rng, inside, across = np.random.default_rng(0), 0.7, 0.2
    h_ = np.sqrt(across) * rng.standard_normal(400)
    states = h_ + np.sqrt(inside - across) * rng.standard_normal((400, 400))
    a, b = states + np.sqrt(1 - inside) * rng.standard_normal((2, 400, 400))
    within_state, between_states = (a * b).mean(1), (a * np.roll(b, 1, axis=0)).mean(1)
    centre = (h_**2).mean()  # self-averages to q0 on the graph
    for found, expected, printed in (
        (within_state, centre + inside - across, centre),
        (between_states, centre, centre + inside - across),
    ):
        error = found.std(ddof=1) / 20
        assert abs(found.mean() - expected) < 5 * error < abs(found.mean() - printed) / 5


@pytest.mark.parametrize("count", SIZES)
def test_eq_85_to_91_weak_coupling_of_replicas(count):
    spins, s = spins_of_a_factor("ab"), replica_spins(count)
    mean, cross, same = (
        sp.Mul(*(f(*k) for k in spins))
        for f in (lambda a, b, c: a, lambda a, b, c: b + a**2, lambda a, b, c: c + b + a**2)
    )
    a, b_d, b_nd = replica_message(weak_coupling_log(spins, s), s)
    assert equal(a, beta * J * mean)  # (88)
    assert equal(b_d, beta**2 * J**2 * (mean**2 - same))  # (89)
    assert equal(b_nd, beta**2 * J**2 * (cross - mean**2))  # (90)
    ordered = sum(u * v for u in s for v in s if u is not v)  # (87): ordered pairs
    direct = a * sum(s) - b_d * sum(u**2 for u in s) / 2 + b_nd * ordered / 2
    assert equal(weak_coupling_log(spins, s), direct)  # (91)


def test_eq_87_against_draws_from_the_joint_message():
    """exp averaged over 4e5 draws of two neighbours with two replicas each, at beta J = 0.1."""
    rng, sources, strength = np.random.default_rng(1), (0.8, -0.5), 0.1
    spins = [(0.3, 0.5, 0.4), (-0.6, 0.3, 0.2)]
    product = 1.0
    for mean, spread, inner in spins:
        state = mean + np.sqrt(spread) * rng.standard_normal(400_000)
        product = product * (state + np.sqrt(inner) * rng.standard_normal((2, 400_000)))
    weight = np.exp(strength * (np.array(sources) @ product))
    exact, error = np.log(weight.mean()), weight.std() / weight.mean() / np.sqrt(weight.size)
    formula = float(weak_coupling_log(spins, sources).subs({J: strength, beta: 1}))
    assert abs(exact - formula) < 5 * error + strength**3
    linear = float(weak_coupling_log(spins, sources).coeff(J, 1).subs(beta, 1)) * strength
    assert abs(exact - linear) > 5 * error + strength**3  # the second order is needed


def test_replica_message_refuses_what_is_not_symmetric_or_not_quadratic():
    s = replica_spins(2)
    with pytest.raises(ValueError, match="treat all replicas alike"):
        replica_message(s[0] ** 2, s)
    with pytest.raises(ValueError, match="expand it to order J"):
        replica_message(s[0] ** 3 + s[1] ** 3, s)
    with pytest.raises(ValueError, match="at least 2 replicas, got 1"):
        replica_message(s[0], s[:1])


# --- sums over the couplings of a spin, and the two printed indices ------------------------------------------------

COUPLED = {
    b: (
        sp.Symbol(f"J_{b}"),
        [tuple(sp.symbols(f"h_{b}{k} Delta0_{b}{k} Delta1_{b}{k}", positive=True)) for k in "jk"],
    )
    for b in "abc"
}


@cache
def hat(b, s=replica_spins(2)):
    return replica_message(weak_coupling_log(COUPLED[b][1], s).subs(J, COUPLED[b][0]), s)


@cache
def cavity_message():
    """A spin with couplings a, b, c: the product of what b and c say, with the multiplier (its 1/K-th from a is
    O(1/K))."""
    s = replica_spins(2)
    log = -lam * sum(u**2 for u in s) / 2 + sum(
        weak_coupling_log(COUPLED[b][1], s).subs(J, COUPLED[b][0]) for b in "bc"
    )
    return replica_message(log, s)


def test_eq_92_93_96_sums_over_the_other_couplings():
    assert sp.expand(cavity_message()[0] - hat("b")[0] - hat("c")[0]) == 0


def test_eq_94_printed_index_is_the_missing_coupling():
    """Right: the sum of what b and c say. Printed, hat B of a -> i for each b:
    it reads J_a, which the message must not know."""
    right, printed = lam + hat("b")[1] + hat("c")[1], lam + 2 * hat("a")[1]
    found = cavity_message()[1]
    assert sp.expand(found - right) == 0 != sp.expand(found - printed)
    assert not found.has(COUPLED["a"][0]) and printed.has(COUPLED["a"][0])


def test_eq_94_lost_backslash_counts_the_spin_itself():
    """The last product over all of the coupling's spins would multiply prod h^2 by h_i^2 of the receiving spin."""
    h_i = sp.Symbol("h_i")
    mean = sp.Mul(*(k[0] for k in COUPLED["b"][1]))
    same = sp.Mul(*(sum(k[1:]) + k[0] ** 2 for k in COUPLED["b"][1]))
    strength = beta**2 * COUPLED["b"][0] ** 2
    assert (
        sp.expand(hat("b")[1] + strength * (same - mean**2))
        == 0
        != sp.expand(hat("b")[1] + strength * (same - mean**2 * h_i**2))
    )


def test_eq_95_printed_index_is_the_missing_coupling():
    found = cavity_message()[2]
    assert sp.expand(found - hat("b")[2] - hat("c")[2]) == 0 != sp.expand(found - 2 * hat("a")[2])


@pytest.mark.slow
@pytest.mark.parametrize("count", SIZES)
def test_eq_97_98_gaussian_normalised_by_its_determinant(count):
    """ln of the integral of (96): x/2 ln 2 pi - ln det M / 2 + A^2 1.M^-1.1 / 2, against explicit matrices."""
    matrix = parisi_matrix((B_d, -B_nd), (1, count))
    s = sp.Matrix(replica_spins(count))
    assert equal(
        (s.T * matrix * s)[0],
        B_d * sum(u**2 for u in s) - B_nd * sum(u * v for u in s for v in s if u is not v),
    )
    integral = (
        sp.Rational(count, 2) * sp.log(2 * sp.pi)
        - sp.log(sp.factor(matrix.det())) / 2
        + A**2 * sum(matrix.inv()) / 2
    )
    claimed = node_log().subs(x, count).subs({D1: B_d + B_nd, D0: B_nd})
    at = {A: 0.7, B_d: 5, B_nd: 0.8}
    assert float(claimed.subs(at) - integral.subs(at)) == pytest.approx(0, abs=1e-14)
    numbers = np.array(matrix.subs(at), dtype=float)
    root = np.linalg.cholesky(numbers)  # an outside opinion on the determinant
    assert np.log(np.diag(root)).sum() * 2 == pytest.approx(
        float(sp.log(matrix.det()).subs(at)), rel=1e-12
    )


@pytest.mark.parametrize("count", SIZES)
def test_eq_99_to_102_inverse_of_the_replica_matrix(count):
    inverse = parisi_matrix((B_d, -B_nd), (1, count)).inv()
    mean, off, gap = message_moments(A, B_d, B_nd, count)
    assert equal(inverse[0, 1], off) and equal(inverse[0, 0] - inverse[0, 1], gap)
    assert all(equal(row, mean) for row in inverse * sp.ones(count, 1) * A)


def test_eq_107_108_for_any_number_of_replicas():
    mean, off, gap = (e.subs({B_d: D1 - D0, B_nd: D0}) for e in message_moments())
    assert (
        equal(mean, A / (D1 - x * D0))
        and equal(off, D0 / (D1 * (D1 - x * D0)))
        and equal(gap, 1 / D1)
    )


def test_eq_103_mean_over_the_graph_vanishes_without_mean_coupling():
    """E A = beta <J> K m^(p-1) by (88): linear in J, so no second-order term, and h = A / (D1 - x D0)."""
    s = replica_spins(2)
    a = replica_message(weak_coupling_log([(h, between, within)], s), s)[0]
    assert equal(a, beta * J * h) and equal(message_moments()[0] * (B_d + B_nd - x * B_nd), A)


def test_eq_104_105_106_109_averages_over_the_graph():
    found = graph_averages()
    assert equal(found["field"], HALF * q0 ** (p - 1))
    assert equal(found["D1"], lam - HALF * (1 - q1 ** (p - 1)))
    assert equal(found["D0"], HALF * (q1 ** (p - 1) - q0 ** (p - 1)))


def test_eq_110_as_printed_is_eq_104_divided_by_q0():
    outer = lam - HALF * (1 - x * q0 ** (p - 1) + (x - 1) * q1 ** (p - 1))
    printed = HALF * q0 ** (p - 2)
    assert same_fraction(closed_equations(multiplied=False)["q0"], outer**2 - printed)
    assert same_fraction(closed_equations()["q0"] * outer**2, q0 * (printed - outer**2))


def test_eq_110_printed_loses_the_equilibrium_solution():
    """At T = 0.5 the 1RSB saddle has q0 = 0; (104), (111), (112) hold there, (110) as printed is off by D^-2 = 1.52."""
    at = SADDLE | {lam: multiplier().subs(SADDLE)}
    for equation in closed_equations().values():
        assert float(equation.subs(at)) == pytest.approx(0, abs=1e-12)
    assert float(closed_equations(multiplied=False)["q0"].subs(at)) == pytest.approx(
        float((1 / D**2).subs(SADDLE))
    )


def test_eq_111_112_printed_forms():
    inner, outer = (
        lam - HALF * (1 - q1 ** (p - 1)),
        lam - HALF * (1 - x * q0 ** (p - 1) + (x - 1) * q1 ** (p - 1)),
    )
    found = closed_equations()
    assert same_fraction(
        found["q1"], HALF * (q1 ** (p - 1) - q0 ** (p - 1)) / (inner * outer) - (q1 - q0)
    )
    assert same_fraction(found["lam"], 1 / inner - (1 - q1))
    assert same_fraction(multiplier(), rs.multiplier().subs(q, q1))


@pytest.mark.slow
def test_eq_110_111_without_the_multiplier_are_stationarity_of_the_replica_free_energy():
    e0, e1 = saddle_equations()
    assert same_fraction(sp.diff(one_rsb_free_energy(), q0), -x * e0)
    assert same_fraction(sp.diff(one_rsb_free_energy(), q1), -(1 - x) * (e0 + e1))


# --- the Bethe free energy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", SIZES)
def test_eq_114_weighted_over_states_is_the_factor_with_explicit_replicas(count):
    """(114) with x a symbol against ln E exp(beta J sum_a prod sigma^a) of explicit replicas, p = 3."""
    log = weak_coupling_log([(h, between, within)] * 3, [1] * count).coeff(J, 2) / beta**2
    explicit = sp.expand(log).subs({within: 1 - q1, between: q1 - h**2})
    found = factor_term().subs({x: count, p: 3}) / (beta**2 / 2)  # K <J^2> / p = 1/2
    assert equal(explicit.subs(h, sp.sqrt(q0)), found)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.6, 2])
def test_eq_115_against_quadrature_over_the_states(power):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    d1, d0, a = 3.0, 0.7, 0.4
    inside = 0.5 * np.log(2 * np.pi / d1) + (a + np.sqrt(d0) * nodes) ** 2 / (2 * d1)
    average = np.log(weights @ np.exp(power * inside) / weights.sum())
    assert float(node_log().subs({A: a, D1: d1, D0: d0, x: power})) == pytest.approx(
        average, rel=1e-10
    )


@pytest.mark.slow
def test_eq_115_on_the_saddle_is_the_spin_term_of_118():
    expected = x * sp.log(2 * sp.pi) / 2 + ((x - 1) * sp.log(1 - q1) + sp.log(D) + x * q0 / D) / 2
    assert equal(node_term() + x * K * rs.log_Z_message, expected)


def test_eq_116_printed_edge_term_leaves_out_terms_of_order_N():
    dropped = edge_term() - edge_term(printed=True)
    assert equal(dropped, p * factor_term() - x * lam / 2) and dropped != 0


@pytest.mark.slow
def test_eq_113_117_118_cavity_equals_replica():
    assert equal(bethe_free_energy(printed=True), one_rsb_free_energy() + sp.log(2 * sp.pi))


@pytest.mark.slow
def test_eq_117_edge_slip_is_a_constant_on_the_saddle_only():
    """The dropped terms sum to x N / 2 on the saddle, 1 in -2 beta f; at q1 = .9, off it, they do not."""
    dropped = bethe_free_energy() - bethe_free_energy(printed=True)
    assert on_the_saddle(dropped) == 1
    assert on_the_saddle(bethe_free_energy() - one_rsb_free_energy() - ENTROPY_CONSTANT) == 0
    assert abs(float(dropped.subs(SADDLE | {q1: 0.9})) - 1) > 0.1
    assert float(dropped.subs(SADDLE)) == pytest.approx(1, abs=1e-12)


def test_eq_118_value_at_the_equilibrium():
    f = -float((bethe_free_energy() - ENTROPY_CONSTANT).subs(SADDLE)) / 4
    assert f == pytest.approx(PSpin(3).solve(0.5).f, abs=1e-12) and f == pytest.approx(
        -0.493255573601986, abs=1e-12
    )
