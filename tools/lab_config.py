"""Settings of `make lab`: the whole book is in reach, and saving a chapter changes only what its author changed."""

import os
import pathlib
import warnings

# As tools/run_notebooks.py stores it. JupyterLab would write the reader's Python version into every file that it saves.
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def keep_metadata(model, **_):
    """A notebook of Python is saved with the metadata that the book's notebooks have."""
    if (
        model.get("type") == "notebook"
        and model["content"]["metadata"].get("kernelspec", {}).get("name") == "python3"
    ):
        model["content"]["metadata"] = {**METADATA}
        for cell in model["content"]["cells"]:
            for passing in ("execution", "trusted", "scrolled", "collapsed", "user_expressions"):
                cell["metadata"].pop(passing, None)


if "get_config" in globals():  # read by Jupyter, not imported by a test
    c = get_config()  # noqa: F821
    c.ServerApp.root_dir = str(pathlib.Path(__file__).resolve().parents[1])
    c.ServerApp.allow_root = (
        hasattr(os, "geteuid") and os.geteuid() == 0
    )  # in a container everyone is root
    c.LabApp.default_url = "/lab/tree/intro.ipynb"
    c.LabApp.app_settings_dir = str(
        pathlib.Path(__file__).with_name("lab_settings")
    )  # no question about news
    c.LabApp.news_url = None  # and no request
    c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
    warnings.filterwarnings(
        "ignore", "Overriding existing pre_save_hook"
    )  # Jupyter reads this file more than once
    c.FileContentsManager.pre_save_hook = keep_metadata
