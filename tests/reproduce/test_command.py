"""The frame of all experiments: points, seeds, jobs, interruption, storage, the command line and its refusals."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tiny_sweep
from spinlib._core import _files, one_thread
from spinlib.reproduce import _parts, _plan, _run, _store, about, load, names, run, save
from spinlib.reproduce._command import main
from spinlib.reproduce._experiment import Experiment

ROOT = pathlib.Path(__file__).parents[2]
SWEEP = ROOT / "tests" / "helpers" / "tiny_sweep.py"


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", tiny_sweep.TINY)
    for name in ("TINY_LOG", "TINY_WAIT", "SPINLIB_DATA"):
        monkeypatch.delenv(name, raising=False)


def start(folder, *options, log, wait=0.0):
    """The command in a process of its own, its children in one group with it."""
    environment = {**os.environ, "TINY_LOG": str(log), "TINY_WAIT": str(wait), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, str(SWEEP), "tiny", "--out", str(folder),
                             *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def kill_after(process, folder, n, seconds=600):
    """SIGKILL to the whole group as soon as n parts are there; the parts that it leaves."""
    until = time.monotonic() + seconds
    while len(found := list((folder / "tiny.parts").glob("*.npz"))) < n:
        assert time.monotonic() < until and process.poll() is None, "the sweep ended before it could be killed"
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return found


def whole(folder, name="tiny"):
    return (folder / f"{name}.npz").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--jobs", "2")])
def test_a_killed_command_goes_on_where_it_was_and_ends_in_the_same_bytes(tmp_path, options):
    log, folder = tmp_path / "log", tmp_path / "killed"
    process = start(folder, *options, log=log, wait=0.3)
    left = kill_after(process, folder, 3)
    assert 3 <= len(left) < 8 and not (folder / "tiny.npz").exists() and not (folder / "tiny.json").exists()
    finished = {int(path.name[:5]) + 2 for path in left}  # the number of a part is the index of its point
    started = [int(line) for line in log.read_text().split()]
    assert finished <= set(started) and process.returncode == -signal.SIGKILL

    log.unlink()
    process = start(folder, *options, log=log)
    out, err = process.communicate(timeout=600)  # far above need: a guard against a hang, also on a busy machine
    assert process.returncode == 0, err
    assert sorted(int(line) for line in log.read_text().split()) == sorted(set(range(2, 10)) - finished)
    assert sorted(p.name for p in folder.iterdir()) == ["tiny.json", "tiny.npz", "tiny.png"]  # no parts, no leavings

    save("tiny", tmp_path / "at once")
    assert whole(folder) == whole(tmp_path / "at once")


def test_a_part_gets_its_name_only_when_it_is_whole(tmp_path, monkeypatch):
    """Stopped just before the file is moved to its place: it was complete, under another name."""
    def stop(temporary, path):
        assert temporary.parent == path.parent and not path.exists()
        np.testing.assert_array_equal(_files.read_arrays(temporary)["x"], np.arange(3))
        raise KeyboardInterrupt

    monkeypatch.setattr(_files.os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        _files.write_arrays(tmp_path / "00000-a.npz", {"x": np.arange(3)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_part_is_computed_again_with_a_word(tmp_path, monkeypatch, capsys):
    """Each kind of damage: cut short, bytes changed in the middle, not a zip at all, empty, another zip."""
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    monkeypatch.setattr(_parts.Parts, "remove", lambda self: None)
    save("tiny", tmp_path)
    before = whole(tmp_path)
    (tmp_path / "tiny.npz").unlink()
    parts = sorted((tmp_path / "tiny.parts").iterdir())
    good = parts[1].read_bytes()
    flipped = bytearray(good)
    flipped[60] ^= 255
    for path, bytes_ in zip(parts[1:], (good[:50], bytes(flipped), b"no zip", b"", good[:-5])):
        path.write_bytes(bytes_)
    _files.write_arrays(parts[6], {"x": np.arange(3)})
    log.unlink()
    save("tiny", tmp_path)
    assert sorted(int(line) for line in log.read_text().split()) == [3, 4, 5, 6, 7, 8]
    err = capsys.readouterr().err
    assert err.count("is damaged; point") == 6 and "point 1 is computed again" in err
    assert whole(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("change", ["rng", "full", "code", "point"])
def test_a_part_made_otherwise_is_not_taken(tmp_path, monkeypatch, change):
    log = tmp_path / "log"
    monkeypatch.setenv("TINY_LOG", str(log))
    monkeypatch.setattr(_parts.Parts, "remove", lambda self: None)
    save("tiny", tmp_path)
    log.unlink()
    options = {"rng": {"rng": 1}, "full": {"full": True}}.get(change, {})
    if change == "code":
        monkeypatch.setattr(_plan, "code_digest", lambda compute: "other")
    if change == "point":
        other = [{**p, "name": "new"} for p in tiny_sweep.points(False)]
        monkeypatch.setitem(_run.EXPERIMENTS, "tiny", Experiment(
            lambda full: other, tiny_sweep.compute, tiny_sweep.collect))
    save("tiny", tmp_path, **options)
    assert len(log.read_text().split()) == (12 if change == "full" else 8)


@pytest.mark.slow
def test_a_finished_run_takes_away_its_own_parts_only(tmp_path, monkeypatch, capsys):
    """A full sweep is killed, a quick one ends in the same folder: the points of the full one are still used."""
    log = tmp_path / "log"
    process = start(tmp_path, "--full", log=log, wait=0.2)
    left = kill_after(process, tmp_path, 5)
    assert main(["tiny", "--out", str(tmp_path)]) == 0
    assert f"that are not used: {len(left)} of another run (quick or full" in capsys.readouterr().err
    assert sorted((tmp_path / "tiny.parts").glob("*.npz")) == sorted(left)
    log.unlink()
    monkeypatch.setenv("TINY_LOG", str(log))
    save("tiny", tmp_path, full=True)
    assert len(log.read_text().split()) == 12 - len(left)
    assert not (tmp_path / "tiny.parts").exists()


@pytest.mark.slow
def test_parts_of_other_code_are_counted_named_and_left_alone(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as before:
        before.setattr(_plan, "code_digest", lambda compute: "older")
        before.setattr(_parts.Parts, "remove", lambda self: None)
        save("tiny", tmp_path)
        save("tiny", tmp_path, rng=1)
    (tmp_path / "tiny.npz").unlink()
    capsys.readouterr()
    save("tiny", tmp_path)
    err = capsys.readouterr().err
    assert "not used: 8 computed by other code or another numpy, 8 of another run (quick or full, seed," in err
    assert len(list((tmp_path / "tiny.parts").iterdir())) == 16


@pytest.mark.slow
@pytest.mark.parametrize("options, word", [({"full": False}, "quick or full"), ({"rng": 1}, "seed"),
                                           ({"code": "other"}, "code or numpy"), ({"points": 3}, "points")])
def test_a_full_run_is_not_written_over_by_another_unless_one_says_so(tmp_path, monkeypatch, capsys, options, word):
    save("tiny", tmp_path, full=True)
    before, text = whole(tmp_path), (tmp_path / "tiny.json").read_text()
    if "points" in options:
        fewer = tiny_sweep.points(True)[:3]
        monkeypatch.setitem(_run.EXPERIMENTS, "tiny", Experiment(
            lambda full: fewer, tiny_sweep.compute, tiny_sweep.collect))
    if "code" in options:
        monkeypatch.setattr(_plan, "code_digest", lambda compute: "other")
    full, rng = options.get("full", True), options.get("rng", 0)
    with pytest.raises(FileExistsError, match=rf"full run \(seed 0, 12 points.*differs.* in: {word}; name another"):
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
    assert save("tiny", tmp_path, full=True)["size"].shape == (12,) and not (tmp_path / "log").exists()
    with pytest.raises(TypeError, match="replace must be True or False"):
        save("tiny", tmp_path, replace=1)


@pytest.mark.slow
def test_numbers_do_not_depend_on_the_jobs(tmp_path):
    save("tiny", tmp_path / "1", jobs=1)
    save("tiny", tmp_path / "2", jobs=2)
    save("tiny", tmp_path / "3", jobs=1, rng=1)
    assert whole(tmp_path / "1") == whole(tmp_path / "2") != whole(tmp_path / "3")
    result = load("tiny", tmp_path / "2", full=False)
    one = run("tiny")
    assert list(one) == list(result)
    for name, value in one.items():
        np.testing.assert_array_equal(value, result[name])
    generators = np.random.default_rng(0).spawn(8)
    assert one["sum"][5] == generators[5].standard_normal((67, 67)).sum() and one["odd"].tolist() == [False, True] * 4


def test_rng_is_an_integer_a_generator_or_none():
    generator = np.random.default_rng(0)
    first, second = run("tiny", rng=generator)["sum"], run("tiny", rng=generator)["sum"]
    np.testing.assert_array_equal(first, run("tiny")["sum"])
    assert not np.isin(second, first).any() and not np.isin(run("tiny", rng=None)["sum"], first).any()
    with pytest.raises(TypeError):
        run("tiny", rng="seed")
    with pytest.raises(TypeError, match="rng must be an integer"):
        save("tiny", ".", rng=None)
    with pytest.raises(ValueError, match="rng must be at least 0"):
        save("tiny", ".", rng=-1)


@pytest.fixture
def backends(monkeypatch):
    """The names of the backends of every joblib.Parallel that is made."""
    joblib = pytest.importorskip("joblib")
    used, real = [], joblib.Parallel.__init__

    def watched(self, *arguments, **options):
        real(self, *arguments, **options)
        used.append(type(self._backend).__name__)

    monkeypatch.setattr(joblib.Parallel, "__init__", watched)
    return used


@pytest.mark.slow
@pytest.mark.parametrize("backend, times", [("threading", 1), ("multiprocessing", 2)])
def test_the_sweep_is_carried_by_the_backend_of_joblib_that_is_set(backend, times, backends, tmp_path):
    """Also by one that returns only whole lists (multiprocessing): 12 points as lists of 8 and of 4."""
    import joblib
    with joblib.parallel_config(backend=backend):
        found = save("tiny", tmp_path, full=True, jobs=2)["vector"]
    np.testing.assert_array_equal(found, run("tiny", full=True)["vector"])
    assert [name.lower() for name in backends] == [f"{backend}backend"] * times


@pytest.mark.filterwarnings("default")
def test_dask_carries_the_sweep_to_its_cluster(backends, tmp_path):
    """Two workers of a local cluster: the same bytes; skipped where dask.distributed is not installed."""
    distributed = pytest.importorskip("dask.distributed")
    import joblib
    with (distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                   local_directory=str(tmp_path)) as cluster, distributed.Client(cluster)):
        with joblib.parallel_config(backend="dask"):
            save("tiny", tmp_path / "dask", jobs=2)
    save("tiny", tmp_path / "here")
    assert whole(tmp_path / "dask") == whole(tmp_path / "here")
    assert backends == ["DaskDistributedBackend"]


@pytest.mark.slow
def test_the_json_beside_says_how_the_file_was_made(tmp_path):
    save("tiny", tmp_path, rng=3, jobs=2)
    made = about("tiny", tmp_path)
    assert made == json.loads((tmp_path / "tiny.json").read_text())
    assert (made["figure"], made["full"], made["rng"], made["points"], made["jobs"]) == ("tiny", False, 3, 8, 2)
    assert made["parameters"] == {"size": list(range(2, 10)), "name": ["even", "odd"]}
    assert made["seconds"] >= 0 and made["cpu_seconds"] >= 0 and made["numpy"] == np.__version__


@pytest.mark.slow
def test_seconds_are_those_of_all_points_also_of_the_interrupted_run(tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_WAIT", "0.05")
    plan = _run.planned("tiny", rng=0)
    parts = _parts.Parts(tmp_path / "tiny.parts", plan)
    _run.computed(plan, rng=0, parts=parts)
    monkeypatch.setenv("TINY_WAIT", "0")
    seconds = _run.computed(plan, rng=0, parts=parts)[1]
    assert sum(s["wall"] for s in seconds) > 8 * 0.05


def test_names_come_by_the_number_of_their_figure():
    numbers = [int(found[1]) for name in names() if (found := re.match(r"fig(\d+)", name))]
    assert numbers == sorted(numbers) and min(numbers) < 10 < max(numbers)


def test_what_a_killed_process_was_writing_goes_with_the_parts(tmp_path):
    parts = _parts.Parts(tmp_path / "tiny.parts", _run.planned("tiny", rng=0))
    parts.folder.mkdir()
    for name in (parts.names[0], f"{parts.names[1]}.99.tmp"):
        (parts.folder / name).touch()
    parts.remove()
    assert not parts.folder.exists()


@pytest.mark.slow
def test_processor_seconds_leave_out_the_waiting(tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_WAIT", "0.1")
    save("tiny", tmp_path)
    assert about("tiny", tmp_path)["cpu_seconds"] < 0.7 < about("tiny", tmp_path)["seconds"]


@pytest.mark.slow
def test_a_result_that_is_there_is_read_and_one_of_another_seed_is_made_anew(tmp_path, monkeypatch, capsys):
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
    assert "tiny.npz is damaged" in (err := capsys.readouterr().err) and err.endswith("; it is made again\n")


@pytest.mark.slow
def test_a_damaged_or_foreign_stored_file_is_refused_in_words(tmp_path, monkeypatch):
    save("tiny", tmp_path, full=True)
    good, text = whole(tmp_path), (tmp_path / "tiny.json").read_text()
    assert load("tiny", tmp_path)["size"].shape == (12,)
    with pytest.raises(ValueError, match="other parameters.*full=True and 12 points, asked for.*full=False"):
        load("tiny", tmp_path, full=False)
    for damaged in (good[:-20], b"", b"x" * len(good)):
        (tmp_path / "tiny.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"tiny.npz is damaged.*python -m spinlib.reproduce tiny --full --out"):
            load("tiny", tmp_path)
    save("tiny", tmp_path / "other", full=True, rng=1)
    (tmp_path / "tiny.npz").write_bytes(whole(tmp_path / "other"))  # a whole file, but not the one of this json
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
    monkeypatch.setattr(tiny_sweep.TINY.points, "__code__", (lambda full: [{"size": 3, "name": "odd"}]).__code__)
    with pytest.raises(ValueError, match="as this version of spinlib plans it"):
        load("tiny", tmp_path)


@pytest.mark.slow
def test_device_is_for_the_experiments_that_use_torch(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="tiny does not use torch, so it has no device='cuda'"):
        run("tiny", device="cuda")
    torched = Experiment(tiny_sweep.points, tiny_sweep.gpu, tiny_sweep.collect)
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", torched)
    assert (run("tiny", device="cuda:0")["sum"] == 6).all() and (run("tiny")["sum"] == 3).all()
    save("tiny", tmp_path, device="cuda")
    assert about("tiny", tmp_path)["device"] == "cuda"
    assert (save("tiny", tmp_path)["sum"] == 3).all() and about("tiny", tmp_path)["device"] == "cpu"   # another run


@pytest.mark.slow
def test_the_command_tries_the_device_before_it_computes(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch")
    torched = Experiment(tiny_sweep.points, tiny_sweep.gpu, tiny_sweep.collect)
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", torched)
    for device in ("cuda:99", "abacus"):
        with pytest.raises(SystemExit) as stop:
            main(["tiny", "--device", device, "--out", str(tmp_path)])
        said = " ".join(capsys.readouterr().err.split())
        assert stop.value.code == 2 and f"device must name a device that torch can use, got '{device}'" in said
    assert main(["tiny", "--device", "meta", "--out", str(tmp_path)]) == 0
    assert about("tiny", tmp_path)["device"] == "meta"


def test_progress_is_a_bar_on_stderr_and_silence_is_the_default(capsys):
    run("tiny")
    assert capsys.readouterr() == ("", "")
    run("tiny", progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "tiny: 100%" in err and "8/8" in err
    with pytest.raises(TypeError, match="progress must be True or False"):
        run("tiny", progress=1)


@pytest.mark.slow
def test_the_command_lists_and_stores_into_a_new_folder(tmp_path, capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split(maxsplit=3) for line in lines[1:] if line[0] != " "]
    listed = [row[0] for row in rows]
    assert sorted(listed) == sorted(_run.EXPERIMENTS) and listed == list(names())
    assert listed.index("fig7") < listed.index("fig9") < listed.index("tiny") and max(map(len, lines)) <= 110
    quick, full = ({row[0]: row[k] for row in rows if row[0] != "tiny"} for k in (1, 2))
    assert rows[listed.index("tiny")][1:] == ["-", "-", "A row for each size."]
    assert all(0 < float(seconds) < 30 for seconds in quick.values())            # quick is quick, all measured
    assert float(full["fig12b"]) == round(about("fig12b")["cpu_seconds"])
    assert main(["tiny", "--list"]) == 0
    assert capsys.readouterr().out.startswith("tiny: A row for each size.\n\n``size`` (8,)")
    folder = tmp_path / "new" / "deep"
    assert main(["tiny", "--rng", "4", "--out", str(folder)]) == 0
    assert "tiny.npz: " in capsys.readouterr().out and about("tiny", folder)["rng"] == 4
    assert (folder / "tiny.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_an_interruption_from_the_keyboard_ends_in_words_and_keeps_what_is_finished(tmp_path, capsys, monkeypatch):
    def stop(rng, size, name):
        if size == 5:
            raise KeyboardInterrupt
        return tiny_sweep.compute(rng, size, name)

    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", Experiment(tiny_sweep.points, stop, tiny_sweep.collect))
    assert main(["tiny", "--out", str(tmp_path)]) == 130
    assert "tiny: interrupted; the same command goes on" in capsys.readouterr().err
    assert len(list((tmp_path / "tiny.parts").iterdir())) == 3


def test_one_thread_is_a_state_that_ends(monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpoolctl.threadpool_limits(2):
        def threads():
            return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

        before = threads()
        with one_thread():
            assert threads() == {1} and os.environ["OMP_NUM_THREADS"] == "1"
        assert threads() == before and "OMP_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_all_stores_every_experiment_and_the_last_point_of_a_finished_one_is_not_lost(tmp_path):
    environment = {**os.environ, "TINY_LOG": str(tmp_path / "log"), "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run([sys.executable, SWEEP, "all", "--out", tmp_path / "o"], check=True,
                       env=environment, capture_output=True)
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == [
        "other.json", "other.npz", "tiny.json", "tiny.npz", "tiny.png"]
    assert len((tmp_path / "log").read_text().split()) == 10


@pytest.mark.parametrize("arguments, words", [
    (["fig99"], "there is no experiment 'fig99'; choose one of: .*amp_variances"),
    (["tiny", "--jobs", "0"], "--jobs must be at least 1, got 0"),
    (["tiny", "--jobs", "two"], "invalid int value: 'two'"),
    (["tiny", "--rng", "-1"], "--rng must be at least 0, got -1"),
    (["tiny", "--device", "cuda"], "tiny does not use torch"),
    ([], "name a figure, or all; --list shows the names"),
])
def test_the_command_refuses_with_code_2_and_words(arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--out", str(tmp_path / "never")])
    err = capsys.readouterr().err
    assert stop.value.code == 2 and re.search(words, err) and "Traceback" not in err
    assert not (tmp_path / "never").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_computed(tmp_path, capsys, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    for place in (tmp_path / "a file", tmp_path / "a file" / "below", pathlib.Path("/proc/nowhere")):
        with pytest.raises(SystemExit) as stop:
            main(["tiny", "--out", str(place)])
        assert stop.value.code == 2 and f"cannot write in --out {place}" in capsys.readouterr().err
    assert not (tmp_path / "log").exists()


def test_a_folder_or_a_file_in_the_place_of_another_is_refused_in_one_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TINY_LOG", str(tmp_path / "log"))
    for name, words in (("tiny.npz", "tiny.npz is a folder, but a file of this name is to be written"),
                        ("tiny.json", "tiny.json is a folder, but a file of this name is to be written"),
                        ("tiny.parts", "tiny.parts is a file, but the finished points go into a folder of this name")):
        place = tmp_path / name
        place.write_text("") if name == "tiny.parts" else place.mkdir()
        with pytest.raises(OSError, match=f"{words}.*; move it away"):
            save("tiny", tmp_path)
        with pytest.raises(SystemExit) as stop:
            main(["tiny", "--out", str(tmp_path)])
        err = capsys.readouterr().err
        assert stop.value.code == 2 and words in " ".join(err.split()) and "Traceback" not in err
        with pytest.raises(FileNotFoundError, match="there is no .*tiny"):
            load("tiny", tmp_path)
        place.unlink() if name == "tiny.parts" else place.rmdir()
    assert not (tmp_path / "log").exists()


FULL = """
import resource, sys
sys.path[:0] = [{helpers!r}]
import tiny_sweep
from spinlib.reproduce._command import main
from spinlib.reproduce._run import EXPERIMENTS
EXPERIMENTS["tiny"] = tiny_sweep.TINY
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
sys.exit(main(["tiny", "--out", {folder!r}]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit, kept, file", [(400, 0, "00000-"), (1300, 8, "tiny.npz"), (1500, 0, "tiny.png")])
def test_a_full_disk_ends_in_one_sentence_and_loses_no_finished_point(tmp_path, limit, kept, file):
    """No file may grow beyond so many bytes: not even a point fits, or the points do, or all but the picture."""
    pytest.importorskip("resource")
    code = FULL.format(helpers=str(SWEEP.parent), limit=limit, folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    words = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert words.startswith("tiny: ") and file in words and "cannot be written: File too large; what is fin" in words
    assert len(list((tmp_path / "tiny.parts").glob("*.npz"))) == kept and not list(tmp_path.rglob("*.tmp"))
    assert main(["tiny", "--out", str(tmp_path)]) == 0


@pytest.mark.slow
def test_jobs_and_missing_packages_are_refused_in_words(monkeypatch, capsys, tmp_path):
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        run("tiny", jobs=0)
    with pytest.raises(TypeError, match="jobs must be an integer, got 2.0"):
        run("tiny", jobs=2.0)
    for package, options in (("joblib", {"jobs": 2}), ("tqdm", {"progress": True})):
        with monkeypatch.context() as without:
            hide(without, package)
            with pytest.raises(ModuleNotFoundError, match=f"needs {package}, which is missing: pip install"):
                run("tiny", **options)
            with pytest.raises(SystemExit) as stop:
                main(["tiny", "--jobs", "2", "--out", str(tmp_path)])
            assert stop.value.code == 2 and f"needs {package}" in capsys.readouterr().err
    with monkeypatch.context() as without:
        hide(without, "matplotlib")
        assert main(["tiny", "--out", str(tmp_path)]) == 0
    assert "no picture: FIGURE.png needs matplotlib" in capsys.readouterr().out and (tmp_path / "tiny.npz").exists()


def hide(monkeypatch, package):
    from spinlib._core import _checks
    real = _checks.find_spec
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(_checks, "find_spec", lambda name: None if name == package else real(name))


def test_every_stored_file_in_the_book_is_whole_small_and_of_this_plan():
    stored = sorted(path.stem for path in _store.DATA.glob("*.npz"))
    assert {"amp_variances", "pspin_equilibrium"} <= set(stored) <= {*_run.EXPERIMENTS, *_store.OF_PAGES}
    for name in stored:
        load(name)
        assert (_store.DATA / f"{name}.npz").stat().st_size < 1e6, name
    assert not list(_store.DATA.glob("*.tmp")) and not list(_store.DATA.glob("*.parts"))


@pytest.mark.parametrize("name", list(_run.EXPERIMENTS))
def test_every_experiment_describes_itself_and_has_plain_points_and_a_picture(name):
    one = _run.EXPERIMENTS[name]
    assert len(_run.describe(name)) > 50 and one.draw is not None
    for full in (False, True):
        points = one.points(full)
        assert points and json.loads(json.dumps(points)) == points
        assert len(one.generators(np.random.default_rng(0), points)) == len(points)
