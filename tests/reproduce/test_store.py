"""Results on disk: how they were made, what is written over, what is read again, what is refused as damaged."""

import json
import pathlib

import joblib
import numpy as np
import pytest

import tiny_sweep
from spinlib.reproduce import _run, _store, about, load, save
from spinlib.reproduce.__main__ import main
from spinlib.reproduce._experiment import Experiment
from tiny_sweep import whole

pytestmark = pytest.mark.usefixtures("tiny")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options, word",
    [
        ({"full": False}, "quick or full"),
        ({"rng": 1}, "seed"),
        ({"code": "other"}, "code or numpy"),
        ({"points": 3}, "points"),
    ],
)
def test_a_full_run_is_not_written_over_by_another_unless_one_says_so(
    tmp_path, monkeypatch, capsys, options, word
):
    save("tiny", tmp_path, full=True)
    before, text = whole(tmp_path), (tmp_path / "tiny.json").read_text()
    if "points" in options:
        fewer = tiny_sweep.points(True)[:3]
        monkeypatch.setitem(
            _run.EXPERIMENTS,
            "tiny",
            Experiment(lambda full: fewer, tiny_sweep.compute, tiny_sweep.collect, tiny_sweep.draw),
        )
    if "code" in options:
        monkeypatch.setattr(_store, "code", lambda: "other")
    full, rng = options.get("full", True), options.get("rng", 0)
    with pytest.raises(
        FileExistsError,
        match=rf"full run \(seed 0, 12 points.*differs.* in: {word}(, points)?; name another",
    ):
        save("tiny", tmp_path, full=full, rng=rng)
    arguments = ["tiny", *["--full"] * full, "--rng", str(rng), "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    err = capsys.readouterr().err
    assert stop.value.code == 2 and "or say --replace" in err and "Traceback" not in err
    assert (whole(tmp_path), (tmp_path / "tiny.json").read_text()) == (before, text)
    assert main([*arguments, "--replace"]) == 0
    made = about("tiny", tmp_path)
    assert (made["full"], made["rng"]) == (full, rng) and made != json.loads(text)


@pytest.mark.slow
def test_a_quick_run_makes_room_for_any_other_and_an_equal_full_one_is_read(tmp_path, monkeypatch):
    save("tiny", tmp_path)
    save("tiny", tmp_path, rng=1)
    save("tiny", tmp_path, full=True)
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    assert (
        save("tiny", tmp_path, full=True)["size"].shape == (12,) and not (tmp_path / "log").exists()
    )
    with pytest.raises(TypeError, match="replace must be True or False"):
        save("tiny", tmp_path, replace=1)


@pytest.mark.slow
def test_the_json_beside_says_how_the_file_was_made(tmp_path):
    save("tiny", tmp_path, rng=3, jobs=2)
    made = about("tiny", tmp_path)
    assert made == json.loads((tmp_path / "tiny.json").read_text())
    assert (made["figure"], made["full"], made["rng"], made["points"], made["jobs"]) == (
        "tiny",
        False,
        3,
        8,
        2,
    )
    assert made["parameters"] == {"size": list(range(2, 10)), "name": ["even", "odd"]}
    assert made["seconds"] >= 0 and made["cpu_seconds"] >= 0 and made["numpy"] == np.__version__


@pytest.mark.slow
def test_seconds_are_those_of_all_points_also_of_the_interrupted_run(tmp_path):
    asked, points = _run.planned("tiny")
    wall, cpu = _run.computed(asked, points, rng=0, folder=tmp_path)[1:]
    places = sorted(tmp_path.iterdir())
    kept = [joblib.load(place) for place in places]
    assert len(kept) == 8 and sum(done[1] for done in kept) == wall
    for k, place in enumerate(places):
        joblib.dump((kept[k][0], 2.0, 1.0), place)
    assert _run.computed(asked, points, rng=0, folder=tmp_path)[1:] == (16.0, 8.0)


@pytest.mark.slow
def test_processor_seconds_leave_out_the_waiting(tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_WAIT", "0.1")
    save("tiny", tmp_path)
    assert about("tiny", tmp_path)["cpu_seconds"] < 0.7 < about("tiny", tmp_path)["seconds"]


@pytest.mark.slow
def test_a_result_that_is_there_is_read_and_one_of_another_seed_is_made_anew(tmp_path, monkeypatch):
    save("tiny", tmp_path)
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    again = save("tiny", tmp_path)
    assert not log.exists() and again["size"].tolist() == list(range(2, 10))
    save("tiny", tmp_path, rng=1)
    assert len(log.read_text().split()) == 8
    (tmp_path / "tiny.npz").write_bytes(b"damaged")
    save("tiny", tmp_path, rng=1)
    assert len(log.read_text().split()) == 16
    load("tiny", tmp_path, full=False)


@pytest.mark.slow
def test_a_damaged_or_foreign_stored_file_is_refused_in_words(tmp_path, monkeypatch):
    save("tiny", tmp_path, full=True)
    good, text = whole(tmp_path), (tmp_path / "tiny.json").read_text()
    assert load("tiny", tmp_path)["size"].shape == (12,)
    with pytest.raises(
        ValueError, match="other parameters.*full=True and 12 points, asked for.*full=False"
    ):
        load("tiny", tmp_path, full=False)
    for damaged in (good[:-20], b"", b"x" * len(good)):
        (tmp_path / "tiny.npz").write_bytes(damaged)
        with pytest.raises(
            ValueError, match=r"tiny.npz is damaged.*python -m spinlib.reproduce tiny --full --out"
        ):
            load("tiny", tmp_path)
    save("tiny", tmp_path / "other", full=True, rng=1)
    (tmp_path / "tiny.npz").write_bytes(
        whole(tmp_path / "other")
    )  # a whole file, but not the one of this json
    with pytest.raises(ValueError, match="not the file that tiny.json describes"):
        load("tiny", tmp_path)
    (tmp_path / "tiny.npz").write_bytes(good)
    for damaged in (text[:30], "[]"):
        (tmp_path / "tiny.json").write_text(damaged)
        with pytest.raises(ValueError, match="tiny.json is damaged"):
            load("tiny", tmp_path)
    (tmp_path / "tiny.json").write_text(text.replace('"figure": "tiny"', '"figure": "fig6"'))
    with pytest.raises(ValueError, match="it is 'fig6'"):
        load("tiny", tmp_path)
    (tmp_path / "tiny.json").unlink()
    with pytest.raises(FileNotFoundError, match="there is no .*tiny.json"):
        load("tiny", tmp_path)
    (tmp_path / "tiny.json").write_text(text)
    monkeypatch.setattr(
        tiny_sweep.TINY.points, "__code__", (lambda full: [{"size": 3, "name": "odd"}]).__code__
    )
    with pytest.raises(ValueError, match="as this version of spinlib plans it"):
        load("tiny", tmp_path)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_computed(
    tmp_path, capsys, monkeypatch
):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    for place in (
        tmp_path / "a file",
        tmp_path / "a file" / "below",
        pathlib.Path("/proc/nowhere"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["tiny", "--out", str(place)])
        assert stop.value.code == 2 and "cannot be written" in capsys.readouterr().err
    assert not (tmp_path / "log").exists()


def test_a_folder_in_the_place_of_a_file_ends_in_one_sentence_and_loses_no_point(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    (tmp_path / "tiny.npz").mkdir()
    with pytest.raises(OSError, match="tiny.npz cannot be written"):
        save("tiny", tmp_path)
    assert main(["tiny", "--out", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "tiny.npz cannot be written" in err and "Traceback" not in err
    with pytest.raises(FileNotFoundError, match="there is no .*tiny"):
        load("tiny", tmp_path)
    (tmp_path / "tiny.npz").rmdir()
    save("tiny", tmp_path)
    assert len((tmp_path / "log").read_text().split()) == 8


def test_every_stored_file_in_the_book_is_whole_small_and_of_this_plan():
    stored = sorted(path.stem for path in _store.DATA.glob("*.npz"))
    assert (
        {"amp_variances", "pspin_equilibrium"}
        <= set(stored)
        <= {*_run.EXPERIMENTS, *_store.OF_PAGES}
    )
    for name in stored:
        load(name)
        assert (_store.DATA / f"{name}.npz").stat().st_size < 1e6, name
    assert not list(_store.DATA.glob("*.tmp")) and not list(_store.DATA.glob("*.parts"))
