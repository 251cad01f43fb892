"""Finite p-spin systems in time: conservation, exact equilibria, descent, Langevin, tempering, refusals."""

import numpy as np
import pytest

from spinlib._core import ConvergenceWarning
from spinlib.pspin.simulation import (
    Couplings,
    _leapfrog,
    descend,
    gaussian_couplings,
    langevin,
    overlap,
    parallel_tempering,
    planted_couplings,
    random_spins,
)
from spinlib.pspin.two_spin import solve_two_spin
from stats import batch_means, z_score


def start(n, p=3, replicas=(5,)):
    rng = np.random.default_rng(11)
    J, s = gaussian_couplings(n, p, rng=rng), random_spins(n, replicas, rng=rng)
    v = rng.standard_normal(s.shape)
    return J, s, v - s * (v * s).mean(-1, keepdims=True)


def leapfrog(J, s, v, beta, eps, n_steps):
    end, w, gradient = _leapfrog(J, s, v, J.gradient(s), np.asarray(beta), np.asarray(eps), n_steps)
    np.testing.assert_allclose(gradient, J.gradient(end), rtol=0, atol=1e-12)
    return end, w


def test_leapfrog_is_reversible_and_stays_on_the_sphere():
    J, s, v = start(20)
    beta, eps = np.linspace(0.5, 3, 5), 0.2
    end, w = leapfrog(J, s, v, beta, eps, 12)
    back, u = leapfrog(J, end, -w, beta, eps, 12)
    assert np.abs(back - s).max() < 1e-10 and np.abs(u + v).max() < 1e-10
    assert np.abs((end**2).mean(-1) - 1).max() < 1e-13 and np.abs((end * w).mean(-1)).max() < 1e-12


def test_leapfrog_conserves_energy_to_second_order():
    J, s, v = start(20)
    beta = 2.0

    def drift(eps):
        end, w = leapfrog(J, s, v, beta, eps, round(0.8 / eps))
        return np.abs(
            beta * (J.energy(end) - J.energy(s)) + 0.5 * ((w**2).sum(-1) - (v**2).sum(-1))
        ).mean()

    assert 3.7 < drift(0.02) / drift(0.01) < 4.3
    assert drift(0.01) < 1e-3 * np.abs(beta * J.energy(s)).mean()
    assert (
        abs(
            leapfrog(
                Couplings(np.zeros((4, 4))),
                s[:, :4] * 2 / np.linalg.norm(s[:, :4], axis=1, keepdims=True),
                np.zeros((5, 4)),
                1.0,
                0.1,
                3,
            )[1]
        ).max()
        == 0
    )


@pytest.mark.slow
def test_oracle_equilibrium_at_p_2_is_the_exact_one():
    """Detailed balance: at p = 2 the energy of the sampler equals the contour integral,
    above and below condensation."""
    J, T = gaussian_couplings(12, 2, rng=4), [0.3, 0.45, 0.7, 1.1, 2.0]
    run = parallel_tempering(J, T, n_sweeps=700, n_copies=24, rng=5)
    mu = np.linalg.eigvalsh(J.tensor)
    for k, t in enumerate(T):
        mean, error = batch_means(run.energy[60:, :, k].mean(axis=1))
        assert error < 0.01
        assert abs(mean - solve_two_spin(mu, t).energy) < 5 * error
    assert (run.acceptance > 0.7).all() and (run.swaps > 0.2).all()


def identity_defect(distinct, n=8, samples=16):
    """e + (beta/2)(1 - <q^3>) per sample (rows) and temperature (columns), which vanishes on average in equilibrium."""
    T, rng = np.array([0.5, 0.75, 1.1]), np.random.default_rng(3)
    rows = []
    for _ in range(samples):
        run = parallel_tempering(
            gaussian_couplings(n, 3, distinct=distinct, rng=rng),
            T,
            n_sweeps=70,
            n_copies=24,
            rng=rng,
        )
        rows.append(
            run.energy[30:].mean(axis=(0, 1))
            + 0.5 / T * (1 - (run.overlap[30:] ** 3).mean(axis=(0, 1)))
        )
    rows = np.array(rows)
    return z_score(rows, 0), rows


@pytest.mark.slow
def test_identity_of_equilibrium_holds_for_all_index_tuples_at_every_temperature():
    """Gaussian integration by parts: E e = -(beta/2)(1 - E<q^p>), exact at every N when the covariance of H is (N/2)
    q^p."""
    z, rows = identity_defect(distinct=False)
    assert (np.abs(z) < 5).all() and rows.std(axis=0).max() < 1  # above and below T_K = 0.586
    assert np.abs(rows.mean(axis=0)).max() < 0.12


@pytest.mark.slow
def test_eq_20_identity_of_equilibrium_fails_for_distinct_indices():
    z, _ = identity_defect(distinct=True, samples=8)
    assert (z > 8).all()


