"""The shape of spinlib: imports form a DAG, the package itself is cheap to import, modules stay small."""
import ast
import pathlib
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

ROOT = pathlib.Path(__file__).parents[1]
MODULES = {p.stem: p for p in sorted((ROOT / "spinlib").glob("*.py"))}


def spinlib_imports(path):
    """Names of the spinlib modules that a file imports, at any depth of the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "spinlib":
            parts = node.module.split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("spinlib.")}
    return names & set(MODULES)


def test_imports_form_a_dag():
    graph = {name: spinlib_imports(path) for name, path in MODULES.items()}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert set(order) == set(MODULES)
    assert not [name for name, needs in graph.items() if "plotting" in needs], "plotting is imported by chapters only"


def test_importing_spinlib_is_cheap():
    code = "import sys, spinlib; print(*(m for m in ('torch', 'matplotlib', 'sympy', 'scipy') if m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert out.split() == []


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_small_and_documented(name):
    source = MODULES[name].read_text()
    assert len(source.splitlines()) <= 330
    tree = ast.parse(source)
    assert ast.get_docstring(tree)
    public = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")]
    assert not [n.name for n in public if not ast.get_docstring(n)]
