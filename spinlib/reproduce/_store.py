"""How an experiment is stored: FIGURE.npz, the arrays alone, and FIGURE.json, how they were made.

Until then the finished points lie in a folder FIGURE.DIGEST.parts of this very run, a file each, written by the
calling process: workers of a cluster need no folder in common.
"""

import contextlib
import functools
import hashlib
import json
import os
import platform
import shutil
from pathlib import Path

import numpy as np

import spinlib
from spinlib._core import check_flag, check_integer, check_type
from spinlib.reproduce._experiment import Point
from spinlib.reproduce._run import computed, digest, experiment, planned, put

DATA = Path(spinlib.__file__).parent / "data"
# made by a page's own code (tools/authors/train_language_models.py); trained weights (keep_weights.py there);
# large --size 1000
OF_PAGES = (
    "language_models",
    "language_model_weights",
    "icl_transformer_weights",
    "copying_networks",
    "large_1000",
)
ASKED = {
    "figure": "figure",
    "full": "quick or full",
    "rng": "seed",
    "device": "device",
    "plan": "points",
    "code": "code or numpy",
}


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
    size: int | None = None,
) -> dict[str, np.ndarray]:
    """Compute the experiment as :func:`run` does and store FIGURE.npz and FIGURE.json in ``folder``.

    Every finished point is kept in a folder FIGURE.DIGEST.parts until the result is written, so that the same call
    after an interruption goes on where it was; a result that is there already, of the same parameters, seed and code
    (all files of spinlib, and the version of numpy), is read.
    ``size`` is another size, where an experiment has one (large).
    Raises FileExistsError rather than write over a full run of other parameters, seed or code, unless ``replace``.

    >>> import os, tempfile
    >>> from spinlib.reproduce import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     arrays = save("amp_variances", folder)
    ...     sorted(os.listdir(folder))
    ['amp_variances.json', 'amp_variances.npz']
    """
    path = Path(folder) / f"{figure}.npz"
    asked, points, there = placed(
        figure, folder, full=full, rng=rng, device=device, replace=replace, size=size, jobs=jobs
    )
    if there:
        return there
    parts = path.with_suffix(f".{digest(asked)}.parts")
    arrays, wall, cpu = computed(asked, points, rng=rng, progress=progress, jobs=jobs, folder=parts)
    made = {
        "parameters": {  # the values that each takes, in the order in which they come
            name: [
                json.loads(value)
                for value in dict.fromkeys(json.dumps(p[name]) for p in points if name in p)
            ]
            for name in dict.fromkeys(name for point in points for name in point)
        },
        "points": len(points),
        "jobs": jobs,
        "seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "spinlib": spinlib.__version__,
    }
    write(path, arrays, asked | made)
    shutil.rmtree(parts)
    return arrays


def load(
    figure: str, folder: str | Path | None = None, *, full: bool = True
) -> dict[str, np.ndarray]:
    """Read the stored full run of the experiment ``figure``, or with ``full=False`` a stored quick one.

    The files are data of the package; ``folder``, or the environment variable SPINLIB_DATA, names another place. The
    training curves of the chapter on language models are read by ``load("language_models")``, the weights of its causal
    model by ``load("language_model_weights")``, and, the first axis for the run, those of trained nets of
    ``icl_transformer`` by ``load("icl_transformer_weights")``, of nets that copy by ``load("copying_networks")``.
    ``load("large_1000")`` is the one run of ``large --size 1000``.
    Raises FileNotFoundError where there is no such file, and ValueError where it is damaged or made with other
    parameters than those of this version, each saying what to do.

    >>> from spinlib.reproduce import load
    >>> load("pspin_equilibrium")["energy_64"].shape     # (samples, temperatures)
    (40, 13)
    """
    made, path = about(figure, folder), _place(folder) / f"{figure}.npz"
    if figure not in OF_PAGES:
        asked = planned(figure, full=full)[0]
        if any(made.get(name) != asked[name] for name in ("figure", "full", "plan")):
            raise ValueError(
                f"{path} was made with other parameters: it is {made.get('figure')!r} with full="
                f"{made.get('full')} and {made.get('points')} points, asked for is {figure!r} with full={full}"
                f" as this version of spinlib plans it; {_remedy(figure, path.parent, full)}"
            )
    return _read(path, made)