def test_a_chain_that_is_not_equilibrated_breaks_the_identity():
    T, n = [0.5], 32
    J = [gaussian_couplings(n, 3, rng=k) for k in range(12)]
    runs = [parallel_tempering(j, T, n_sweeps=3, n_copies=4, rng=k) for k, j in enumerate(J)]
    rows = np.array([r.energy.mean() + 1.0 * (1 - (r.overlap**3).mean()) for r in runs])
    assert rows.mean() > 10 * rows.std(ddof=1) / np.sqrt(12)


def test_descent_ends_in_a_local_minimum():
    J = gaussian_couplings(24, 3, rng=0)
    end = descend(J, random_spins(24, (6,), rng=1))
    assert end.converged
    gradient = J.gradient(end.s)
    multiplier = -(gradient * end.s).mean(-1)  # gradient = -multiplier s on the sphere
    assert np.abs(gradient + multiplier[:, None] * end.s).max() < 1e-7
    for s, m in zip(end.s, multiplier, strict=True):
        hessian = m * np.eye(24) - 6 * np.einsum("ijk,k->ij", J.tensor, s)
        frame = np.linalg.svd(s[None])[2][1:]
        assert np.linalg.eigvalsh(frame @ hessian @ frame.T).min() > 0
    assert np.allclose(end.energy, -multiplier / 3)  # Euler: s . grad H = p H


