"""The replica calculation step by step; for each misprint of the Thesis,
that the printed form fails and the corrected one holds."""
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gamma, gammaln, logsumexp

from spinlib.symbolic.parisi import log_det, parisi_matrix, parisi_spectrum, parisi_sum
from spinlib.symbolic import (
    COUPLING_VARIANCE,
    ENTROPY_CONSTANT,
    J,
    N,
    S,
    ansatz_action,
    beta,
    difference,
    disorder_exponent,
    disorder_term,
    equal,
    gaussian_average,
    lam,
    n,
    n_to_zero,
    one_rsb_action,
    one_rsb_free_energy,
    one_rsb_multipliers,
    p,
    parisi_parameter_equation,
    q,
    q0,
    q0_hat,
    q1,
    q1_hat,
    q_hat,
    replica_action,
    rs_action,
    rs_free_energy,
    rs_multipliers,
    rs_replicon,
    x,
)

D = 1 - q1 + x * (q1 - q0)
EQ_46 = beta**2 / 2 * (1 - q**p) + sp.log(1 - q) + q / (1 - q)
EQ_118 = beta**2 / 2 * (1 - (1 - x) * q1**p - x * q0**p) + (x - 1) / x * sp.log(1 - q1) + sp.log(D) / x + q0 / D


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
    printed = sp.integrate(sp.exp(-J**2 / width + beta * J * S), (J, -sp.oo, sp.oo))
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
    direct = sum(small[i] * small[j] * small[k] for i in range(5) for j in range(i) for k in range(j))
    assert direct == pytest.approx((small.sum()**3 - 3 * small.sum() * (small**2).sum() + 2 * (small**3).sum()) / 6)
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
    inner = (np.exp(-overlap**2 / 2) * np.cos(spins * np.outer(k, overlap))).sum(1) * 0.1
    outer = spins / (2 * np.pi) * (inner * np.cos(k * total)).sum() * 0.04
    assert outer == pytest.approx(np.exp(-total**2 / (2 * spins**2)), rel=1e-10)


# --- (33) to (41): the action --------------------------------------------------------------------------------------

def test_eq_33_sign_of_the_disorder_term():
    """One replica has no overlaps: E Z / Z(J = 0) = exp(N beta^2 / 4) >= 1 by Jensen;
    the printed sign gives less than 1."""
    one = replica_action(sp.Matrix([[1]]), sp.Matrix([[0]]))
    assert equal(one - one.subs(beta, 0), beta**2 / 4)
    assert not equal(one - one.subs(beta, 0), -beta**2 / 4)


@pytest.mark.parametrize("size", [2, 3])
def test_eq_34_35_site_integral(size):
    """A grid sum of the Gaussian weight (spectrally accurate) against ((2 pi)^n / det Q)^(1/2):
    the square root is there."""
    site = parisi_matrix((2, sp.Rational(1, 3)), (1, size))
    axis = np.linspace(-8, 8, 65)
    spins = np.stack(np.meshgrid(*[axis] * size, indexing="ij"), axis=-1).reshape(-1, size)
    direct = np.exp(-((spins @ np.array(site, dtype=float)) * spins).sum(1) / 2).sum() * 0.25**size
    assert direct == pytest.approx(np.sqrt((2 * np.pi) ** size / float(site.det())), rel=1e-12)
    assert direct != pytest.approx((2 * np.pi) ** size / float(site.det()), rel=0.1)


