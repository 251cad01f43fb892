"""Which kind of page a file of the book is. Tests and tools ask ``kind``; no other place keeps such a list."""
import pathlib

FOLDERS = {"source": "companion", "problems": "sheet", "reference": "generated"}


def kind(path) -> str:
    """front, opening, chapter, companion, sheet or generated, from the path of a page (as in _toc.yml, or a file).

    >>> [kind(p) for p in ("intro", "chapters/pspin/replica_method.ipynb", "chapters/source/chapter_3", "chapters/part_2")]
    ['front', 'chapter', 'companion', 'opening']
    """
    parts = pathlib.PurePath(path).with_suffix("").parts
    if "chapters" not in parts:
        return "front"
    _, *inside = parts[parts.index("chapters"):]
    if len(inside) == 1:
        return "opening"
    return FOLDERS.get(inside[0], "chapter")
