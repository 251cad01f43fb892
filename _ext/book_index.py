"""Local Sphinx extension: the page of the general index is filled from the chapters when it is read."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = "chapters/reference/index"


def fill(app, page, text):
    if page == PAGE:
        import subjects

        text[0] += subjects.index()


def read_again(app, env, added, changed, removed):
    return [PAGE] if PAGE in env.found_docs else []


def setup(app):
    sys.path.insert(0, str(ROOT / "tools" / "authors"))
    app.connect("source-read", fill)
    app.connect("env-get-outdated", read_again)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
