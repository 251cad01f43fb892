"""Local Sphinx extension: buttons to the repository, to an issue and to edit the page, once there is an address.

The address is `repository: url` in _config.yml, or the variable REPOSITORY_URL (set by the workflow that publishes the
book); without one there are no buttons, because they would lead nowhere.
"""
import os


def buttons(app, config):
    options = config.html_theme_options
    address = (os.environ.get("REPOSITORY_URL") or options.get("repository_url") or "").rstrip("/")
    options["repository_url"] = address
    options["repository_branch"] = os.environ.get("REPOSITORY_BRANCH") or options.get("repository_branch") or "main"
    for button in ("use_repository_button", "use_issues_button", "use_edit_page_button"):
        options[button] = bool(address)


def setup(app):
    app.connect("config-inited", buttons, priority=100)  # before the theme looks
    return {"parallel_read_safe": True, "parallel_write_safe": True}
