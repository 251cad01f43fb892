"""Local Sphinx extension: of Font Awesome the icons that the pages use, about 5 KB of 1.8 MB.

The theme loads the whole collection twice, as a script of 1.5 MB that keeps a page from appearing, and as a style sheet
with its fonts. Which icons are used is read from the built pages, scripts and styles; the fonts are cut by fontTools,
which comes with matplotlib. (The icons are CC BY 4.0, the fonts SIL OFL 1.1, the style sheet MIT; LICENSE.txt of Font
Awesome stays in the built book.)
"""

import io
import logging
import pathlib
import re
import shutil

FONTS = {"solid": ("fa-solid-900.ttf", "Font Awesome 6 Free", 900)}
FONTS["brands"] = ("fa-brands-400.ttf", "Font Awesome 6 Brands", 400)
CLASS = re.compile(r"(?<![\w-])fa[bsr]?(?:-[a-z0-9-]+)?(?![\w-])")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
ESCAPED = re.compile(r"\\([0-9a-f]{2,4})\b")


def rules(sheet: str) -> list[tuple[list[str], str]]:
    """The plain rules of a style sheet, [(selectors, declarations)]; what moves and what loads a font is left out."""
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
    sheet = re.sub(
        r"@(?:font-face\s*\{[^{}]*\}|[\w-]+[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})", "", sheet
    )
    return [(head.strip().split(","), body) for head, body in RULE.findall(sheet)]


def used_rules(sheet: str, names: set[str]) -> str:
    """The rules for the classes in ``names``, and those for the whole page."""
    kept = []
    for selectors, body in rules(sheet):
        mine = [s for s in selectors if s.startswith(":") or set(CLASS.findall(s)) & names]
        if mine:
            kept.append(f"{','.join(mine)}{{{body}}}\n")
    return "".join(kept)


def signs(sheets: str) -> set[int]:
    """The signs that style sheets show from a font of icons: escaped, or as they are."""
    shown = " ".join(re.findall(r"(?:content|--[\w-]*icon[\w-]*)\s*:\s*([\"'].*?[\"'])", sheets))
    return {int(code, 16) for code in ESCAPED.findall(shown)} | {
        ord(c) for c in shown if ord(c) > 0xE000
    }


def cut(font: pathlib.Path, wanted: set[int]) -> bytes:
    """A font with the wanted signs only, as WOFF; two runs give the same bytes."""
    from fontTools import subset, ttLib

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table

    options = subset.Options(flavor="woff", recalc_timestamp=False, layout_features=[])
    whole = ttLib.TTFont(font, recalcTimestamp=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(whole)
    whole.flavor, out = "woff", io.BytesIO()
    whole.save(out)
    return out.getvalue()


def write(app, error):
    if error is not None or app.builder.format != "html":
        return
    static = pathlib.Path(app.outdir, "_static")
    for home in sorted((static / "vendor" / "fontawesome").glob("*/css/all.min.css")):
        pages = "".join(
            p.read_text(encoding="utf-8") for p in pathlib.Path(app.outdir).rglob("*.html")
        )
        scripts = "".join(p.read_text(encoding="utf-8") for p in (static / "scripts").glob("*.js"))
        styles = [
            p for p in static.rglob("*.css") if "vendor" not in p.parts and p.name != "icons.css"
        ]
        names = {n for words in re.findall(r'class="([^"]*)"', pages) for n in CLASS.findall(words)}
        sheet = used_rules(home.read_text(encoding="utf-8"), names | set(CLASS.findall(scripts)))
        wanted = signs(sheet + "".join(p.read_text(encoding="utf-8") for p in styles))
        for name, (file, family, weight) in FONTS.items():
            (static / f"icons-{name}.woff").write_bytes(
                cut(home.parents[1] / "webfonts" / file, wanted)
            )
            sheet += (
                f'@font-face{{font-family:"{family}";font-weight:{weight};font-display:block;'
                f'src:url("icons-{name}.woff") format("woff")}}\n'
            )
        (static / "icons.css").write_text(sheet, encoding="utf-8")
        for part in ("css", "js", "webfonts"):
            shutil.rmtree(home.parents[1] / part)


def setup(app):
    app.connect("build-finished", write, priority=700)  # when scripts and styles are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
