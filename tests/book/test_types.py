"""The types of spinlib are true: mypy over the package, and over programs as a user writes them."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = """
import numpy as np

from spinlib.factor_graph import FactorGraph, bp, ising
from spinlib.icl import LinearTask, to_spin_glass, weights
from spinlib.inference import amp, ground_state, ground_state_cg, spike_amp
from spinlib.pspin import PSpin
from spinlib.pspin.simulation import Couplings
from spinlib.random_matrix import mp_density
from spinlib.spin_glass import SpinGlass
from spinlib.theory import Teacher, learning_curve, state_evolution

glass = SpinGlass(J=[[0, 0.4], [0.4, 0]], h=[1, 0], lam=[1, 1])
state: tuple[np.ndarray, ...] = amp(glass, beta=2.0, damping=0.3).state
exact: np.ndarray = ground_state(glass).var
prompts = LinearTask(D=3, N=15, corr=0.1, tasks=np.eye(3)).sample(20, rng=0)
W: np.ndarray = weights(ground_state(to_spin_glass(prompts, 0.1)).mean)
blocks = LinearTask(3, 15).blocks(20, size=10).held(dtype="float32")
seen: list[float] = []
found = ground_state_cg(blocks, ridge=0.1, tol=1e-4, callback=lambda s, r: seen.append(r))
again = ground_state_cg([prompts, prompts], ridge=0.1, start=None)
share: float = spike_amp(prompts, start=np.ones((4, 3))).share
error: float = learning_curve(3, 15, 20, 0.1)
path = state_evolution(Teacher([1.0], [1.0], 0.25, count=100), P=200, ridge=0.1).error
graph = FactorGraph(cards=(2, 3), factors=[((0, 1), [[1, 2, 3], [3, 2, 1]]), ((1,), [1, 0, 1])])
log_Z: float = bp(ising([[0, 1], [1, 0]])).log_Z + bp(graph).log_Z
energy: float = PSpin(3).solve(0.5).energy
pair = Couplings([[0.0, 0.5], [0.5, 0.0]])
density: np.ndarray = mp_density([0.1, 1.0], ratio=0.25)
"""


def mypy(*args):
    pytest.importorskip("mypy")
    return subprocess.run(
        [sys.executable, "-m", "mypy", *args], cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.slow
def test_the_package_type_checks():
    run = mypy()
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
def test_the_program_of_a_user_type_checks_and_runs(tmp_path):
    """Lists where arrays are meant, results of the types that are stated; and those of README and guide."""
    text = "".join((ROOT / page).read_text() for page in ("README.md", "CONTRIBUTING.md"))
    shown = re.findall(r"```py(?:thon)?\n(.*?)```", text, re.S)
    own = [code for code in shown if "spinlib" in code and "dask" not in code]
    assert len(own) == 2
    programs = {"user": PROGRAM, **{f"readme{k}": text for k, text in enumerate(own)}}
    for name, code in programs.items():
        (tmp_path / f"{name}.py").write_text(code)
        run = mypy("--ignore-missing-imports", str(tmp_path / f"{name}.py"))
        assert run.returncode == 0, run.stdout
    exec(compile(PROGRAM, "user.py", "exec"), {})


@pytest.mark.slow
def test_what_is_wrong_is_seen(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "from spinlib.inference import amp, ground_state\n"
        "from spinlib.random_matrix import mp_edges\n"
        "amp(3)\nground_state('x', beta=1.0)\nx: str = mp_edges(0.5)\n"
    )
    assert mypy(str(tmp_path / "wrong.py")).stdout.count("error:") == 3
