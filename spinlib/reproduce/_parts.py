"""The finished points of a sweep that is not finished: one small file each, in a folder beside the result."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from spinlib._core._files import DAMAGED, read_arrays, write_arrays
from spinlib.reproduce._plan import Plan, digest


class Parts:
    """The folder of the parts of one sweep; the name of a file says all that its numbers depend on."""

    def __init__(self, folder: Path, plan: Plan):
        self.folder = folder
        self.names = [
            f"{k:05d}-{digest([plan.name, plan.settings, k, point])}-{plan.code}.npz"
            for k, point in enumerate(plan.points)
        ]

    def read(self) -> dict[int, tuple[dict, dict]]:
        """Result and seconds of each point that is there and whole; a damaged file is named on stderr and left out."""
        found = {}
        for k, name in enumerate(self.names):
            path = self.folder / name
            if path.exists():
                try:
                    arrays = read_arrays(path)
                    seconds = arrays.pop("seconds of this part")
                    found[k] = (
                        {n: a[()] for n, a in arrays.items()},
                        dict(zip(("wall", "cpu"), seconds.tolist())),
                    )
                except DAMAGED:
                    print(f"{path} is damaged; point {k} is computed again", file=sys.stderr)
        return found

    def write(self, k: int, result: dict, seconds: dict) -> None:
        """Store one point, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        values = np.array([seconds["wall"], seconds["cpu"]])
        write_arrays(self.folder / self.names[k], {**result, "seconds of this part": values})

    def ignored(self) -> str:
        """What else lies in the folder, and why it is not used: in words, or nothing."""
        others = {path.name for path in self.folder.glob("*.npz")} - set(self.names)
        own = {name.rpartition("-")[0] for name in self.names}
        older = sum(name.rpartition("-")[0] in own for name in others)
        why = [f"{older} computed by other code or another numpy"] * (older > 0)
        why += [f"{len(others) - older} of another run (quick or full, seed, device, points)"] * (
            len(others) > older
        )
        return (
            f"finished points in {self.folder} that are not used: {', '.join(why)}" if why else ""
        )

    def remove(self) -> None:
        """Delete the parts of this sweep, whose result is stored, and the folder if nothing else is in it."""
        if self.folder.is_dir():
            own = set(self.names)
            for path in list(self.folder.iterdir()):
                if (
                    path.name.partition(".npz")[0] + ".npz" in own
                ):  # also what a killed process was writing
                    path.unlink(missing_ok=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()
