"""The replica calculation from the action to the saddle, Thesis eqs. (33) to (46): where the printed form fails,
the corrected one holds."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import gammaln, logsumexp

from proof_replica import (
    n_to_zero,
    q_hat,
    replica_action,
    rs_action,
    rs_multipliers,
    rs_replicon,
)
from identity import equal
from spinlib.symbolic import (
    ENTROPY_CONSTANT,
    beta,
    lam,
    n,
    p,
    q,
    rs_free_energy,
)
from spinlib.symbolic._replica import ansatz_action
from spinlib.symbolic.parisi import parisi_matrix

EQ_46 = beta**2 / 2 * (1 - q**p) + sp.log(1 - q) + q / (1 - q)


# --- (33) to (41): the action --------------------------------------------------------------------------------------


def test_eq_33_sign_of_the_disorder_term():
    """One replica has no overlaps: E Z / Z(J = 0) = exp(N beta^2 / 4) >= 1 by Jensen;
    the printed sign gives less than 1."""
    one = replica_action(sp.Matrix([[1]]), sp.Matrix([[0]]))
    assert equal(one - one.subs(beta, 0), beta**2 / 4)
    assert not equal(one - one.subs(beta, 0), -(beta**2) / 4)


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
    at_saddle = {
        lam: 1 / (2 * (1 - q**2)),
        q_hat: -q / (1 - q**2),
    }  # Q is the inverse of the overlap matrix
    reduced = (2 * lam + action).subs(at_saddle) - ENTROPY_CONSTANT
    assert equal(reduced, beta**2 / 2 * (1 + q**p) + sp.log(1 - q**2) / 2)
    grid = np.linspace(-1, 1, 200_001)[1:-1]
    f = b**2 / 2 * (1 + grid**order) + np.log1p(-(grid**2)) / 2
    gaps = []
    for spins in (200, 800, 3200):
        log_density = (
            (spins - 3) / 2 * np.log1p(-(grid**2))
            + gammaln(spins / 2)
            - gammaln((spins - 1) / 2)
            - np.log(np.pi) / 2
        )
        log_Z2 = logsumexp(log_density + spins * b**2 / 2 * (1 + grid**order)) + np.log(
            grid[1] - grid[0]
        )
        gaps.append(abs(log_Z2 / spins - f.max()))
    assert gaps[2] < 1e-3 and gaps[2] < gaps[1] / 3.5 < gaps[0] / 12  # falls as 1/N


@pytest.mark.parametrize("size", [2, 3, 4])
def test_eq_37_explicit_matrices_against_the_ansatz(size):
    explicit = replica_action(
        parisi_matrix((1, q), (1, size)), parisi_matrix((0, q_hat), (1, size))
    )
    assert equal(explicit, ansatz_action((q,), (q_hat,), (1, n)).subs(n, size))
    printed = explicit - beta**2 / 2 * (
        size + size * (size - 1) * q**p
    )  # minus sign in front of the disorder
    assert not equal(printed, ansatz_action((q,), (q_hat,), (1, n)).subs(n, size))


def test_eq_39_needs_the_legendre_term():
    """At beta = 0 minus beta f is the entropy of the sphere, (ln of its area) / N;
    without lam it comes out 1/2 too small."""
    spins = 10**7
    area = (
        np.log(2) + spins / 2 * np.log(np.pi) + (spins - 1) / 2 * np.log(spins) - gammaln(spins / 2)
    ) / spins
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
    -q * q_hat
    + beta**2 / 2 * (q**p - 1)
    - q_hat / (2 * lam - q_hat)
    - sp.log(2 * lam - q_hat)
    + sp.log(2 * sp.pi)
)


def test_eq_40_rs_action():
    right = ansatz_action((q,), (q_hat,), (1, n))
    assert not equal(EQ_40_PRINTED, right)
    assert equal(EQ_40_PRINTED + n * (n - 1) / 2 * beta**2 * q**p + n / 2 * beta**2, right)


def test_eq_41_limit_of_no_replicas():
    assert equal(
        2 * n_to_zero(EQ_40_PRINTED), EQ_41_PRINTED
    )  # printed (41) does follow from printed (40)
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
    contradiction = sp.solve(
        sp.Eq(beta**2 * p * q ** (p - 2) / 2, -1 / (1 - q) ** 2).subs({p: 3, beta: 2}), q
    )
    assert printed_q.subs({q_hat: 1, lam: 3}) < 0 and not [
        root for root in contradiction if root.is_positive
    ]


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
    assert (
        slope.subs(p, 3).subs(q, 0) == 0 and eq_45.subs(p, 3).subs(q, 0) == -2
    )  # q = 0 is a root of the first only
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
            (-sp.diff(rs_free_energy(), beta) / 2)
            .subs({p: order, beta: b, q: 1 - sp.Float(gap, 40)})
            .evalf(30)
        )
        assert energy == pytest.approx(-np.sqrt(order / 2), rel=1e-5)
    assert -np.sqrt(3 / 2) < -1.17167477926529  # Auffinger, Ben Arous and Cerny (2013), p = 3


@pytest.mark.slow
def test_rs_replicon():
    expected = 1 / (1 - q) ** 2 - beta**2 * p * (p - 1) * q ** (p - 2) / 2
    for size in (4, 5):
        assert equal(rs_replicon(size), expected)
    on_eq_45 = expected.subs(beta**2, 2 / (p * q ** (p - 2) * (1 - q) ** 2))
    assert equal(
        on_eq_45, -(p - 2) / (1 - q) ** 2
    )  # unstable for every p > 2 at every temperature, marginal at p = 2
