"""Local Sphinx extension: once there is an address, buttons to repository, source, issue and edit, to Colab and Binder.

Binder opens the notebook of the repository, in the environment of .binder. Colab opens the one of the branch
"notebooks", where the workflow that publishes the book puts the notebooks of _sources: their first cell installs the
package of the book, as it was when the page was built (book_setup.py). Neither has been tried online yet.

The front page has a place for it too, a container of the class book-address, which is empty without one.

The address is `repository: url` in _config.yml, or the variable REPOSITORY_URL (set by the workflow that publishes the
book); without one there are no buttons, because they would lead nowhere.
"""

import os

from docutils import nodes


NOTEBOOKS = "notebooks"  # the branch; .github/workflows/pages.yml fills it
LAUNCH = {
    "notebook_interface": "jupyterlab",
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}


def buttons(app, config):
    options = config.html_theme_options
    address = (os.environ.get("REPOSITORY_URL") or options.get("repository_url") or "").rstrip("/")
    options["repository_url"] = address
    branch = os.environ.get("REPOSITORY_BRANCH") or options.get("repository_branch")
    options["repository_branch"] = branch or "main"
    for button in ("repository", "source", "issues", "edit_page"):
        options[f"use_{button}_button"] = bool(address)
    options["launch_buttons"] = LAUNCH if address else {}


def to_the_branch(app, pagename, templatename, context, doctree):
    """Colab opens the notebook that brings its package with it."""
    branch = app.config.html_theme_options["repository_branch"]
    for group in context.get("header_buttons", []):
        for button in group.get("buttons") or []:
            if button.get("text") == "Colab":
                button["url"] = button["url"].replace(f"/blob/{branch}/", f"/blob/{NOTEBOOKS}/")


def say_address(app, doctree):
    address = app.config.html_theme_options.get("repository_url")
    for place in doctree.findall(nodes.container):
        if "book-address" in place["classes"] and address:
            link = nodes.reference("", address.split("//")[-1], refuri=address)
            words = nodes.Text("The source of the book, and the place for corrections: ")
            place += nodes.paragraph("", "", words, link, nodes.Text("."))


def setup(app):
    app.connect("config-inited", buttons, priority=100)  # before the theme looks
    app.connect("doctree-read", say_address)
    app.connect(
        "html-page-context", to_the_branch, priority=900
    )  # when the theme has made its buttons
    return {"parallel_read_safe": True, "parallel_write_safe": True}
