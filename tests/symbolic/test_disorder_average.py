"""The disorder average, Thesis eqs. (20) to (32), and what counts as equal: where the printed form fails, the corrected
one holds."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.special import gamma

from proof_replica import (
    COUPLING_VARIANCE,
    N,
    S,
    disorder_exponent,
    disorder_term,
    gaussian_average,
    n_to_zero,
)
from identity import equal
from spinlib.symbolic import (
    J,
    beta,
    difference,
    n,
    p,
    q,
)


# --- equality -------------------------------------------------------------------------------------------------------


def test_equal_needs_algebra_for_true_and_a_witness_for_false():
    assert equal(sp.log(q / (1 - q)), sp.log(q) - sp.log(1 - q))
    assert not equal(q**p, q ** (p + 1))
    assert difference(q ** (p - 1) * q, q**p) == 0 and difference(q**p, 1) == q**p - 1
    # true, but not by the algebra of rational functions and logs
    with pytest.raises(ArithmeticError, match="rewrite one side"):
        equal(sp.sin(q) ** 2 + sp.cos(q) ** 2, 1)


# --- (20) to (30): the disorder average ----------------------------------------------------------------------------


@pytest.mark.slow
def test_eq_24_quenched_is_below_annealed():
    """Three Ising spins, one coupling of variance 1/3 (eq. (20) at p = N = 3):
    Z = 8 cosh(beta J), averaged by quadrature.

    ln E Z is the exponent that SymPy integrates; E ln Z lies below it, by (beta^2 / 3)^2 / 4 where beta is small.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    for b in (0.1, 0.5, 1.0, 2.0):
        annealed = float(disorder_exponent().subs({p: 3, N: 3, S: 1, beta: b}))
        cosh = np.cosh(b * nodes / np.sqrt(3))
        assert annealed == pytest.approx(np.log(weights @ cosh), rel=1e-9)
        gap = annealed - weights @ np.log(cosh)
        assert gap > 0 and (b > 0.1 or gap == pytest.approx((b**2 / 3) ** 2 / 4, rel=0.02))


@pytest.mark.parametrize("k", [1, 4])
def test_eq_25_replica_limit_of_a_gamma_variable(k):
    """E Z^n = Gamma(k + n) / Gamma(k): the limit is digamma(k), which is E ln Z."""
    moment = sp.gamma(k + n) / sp.gamma(k)
    direct, _ = quad(lambda z: np.log(z) * z ** (k - 1) * np.exp(-z) / gamma(k), 0, 60)
    assert float(n_to_zero(moment - 1)) == pytest.approx(direct, abs=1e-7)


def test_eq_26_weight_of_a_coupling_is_normalised():
    assert gaussian_average(1, J, COUPLING_VARIANCE) == 1
    assert equal(gaussian_average(J**2, J, COUPLING_VARIANCE), sp.factorial(p) / (2 * N ** (p - 1)))


@pytest.mark.slow
def test_eq_27_sign_and_size_of_the_averaged_exponent():
    assert equal(disorder_exponent(), beta**2 * sp.factorial(p) / (4 * N ** (p - 1)) * S**2)


@pytest.mark.slow
def test_eq_27b_loses_the_normalisation():
    """The printed integrand exp(-N^(p-1) J^2 / p! + beta J S) integrates to (27c) times sqrt(pi p! / N^(p-1)),
    not to (27c)."""
    width = sp.Symbol("width", positive=True)  # p! / N^(p-1)
    printed = sp.integrate(sp.exp(-(J**2) / width + beta * J * S), (J, -sp.oo, sp.oo))
    right = sp.exp(disorder_exponent()).subs(N ** (1 - p), width / sp.factorial(p))
    assert not equal(printed, right)
    assert equal(printed, right * sp.sqrt(sp.pi * width))


