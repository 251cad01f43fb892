"""Moments of the disorder: by hand, by Wick pairings, by sampled prompts; the theory of shuffled couplings."""

import itertools

import numpy as np
import pytest

from spinlib.icl import LinearTask, features, population_error, to_spin_glass, weights
from spinlib.spin_glass import shuffled
from spinlib.theory import block_moments, prompt_moment, shuffled_edge, shuffled_error
from stats import z_score


def test_one_dimension_by_hand():
    """D = N = 1: g = w x^2, q = w^2 x^2."""
    assert prompt_moment(1, 1, first=4) == pytest.approx(3 * 105, rel=1e-14)
    assert prompt_moment(1, 1, label=4) == pytest.approx(105**2, rel=1e-14)
    assert prompt_moment(1, 1, first=2, label=3) == pytest.approx(105 * 945, rel=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "first, second, label", [(2, 0, 0), (0, 0, 1), (0, 0, 2), (2, 2, 0), (4, 0, 0), (2, 0, 1)]
)
def test_against_quadrature_over_every_gaussian(first, second, label):
    """D = N = 2: six Gaussians, by Gauss-Hermite quadrature, exact for polynomials of this degree."""
    nodes, w = np.polynomial.hermite_e.hermegauss(9)
    w = w / w.sum()
    total = 0.0
    for k in itertools.product(range(9), repeat=2):  # the task; the examples as one array
        task = nodes[list(k)]
        x = np.array(list(itertools.product(nodes, repeat=4))).reshape(
            -1, 2, 2
        )  # (points, component, example)
        weight = np.prod(np.array(list(itertools.product(w, repeat=4))), axis=1)
        y = np.einsum("d,pdn->pn", task, x) / np.sqrt(2)
        g, q = (x @ y[:, :, None])[:, :, 0] / 2, (y * y).sum(1) / 2
        total += w[list(k)].prod() * weight @ (g[:, 0] ** first * g[:, 1] ** second * q**label)
    assert prompt_moment(2, 2, first, second, label) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("first, second, label", [(2, 0, 0), (2, 2, 0), (2, 0, 1), (0, 0, 2)])
def test_powers_of_sampled_features(first, second, label):
    u = LinearTask(3, 6).sample_features(200_000, rng=0).u
    values = u[:, 0] ** first * u[:, 1] ** second * u[:, 3] ** label
    assert abs(z_score(values, prompt_moment(3, 6, first, second, label))) < 5


def test_odd_powers_and_refusals():
    assert (
        prompt_moment(4, 5, first=1) == 0 and prompt_moment(4, 5, first=3, second=1, label=2) == 0
    )
    with pytest.raises(ValueError, match="two components"):
        prompt_moment(1, 5, second=2)
    with pytest.raises(ValueError, match="first must be"):
        prompt_moment(4, 5, first=-2)
    with pytest.raises(ValueError, match="the blocks differ from D = 2 on"):
        block_moments(1, 5, 10)


def test_moments_of_the_blocks_against_whole_prompts():
    """From X itself, not from sample_features: 150 000 draws of one prompt each give as many independent products."""
    D, N, draws = 3, 4, 150_000
    data = features(LinearTask(D, N).sample(draws, rng=1))
    s = (data.u[:, :, None] * data.query[:, None, :]).reshape(draws, -1)
    h = data.y[:, None] * s
    exact = block_moments(D, N, 1)
    spins = {
        "C_diag": [(a, a) for a in range(D)],
        "C": [(0, 1), (2, 1), (1, 0)],
        "D": [(D, 0), (D, 2)],
    }
    for name, places in spins.items():
        for a, m in places:
            x = h[:, a * D + m]
            assert abs(z_score(x, exact[name].mean)) < 5, name
            assert abs(z_score((x - exact[name].mean) ** 2, exact[name].var)) < 5, name
    pairs = {
        "E_diag": ((0, 1), (0, 1)),
        "E_shared": ((0, 1), (0, 2)),
        "E_free": ((0, 1), (2, 0)),
        "F_shared": ((1, 1), (D, 1)),
        "F_free": ((1, 1), (D, 0)),
        "G_diag": ((D, 1), (D, 1)),
        "G": ((D, 1), (D, 2)),
    }
    for name, ((a, m), (b, n)) in pairs.items():
        x = -s[:, a * D + m] * s[:, b * D + n]
        assert abs(z_score(x, exact[name].mean)) < 5, name
        assert abs(z_score((x - exact[name].mean) ** 2, exact[name].var)) < 5, name
        if "shared" in name:  # three times the variance: the test sees it
            assert abs(z_score(x**2, exact[name].var / 3)) > 5, name


