"""Exact marginals: the ground state, the Boltzmann distribution of Thesis eq. (133), flat energies refused."""

import numpy as np
import pytest
from glasses import glass_of, prompts, random_glass

from spinlib.icl import LinearTask, to_spin_glass
from spinlib.inference import _exact, amp, ground_state, ground_state_cg, relaxed_bp
from spinlib.spin_glass import SpinGlass, gaussian_glass


def test_ground_state_is_the_inverse_hessian():
    glass = random_glass(30, 0.9)
    inverse = np.linalg.inv(glass.hessian)
    found = ground_state(glass, beta=4.0)
    np.testing.assert_allclose(found.mean, inverse @ glass.h, rtol=1e-11)
    np.testing.assert_allclose(found.var, np.diagonal(inverse) / 4, rtol=1e-12)
    assert found.converged and found.n_iter == 0 and found.residual < 1e-13


@pytest.mark.parametrize("beta", [0.5, 20.0])
def test_eq_133_boltzmann_distribution_has_these_marginals(beta):
    """Gibbs sampling, which knows only the conditional distribution of one spin, agrees within 5 standard errors."""
    glass, chains, sweeps = random_glass(6, 0.6), 4000, 30
    rng = np.random.default_rng(1)
    s = np.zeros((chains, glass.n))
    for _ in range(sweeps):
        for i in range(glass.n):
            s[:, i] = (glass.h[i] + s @ glass.J[i]) / glass.lam[i] + rng.standard_normal(
                chains
            ) / np.sqrt(beta * glass.lam[i])
    exact = ground_state(glass, beta=beta)
    assert np.abs((s.mean(0) - exact.mean) / np.sqrt(exact.var / chains)).max() < 5
    assert np.abs((s.var(0) / exact.var - 1) / np.sqrt(2 / chains)).max() < 5


def test_eq_133_needs_the_stiffness_of_each_spin():
    """Printed with one lambda for all spins it is not exp(-beta H); with lambda_i it is, to rounding."""
    glass, beta = random_glass(8, 0.7), 2.0
    s = np.random.default_rng(2).standard_normal((50, glass.n))
    pairs = np.array(
        [sum(glass.J[i, j] * row[i] * row[j] for i in range(8) for j in range(i)) for row in s]
    )

    def log_weight(lam):
        return (beta * glass.h * s - beta / 2 * lam * s**2).sum(1) + beta * pairs

    np.testing.assert_allclose(
        log_weight(glass.lam), -beta * glass.energy(s), rtol=1e-11, atol=1e-11
    )
    for lam in (glass.lam.mean(), glass.lam.min()):  # whatever single number is meant
        assert np.std(log_weight(lam) + beta * glass.energy(s)) > 0.1


def test_a_result_shows_itself_in_one_line():
    text = repr(ground_state(random_glass(40, 0.5)))
    assert (
        text.startswith("Marginals(mean: (40,), var: (40,), converged=True")
        and "\n" not in text
        and len(text) < 150
    )
    assert "var=None" in repr(ground_state_cg(prompts(3, 5, 20), ridge=0.1))


# --- refusals ------------------------------------------------------------------------------------------------------


def test_no_minimum_is_refused_in_words():
    with pytest.raises(
        ValueError,
        match="positive definite, its smallest eigenvalue is -1.*no minimum; raise the ridge",
    ):
        ground_state(SpinGlass([[0, 2], [2, 0]], [1, 0], [1, 1]))
    few = glass_of(prompts(5, 10, 20), 0.0)  # 30 spins, 20 prompts: a flat set of minima
    with pytest.raises(
        ValueError, match="10 of its 30 eigenvalues are 0: the energy is flat.*no single minimum"
    ):
        ground_state(few)
    tiny = SpinGlass(few.J, few.h, few.lam + 1e-9)  # a small ridge makes it one minimum
    assert ground_state(tiny).residual < 1e-5
    # stiffnesses may differ by any factor
    assert ground_state(SpinGlass(np.zeros((2, 2)), [1, 1], [1e20, 1])).converged
    for solve in (amp, relaxed_bp):
        with pytest.raises(ValueError, match="lam > 0 for every spin, got 0"):
            solve(SpinGlass([[0, 0.1], [0.1, 0]], [1, 0], [1, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("D,draws", [(2, 100), (3, 100), (4, 100), (6, 30), (10, 30)])
def test_one_prompt_too_few_is_flat_whatever_rounding_says(D, draws):
    """At ridge 0 and P = n - 1 one eigenvalue is 0, and rounding makes it positive in one draw of five (D = 4)."""
    n = D * (D + 1)
    for k in range(draws):
        flat = to_spin_glass(LinearTask(D, 2 * D).sample_features(n - 1, rng=[D, k, 0]), 0.0)
        with pytest.raises(ValueError, match="eigenvalues are 0: the energy is flat"):
            ground_state(flat)
        for P in (n, n + 1, 2 * n):  # as many prompts as spins suffice
            found = ground_state(
                to_spin_glass(LinearTask(D, 2 * D).sample_features(P, rng=[D, k, P]), 0.0)
            )
            assert found.converged and (found.var > 0).all()
        for ridge in (1e-10, 1e-6):  # and any ridge above rounding
            few = LinearTask(D, 2 * D).sample_features(n // 2, rng=[D, k, 1])
            assert ground_state(to_spin_glass(few, ridge)).converged


def test_flatness_does_not_depend_on_the_units_of_a_spin():
    glass = gaussian_glass(12, rng=0)
    scale = 10.0 ** np.arange(-36, 36, 6)
    other = SpinGlass(glass.J * np.outer(scale, scale), glass.h * scale, glass.lam * scale**2)
    np.testing.assert_allclose(
        ground_state(other).mean * scale, ground_state(glass).mean, rtol=1e-12
    )
    np.testing.assert_allclose(
        ground_state(other).var * scale**2, ground_state(glass).var, rtol=1e-12
    )


def test_the_mean_alone():
    glass = gaussian_glass(30, field=1.0, rng=0)
    found = ground_state(glass, variances=False)
    with pytest.raises(AttributeError, match="no variances .var.: ground_state and sample_amp"):
        print(found.var)
    np.testing.assert_array_equal(found.mean, ground_state(glass).mean)
    with pytest.raises(TypeError, match="variances must be True or False"):
        ground_state(glass, variances=1)


def test_a_hessian_that_is_flat_to_lapack_only_is_called_flat_once():
    """Where the condition number refuses and no eigenvalue is 0 to rounding: one is named, not none."""
    words = _exact._no_ground_state(gaussian_glass(3, rng=0), np.eye(3))
    assert "1 of its 3 eigenvalues are 0" in words


@pytest.mark.parametrize("units", [1e-6, 1.0, 1e6])
def test_the_residual_is_what_is_left_of_the_fields(units):
    """|H' at the mean| over |h|, in any units of the fields and the stiffnesses."""
    glass = gaussian_glass(30, field=1.0, rng=5)
    glass = SpinGlass(units * glass.J, units * glass.h, units * glass.lam)
    found = ground_state(glass)
    left = np.linalg.norm(glass.gradient(found.mean)) / np.linalg.norm(glass.h)
    assert 0 < found.residual < 1e-14 and found.residual == pytest.approx(left, rel=1e-12, abs=0)
