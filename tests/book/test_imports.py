"""The shape of spinlib: imports form a DAG, the package itself is cheap to import, modules stay small."""

import ast
import pathlib
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from faces import FACES

import spinlib

ROOT = pathlib.Path(__file__).parents[2]
FILES = {
    ".".join(p.relative_to(ROOT).with_suffix("").parts): p
    for p in sorted((ROOT / "spinlib").rglob("*.py"))
}
# spinlib.icl is spinlib/icl/__init__.py
MODULES = {name.removesuffix(".__init__"): path for name, path in FILES.items()}

# Which package may import which, and how many lines it may have. All may import _core. A new arrow, or more lines, is
# a changed row here, and the commit says why.
ARROWS = {
    "_core": "",
    "spin_glass": "",
    "descent": "spin_glass",
    "symbolic": "",
    "pspin": "",
    "factor_graph": "",
    "attention": "",
    "training": "",
    "random_matrix": "",
    "icl": "spin_glass",
    "theory": "icl",
    "inference": "icl spin_glass",
    "landscape": "icl spin_glass",
    "plotting": "",
    "reproduce": "attention descent icl inference landscape plotting pspin random_matrix spin_glass theory training",
}
# How large spinlib may be. Lines would be the wrong measure: a limit on them makes lines long, not the package small.
# So three counts that packing does not lower: names that a user can import, statements, nodes of the syntax tree.
NAMES = 121
STATEMENTS = 4050
NODES = 44400


def spinlib_imports(path):
    """Names of the spinlib modules that a file imports, at any depth of the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "spinlib"
        ):
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in full}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("spinlib")}
    assert names <= set(MODULES), f"{path} imports {names - set(MODULES)}"
    return names


def test_imports_form_a_dag():
    graph = {name: spinlib_imports(path) for name, path in MODULES.items()}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError
    assert set(order) == set(MODULES)
    plotters = [name for name, needs in graph.items() if "spinlib.plotting" in needs]
    drawer = "spinlib.reproduce.__main__"  # the command line draws FIGURE.png; it imports matplotlib only then
    assert plotters == [drawer], "plotting is imported by chapters only"
    top = [
        n
        for n in ast.parse(MODULES[drawer].read_text()).body
        if isinstance(n, (ast.Import, ast.ImportFrom))
    ]
    assert not [n for n in top if "plotting" in ast.unparse(n) or "matplotlib" in ast.unparse(n)]


def package(module):
    """spinlib.icl._task -> icl; '' for spinlib itself."""
    return (module.split(".") + [""])[1]


def test_packages_import_what_the_table_allows():
    """The table is exact: an arrow that no file needs any more leaves it too."""
    found = {name: set() for name in ARROWS}
    for name, path in MODULES.items():
        for needed in spinlib_imports(path):
            if name != "spinlib" and package(needed) not in ("", "_core", package(name)):
                found[package(name)].add(package(needed))
    assert found == {name: set(allowed.split()) for name, allowed in ARROWS.items()}


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def test_the_package_stays_small():
    names = sum(len(row.split()) for row in FACES.values())
    statements = nodes = 0
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            statements += isinstance(node, ast.stmt) and not is_docstring(node)
            nodes += isinstance(node, (ast.stmt, ast.expr))
    assert names <= NAMES and statements <= STATEMENTS and nodes <= NODES, (
        names,
        statements,
        nodes,
    )


def test_private_files_are_imported_only_inside_their_package():
    for name, path in MODULES.items():
        for needed in spinlib_imports(path):
            package, _, last = needed.rpartition(".")
            if (
                last.startswith("_")
                and last != "_core"
                and not last.startswith("__")
                and "._core" not in needed
            ):
                assert name.startswith(package), f"{name} reaches into {needed}"


def test_the_wheel_has_every_package():
    text = (ROOT / "pyproject.toml").read_text()
    assert "packages.find" in text and 'include = ["spinlib*"]' in text


def test_importing_spinlib_is_cheap():
    code = "import sys, spinlib; print(*(m for m in ('torch', 'matplotlib', 'sympy', 'scipy') if m in sys.modules))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert out.split() == []


def test_a_module_is_loaded_when_it_is_asked_for():
    code = "import sys, spinlib; print('spinlib.icl' in sys.modules, spinlib.icl.LinearTask(2, 3))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert out.startswith("False LinearTask(") and "icl" in dir(spinlib)
    with pytest.raises(AttributeError, match="no attribute 'icml'; it has .*'icl'"):
        _ = spinlib.icml


def test_no_line_is_longer_than_120_columns():
    files = [*ROOT.glob("*.py")]
    for folder in ("spinlib", "tests", "tools", "_ext"):
        files += (ROOT / folder).rglob("*.py")
    long = [
        f"{path.relative_to(ROOT)}:{number} has {len(line)}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_small_and_documented(name):
    source = MODULES[name].read_text()
    assert len(source.splitlines()) <= 350
    tree = ast.parse(source)
    assert ast.get_docstring(tree)
    public = [
        n
        for n in tree.body
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")
    ]
    assert not [n.name for n in public if not ast.get_docstring(n)]
