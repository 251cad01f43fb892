"""The cavity calculation step by step, its Bethe free energy, and the edge term that the Thesis prints too short."""

import numpy as np
import pytest
import sympy as sp

from proof_replica import (
    N,
    rs_multipliers,
)
from identity import equal
from spinlib.symbolic import (
    ENTROPY_CONSTANT,
    J,
    beta,
    lam,
    p,
    q,
    rs_free_energy,
)
from proof_cavity import (
    K,
    K_VARIANCE,
    bethe_free_energy,
    dense_equations,
    edge_term,
    factor_term,
    gaussian_message,
    log_Z_message,
    m,
    multiplier,
    node_term,
    on_the_saddle,
    saddle_equation,
    sigma,
    v,
    weak_coupling_log,
)


def test_eq_47_printed_with_a_sum_is_another_model():
    """exp(beta J (sigma + sigma_2)) factorises: its message would not know the mean of the neighbour, against (54)."""
    printed = beta * J * sigma + weak_coupling_log([(m, v)])
    right = weak_coupling_log([(m, v)], amplitude=sigma)
    assert gaussian_message(printed) == (beta * J, 0)
    assert gaussian_message(right) == (beta * J * m, -(beta**2) * J**2 * v)


def test_eq_47_multiplier_is_twice_that_of_eq_49():
    """exp(-lam sigma^2) has variance 1 / (2 lam), exp(-lam sigma^2 / 2) has 1 / lam: (49) to (59) use the second."""
    assert gaussian_message(-lam * sigma**2) == (0, 2 * lam) and gaussian_message(
        -lam * sigma**2 / 2
    ) == (0, lam)


def test_eq_48_50_marginal_is_the_product_of_factor_messages():
    """Three factors on one spin with quadratic messages: (50) without the hat multiplies too much,
    to the power K - 1 = 2."""
    a = sp.symbols("a:3", positive=True)
    to_spin = [-a_b * sigma**2 / 2 for a_b in a]  # ln of the three hatted messages
    from_spin = [sum(to_spin) - message for message in to_spin]  # eq. (48)
    assert gaussian_message(sum(to_spin))[1] == sum(a)
    assert sp.expand(gaussian_message(sum(from_spin))[1] - 2 * sum(a)) == 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_eq_52_66_weak_coupling_expansion(count):
    """Its coefficients are the mean and half the variance of the product of spins,
    here by drawing and by Gauss-Hermite."""
    means, variances = np.array([0.5, -0.7, 0.9])[:count], np.array([0.7, 0.4, 1.1])[:count]
    found = sp.Poly(
        weak_coupling_log(list(zip(map(sp.Float, means), map(sp.Float, variances)))).subs(beta, 1),
        J,
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)  # exact for the squares
    points = np.stack(np.meshgrid(*[nodes] * count, indexing="ij"), -1).reshape(-1, count)
    weight = (
        np.stack(np.meshgrid(*[weights / weights.sum()] * count, indexing="ij"), -1)
        .reshape(-1, count)
        .prod(1)
    )
    product = (means + np.sqrt(variances) * points).prod(1)
    mean, second = weight @ product, weight @ product**2
    assert float(found.coeff_monomial(J)) == pytest.approx(mean, rel=1e-12)
    assert float(found.coeff_monomial(J**2)) == pytest.approx((second - mean**2) / 2, rel=1e-12)
    assert found.degree() == 2 and not float(found.coeff_monomial(1))


def test_eq_52_against_an_exact_integral():
    """Two spins: E exp(a s t) is known in closed form; the expansion is its logarithm to order a^2."""
    a, m1, v1, m2, v2 = sp.symbols("a m1 v1 m2 v2", positive=True)
    exact = -sp.log(1 - a**2 * v1 * v2) / 2 + (
        a * m1 * m2 + a**2 * (m1**2 * v2 + m2**2 * v1) / 2
    ) / (1 - a**2 * v1 * v2)
    grid = np.linspace(-12, 12, 401)
    s, t = grid[:, None], grid[None]
    weight = (
        np.exp(0.3 * s * t - (s - 0.5) ** 2 / 1.4 - (t + 0.2) ** 2 / 2.2)
        / (2 * np.pi * np.sqrt(0.7 * 1.1))
        * 0.06**2
    )
    assert float(exact.subs({a: 0.3, m1: 0.5, v1: 0.7, m2: -0.2, v2: 1.1})) == pytest.approx(
        np.log(weight.sum()), rel=1e-10
    )
    series = sp.series(exact, a, 0, 3).removeO()
    assert equal(series, weak_coupling_log([(m1, v1), (m2, v2)]).subs({J: a, beta: 1}))


