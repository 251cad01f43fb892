"""Print the built book, a part of it or the short book into one PDF: title, contents, and page numbers behind links.

python tools/make_pdf.py [PART] [HTML_FOLDER]  (make pdf, make pdf PART=part_2, make pdf SHORT=1; into _build/book.pdf,
_build/part_2.pdf, _build/short_book.pdf)

The browser that check-pages drives does the work (CHROMIUM; default: chromium, as Debian installs it). Why not
jupyter-book's pdfhtml: it prints page by page with a driver that nobody keeps, so no contents and no links between
pages; paged.js knows pages, but comes from npm.
"""

import html
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from urllib.parse import urldefrag

import yaml
from bs4 import BeautifulSoup

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "authors"))
from kinds import contents, kind

FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
SCALE = 0.85  # type of about 10 points
WIDTH = round((210 - 32) / 25.4 * 96 / SCALE)  # A4 with margins of 16 mm, in CSS pixels
STYLE = """
body { background: #fff; } article.bd-article { break-before: page; padding: 0; max-width: none; }
.cover { height: 90vh; display: flex; flex-direction: column; justify-content: center; } .cover h1 { font-size: 3rem; }
.cover .of { font-size: 2rem; margin: 0 0 3rem; }
h1, h2, h3 { white-space: pre-wrap; }  /* the outline of the PDF is read by lines: a space at the end of one stays */
.contents { break-before: page; line-height: 1.45; } .contents p { margin: .15rem 0; display: flex; gap: .5rem; }
.contents a { color: inherit; text-decoration: none; flex: auto; border-bottom: 1px dotted #bbb; }
.contents b { font-weight: normal; } .contents .part { font-weight: bold; margin-top: 1rem; }
.contents .section { padding-left: 1.5rem; font-size: .9rem; }
.opening { zoom: .9; } .opening img { width: auto !important; max-height: 10rem; }  /* a part opens on one page */
.long, .long .highlight, .long.cell_input { break-inside: auto !important; }
article a, article a:visited { color: inherit !important; text-decoration: none !important; }
.at { font-size: .8em; color: #555; white-space: nowrap; }
.rails { display: none; }
.admonition { break-inside: auto !important; }
.solution.admonition { border: 0; box-shadow: none; } .solution :last-child { margin-bottom: 0; padding-bottom: 0; }
"""
HEIGHT = (297 - 32) / 25.4 * 96 / SCALE
LAYOUT = {
    "height": HEIGHT,
    "gap": 0.15 * HEIGHT,
    "smallest": 0.75,
}  # of a picture that has to be made smaller
PREPARE = (ROOT / "tools" / "make_pdf.js").read_text(encoding="utf-8")
SHORT = "chapters/short_book"
# In every chapter:
UNLISTED = re.compile(r"(What is checked, and how well|Summary|Further reading|Next)\s*#?$")
FOOTER = (
    '<p style="font-size: 8px; width: 100%; text-align: center">'
    '<span class="pageNumber"></span></p>'
)


