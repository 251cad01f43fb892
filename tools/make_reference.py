"""Write the generated pages of chapters/reference from thesis.yml and the docstrings of spinlib (`make reference`).

equation_index.md: every equation and figure of the thesis, where the book has it and how it is checked.
errata.md: what is not right, printed and corrected. api.md: every module of spinlib.
The files are committed; tests/book/test_reference.py holds them equal to what this program writes.
"""
from __future__ import annotations

import ast
import json
import pathlib
import re
from collections import Counter

import yaml

ROOT = pathlib.Path(__file__).parents[1]
REFERENCE = ROOT / "chapters" / "reference"
CITATION = re.compile(r"Thesis\s+eqs?\.\s+((?:\(\d+[a-z]?\)(?:\s*(?:,|and|to|-|–)\s*(?=\())?)+)")
CORRECTED = ("misprint", "wrong", "incomplete", "code differs")  # the verdicts that need a correction
# The order of the story; a module that is not named here comes last, by name.
STORY = ["icl", "spin_glass", "inference", "attention", "training", "random_matrix", "landscape", "pspin", "pspin.amp",
         "pspin.simulation", "pspin.two_spin", "symbolic", "symbolic.cavity", "symbolic.one_rsb", "symbolic.parisi",
         "factor_graph", "reproduce", "plotting"]


def read():
    """The data file as it is."""
    return yaml.safe_load((REFERENCE / "thesis.yml").read_text(encoding="utf-8"))


def entries(data):
    """All (section, entry) pairs in the order of the file."""
    return [(section, entry) for section in data["sections"] for entry in section["entries"]]


def numbers(text):
    """Equation numbers cited in a docstring: 'Thesis eqs. (125)-(128), (131)' gives 125 to 128 and 131."""
    found = []
    for match in CITATION.finditer(text):
        parts = re.findall(r"\((\d+)[a-z]?\)\s*(to|-|–)?", match.group(1))
        for (number, join), following in zip(parts, [*parts[1:], ("", "")]):
            found += range(int(number), int(following[0]) if join else int(number) + 1)
    return sorted(set(found))


def modules():
    """Public modules of spinlib in the order of the story: dotted names below spinlib, packages by their face."""
    names = set()
    for path in (ROOT / "spinlib").rglob("*.py"):
        parts = path.relative_to(ROOT / "spinlib").with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts and not any(part.startswith("_") for part in parts):
            names.add(".".join(parts))
    return [n for n in STORY if n in names] + sorted(names - set(STORY))


def sources(name):
    """The file of a module, its face, and the private files beside it whose names it may show in its ``__all__``."""
    path = ROOT / "spinlib" / pathlib.Path(*name.split("."))
    if path.is_dir():
        return [path / "__init__.py", *sorted(p for p in path.glob("_*.py") if not p.name.startswith("__"))]
    face = path.with_suffix(".py")
    shows = exported(ast.parse(face.read_text(encoding="utf-8"))) is not None and path.parent.name != "spinlib"
    return [face, *(sorted(p for p in path.parent.glob("_*.py") if not p.name.startswith("__")) if shows else [])]


def exported(tree):
    """The names in ``__all__`` of a parsed file, or None where it has none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return None


def documented(name):
    """(qualified name, docstring) of the public functions, classes and methods of a module, without importing it."""
    def walk(node, prefix, only=None):
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
                if only is not None and child.name not in only:
                    continue
                yield prefix + child.name, ast.get_docstring(child) or ""
                if isinstance(child, ast.ClassDef):
                    yield from walk(child, f"{prefix}{child.name}.")
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources(name)}
    only = exported(next(iter(trees.values())))
    return [found for tree in trees.values() for found in walk(tree, f"{name}.", only)]


def public(name):
    """Qualified names of the public functions and classes of a module, in the order of its files."""
    return [found for found, _ in documented(name) if found.count(".") == name.count(".") + 1]


def cited():
    """Equation number -> qualified names of spinlib whose docstring cites it."""
    where = {}
    for module in modules():
        for name, text in documented(module):
            for number in numbers(text):
                where.setdefault(number, []).append(name)
    return where


def prose(path):
    """The Markdown text of a chapter or page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    return text


