"""Files that are whole or not there: written beside their place and moved there at once."""

from __future__ import annotations

import contextlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

# What reading a damaged npz file may raise.
DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A path to write to, moved to ``path`` when the block ends; OSError in one sentence where that fails."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        why = "there is a folder of this name" if path.is_dir() else error.strerror or error
        raise type(error)(f"{path} cannot be written: {why}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_arrays(
    path: Path, arrays: dict[str, np.ndarray], compress: int = zipfile.ZIP_DEFLATED
) -> None:
    """An npz file whose bytes depend only on the arrays, whole or not at all."""
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w") as file:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            member.compress_type = compress
            with file.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz file, each read whole, so that the check sums in it are compared."""
    with zipfile.ZipFile(path) as file:
        arrays = {}
        for member in file.namelist():
            with file.open(member) as stream:
                arrays[member.removesuffix(".npy")] = np.lib.format.read_array(
                    stream, allow_pickle=False
                )
                stream.read()
        return arrays
