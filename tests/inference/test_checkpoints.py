"""Runs that are interrupted: kill -9, a file of another run, and what a checkpoint knows of its own."""

import pathlib
import signal
import subprocess
import sys

import numpy as np
import passes
import pytest
from passes import BLOCKS, SOLVERS, TASK, Mortal

from spinlib import ConvergenceWarning
from spinlib._core._files import read_arrays
from spinlib.inference import ground_state_cg, sample_amp, spike_amp


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize(
    ("name", "deaths"), [("cg", [300]), ("amp", [200, 300]), ("spikes", [400])]
)
def test_kill_9_costs_one_sweep(tmp_path, name, deaths):
    """Killed in the middle of a sweep, once or twice, and started again: the same bits, no finished sweep again."""
    path, sweeps = tmp_path / "run.npz", 0
    for n in deaths:
        code = (
            f"import sys; sys.path[:0] = {[str(pathlib.Path(passes.__file__).parent)]}\n"
            f"from passes import *\nSOLVERS[{name!r}](Mortal(BLOCKS, {n}), checkpoint={str(path)!r})"
        )
        assert (
            subprocess.run(
                [sys.executable, "-c", code], cwd=pathlib.Path(__file__).parents[2]
            ).returncode
            == -9
        )
        before, sweeps = sweeps, len(read_arrays(path)["history"])
        assert (
            sweeps >= before + n // len(BLOCKS) - 3
        )  # all but the first pass, or two, and the one that was killed
    blocks = Mortal(BLOCKS)
    found, alone = SOLVERS[name](blocks, checkpoint=path), SOLVERS[name](BLOCKS)
    np.testing.assert_array_equal(found.mean, alone.mean)
    np.testing.assert_array_equal(found.history, alone.history)
    assert blocks.reads <= (alone.n_iter - sweeps + 3) * len(BLOCKS) + 4
    again = Mortal(BLOCKS)  # what has converged is read
    np.testing.assert_array_equal(SOLVERS[name](again, checkpoint=path).mean, alone.mean)
    assert again.reads <= 3 * len(BLOCKS) + 4


@pytest.mark.slow
def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    sample_amp(BLOCKS, 0.02, checkpoint=path)
    other = TASK.blocks(1000, size=24, rng=4)
    for run in (
        lambda: sample_amp(BLOCKS, 0.03, checkpoint=path),
        lambda: sample_amp(other, 0.02, checkpoint=path),
        lambda: ground_state_cg(BLOCKS, 0.02, checkpoint=path),
        lambda: sample_amp(BLOCKS, 0.02, damping=0.1, checkpoint=path),
        lambda: sample_amp(BLOCKS, 0.02, dtype="float32", tol=1e-4, checkpoint=path),
    ):
        with pytest.raises(
            ValueError, match="run.npz is the checkpoint of another run.*name another file"
        ):
            run()
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match="run.npz is no checkpoint, or a damaged one; delete it"):
        sample_amp(BLOCKS, 0.02, checkpoint=path)


@pytest.mark.slow
def test_a_run_that_stopped_early_goes_on(tmp_path):
    """Of its own accord, at max_iter or at a looser tol: more of either, and it ends where one run would have."""
    path, alone = tmp_path / "run.npz", ground_state_cg(BLOCKS, 0.02)
    with pytest.warns(ConvergenceWarning):
        ground_state_cg(BLOCKS, 0.02, max_iter=3, checkpoint=path)
    ground_state_cg(BLOCKS, 0.02, tol=1e-3, checkpoint=path)
    np.testing.assert_array_equal(ground_state_cg(BLOCKS, 0.02, checkpoint=path).mean, alone.mean)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


SETTINGS = {
    "cg": [{"ridge": 0.03}],
    "amp": [{"ridge": 0.03}, {"damping": 0.1}],
    "spikes": [{"share": 0.2}, {"size": 0.5}, {"damping": 0.1}],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_checkpoint_knows_every_setting_of_its_solver(name, tmp_path):
    """A file with the mark of the same prompts under another ridge, damping, share or size is refused."""
    data = TASK.blocks(200, size=100, rng=3)
    solver = {"cg": ground_state_cg, "amp": sample_amp, "spikes": spike_amp}[name]
    usual = {"tol": 0.5} | ({} if name == "spikes" else {"ridge": 0.02})
    path = tmp_path / "run.npz"
    solver(data, **usual, checkpoint=path)
    solver(data, **usual, checkpoint=path)  # its own file is read
    for other in SETTINGS[name]:
        with pytest.raises(ValueError, match="another run"):
            solver(data, **usual | other, checkpoint=path)


def test_a_checkpoint_knows_the_last_block(tmp_path):
    first, last, other = (TASK.sample_features(40, rng=k) for k in range(3))
    sample_amp([first, last], 0.5, tol=0.5, checkpoint=tmp_path / "run.npz")
    with pytest.raises(ValueError, match="another run"):
        sample_amp([first, other], 0.5, tol=0.5, checkpoint=tmp_path / "run.npz")
