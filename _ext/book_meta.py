"""Local Sphinx extension: what a search engine or a messenger shows of a page: title, two sentences, one address.

The address of the published book is `html: baseurl` in _config.yml, or the variable BOOK_URL (set by the workflow that
publishes the book); without one no page claims an address. (sphinxext-opengraph claims one, og:url, without any, and
skips boxes when it describes a page, so that a chapter would not say what its reader will be able to do.)
"""

import html
import os
import re

from docutils import nodes

LENGTH = 200  # signs: what is shown of a description
CARD = "/_static/card.png"  # by tools/authors/social_card.py
CARD_SHOWS = (
    "The mark of the book, an attention matrix with spins on its diagonal, beside its title"
)


def description(doctree) -> str:
    """What the reader will be able to do, where the page says so; else its first paragraph; whole words."""
    paragraphs = [line for line in doctree.findall(nodes.paragraph) if len(line.astext()) > 40]
    able = [line for line in paragraphs if line.astext().startswith("You will be able to")]
    if not paragraphs:
        return ""
    says = (able or paragraphs)[0].findall(lambda node: isinstance(node, (nodes.Text, nodes.math)))
    text = re.sub(r"\s+", " ", "".join(part.astext() for part in says)).strip()
    short = text[:LENGTH].rsplit(" ", 1)[0].rstrip(" ,;:") + " ..."
    return text if len(text) <= LENGTH else short


def add(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    words = description(doctree)
    says = [
        ("name", "description", words),
        ("property", "og:type", "article"),
        ("property", "og:site_name", app.config.html_title),
        ("property", "og:title", re.sub("<[^>]*>", "", context["title"])),
        ("property", "og:description", words),
    ]
    if address := app.config.html_baseurl:
        says += [
            ("name", "twitter:card", "summary_large_image"),
            ("property", "og:url", context["pageurl"]),
            ("property", "og:image", address.rstrip("/") + CARD),
            ("property", "og:image:alt", CARD_SHOWS),
        ]
    for kind, name, value in says:
        if value:
            value = html.escape(html.unescape(value))
            context["metatags"] += f'\n<meta {kind}="{name}" content="{value}">'


def address(app, config):
    config.html_baseurl = os.environ.get("BOOK_URL") or config.html_baseurl
    config.html_theme_options["logo"] = {
        "text": config.html_title,
        "alt_text": "The mark of the book",
    }


def setup(app):
    app.connect("config-inited", address, priority=100)
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
