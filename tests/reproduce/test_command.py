"""The command line of the experiments, its refusals, jobs and backends, devices, progress."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import tiny_sweep
from spinlib._core import one_thread
from spinlib.reproduce import _run, about, load, names, run, save
from spinlib.reproduce.__main__ import main
from spinlib.reproduce._experiment import Experiment
from tiny_sweep import whole

pytestmark = pytest.mark.usefixtures("tiny")
ROOT = pathlib.Path(__file__).parents[2]
SWEEP = ROOT / "tests" / "helpers" / "tiny_sweep.py"


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
    assert (
        one["sum"][5] == generators[5].standard_normal((67, 67)).sum()
        and one["odd"].tolist() == [False, True] * 4
    )


def test_rng_is_an_integer_a_generator_or_none():
    generator = np.random.default_rng(0)
    first, second = run("tiny", rng=generator)["sum"], run("tiny", rng=generator)["sum"]
    np.testing.assert_array_equal(first, run("tiny")["sum"])
    assert (
        not np.isin(second, first).any() and not np.isin(run("tiny", rng=None)["sum"], first).any()
    )
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
def test_the_sweep_is_carried_by_the_backend_of_joblib_that_is_set(
    backend, times, backends, tmp_path
):
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

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster),
    ):
        with joblib.parallel_config(backend="dask"):
            save("tiny", tmp_path / "dask", jobs=2)
    save("tiny", tmp_path / "here")
    assert whole(tmp_path / "dask") == whole(tmp_path / "here")
    assert backends == ["DaskDistributedBackend"]


def test_names_come_by_the_number_of_their_figure():
    numbers = [int(found[1]) for name in names() if (found := re.match(r"fig(\d+)", name))]
    assert numbers == sorted(numbers) and min(numbers) < 10 < max(numbers)


@pytest.mark.slow
def test_device_is_for_the_experiments_that_use_torch(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="tiny does not use torch, so it has no device='cuda'"):
        run("tiny", device="cuda")
    torched = Experiment(tiny_sweep.points, tiny_sweep.gpu, tiny_sweep.collect, tiny_sweep.draw)
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", torched)
    assert (run("tiny", device="cuda:0")["sum"] == 6).all() and (run("tiny")["sum"] == 3).all()
    save("tiny", tmp_path, device="cuda")
    assert about("tiny", tmp_path)["device"] == "cuda"
    assert (save("tiny", tmp_path)["sum"] == 3).all() and about("tiny", tmp_path)[
        "device"
    ] == "cpu"  # another run


@pytest.mark.slow
def test_the_command_tries_the_device_before_it_computes(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch")
    torched = Experiment(tiny_sweep.points, tiny_sweep.gpu, tiny_sweep.collect, tiny_sweep.draw)
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", torched)
    for device in ("cuda:99", "abacus"):
        with pytest.raises(SystemExit) as stop:
            main(["tiny", "--device", device, "--out", str(tmp_path)])
        said = " ".join(capsys.readouterr().err.split())
        assert (
            stop.value.code == 2
            and f"device must name a device that torch can use, got '{device}'" in said
        )
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
    assert (
        listed.index("fig7") < listed.index("fig9") < listed.index("tiny")
        and max(map(len, lines)) <= 100
    )
    quick, full = ({row[0]: row[k] for row in rows if row[0] != "tiny"} for k in (1, 2))
    assert rows[listed.index("tiny")][1:] == ["nan", "nan", "A row for each size."]
    assert all(
        0 < float(seconds) < 30 for seconds in quick.values()
    )  # quick is quick, all measured
    assert float(full["fig12b"]) == round(about("fig12b")["cpu_seconds"])
    assert main(["tiny", "--list"]) == 0
    assert capsys.readouterr().out.startswith("tiny: A row for each size.\n\n``size`` (8,)")
    folder = tmp_path / "new" / "deep"
    assert main(["tiny", "--rng", "4", "--out", str(folder)]) == 0
    assert (
        "tiny.npz, .png: 8 points" in capsys.readouterr().out and about("tiny", folder)["rng"] == 4
    )
    assert (folder / "tiny.png").read_bytes().startswith(b"\x89PNG")


def test_one_thread_is_a_state_that_ends(monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpoolctl.threadpool_limits(2):

        def threads():
            return {
                pool["num_threads"]
                for pool in threadpoolctl.threadpool_info()
                if pool["user_api"] == "blas"
            }

        before = threads()
        with one_thread():
            assert threads() == {1} and os.environ["OMP_NUM_THREADS"] == "1"
        assert threads() == before and "OMP_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_all_stores_every_experiment_and_the_last_point_of_a_finished_one_is_not_lost(tmp_path):
    environment = {**os.environ, "TINY_LOG": str(tmp_path / "log"), "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run(
            [sys.executable, SWEEP, "all", "--out", tmp_path / "o"],
            check=True,
            env=environment,
            capture_output=True,
        )
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == [
        "other.json",
        "other.npz",
        "other.png",
        "tiny.json",
        "tiny.npz",
        "tiny.png",
    ]
    assert len((tmp_path / "log").read_text().split()) == 10


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["fig99"],
            "there is no experiment 'fig99'; choose one of: fig5, fig6, .*fig15, fig16, .*amp_variances",
        ),
        (["tiny", "--ful"], "unrecognized arguments: --ful"),
        (["tiny", "--jobs", "0"], " jobs must be at least 1, got 0"),
        (["tiny", "--jobs", "two"], "invalid int value: 'two'"),
        (["tiny", "--rng", "-1"], "rng must be at least 0, got -1"),
        (["tiny", "--device", "cuda"], "tiny does not use torch"),
        ([], "there is no experiment None; choose one of: fig5, fig6"),
    ],
)
def test_the_command_refuses_with_code_2_and_words(arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--out", str(tmp_path / "never")])
    err = capsys.readouterr().err
    assert stop.value.code == 2 and re.search(words, err) and "Traceback" not in err
    assert not (tmp_path / "never").exists()


@pytest.mark.slow
def test_jobs_and_missing_packages_are_refused_in_words(monkeypatch, capsys, tmp_path):
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        run("tiny", jobs=0)
    with pytest.raises(TypeError, match="jobs must be an integer, got 2.0"):
        run("tiny", jobs=2.0)
    for package, options in (("joblib", {"jobs": 2}), ("tqdm", {"progress": True})):
        with monkeypatch.context() as without:
            hide(without, package)
            with pytest.raises(
                ModuleNotFoundError, match=f"needs {package}, which is missing: pip install"
            ):
                run("tiny", **options)
    with monkeypatch.context() as without:
        hide(without, "sklearn")
        with pytest.raises(ModuleNotFoundError, match="the sweep fig11 needs sklearn"):
            run("fig11")
    for package in ("joblib", "tqdm", "matplotlib"):
        with monkeypatch.context() as without:
            hide(without, package)
            with pytest.raises(SystemExit) as stop:
                main(["tiny", "--jobs", "2", "--out", str(tmp_path)])
            assert stop.value.code == 2 and f"needs {package}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def hide(monkeypatch, package):
    from spinlib._core import _checks

    real = _checks.find_spec
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(_checks, "find_spec", lambda name: None if name == package else real(name))


@pytest.mark.parametrize("name", list(_run.EXPERIMENTS))
def test_every_experiment_describes_itself_and_has_plain_points_and_a_picture(name):
    one = _run.EXPERIMENTS[name]
    assert len(_run.describe(name)) > 50 and one.draw is not None
    for full in (False, True):
        points = one.points(full)
        assert points and json.loads(json.dumps(points)) == points
        assert len(one.seeds(np.random.default_rng(0), points)) == len(points)
