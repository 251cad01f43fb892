"""Local Sphinx extension: the script that previews.js asks for what a link to another page leads to.

Formulas, terms, references, figures and the first words of sections that some link leads to, each as it stands on its
page: a page that is read from disk may not fetch, but it may load a script. Everything is read from the built pages, so
two builds write the same bytes.
(sphinx-tippy needs tippy.js and popper, which come from npm or the network, and gives its files random names.)
"""

import json
import pathlib
import posixpath
import re

LINK = re.compile(
    r'<a class="reference internal" href="([^"#]*)#((?:equation|term|fig|sec|ch)-[^"]+|id\d+)"'
)
SHOWN = [
    re.compile(
        r'<div class="math notranslate nohighlight" id="(equation-[^"]+)">(.*?)</div>', re.S
    ),
    re.compile(r'<dt id="(term-[^"]+)">(.*?</dd>)', re.S),
    re.compile(r'<div class="citation" id="(id\d+)"[^>]*>(.*?)</div>', re.S),
    re.compile(r'<figure [^>]*id="(fig-[^"]+)">(.*?)</figure>', re.S),
    re.compile(
        r'<span id="((?:sec|ch)-[^"]+)"></span>(<h\d>.*?</h\d>(?:\s*<p class="needs">.*?</p>)?\s*(?:<p>.*?</p>)?)',
        re.S,
    ),
]
SOURCE, ROOT = (
    re.compile(r'(<img [^>]*src=")([^"]*)'),
    "{root}",
)  # previews.js knows where the book stands
NEEDS = re.compile(r'<p class="needs">.*?</p>', re.S)
LEFT_OUT = re.compile(
    r'<a class="headerlink".*?</a>|</?a\b[^>]*>| id="[^"]*"|<span class="label">.*?(?=<p>)', re.S
)


def previews(html: pathlib.Path) -> dict[str, str]:
    """What links lead to, by page and anchor; formulas only where another page has the link."""
    wanted, found = set(), {}
    for path in sorted(html.rglob("*.html")):
        text, page = path.read_text(encoding="utf-8"), path.relative_to(html).as_posix()
        for target, anchor in LINK.findall(text):
            if target or not anchor.startswith("equation-"):
                other = posixpath.join(posixpath.dirname(page), target) if target else page
                wanted.add(f"{posixpath.normpath(other)}#{anchor}")
        for shown in SHOWN:
            for anchor, inside in shown.findall(text):
                home = posixpath.dirname(page)
                inside = SOURCE.sub(
                    lambda m: m[1] + ROOT + posixpath.normpath(f"{home}/{m[2]}"), inside
                )
                found[f"{page}#{anchor}"] = inside
    return {name: as_shown(name, found[name]) for name in sorted(wanted & found.keys())}


def as_shown(name: str, inside: str) -> str:
    """The inside of a formula, an entry of the glossary or a reference as the inside of a preview."""
    words = re.sub(r"\s+", " ", LEFT_OUT.sub("", inside)).strip()
    if words.startswith("<h"):
        return re.sub(r"<h\d>(.*?)</h\d>", r"<p><b>\1</b></p>", NEEDS.sub("", words))
    if "#equation-" in name:
        return f'<div class="math notranslate nohighlight">{words}</div>'
    if "#term-" not in name:
        return words
    *terms, says = re.split(r"</?d[td]>", words.replace("<dt>", ""))[:-1]
    return f"<p><b>{' &ensp;'.join(filter(None, terms))}</b></p>{says}"


def write(app, error):
    if error is None and app.builder.format == "html":
        html = pathlib.Path(app.outdir)
        shown = json.dumps(previews(html), ensure_ascii=False, indent=0)
        script = html / "_static" / "preview-data.js"
        script.write_text(f"window.bookPreviews = {shown};\n", encoding="utf-8")


def setup(app):
    app.connect("build-finished", write, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
