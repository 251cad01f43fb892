"""What one call asks for, and a digest of the code that computes it: not of how that is commented or laid out.

A plan is made where `run`, `save`, `load` or the command line enters, and handed on.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import spinlib
from spinlib.reproduce._experiment import Experiment, Point


@dataclass(frozen=True)
class Plan:
    """An experiment by its name, the points of the sweep, and the settings (full, rng, device) besides them."""

    name: str
    experiment: Experiment
    points: list[Point]
    settings: dict

    @functools.cached_property
    def code(self) -> str:
        """The digest of the code that the points are computed by."""
        return code_digest(self.experiment.compute)

    @functools.cached_property
    def digest(self) -> str:
        """The digest of the points."""
        return digest(self.points)


def digest(values: object) -> str:
    """Twenty letters that change when the plain values do."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


def code_digest(compute: Callable) -> str:
    """Twenty letters that change with numpy, with the file of ``compute`` and with the files of spinlib it imports.

    A name imported from the face of a package leads to the file that the face has it from; so what the experiment does
    not import changes nothing, and neither do comments, docstrings, blank lines and drawings: what a function does
    whose first argument is ``figure``, and what ``lines`` is asked for.
    """
    own, files = Path(inspect.getsourcefile(compute)), set()
    _follow(own, None, set(), files)
    texts = [
        (
            str(path.relative_to(_package())) if path != own else "",
            _parsed(path.read_text(encoding="utf-8"))[2],
        )
        for path in files
    ]
    return hashlib.sha256(json.dumps([np.__version__, sorted(texts)]).encode()).hexdigest()[:20]


def _package() -> Path:
    return Path(spinlib.__file__).parent


def _follow(path: Path, name: str | None, seen: set, files: set[Path]) -> None:
    """Add to ``files`` what a file needs; of a face (an __init__.py) only what the ``name`` imported from it needs."""
    name = name if path.name == "__init__.py" else None
    if (path, name) in seen:
        return
    seen.add((path, name))
    wanted, defined, _ = _parsed(path.read_text(encoding="utf-8"))
    if handed_on := [one for one in wanted if one[0] == name]:
        wanted = handed_on
    else:
        files.add(path)
        if (
            name and name not in defined
        ):  # found in a way that is not seen here: all that lies beside counts
            for beside in sorted(path.parent.glob("*.py")):
                _follow(beside, None, seen, files)
    for _, module, imported in wanted:
        if inside := imported and _file(f"{module}.{imported}"):
            _follow(inside, None, seen, files)
        elif outside := _file(module):
            _follow(outside, imported or None, seen, files)


def _file(module: str) -> Path | None:
    """The file of a module of spinlib."""
    place = _package().joinpath(*module.split(".")[1:])
    return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)


@functools.cache
def _parsed(source: str) -> tuple[list[tuple[str, str, str]], set[str], str]:
    """Of a file: (name it gets, module, name there) of everything that it imports from spinlib, at any depth; the names
    that it defines at its top; its statements, without comments, layout, docstrings and drawings."""
    tree, imports = ast.parse(source), []
    targets = [
        t for node in tree.body for t in (node.targets if isinstance(node, ast.Assign) else [node])
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imports += [
                (alias.asname or alias.name, node.module or "", alias.name) for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            imports += [(alias.asname or alias.name, alias.name, "") for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lines":
            node.args, node.keywords = [], []
        elif isinstance(node, ast.FunctionDef) and [arg.arg for arg in node.args.args[:1]] == [
            "figure"
        ]:
            node.body = [ast.Pass()]
        elif (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return (
        [one for one in imports if one[1].split(".")[0] == "spinlib"],
        {getattr(target, "name", "") or getattr(target, "id", "") for target in targets},
        ast.unparse(tree),
    )