def test_descent_warns_when_it_is_stopped_early():
    J = gaussian_couplings(12, 3, rng=0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        end = descend(J, random_spins(12, rng=1), max_iter=3)
    assert not end.converged and np.isfinite(end.s).all()


@pytest.mark.slow
def test_exchange_has_the_probability_of_detailed_balance():
    """Moves so short that only the exchange counts: min(1, exp((beta - beta')(H - H'))), and not its power .9."""
    J, T = gaussian_couplings(6, 2, rng=0), np.array([0.2, 0.4])
    gap, other = [], []
    for seed in range(60):
        start = random_spins(6, (300, 2), rng=seed)
        run = parallel_tempering(J, T, n_sweeps=1, n_copies=300, eps=1e-9, s=start, rng=seed + 1000)
        swapped = np.abs(run.s - start).max(axis=(1, 2)) > 1e-3
        H = J.energy(start)
        chance = np.minimum(1, np.exp((1 / T[0] - 1 / T[1]) * (H[:, 0] - H[:, 1])))
        gap, other = [*gap, *(swapped - chance)], [*other, *(swapped - chance**0.9)]
    assert abs(z_score(gap, 0)) < 4 and abs(z_score(other, 0)) > 4.5


def test_langevin_without_disorder_forgets_at_the_rate_of_diffusion():
    """Brownian motion on the sphere: <s(t).s(0)>/N = exp(-T (N-1) t / N)."""
    n, T, dt = 10, 1.5, 0.004
    s = random_spins(n, (2000,), rng=0)
    path = langevin(Couplings(np.zeros((n, n))), s, T, dt=dt, n_steps=100, every=50, rng=1)
    for k in (1, 2):
        c = overlap(path[k], s)
        # 2e-3: order dt
        assert (
            abs(c.mean() - np.exp(-T * (n - 1) / n * dt * 50 * k))
            < 5 * c.std(ddof=1) / np.sqrt(len(c)) + 2e-3
        )
    assert path.shape == (3, 2000, n)


@pytest.mark.slow
def test_langevin_reaches_the_exact_energy_at_p_2_up_to_its_step():
    J, T = gaussian_couplings(10, 2, rng=2), 1.0
    exact = solve_two_spin(np.linalg.eigvalsh(J.tensor), T).energy
    path = langevin(J, random_spins(10, (300,), rng=3), T, dt=0.01, n_steps=1200, every=100, rng=4)[
        4:
    ]
    mean = (J.energy(path) / 10).mean(axis=0)
    assert abs(mean.mean() - exact) < 5 * mean.std(ddof=1) / np.sqrt(300) + 0.01


def test_langevin_at_zero_temperature_only_goes_down():
    J = gaussian_couplings(16, 3, rng=1)
    energy = J.energy(langevin(J, random_spins(16, (4,), rng=2), 0.0, n_steps=200, rng=3))
    assert (np.diff(energy, axis=0) <= 1e-12).all()


def test_rates_count_each_pair_of_temperatures_by_its_own_rounds():
    """Temperatures that are almost equal always exchange, whatever the parity of the sweep:
    rate 1, of 3 and of 2 rounds."""
    run = parallel_tempering(
        gaussian_couplings(8, rng=0), [1.0, 1.0 + 1e-9, 1.0 + 2e-9], n_sweeps=5, rng=1
    )
    assert run.swaps.tolist() == [1, 1]
    assert (
        parallel_tempering(
            gaussian_couplings(8, rng=0), [1.0], n_sweeps=5, eps=1e-3, rng=1
        ).acceptance
        == 1
    )


def test_tempering_continues_from_its_last_state_and_is_reproducible():
    J, T = gaussian_couplings(8, rng=0), [0.7, 1.0]
    first = parallel_tempering(J, T, n_sweeps=5, rng=1)
    again = parallel_tempering(J, T, n_sweeps=5, rng=1)
    assert np.array_equal(first.energy, again.energy)
    kept = first.s.copy()
    parallel_tempering(J, T, n_sweeps=5, s=first.s, rng=2)
    assert np.array_equal(first.s, kept)
    assert np.allclose(J.energy(first.s) / 8, first.energy[-1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda J, s: parallel_tempering(J, [1.0, 0.8]), "strictly increasing.*sort it"),
        (lambda J, s: parallel_tempering(J, [0.8, 0.8]), "strictly increasing"),
        (lambda J, s: parallel_tempering(J, [0.0, 0.8]), "positive"),
        (lambda J, s: parallel_tempering(J, []), "no axis may be empty"),
        (lambda J, s: parallel_tempering(J, [0.8, np.nan]), "finite"),
        (lambda J, s: parallel_tempering(J, 0.8), "shape"),
        (lambda J, s: parallel_tempering(J, [0.8], n_sweeps=0), "n_sweeps must be at least 1"),
        (lambda J, s: parallel_tempering(J, [0.8], eps=0.0), "eps must be"),
        (lambda J, s: parallel_tempering(J, [0.8], s=s), "n_copies, len"),
        (lambda J, s: langevin(J, s, -1.0), "T must be"),
        (lambda J, s: langevin(J, s, 1.0, dt=0.0), "dt must be"),
        (lambda J, s: langevin(J, 2 * s, 1.0), "on the sphere.*random_spins"),
        (lambda J, s: langevin(J, s * np.nan, 1.0), "spins must be finite, got nan in 12 of 12"),
        (lambda J, s: langevin(J, s, 1.0, dt=1e300), "left the finite numbers in step 1.*lower dt"),
        (lambda J, s: parallel_tempering(J, [0.8], eps=1e9), "eps must be.*hardly a move"),
        (lambda J, s: J.energy(s * np.inf), "spins must be finite"),
        (
            lambda J, s: J.energy(np.full((2, 6), np.nan)),
            "spins must be finite, got nan in 12 of 12",
        ),
        (lambda J, s: J.gradient(s[:0]), "no axis is empty"),
        (lambda J, s: descend(J, s[..., :-1]), r"shape \(\.\.\., 6\)"),
        (lambda J, s: descend(J, s, step=-1.0), "step must be"),
        (lambda J, s: J.energy(s[..., :-1]), r"shape \(\.\.\., 6\)"),
        (lambda J, s: overlap(s, s[..., :-1]), "same number of spins"),
        (lambda J, s: overlap(1.0, 1.0), "same number of spins"),
        (lambda J, s: overlap(s, s * np.nan), "second configuration must be finite"),
        (lambda J, s: random_spins(5, (0,)), "shape must be at least 1"),
        (lambda J, s: gaussian_couplings(2, 9), "p must be at most 8"),
        (lambda J, s: gaussian_couplings(1), "n_spins must be at least 2"),
        (lambda J, s: gaussian_couplings(8, 1), "p must be at least 2"),
        (lambda J, s: gaussian_couplings(600, 3), "at most 2\\^27"),
        (lambda J, s: gaussian_couplings(2, 3, distinct=True), "at least p"),
        (lambda J, s: planted_couplings(8, T=0.0), "T must be.*drawn at a temperature"),
        (lambda J, s: planted_couplings(8, T=np.nan), "T must be finite"),
        (lambda J, s: planted_couplings(1, T=1.0), "n_spins must be at least 2"),
        (lambda J, s: planted_couplings(10**9, T=1.0), "at most 2\\^27"),
        (lambda J, s: planted_couplings(2, 9, T=1.0), "p must be at most 8"),
        (lambda J, s: Couplings(np.arange(4.0).reshape(2, 2)), "symmetric"),
        (lambda J, s: Couplings(np.zeros((2, 3))), "shape"),
        (lambda J, s: Couplings(np.full((2, 2), np.nan)), "finite"),
    ],
)
def test_refusal(call, words):
    J, s = gaussian_couplings(6, 3, rng=0), random_spins(6, (2,), rng=1)
    with pytest.raises(ValueError, match=words):
        call(J, s)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda J, s: gaussian_couplings(8.0), "n_spins must be an integer"),
        (lambda J, s: gaussian_couplings(8, distinct="no"), "distinct must be True or False"),
        (lambda J, s: planted_couplings(8, T="cold"), "T must be a real number"),
        (lambda J, s: random_spins(5, 3), r"shape must be of type tuple.*write \(3,\)"),
        (lambda J, s: J.energy(s * 1j), "real numbers"),
        (lambda J, s: J.energy(["a"] * 6), "real numbers"),
        (lambda J, s: descend(J.tensor, s), "couplings must be of type Couplings, got ndarray"),
        (lambda J, s: langevin(J.tensor, s, 1.0), "couplings must be of type Couplings"),
        (lambda J, s: parallel_tempering(J.tensor, [1.0]), "couplings must be of type Couplings"),
    ],
)
def test_refusal_of_the_wrong_type(call, words):
    with pytest.raises(TypeError, match=words):
        call(gaussian_couplings(6, 3, rng=0), random_spins(6, (2,), rng=1))