def test_eq_53_54_55_messages_of_a_spin():
    means, variances = sp.symbols("m:2", real=True), sp.symbols("v:2", positive=True)
    log_message = -lam * sigma**2 / 2 + weak_coupling_log(
        list(zip(means, variances)), amplitude=sigma
    )
    linear, stiffness = gaussian_message(log_message)
    first, second = sp.Mul(*means), sp.Mul(*(a**2 + b for a, b in zip(means, variances)))
    assert equal(linear, beta * J * first)
    assert equal(stiffness, lam - beta**2 * J**2 * (second - first**2))


def test_gaussian_message_refuses_a_weight_that_is_not_quadratic():
    with pytest.raises(ValueError, match="degree 3; expand it to order"):
        gaussian_message(sigma**3)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_eq_56_58_number_of_couplings_of_a_spin_times_their_variance(order):
    count = sp.ff(N - 1, order - 1) / sp.factorial(order - 1)
    assert sp.limit(count * sp.factorial(order) / (2 * N ** (order - 1)), N, sp.oo) == sp.Rational(
        order, 2
    )
    assert K_VARIANCE.subs(p, order) == sp.Rational(order, 2)


def test_eq_57_58_dense_equations():
    dense = dense_equations()
    assert equal(dense["field_variance"], beta**2 * p / 2 * q ** (p - 1))
    assert equal(dense["stiffness"], lam - beta**2 * p / 2 * ((q + v) ** (p - 1) - q ** (p - 1)))


@pytest.mark.slow
def test_eq_59_multiplier_and_that_of_eq_44():
    assert equal(multiplier(), 1 / (1 - q) + beta**2 * p / 2 * (1 - q ** (p - 1)))
    # replicas froze q_aa = 1, so their lam misses the reaction of the disorder p beta^2 / 2; factor 2 from exp(-lam
    # sigma^2)
    gap = multiplier() - 2 * rs_multipliers()[lam] - p * beta**2 / 2
    assert on_the_saddle(gap) == 0 and not equal(gap, 0)


def test_eq_60_61_keep_the_root_q_0():
    assert equal(saddle_equation(), q * (beta**2 * p / 2 * q ** (p - 2) * (1 - q) ** 2 - 1))
    assert equal(saddle_equation() / (1 - q) ** 2, -2 * sp.diff(rs_free_energy(), q) / 2)


def test_eq_62_63_leaving_lam_out_of_the_factors_is_the_legendre_term():
    """exp(-lam sigma^2 / 2K) on every leg: K legs a spin lower ln Z by lam / 2, as <sigma^2> = q + v = 1 makes it.

    By sums over a grid at finite K, which come to -lam / 2 like 1/K; with a spread that breaks the constraint they do
    not.
    """
    grid, multiplier_, count = np.linspace(-9, 9, 4001), 1.7, np.array([100, 1000, 10_000])
    for overlap in (0.0, 0.4, 0.8):
        for variance, square in ((1 - overlap, 1.0), (1.3 - overlap, 1.3)):
            message = np.exp(-((grid - np.sqrt(overlap)) ** 2) / (2 * variance))
            leg = [
                np.log((message * np.exp(-multiplier_ * grid**2 / (2 * k))).sum() / message.sum())
                for k in count
            ]
            gap = count * np.array(leg) + multiplier_ * square / 2
            assert (np.abs(gap) < 2 / count).all()
    # the library's term, where the share of each edge stands
    without, with_lam = edge_term().subs(lam, 0), edge_term()
    assert equal(with_lam - without, -lam / 2)


