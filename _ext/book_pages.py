"""Local Sphinx extension: the built pages without what the tools under them get wrong.

Each row below says what a page has, what it gets instead, and why; tools/check_pages.py looks for some of them again.
"""

import pathlib
import re

from sphinx.util import logging

LOG = logging.getLogger(__name__)
MENDED = [
    (re.compile(pattern, re.S), instead)
    for pattern, instead in (
        # thebe is off: its script would be there twice, and the second time an error
        (r"\s*<script>const THEBE_JS_URL.*?</script>", ""),
        (r"\s*<script [^>]*sphinx-thebe\.js[^>]*></script>", ""),
        (r"\s*<link [^>]*sphinx-thebe\.css[^>]*>", ""),
        (
            r'\s*<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = [^<]*</script>',
            "",
        ),
        # the icons are asked for before they are needed, in a way that a page from disk may not; and all icons that
        # there are come twice, once as a script that keeps the page from appearing (book_icons.py)
        (r'\s*<link rel="preload" as="(?:font|script)" [^>]*fontawesome[^>]*>', ""),
        (r"\s*<script [^>]*fontawesome/[^>]*></script>", ""),
        (
            r'(<link href="[^"]*?_static/)vendor/fontawesome/[^"]*all\.min\.css[^"]*"',
            r'\1icons.css"',
        ),
        # the theme's first visit: no mode is stored, of which its script complains; the dark comes before the light
        (r'localStorage\.getItem\("mode"\) \|\| ""', 'localStorage.getItem("mode") || "auto"'),
        (
            r'localStorage\.getItem\("theme"\) \|\| ""',
            'localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
        ),
        # said twice
        (r"<title>([^<]*?) &#8212; \1</title>", r"<title>\1</title>"),
        (r'\s*<meta name="viewport" content="width=device-width, initial-scale=1"\s*/?>', ""),
        (r"(<script>var togglebuttonSelector[^<]*</script>)(.*?)\1", r"\1\2"),
        # a fold is called what is written on it, and so is the search button
        (r'<summary aria-label="Toggle hidden content">', "<summary>"),
        (r'(search-button-field[^>]*?) aria-label="Search"', r"\1"),
        # an arrow beside a part of the contents says what it opens
        (
            r'(href="[^"]*">([^<]*)</a><details[^>]*>)<summary>(?=<span class="toctree-toggle")',
            r'\1<summary aria-label="Pages of \2">',
        ),
        # a list has items, and the head of the sidebar is a region of the page
        (r'role="doc-biblioentry"', 'role="listitem"'),
        (
            r'<div class="bd-sidebar-primary bd-sidebar">',
            '<div class="bd-sidebar-primary bd-sidebar" role="region" aria-label="Book">',
        ),
    )
]


# What scripts of the tools tell the console about every page.
CHATTER = re.compile(r"console\.(?:log|debug|info)\(\s*(?:`[^`]*`|\"[^\"]*\"|'[^']*'|el)\s*,?\s*\)")


def mended(text: str, used: set[str]) -> str:
    """The text of a page after all rows; those that changed it are added to ``used``."""
    for pattern, instead in MENDED:
        better = pattern.sub(instead, text)
        if better != text:
            used.add(pattern.pattern)
        text = better
    return text


def mend(app, error):
    """Mend all pages. When all were new, a row that changed none of them is reported: the tool under it has changed."""
    if error is not None or app.builder.format != "html":
        return
    pages, used, new = sorted(pathlib.Path(app.outdir).rglob("*.html")), set(), 0
    for path in pages:
        text = path.read_text(encoding="utf-8")
        if (better := mended(text, used)) != text:
            path.write_text(better, encoding="utf-8")
            new += 1
    for pattern, _ in MENDED if new == len(pages) > 50 else ():
        if pattern.pattern not in used:
            LOG.warning("book_pages.py: nothing to mend any more: %s", pattern.pattern)
    for script in pathlib.Path(app.outdir, "_static").glob("**/*.js"):
        if script.name in ("togglebutton.js", "pydata-sphinx-theme.js", "sphinx-book-theme.js"):
            text = script.read_text(encoding="utf-8")
            script.write_text(CHATTER.sub("void 0", text), encoding="utf-8")


def setup(app):
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
