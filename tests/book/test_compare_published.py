"""Agreement with published arrays: on made-up arrays whose distance is known, and on what is stored."""

import numpy as np
import pytest

import compare_published as tool
from spinlib import reproduce
from spinlib.reproduce import _store

N6, N12, C14 = (
    np.array([20, 21, *range(40, 201, 20)]),
    np.arange(20, 201, 20),
    np.arange(1, 20) / 20,
)


@pytest.fixture
def published(tmp_path):
    """A folder of made-up arrays in the shapes of the published ones."""
    rng, folder = np.random.default_rng(0), tmp_path / "published"
    folder.mkdir()
    arrays = {
        f"fig6-{name}_mean": np.r_[0, rng.uniform(0.1, 0.5, 10)] for name in tool.BLOCKS.values()
    }
    arrays |= {
        "fig9-m": rng.standard_normal((11, 11)).astype(np.float32),
        "fig10-zero-ratio": rng.random((7, 80)),
        "fig12-contrast": np.where(rng.random((50, 50)) < 0.1, np.nan, rng.random((50, 50))),
        "fig12-N_list": N12,
        "fig12-amp_loss_mean": rng.random(10),
        "fig12-sgd_loss_mean": rng.random(10),
        "fig14-amp": rng.random((19, 20)),
        "fig14-sgd": rng.random((19, 20)),
    }
    arrays["fig14-amp"][-1, 5:] = np.nan  # three quarters of the last point did not converge
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def at(folder, name):
    return np.load(folder / f"{name}.npy").astype(float)


def ours(folder, shift=0.0):
    """Our arrays, at known distances of the published ones; with their own repeats and axes in another order."""
    wiggle = 0.01 * np.array([-1, 0, 1])  # three repeats around the mean
    order = np.argsort(-N12)
    flip = at(folder, "fig12-contrast")[::-1] + shift
    flip[0, :25] = np.where(np.isnan(flip[0, :25]), 0.5, np.nan)  # 25 of 2500 cells disagree
    ratio = at(folder, "fig10-zero-ratio")
    ratio[2, 3] += 0.005
    return {
        "fig6": {
            "N": N6,
            **{b: at(folder, f"fig6-{n}_mean") * (1 + shift) for b, n in tool.BLOCKS.items()},
        },
        "fig9": {"mean": at(folder, "fig9-m")[:, :10] + shift * np.eye(11, 10)},
        "fig10": {"D": np.arange(10, 41, 5), "P": np.arange(25, 2001, 25), "zero_ratio": ratio},
        "fig12a": {
            "N": np.arange(100, 0, -2),
            "P": np.arange(20, 1001, 20),
            "contrast_eq153": flip,
        },
        "fig12b": {
            "N": N12[order],
            **{
                k: at(folder, f"fig12-{f}_loss_mean")[order, None] + shift + wiggle
                for k, f in (("amp_eq153", "amp"), ("adam", "sgd"))
            },
        },
        "fig14": {
            "c": C14[:5],
            **{
                k: at(folder, f"fig14-{f}")[:5] + shift
                for k, f in (("amp_eq153_published", "amp"), ("adam_published", "sgd"))
            },
        },
    }


@pytest.fixture
def stored(monkeypatch, published):
    def use(shift, full=True):
        mine = ours(published, shift)

        def load(figure, folder):
            if not full:
                raise FileNotFoundError("not stored")
            return mine[figure]

        monkeypatch.setattr(reproduce, "load", load)
        monkeypatch.setattr(reproduce, "run", lambda figure: mine[figure])
        monkeypatch.setattr(
            reproduce, "about", lambda figure, folder: {"sha256": f"sum of {figure}"}
        )
        return tool.compare(published)

    return use


def test_known_distances_come_out(stored):
    found, left_out = stored(0.005)
    assert left_out == [] and list(found) == list(tool.FIGURES)
    value = {f: {k: r["value"] for k, r in one["rows"].items()} for f, one in found.items()}
    assert value["fig6"] == pytest.approx(dict.fromkeys("CDEFG", 0.005))
    assert value["fig9"] == pytest.approx({"mean": 0.005})
    assert value["fig10"] == pytest.approx({"cells": 1, "largest": 0.005})
    assert value["fig12a"]["pattern"] == pytest.approx(0.99) and value["fig12a"][
        "values"
    ] == pytest.approx(0.005)
    assert value["fig12b"] == pytest.approx({"amp_eq153": 0.005, "adam": 0.005})
    assert value["fig14"] == pytest.approx({"amp_eq153_published": 0.005, "adam_published": 0.005})
    met = {f: {k: r["met"] for k, r in one["rows"].items()} for f, one in found.items()}
    assert (
        met["fig12b"] == {"amp_eq153": False, "adam": True}
        and all(met["fig6"].values())
        and met["fig9"]["mean"]
    )
    assert (
        found["fig6"]["rows"]["C"]["points"] == 10
        and found["fig14"]["rows"]["adam_published"]["points"] == 5
    )