def about(figure: str, folder: str | Path | None = None) -> dict:
    """How a stored run was made: seed, parameters, versions, seconds of all points together.

    Where the run was compared with published arrays, ``agreement`` holds the ``date`` and ``rows``, each of which
    gives ``what`` it is, its ``value``, the ``band`` wanted (or None), whether it was ``met``, and the number of
    ``points``. Errors are raised as by load.

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
        return dict(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise ValueError(f"{path} is damaged; {_remedy(figure, place, True)}") from None


def prose() -> tuple[str, str]:
    """The prose of this book at one time, in lower case: the part to learn from, and whole chapters held out.

    A paragraph is a line; each formula, number, reference and piece of code is the sign #.

    >>> from spinlib.reproduce import prose
    >>> [len(part) for part in prose()]
    [288692, 34730]
    """
    learn, held_out = (DATA / "book_prose.txt").read_text(encoding="utf-8").split("=\n")
    return learn, held_out


def placed(
    figure: str, folder: str | Path, *, rng: int, replace: bool, **settings
) -> tuple[dict, list[Point], dict[str, np.ndarray]]:
    """What is asked, its points, and its arrays where they are stored already; refused where a full run that is another
    would be replaced."""
    seed = check_integer("rng", rng, 0, "a stored run has a seed")
    asked, points = planned(figure, **settings)
    asked |= {"rng": seed, "code": code()}
    with contextlib.suppress(FileNotFoundError, ValueError):  # none there, or a damaged one
        made, path = about(figure, folder), Path(folder) / f"{figure}.npz"
        why = [words for name, words in ASKED.items() if made.get(name) != asked[name]]
        if not why:
            return asked, points, _read(path, made)
        if made.get("full") is True and not check_flag("replace", replace):
            raise FileExistsError(
                f"{path} is a full run (seed {made.get('rng')}, {made.get('points')} points, "
                f"{made.get('seconds')} s) that differs from what is asked in: {', '.join(why)}; "
                "name another folder, or say --replace (replace=True)"
            )
    return asked, points, {}


@functools.cache
def code() -> str:
    """Twenty letters that change with numpy and with any file of spinlib."""
    files = sorted(DATA.parent.rglob("*.py"))
    return digest([np.__version__, *(path.read_text(encoding="utf-8") for path in files)])


def _read(path: Path, made: dict) -> dict[str, np.ndarray]:
    if hashlib.sha256(path.read_bytes()).hexdigest() != made.get("sha256"):
        raise ValueError(
            f"{path} is damaged: it is not the file that {path.stem}.json describes; "
            f"{_remedy(path.stem, path.parent, bool(made.get('full')))}"
        )
    with np.load(path) as file:
        return dict(file)


def _place(folder: str | Path | None) -> Path:
    if folder is not None:
        check_type("folder", folder, (str, os.PathLike), "name a folder")
    return Path(folder or os.environ.get("SPINLIB_DATA") or DATA)


def _remedy(figure: str, folder: str | Path, full: bool) -> str:
    if figure in OF_PAGES:
        return "take the file from the repository of the book"
    return f"make the file: python -m spinlib.reproduce {figure}{' --full' if full else ''} --out {folder}"


def write(path: Path, arrays: dict[str, np.ndarray], made: dict) -> None:
    """The arrays as ``path``, an npz file, and beside it, as json, how they were made."""
    put(
        path,
        lambda file: np.savez_compressed(file, **arrays),  # type: ignore[arg-type]
    )
    write_json(
        path.with_suffix(".json"), {**made, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    )


def write_json(path: Path, values: dict) -> None:
    """Named values, a line for each."""
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()
    )
    put(path, lambda file: file.write(f"{{\n{lines}\n}}\n".encode()))
