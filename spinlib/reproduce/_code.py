"""A digest of the code that an experiment runs: of what is computed, not of how it is commented or laid out."""
from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import spinlib


def code_digest(compute: Callable) -> str:
    """Twenty letters that change with numpy, with the file of ``compute`` and with the files of spinlib it imports.

    A name imported from the face of a package leads to the file that the face has it from; so what the experiment does
    not import changes nothing, and neither do comments, docstrings and blank lines.
    """
    own, files = Path(inspect.getsourcefile(compute)), set()
    _follow(own, None, set(), files)
    texts = [(str(path.relative_to(_package())) if path != own else "", _code(path)) for path in files]
    return hashlib.sha256(json.dumps([np.__version__, sorted(texts)]).encode()).hexdigest()[:20]


def _package() -> Path:
    return Path(spinlib.__file__).parent


def _follow(path: Path, name: str | None, seen: set, files: set[Path]) -> None:
    """Add to ``files`` what a file needs; of a face (an __init__.py) only what the ``name`` imported from it needs."""
    name = name if path.name == "__init__.py" else None
    if (path, name) in seen:
        return
    seen.add((path, name))
    wanted = _imports(path)
    if handed_on := [one for one in wanted if one[0] == name]:
        wanted = handed_on
    else:
        files.add(path)
        if name and name not in _defined(path):  # found in a way that is not seen here: all that lies beside counts
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


def _imports(path: Path) -> list[tuple[str, str, str]]:
    """(name it gets, module, name there) of everything that a file imports from spinlib, at any depth of the file."""
    found = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom):
            found += [(alias.asname or alias.name, node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.asname or alias.name, alias.name, "") for alias in node.names]
    return [one for one in found if one[1].split(".")[0] == "spinlib"]


def _defined(path: Path) -> set[str]:
    """Names that a file itself defines at its top."""
    targets = [t for node in _tree(path).body for t in (node.targets if isinstance(node, ast.Assign) else [node])]
    return {getattr(target, "name", "") or getattr(target, "id", "") for target in targets}


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _code(path: Path) -> str:
    """The statements of a file without its comments, layout and docstrings."""
    tree = _tree(path)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