def test_the_counts_are_those_of_the_matrices():
    D = 4
    kinds = block_moments(D, 5, 10)
    n = D * D
    assert kinds["E_diag"].count + kinds["E_shared"].count + kinds["E_free"].count == n**2
    assert kinds["F_shared"].count + kinds["F_free"].count == n * D
    assert kinds["G_diag"].count + kinds["G"].count == D**2
    assert kinds["C_diag"].count + kinds["C"].count + kinds["D"].count == D * (D + 1)


def test_variances_fall_as_one_over_P():
    one, many = block_moments(5, 9, 1), block_moments(5, 9, 250)
    assert all(
        many[k].var * 250 == pytest.approx(one[k].var) and many[k].mean == one[k].mean for k in one
    )


def test_the_edge_tends_to_the_semicircle():
    """a (1 - 2 sqrt(gamma)), with corrections of order 1/D."""
    off = []
    for D in (40, 160, 640):
        P, a = 6 * D * D, (1 + (D + 1) / (5 * D)) / D
        off.append(shuffled_edge(D, 5 * D, P) / a - (1 - 2 * np.sqrt(D * (D + 1) / P)))
    assert abs(off[2]) < 0.005 and off[0] / off[1] == pytest.approx(4, rel=0.1) == off[1] / off[2]


def test_the_edge_against_sampled_spectra():
    """The mean of the lowest eigenvalues lies within a tenth of the half width, above or below."""
    D, N = 16, 80
    labels = np.repeat(np.arange(D + 1) == D, D).astype(int)
    for P in (600, 2000):
        low = [
            np.linalg.eigvalsh(
                shuffled(
                    to_spin_glass(LinearTask(D, N).sample_features(P, rng=k), 0.0), labels, rng=k
                ).hessian
            )[0]
            for k in range(4)
        ]
        a = (1 + (D + 1) / N) / D
        assert abs(np.mean(low) - shuffled_edge(D, N, P)) < 0.1 * 2 * a * np.sqrt(D * (D + 1) / P)


@pytest.mark.slow
@pytest.mark.parametrize("P, ridge", [(2500, 0.01), (2500, 0.1), (8000, 0.003)])
def test_the_errors_against_sampled_glasses(P, ridge):
    """Twelve draws at D = 20; terms of order 1/D are neglected, so 2 % are allowed beside 3 standard errors."""
    D, N, found = 20, 100, []
    labels = np.repeat(np.arange(D + 1) == D, D).astype(int)
    for k in range(12):
        real = to_spin_glass(LinearTask(D, N).sample_features(P, rng=k), ridge)
        mixed = shuffled(real, labels, rng=k)
        found.append(
            [
                population_error(weights(np.linalg.solve(np.diag(real.lam) - J, real.h)), N)
                for J in (mixed.J, 0 * real.J, real.J)
            ]
        )
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(12)
    shuffled_, erased = shuffled_error(D, N, P, ridge), shuffled_error(D, N, P, ridge, coupling=0.0)
    assert abs(mean[0] - shuffled_) < 3 * error[0] + 0.02 * shuffled_
    assert abs(mean[1] - erased) < 3 * error[1] + 0.02 * erased
    if ridge < 0.05:  # and it tells the three glasses apart
        assert mean[0] > 1.05 * mean[1] > 1.1 * mean[2]


