"""What a course needs beside the slides, from the notebooks of course/: sheets with holes, and an exam without answers.

A cell with the tag "solution" is one that students fill in. Of its text the headings and the marks of the parts stay;
of its code the heads of the functions with their docstrings; all else becomes a hole. Preprocessors of nbconvert do it.
"""

import ast
import html
import pathlib
import re

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ClearOutputPreprocessor, Preprocessor, TagRemovePreprocessor

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBLEM = re.compile(r"^\((prob-[a-z0-9-]+)\)=\n## (.+)$", re.M)
PART = re.compile(r"^\*\*\(([a-z])\)\*\*", re.M)
CHECK = '''def check(targets):
    """Compare your numbers with the targets of the sheet; None is one that you do not have yet."""
    for words, target, within, yours in targets:
        if yours is None:
            print(f"      {words} {target}")
        elif abs(yours - float(target)) <= within * (1 + 1e-9):
            print(f"right {words} {target}, yours is {yours:.6g}")
        else:
            raise AssertionError(f"{words} {target}, yours is {yours:.6g}: not within {within:g}")'''


def targets(text: str) -> list[tuple[str, str, float]]:
    """The numbers in bold behind *Target:*, each with the words before it and how near one has to come.

    >>> targets("*Target:* (a) $e=$ **0.354**, **0.31**; (b) **0.6** to within 0.02.")
    [('(a) e=', '0.354', 0.0005), ('(a)', '0.31', 0.005), ('(b)', '0.6', 0.02)]
    """
    paragraph = re.search(r"^\*Target:\*(.*?)(?:\n\s*\n|\Z)", text, re.M | re.S)
    found, at, part = [], 0, ""
    for match in re.finditer(r"\*\*(-?[\d.]+)\*\*(?: (?:to )?within ([\d.]+\d))?", paragraph[1]):
        before = re.split(r"[;,.]\s", paragraph[1][at : match.start()])[-1]
        at = match.end()
        part = (re.findall(r"\([a-z]\)", paragraph[1][: match.start()]) or [part])[-1]
        words = " ".join(re.sub(r"[$*{}\\]", "", before).replace("mathrm", "").split())
        words = words if words.startswith(part) else f"{part} {words}".strip()
        decimals = len(match[1].partition(".")[2])
        found.append((words, match[1], float(match[2] or 0.5 * 10.0**-decimals)))
    return found


def hole(source: str) -> str:
    """The code of a solution without what it computes: imports and the heads of functions stay.

    >>> print(hole("import math\\ndef f(x):\\n    'Twice.'\\n    return 2 * x\\nprint(f(1))"))
    import math
    <BLANKLINE>
    def f(x):
        'Twice.'
        raise NotImplementedError  # your code
    <BLANKLINE>
    # your code
    """
    kept, lines = [], source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kept.append(ast.get_source_segment(source, node))
        elif isinstance(node, ast.FunctionDef):
            first = node.body[0]
            last = first.end_lineno if ast.get_docstring(node) else first.lineno - 1
            heading = lines[node.lineno - 1 : last]
            if first.lineno == node.lineno:  # all in one line
                heading = [lines[node.lineno - 1][: first.col_offset].rstrip()]
            kept.append("\n".join(["", *heading, "    raise NotImplementedError  # your code", ""]))
    return "\n".join([*kept, "# your code"]).strip()


class Holes(Preprocessor):
    """Cells with the tag "solution" become holes."""

    def preprocess_cell(self, cell, resources, index):
        if "solution" in cell.metadata.get("tags", []):
            cell.metadata = nbformat.NotebookNode()
            if cell.cell_type == "code":
                cell.source = hole(cell.source)
            else:
                titles = re.findall(r"^## .+$", cell.source, re.M)
                parts = [f"**({part})** *your derivation*" for part in PART.findall(cell.source)]
                cell.source = "\n\n".join([*titles, *parts])
        return cell, resources


def linked(text: str, address: str) -> str:
    """Links from course/ to pages of the book, by its address; without one a download has only the words.

    >>> linked("See [The replica method](../../chapters/pspin/replica_method.ipynb).", "https://example.org/b")
    'See [The replica method](https://example.org/b/chapters/pspin/replica_method.html).'
    >>> linked("See [The replica method](../../chapters/pspin/replica_method.ipynb).", "")
    'See *The replica method*.'
    """

    def link(match):
        words, page = match.groups()
        if address:
            return f"[{words}]({address}/chapters/{page}.html)"
        if page.startswith("problems/"):
            return f"{words} (in the built book)"
        return f"*{words}*" if words[0].isupper() else words

    return re.sub(r"\[([^]]+)\]\(\.\./\.\./chapters/(\w+/\w+)\.(?:md|ipynb)\)", link, text)


