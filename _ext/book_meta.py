"""Local Sphinx extension: what a search engine or a messenger shows of a page: title, two sentences, one address.

And what they ask for beside the pages: index.html, which is the front page itself; robots.txt, a map of the site
once it has an address, and a page that says that there is no such page.

The address of the published book is `html: baseurl` in _config.yml, or the variable BOOK_URL (set by the workflow that
publishes the book); without one no page claims an address. (sphinxext-opengraph claims one, og:url, without any, and
skips boxes when it describes a page, so that a chapter would not say what its reader will be able to do.)
"""

import html
import os
import pathlib
import re
import shutil

from docutils import nodes

LENGTH = 200  # signs: what is shown of a description
CLAIM = (  # of the front page and of the card
    "The training loss of a small transformer is the energy of a spin glass: "
    "the weights are the spins, the prompts the disorder. An executable book"
)
CARD = "/_static/card.png"  # by tools/authors/social_card.py
CARD_SHOWS = (
    "The mark of the book, an attention matrix with spins on its diagonal, beside its title"
)


def shortened(text: str) -> str:
    """As many whole sentences, or else parts of a sentence, as ``LENGTH`` signs have room for.

    >>> shortened("One sentence. " + "Another " * 30)
    'One sentence.'
    >>> shortened("You will be able to " + "solve glasses, " * 20)[-16:]
    ', solve glasses.'
    """
    if len(text) <= LENGTH:
        return text
    whole = re.match(rf".{{12,{LENGTH}}}[.?!](?= )", text)
    parts = re.match(rf"(.{{12,{LENGTH}}})[,;:] ", text) or re.match(rf"(.{{1,{LENGTH}}}) ", text)
    return whole[0] if whole else f"{parts[1]}." if parts else text[:LENGTH]


def description(doctree) -> str:
    """What the reader will be able to do, where the page says so; else its first paragraph; whole words."""
    paragraphs = [line for line in doctree.findall(nodes.paragraph) if len(line.astext()) > 40]
    able = [line for line in paragraphs if line.astext().startswith("You will be able to")]
    if not paragraphs:
        return ""
    says = (able or paragraphs)[0].findall(lambda node: isinstance(node, (nodes.Text, nodes.math)))
    return shortened(re.sub(r"\s+", " ", "".join(part.astext() for part in says)).strip())


def add(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    address = app.config.html_baseurl.rstrip("/")
    words = f"{CLAIM}." if pagename == app.config.root_doc else description(doctree)
    if address and pagename == app.config.root_doc:
        context["pageurl"] = f"{address}/"  # index.html is the same page
    says = [
        ("name", "description", words),
        ("property", "og:type", "article"),
        ("property", "og:site_name", app.config.html_title),
        ("property", "og:title", re.sub("<[^>]*>", "", context["title"])),
        ("property", "og:description", words),
    ]
    if address:
        says += [
            ("name", "twitter:card", "summary_large_image"),
            ("property", "og:url", context["pageurl"]),
            ("property", "og:image", address + CARD),
            ("property", "og:image:alt", CARD_SHOWS),
        ]
    for kind, name, value in says:
        if value:
            value = html.escape(html.unescape(value))
            context["metatags"] += f'\n<meta {kind}="{name}" content="{value}">'


NOT_HERE = """
<h1>There is no such page</h1>
<p>The address may be old or mistyped. The <a href="index.html">front page</a> has the map of the book, and
<a href="search.html">the search</a> finds its words.</p>
"""


def no_such_page(app):
    yield "404", {"title": "There is no such page", "body": NOT_HERE}, "page.html"


def beside_the_pages(app, error):
    """index.html, robots.txt, and with an address sitemap.xml and links of 404.html that hold at any depth."""
    if error is not None or app.builder.format != "html":
        return
    out, address = pathlib.Path(app.outdir), app.config.html_baseurl.rstrip("/")
    shutil.copyfile(out / f"{app.config.root_doc}.html", out / "index.html")
    robots = "User-agent: *\nAllow: /\n"
    if address:
        lost = (out / "404.html").read_text(encoding="utf-8")
        if "<base " not in lost:
            lost = lost.replace("<head>", f'<head>\n    <base href="{html.escape(address)}/">', 1)
            (out / "404.html").write_text(lost, encoding="utf-8")
        robots += f"Sitemap: {address}/sitemap.xml\n"
        pages = (
            "" if page == app.config.root_doc else f"{page}.html"
            for page in sorted(app.env.found_docs)
        )
        places = "".join(
            f"<url><loc>{html.escape(f'{address}/{page}')}</loc></url>\n" for page in pages
        )
        (out / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n',
            encoding="utf-8",
        )
    (out / "robots.txt").write_text(robots, encoding="utf-8")


def address(app, config):
    config.html_baseurl = os.environ.get("BOOK_URL") or config.html_baseurl
    config.html_theme_options["logo"] = {
        "text": config.html_title,
        "alt_text": "The mark of the book",
    }


def setup(app):
    app.connect("config-inited", address, priority=100)
    app.connect("html-page-context", add)
    app.connect("html-collect-pages", no_such_page)
    app.connect("build-finished", beside_the_pages, priority=950)  # when the pages are mended
    return {"parallel_read_safe": True, "parallel_write_safe": True}
