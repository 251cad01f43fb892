"""The table of all exercises, by chapter and stars. It is made from the chapters when the book is built."""

import re

from boxes import source, titles
from kinds import ROOT, contents, kind

GATE = re.compile(
    r"^`{3,}\{exercise-start\} (.*?) \((★+), (\d+) min\)\n(?::\w+:.*\n)*?:label: (ex-[a-z0-9-]+)$",
    re.M,
)


def exercises(name: str) -> list[tuple[str, str, int, int]]:
    """(label, title, stars, minutes) of the exercises of a chapter."""
    found = GATE.findall("\n\n".join(source(name)))
    return [(label, title, len(stars), int(minutes)) for title, stars, minutes, label in found]


def table() -> str:
    """A table for each part: a row for a chapter, a column for each number of stars."""
    lines = []
    for _, (opening, *names) in contents():
        if kind(opening) != "opening":
            continue
        title = re.search(r"^# (.*)$", (ROOT / f"{opening}.md").read_text(encoding="utf-8"), re.M)
        head = "| Chapter | ★ | ★★ | ★★★ |\n| :--- | :--- | :--- | :--- |"
        lines += ["", f"## {title[1]}", "", head]
        for name in (name.removeprefix("chapters/") for name in names):
            cells = ["", "", ""]
            for label, title, stars, minutes in exercises(name):
                words = title.replace("|", "\\|").replace("<", "&lt;")
                cells[stars - 1] += f"{{ref}}`{words} <{label}>` {minutes} min<br>"
            lines.append(f"| {{ref}}`{titles()[name][0]}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
