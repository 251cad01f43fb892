"""Draw the frames of the moving figures ("players") of a chapter into _static/frames.

python tools/authors/make_frames.py pspin/replica_method            every player of the chapter
python tools/authors/make_frames.py pspin/replica_method free-energy    one of them
python tools/authors/make_frames.py --check pspin/replica_method    compare with what is stored, write nothing

A player NAME is a code cell whose metadata mystnb.image.classes has "player-NAME still-K"; the cell's output is the
still picture, frame K. The code of the chapter defines NAME_frames, a list of short labels, and NAME_picture(k), which
returns the figure of frame k (hyphens of NAME are underscores there). Frames become _static/frames/NAME/00.png ..., all
of one size, and a line in _static/frames/frames.js, which _static/player.js plays. --check compares labels, sizes and
code: the pixels of a picture differ a little from machine to machine.
"""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.transforms import Bbox
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from run_notebooks import find

FRAMES = ROOT / "_static" / "frames"
HEAD = """// Labels and pixels of every moving figure. Written by tools/authors/make_frames.py; player.js plays it.
window.players = {};
"""


def players(notebook: dict) -> dict[str, str]:
    """The players of a notebook: name -> fingerprint of the code that draws the frames (the cells that mention it)."""
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    found = {}
    for cell in code:
        classes = cell["metadata"].get("mystnb", {}).get("image", {}).get("classes", "")
        for name in re.findall(r"\bplayer-([a-z0-9-]+)", classes):
            about = re.compile(rf"\b{name.replace('-', '_')}_(frames|picture)\b")
            drawn = [
                "".join(c["source"])
                for c in code
                if c is cell or about.search("".join(c["source"]))
            ]
            found[name] = hashlib.sha256("\n\n".join(drawn).encode()).hexdigest()[:12]
    return found


def manifest(folder: pathlib.Path = FRAMES) -> dict[str, dict]:
    """What frames.js says: name -> {"size": [w, h], "labels": [...], "code": fingerprint}."""
    path = folder / "frames.js"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    entries = [re.fullmatch(r'players\["([a-z0-9-]+)"\] = (\{.*\});', line) for line in lines]
    return {m[1]: json.loads(m[2]) for m in entries if m}


def run(notebook: dict, folder: pathlib.Path) -> dict:
    """The names that the chapter's code defines: its cells run in one namespace as its kernel would, in its folder."""
    space, before, path = {"__name__": "__main__"}, os.getcwd(), list(sys.path)
    sys.path.insert(0, str(ROOT))
    os.chdir(folder)
    try:
        for cell in notebook["cells"]:
            tags = set(cell["metadata"].get("tags", []))
            if cell["cell_type"] != "code" or "skip-execution" in tags:
                continue
            may_fail = (
                contextlib.suppress(Exception)
                if "raises-exception" in tags
                else contextlib.nullcontext()
            )
            with may_fail, contextlib.redirect_stdout(io.StringIO()):
                exec(compile("".join(cell["source"]), f"cell {cell['id']}", "exec"), space)
            plt.close("all")
    finally:
        os.chdir(before)
        sys.path[:] = path
    return space


def draw(space: dict, name: str) -> tuple[list[str], list[bytes], tuple[int, int]]:
    """Labels, PNG files and their common size in pixels."""
    variable = name.replace("-", "_")
    for needed in (f"{variable}_frames", f"{variable}_picture"):
        if needed not in space:
            sys.exit(f"the cell has the class player-{name}, but its chapter defines no {needed}")
    from spinlib.plotting import style

    labels, pictures = [str(label) for label in space[f"{variable}_frames"]], []
    with style():
        figures = []
        for k in range(len(labels)):
            figure = space[f"{variable}_picture"](k)
            if not isinstance(figure, plt.Figure):
                sys.exit(
                    f"{variable}_picture({k}) must return a matplotlib figure, not {type(figure).__name__}"
                )
            figures.append(figure)
            plt.close(figure)
        boxes = []
        for figure in figures:  # one frame around all: nothing jumps
            figure.draw_without_rendering()
            boxes.append(figure.get_tightbbox())
        if not boxes:
            sys.exit(f"{variable}_frames is empty")
        box = Bbox.union(boxes).padded(0.08)
        for figure in figures:
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=130, bbox_inches=box, facecolor="white")
            pictures.append(Image.open(buffer).convert("RGB"))
    size = pictures[0].size
    assert all(picture.size == size for picture in pictures)
    return labels, [small(picture) for picture in pictures], size


def small(picture: Image.Image) -> bytes:
    """A PNG with at most 256 colours."""
    buffer = io.BytesIO()
    few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def main(
    chapter: str, wanted: list[str], check: bool = False, folder: pathlib.Path = FRAMES
) -> int:
    path = find(chapter)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    there = players(notebook)
    if unknown := [name for name in wanted or there if name not in there] or not there:
        sys.exit(
            f"{path.name}: no cell has the class player-{unknown[0]}"
            if wanted
            else f"{path.name} has no player"
        )
    space, entries, wrong = run(notebook, path.parent), manifest(folder), 0
    for name in wanted or there:
        labels, files, size = draw(space, name)
        entry = {"size": list(size), "labels": labels, "code": there[name]}
        if check:
            same = entries.get(name) == entry
            wrong += not same
            differs = f"DIFFERS from {folder / 'frames.js'}: {entry} against {entries.get(name)}"
            print(f"{name}: " + ("as stored" if same else differs))
            continue
        entries[name] = entry
        (folder / name).mkdir(parents=True, exist_ok=True)
        for old in (folder / name).glob("*.png"):
            old.unlink()
        for k, data in enumerate(files):
            (folder / name / f"{k:02d}.png").write_bytes(data)
        weights = [len(data) / 1000 for data in files]
        print(
            f"{name}: {len(files)} frames of {size[0]} x {size[1]} pixels, {sum(weights):.0f} kB, "
            f"the largest {max(weights):.0f} kB"
        )
    if not check:
        lines = [
            f"players[{json.dumps(name)}] = {json.dumps(entry, ensure_ascii=False)};\n"
            for name, entry in sorted(entries.items())
        ]
        (folder / "frames.js").write_text(HEAD + "".join(lines), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(arguments[0], arguments[1:], check="--check" in sys.argv))
