"""The finished points of a sweep that is not finished: one small file each, in a folder beside the result."""
from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import spinlib

DAMAGED = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)


class Parts:
    """The folder of the parts of one sweep; the name of a file says all that its numbers depend on."""

    def __init__(self, folder: Path, settings: dict, points: list[dict]):
        self.folder, self.points = folder, points
        self.names = [f"{k:05d}-{digest({**settings, 'index': k, 'point': point})}.npz"
                      for k, point in enumerate(points)]

    def read(self) -> dict[int, tuple[dict, dict]]:
        """Result and seconds of each point that is there and whole; a damaged file is named on stderr and left out."""
        found = {}
        for k, name in enumerate(self.names):
            path = self.folder / name
            if path.exists():
                try:
                    arrays = read_arrays(path)
                    seconds = arrays.pop("seconds of this part")
                    found[k] = ({n: a[()] for n, a in arrays.items()}, dict(zip(("wall", "cpu"), seconds.tolist())))
                except DAMAGED:
                    print(f"{path} is damaged; point {k} is computed again", file=sys.stderr)
        return found

    def write(self, k: int, result: dict, seconds: dict) -> None:
        """Store one point, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        values = np.array([seconds["wall"], seconds["cpu"]])
        write_arrays(self.folder / self.names[k], {**result, "seconds of this part": values})

    def remove(self) -> None:
        """Delete the folder: the result is stored."""
        shutil.rmtree(self.folder, ignore_errors=True)


def digest(values: object) -> str:
    """Twenty letters that change when the plain values do."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


def code_digest(compute: Callable) -> str:
    """Twenty letters that change with numpy, with the file of ``compute`` and with the modules of spinlib it may use.

    Of spinlib.reproduce only that file counts, and the files that it imports: another experiment changes nothing here.
    """
    package, own = Path(spinlib.__file__).parent, Path(inspect.getsourcefile(compute))
    files = [f for f in sorted(package.rglob("*.py")) if f.parent.name != "reproduce" and f.name != "plotting.py"]
    imported = set(re.findall(r"spinlib\.reproduce\.(_\w+)", own.read_text(encoding="utf-8")))
    files += [own, *(package / "reproduce" / f"{name}.py" for name in sorted(imported))]
    return digest([np.__version__, *(hashlib.sha256(f.read_bytes()).hexdigest() for f in files if f.exists())])


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """An npz file whose bytes depend only on the arrays, written beside its place and then moved there at once."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as file:
            for name, array in arrays.items():
                member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
                member.compress_type = zipfile.ZIP_DEFLATED
                with file.open(member, "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz file, each read whole, so that the check sums in it are compared."""
    with zipfile.ZipFile(path) as file:
        arrays = {}
        for member in file.namelist():
            with file.open(member) as stream:
                arrays[member.removesuffix(".npy")] = np.lib.format.read_array(stream, allow_pickle=False)
                stream.read()
        return arrays