def test_erased_is_the_limit_of_weak_couplings_and_in_closed_form():
    D, N, P, ridge = 12, 50, 3000, 0.02
    weak = [shuffled_error(D, N, P, ridge, coupling=c) for c in (0.0, 1e-4, 1.0)]
    assert weak[1] == pytest.approx(weak[0], abs=1e-7) and weak[2] != pytest.approx(
        weak[0], abs=1e-3
    )
    kinds = block_moments(D, N, P)
    a, b = -kinds["E_diag"].mean, -kinds["G_diag"].mean
    signal = 1 / D + sum(kinds[k].var * kinds[k].count for k in ("C", "C_diag"))
    by_hand = (
        1
        - 2 / D / (a + ridge)
        + a * signal / (a + ridge) ** 2
        + b * kinds["D"].var * D / (b + ridge) ** 2
    )
    assert weak[0] == pytest.approx(by_hand, rel=1e-12)


def test_no_ground_state_is_refused_in_words():
    edge = shuffled_edge(20, 100, 500)
    with pytest.raises(
        ValueError, match="no ground state below; take a larger ridge or more prompts"
    ):
        shuffled_error(20, 100, 500, 0.99 * -edge)
    assert shuffled_error(20, 100, 500, 1.01 * -edge) > 1  # just above it the error is large
    with pytest.raises(ValueError, match="coupling"):
        shuffled_error(20, 100, 500, 0.1, coupling=-1)


@pytest.mark.parametrize("N", [1, 2, 30])
def test_variances_of_the_fields_by_conditioning_on_the_task(N):
    """Given w, y q_m and u_a are independent; what is left is a polynomial in two components of w, by quadrature."""
    D, (nodes, weight) = 2, np.polynomial.hermite_e.hermegauss(6)
    a, m, weight = (
        nodes[:, None] ** 2,
        nodes[None] ** 2,
        np.outer(weight, weight) / (2 * np.pi),
    )  # w_a^2, w_m^2
    s = a + m
    u2 = (s + 2 * a) / (N * D) + (1 - 1 / N) * a / D  # E u_a^2
    last = (s / D) ** 2 * (1 + 2 / N)  # E (y0.y0 / N)^2
    for name, q2, other, mean in (
        ("C_diag", (s + 2 * a) / D, u2, 1 / D),
        ("C", (s + 2 * m) / D, u2, 0),
        ("D", (s + 2 * m) / D, last, 0),
    ):  # E y^2 q^2
        var = ((weight * q2 * other).sum() - mean**2) / 7
        assert block_moments(D, N, 7)[name].var == pytest.approx(var, rel=1e-12)


@pytest.mark.parametrize("ridge", [0.03, 0.1, 1.0])
def test_the_shuffled_error_by_plain_iteration_of_the_dyson_equation(ridge, D=6, N=30, P=400):
    """r = 1 / (k - T r) from r = 1/k on, and X by the sum of its powers: no Newton, no linear solve."""
    kinds = block_moments(D, N, P)
    sums = {name: m.var * m.count for name, m in kinds.items()}
    E, F = sums["E_shared"] + sums["E_free"], sums["F_shared"] + sums["F_free"]
    T = np.array([[E / D**2, F / D**2], [F / D, sums["G"] / D]])
    bowl = -np.array([kinds["E_diag"].mean, kinds["G_diag"].mean])
    r, X = 1 / (bowl + ridge), np.zeros(2)
    for _ in range(3000):
        r = 1 / (bowl + ridge - T @ r)
    for _ in range(3000):
        X = r**2 * (bowl + T @ X)
    h2 = np.array([1 / D + sums["C_diag"] + sums["C"], sums["D"]])
    assert shuffled_error(D, N, P, ridge) == pytest.approx(1 - 2 * r[0] / D + X @ h2, rel=1e-11)