@pytest.mark.slow
def test_eq_36_37_38_two_replicas_at_finite_N():
    """(1/N) ln of E Z^2 / Z_0^2 on the sphere, one integral over q at any N,
    tends to the maximum over q of the n = 2 action."""
    b, order = 2.5, 3
    action = replica_action(parisi_matrix((1, q), (1, 2)), parisi_matrix((0, q_hat), (1, 2)))
    at_saddle = {lam: 1 / (2 * (1 - q**2)), q_hat: -q / (1 - q**2)}  # Q is the inverse of the overlap matrix
    reduced = (2 * lam + action).subs(at_saddle) - ENTROPY_CONSTANT
    assert equal(reduced, beta**2 / 2 * (1 + q**p) + sp.log(1 - q**2) / 2)
    grid = np.linspace(-1, 1, 200_001)[1:-1]
    f = b**2 / 2 * (1 + grid**order) + np.log1p(-grid**2) / 2
    gaps = []
    for spins in (200, 800, 3200):
        log_density = (
            (spins - 3) / 2 * np.log1p(-(grid**2)) + gammaln(spins / 2) - gammaln((spins - 1) / 2) - np.log(np.pi) / 2
        )
        log_Z2 = logsumexp(log_density + spins * b**2 / 2 * (1 + grid**order)) + np.log(grid[1] - grid[0])
        gaps.append(abs(log_Z2 / spins - f.max()))
    assert gaps[2] < 1e-3 and gaps[2] < gaps[1] / 3.5 < gaps[0] / 12  # falls as 1/N


@pytest.mark.parametrize("size", [2, 3, 4])
def test_eq_37_explicit_matrices_against_the_ansatz(size):
    explicit = replica_action(parisi_matrix((1, q), (1, size)), parisi_matrix((0, q_hat), (1, size)))
    assert equal(explicit, ansatz_action((q,), (q_hat,), (1, n)).subs(n, size))
    printed = explicit - beta**2 / 2 * (size + size * (size - 1) * q**p)  # minus sign in front of the disorder
    assert not equal(printed, ansatz_action((q,), (q_hat,), (1, n)).subs(n, size))


def test_eq_39_needs_the_legendre_term():
    """At beta = 0 minus beta f is the entropy of the sphere, (ln of its area) / N;
    without lam it comes out 1/2 too small."""
    spins = 10**7
    area = (np.log(2) + spins / 2 * np.log(np.pi) + (spins - 1) / 2 * np.log(spins) - gammaln(spins / 2)) / spins
    free = {**{k: value.subs(q, 0) for k, value in rs_multipliers().items()}, beta: 0}
    printed = rs_action().subs(free).subs(q, 0)
    corrected = (lam + rs_action()).subs(free).subs(q, 0)
    assert float(corrected) == pytest.approx(area, abs=1e-5)
    assert float(printed) == pytest.approx(area - 0.5, abs=1e-5)


EQ_40_PRINTED = (
    n * (n - 1) / 2 * q * q_hat
    - n * (n - 1) / 4 * beta**2 * q**p
    - n / 4 * beta**2
    - sp.log(2 * lam + q_hat * (n - 1)) / 2
    - (n - 1) * sp.log(2 * lam - q_hat) / 2
    + n / 2 * sp.log(2 * sp.pi)
)
EQ_41_PRINTED = (
    -q * q_hat + beta**2 / 2 * (q**p - 1) - q_hat / (2 * lam - q_hat) - sp.log(2 * lam - q_hat) + sp.log(2 * sp.pi)
)


def test_eq_40_rs_action():
    right = ansatz_action((q,), (q_hat,), (1, n))
    assert not equal(EQ_40_PRINTED, right)
    assert equal(EQ_40_PRINTED + n * (n - 1) / 2 * beta**2 * q**p + n / 2 * beta**2, right)


def test_eq_41_limit_of_no_replicas():
    assert equal(2 * n_to_zero(EQ_40_PRINTED), EQ_41_PRINTED)  # printed (41) does follow from printed (40)
    assert not equal(2 * rs_action(), EQ_41_PRINTED)
    assert equal(2 * rs_action(), EQ_41_PRINTED - beta**2 * (q**p - 1))


def test_n_to_zero_refuses_what_has_no_limit():
    assert n_to_zero(sp.exp(3 * n) - 1) == 3
    with pytest.raises(ValueError, match="vanish at n = 0, but it is 1"):
        n_to_zero(sp.exp(3 * n))


