"""Ground states of prompts in blocks: the law at every size, a stored point again, the bar, the option --size."""

import itertools
import re

import numpy as np
import pytest

from spinlib.reproduce import _run, about, load, run
from spinlib.reproduce.__main__ import main
from spinlib.reproduce._experiments import large
from spinlib.theory import learning_curve

LARGE = large.EXPERIMENTS["large"]


@pytest.mark.slow
def test_three_draws_at_D_100_are_within_3_per_cent_of_the_law():
    found = run("large")
    assert found["D"].tolist() == [100] and found["error"].shape == (1, 3)
    assert found["theory"] == pytest.approx(0.3009, abs=5e-5)
    assert (np.abs(found["error"] / found["theory"] - 1) < 0.03).all()
    assert (
        (found["sweeps"] == 15).all()
        and (found["gflops"] > 0).all()
        and (found["peak_GB"] < 8).all()
    )


@pytest.mark.slow
def test_stored_run_is_within_0_4_per_cent_of_the_law_at_D_300_and_holds_its_first_point():
    stored, points = load("large"), LARGE.points(True)
    assert stored["D"].tolist() == [100, 200, 300] and (~np.isnan(stored["error"])).sum(
        1
    ).tolist() == [8, 4, 3]
    excess = stored["error"] / stored["theory"] - 1
    assert np.abs(excess[2, :3]).max() < 0.004 and np.nanmax(np.abs(excess)) < 0.03
    first = LARGE.compute(rng=LARGE.seeds(np.random.default_rng(0), points)[0], **points[0])
    assert (
        first["error"] == pytest.approx(stored["error"][0, 0], rel=2e-4) and first["sweeps"] == 15
    )


def test_the_share_of_a_point_that_is_done_rises_to_one():
    seen = []
    one = large._compute(np.random.default_rng(0), 20, 0, tell=seen.append)
    assert seen == sorted(seen) and len(seen) == one["sweeps"]
    assert seen[0] == pytest.approx(51 / 66) and seen[-1] == 1
    silent = large._compute(np.random.default_rng(0), 20, 0)
    assert silent["error"] == one["error"]


def test_a_bar_goes_on_within_a_point(capsys, monkeypatch):
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    asked, points = _run.planned("large", size=6)
    found, wall, cpu = _run.computed(asked, points, rng=0, progress=True)
    assert found["D"].tolist() == [6] and wall > 0 and cpu > 0
    err = capsys.readouterr().err
    assert "large: 100%" in err and "<00:00" in err


@pytest.mark.slow
def test_another_size(tmp_path, capsys):
    assert main(["large", "--size", "8", "--out", str(tmp_path)]) == 0
    said = re.search(
        r"D = 8: error ([\d.]+), law ([\d.]+); .* s a ground state, .* Gflop/s",
        capsys.readouterr().out,
    )
    with np.load(tmp_path / "large.npz") as found:
        assert float(said[1]) == round(float(found["error"].mean()), 4)
    assert float(said[2]) == round(learning_curve(8, 40, 128, 0.2 / 8), 4)
    assert (tmp_path / "large.png").exists() and about("large", tmp_path)["parameters"]["D"] == [8]
    for arguments, words in (
        (["fig8", "--size", "8"], "fig8 has no other --size; leave it out"),
        (["large", "--size", "1"], "--size must be at least 2, got 1"),
    ):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--out", str(tmp_path)])
        assert stop.value.code == 2 and words in capsys.readouterr().err


def test_the_stored_run_at_a_thousand_is_the_one_of_the_command():
    """`large --size 1000` wrote it: the points are those that are planned, the law is the one of the theory."""
    stored, made = load("large_1000"), about("large_1000")
    assert made["plan"] == _run.planned("large", size=1000)[0]["plan"]
    assert made["rng"] == 0 and made["jobs"] == 1 and stored["D"].tolist() == [1000]
    law = learning_curve(1000, 5000, 2_000_000, 0.2 / 1000)
    assert stored["theory"].item() == pytest.approx(law, rel=1e-9)
    assert abs(stored["error"].item() / law - 1) < 0.002
    assert stored["sweeps"].item() == 15 and stored["peak_GB"].item() < 17
    assert stored["seconds"].item() < 20 * 60


def test_a_sweep_is_two_products_of_the_features(monkeypatch, D=8):
    """By a clock that ticks a second at each look: u W and u^T (...), each 2 P D (D + 1) operations a second."""
    ticks = itertools.count()
    monkeypatch.setattr("time.process_time", lambda: float(next(ticks)))
    found = large.EXPERIMENTS["large"].compute(np.random.default_rng(0), D=D, draw=0)
    P = 2 * D * D
    assert found["gflops"] == pytest.approx(2 * (2 * P * (D + 1) * D) / 1e9, rel=1e-12)
    assert (
        found["seconds"] == found["sweeps"] + 1
    )  # a look at the start, after each sweep, at the end
