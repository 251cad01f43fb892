"""Stored annealing of spikes: points computed again, a slow obvious sweep, equilibrium at small size, and its shape."""

from itertools import combinations

import numpy as np
import pytest

from spinlib import reproduce
from spinlib.icl import LinearTask, best_weights
from spinlib.reproduce._experiments import freezing


@pytest.fixture(scope="module")
def stored():
    return reproduce.load("freezing")


def test_the_stored_file_is_whole(stored):
    about = reproduce.about("freezing")
    runs = freezing.SAMPLES * (sum(map(len, freezing.FULL.values())) + 1)
    assert about["full"] is True and about["rng"] == 0 and about["points"] == runs
    assert stored["energy"].shape == (4, 3, 12, 25) and all(
        np.isfinite(stored[k]).all() for k in ("energy", "right")
    )
    assert stored["melt_energy"].shape == (12, 25) and (stored["melt_right"][:, 0] == 40).all()
    np.testing.assert_allclose(
        stored["plant"], stored["plant"][:, :1] * np.ones((1, 3, 1)), rtol=1e-12
    )


@pytest.mark.parametrize("P, sweeps, sample", [(140, 2, 0), (220, 2, 5)])
def test_a_stored_point_comes_out_again(stored, P, sweeps, sample):
    points = freezing._points(True)
    k = points.index({"P": P, "sweeps": sweeps, "sample": sample, "melt": False})
    again = freezing.one_run(np.random.default_rng(0).spawn(k + 1)[k], P, sweeps, sample, False)
    at = list(stored["P"]).index(P), list(stored["sweeps"]).index(sweeps), sample
    np.testing.assert_allclose(again["energy"][:8], stored["energy"][at][:8], rtol=1e-6)
    np.testing.assert_array_equal(again["right"][:8], stored["right"][at][:8])


@pytest.mark.slow
def test_heat_bath_moves_leave_the_boltzmann_law(monkeypatch):
    """D = 3: three spikes in nine places, 84 configurations enumerated; one temperature, many sweeps."""
    for name, value in {"D": 3, "N": 10, "STEPS": 1, "HOT": 1.7, "COLD": 1.7}.items():
        monkeypatch.setattr(freezing, name, value)
    data, c = LinearTask(3, 10).sample_features(6, rng=[0, 6, 0]), best_weights(3, 10)[0, 0]
    S = (data.u[:, :3, None] * data.query[:, None]).reshape(6, 9)
    places = np.array(list(combinations(range(9), 3)))
    energy = ((data.y - c * S[:, places].sum(-1).T) ** 2).sum(1) / (2 * (1 - c) * 6)
    p = np.exp(-6 * (energy - energy.min()) / 1.7)
    p /= p.sum()
    run = freezing.one_run(np.random.default_rng(1), 6, 20_000, 0, False)
    assert run["energy"][0] == pytest.approx(p @ energy, rel=0.03)
    assert run["right"][0] == pytest.approx(p @ (places % 4 == 0).sum(1), abs=0.06)
    assert run["plant"] == pytest.approx(energy[(places == [0, 4, 8]).all(1)][0], rel=1e-10)


@pytest.fixture(scope="module")
def tempered():
    return reproduce.load("tempering")


def test_the_stored_tempering_is_whole(tempered):
    draws = np.isfinite(tempered["most"]).sum((1, 2))
    assert dict(zip(tempered["P"], draws)) == freezing.TEMPERED
    assert tempered["energy"].shape == (3, 8, 1, 8, 12) and tempered["rounds"] == freezing.ROUNDS
    own = np.isfinite(tempered["most"][..., 0])
    assert (tempered["lowest"][own][:, 0] <= tempered["energy"][own][:, 0].min((1, 2))).all()
    assert tempered["exchanged"][own].min() > 0.2  # every copy can travel


