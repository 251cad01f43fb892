"""Local Sphinx extension: the short book has rails, a bar at the foot of each station that leads on and back.

The stations are those that chapters/short_book.md lists; no other place keeps them.
"""

import pathlib
import sys

from docutils import nodes
from sphinx.util import logging

LOG = logging.getLogger(__name__)
ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = "chapters/short_book"


def bar(labels, here):
    """What the bar of a station says: parts that are words, or (words, label) for a link.

    >>> bar(["ch-a", "ch-b", "ch-c"], "ch-b")
    [('The short book', 'short-book'), ', 2 of 3: back to ', ('', 'ch-a'), ', on to ', ('', 'ch-c'), '.']
    >>> bar(["ch-a", "ch-b"], "ch-b")[1:]
    [', 2 of 2: back to ', ('', 'ch-a'), '. Here it ends.']
    """
    at = labels.index(here)
    says = [("The short book", "short-book"), f", {at + 1} of {len(labels)}: "]
    if at:
        says += ["back to ", ("", labels[at - 1])]
    if at + 1 < len(labels):
        says += [", on to " if at else "on to ", ("", labels[at + 1]), "."]
    else:
        says.append(". Here it ends.")
    merged = []  # words that follow each other are one part
    for part in says:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def lay(app, doctree, docname):
    """Append its bar to a station, when all labels are known."""
    import kinds

    known = app.env.domaindata["std"]["labels"]  # label: page, id, title
    stations = kinds.short_book()
    here = [label for label in stations if known.get(label, ("",))[0] == docname]
    if not here:
        return
    paragraph = nodes.paragraph("", "", classes=["rails"])
    for part in bar(stations, here[0]):
        if isinstance(part, str):
            paragraph += nodes.Text(part)
            continue
        words, label = part
        if label not in known:
            LOG.warning("%s lists a label that no page has: %s", PAGE, label)
            continue
        page, anchor, title = known[label]
        uri = app.builder.get_relative_uri(docname, page)
        link = nodes.reference("", words or title, internal=True, refuri=f"{uri}#{anchor}")
        paragraph += link
    last = list(doctree.findall(nodes.section))
    (last[0] if last else doctree).append(paragraph)


def read_again(app, env, added, changed, removed):
    """A change of the list changes the bars of all stations."""
    return list(env.found_docs) if PAGE in added | changed else []


def setup(app):
    sys.path.insert(0, str(ROOT / "tools" / "authors"))
    app.connect("doctree-resolved", lay)
    app.connect("env-get-outdated", read_again)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
