"""The digest of the code that an experiment runs: it sees what is imported, and nothing else."""

import pathlib
import types

import pytest

from spinlib.reproduce import _plan, _run

PACKAGE = pathlib.Path(__file__).parents[2] / "spinlib"
FILES = {
    "__init__.py": "from spinlib._core import Warned\n",
    "_core.py": "class Warned: pass\n",
    "icl/__init__.py": "from spinlib.icl._task import task\nfrom spinlib.icl._other import other\n",
    "icl/_task.py": "def task():\n    from spinlib.random import draw\n    return draw() + 1\n",
    "icl/_other.py": "other = 1\n",
    "random.py": "def draw():\n    return 1\n",
    "late/__init__.py": "here = 1\ndef __getattr__(name):\n    return 1\n",
    "late/_hidden.py": "hidden = 1\n",
    "plotting.py": "1\n",
    "reproduce/__init__.py": "1\n",
    "reproduce/_other.py": "from spinlib.icl import task\n",
    "reproduce/_own.py": "from spinlib.reproduce._other import task\nfrom spinlib import Warned\n"
    "def compute(rng):\n    from spinlib.late import hidden\n    return 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the place of spinlib, and the digest of its one experiment."""
    folder = tmp_path / "spinlib"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(_plan.spinlib, "__file__", str(folder / "__init__.py"))
    own = folder / "reproduce" / "_own.py"
    return folder, lambda: _plan.code_digest(types.FunctionType(compile("0", str(own), "exec"), {}))


@pytest.mark.parametrize(
    "name",
    [
        "_core.py",
        "icl/_task.py",
        "random.py",
        "reproduce/_other.py",
        "reproduce/_own.py",
        "late/__init__.py",
        "late/_hidden.py",
    ],
)
def test_what_the_experiment_imports_counts(package, name):
    folder, digest = package
    before = digest()
    for text in (FILES[name] + "more = 1\n", FILES[name].replace("1", "2") + "pass\n"):
        (folder / name).write_text(text)
        assert digest() != before
    (folder / name).write_text(FILES[name])
    assert digest() == before


@pytest.mark.parametrize("name", ["icl/_other.py", "plotting.py", "reproduce/__init__.py"])
def test_what_it_does_not_import_does_not_count(package, name):
    folder, digest = package
    before = digest()
    (folder / name).write_text("other = 2\n")
    assert digest() == before


def test_comments_layout_and_docstrings_do_not_count_and_numpy_does(package, monkeypatch):
    folder, digest = package
    before = digest()
    (folder / "random.py").write_text(
        '"""Words."""\n# a comment\n\ndef draw( ):\n    """More."""\n\n    return (1)\n'
    )
    assert digest() == before
    (folder / "random.py").write_text("def draw():\n    return 'no docstring'\n")
    assert digest() != before
    (folder / "random.py").write_text(FILES["random.py"])
    assert digest() == before
    monkeypatch.setattr(_plan.np, "__version__", "9.9.9")
    assert digest() != before


def test_how_a_picture_is_drawn_does_not_count_and_the_table_of_experiments_does(package):
    folder, digest = package
    own, seen = folder / "reproduce" / "_own.py", []
    for words, size, compute in (
        ("error", 1, "compute"),
        ("loss", 2, "compute"),
        ("loss", 2, "other"),
    ):
        own.write_text(f"""def compute(rng):\n    return 1
def _draw(figure, result, color):\n    figure.subplots({size})
def many(x):\n    def draw(figure, result):\n        figure.subplots({size})\n    return draw
TABLE = [Experiment({compute}, _draw), Experiment({compute}, lines("N", {{"{words}": "-"}}, ylabel="{words}"), 1)]
""")
        seen.append(digest())
    assert seen[0] == seen[1] != seen[2]
    own.write_text(own.read_text().replace("return 1", "return 2"))
    assert digest() not in seen


def test_no_function_that_computes_is_taken_for_a_drawing():
    """What the digest leaves out: the drawings of experiments, and what takes a name called figure and calls them."""
    import ast

    left_out = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and [arg.arg for arg in node.args.args[:1]] == [
                "figure"
            ]:
                left_out.setdefault(path.relative_to(PACKAGE).as_posix(), []).append(node.name)
    drawings = {name for file, names in left_out.items() if "_experiment" in file for name in names}
    assert all("draw" in name for name in drawings) and len(drawings) >= 6
    face = {"reproduce/_run.py", "reproduce/_store.py"}  # not code that a point is computed by
    assert {file for file in left_out if "_experiment" not in file} == face


@pytest.mark.slow
def test_every_experiment_depends_on_what_it_uses_and_on_nothing_else():
    def files(name):
        found = set()
        _plan._follow(
            pathlib.Path(_run.EXPERIMENTS[name].compute.__code__.co_filename), None, set(), found
        )
        return {path.relative_to(PACKAGE).as_posix() for path in found}

    assert {"pspin/simulation.py", "_core/_checks.py"} <= files("pspin_equilibrium")
    assert {"icl/_task.py", "inference/_pair.py", "spin_glass.py"} <= files("fig12a")
    assert not [
        file for file in files("fig12a") if file.startswith(("pspin", "symbolic", "factor_graph"))
    ]
    for name in _run.EXPERIMENTS:
        assert not {"plotting.py", "reproduce/_run.py", "reproduce/__init__.py"} & files(name), name


def test_the_digest_of_a_plan_does_not_know_the_order_of_names():
    assert (
        _plan.digest([{"D": 1, "N": 2}])
        == _plan.digest([{"N": 2, "D": 1}])
        != _plan.digest([{"D": 2, "N": 1}])
    )
