"""What a page defines, run here: a formula that stands on one page is tested as the page has it."""

import ast
import functools
import json
import pathlib
from types import SimpleNamespace

CHAPTERS = pathlib.Path(__file__).parents[2] / "chapters"


@functools.cache
def code(page):
    """The sources of the code cells of chapters/PAGE.ipynb."""
    cells = json.loads((CHAPTERS / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def from_page(page, *names, **given):
    """The functions or classes ``names`` of a page, with its imports; ``given``: values of the page that they read."""
    nodes = [
        node
        for node in ast.parse("\n".join(code(page))).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        or (isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names)
    ]
    missing = set(names) - {getattr(node, "name", None) for node in nodes}
    assert not missing, f"{page} defines no {missing}"
    space = dict(given)
    exec(compile(ast.Module(nodes, []), page, "exec"), space)
    return SimpleNamespace(**{name: space[name] for name in names})


def run_cells(page, *markers, **names):
    """Names after the cells of ``page`` that contain each of the markers (one cell each), run in this order."""
    for marker in markers:
        (found,) = [source for source in code(page) if marker in source]
        exec(compile(found, f"{page}: {marker}", "exec"), names)
    return names
