"""Message passing for weights that are mostly zero: the loop, symmetries, what it finds, says and refuses."""

import warnings

import numpy as np
import pytest

from spinlib import ConvergenceWarning
from spinlib.icl import Features, LinearTask, best_weights, population_error, weights
from spinlib.inference import Marginals, SpikeMarginals, spike_amp

D, N = 40, 800
FLOOR = population_error(best_weights(D, N), N)


def draw(P, k=0, dim=D, length=N):
    return LinearTask(dim, length).sample_features(P, rng=[k, 0])


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return spike_amp(*args, **options)


def slow(f, sweeps, damping, share, size, learn):
    """The same with S in memory and a loop over spins; learns when told."""
    S = np.array([np.outer(u[:-1], x).ravel() for u, x in zip(f.u, f.query)])
    P, n = S.shape
    m, z, back = np.zeros(n), f.y.copy(), 0.0
    for _ in range(sweeps):
        new_z = f.y - S @ m + back * z
        E = np.mean(new_z**2)
        p, r, v = np.empty(n), np.empty(n), np.empty(n)
        for i, s in enumerate(S.T):
            v[i], r[i] = E / (s @ s), m[i] + s @ new_z / (s @ s)
            one, zero = share * np.exp(-((r[i] - size) ** 2 - r[i] ** 2) / (2 * v[i])), 1 - share
            p[i] = one / (one + zero)
        new_back = sum(size**2 * p * (1 - p) / v) / P
        new_share, new_size = (p.mean(), p @ r / p.sum()) if learn else (share, size)
        keep = lambda new, old: (1 - damping) * new + damping * old
        m, z, back = keep(new_size * p, m), keep(new_z, z), keep(new_back, back)
        share, size = keep(new_share, share), keep(new_size, size)
    return m, share, size


@pytest.mark.parametrize("learn", [False, True])
def test_it_is_the_loop_over_spins(learn):
    f = draw(60, dim=8, length=100)
    S = np.array([np.outer(u[:-1], x).ravel() for u, x in zip(f.u, f.query)])
    size = (f.y @ S / (S**2).sum(0)).max() if learn else 0.8
    m, share, size = slow(f, 4, 0.3, 1 / 8, size, learn)
    found = quiet(f, max_iter=4) if learn else quiet(f, share=1 / 8, size=0.8, max_iter=4)
    np.testing.assert_allclose(weights(found.mean)[:8].ravel(), m, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose([found.share, found.size], [share, size], rtol=1e-10)


def test_it_finds_the_diagonal_and_learns_share_and_size():
    """P = 300 of 1640 weights, four draws: the floor within 4 %, 40 weights, their size within 5 %."""
    for k in range(4):
        found = spike_amp(draw(300, k))
        W = weights(found.mean)
        assert (
            found.converged
            and found.reason == ""
            and FLOOR <= population_error(W, N) < 1.04 * FLOOR
        )
        assert (W > 0.5).sum() == 40 and (np.diagonal(W) > 0.5).all() and not W[D].any()
        assert found.share == pytest.approx(1 / D, rel=1e-3)
        assert found.size == pytest.approx(best_weights(D, N)[0, 0], rel=0.05)
        assert not weights(found.var)[D].any() and (found.var >= 0).all()


def test_what_is_given_is_kept():
    found = spike_amp(draw(300), share=0.02, size=0.9)
    assert (found.share, found.size) == (0.02, 0.9) and set(
        weights(found.mean).ravel().round(6)
    ) == {0.0, 0.9}


def test_the_hard_phase_on_samples():
    """P = 130, known share and size: from nothing it ends far from the truth; started there it stays; four draws."""
    for k in range(4):
        f, given = draw(130, k), dict(share=1 / D, size=best_weights(D, N)[0, 0])
        lost = quiet(f, **given, damping=0.5)
        stays = spike_amp(f, **given, start=best_weights(D, N))
        assert population_error(weights(lost.mean), N) > 0.5
        assert stays.converged and population_error(weights(stays.mean), N) < 1.2 * FLOOR
    assert spike_amp(draw(40), **given).converged  # convergence says nothing of truth


def test_order_and_units_do_not_matter():
    f, rng = draw(250), np.random.default_rng(1)
    base = weights(spike_amp(f).mean)
    rows, columns, prompts = rng.permutation(D), rng.permutation(D), rng.permutation(250)
    u = np.column_stack([f.u[:, rows], f.u[:, D]])
    mixed = Features(u=u[prompts], query=f.query[prompts][:, columns], y=f.y[prompts])
    np.testing.assert_allclose(
        weights(spike_amp(mixed).mean)[:D], base[rows][:, columns], atol=1e-6
    )
    other = Features(u=f.u, query=f.query * 1e3, y=f.y * 1e-2)
    found = spike_amp(other)
    np.testing.assert_allclose(weights(found.mean) * 1e5, base, atol=1e-6)
    assert found.size * 1e5 == pytest.approx(spike_amp(f).size, rel=1e-6)
    blind = Features(u=np.column_stack([f.u[:, :D], 7 * f.u[:, D]]), query=f.query, y=f.y)
    np.testing.assert_array_equal(
        spike_amp(blind).mean, spike_amp(f).mean
    )  # the row of the labels is not read


def test_prompts_serve_as_well_as_features():
    prompts = LinearTask(8, 160).sample(90, rng=0)
    found = spike_amp(prompts)
    assert (
        isinstance(found, SpikeMarginals) and isinstance(found, Marginals) and len(found.mean) == 72
    )
    assert "share=" in repr(found) and "\n" not in repr(found)


def test_not_converged_is_said():
    with pytest.warns(
        ConvergenceWarning,
        match="spike_amp did not converge: it stopped.*raise damping or max_iter",
    ):
        found = spike_amp(draw(300), max_iter=3)
    assert not found.converged and found.reason and found.n_iter == 3 == len(found.history)


def test_refusals():
    f = draw(30, dim=4, length=20)
    for bad, words in (
        ({"share": 0.0}, "share must be finite and > 0 and < 1, got 0.0; it is a probability"),
        ({"share": 1.0}, "share must be"),
        ({"size": 0}, "size must be finite and > 0"),
        ({"size": -1.0}, "size must be finite and > 0"),
        ({"size": np.inf}, "size must be finite"),
        ({"damping": 1.0}, "damping"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"start": np.zeros((4, 4))}, r"start must have shape \(5, 4\)"),
    ):
        with pytest.raises(ValueError, match=words):
            spike_amp(f, **bad)
    with pytest.raises(TypeError, match="Prompts or Features"):
        spike_amp(f.u)
    dark = Features(u=f.u, query=f.query * [1, 1, 0, 1], y=f.y)
    with pytest.raises(ValueError, match="4 of 16 features are 0 in every prompt"):
        spike_amp(dark)


def test_the_variance_is_that_of_two_points():
    """0 or size: the mean is size p, the variance size^2 p (1 - p); nothing in the row of the labels."""
    found = spike_amp(
        LinearTask(8, 160).sample_features(60, rng=3), share=1 / 8, size=0.6, damping=0.5
    )
    assert found.converged and found.var.max() > 1e-3
    np.testing.assert_allclose(found.var, found.mean * (0.6 - found.mean), atol=1e-6)
