"""A sweep that is killed, stopped or out of disk: its finished points are kept, and only its own are taken."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import psutil
import pytest

import tiny_sweep
from spinlib.reproduce import _run, _store, save
from spinlib.reproduce.__main__ import main
from spinlib.reproduce._experiment import Experiment
from tiny_sweep import whole

pytestmark = pytest.mark.usefixtures("tiny")
ROOT = pathlib.Path(__file__).parents[2]
SWEEP = ROOT / "tests" / "helpers" / "tiny_sweep.py"


def start(folder, *options, log, wait=0.0):
    """The command in a process of its own, its children in one group with it."""
    environment = {
        **os.environ,
        "TINY_LOG": str(log),
        "TINY_WAIT": str(wait),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.Popen(
        [sys.executable, str(SWEEP), "tiny", "--out", str(folder), *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill_after(process, folder, n, seconds=600):
    """SIGKILL to the whole group as soon as n parts are there; the parts that it leaves."""
    until = time.monotonic() + seconds
    while len(found := list(folder.glob("tiny.*.parts/*.joblib"))) < n:
        assert time.monotonic() < until and process.poll() is None, (
            "the sweep ended before it could be killed"
        )
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_a_killed_command_goes_on_where_it_was_and_ends_in_the_same_bytes(tmp_path, options):
    log, folder = tmp_path / "log", tmp_path / "killed"
    process = start(folder, *options, log=log, wait=0.3)
    left = kill_after(process, folder, 3)
    assert (
        3 <= len(left) < 8
        and not (folder / "tiny.npz").exists()
        and not (folder / "tiny.json").exists()
    )
    finished = {
        int(path.stem) + 2 for path in left
    }  # the number of a part is the index of its point
    started = [int(line) for line in log.read_text().split()]
    assert finished <= set(started) and process.returncode == -signal.SIGKILL

    log.unlink()
    process = start(folder, *options, log=log)
    out, err = process.communicate(
        timeout=600
    )  # far above need: a guard against a hang, also on a busy machine
    assert process.returncode == 0, err
    assert sorted(int(line) for line in log.read_text().split()) == sorted(
        set(range(2, 10)) - finished
    )
    assert sorted(p.name for p in folder.iterdir()) == [
        "tiny.json",
        "tiny.npz",
        "tiny.png",
    ]  # no parts, no leavings

    save("tiny", tmp_path / "at once")
    assert whole(folder) == whole(tmp_path / "at once")


def descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


@pytest.mark.slow
def test_workers_end_soon_after_the_command_is_killed(tmp_path):
    """kill -9 of the command alone: its two workers, idle or not, and the tracker of their files end by themselves."""
    process = start(tmp_path, "--jobs", "2", log=tmp_path / "log", wait=2.0)
    until = time.monotonic() + 600
    while not (tmp_path / "log").exists():
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    left = descendants(process)
    assert len(left) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    try:
        _, alive = psutil.wait_procs(left, timeout=60)
        assert alive == []
    finally:
        for one in left:
            if one.is_running():
                one.kill()
        process.communicate()


def test_a_file_gets_its_name_only_when_it_is_whole(tmp_path, monkeypatch):
    """Stopped just before the file is moved to its place: it was complete, under another name."""

    def stop(temporary, path):
        assert temporary.parent == path.parent and not path.exists()
        assert temporary.read_bytes() == b"whole"
        raise KeyboardInterrupt

    monkeypatch.setattr(_store.os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        _store.put(tmp_path / "a", lambda file: file.write(b"whole"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_part_is_computed_again_with_a_word(tmp_path, monkeypatch, capsys):
    """Each kind of damage: cut short, bytes changed in the middle, no such file at all, empty, another object."""
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    with monkeypatch.context() as kept:
        kept.setattr(_store.shutil, "rmtree", lambda path: None)
        save("tiny", tmp_path)
    before = whole(tmp_path)
    (tmp_path / "tiny.npz").unlink()
    parts = sorted(tmp_path.glob("tiny.*.parts/*"))
    good = parts[1].read_bytes()
    flipped = bytearray(good)
    flipped[60] ^= 255
    for path, bytes_ in zip(parts[1:], (good[:50], bytes(flipped), b"no part", b"", good[:-50])):
        path.write_bytes(bytes_)
    joblib.dump({"x": np.arange(3)}, parts[6])
    log.unlink()
    save("tiny", tmp_path)
    assert sorted(int(line) for line in log.read_text().split()) == [3, 4, 5, 6, 7, 8]
    err = capsys.readouterr().err
    assert err.count("is damaged; the point is computed again") == 6 and str(parts[1]) in err
    assert whole(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("change", ["rng", "full", "code", "point"])
def test_a_part_made_otherwise_is_not_taken(tmp_path, monkeypatch, change):
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    with monkeypatch.context() as kept:
        kept.setattr(_store.shutil, "rmtree", lambda path: None)
        save("tiny", tmp_path)
    log.unlink()
    options = {"rng": {"rng": 1}, "full": {"full": True}}.get(change, {})
    if change == "code":
        monkeypatch.setattr(_store, "code", lambda: "other")
    if change == "point":
        other = [{**p, "name": "new"} for p in tiny_sweep.points(False)]
        monkeypatch.setitem(
            _run.EXPERIMENTS,
            "tiny",
            Experiment(lambda full: other, tiny_sweep.compute, tiny_sweep.collect, tiny_sweep.draw),
        )
    save("tiny", tmp_path, **options)
    assert len(log.read_text().split()) == (12 if change == "full" else 8)


@pytest.mark.slow
def test_a_finished_run_takes_away_its_own_parts_only(tmp_path, monkeypatch, capsys):
    """A full sweep is killed, a quick one ends in the same folder: the points of the full one are still used."""
    log = tmp_path / "log"
    process = start(tmp_path, "--full", log=log, wait=0.2)
    left = kill_after(process, tmp_path, 5)
    assert main(["tiny", "--out", str(tmp_path)]) == 0
    assert sorted(tmp_path.glob("tiny.*.parts/*.joblib")) == sorted(left)
    log.unlink()
    monkeypatch.setenv("TINY_LOG", str(log))
    save("tiny", tmp_path, full=True)
    assert len(log.read_text().split()) == 12 - len(left)
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.slow
def test_parts_of_other_code_are_left_alone(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(_store, "code", lambda: "older")
        before.setattr(_store.shutil, "rmtree", lambda path: None)
        save("tiny", tmp_path)
        save("tiny", tmp_path, rng=1)
    save("tiny", tmp_path)
    assert len(list(tmp_path.glob("tiny.*.parts/*"))) == 16


def test_what_a_killed_process_was_writing_goes_with_the_parts(tmp_path, monkeypatch):
    with monkeypatch.context() as kept:
        kept.setattr(_store.shutil, "rmtree", lambda path: None)
        save("tiny", tmp_path)
    (tmp_path / "tiny.npz").unlink()
    for part in tmp_path.glob("tiny.*.parts/*"):
        part.rename(f"{part}.99.tmp")
    save("tiny", tmp_path)
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.slow
def test_an_interruption_from_the_keyboard_ends_in_words_and_keeps_what_is_finished(
    tmp_path, capsys, monkeypatch
):
    def stop(rng, size, name):
        if size == 5:
            raise KeyboardInterrupt
        return tiny_sweep.compute(rng, size, name)

    monkeypatch.setitem(
        _run.EXPERIMENTS,
        "tiny",
        Experiment(tiny_sweep.points, stop, tiny_sweep.collect, tiny_sweep.draw),
    )
    assert main(["tiny", "--out", str(tmp_path)]) == 130
    err = capsys.readouterr().err
    assert "3/8" in err
    assert "tiny: interrupted; the same command goes on from there" in err
    assert len(list(tmp_path.glob("tiny.*.parts/*.joblib"))) == 3


FULL = """
import resource, sys
sys.path[:0] = [{helpers!r}]
import tiny_sweep
from spinlib.reproduce.__main__ import main
from spinlib.reproduce._run import EXPERIMENTS
EXPERIMENTS["tiny"] = tiny_sweep.TINY
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
sys.exit(main(["tiny", "--out", {folder!r}]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit, kept, file", [(200, 0, "00000.joblib"), (800, 8, "tiny.npz"), (1500, 0, "tiny.png")]
)
def test_a_full_disk_ends_in_one_sentence_and_loses_no_finished_point(tmp_path, limit, kept, file):
    """No file may grow beyond so many bytes: not even a point fits, or the points do, or all but the picture."""
    pytest.importorskip("resource")
    code = FULL.format(helpers=str(SWEEP.parent), limit=limit, folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    words = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert (
        words.startswith("tiny: ")
        and file in words
        and "cannot be written: File too large; the same command goes on" in words
    )
    assert len(list(tmp_path.glob("tiny.*.parts/*.joblib"))) == kept and not list(
        tmp_path.rglob("*.tmp")
    )
    assert main(["tiny", "--out", str(tmp_path)]) == 0