# --- (42) to (46): the saddle --------------------------------------------------------------------------------------

def test_eq_42a_43_sign_of_the_conjugate():
    derivative = sp.diff(2 * rs_action(), q)
    assert equal(derivative, -q_hat - beta**2 * p * q ** (p - 1) / 2)
    assert not equal(derivative, -q_hat + beta**2 * p * q ** (p - 1) / 2)
    # as printed, q_hat > 0 and q = -q_hat / (2 lam - q_hat)^2 < 0: with (44) no positive q solves both
    printed_q = -q_hat / (2 * lam - q_hat) ** 2
    contradiction = sp.solve(sp.Eq(beta**2 * p * q ** (p - 2) / 2, -1 / (1 - q) ** 2).subs({p: 3, beta: 2}), q)
    assert printed_q.subs({q_hat: 1, lam: 3}) < 0 and not [root for root in contradiction if root.is_positive]


def test_eq_42b_and_44_hold_at_the_multipliers():
    at = rs_multipliers()
    stiff = 2 * lam - q_hat
    assert equal(sp.diff(2 * rs_action(), q_hat), -q - q_hat / stiff**2)
    assert equal(sp.diff(rs_action(), q_hat).subs(at), 0)
    assert equal(sp.diff(rs_action(), lam).subs(at), -1)
    assert equal((1 / stiff - q_hat / stiff**2).subs(at), 1)
    assert equal(at[lam], (1 - 2 * q) / (2 * (1 - q) ** 2))


def test_eq_44_solution_is_the_only_one():
    """(44) minus (42b) is 1 / (2 lam - q_hat) = 1 - q, linear: then (42b) gives q_hat, and lam follows."""
    eq_42b, eq_44 = 2 * sp.diff(rs_action(), q_hat), -sp.diff(rs_action(), lam) - 1
    assert equal(eq_44 - eq_42b, 1 / (2 * lam - q_hat) - (1 - q))


def test_eq_45_is_the_stationarity_divided_by_q():
    slope = sp.diff(rs_free_energy(), q)
    eq_45 = beta**2 * p * q ** (p - 2) - 2 / (1 - q) ** 2
    assert equal(slope, -q / 2 * eq_45)
    assert slope.subs(p, 3).subs(q, 0) == 0 and eq_45.subs(p, 3).subs(q, 0) == -2  # q = 0 is a root of the first only
    assert equal((sp.diff(2 * rs_action(), q)).subs(rs_multipliers()), -q / 2 * eq_45)


def test_eq_46_with_and_without_the_legendre_term():
    at = rs_multipliers()
    assert equal(rs_free_energy(), EQ_46)
    assert equal(2 * (lam + rs_action()).subs(at), EQ_46 + ENTROPY_CONSTANT)
    # (43), (44), (41) in (39) as printed, sign of beta^2 mended
    literal = (2 * rs_action()).subs(at) - sp.log(2 * sp.pi)
    assert not equal(literal, EQ_46)
    assert equal(literal, EQ_46 - q / (1 - q) + q / (1 - q) ** 2)


def test_eq_46_p_equal_2_is_exact_below_its_transition():
    """p = 2: q = 1 - T, e = -1 + T/2 (Kosterlitz, Thouless and Jones 1976), with the energy from -d(-beta f)/d beta."""
    T = sp.Rational(3, 10)
    at = {p: 2, q: 1 - T, beta: 1 / T}
    assert sp.diff(rs_free_energy(), q).subs(at) == 0
    assert (-sp.diff(rs_free_energy(), beta) / 2).subs(at) == -1 + T / 2


