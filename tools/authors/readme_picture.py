"""Copy the first figure of the executed intro.ipynb to images/argument.png, which README.md shows."""

import base64
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "images" / "argument.png"


def first_figure() -> bytes:
    cells = json.loads((ROOT / "intro.ipynb").read_text(encoding="utf-8"))["cells"]
    pictures = [
        o["data"]["image/png"]
        for c in cells
        for o in c.get("outputs", [])
        if "image/png" in o.get("data", {})
    ]
    return base64.b64decode(pictures[0])


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(first_figure())
    print(f"wrote {PICTURE.relative_to(ROOT)}")
