"""Local Sphinx extension: what a search engine or a messenger shows of a page: title, two sentences, one address.

The address of the published book is `html: baseurl` in _config.yml, or the variable BOOK_URL (set by the workflow that
publishes the book); without one no page claims an address.
"""

import html
import os
import re

from docutils import nodes

LENGTH = 200  # signs: what is shown of a description


def description(doctree) -> str:
    """What the reader will be able to do, where the page says so; else its first paragraph; whole words."""
    boxes = [
        box for box in doctree.findall(nodes.admonition) if box[0].astext() == "In this chapter"
    ]
    within = boxes[0] if boxes else doctree
    paragraph = next(
        (node for node in within.findall(nodes.paragraph) if len(node.astext()) > 40), None
    )
    if paragraph is None:
        return ""
    parts = [
        node.astext()
        for node in paragraph.findall(lambda node: isinstance(node, (nodes.Text, nodes.math)))
    ]
    text = re.sub(r"\s+", " ", "".join(parts)).strip()
    return text if len(text) <= LENGTH else text[:LENGTH].rsplit(" ", 1)[0].rstrip(" ,;:") + " ..."


def add(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    says = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": re.sub("<[^>]*>", "", context["title"]),
    }
    if words := description(doctree):
        context["metatags"] += f'\n<meta name="description" content="{html.escape(words)}">'
        says["og:description"] = words
    if app.config.html_baseurl:
        says["og:url"] = context["pageurl"]
        says["og:image"] = (
            app.config.html_baseurl.rstrip("/") + "/_static/card.png"
        )  # by tools/authors/social_card.py
        says["og:image:alt"] = (
            "The mark of the book, an attention matrix with spins on its diagonal, beside its title"
        )
        context["metatags"] += '\n<meta name="twitter:card" content="summary_large_image">'
    for name, value in says.items():
        context["metatags"] += (
            f'\n<meta property="{name}" content="{html.escape(html.unescape(value))}">'
        )


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