def test_rs_energy_at_zero_temperature():
    """beta (1 - q) -> c with p c^2 = 2 from (45), so e -> -p c / 2 = -sqrt(p/2), below the ground state for p >= 3."""
    b = 1e6
    for order in (3, 4, 7):
        gap = np.sqrt(2 / order) / b
        energy = float(
            (-sp.diff(rs_free_energy(), beta) / 2).subs({p: order, beta: b, q: 1 - sp.Float(gap, 40)}).evalf(30)
        )
        assert energy == pytest.approx(-np.sqrt(order / 2), rel=1e-5)
    assert -np.sqrt(3 / 2) < -1.17167477926529  # Auffinger, Ben Arous and Cerny (2013), p = 3


@pytest.mark.slow
def test_rs_replicon():
    expected = 1 / (1 - q) ** 2 - beta**2 * p * (p - 1) * q ** (p - 2) / 2
    for size in (4, 5):
        assert equal(rs_replicon(size), expected)
    on_eq_45 = expected.subs(beta**2, 2 / (p * q ** (p - 2) * (1 - q) ** 2))
    assert equal(on_eq_45, -(p - 2) / (1 - q) ** 2)  # unstable for every p > 2 at every temperature, marginal at p = 2


# --- one step of breaking, (118) -----------------------------------------------------------------------------------

@pytest.mark.parametrize(("block", "size"), [(1, 3), (2, 4), (2, 6), (3, 6), (4, 8)])
def test_determinant_of_one_step_matrices(block, size):
    a, b, c = sp.symbols("a b c", positive=True) if size < 6 else (7, 3, -2)  # large ones in numbers
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
    assert sp.expand(sp.exp(log_det((a, b), (1, n)).subs(n, size)) - parisi_matrix((a, b), (1, size)).det()) == 0


def test_two_steps_of_breaking_too():
    values = sp.symbols("a b c d", positive=True)
    numbers = dict(zip(values, (7, 4, 2, 1)))
    spectrum = parisi_spectrum(values, (1, 2, 4, 8))
    assert sp.Mul(*(e**k for e, k in spectrum)).subs(numbers) == parisi_matrix(values, (1, 2, 4, 8)).subs(numbers).det()


def test_matrices_refuse_blocks_that_do_not_fit():
    with pytest.raises(ValueError, match="divide the next"):
        parisi_matrix((1, q1, q0), (1, 2, 5))
    with pytest.raises(ValueError, match="one entry per level"):
        parisi_spectrum((1, q), (2, 4))


@pytest.mark.slow
@pytest.mark.parametrize(("block", "size"), [(2, 4), (3, 6)])
def test_eq_37_explicit_one_step_matrices(block, size):
    numbers = {s: sp.Rational(k + 2, 29) for k, s in enumerate((q0, q0_hat, q1_hat, q1))}
    overlaps, conjugates = [[s.subs(numbers) for s in letters] for letters in ((q1, q0), (q1_hat, q0_hat))]
    explicit = replica_action(
        parisi_matrix((1, *overlaps), (1, block, size)), parisi_matrix((0, *conjugates), (1, block, size))
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
    expected = beta**2 / 2 * (q1**p - q0**p) + sp.log((1 - q1) / D) / x**2 + (q1 - q0) / (x * D) - q0 * (q1 - q0) / D**2
    assert equal(parisi_parameter_equation(), expected)


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
        assert abs(float(sp.diff(EQ_118.subs(q0, 0), letter).subs(at))) < 1e-9 * scale / (1 - overlap)


def test_refusals():
    for size in (3, 2, 0):
        with pytest.raises(ValueError, match="size must be at least 4.*four replicas"):
            rs_replicon(size)
    with pytest.raises(
        TypeError, match="overlaps must be of type MatrixBase, got NoneType; make one with parisi_matrix"
    ):
        replica_action(None, None)
    with pytest.raises(TypeError, match="conjugates must be of type MatrixBase"):
        replica_action(sp.eye(2), 3)
    with pytest.raises(ValueError, match=r"square matrices of one size n x n, got \(2, 2\) and \(3, 3\)"):
        replica_action(sp.eye(2), sp.eye(3))