def in_book():
    """Files of the chapters that _toc.yml names, such as {"pspin/replica_method": Path(...)}."""
    names = re.findall(r"file: chapters/(\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = {name: [p for end in (".ipynb", ".md") if (p := ROOT / "chapters" / f"{name}{end}").exists()] for name in names}
    return {name: found[0] for name, found in files.items() if found and not name.startswith("reference/")}


def drafts():
    """Files of all chapters, also of those that are not in the book yet."""
    found = sorted([*(ROOT / "chapters").rglob("*.ipynb"), *(ROOT / "chapters").rglob("*.md")])
    return [path for path in found if ".ipynb_checkpoints" not in path.parts and path.parent != REFERENCE]


def labels(paths):
    """Every label in the files and the file that has it."""
    found = {}
    for path in paths:
        names = re.findall(r"^\s*(?::label:|:name:)\s*(\S+)|^\s*\(([^)\n]+)\)=$|\$\$ \(([^)\n]+)\)$", prose(path), re.M)
        if path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            names += [(c["metadata"].get("mystnb", {}).get("figure", {}).get("name", ""),) for c in cells]
        found |= {name: path for groups in names for name in groups if name}
    return found


def waiting(data):
    """The entries that no chapter of the book has yet."""
    places = labels(in_book().values())
    return [entry for _, entry in entries(data) if entry.get("label") not in places]


# --- Markdown ---------------------------------------------------------------------------------------------------

def name(entry):
    """How an entry is called: (33), Figure 8, text at (75)."""
    key = str(entry["id"])
    kind, _, rest = key.partition("-")
    if kind == "fig":
        return f"Figure {rest}"
    if kind == "code":
        return f"Code: {rest.replace('-', ' ')}"
    return {"": f"({kind})", "text": f"({kind}) text", "x": f"({kind}) missing"}[rest]


def title(entry):
    """The same as a heading: Equation (33), Text at (75)."""
    kind, _, rest = str(entry["id"]).partition("-")
    return {"": f"Equation ({kind})", "text": f"Text at ({kind})", "x": f"Missing beside ({kind})"}.get(rest, name(entry))


def target(label):
    """A link to a label of the book; equations and figures show the number that they have there."""
    kind = label.split("-")[0]
    return {"eq": f"eq. {{eq}}`{label}`", "fig": f"{{numref}}`{label}`"}.get(kind, f"{{ref}}`{label}`")


def formula(lead, text):
    """A `printed` or `correct` field: TeX becomes a displayed formula, words stay words."""
    words = text.removeprefix("words:")
    return f"{lead}: {words.strip()}." if words != text else f"{lead}:\n\n$$ {text} $$"


def check_words(entry, places):
    """How an entry is checked: the digits, then the names."""
    check = entry.get("check", [])
    if check == "definition":
        return "a definition"
    names = ", ".join(f"`{c.split('::')[1]}`" if "::" in c else target(c) for c in check if "::" in c or c in places)
    digits = entry.get("digits")
    digits = f"{digits} digit{'s' * (digits > 1)}" if isinstance(digits, int) else digits
    return f"{digits}: {names}" if names else ""


def code_words(entry, citations):
    """Links to the functions that an entry belongs to."""
    names = [*entry.get("code", []), *(citations.get(entry["id"], []))]
    return ", ".join(f"{{py:obj}}`{n} <spinlib.{n}>`" for n in dict.fromkeys(names))


def home(data, section):
    """The chapter of a section: a link, or the words that say for which chapter its entries wait."""
    if section["chapter"] in in_book():
        return f"In the book: {{doc}}`/chapters/{section['chapter']}`."
    return f"*Waits for chapter* “{data['chapters'][section['chapter']]}”."


def number_row(entry):
    if entry["verdict"] in CORRECTED:
        return f"{name(entry)} {{ref}}`{entry['verdict']} <erratum-{entry['id']}>`"
    return name(entry) + (" *open*" if entry["verdict"] == "open" else "")


def cell(entry, citations, places):
    """What the index tells of an entry: its words; then the place in the book, the functions, the checks."""
    says = entry["says"] + (f". *{entry['note'].rstrip('.')}.*" if "note" in entry else "")
    place = f"*here* {target(entry['label'])}" if entry.get("label") in places else ""
    where = " · ".join(words for words in (place, code_words(entry, citations), check_words(entry, places)) if words)
    return f"{says}<br>{where}" if where else says


def equation_index(data):
    """The text of equation_index.md."""
    citations, places = cited(), labels(in_book().values())
    every = entries(data)
    equations = [e for _, e in every if isinstance(e["id"], int)]
    rights = sum(e["verdict"] == "right" for e in equations)
    out = [f"""# Equation index

Every numbered equation and every figure from 5 on of the thesis {{cite}}`Li2025thesis`: what it says, where this book has it,
which function of `spinlib` computes it and what checks it, in this order; numbers after *here* are those of the book. A word under the number links to the
correction on the page {{doc}}`errata`; no word means that it is right as printed, as {rights} of {len(equations)} equations are.
Checks named `test_...` are functions in `tests/`, and a test of the book makes sure that each exists and runs; a figure
or an equation named as a check is proved by its own cell. *Exact* means that the first of them is proved by computer
algebra, a number of digits is the agreement that it demands, *5 s.e.* is agreement within five standard errors of a simulation.

Of {len(every)} entries {len(waiting(data))} wait for a chapter that is not written yet."""]
    for section in data["sections"]:
        out.append(f"## {section['title']}\n\n{home(data, section)}")
        rows = ["| Equation | What it says, where it is, how it is checked |", "| --- | --- |"]
        for entry in section["entries"]:
            rows.append(f"| {number_row(entry)} | {cell(entry, citations, places)} |")
        out.append("\n".join(rows))
    return "\n\n".join(out) + "\n"


def erratum(entry, citations, places):
    """One correction as Markdown."""
    leads = ("In the text", "In the program") if entry["verdict"] == "code differs" else ("Printed", "Corrected")
    out = [f"(erratum-{entry['id']})=\n### {title(entry)}",
           f"*{entry['verdict'].capitalize()}.* {entry['says']}.",
           formula(leads[0], entry["printed"]), formula(leads[1], entry["correct"]),
           entry["why"] + (f" *Effect:* {entry['effect']}" if "effect" in entry else "")]
    shown = []
    if entry.get("label") in places:
        document = places[entry["label"]].relative_to(ROOT).with_suffix("").as_posix()
        shown.append(f"shown in {{doc}}`/{document}`, {target(entry['label'])}")
    checks, code = check_words(entry, places), code_words(entry, citations)
    shown += ([f"checked, {checks}"] if "digits" in entry else []) + ([f"computed by {code}"] if code else [])
    if shown:
        words = "; ".join(shown)
        out.append(f"{words[0].upper()}{words[1:]}.")
    return "\n\n".join(out)


def order(entry):
    """Equations by number, a sentence after its equation, figures after them."""
    key = str(entry["id"])
    digits = int(re.search(r"\d+|$", key).group() or 0)
    return (0, digits, key) if key[0].isdigit() else (1 if key.startswith("fig") else 2, digits, key)


def errata(data):
    """The text of errata.md."""
    citations, places = cited(), labels(in_book().values())
    every = entries(data)
    count = Counter(e["verdict"] for _, e in every)
    equations = Counter(e["verdict"] for _, e in every if isinstance(e["id"], int))
    meaning = "\n\n".join(f"**{v}** ({count[v]} {'entry' if count[v] == 1 else 'entries'})\n: {data['verdicts'][v]}."
                          for v in CORRECTED)
    out = [f"""# Errata

The thesis {{cite}}`Li2025thesis` is a fine piece of work. It writes down every step of two long calculations and
publishes its programs and data, and because it is so explicit, each step can be checked. We have done that, with
computer algebra where possible and with numbers elsewhere. {equations['right']} of its 172 numbered equations are right
exactly as printed, and its main results stand: the map to a spin glass, the replica and cavity solutions, and the ground
state as the trained transformer. This page lists the rest, so that a reader who follows the thesis with a pencil does not
stumble, in the hope that our own book will be read in the same way.

What the words mean:

{meaning}

Corrections that have a chapter in this book link to the calculation and name the test which proves that the printed
form fails and the corrected one holds. The {{doc}}`equation_index` lists everything, also what is right."""]
    for number, title in (("2", "Large language models"), ("3", "Mean-field theory of spin glasses"),
                          ("4", "The spin glass of linear attention"), ("5", "Results")):
        found = [e for s, e in every if s["title"].startswith(number) and e["verdict"] in CORRECTED[:-1]]
        out.append(f"## Chapter {number} of the thesis: {title}")
        out += [erratum(e, citations, places) for e in sorted(found, key=order)]
    out.append("""## The published code

The programs behind the figures are public, which is why the following can be said at all. Here the text may stand;
the program that made the figure computes something else.""")
    out += [erratum(e, citations, places) for e in sorted((e for _, e in every if e["verdict"] == "code differs"), key=order)]
    return "\n\n".join(out) + "\n"


def api(data):
    """The text of api.md: one automodule a module."""
    out = ["""# The package spinlib

The data flow is the story. A task is sampled into prompts, the prompts become disorder, inference turns disorder into
marginals, and these are read as the weights of a transformer and scored:
{py:obj}`~spinlib.icl.LinearTask` → {py:obj}`~spinlib.icl.Prompts` → {py:obj}`~spinlib.spin_glass.SpinGlass` →
{py:obj}`~spinlib.inference.Marginals` → weights → error. The theory of the first part stands beside it:
{py:obj}`~spinlib.pspin.PSpin` → {py:obj}`~spinlib.pspin.OneRSB`.

Modules are imported by name, `from spinlib import icl`; `import spinlib` itself loads nothing heavy. `rng` is None, an
integer or a numpy Generator everywhere, `damping` is the weight of the old value, and arrays are float64. An iteration
that stops before its tolerance says so in its result and warns:

```{eval-rst}
.. autoexception:: spinlib.ConvergenceWarning
```"""]
    for module in modules():
        names = ", ".join(name.removeprefix(f"{module}.") for name in public(module))
        out.append(f"## {module}\n\n```{{eval-rst}}\n.. automodule:: spinlib.{module}\n   :members: {names}\n"
                   "   :imported-members:\n```")
    return "\n\n".join(out) + "\n"


PAGES = {"equation_index.md": equation_index, "errata.md": errata, "api.md": api}


def main():
    data = read()
    for page, write in PAGES.items():
        (REFERENCE / page).write_text(write(data), encoding="utf-8")
        print(f"wrote chapters/reference/{page}")


if __name__ == "__main__":
    main()
