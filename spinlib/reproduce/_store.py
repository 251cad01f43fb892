"""How an experiment is stored: FIGURE.npz, the arrays alone, and FIGURE.json, how they were made."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np

from spinlib import __version__
from spinlib._core import check_flag, check_integer
from spinlib._core._files import DAMAGED, atomic, read_arrays, write_arrays
from spinlib.reproduce._parts import Parts
from spinlib.reproduce._plan import Plan
from spinlib.reproduce._run import computed, experiment, planned

DATA = Path(__file__).resolve().parents[1] / "data"
# made by a page's own code (tools/authors/train_language_models.py); trained weights (keep_weights.py there)
OF_PAGES = (
    "language_models",
    "language_model_weights",
    "icl_transformer_weights",
    "copying_networks",
)


def save(
    figure: str,
    folder: str | Path,
    *,
    full: bool = False,
    rng: int = 0,
    progress: bool = False,
    jobs: int = 1,
    device: str = "cpu",
    replace: bool = False,
) -> dict[str, np.ndarray]:
    """Compute the experiment as :func:`run` does and store FIGURE.npz and FIGURE.json in ``folder``.

    Every finished point is kept in the folder FIGURE.parts until the result is written, so that the same call after an
    interruption goes on where it was; a result that is there already, of the same parameters, seed and code, is read.
    Raises FileExistsError rather than write over a full run of other parameters, seed or code, unless ``replace``.

    >>> import os, tempfile
    >>> from spinlib.reproduce import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     arrays = save("amp_variances", folder)
    ...     sorted(os.listdir(folder))
    ['amp_variances.json', 'amp_variances.npz']
    """
    rng = check_integer("rng", rng, 0, "a stored run has a seed")
    check_integer("jobs", jobs, 1, "it is the number of points computed side by side")
    plan, folder = planned(figure, full=full, rng=rng, device=device), Path(folder)
    check_place(plan, folder, check_flag("replace", replace))
    return stored(plan, folder, progress=progress, jobs=jobs)


def check_place(plan: Plan, folder: Path, replace: bool) -> None:
    """Refuse in words where the files of a plan cannot be written, or would replace a full run that is another."""
    path = folder / f"{plan.name}.npz"
    for file in (path, path.with_suffix(".json")):
        if file.is_dir():
            raise IsADirectoryError(
                f"{file} is a folder, but a file of this name is to be written; move it away"
            )
    if (parts := path.with_suffix(".parts")).exists() and not parts.is_dir():
        raise NotADirectoryError(
            f"{parts} is a file, but the finished points go into a folder of this name; "
            "move it away"
        )
    try:
        made = about(plan.name, folder)
    except (FileNotFoundError, ValueError):
        return
    if made.get("full") is True and not replace and (why := _differs(plan, made)):
        raise FileExistsError(
            f"{path} is a full run (seed {made.get('rng')}, {made.get('points')} points, {made.get('seconds')} s) that "
            f"differs from what is asked in: {', '.join(why)}; name another folder, or say --replace (replace=True)"
        )


def stored(plan: Plan, folder: Path, *, progress: bool, jobs: int) -> dict[str, np.ndarray]:
    """The arrays of a plan: read where they are stored already, else computed and stored."""
    path = folder / f"{plan.name}.npz"
    try:
        made = about(plan.name, folder)
        if not _differs(plan, made):
            return _read(path, made)
    except FileNotFoundError:
        pass
    except ValueError as error:
        print(f"{error.args[0].partition(';')[0]}; it is made again", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    parts = Parts(path.with_suffix(".parts"), plan)
    if words := parts.ignored():
        print(words, file=sys.stderr)
    result, seconds = computed(
        plan, rng=plan.settings["rng"], progress=progress, jobs=jobs, parts=parts
    )
    write(
        path,
        result,
        {
            "figure": plan.name,
            **plan.settings,
            "code": plan.code,
            "parameters": _parameters(plan.points),
            "points": len(plan.points),
            "plan": plan.digest,
            "jobs": jobs,
            "seconds": round(sum(s["wall"] for s in seconds), 1),
            "cpu_seconds": round(sum(s["cpu"] for s in seconds), 1),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "spinlib": __version__,
        },
    )
    parts.remove()
    return result


def _differs(plan: Plan, made: dict) -> list[str]:
    """In what a stored run is another one than the plan, in words."""
    names = {"full": "quick or full", "rng": "seed", "device": "device"}
    why = [words for name, words in names.items() if made.get(name) != plan.settings[name]]
    why += ["points"] * (made.get("plan") != plan.digest and "quick or full" not in why)
    return (
        why
        + ["figure"] * (made.get("figure") != plan.name)
        + ["code or numpy"] * (made.get("code") != plan.code)
    )


def load(
    figure: str, folder: str | Path | None = None, *, full: bool = True
) -> dict[str, np.ndarray]:
    """Read the stored full run of the experiment ``figure``, or with ``full=False`` a stored quick one.

    The files are data of the package; ``folder``, or the environment variable SPINLIB_DATA, names another place. The
    training curves of the chapter on language models are read by ``load("language_models")``, the weights of its causal
    model by ``load("language_model_weights")``, and, the first axis for the run, those of trained nets of
    ``icl_transformer`` by ``load("icl_transformer_weights")``, of nets that copy by ``load("copying_networks")``.
    Raises FileNotFoundError where there is no such file, and ValueError where it is damaged or made with other
    parameters than those of this version, each saying what to do.

    >>> from spinlib.reproduce import load
    >>> load("pspin_equilibrium")["energy_64"].shape     # (samples, temperatures)
    (40, 13)
    """
    if figure in OF_PAGES:
        return _read(_place(folder) / f"{figure}.npz", about(figure, folder))
    plan = planned(figure, full=full)
    made, path = about(figure, folder), _place(folder) / f"{figure}.npz"
    if (
        made.get("figure") != figure
        or made.get("full") is not full
        or made.get("plan") != plan.digest
    ):
        raise ValueError(
            f"{path} was made with other parameters: it is {made.get('figure')!r} with full="
            f"{made.get('full')} and {made.get('points')} points, asked for is {figure!r} with full={full}"
            f" as this version of spinlib plans it; {_remedy(figure, path.parent, full)}"
        )
    return _read(path, made)


def about(figure: str, folder: str | Path | None = None) -> dict:
    """How a stored run was made: seed, parameters, versions, seconds of all points together.

    Where the run was compared with published arrays, ``agreement`` holds the ``date`` and ``rows``, each with ``what``
    it is, ``value``, the ``band`` wanted (or None), whether it was ``met``, and how many ``points``. Errors as of load.

    >>> from spinlib.reproduce import about
    >>> about("amp_variances")["parameters"]["D"]
    [12, 16, 20, 28, 36, 48, 64]
    """
    if figure not in OF_PAGES:
        experiment(figure)
    place = _place(folder)
    for path in (place / f"{figure}.npz", place / f"{figure}.json"):
        if not path.is_file():
            raise FileNotFoundError(
                f"there is no {path}; name the folder that has it, as load({figure!r}, folder) or "
                f"in the environment variable SPINLIB_DATA, or {_remedy(figure, 'DIR', True)}"
            )
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(made, dict)
    except (ValueError, AssertionError):
        raise ValueError(f"{path} is damaged; {_remedy(figure, place, True)}") from None
    return made


def prose() -> tuple[str, str]:
    """The prose of this book as it stood once, in small letters: the part to learn from, and whole chapters held out.

    A paragraph is a line; each formula, number, reference and piece of code is the sign #.

    >>> from spinlib.reproduce import prose
    >>> [len(part) for part in prose()]
    [288692, 34730]
    """
    learn, held_out = (DATA / "book_prose.txt").read_text(encoding="utf-8").split("=\n")
    return learn, held_out


def _read(path: Path, made: dict) -> dict[str, np.ndarray]:
    if hashlib.sha256(path.read_bytes()).hexdigest() == made.get("sha256"):
        try:
            return read_arrays(path)
        except DAMAGED:
            pass
    raise ValueError(
        f"{path} is damaged: it is not the file that {path.stem}.json describes; "
        f"{_remedy(path.stem, path.parent, made.get('full'))}"
    )


def _place(folder: str | Path | None) -> Path:
    return Path(folder or os.environ.get("SPINLIB_DATA") or DATA)


def _remedy(figure: str, folder: str | Path, full: bool) -> str:
    if figure in OF_PAGES:
        return "take the file from the repository of the book"
    return f"make the file: python -m spinlib.reproduce {figure}{' --full' if full else ''} --out {folder}"


def _parameters(points: list[dict]) -> dict:
    """The values that each parameter takes, in the order in which they come."""
    names = dict.fromkeys(name for point in points for name in point)
    return {
        name: [
            json.loads(v) for v in dict.fromkeys(json.dumps(p[name]) for p in points if name in p)
        ]
        for name in names
    }


def write(path: Path, arrays: dict[str, np.ndarray], made: dict) -> None:
    """The arrays as ``path``, an npz file, and beside it, as json, how they were made."""
    write_arrays(path, arrays)
    write_json(
        path.with_suffix(".json"), {**made, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    )


def write_json(path: Path, values: dict) -> None:
    """Named values, a line for each."""
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()
    )
    with atomic(path) as temporary:
        temporary.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
