"""Stored quenches of samples: points computed again, their shape, and what the page says of them."""

import numpy as np
import pytest

from spinlib import reproduce
from spinlib.reproduce import _store
from spinlib.reproduce._experiments import dynamics


@pytest.fixture(scope="module")
def stored():
    return reproduce.load("pspin_quench")


def test_the_stored_file_is_small_and_whole(stored):
    assert (_store.DATA / "pspin_quench.npz").stat().st_size < 1e6
    about = reproduce.about("pspin_quench")
    assert (
        about["full"] is True
        and about["rng"] == 0
        and about["points"] == sum(dynamics.FULL.values())
    )
    for a, n in enumerate(stored["n_spins"]):
        for b, T in enumerate(stored["T"]):
            samples = dynamics.FULL.get((int(n), float(T)), 0)
            assert np.isfinite(stored["energy"][a, b]).all(axis=-1).sum() == samples
            assert np.isfinite(stored["end"][a, b]).all(axis=-1).sum() == (samples if T == 0 else 0)
    assert np.nanmax(np.abs(stored["C"][..., 0] - 1)) < 1e-9  # lag 0


@pytest.mark.slow
@pytest.mark.parametrize("n, T, sample", [(32, 0.0, 0), (32, 0.0, 9), (16, 0.0, 5), (64, 0.3, 2)])
def test_a_stored_point_comes_out_again(stored, n, T, sample):
    """At T = 0 a descent forgets rounding; at T > 0 64 units of time are too short for chaos to show."""
    points = dynamics._points(True)
    k = points.index({"n_spins": n, "T": T, "sample": sample})
    again = dynamics.one_sample(np.random.default_rng(0).spawn(k + 1)[k], n, T, sample)
    at = list(stored["n_spins"]).index(n), list(stored["T"]).index(T), sample
    np.testing.assert_allclose(again["energy"][:20], stored["energy"][at][:20], atol=1e-6)
    np.testing.assert_allclose(again["C"][0, :15], stored["C"][at][0, :15], atol=1e-6)


def test_the_quick_run_is_the_beginning_of_the_full_one():
    quick = dynamics._points(False)
    assert quick == dynamics._points(True)[: len(quick)] and len(quick) >= 10


def test_couplings_starts_and_noise_have_seeds_of_their_own(monkeypatch):
    """At T = 0 the noise is not used; at T > 0 the start is the same as at T = 0."""
    seen = []
    monkeypatch.setattr(
        dynamics, "langevin", lambda J, s, T, **k: seen.append((J.tensor, s)) or np.array([s] * 641)
    )
    for T in (0.0, 0.3):
        dynamics.one_sample(np.random.default_rng(3), 8, T)
    assert np.array_equal(seen[0][0], seen[1][0]) and np.array_equal(seen[0][1], seen[1][1])