def test_eq_27_second_moment_against_sampled_couplings():
    """N = 2, p = 3, all index triples of variance 1 / (2 N^(p-1)): E Z^2 over couplings against the replicated
    weight."""
    rng, b, spins = np.random.default_rng(1), 1.2, 2
    angles = 2 * np.pi * np.arange(24) / 24
    sigma = np.sqrt(spins) * np.stack([np.cos(angles), np.sin(angles)])
    products = np.einsum("ia,ja->ija", sigma, sigma).reshape(4, -1)
    products = (products[:, None] * sigma[None]).reshape(8, -1)
    Z = np.exp(b * rng.normal(0, np.sqrt(1 / (2 * spins**2)), (40_000, 8)) @ products).mean(1)
    overlap = np.cos(angles[:, None] - angles[None])
    exact = np.exp(b**2 * spins / 4 * (2 + 2 * overlap**3)).mean()
    assert abs((Z**2).mean() - exact) < 5 * (Z**2).std() / np.sqrt(len(Z))
    assert abs((Z**2).mean() - np.exp(-(b**2) * spins / 4 * (2 + 2 * overlap**3)).mean()) > 50 * (
        Z**2
    ).std() / np.sqrt(len(Z))


@pytest.mark.parametrize("order", [2, 3, 5])
def test_eq_28_number_of_couplings(order):
    count = sp.ff(N, order) / sp.factorial(order)
    assert sp.limit(count / (N**order / sp.factorial(order)), N, sp.oo) == 1


def test_eq_29_ordered_and_free_sums_differ_by_one_over_N():
    t = np.random.default_rng(0).normal(1, 1, 200)
    free, pairs, triples = t.sum(), (t**2).sum(), (t**3).sum()
    ordered = (free**3 - 3 * free * pairs + 2 * triples) / 6  # Newton's identity for i < j < k
    small = np.random.default_rng(0).normal(size=5)
    direct = sum(
        small[i] * small[j] * small[k] for i in range(5) for j in range(i) for k in range(j)
    )
    assert direct == pytest.approx(
        (small.sum() ** 3 - 3 * small.sum() * (small**2).sum() + 2 * (small**3).sum()) / 6
    )
    assert 0 < abs(ordered / (free**3 / 6) - 1) < 10 / 200


@pytest.mark.slow
def test_eq_30_disorder_term_is_plus_a_quarter_beta_squared():
    assert disorder_term() == beta**2 / 4


def test_eq_31_32_powers_of_overlaps_from_products_of_spins():
    """(sum over i of s_i^a s_i^b)^p summed over a, b is the square of the replica sum, summed over index tuples."""
    spins = np.random.default_rng(2).normal(size=(3, 4))  # 3 replicas, 4 spins
    overlap = spins @ spins.T / 4
    squares = np.einsum("ai,aj,ak->ijk", spins, spins, spins) ** 2
    assert squares.sum() == pytest.approx(((4 * overlap) ** 3).sum())


def test_eq_32a_needs_the_factor_N():
    s = sp.Symbol("s", real=True)
    overlap = sp.Symbol("overlap", real=True)
    printed = sp.integrate(sp.DiracDelta(N * overlap - s), (overlap, -sp.oo, sp.oo))
    assert sp.simplify(printed - 1) != 0 and sp.simplify(N * printed - 1) == 0


def test_eq_32b_fourier_form_with_imaginary_conjugate():
    """q_hat = i k: the right side picks the test function exp(-q^2 / 2) at q = s / N; both integrals on a grid."""
    spins, total = 3, 2.0
    overlap, k = np.linspace(-9, 9, 181), np.linspace(-4, 4, 201)
    inner = (np.exp(-(overlap**2) / 2) * np.cos(spins * np.outer(k, overlap))).sum(1) * 0.1
    outer = spins / (2 * np.pi) * (inner * np.cos(k * total)).sum() * 0.04
    assert outer == pytest.approx(np.exp(-(total**2) / (2 * spins**2)), rel=1e-10)
