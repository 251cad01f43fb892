"""Local Sphinx extension: the general index and the table of exercises are filled when they are read."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def index():
    import subjects

    return subjects.index()


def table():
    import exercises

    return exercises.table()


PAGES = {"chapters/reference/index": index, "chapters/problems/exercises": table}


def fill(app, page, text):
    if page in PAGES:
        text[0] += PAGES[page]()


def read_again(app, env, added, changed, removed):
    return [page for page in PAGES if page in env.found_docs]


def setup(app):
    sys.path.insert(0, str(ROOT / "tools" / "authors"))
    app.connect("source-read", fill)
    app.connect("env-get-outdated", read_again)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
