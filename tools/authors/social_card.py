"""Draw _static/card.png, the picture that a messenger shows beside a link to the book, from its mark and its type.

python tools/authors/social_card.py      (needs chromium, see tools/check_pages; the card of
sphinxext-opengraph knows neither our type nor the mark)
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import yaml
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATIC = ROOT / "_static"
sys.path.insert(0, str(ROOT / "_ext"))
from book_meta import CLAIM

PAGE = """<!doctype html><meta charset="utf-8"><style>
@font-face {{ font-family: S; font-weight: 200 900; src: url("{static}/fonts/source-serif-4-normal.woff2") }}
body {{ align-items: center; background: #f7fafd; color: #14283d; display: flex; font-family: S; gap: 64px;
        height: 630px; margin: 0; padding: 0 84px; width: 1032px }}
img {{ width: 330px }} h1 {{ font-size: 74px; font-weight: 600; line-height: 1.12; margin: 0 0 28px }}
p {{ color: #14508c; font-size: 33px; line-height: 1.35; margin: 0 }}
</style><img src="{static}/mark.svg"><div><h1>{title}</h1><p>{words}</p></div>"""

if __name__ == "__main__":
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "card.html")
        text = PAGE.format(static=STATIC.as_uri(), title=title, words=CLAIM)
        page.write_text(text, encoding="utf-8")
        flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,630"
        flags += " --allow-file-access-from-files --virtual-time-budget=5000"
        browser = [os.environ.get("CHROMIUM", "chromium"), f"--user-data-dir={folder}/profile"]
        shot = [f"--screenshot={STATIC / 'card.png'}", page.as_uri()]
        subprocess.run([*browser, *flags.split(), *shot], check=True, stderr=subprocess.DEVNULL)
    with Image.open(STATIC / "card.png") as card:
        card.convert("RGB").quantize(64).save(STATIC / "card.png", optimize=True)
