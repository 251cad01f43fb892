"""Local Sphinx extension: the directive book-map draws the map of the book, a stop on a line for each chapter.

Where the page is wide enough the map is an SVG: one column for each part, one line through all chapters of the spine,
and the further chapters below it. Each stop is a link, and its tooltip names the chapters that its reader needs, as
the lines under the titles have them. On a phone the same stops are a list of links.
"""

import html
import pathlib
import sys
import textwrap

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


WIDTH, LINE, GAP, TOP = (
    700,
    15,
    12,
    58,
)  # px: of the drawing, a line of text, between stops, of the first stop
LETTERS = 18  # in a line of a title, in a column of five


def stops(chapters, x, y, letters):
    """[(x, y of the dot, lines of the title, chapter)] of a column, and where it ends."""
    found = []
    for chapter in chapters:
        lines = textwrap.wrap(f"{chapter[0]} {chapter[2]}", letters)
        found.append((x, y, lines, chapter))
        y += LINE * len(lines) + GAP
    return found, y


def label(x, y, lines, chapter, uri):
    """A stop: a dot and its title, one link."""
    number, _, title, needs, short = chapter
    words = f"{number} {title}" + (f", after {', '.join(map(str, needs))}" if needs else "")
    words += ", a station of the short book" if short else ""
    text = "".join(
        f'<tspan x="{x + 13}" y="{y + 4 + LINE * k}">{html.escape(line)}</tspan>'
        for k, line in enumerate(lines)
    )
    dot = f'<circle cx="{x}" cy="{y}" r="{6 if short else 5}"/>'
    kind = ' class="short"' if short else ""
    return f'<a href="{html.escape(uri)}"{kind}><title>{html.escape(words)}</title>{dot}<text>{text}</text></a>'


def svg(parts, uri_of, uri_of_part):
    """The map as a drawing: [(page of a part, its name, its chapters)], further chapters last."""
    *columns, (further_page, further_name, further) = parts
    step, body, ends, spine = WIDTH / len(columns), [], [], []
    for k, (page, name, chapters) in enumerate(columns):
        x = 8 + round(k * step)
        lines = textwrap.wrap(name, LETTERS + 1)
        head = "".join(
            f'<tspan x="{x - 6}" y="{13 + LINE * j}">{html.escape(line)}</tspan>'
            for j, line in enumerate(lines)
        )
        body.append(
            f'<a href="{html.escape(uri_of_part(page))}" class="part"><text>{head}</text></a>'
        )
        found, end = stops(chapters, x, TOP + 6, LETTERS)
        ends.append(end)
        spine.append([(x, y) for x, y, _, _ in found])
        body += [label(*stop, uri_of(stop[3])) for stop in found]
    path = ""
    for k, points in enumerate(spine):
        (x, first), (_, last) = points[0], points[-1]
        path += f"M{x},{first}V{last}"
        if k + 1 < len(spine):  # to the next part: down, up between the columns, and down again
            to, low = spine[k + 1][0][0], ends[k] - GAP + 2
            turn = to - 13
            path += f"V{low - 8}q0,8 8,8H{turn - 8}q8,0 8,-8V{first + 2}q0,-12 13,-12V{first}"
    y = max(ends) + 30
    name = f'<text><tspan x="2" y="{y}">{html.escape(further_name)}</tspan></text>'
    body.append(f'<a href="{html.escape(uri_of_part(further_page))}" class="part">{name}</a>')
    third, low = -(-len(further) // 3), y
    for k in range(3):
        found, end = stops(
            further[k * third : (k + 1) * third], 8 + round(k * WIDTH / 3), y + 24, 34
        )
        body += [label(*stop, uri_of(stop[3])) for stop in found]
        low = max(low, end)
    return (
        f'<svg class="book-map-drawn" viewBox="0 0 {WIDTH} {low}" role="group" '
        'aria-label="Map of the book: its chapters as stops on one line">'
        f'<path d="{path}"/>{"".join(body)}</svg>'
    )


def listed(parts, uri_of, uri_of_part):
    """The same stops as a list of links, for a phone and for readers without pictures."""
    whole = nodes.container(classes=["book-map"])
    for opening, name, chapters in parts:
        link = nodes.reference("", name, internal=True, refuri=uri_of_part(opening))
        whole += nodes.paragraph("", "", link, classes=["book-map-part"])
        stops = nodes.bullet_list(bullet="*")
        for chapter in chapters:
            number, _, title, _, short = chapter
            link = nodes.reference("", title, internal=True, refuri=uri_of(chapter))
            line = nodes.paragraph("", "", nodes.inline("", f"{number}"), nodes.Text(" "), link)
            stops += nodes.list_item("", line, classes=["short"] if short else [])
        whole += stops
    return whole


def draw(app, doctree, docname):
    places = list(doctree.findall(Place))
    if not places:
        return
    known, uri = app.env.domaindata["std"]["labels"], app.builder.get_relative_uri
    page_of = {c[1]: known.get(c[1], (opening,))[0] for opening, found in rows() for c in found}
    parts = [(opening, app.env.titles[opening].astext(), found) for opening, found in rows()]

    def links(chapter):
        return uri(docname, page_of[chapter[1]])

    def to_part(page):
        return uri(docname, page)

    for place in places:
        drawn = nodes.raw("", svg(parts, links, to_part), format="html")
        place.replace_self([drawn, listed(parts, links, to_part)])


def setup(app):
    sys.path.insert(0, str(ROOT / "tools" / "authors"))
    app.add_node(Place)
    app.add_directive("book-map", BookMap)
    app.connect("doctree-resolved", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
