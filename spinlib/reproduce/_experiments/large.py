"""How large it goes: ground states of prompts that are drawn block by block, whose couplings are never formed."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from spinlib._core import RNG, check_rng
from spinlib.icl import LinearTask, PromptBlocks, population_error, weights
from spinlib.inference import ground_state_cg
from spinlib.reproduce._experiment import Experiment, grid
from spinlib.theory import learning_curve

PASSES = 17  # about: 15 sweeps at every D, the sums that they start from, and the residual at the end


class _Watched(Sequence):
    """Blocks that know how long they took to draw, and tell which share of the work is done."""

    def __init__(self, blocks: PromptBlocks, tell: Callable | None, clock: Callable[[], float]):
        self.blocks, self.tell, self.clock, self.seconds, self.done = blocks, tell, clock, 0.0, 0.0
        self.drawing = 1000 / blocks.task.D  # passes that take as long, about: both are alike at D = 1000

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, b):
        start = self.clock()
        block = self.blocks[b]
        self.seconds += self.clock() - start
        self.passed(self.drawing / len(self))
        return block

    def passed(self, passes: float = 1) -> None:
        self.done = min(1.0, self.done + passes / (PASSES + self.drawing))
        if self.tell:
            self.tell(self.done)


def _points(full: bool, size: int | None = None) -> list[dict]:
    draws = {size: 1} if size else {100: 8, 200: 4, 300: 3} if full else {100: 3}
    return [{"D": D, "draw": k} for D, n in draws.items() for k in range(n)]


def _compute(rng: RNG, D: int, draw: int, device: str = "cpu", tell: Callable | None = None) -> dict:
    clock = time.process_time if device == "cpu" else time.perf_counter
    P, N, ridge, start = 2 * D * D, 5 * D, 0.2 / D, clock()
    data = _Watched(LinearTask(D, N).blocks(P, size=2048, rng=int(check_rng(rng).integers(2**63))), tell, clock)
    found = ground_state_cg(data, ridge, tol=1e-4, dtype=np.float32, device=None if device == "cpu" else device,
                            keep=True, callback=lambda residual: data.passed())
    seconds = clock() - start - data.seconds
    return {"error": population_error(weights(found.mean), N), "theory": learning_curve(D, N, P, ridge),
            "sweeps": found.n_iter, "drawing": data.seconds, "solving": seconds, "peak_GB": _peak(),
            "gflops": 4e-9 * P * D * (D + 1) * (found.n_iter + 2) / seconds}


def _peak() -> float:
    """Largest memory of this process so far, in GB; NaN where the system does not say."""
    try:
        import resource
    except ModuleNotFoundError:
        return np.nan
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1e-9 if sys.platform == "darwin" else 1.024e-6)


def _collect(points: list[dict], results: list[dict]) -> dict[str, np.ndarray]:
    """Ground states of 2 D^2 prompts in blocks, D = 100 (full: 200, 300; --size: another), couplings never formed.

    N = 5 D, ridge .2 / D, conjugate gradients in float32 down to a residual of 1e-4. ``D`` (sizes,), ``draw`` (draws,),
    and for each (sizes, draws; NaN where not run): ``error``, and ``theory`` of ``theory.learning_curve``; ``sweeps``;
    processor seconds (with --device those of the clock) of ``drawing`` the prompts once and of ``solving``; ``gflops``,
    billions of operations a second in the products; ``peak_GB``, the most memory the process has had until then,
    prompts included. Quick: 3 draws, 5 s on one core; full: 8, 4 and 3 draws, 2 minutes.
    """
    return grid(points, results, "D", "draw")


def _draw(figure, result, color):
    ax = figure.subplots()
    excess = 100 * (result["error"] / result["theory"] - 1)
    ax.plot(result["D"], excess, "o", color=color["simulation"])
    ax.axhline(0, color=color["theory"])
    ax.set(xlabel="D", ylabel="error above the learning curve (%)")


EXPERIMENTS = {"large": Experiment(_points, _compute, _collect, _draw)}
