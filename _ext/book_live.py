"""Local Sphinx extension: a page loads the scripts and styles of the live figures that it shows, and of no others.

Jupyter Book puts every script and style of _static on every page; those of _static/explore are large, and few pages
have a figure.
"""

import re

OWN = re.compile(r"(?:.*/)?explore/([a-z0-9-]+)\.(?:js|css)(?:\?.*)?")
SHOWN = re.compile(r'<img [^>]*class="(?:[^"]* )?explore-([a-z0-9-]+)[" ]')


def needed(files: list, body: str) -> list:
    """Those of the files, which have a ``filename`` each, that a page with this body must load."""
    shown = set(SHOWN.findall(body))
    wanted = shown | {"explore", "physics"} if shown else set()
    names = [OWN.fullmatch(str(getattr(file, "filename", file) or "")) for file in files]
    return [file for file, name in zip(files, names) if name is None or name[1] in wanted]


def keep(app, pagename, templatename, context, doctree):
    for key in ("script_files", "css_files"):
        context[key] = needed(context.get(key, []), context.get("body", ""))


def setup(app):
    app.connect("html-page-context", keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
