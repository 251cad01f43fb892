"""Sphinx never parses TeX: a broken formula builds without a word. Cheap checks that need no TeX engine."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
KNOWN = set((ROOT / "tests" / "book" / "tex_macros.txt").read_text().split())
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$(?!\$)", re.S)


def sources():
    chapters = ROOT / "chapters"
    files = [
        *chapters.rglob("*.ipynb"),
        *(ROOT / "course").rglob("*.ipynb"),
        *ROOT.glob("*.ipynb"),
        *ROOT.glob("*.md"),
        *chapters.rglob("*.md"),
    ]
    for path in sorted(files):
        if ".ipynb_checkpoints" not in path.parts and path.name not in (
            "README.md",
            "CONTRIBUTING.md",
        ):
            yield pytest.param(path, id=str(path.relative_to(ROOT)))


def prose(path):
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text())["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        figures = [c["metadata"].get("mystnb", {}).get("figure", {}) for c in cells]
        text += "\n\n" + "\n\n".join(figure.get("caption", "") for figure in figures)
    else:
        text = path.read_text()
    text = re.sub(
        r"^(`{3,})(python|bash|text|bibtex|console)\n.*?^\1$", "", text, flags=re.S | re.M
    )
    return re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)


def problems(tex):
    plain = re.sub(r"\\[{}]", "", tex)
    if plain.count("{") != plain.count("}"):
        yield "unbalanced braces"
    if len(re.findall(r"\\left\b", tex)) != len(re.findall(r"\\right\b", tex)):
        yield "unbalanced \\left and \\right"
    if sorted(re.findall(r"\\begin\{(\w+\*?)\}", tex)) != sorted(
        re.findall(r"\\end\{(\w+\*?)\}", tex)
    ):
        yield "\\begin without \\end"
    if re.search(r"[_^]\s*($|[}\]&])", tex):
        yield "subscript or superscript of nothing"
    for macro in re.findall(r"\\([a-zA-Z]+)", tex):
        if macro not in KNOWN:
            yield f"unknown macro \\{macro}: misspelt, or add it to tests/book/tex_macros.txt"


@pytest.mark.parametrize("path", list(sources()))
def test_formulas(path):
    found = [
        (m.group(0), p)
        for m in FORMULA.finditer(prose(path))
        for p in problems(m.group(1) or m.group(2))
    ]
    assert not found


@pytest.mark.parametrize(
    "tex", [r"\frac{1}{2", r"\left( x", r"x_", r"\begin{aligned} x", r"\bbeta"]
)
def test_broken_formulas_are_found(tex):
    assert list(problems(tex))
