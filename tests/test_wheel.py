"""The wheel holds all that a page loads: built, installed into an empty folder, and read from there."""

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = [
    ROOT / "intro.ipynb",
    *sorted((ROOT / "chapters").rglob("*.ipynb")),
    *sorted((ROOT / "course").rglob("*.ipynb")),
]
READ = """
import pathlib, sys
import spinlib
from spinlib import reproduce
assert pathlib.Path(spinlib.__file__).is_relative_to(sys.argv[1]), spinlib.__file__
for name in sys.argv[2:]:
    arrays, made = reproduce.load(name), reproduce.about(name)
    assert arrays and made["figure"] == name and made["full"]
    print(name, sum(a.size for a in arrays.values()))
print(*(len(part) for part in reproduce.prose()))
"""


def code_cells():
    for path in NOTEBOOKS:
        if ".ipynb_checkpoints" not in path.parts:
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    yield path, "".join(cell["source"])


def loaded():
    """The names that the pages load, or ask about."""
    return {
        name
        for _, code in code_cells()
        for name in re.findall(r"\b(?:load|about)\(\s*[\"'](\w+)[\"']", code)
    }


def test_no_page_reads_a_file_but_through_spinlib():
    """Only the front page does: it draws its map of chapters from _toc.yml."""
    found = [
        (path.name, line)
        for path, code in code_cells()
        for line in code.splitlines()
        if re.search(r"\.\./|read_text|read_bytes|np\.load|\bopen\(|spinlib/data", line)
        and not (path.stem == "intro" and "_toc.yml" in line)
    ]
    assert not found


@pytest.mark.slow
def test_every_load_call_of_the_pages_works_from_the_wheel(tmp_path):
    """Without a network: only spinlib itself is installed, numpy and the rest are those of this environment."""
    if int(importlib.metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("pyproject.toml asks for setuptools 77")
    names = loaded()
    stored = {path.stem for path in (ROOT / "spinlib" / "data").glob("*.npz")}
    assert len(names) > 10 and names <= stored, names - stored
    source, place = tmp_path / "source", tmp_path / "empty"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "spinlib",
        source / "spinlib",
        ignore=shutil.ignore_patterns("__pycache__", "*.png", "*.parts"),
    )
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    offline = ["--no-deps", "--no-index"]
    run = {
        "check": True,
        "capture_output": True,
        "text": True,
        "cwd": tmp_path,
        "env": {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "SPINLIB_DATA")
        },
    }
    subprocess.run(
        [
            *pip,
            "wheel",
            *offline,
            "--no-build-isolation",
            "--wheel-dir",
            str(tmp_path),
            str(source),
        ],
        **run,
    )
    (wheel,) = tmp_path.glob("spinlib-*.whl")
    subprocess.run([*pip, "install", *offline, "--target", str(place), str(wheel)], **run)
    run["env"]["PYTHONPATH"] = str(place)
    out = subprocess.run(
        [sys.executable, "-c", READ, str(place), *sorted(stored)], **run
    ).stdout.splitlines()
    assert [line.split()[0] for line in out[:-1]] == sorted(stored) and out[-1] == "288692 34730"
