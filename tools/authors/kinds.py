"""Which kind of page a file of the book is, and in which order the pages stand. No other place keeps such a list."""

import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

FOLDERS = {"source": "companion", "problems": "sheet", "reference": "generated"}


def kind(path) -> str:
    """front, opening, chapter, companion, sheet or generated, from the path of a page (as in _toc.yml, or a file).

    >>> pages = "intro", "chapters/pspin/replica_method.ipynb", "chapters/source/chapter_3", "chapters/part_2"
    >>> [kind(page) for page in pages]
    ['front', 'chapter', 'companion', 'opening']
    """
    parts = pathlib.PurePath(path).with_suffix("").parts
    if "chapters" not in parts:
        return "front"
    _, *inside = parts[parts.index("chapters") :]
    if len(inside) == 1:
        return "opening"
    return FOLDERS.get(inside[0], "chapter")


def contents() -> list[tuple[str, list[str]]]:
    """The pages as _toc.yml has them: (caption, names), in reading order; a part has the caption that opens over it."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [("", [toc["root"]])]
    for block in toc["parts"]:
        caption = block["caption"]
        for entry in block["chapters"]:
            names = [entry["file"], *(inner["file"] for inner in entry.get("sections", []))]
            if caption or len(names) > 1 or kind(names[0]) == "opening":
                parts.append((caption, names))
            else:
                parts[-1][1].extend(names)
            caption = ""
    return parts


def chapters() -> list[str]:
    """The chapters in reading order, such as "pspin/replica_method"."""
    return [
        name.removeprefix("chapters/")
        for _, names in contents()
        for name in names
        if kind(name) == "chapter"
    ]


def roads() -> dict[str, tuple[list[str], list[str]]]:
    """What each part opening says: {opening: (labels of the spine, labels of the side roads)}."""
    found = {}
    for _, names in contents():
        if kind(names[0]) == "opening":
            text = (ROOT / f"{names[0]}.md").read_text(encoding="utf-8")
            spine, _, side = text.partition("**The spine**")[2].partition("**Side roads**")
            found[names[0]] = tuple(
                re.findall(r"^\* \{ref\}`(ch-[a-z0-9-]+)`", part, re.M) for part in (spine, side)
            )
    return found