@pytest.mark.slow
def test_eq_67_node_term_against_a_grid():
    """At field h the integral of exp(h s - s^2 / 2 (1 - q)) is sqrt(2 pi (1 - q)) exp((1 - q) h^2 / 2);
    (67) puts h^2 = q / (1 - q)^2."""
    overlap = 0.4
    grid = np.linspace(-15, 15, 3001)
    h = np.sqrt(overlap) / (1 - overlap)
    direct = np.log(np.exp(h * grid - grid**2 / (2 * (1 - overlap))).sum() * 0.01)
    assert float(node_term().subs({q: overlap, log_Z_message: 0})) == pytest.approx(
        direct, rel=1e-12
    )
    assert equal(
        node_term(), sp.log(2 * sp.pi * (1 - q)) / 2 + q / (2 * (1 - q)) - K * log_Z_message
    )


@pytest.mark.slow
def test_eq_68_edge_term():
    """The factors that (68) drops are 1 + O(1/K) on an edge, but there are N K edges:
    N/2 in all, on the saddle only."""
    dropped = (edge_term(printed=True) - edge_term()).subs(lam, multiplier())
    assert not equal(dropped, 0) and not equal(dropped, sp.Rational(1, 2))
    assert on_the_saddle(dropped) == sp.Rational(1, 2)
    # the edge was averaged on its own; the identity Z_(ai) Z_(a->i) = Z_a <exp(-lam sigma^2 / 2K)> ties it to the
    # factor
    assert equal(edge_term(printed=True) - edge_term(), lam / 2 - p * factor_term())


@pytest.mark.parametrize("coupling", [0.02, 0.04])
def test_eq_65_edge_term_on_one_edge_by_a_grid(coupling):
    """p = 2, one edge: the message of the other spin times the spin's own, summed over a grid;
    an error of order J^3 is left."""
    m1, v1, m2, v2, b, stiff = 0.6, 0.7, -0.4, 0.9, 1.0, 4 * coupling**2
    grid = np.linspace(-12, 12, 1201)
    s, t = grid[:, None], grid[None]
    weight = np.exp(-((s - m1) ** 2) / (2 * v1) - (t - m2) ** 2 / (2 * v2))
    exact = np.log((weight * np.exp(b * coupling * s * t - stiff * s**2 / 2)).sum() / weight.sum())
    linear, stiffness = gaussian_message(
        weak_coupling_log([(m2, v2)], amplitude=sigma) - stiff * sigma**2 / 2
    )
    linear, stiffness = (float(e.subs({J: coupling, beta: b})) for e in (linear, stiffness))
    expanded = linear * m1 + linear**2 * v1 / 2 - stiffness * (m1**2 + v1) / 2
    assert abs(expanded - exact) < coupling**3 and abs(linear * m1 - exact) > 0.3 * coupling**2


def test_eq_69_factor_term():
    assert equal(factor_term(), beta**2 / 4 * (1 - q**p))


@pytest.mark.slow
def test_eq_70_71_normalisations_drop_out():
    node_minus_edge = node_term() - edge_term(printed=True)
    assert not node_minus_edge.has(log_Z_message)
    assert equal(2 * node_minus_edge, sp.log(1 - q) + q / (1 - q) + sp.log(2 * sp.pi))


@pytest.mark.slow
def test_eq_72_bethe_equals_replicas():
    printed = bethe_free_energy(printed=True)
    assert equal(
        printed, rs_free_energy() + sp.log(2 * sp.pi)
    )  # as in the Thesis, up to a constant, at every q
    right = bethe_free_energy()
    assert not right.has(log_Z_message)
    assert not equal(right, rs_free_energy() + ENTROPY_CONSTANT)
    assert (
        on_the_saddle(right - rs_free_energy() - ENTROPY_CONSTANT) == 0
    )  # with the constant, where q solves (61)
    paramagnet = (right - rs_free_energy() - ENTROPY_CONSTANT).subs(p, 3)
    assert sp.simplify(paramagnet.subs(q, 0)) == 0  # the root q = 0 of (61) too
