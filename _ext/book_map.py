"""Local Sphinx extension: the directive book-map draws the map of the book, a box for each chapter.

A box is a link; it says its number, its title and the chapters that its reader needs, as the lines under the titles
have them. It is a list of links with a style, so that it can be read on a phone, by a screen reader and on paper.
"""

import pathlib
import sys

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Place(nodes.General, nodes.Element):
    """Where the map goes; what it says is known when all labels are."""


class BookMap(SphinxDirective):
    has_content = True  # words for readers without Sphinx

    def run(self):
        return [Place()]


def rows():
    """[(page of a part, [(number, label, title, numbers of what it needs, whether in the short book)])]."""
    import boxes
    import kinds

    titles, needs, short = boxes.titles(), boxes.reduced(boxes.needs()), kinds.short_book()
    number = {name: k for k, name in enumerate(titles, 1)}
    found = []
    for _, (opening, *names) in kinds.contents():
        if kinds.kind(opening) == "opening":
            names = [name.removeprefix("chapters/") for name in names]
            found.append(
                (
                    opening,
                    [
                        (
                            number[name],
                            *titles[name],
                            sorted(number[need] for need in needs[name]),
                            titles[name][0] in short,
                        )
                        for name in names
                    ],
                )
            )
    return found


def draw(app, doctree, docname):
    places = list(doctree.findall(Place))
    if not places:
        return
    known, uri = app.env.domaindata["std"]["labels"], app.builder.get_relative_uri
    whole = nodes.container(classes=["book-map"])
    for opening, chapters in rows():
        name = app.env.titles[opening].astext()
        link = nodes.reference("", name, internal=True, refuri=uri(docname, opening))
        whole += nodes.paragraph("", "", link, classes=["book-map-part"])
        boxes = nodes.bullet_list(bullet="*")
        for number, label, title, needs, short in chapters:
            page = known[label][0] if label in known else opening
            link = nodes.reference("", title, internal=True, refuri=uri(docname, page))
            line = nodes.paragraph("", "", nodes.inline("", f"{number}"), nodes.Text(" "), link)
            if needs:
                words = f" after {', '.join(map(str, needs))}"
                line += nodes.inline("", words, classes=["book-map-needs"])
            boxes += nodes.list_item("", line, classes=["short"] if short else [])
        whole += boxes
    for place in places:
        place.replace_self(whole)


def setup(app):
    sys.path.insert(0, str(ROOT / "tools" / "authors"))
    app.add_node(Place)
    app.add_directive("book-map", BookMap)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
