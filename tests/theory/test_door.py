"""The door of spinlib.theory: a law takes sizes and numbers, draws nothing and sees no prompt."""
import ast
import inspect
import pathlib

import pytest

from spinlib import theory

FILES = sorted(pathlib.Path(theory.__file__).parent.glob("*.py"))
OUTSIDE = {"rng", "X", "prompts", "features", "data", "glass", "seed"}
MAY_IMPORT = {"spinlib._core", "spinlib.random_matrix", "spinlib.icl", "spinlib.theory", "scipy", "numpy", "math",
              "dataclasses", "typing", "__future__"}


@pytest.mark.parametrize("name", theory.__all__)
def test_a_law_takes_no_sample(name):
    taken = set(inspect.signature(getattr(theory, name)).parameters)
    assert taken and not taken & OUTSIDE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_package_imports_what_is_allowed_and_draws_nothing(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert any(node.module == one or node.module.startswith(one + ".") for one in MAY_IMPORT), node.module
            assert node.module != "spinlib._core" or not {"RNG", "check_rng"} & {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"numpy"}
        assert not (isinstance(node, ast.Attribute) and node.attr in ("random", "default_rng"))
    laws = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert path.name == "__init__.py" or laws


def test_a_new_law_is_public():
    """Every file shows at least one of its functions, and every public function is shown."""
    shown = set(theory.__all__)
    for path in FILES:
        names = {n.name for n in ast.parse(path.read_text(encoding="utf-8")).body
                 if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")}
        assert names <= shown, names - shown
