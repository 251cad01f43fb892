"""Moving figures: each player of a chapter has its frames, small, and drawn by the code that the chapter now has."""

import json
import pathlib
import re

import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).parents[2]
import make_frames

NOTEBOOKS = [ROOT / "intro.ipynb", *sorted((ROOT / "chapters").rglob("*.ipynb"))]
PLAYERS = [
    (path, name, code)
    for path in NOTEBOOKS
    if ".ipynb_checkpoints" not in path.parts
    for name, code in make_frames.players(json.loads(path.read_text(encoding="utf-8"))).items()
]


def size(path: pathlib.Path) -> list[int]:
    with Image.open(path) as picture:
        return list(picture.size)


def problems(name: str, code: str, folder: pathlib.Path) -> list[str]:
    """What is wrong with the stored frames of one player, in words."""
    entry = make_frames.manifest(folder).get(name)
    if entry is None:
        return ["not in frames.js"]
    files = (
        sorted(path.name for path in (folder / name).iterdir()) if (folder / name).is_dir() else []
    )
    wrong = []
    if files != [f"{k:02d}.png" for k in range(len(entry["labels"]))]:
        wrong.append(f"{len(entry['labels'])} labels, but the files {files}")
    if any(not 0 < len(label) <= 24 for label in entry["labels"]) or len(set(entry["labels"])) < 2:
        wrong.append("labels are short, and differ")
    if any(size(folder / name / file) != entry["size"] for file in files):
        wrong.append(f"a frame is not of {entry['size']} pixels")
    if sum((folder / name / file).stat().st_size for file in files) > 2_000_000:
        wrong.append("more than 2 MB")
    if entry["code"] != code:
        wrong.append("the code that draws it has changed")
    return wrong


@pytest.mark.parametrize(("path", "name", "code"), PLAYERS, ids=[name for _, name, _ in PLAYERS])
def test_a_player_has_its_frames(path, name, code):
    chapter = path.relative_to(ROOT).with_suffix("")
    assert not problems(name, code, make_frames.FRAMES), f"draw them: make frames CHAPTER={chapter}"


@pytest.mark.parametrize("path", sorted({path for path, *_ in PLAYERS}), ids=lambda path: path.stem)
def test_the_slider_starts_at_the_still_picture(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        classes = cell["metadata"].get("mystnb", {}).get("image", {}).get("classes", "")
        if "player-" in classes:
            name, still = re.fullmatch(r"player-([a-z0-9-]+) still-(\d+)", classes).groups()
            assert int(still) < len(make_frames.manifest()[name]["labels"])


SHOWN = [
    (path, found)
    for path in NOTEBOOKS
    if ".ipynb_checkpoints" not in path.parts
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    if cell["cell_type"] == "markdown"
    for found in re.findall(
        r":::\{figure\} (\S+)\n(?::(?!class).*\n)*:class: (player-\S+ still-\d+)\n:alt: (.+)",
        "".join(cell["source"]),
    )
]


@pytest.mark.parametrize(("path", "found"), SHOWN, ids=lambda value: getattr(value, "stem", ""))
def test_a_player_that_is_shown_again_stands_at_a_frame_of_it(path, found):
    picture, classes, alt = found
    name, still = re.fullmatch(r"player-([a-z0-9-]+) still-(\d+)", classes).groups()
    assert name in [name for _, name, _ in PLAYERS], "drawn by a cell of another chapter"
    file = make_frames.FRAMES / name / f"{int(still):02d}.png"
    assert (
        (path.parent / picture).resolve() == file.resolve()
        and file.is_file()
        and len(alt.split()) > 15
    )


def test_no_frames_without_a_player():
    names = [name for _, name, _ in PLAYERS]
    assert len(names) == len(set(names)), "two players of one name"
    assert set(make_frames.manifest()) == set(names)
    if make_frames.FRAMES.is_dir():
        assert {path.name for path in make_frames.FRAMES.iterdir()} - {"frames.js"} == set(names)


CODE = """import matplotlib.pyplot as plt
from spinlib.plotting import style
free_energy_frames = ["T = 1", "T = 0.5", "T = 0.25"]
def free_energy_picture(k):
    fig, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 10.0 ** k], [0, 1])
    return fig
"""
PLAYER = {
    "mystnb": {
        "figure": {"caption": "c", "name": "fig-x"},
        "image": {"alt": "a", "classes": "player-free-energy"},
    }
}


def cell(source, metadata=None):
    return {"cell_type": "code", "id": "c", "metadata": metadata or {}, "source": source}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A chapter with one player, its frames drawn by the tool."""
    folder = tmp_path_factory.mktemp("book")
    still = cell("with style():\n    free_energy_picture(0)\n    plt.show()", PLAYER)
    notebook = {"cells": [cell(CODE), still, cell("1 / 0", {"tags": ["raises-exception"]})]}
    (folder / "x.ipynb").write_text(json.dumps(notebook))
    assert make_frames.main(str(folder / "x.ipynb"), [], folder=folder / "frames") == 0
    return folder, notebook


def test_the_tool_draws_what_the_tests_accept(drawn):
    folder, notebook = drawn
    ((name, code),) = make_frames.players(notebook).items()
    assert name == "free-energy"
    assert problems(name, code, folder / "frames") == []
    assert make_frames.manifest(folder / "frames")[name]["labels"] == [
        "T = 1",
        "T = 0.5",
        "T = 0.25",
    ]
    frames = {(folder / "frames" / name / f"{k:02d}.png").read_bytes() for k in range(3)}
    assert len(frames) == 3, "each frame shows something else"
    assert (folder / "frames" / "frames.js").read_text().count("players[") == 1


@pytest.mark.slow
def test_check_compares_with_what_is_stored(drawn, capsys):
    folder, notebook = drawn
    other = json.loads(json.dumps(notebook).replace("T = 0.5", "T = 0.7"))
    (folder / "other.ipynb").write_text(json.dumps(other))
    assert make_frames.main(str(folder / "x.ipynb"), [], check=True, folder=folder / "frames") == 0
    assert (
        make_frames.main(str(folder / "other.ipynb"), [], check=True, folder=folder / "frames") == 1
    )
    assert "T = 0.7" in capsys.readouterr().out
    code = make_frames.players(other)["free-energy"]
    assert "the code that draws it has changed" in problems("free-energy", code, folder / "frames")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (CODE.replace("free_energy_frames", "frames"), "defines no free_energy_frames"),
        (CODE.replace("return fig", "return ax"), "must return a matplotlib figure, not Axes"),
    ],
)
def test_what_is_missing_is_said(tmp_path, source, words):
    (tmp_path / "x.ipynb").write_text(json.dumps({"cells": [cell(source, PLAYER)]}))
    with pytest.raises(SystemExit, match=words):
        make_frames.main(str(tmp_path / "x.ipynb"), [], folder=tmp_path / "frames")
