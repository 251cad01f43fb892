"""Draw the printed pictures of the live figures, from the figures themselves: make stills, or make stills NAME=spikes.

python tools/authors/stills.py [NAME]    writes _static/explore/NAME.png, 704 pixels wide at twice the resolution

It needs Debian's chromium and requirements-browser.txt, which `make check-pages` installs. tests/explore use bare.
"""

import os
import pathlib
import shutil
import sys
import sysconfig

try:
    from playwright.sync_api import sync_playwright
except ModuleNotFoundError:
    sys.exit(
        "make stills: needs requirements-browser.txt; `make check-pages` installs it the first time"
    )

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "_static" / "explore"
MATHJAX = pathlib.Path(sysconfig.get_path("purelib"), "sphinx-mathjax-offline/static/mathjax")
NAMES = sorted(path.stem for path in FOLDER.glob("*.js") if path.stem not in ("explore", "physics"))


def bare(folder: pathlib.Path, name: str) -> pathlib.Path:
    """A page in ``folder`` with one live figure and no book around it, but its fonts and the files of FOLDER."""
    static = folder / "_static"
    static.mkdir(exist_ok=True)
    for link, target in {
        "explore": FOLDER,
        "fonts": ROOT / "_static" / "fonts",
        "mathjax": MATHJAX,
        "face.css": ROOT / "_static" / "face.css",
    }.items():
        if not (static / link).exists():
            (static / link).symlink_to(target)
    scripts = "".join(
        f"<script src=_static/explore/{p.name}></script>" for p in FOLDER.glob("*.js")
    )
    sheets = "".join(
        f"<link rel=stylesheet href=_static/{p}>"
        for p in ["face.css", *(f"explore/{p.name}" for p in FOLDER.glob("*.css"))]
    )
    page = folder / f"{name}.html"
    page.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=width=device-width>"
        "<style>body { background: var(--pst-color-background); margin: 16px; "
        "--pst-font-family-base: 'Liberation Sans', Arial, sans-serif }"
        " html[data-theme=dark] { --pst-color-background: #14181e }</style>"
        f"{sheets}{scripts}<body><figure id=fig-{name} style='margin: 0'>"
        f"<img class=explore-{name} src=_static/explore/{name}.png alt='{name}'></figure>"
    )
    return page


def main(name: str = "") -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 736, "height": 1200}, device_scale_factor=2, color_scheme="light"
        )
        for each in [name] if name else NAMES:
            page.goto(bare(pathlib.Path(folder), each).as_uri())
            page.evaluate(
                "() => { const el = document.querySelector('.explore'); el.classList.add('still'); el.figure.still(); }"
            )
            page.evaluate("document.fonts.ready.then(() => 0)")
            page.wait_for_timeout(1000)
            page.locator(".explore").screenshot(path=FOLDER / f"{each}.png", animations="disabled")
            print(f"{FOLDER / each}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
