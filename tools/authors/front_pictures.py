"""Copy the pictures that the front page and the page of Part I show from the executed chapters that draw them.

python tools/authors/front_pictures.py      (a test holds the copies to the stored outputs)
"""

import base64
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = {  # file in images: the chapter, and the name of the figure
    "two-roads.png": ("mapping/transformer_to_spin_glass", "fig-tsg-two-roads"),
    "glass-after-all.png": ("beyond/sparse_weights", "fig-sw-curve"),
    "solved-glass.png": ("pspin/dynamics", "fig-dy-card"),
}


def stored(chapter: str, figure: str) -> bytes:
    path = ROOT / "chapters" / f"{chapter}.ipynb"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["metadata"].get("mystnb", {}).get("figure", {}).get("name") == figure:
            data = next(o["data"] for o in cell["outputs"] if "image/png" in o.get("data", {}))
            return base64.b64decode(data["image/png"])
    raise ValueError(f"{chapter} has no executed cell with the figure {figure}")


if __name__ == "__main__":
    for name, source in PICTURES.items():
        (ROOT / "images" / name).write_bytes(stored(*source))
        print(f"wrote images/{name}")
