"""fig5 and fig6: shapes, exact moments, the estimator against its expectation, a stored point computed again."""

import numpy as np
import pytest

from spinlib.reproduce import load
from spinlib.reproduce._experiments import statistics_of_disorder as here
from spinlib.theory import block_moments

FIG5, FIG6 = here.EXPERIMENTS["fig5"], here.EXPERIMENTS["fig6"]


def test_fig5_tiny():
    points = [{"D": 3, "N": 5, "P": 40, "draws": 60}] * 3
    seeds = np.random.default_rng(0).spawn(3)
    results = [FIG5.compute(rng=r, **p) for r, p in zip(seeds, points, strict=True)]
    out = FIG5.collect(points, results)
    assert out["draws"] == 180 and out["powers"].shape == (3, 12, 4)
    kinds = block_moments(3, 5, 40)
    for k, name in enumerate(out["names"]):
        edges, counts = out[f"{name}_edges"], out[f"{name}_counts"]
        assert edges.shape == (161,) and counts.sum() + out["outside"][k] == out["entries"][k]
        if name in kinds:  # pairs of one block once
            twice = 2 if name in ("E_shared", "E_free", "G") else 1
            assert out["entries"][k] == 180 * kinds[name].count // twice
            assert edges[80] == pytest.approx(kinds[name].mean, abs=1e-15)


def test_fig5_stored_moments_are_the_exact_ones():
    out = load("fig5")
    mean = out["powers"].mean(axis=0)
    error = out["powers"].std(axis=0, ddof=1) / np.sqrt(len(out["powers"]))
    z = np.abs(mean[:, :2] - [0, 1]) / error[:, :2]
    assert z.max() < 5 and out["draws"] == 100_000


@pytest.mark.slow
def test_fig5_a_stored_point_again():
    """Points have their own seeds: the first one of the full run, with fewer draws, is what a part of it would be."""
    again = FIG5.compute(rng=np.random.default_rng(0).spawn(200)[7], D=10, N=100, P=1000, draws=500)
    assert np.allclose(again["powers"], load("fig5")["powers"][7], rtol=1e-9, atol=1e-9)
    assert not np.allclose(again["powers"], load("fig5")["powers"][8], atol=1e-3)


def test_fig6_tiny():
    points = [{"D": 4, "P": 30, "lengths": [4, 5, 9], "draws": 3}] * 2
    seeds = np.random.default_rng(0).spawn(2)
    results = [FIG6.compute(rng=r, **p) for r, p in zip(seeds, points, strict=True)]
    out = FIG6.collect(points, results)
    assert out["draws"] == 6 and list(out["blocks"]) == list("CDEFG")
    for name in "CDEFG":
        assert out[name].shape == out[f"{name}_error"].shape == out[f"{name}_pooled"].shape == (3,)
        assert out[name][0] == 0 and (out[name][1:] > 0).all() and out[f"{name}_floor"] > 0
        assert out[f"{name}_counts"].shape == (4, 100)
        first, other = out[f"{name}_counts"][[0, 1]]
        again = here._pooled(first, other, 2 if name in "EG" else 1)  # J is symmetric there
        assert out[f"{name}_pooled"][1] == again != here._pooled(first, other, 3)


def test_histograms_count_every_entry_off_the_diagonal_in_range():
    D = 3
    h, J = np.full((D + 1, D), 0.011), np.full((D * (D + 1),) * 2, 0.051)
    counts = here.histograms(h, J, D)
    assert counts.sum(axis=1).tolist() == [D * (D - 1), D, D**2 * (D**2 - 1), D**3, D * (D - 1)]
    for row, x, (low, high) in zip(
        counts, (0.011, 0.011, 0.051, 0.051, 0.051), here.RANGES.values(), strict=True
    ):
        assert row.argmax() == np.searchsorted(np.linspace(low, high, 101), x) - 1
    assert here.histograms(h + 9, J + 9, D).sum() == 0


def test_the_noise_floor_of_independent_entries():
    """Two histograms of one law: the estimator has the mean (K - 1)/(M ln 2) for M large, and the pooled one none."""
    rng = np.random.default_rng(0)
    law = np.full(100, 0.01)
    p, q = rng.multinomial(20_000, law, size=(2, 400))
    found = here.divergence(p, q)
    assert abs(found.mean() - 99 / 20_000 / np.log(2)) < 5 * found.std() / 20 + 1e-4
    less = np.array([here._pooled(a, b, 1) for a, b in zip(p, q, strict=True)])
    assert abs(less.mean()) < 5 * less.std() / 20 + 1e-4 < found.mean() / 10
    twice = np.array([here._pooled(2 * a, 2 * b, 2) for a, b in zip(p, q, strict=True)])
    assert abs(twice.mean()) < 5 * twice.std() / 20 + 1e-4  # each entry counted twice


@pytest.mark.parametrize(
    "block, N, published",
    [
        ("C", 100, 0.09938),
        ("D", 100, 0.11847),
        ("E", 100, 0.49757),
        ("F", 100, 0.23654),
        ("G", 100, 0.19254),
        ("E", 200, 0.70630),
        ("F", 21, 0.01152),
        ("G", 200, 0.20347),
    ],
)
def test_fig6_stored_against_the_published_estimator(block, N, published):
    """Public code of Li, Bai and Huang, arrays of their Fig. S2; within 10 %."""
    out = load("fig6")
    assert out[block][list(out["N"]).index(N)] == pytest.approx(published, rel=0.1)


@pytest.mark.slow
def test_fig6_a_stored_point_lies_in_the_stored_mean():
    """One of 100 points of 10 draws again: its counts are part of the stored ones, its mean is near the stored mean."""
    out = load("fig6")
    point = FIG6.points(True)[3]
    again = FIG6.compute(rng=np.random.default_rng(0).spawn(100)[3], **point)
    for b, name in enumerate("CDEFG"):
        assert (again["counts"][:, b] <= out[f"{name}_counts"]).all()
        z = (again["kl"][1:-1, b] / 10 - out[name][1:]) / (out[f"{name}_error"][1:] * 10)
        assert np.abs(z).max() < 5


@pytest.mark.parametrize("draws", [2, 5])
def test_standard_errors_are_those_of_a_sample(draws):
    """From sums of the divergences and of their squares: the standard deviation, ddof 1, over the root of the draws."""
    rng = np.random.default_rng(draws)
    kl = rng.random((draws, 4, 5))
    counts = rng.integers(1, 50, (4, 5, 100))
    points = [{"draws": draws, "lengths": [20, 21, 40]}]
    out = here.EXPERIMENTS["fig6"].collect(
        points, [{"counts": counts, "kl": kl.sum(0), "kl2": (kl**2).sum(0)}]
    )
    error = kl.std(axis=0, ddof=1) / np.sqrt(draws)
    for b, name in enumerate("CDEFG"):
        np.testing.assert_allclose(out[f"{name}_error"], error[:-1, b], rtol=1e-9)
        assert out[f"{name}_floor_error"] == pytest.approx(error[-1, b], rel=1e-9)