@pytest.mark.slow
@pytest.mark.parametrize("row, sample", [(0, 3), (1, 0)])
def test_the_first_eighth_of_a_stored_tempering_comes_out_again(tempered, stored, row, sample):
    points = freezing._tempering_points(True)
    k, P = 8 * row + sample, int(tempered["P"][row])
    assert points[k] == {"P": P, "sample": sample, "rounds": freezing.ROUNDS}
    again = freezing.tempered(
        np.random.default_rng(0).spawn(len(points))[k], P, sample, freezing.ROUNDS // 8
    )
    for name in ("energy", "right"):
        np.testing.assert_allclose(
            again[name].mean(0), tempered[name][row, sample, 0, 0], rtol=1e-3
        )
    if P in stored["P"]:
        assert again["plant"] == pytest.approx(stored["plant"][0, 0, sample], rel=1e-5)


def test_what_the_page_says_of_tempering(tempered):
    """No draw at 140 prompts comes near the crystal or its energy; one of eight reaches it at 150, none at 160."""
    assert (tempered["most"][0] < 36).all()
    assert (tempered["lowest"][0] > tempered["plant"][0] + 0.1).all()
    assert list((tempered["most"][:, :, 0] > 37).sum(1)) == [0, 1, 0]


@pytest.mark.slow
def test_copies_that_exchange_places_keep_the_boltzmann_law(monkeypatch):
    """As above, at each of three temperatures; and the exchanges are made as often as detailed balance says."""
    T = np.array([1.0, 1.5, 2.3])
    for name, value in {"D": 3, "N": 10, "LADDER": T}.items():
        monkeypatch.setattr(freezing, name, value)
    data, c = LinearTask(3, 10).sample_features(6, rng=[0, 6, 0]), best_weights(3, 10)[0, 0]
    S = (data.u[:, :3, None] * data.query[:, None]).reshape(6, 9)
    places = np.array(list(combinations(range(9), 3)))
    energy = ((data.y - c * S[:, places].sum(-1).T) ** 2).sum(1) / (2 * (1 - c) * 6)
    p = np.exp(-6 * (energy - energy.min()) / T[:, None])
    p /= p.sum(1, keepdims=True)
    run = freezing.tempered(np.random.default_rng(1), 6, 0, 16_000)
    np.testing.assert_allclose(run["energy"].mean(0), p @ energy, rtol=0.02)
    np.testing.assert_allclose(run["right"].mean(0), p @ (places % 4 == 0).sum(1), atol=0.04)
    assert run["lowest"] == pytest.approx(energy.min(), rel=1e-5)
    gap = 6 * (energy - energy[:, None])  # of the copy at the higher temperature and the other
    for k, accepted in enumerate(run["exchanged"]):
        chance = np.exp(np.minimum(0, -gap * (1 / T[k] - 1 / T[k + 1])))
        assert accepted == pytest.approx(p[k] @ chance @ p[k + 1], abs=0.02)


def test_what_the_page_says(stored):
    """At 140 prompts the runs end above the crystal and slower ones lower; the crystal, warmed, stays beyond T = 3."""
    end, plant = stored["energy"][0, :, :, -1].mean(1), stored["plant"][0, 0].mean()
    assert (
        (np.diff(end) < -0.04).all()
        and end[-1] > plant + 0.3
        and (stored["right"][0, :, :, -1] < 25).all()
    )
    kept = stored["melt_right"].mean(0) >= 30
    assert kept[stored["T"][::-1] < 3].all() and not kept[stored["T"][::-1] > 4].any()


def test_the_quick_run_has_points_of_both_kinds():
    quick = freezing._points(False)
    assert 0 < len(quick) < 12 and {point["melt"] for point in quick} == {False, True}


def test_a_melt_begins_in_the_cold_and_ends_in_the_heat(monkeypatch):
    """D = 3, prompts enough: all three spikes stay right at T = 0.01; at T = 1000 a third of them, by chance."""
    for name, value in {"D": 3, "N": 60, "STEPS": 2, "HOT": 1e3, "COLD": 1e-2}.items():
        monkeypatch.setattr(freezing, name, value)
    right = freezing.one_run(np.random.default_rng(1), 60, 300, 0, True)["right"]
    assert right[0] == 3 and right[1] == pytest.approx(1, abs=0.4)
