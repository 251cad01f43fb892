"""Local Sphinx extension: the built pages without what the tools under them get wrong.

Each row below says what a page has, what it gets instead, and why; tools/check_pages.py looks for some of them again.
"""

import pathlib
import re

MENDED = [
    (re.compile(pattern), instead)
    for pattern, instead in (
        # thebe is off: its script would be there twice, and the second time an error
        (r"\s*<script>const THEBE_JS_URL.*?</script>", ""),
        (r"\s*<script [^>]*sphinx-thebe\.js[^>]*></script>", ""),
        (r"\s*<link [^>]*sphinx-thebe\.css[^>]*>", ""),
        # the icons are asked for before they are needed, in a way that a page from disk may not
        (r'\s*<link rel="preload" as="font" [^>]*fontawesome[^>]*>', ""),
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


def mended(text: str) -> str:
    for pattern, instead in MENDED:
        text = pattern.sub(instead, text)
    return text


def mend(app, error):
    if error is None and app.builder.format == "html":
        for path in pathlib.Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            if (better := mended(text)) != text:
                path.write_text(better, encoding="utf-8")


def setup(app):
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
