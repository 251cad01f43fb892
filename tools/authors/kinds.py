"""Which kind of page a file of the book is, and in which order the pages stand. No other place keeps such a list."""

import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

FURTHER = "chapters/further"
FOLDERS = {"source": "companion", "problems": "sheet", "reference": "generated"}


def kind(path) -> str:
    """front, opening, chapter, companion, sheet or generated, from the path of a page (as in _toc.yml, or a file).

    >>> pages = "intro", "chapters/pspin/replica_method.ipynb", "chapters/source/chapter_3", "chapters/part_2"
    >>> [kind(page) for page in pages]
    ['front', 'chapter', 'companion', 'opening']
    >>> kind("chapters/further"), kind("chapters/short_book")
    ('opening', 'front')
    """
    parts = pathlib.PurePath(path).with_suffix("").parts
    if "chapters" not in parts:
        return "front"
    _, *inside = parts[parts.index("chapters") :]
    if len(inside) == 1:
        return "front" if inside[0] in ("short_book", "teaching") else "opening"
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


def roads() -> dict[str, list[str]]:
    """What each opening lists: {opening: labels of its chapters}; the last opening is that of the further chapters."""
    found = {}
    for _, names in contents():
        if kind(names[0]) == "opening":
            text = (ROOT / f"{names[0]}.md").read_text(encoding="utf-8")
            listed = text.partition("**The chapters**")[2]
            found[names[0]] = re.findall(r"^\* \{ref\}`(ch-[a-z0-9-]+)`", listed, re.M)
    return found


def spine() -> list[str]:
    """The labels of the chapters of the five parts, in reading order."""
    return [label for opening, labels in roads().items() if opening != FURTHER for label in labels]


def short_book() -> list[str]:
    """The labels of the stations of the short book, as its page lists them."""
    text = (ROOT / "chapters" / "short_book.md").read_text(encoding="utf-8")
    return re.findall(r"^\d+\. \{ref\}`(ch-[a-z0-9-]+)`", text, re.M)