def student(sheet: pathlib.Path, solutions: pathlib.Path, address: str = ""):
    """The notebook of a sheet for students: with holes, and with a cell that compares numbers after each problem.

    ``address`` is that of the published book, if there is one.
    """
    text = sheet.read_text(encoding="utf-8")
    found = PROBLEM.split(text)[1:]
    told = {
        heading.split(" (★")[0]: (label, body) for label, heading, body in zip(*[iter(found)] * 3)
    }
    notebook = nbformat.read(solutions, as_version=4)
    notebook, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    notebook, _ = Holes().preprocess(notebook, {})
    title = re.search(r"^# (.+)$", text, re.M)[1]
    page = linked(f"[the page of the sheet](../../chapters/problems/{sheet.name})", address)
    cells = [
        nbformat.v4.new_markdown_cell(
            f"# {title}\n\nThe problems, with their hints, are on {page}. "
            "Here are the places for your answers: fill in what says *your derivation* and `# your code`. "
            "The heads of functions are those of one solution; take others if you like. After each problem a cell "
            "compares your numbers with the targets.",
            id="how-to-use",
        )
    ]
    heading, number = "", 0
    for cell in [*notebook.cells[1:], None]:
        new = (
            re.search(r"^## (.+)$", cell.source, re.M)
            if cell is not None and cell.cell_type == "markdown"
            else None
        )
        if heading and (new or cell is None):
            label, body = told[heading]
            rows = [
                f"    ({words!r}, {target!r}, {within:g}, None),"
                for words, target, within in targets(body)
            ]
            source = "\n".join(
                [f"# Problem {number}: your numbers in the places of None", "check([", *rows, "])"]
            )
            cells.append(nbformat.v4.new_code_cell(source, id=f"check-{number}"))
        if cell is None:
            break
        if new:
            heading, number = new[1], number + 1
            place = f"{address}/chapters/problems/{sheet.stem}.html#{told[heading][0]}"
            if address:
                cell.source = cell.source.replace(new[0], f"{new[0]}\n\n[The problem]({place})")
        if cell.source.strip():
            cells.append(cell)
        if number == 0 and cell.cell_type == "code":
            cells.append(nbformat.v4.new_code_cell(CHECK, id="check"))
    notebook.cells = merged(cells)
    return notebook


def merged(cells):
    """A hole that follows a hole and has nothing of its own goes."""
    kept = []
    for cell in cells:
        empty = cell.cell_type == "code" and cell.source == "# your code"
        if not (
            empty
            and kept
            and kept[-1].cell_type == "code"
            and kept[-1].source.endswith("# your code")
        ):
            kept.append(cell)
    return kept


def solved(path: pathlib.Path, address: str = ""):
    """The solutions as they are, with links to the published book, if there is one."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = linked(cell.source, address)
    return notebook


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="exam.css">
<script>window.MathJax = {{tex: {{inlineMath: [["$", "$"]]}}}};</script>
<script defer src="../_static/mathjax/tex-chtml.js"></script></head>
<body>{body}</body></html>
"""


def exam(path: pathlib.Path, answers: bool) -> str:
    """A page of the exam, to print: the questions, or with the marking scheme and what the notebook prints."""
    notebook = nbformat.read(path, as_version=4)
    if not answers:
        notebook, _ = TagRemovePreprocessor(remove_cell_tags={"solution"}).preprocess(notebook, {})
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    body, _ = exporter.from_notebook_node(notebook)
    title = re.search(r"^# (.+)$", notebook.cells[0].source, re.M)[1]
    return PAGE.format(title=html.escape(title), body=body)


def make(out: pathlib.Path, address: str = "") -> list[str]:
    """Write all of it into a folder, with links to the published book at ``address``; the names of the files."""
    out.mkdir(parents=True, exist_ok=True)
    names = []
    for sheet in sorted((ROOT / "chapters" / "problems").glob("sheet_*.md")):
        path = ROOT / "course" / "solutions" / f"{sheet.stem}.ipynb"
        for name, notebook in (
            (sheet.stem, student(sheet, path, address)),
            (f"{sheet.stem}_solutions", solved(path, address)),
        ):
            nbformat.write(notebook, out / f"{name}.ipynb")
            names.append(f"{name}.ipynb")
    path = ROOT / "course" / "exam" / "exam.ipynb"
    nbformat.write(nbformat.read(path, as_version=4), out / "exam.ipynb")
    for name, answers in (("exam.html", False), ("exam_marking.html", True)):
        (out / name).write_text(exam(path, answers), encoding="utf-8")
    (out / "exam.css").write_text(
        (ROOT / "tools" / "slides" / "exam.css").read_text(), encoding="utf-8"
    )
    return [*names, "exam.ipynb", "exam.html", "exam_marking.html"]
