"""What the pages say of themselves: the line under the title, the fold, links, words and formulas of the main line.

python tools/authors/boxes.py [CHAPTER...]       words, formulas and minutes of a main line, and the time that it says

The main line is what a page says without its folds, boxes, captions, exercises and the sections after them. Reading
time has one rule: 150 words a minute, and two minutes for a displayed formula.
"""

import functools
import json
import re
import sys

from kinds import ROOT, chapters

FENCE = re.compile(r"^(:{3,}|`{3,}|~{3,})(?:\{([\w:-]+)\}(.*))?\s*$")
AFTER = re.compile(
    r"Exercises|What is checked|Summary|Further reading|Next\b"
)  # sections beside the main line
LABEL = re.compile(r"^\((ch-[a-z0-9-]+)\)=\n+# (.+)$", re.M)


@functools.cache
def source(name: str) -> list[str]:
    """The text cells of a chapter."""
    cells = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


@functools.cache
def titles() -> dict[str, tuple[str, str]]:
    """Label and title of every chapter, in reading order."""
    return {name: LABEL.search(source(name)[0]).groups() for name in chapters()}


def outside(text: str) -> tuple[str, list[tuple[str, str, str]]]:
    """A text without its directives, and these: (kind, title, text)."""
    kept, found, fence = [], [], None
    for line in text.splitlines():
        match = FENCE.match(line)
        if fence is None and match and (match[2] or match[1][0] in "`~"):
            fence, about, inside = match[1], (match[2] or "", (match[3] or "").strip()), []
        elif (
            fence is not None
            and match
            and not match[2]
            and match[1][0] == fence[0]
            and len(match[1]) >= len(fence)
        ):
            found.append((*about, "\n".join(inside)))
            fence = None
        elif fence is not None:
            inside.append(line)
        else:
            kept.append(line)
    return "\n".join(kept), found


def opening(name: str) -> tuple[str, str]:
    """The line under the title of a chapter: (what it needs, what it takes)."""
    line = re.search(r"^\*\*Needs\*\* (.*?)\s*\*\*Takes\*\* (.*)$", source(name)[0], re.M)
    return line[1], line[2]


def box(name: str) -> str:
    """The text of the fold "In this chapter"; it stands below the first figure."""
    cells = "\n\n".join(source(name))
    return next(text for _, title, text in outside(cells)[1] if title == "In this chapter")


@functools.cache
def owners() -> dict[str, str]:
    """label -> chapter, for every label that a chapter sets: of sections, formulas, figures, exercises."""
    found = {}
    for name in chapters():
        notebook = json.loads((ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))
        text = "\n\n".join(source(name))
        forms = r"^\(([a-z0-9-]+)\)=|\$\$ ?\(([a-z0-9-]+)\)|^:(?:label|name): ([a-z0-9-]+)"
        there = [label for labels in re.findall(forms, text, re.M) for label in labels if label]
        drawn = [cell["metadata"].get("mystnb", {}).get("figure", {}) for cell in notebook["cells"]]
        there += [figure.get("name") for figure in drawn]
        found |= {label: name for label in there if label}
    return found


def links(text: str, owner: dict[str, str]) -> list[str]:
    """The chapters that a text links to."""
    labels = re.findall(r"\{(?:ref|eq|numref)\}`(?:[^`<]*<)?([a-z0-9-]+)>?`", text)
    return list(dict.fromkeys(owner[label] for label in labels if label in owner))


@functools.cache
def needs() -> dict[str, list[str]]:
    """What each chapter asks for in the line under its title: {chapter: chapters}."""
    owner = owners()
    asked = {name: links(opening(name)[0], owner) for name in chapters()}
    return {name: [other for other in others if other != name] for name, others in asked.items()}


def reduced(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    """A graph without the arrows that follow from others: a chapter that is needed by one that is needed."""

    def behind(name):
        return {far for near in graph[name] for far in {near} | behind(near)}

    far = lambda one, near: any(one in behind(other) for other in near if other != one)
    return {name: [one for one in near if not far(one, near)] for name, near in graph.items()}


def main_line(name: str) -> str:
    """The text of a chapter that everybody reads."""
    gated = r"^`{3,}\{(exercise|solution)-start\}.*?^`{3,}\{\1-end\}\n`{3,}$"
    text = re.sub(gated, "", "\n\n".join(source(name)), flags=re.M | re.S)
    text = re.sub(r"^\(.*\)=$|^\*\*Needs\*\*.*$", "", outside(text)[0], flags=re.M)
    sections = re.split(r"^(?=## )", text, flags=re.M)
    return "".join(section for section in sections if not AFTER.match(section.removeprefix("## ")))


def sections(name: str) -> dict[str | None, str]:
    """Heading -> text of the sections of a main line; its opening has the heading None."""
    opening, *parts = re.split(r"^## (.*)$", main_line(name), flags=re.M)
    return {None: opening} | dict(zip(parts[::2], parts[1::2]))


def measure(text: str) -> tuple[int, int, int]:
    """Words, displayed formulas and minutes of a text."""
    formulas = len(re.findall(r"\$\$.*?\$\$", text, re.S))
    text = re.sub(r"\$\$.*?\$\$(?: *\([\w-]+\))?", " ", text, flags=re.S)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|\$[^$]+\$|`[^`]+`", " x ", text)
    words = len(re.findall(r"\w[\w'’.-]*", re.sub(r"\]\([^)]*\)", "]", text)))
    return words, formulas, round(words / 150 + 2 * formulas)


def told(name: str) -> tuple[int, float]:
    """What a chapter says that it takes: minutes to read, hours with its exercises."""
    rule = r"(\d+) min to read, (\d*)(½?) h with the exercises\."
    minutes, hours, half = re.fullmatch(rule, opening(name)[1]).groups()
    return int(minutes), float(hours or 0) + 0.5 * bool(half)


def working(name: str) -> float:
    """Hours that a chapter takes with its exercises: the reading, and the minutes in their titles."""
    text = "\n\n".join(source(name))
    exercises = re.findall(r"^`{3,}\{exercise-start\}.*?(\d+) min\)$", text, re.M)
    return (measure(main_line(name))[2] + sum(map(int, exercises))) / 60


def main(names):
    for name in names or chapters():
        words, formulas, minutes = measure(main_line(name))
        mark = "SPLIT" if words > 3200 else "long" if words > 2500 else ""
        counted = f"{words:5d} words {formulas:3d} formulas {minutes:4d} min"
        print(f"{name:42s} {counted}, {working(name):4.1f} h; says {told(name)} {mark}")


if __name__ == "__main__":
    main(sys.argv[1:])
