"""Ridge regression when directions and samples are many: against fits, state evolution and closed forms."""

import numpy as np
import pytest

from spinlib.theory import Teacher, best_ridge, ridge_equivalent, state_evolution
from stats import z_score

TEACHERS = [
    Teacher(variance=[1.0], signal=[1.0], unexplained=0.25, count=100),
    Teacher(variance=[0.06, 1.1], signal=[14.0, 0.0], unexplained=0.17, count=[400, 20]),
    Teacher(variance=[0.01, 1.0, 30.0], signal=[2.0, 0.5, 0.1], unexplained=0.0, count=[50, 30, 4]),
]


@pytest.mark.slow
@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("P, ridge", [(60, 0.02), (300, 0.02), (900, 1e-3), (900, 4.0)])
def test_ridge_equivalent_is_where_state_evolution_rests(teacher, P, ridge):
    """Two roads to one number: a bracketed root here, thousands of sweeps of sample-spin AMP there."""
    found = ridge_equivalent(teacher, P, ridge)
    path = state_evolution(teacher, P=P, ridge=ridge, n_steps=30_000)
    assert found.error == pytest.approx(path.error[-1], rel=1e-8)
    tau = path.x[-1] @ (teacher.count * teacher.variance)
    assert found.kappa == pytest.approx(ridge * (1 + tau / P), rel=1e-8)
    freedom = teacher.count @ (1 - found.shrinkage)
    assert freedom == pytest.approx(P * (1 - ridge / found.kappa), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("P, ridge", [(120, 0.03), (400, 0.03), (400, 0.0), (120, 0.0)])
def test_ridge_equivalent_against_fits(P, ridge):
    """240 directions of three variances, 60 fits by the singular value decomposition: error and training error."""
    a = np.repeat([0.2, 1.0, 3.0], 80)
    signal, unexplained = np.array([1.0, 0.5, 2.0]), 0.3
    rng = np.random.default_rng(11)
    errors = []
    for _ in range(60):
        w = rng.standard_normal(240)
        for group in range(3):  # a random direction of the stated length
            part = slice(80 * group, 80 * group + 80)
            w[part] *= np.sqrt(signal[group]) / np.linalg.norm(w[part])
        S = rng.standard_normal((P, 240)) * np.sqrt(a)
        y = S @ w + np.sqrt(unexplained) * rng.standard_normal(P)
        U, d, V = np.linalg.svd(S, full_matrices=False)
        fit = V.T @ (d / (d**2 + ridge * P) * (U.T @ y))
        errors.append([(a * (fit - w) ** 2).sum() + unexplained, np.mean((S @ fit - y) ** 2)])
    found = ridge_equivalent(Teacher([0.2, 1.0, 3.0], signal, unexplained, count=80), P, ridge)
    assert abs(z_score(np.array(errors)[:, 0], found.error)) < 4
    if P > 240 or ridge:
        assert abs(z_score(np.array(errors)[:, 1], found.train_error)) < 4
    else:
        assert found.train_error == 0 and np.max(np.array(errors)[:, 1]) < 1e-20


def test_ridge_equivalent_in_closed_form():
    """One group, ridge 0: least squares s0 / (1 - n/P), and below n the projection on the samples."""
    one = Teacher([0.7], [3.0], unexplained=0.4, count=100)
    assert ridge_equivalent(one, 250, 0).error == pytest.approx(0.4 / (1 - 100 / 250), rel=1e-12)
    assert ridge_equivalent(one, 250, 0).train_error == pytest.approx(
        0.4 * (1 - 100 / 250), rel=1e-12
    )
    below = ridge_equivalent(one, 40, 0)
    assert below.error == pytest.approx((0.7 * 3.0 * 0.6**2 + 0.4) / 0.6, rel=1e-12)
    assert below.shrinkage == pytest.approx([0.6], rel=1e-12)
    assert below.kappa == pytest.approx(0.7 * 0.6 / 0.4, rel=1e-12)
    for teacher in TEACHERS:
        for P in (30, 900):  # a small ridge runs into the limit
            limit = ridge_equivalent(teacher, P, 0)
            assert ridge_equivalent(teacher, P, 1e-9).error == pytest.approx(limit.error, rel=1e-5)


@pytest.mark.parametrize("n, P", [(1, 1), (2, 1), (100, 99), (10**6, 10**6 - 1), (10**6, 1)])
def test_one_sample_too_few(n, P):
    """One block at ridge 0: kappa = a (n - P) / P, also where that is far below a, or far above."""
    if n == P:
        n = 1 + 1e-6  # counts may be averages
    found = ridge_equivalent(Teacher([2.0], [1.0], 0.5, count=n), P, 0.0)
    assert found.kappa == pytest.approx(2.0 * (n - P) / P, rel=1e-8)
    assert n * (1 - found.shrinkage[0]) == pytest.approx(P)  # directions in use
    two = ridge_equivalent(Teacher([1e-3, 5.0], [1.0, 1.0], 0.5, [60, 40]), 99, 0.0)
    a, b, c = (
        99.0,
        99 * 5.001 - 60 * 1e-3 - 40 * 5.0,
        (99 - 100) * 1e-3 * 5.0,
    )  # sum c a / (a + kappa) = 99
    assert two.kappa == pytest.approx((-b + np.sqrt(b * b - 4 * a * c)) / (2 * a), rel=1e-9)


def test_a_huge_ridge():
    """kappa is the ridge plus the mean square of a sample over P; nothing is learned."""
    for ridge in (3e8, 1e15, 1e300):
        found = ridge_equivalent(Teacher([1.0, 2.0], [1.0, 1.0], 0.5, [30, 40]), 50, ridge)
        assert found.kappa == pytest.approx(
            ridge + 110 / 50, rel=1e-12
        ) and found.error == pytest.approx(3.5, rel=1e-6)
        assert (
            found.train_error == pytest.approx(3.5, rel=1e-6) and (found.shrinkage > 1 - 1e-8).all()
        )


def test_ridge_equivalent_refuses():
    teacher = Teacher([1.0], [1.0], 0.1, count=100)
    with pytest.raises(ValueError, match="P = n = 100, got 0"):
        ridge_equivalent(teacher, 100, 0)
    with pytest.raises(ValueError, match="ridge must be finite and >= 0"):
        ridge_equivalent(teacher, 100, -1.0)
    with pytest.raises(
        TypeError, match="teacher must be of type Teacher, got list; make one with prompt_teacher"
    ):
        ridge_equivalent([1.0], 100, 1.0)


def test_the_best_ridge_where_samples_just_fix_all_directions():
    """At P = n, where ridge 0 diverges, there is a best ridge: of one group, unexplained n / (P signal)."""
    for n in (20, 100):
        one = Teacher([2.0], [0.5], unexplained=0.25, count=n)
        assert best_ridge(one, n) == pytest.approx(0.5, rel=1e-9)
        assert best_ridge(one, n) == pytest.approx(best_ridge(one, n + 1) * (n + 1) / n, rel=1e-9)