def test_every_band_can_be_missed(stored):
    found, _ = stored(0.2)
    rows = {(f, k): r["met"] for f, one in found.items() for k, r in one["rows"].items()}
    fixed = {("fig10", "cells"), ("fig10", "largest"), ("fig12a", "pattern"), ("fig12a", "values")}
    assert not any(met for key, met in rows.items() if key not in fixed) and all(
        rows[key] for key in fixed
    )
    mine = {"D": [10], "P": [25, 50], "zero_ratio": np.array([[0.5, 0.5]])}
    rows = tool.fig10(mine, lambda name: np.full((7, 80), 0.49), True)
    assert rows["cells"]["value"] == 2 and not rows["cells"]["met"] and not rows["largest"]["met"]
    mine = {"N": [2, 4], "P": [20], "contrast_eq153": np.array([[np.nan], [0.5]])}
    assert not tool.fig12a(mine, lambda name: np.full((50, 50), np.nan), True)["pattern"]["met"]


def test_a_quick_run_widens_its_bands_by_its_own_error(stored):
    found, _ = stored(0.005, full=False)
    amp = found["fig12b"]["rows"]["amp_eq153"]
    assert amp["met"] and amp["band"] == pytest.approx(0.004 + 3 * 0.01 / np.sqrt(3), abs=1e-4)
    assert not found["fig12b"]["full"] and found["fig12b"]["sha256"] is None


def test_points_with_few_converged_repeats_are_left_out():
    ours_, theirs = np.ones((3, 4)), np.ones((3, 4))
    theirs[2, 1:] = np.nan
    theirs[2, 0] = 9
    assert (
        tool.curve("", ours_, theirs, 0.1, True)["points"] == 2
        and tool.curve("", ours_, theirs, 0.1, True)["met"]
    )
    mean, error, share = tool.means([[1.0, 3.0, np.nan, np.nan], [np.nan] * 4])
    assert mean[0] == 2 and error[0] == 1 and share.tolist() == [0.5, 0] and np.isnan(mean[1])
    assert not tool.curve("", ours_, np.full((3, 4), np.nan), 0.1, True)[
        "met"
    ]  # nothing to compare is not agreement


def test_the_command_prints_and_stores_and_about_reads(
    stored, published, tmp_path, capsys, monkeypatch
):
    real = reproduce.about
    stored(0.001)
    monkeypatch.setattr(_store, "DATA", tmp_path)
    for figure in tool.FIGURES:
        (tmp_path / f"{figure}.json").write_text(f'{{"figure": "{figure}"}}')
        (tmp_path / f"{figure}.npz").write_text("")
    assert tool.main([str(published), "--store"]) == 0
    out = capsys.readouterr().out
    assert (
        "fig12b (stored full run)" in out
        and "eq. (153), largest difference of the means over N: 0.001" in out
    )
    assert "wanted at least 0.95: met" in out
    read = {figure: real(figure, tmp_path)["agreement"] for figure in tool.FIGURES}
    assert (
        read["fig12b"]["rows"]["adam"]["value"] == pytest.approx(0.001)
        and len(read["fig12b"]["date"]) == 10
    )
    assert (
        read["fig12a"]["rows"]["values"]["band"] is None and read["fig9"]["sha256"] == "sum of fig9"
    )
    stored(0.2)
    assert tool.main([str(published)]) == 1 and "MISSED" in capsys.readouterr().out


def test_what_is_missing_is_left_out_in_words(stored, published, tmp_path, capsys):
    stored(0.001)
    (published / "fig9-m.npy").unlink()
    tool.main([str(published)])
    assert "fig9: left out, FileNotFoundError" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        tool.main([str(tmp_path / "nowhere")])
    assert stop.value.code == 2 and "is not a folder" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no N in common: ours"):
        tool.same([3], [4, 5], "N")


def test_the_stored_agreement_is_that_of_the_stored_runs():
    """Its check sums are those of the files beside it; so a run that is stored anew has to be compared anew."""
    compared = [figure for figure in tool.FIGURES if (_store.DATA / f"{figure}.npz").exists()]
    assert len(compared) >= 5
    for figure in compared:
        made = reproduce.about(figure)
        assert made["agreement"]["sha256"] == made["sha256"], f"{figure}: compare again"
        assert all(row["met"] for row in made["agreement"]["rows"].values())
