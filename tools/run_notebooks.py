"""Run chapters in place, each in a fresh kernel, storing outputs but no timing metadata.

python tools/run_notebooks.py                         every chapter, the front page, the solutions of the sheets
python tools/run_notebooks.py pspin/replica_method    one or several, by name or path; intro is the front page
"""

import difflib
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["PYTHONPATH"] = str(ROOT)
os.environ["PYTHONWARNINGS"] = (
    "error::RuntimeWarning"  # as in conftest.py: nothing unconverged is shown unannounced
)
os.environ.pop("MPLBACKEND", None)  # likewise: with agg no notebook would show a figure
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def find(name: str) -> pathlib.Path:
    chapters = ROOT / "chapters"
    for path in (
        pathlib.Path(name),
        chapters / name,
        chapters / f"{name}.ipynb",
        ROOT / f"{name}.ipynb",
    ):
        if path.is_file():
            return path.resolve()
    known = [
        str(p.relative_to(ROOT).with_suffix("")).removeprefix("chapters/") for p in all_chapters()
    ]
    near = [
        one
        for one in known
        if difflib.get_close_matches(name.rpartition("/")[2], [one.rpartition("/")[2]])
    ]
    words = f"perhaps {' or '.join(near)}" if near else "there are:\n  " + "\n  ".join(known)
    sys.exit(f"no chapter {name!r}; {words}")


def all_chapters():
    found = [
        ROOT / "intro.ipynb",
        *(ROOT / "chapters").rglob("*.ipynb"),
        *(ROOT / "course").rglob("*.ipynb"),
    ]
    return sorted(p for p in found if ".ipynb_checkpoints" not in p.parts)


def run(path: pathlib.Path) -> float:
    start = time.perf_counter()
    import nbformat  # here: the tests import this file for its lists, and these take seconds
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        record_timing=False,
        coalesce_streams=True,
        kernel_name="python3",
        extra_arguments=[
            "--IPKernelApp.log_level=ERROR"
        ],  # not that its sockets are of this machine
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = METADATA
    nbformat.write(notebook, path)
    return time.perf_counter() - start


if __name__ == "__main__":
    for chapter in [find(name) for name in sys.argv[1:]] or all_chapters():
        print(f"== {chapter.relative_to(ROOT)} ...", flush=True)
        print(f"   {run(chapter):.1f} s", flush=True)