def read(folder: pathlib.Path, name: str):
    """A built page, parsed."""
    return BeautifulSoup((folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def anchor(name: str, fragment: str = "") -> str:
    return "-".join(filter(None, [name.replace("/", "-"), fragment]))


def solutions_last(soup) -> None:
    """Solutions follow the chapter, and say whose they are (as print.js does in the browser)."""
    last = BeautifulSoup(
        '<section id="solutions"><h2>Solutions</h2></section>', "html.parser"
    ).section
    exercise = ""
    for node in soup.select(".exercise, .solution"):
        if "exercise" in node["class"]:
            number = node.select_one(".caption-number")
            exercise = f" of {number.get_text().strip()}" if number else ""
        else:
            node.select_one(".admonition-title").append(exercise)
            last.append(node.extract())
    if last.select(".solution"):
        soup.append(last)


def article(folder: pathlib.Path, name: str, names: set[str]):
    """The text of one page, open, without code that draws; its ids carry the page's name, its links stay here."""
    soup = read(folder, name).select_one("article.bd-article")
    here = pathlib.PurePosixPath(name).parent
    for gone in soup.select("a.headerlink, script, details.hide"):
        gone.decompose()
    solutions_last(soup)
    for node in soup.select("[id]"):
        node["id"] = anchor(name, node["id"])
    for node in soup.select("details"):
        node["open"] = ""
    for node in soup.select(".toggle"):
        node["class"] = [c for c in node["class"] if not c.startswith("toggle")]
    for node in soup.select("img[src]"):
        node["src"] = os.path.normpath(here / node["src"])
    for node in soup.select("a[href]"):
        target, fragment = urldefrag(node["href"])
        if "//" in target or target.startswith("mailto:"):
            continue
        page = os.path.normpath(here / target).removesuffix(".html") if target else name
        if page in names:
            node["href"] = "#" + anchor(page, fragment)
        else:
            del node["href"]  # source code and the like: not in this document
    soup["id"] = anchor(name)
    return soup


def stations(folder: pathlib.Path) -> list[str]:
    """The pages of the short book: its list, the stations, the glossary and the references that they lead to."""
    links = read(folder, SHORT).select("article ol a.internal[href]")
    here = pathlib.PurePosixPath(SHORT).parent
    found = [os.path.normpath(here / urldefrag(link["href"])[0]) for link in links]
    pages = dict.fromkeys(page.removesuffix(".html") for page in found)
    return [SHORT, *pages, "conventions", "chapters/reference/bibliography"]


def chosen(part: str, folder: pathlib.Path) -> list[tuple[str, list[str]]]:
    """(Caption, pages) of the whole book, of the short book, or of the part that the page chapters/PART opens."""
    order = contents()
    if not part:
        return order
    if part == "short_book":
        return [("", stations(folder))]
    parts = {
        pathlib.PurePosixPath(names[0]).name: [("", names)]
        for _, names in order
        if kind(names[0]) == "opening"
    }
    if part not in parts:
        sys.exit(
            f"make pdf: there is no part {part}; take one of {', '.join(parts)}, SHORT=1 for the short book, "
            "or none for the whole book"
        )
    return parts[part]


def tell_pages(body, name: str, pages: dict[str, int]) -> None:
    """Behind a link to another chapter, its page; not behind words of the glossary and citations."""
    aside = "#" + anchor("conventions", "term-"), "#" + anchor("chapters/reference/bibliography")
    for link in body.select('a[href^="#"]'):
        target = link["href"]
        if target.startswith(("#" + anchor(name), *aside)) or link.find_parent(["svg", "h1", "h2"]):
            continue
        where = pages.get(target[1:], "000" if not pages else "")
        if where:
            at = BeautifulSoup(f'<span class="at"> (p. {where})</span>', "html.parser").span
            link.insert_after(at)


def combine(folder: pathlib.Path, order: list[tuple[str, list[str]]], pages: dict[str, int]) -> str:
    """One HTML document; ``pages`` has the page of the PDF on which an anchor is, if it has been printed before."""
    names = {name for _, part in order for name in part}
    root = read(folder, contents()[0][1][0])  # its links begin at the folder of the pages
    head = [str(node) for node in root.head.select("link[rel=stylesheet]")]
    scripts = [str(node) for node in root.head.select("script")]
    head += [script for script in scripts if "MathJax" in script or "mathjax" in script]
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    title = html.escape(config["title"])
    of = html.escape(read(folder, order[0][1][0]).h1.find(string=True)) if len(order) == 1 else ""
    lines, bodies = [], []
    for caption, part in order:
        if caption:
            lines.append(f'<p class="part">{html.escape(caption)}</p>')
        for name in part:
            body = article(folder, name, names)
            if kind(name) != "generated":
                tell_pages(body, name, pages)
            if kind(name) == "opening":
                body["class"].append("opening")
            for level in body.select("h1, h2"):
                if level.name == "h2" and UNLISTED.search(level.get_text()):
                    continue
                target = level.parent.get("id") or body["id"]
                style = "part" if kind(name) == "opening" else "chapter"
                style = "section" if level.name == "h2" else style
                lines.append(
                    f'<p class="{style}"><a href="#{target}">{level.decode_contents()}</a>'
                    f"<b>{pages.get(target, '')}</b></p>"
                )
            bodies.append(str(body))
    cover = (
        f'<div class="cover"><h1>{title}</h1><p class="of">{of}</p>'
        f"<p>{html.escape(config['author'])}</p>"
        f"<p>{config['copyright']}</p></div>"
    )
    return (
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{title}{of and ': ' + of}</title>{''.join(head)}<style>{STYLE}</style></head>"
        f'<body>{cover}<div class="contents"><h1>Contents</h1>{"".join(lines)}</div>'
        f"{''.join(bodies)}</body></html>"
    )


def page_numbers(pdf) -> dict[str, int]:
    """Anchor -> page, from the named destinations of a PDF that pypdf has read."""
    where = pdf.named_destinations.items()
    found = {name.removeprefix("/"): pdf.get_destination_page_number(to) for name, to in where}
    return {name: page + 1 for name, page in found.items() if page is not None}


def browser(command: str) -> str:
    """The browser to print with."""
    wanted = os.environ.get("CHROMIUM", "chromium")
    found = shutil.which(wanted)
    if not found:
        sys.exit(
            f"{command}: there is no {wanted} here to print with; on Debian or Ubuntu: apt-get install chromium"
        )
    return found


def install_driver() -> None:
    """What drives the browser, where it is missing."""
    if not importlib.util.find_spec("playwright") or not importlib.util.find_spec("pypdf"):
        print("== first use: installing requirements-browser.txt into .venv (once)", flush=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "-r"]
        subprocess.run([*pip, str(ROOT / "requirements-browser.txt")], check=True)


def main(part: str, folder: pathlib.Path) -> int:
    chromium_path = browser("make pdf")
    if part == "short_book" and not (folder / f"{SHORT}.html").is_file():
        sys.exit(f"make pdf: no built page {SHORT} in {folder}; run `make book` first")
    order = chosen(part, folder)
    names = [name for _, part_names in order for name in part_names]
    if missing := [name for name in names if not (folder / f"{name}.html").is_file()]:
        sys.exit(f"make pdf: no built page {missing[0]} in {folder}; run `make book` first")
    install_driver()
    from playwright.sync_api import sync_playwright
    from pypdf import PdfReader

    out = folder.parent / f"{part or 'book'}.pdf"
    source, unfinished = folder / "_print.html", out.with_suffix(".unfinished")
    start, pages = time.monotonic(), {}
    said = lambda words: print(f"== {time.monotonic() - start:4.0f} s: {words}", flush=True)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=chromium_path, args=FLAGS)
        for run in range(5):  # the numbers of pages take room themselves: print until they stay
            said(f"printing {len(names)} pages of the book, time {run + 1}")
            source.write_text(combine(folder, order, pages), encoding="utf-8")
            page = chromium.new_page(offline=True, viewport={"width": WIDTH, "height": 1000})
            page.set_default_timeout(600_000)
            page.emulate_media(media="print")
            page.goto(source.as_uri())
            said(
                "figures: {smaller} smaller, {moved} behind the text that follows, {left} left".format(
                    **page.evaluate(PREPARE, LAYOUT)
                )
            )
            page.pdf(
                path=unfinished,
                format="A4",
                scale=SCALE,
                print_background=True,
                outline=True,
                tagged=True,
                display_header_footer=True,
                header_template="<i></i>",
                footer_template=FOOTER,
            )
            page.close()
            printed = PdfReader(unfinished)
            before, pages, count = pages, page_numbers(printed), len(printed.pages)
            if pages == before:
                break
        chromium.close()
    if pages != before:
        said("warning: a few numbers of pages behind links may be off by one: they did not settle")
    source.unlink()
    unfinished.replace(out)
    said(f"{out}, {count} pages, {out.stat().st_size / 1e6:.1f} MB")
    return 0 if pages else 1


if __name__ == "__main__":
    given = sys.argv[1:] + ["", ""][len(sys.argv) - 1 :]
    sys.exit(main(given[0], pathlib.Path(given[1] or ROOT / "_build" / "html").resolve()))
