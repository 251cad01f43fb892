"""The command line: ``python -m spinlib.reproduce --list`` and ``FIGURE|all [--full] [--jobs N] [--out DIR]``."""

import argparse
import json
import sys
import textwrap
from pathlib import Path


from spinlib._core import check_device, need
from spinlib.reproduce._run import describe, experiment, names, put, takes
from spinlib.reproduce._store import DATA, about, placed, save

OPTIONS: dict[str, tuple[str, dict]] = {
    "--list": ("the names; with a name, all of its arrays", {"action": "store_true"}),
    "--full": (
        "the parameters of the stored file; default: of the page",
        {"action": "store_true"},
    ),
    "--jobs": (
        "points computed side by side (default 1)",
        {"type": int, "default": 1, "metavar": "N"},
    ),
    "--size": ("another size, where an experiment has one (large)", {"type": int, "metavar": "D"}),
    "--rng": ("seed (default 0)", {"type": int, "default": 0, "metavar": "SEED"}),
    "--out": (
        "folder (default: this one)",
        {"type": Path, "default": Path("."), "metavar": "DIR"},
    ),
    "--replace": ("write over a stored full run that is another one", {"action": "store_true"}),
    "--device": ("of torch, where an experiment uses it: cpu (default), cuda", {"default": "cpu"}),
}


def main(arguments: list[str] | None = None) -> int:
    """The command line of ``python -m spinlib.reproduce``; bad input ends with code 2 and words, no traceback."""
    parser = argparse.ArgumentParser(
        prog="python -m spinlib.reproduce",
        allow_abbrev=False,
        description=(
            "Compute the numbers behind a figure: FIGURE.npz, FIGURE.json (how it was made) "
            "and FIGURE.png in one folder. "
            "Interrupted, the same command goes on with the points that are missing."
        ),
    )
    parser.add_argument("figure", nargs="?", help="a name of --list, or all")
    for name, (words, settings) in OPTIONS.items():
        parser.add_argument(name, help=words, **settings)
    options = vars(parser.parse_args(arguments))
    figure, listed, out = (options.pop(name) for name in ("figure", "list", "out"))
    asked = list(names()) if figure == "all" else [figure]
    try:
        if listed:
            print(
                "\n\n".join(f"{name}: {describe(name)}" for name in asked) if figure else _listing()
            )
            return 0
        for package in ("tqdm", "joblib", "matplotlib"):
            need(package, "the command line")
        alone = {
            name: figure != "all" or takes("device", experiment(name).compute) for name in asked
        }
        own = {name: options if alone[name] else {**options, "device": "cpu"} for name in asked}
        for name in asked:
            placed(name, out, **own[name])
        if options["device"] != "cpu":
            check_device(options["device"])
        put(out / "trial", lambda file: None)  # a folder of another is refused before the work
        (out / "trial").unlink()
    except (OSError, ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    for name in asked:
        try:
            result = save(name, out, progress=True, **own[name])
            _draw(name, result, out / f"{name}.png")
        except (KeyboardInterrupt, OSError) as error:
            words = str(error) or "interrupted"
            print(f"\n{name}: {words}; the same command goes on from there", file=sys.stderr)
            return 1 if isinstance(error, OSError) else 130
        made = about(name, out)
        print(f"{out / name}.npz, .png: {made['points']} points, {made['seconds']} s")
        if say := experiment(name).say:
            print(say(result))
    return 0


def _listing() -> str:
    """A row for each experiment: its name, processor seconds of its quick and of its full run, and what it is."""
    measured = json.loads(  # quick, and full where none is stored
        (DATA / "seconds.json").read_text(encoding="utf-8")
    )
    rows = ["processor seconds:   quick   full"]
    for name, sentence in names().items():
        full = (
            about(name, DATA)["cpu_seconds"] if (DATA / f"{name}.json").exists() else float("nan")
        )
        seconds = [*measured.get(name, [float("nan")]), full][:2]
        row = f"{name:19}{seconds[0]:7.1f}{seconds[1]:7.0f}  {sentence}"
        rows.append(textwrap.fill(row, 100, subsequent_indent=" " * 35))
    return "\n".join(rows)


def _draw(name: str, result: dict, path: Path) -> None:
    """Draw the picture of an experiment."""
    from matplotlib.figure import Figure

    from spinlib import plotting

    with plotting.style():
        figure = Figure(figsize=(6.4, 5.2))  # taller than on a page: some stack several panels
        experiment(name).draw(figure, result, plotting.COLOR)
        put(path, lambda file: figure.savefig(file, format="png"))


if __name__ == "__main__":
    sys.exit(main())
