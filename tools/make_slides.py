"""Slides for the weeks of chapters/teaching.md, one deck each: figures with their captions, formulas and votes.

python tools/make_slides.py [HTML_FOLDER]     (make slides: the decks of the built book once more, and as PDF)

A deck is a notebook, made from the built pages: an opening with the question of the week, then, in the order of the
book, the figures of the sections that are read, the boxes Predict, and the formulas that the week derives; last what
to do next. nbconvert's SlidesExporter makes the page; reveal.js comes from the package sphinx-revealjs and MathJax from
the book, so that a deck works from disk. The build makes the decks (_ext/book_teaching.py); a PDF needs a browser.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import sys
import time

from bs4 import BeautifulSoup, NavigableString, SoupStrainer

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "authors"))
import boxes

PAGE = ROOT / "chapters" / "teaching.md"
FOLDER = "teaching"  # of the built book, for all that is made for a course
LABELS = re.compile(r"\{(ref|eq|numref)\}`(?:[^`<]*<)?([a-z0-9-]+)>?`")
TEXT = SoupStrainer("article")  # what of a built page is parsed
SECTIONS = re.compile(r"^\((sec-[a-z0-9-]+)\)=\n+## (.+)$", re.M)


def weeks(text=None) -> dict[int, tuple[str, dict[str, str]]]:
    """What the page plans: {week: (title, {"Question": text, "Read": text, ...})}."""
    text = PAGE.read_text(encoding="utf-8") if text is None else text
    found = re.split(r"^\(week-(\d+)\)=\n### Week \d+: (.+)$", text, flags=re.M)[1:]
    plan = {}
    for number, title, body in zip(found[::3], found[1::3], found[2::3]):
        body = re.split(r"^(?:##|\([a-z0-9-]+\)=)", body, flags=re.M)[0]
        plan[int(number)] = title, dict(re.findall(r"^\* \*\*([^*]+)\.\*\* (.*)$", body, re.M))
    return plan


def titles(name: str) -> dict[str, str]:
    """Label -> heading of the sections of a chapter that have one."""
    return dict(SECTIONS.findall("\n\n".join(boxes.source(name))))


def reading(words: str) -> list[tuple[str, list[str | None]]]:
    """What a text asks to read: (chapter, headings), where the opening is None, from labels and headings in italics.

    A chapter without sections is the whole main line.
    """
    owner, asked = boxes.owners(), []
    for part in re.split(r"(?=\{ref\}`(?:[^`<]*<)?ch-)", words):
        labels = LABELS.findall(part)
        if not labels:
            continue
        name = owner[labels[0][1]]
        there = titles(name)
        wanted = [
            there[match[1]] if match[1] else match[2]
            for match in re.finditer(r"\{ref\}`(sec-[a-z0-9-]+)`|(?<!\*)\*([^*]+)\*(?!\*)", part)
        ]
        asked.append((name, [None, *wanted] if wanted else list(boxes.sections(name))))
    return asked


# --- from the built pages to a notebook ------------------------------------------------------------------------------


def plain(node, page: str) -> str:
    """An element of a built page as Markdown with formulas in dollars; its links start at the folder of the decks."""
    if isinstance(node, NavigableString):
        return re.sub(r"([\\`*_\[\]<$])", r"\\\1", re.sub(r"\s+", " ", node))
    if "headerlink" in node.get("class", []) or node.name == "script":
        return ""
    if "math" in node.get("class", []):
        tex = re.sub(r"\s+", " ", "".join(s for s in node.strings if s.strip().startswith("\\")))
        if node.name == "span":
            return f"${tex.strip()[2:-2].strip()}$"
        return f"\n\n$${tex.strip()[2:-2].strip()}$$\n\n"
    inside = "".join(plain(child, page) for child in node.children)
    if node.name == "a" and node.get("href"):
        return f"[{inside}]({address(node['href'], page)})"
    if "glued" in node.get("class", []):  # a formula and its comma stay on one line (book_text.py)
        return f'<span class="glued">{inside}</span>'
    if node.name in ("em", "i"):
        return f"*{inside.strip()}*"
    if node.name in ("strong", "b"):
        return f"**{inside.strip()}**"
    if node.name == "li":
        return f"* {inside.strip()}\n"
    return f"\n\n{inside.strip()}\n\n" if node.name in ("p", "ul", "ol", "div") else inside


def address(link: str, page: str) -> str:
    """A link of a page as seen from the folder of the decks."""
    if re.match(r"[a-z]+:", link):
        return link
    target, _, fragment = link.partition("#")
    here = pathlib.PurePosixPath(page)
    target = os.path.normpath(here.parent / target) if target else f"{page}.html"
    return f"../{target}" + (f"#{fragment}" if fragment else "")


def tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" *\n *", "\n", re.sub(r" +", " ", text))).strip()


class Book:
    """The built pages, each parsed once."""

    def __init__(self, html: pathlib.Path):
        self.html, self.parsed = html, {}

    def page(self, name: str):
        if name not in self.parsed:
            text = (self.html / f"{name}.html").read_text(encoding="utf-8")
            self.parsed[name] = BeautifulSoup(text, "html.parser", parse_only=TEXT)
        return self.parsed[name]

    def parts(self, name: str, headings: list[str | None]):
        """(Heading, element) of what the sections of a chapter show: figures, boxes Predict and numbered formulas."""
        top = self.page(f"chapters/{name}").select_one("article section")
        for node in top.select("figure[id], div.predict, div.math[id]"):
            around = [parent for parent in node.parents if parent.name == "section"]
            section = around[-2] if len(around) > 1 else None
            if node.find_parent(["details", "figure"]) or node.find_parent(
                class_=["solution", "exercise"]
            ):
                continue
            heading = None
            if section is not None:
                shown = section.find("h2").get_text()
                heading = next((h for h in headings if h and same(h, shown)), "")
            if heading in headings:
                yield heading, node


def same(heading: str, shown: str) -> bool:
    """Whether a built heading ("3.1. The model#") is that of the source."""
    bare = lambda text: re.sub(r"\W+", "", re.sub(r"\$[^$]*\$|\\\(.*?\\\)", "", text)).lower()
    return bare(shown.split(". ", 1)[-1]) == bare(heading) or bare(shown).endswith(bare(heading))


def planned(book: Book, number: int) -> dict[str, str]:
    """The lines of a week as the built page has them, with all labels resolved: {"Question": text, ...}."""
    page = "chapters/teaching"
    anchor = book.page(page).find(id=f"week-{number}")
    section = anchor if anchor.name == "section" else anchor.find_parent("section")
    told = {}
    for item in section.find_all("li"):
        name, *rest = (item.find("p") or item).children
        told[name.get_text().rstrip(".")] = tidy("".join(plain(node, page) for node in rest))
    return told


def figure(node, page: str) -> str:
    """A figure, and its caption in a paragraph of its own; a live one has a link to where it moves."""
    image = node.find("img")
    alt = re.sub(r"[\[\]\\]", "", image["alt"])
    live = any(name.startswith("explore-") for name in image.get("class", []))
    parts = [f"![{alt}]({address(image['src'], page)})", tidy(plain(node.figcaption, page))]
    return "\n\n".join(parts + [f"[Move it: the live figure](../{page}.html#{node['id']})"] * live)


def formula(node, page: str) -> str:
    """A numbered formula, its number a link."""
    number = node.select_one(".eqno").get_text().rstrip("#")
    tex = "".join(part for part in node.children if isinstance(part, NavigableString)).strip()
    return f"$${tex[2:-2].strip()}$$\n\n[{number}](../{page}.html#{node['id']})"


def deck(book: Book, number: int, title: str, plan: dict[str, str]) -> list[str]:
    """The slides of a week as Markdown."""
    told, seen = planned(book, number), set()
    blackboard = [
        label for kind, label in LABELS.findall(plan["On the blackboard"]) if kind == "eq"
    ]
    slides = [
        f"# Week {number}: {title}\n\n{told['Question']}",
        f"## This week\n\n**Read.** {told['Read']}\n\n**On the blackboard.** {told['On the blackboard']}",
    ]
    for name, headings in reading(plan["Read"]):
        page = f"chapters/{name}"
        for heading, node in book.parts(name, headings):
            key = node.get("id") or node.get_text()
            if key in seen:
                continue
            seen.add(key)
            head = f"## {heading or boxes.titles()[name][1]}\n\n"
            if node.name == "figure":
                slides.append(head + figure(node, page))
            elif "predict" in node["class"]:
                rest = [
                    part
                    for part in node.children
                    if part is not node.select_one(".admonition-title")
                ]
                slides.append("## Predict\n\n" + tidy("".join(plain(part, page) for part in rest)))
            elif key.removeprefix("equation-") in blackboard:
                slides.append(head + formula(node, page))
    last = [f"**{name}.** {told[name]}" for name in ("In class", "Homework")]
    return [*slides, "## To do\n\n" + "\n\n".join(last)]


def notebook(slides: list[str], title: str):
    import nbformat

    each = {"slideshow": {"slide_type": "slide"}}
    cells = [
        nbformat.v4.new_markdown_cell(text, metadata=each, id=f"slide-{k}")
        for k, text in enumerate(slides, 1)
    ]
    return nbformat.v4.new_notebook(cells=cells, metadata={"title": title})


def reveal() -> pathlib.Path:
    """The folder of reveal.js in the package sphinx-revealjs, which is not imported."""
    found = importlib.util.find_spec("sphinx_revealjs")
    if found is None:
        raise FileNotFoundError("no reveal.js: pip install -r requirements.txt (sphinx-revealjs)")
    return pathlib.Path(found.submodule_search_locations[0]) / "_static" / "revealjs"


def exporter():
    """nbconvert's exporter of slides, with the template of tools/slides."""
    from nbconvert import SlidesExporter

    return SlidesExporter(
        template_name="slides",
        extra_template_basedirs=[str(ROOT / "tools")],
        reveal_url_prefix="reveal",
        reveal_theme="../../../slides",  # seen from where reveal.js keeps its themes
    )


def make(book: Book, only=()) -> list[str]:
    """Write the decks, as notebooks and as pages; their names."""
    import nbformat

    out = book.html / FOLDER
    for name in ("dist/reveal.js", "dist/reveal.css", "LICENSE"):
        there = out / "reveal" / name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(reveal() / name, there)
    shutil.copy(ROOT / "tools" / "slides" / "slides.css", out)
    write, names = exporter(), []
    for number, (title, plan) in weeks().items():
        if only and number not in only:
            continue
        made = notebook(deck(book, number, title, plan), f"Week {number}: {title}")
        nbformat.write(made, out / f"week_{number}.ipynb")
        page, _ = write.from_notebook_node(made)
        (out / f"week_{number}.html").write_text(page, encoding="utf-8")
        names.append(f"week_{number}")
    return names


PDF = re.compile(
    r'(?:, <a class="pdf(?: reference external)?" href|<span class="pdf" hidden data-href)="([^"]*)">'
    r"(?:, )?(.*?)</(?:a|span)>"
)


def link_pdfs(html: pathlib.Path) -> None:
    """The page links the PDF of a deck if there is one; else the words for it are hidden, with their comma."""
    page = html / "chapters" / "teaching.html"

    def link(match):
        file, words = match.groups()
        if (page.parent / file).is_file():
            return f', <a class="pdf" href="{file}">{words}</a>'
        return f'<span class="pdf" hidden data-href="{file}">, {words}</span>'

    page.write_text(PDF.sub(link, page.read_text(encoding="utf-8")), encoding="utf-8")


def print_pdfs(html: pathlib.Path, names: list[str]) -> None:
    """Each deck as a PDF beside it, one slide a page, by the browser that prints the book."""
    from make_pdf import FLAGS, browser, install_driver

    chromium, start = browser("make slides"), time.monotonic()
    install_driver()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for name in names:
            page = window.new_page(offline=True, viewport={"width": 1280, "height": 720})
            page.set_default_timeout(60_000)
            page.goto((html / FOLDER / f"{name}.html").as_uri() + "?print-pdf")
            page.wait_for_function("() => 'ready' in document.documentElement.dataset")
            page.evaluate("document.fonts.ready.then(() => 0)")
            page.pdf(
                path=html / FOLDER / f"{name}.pdf", prefer_css_page_size=True, print_background=True
            )
            page.close()
        window.close()
    print(f"== {len(names)} decks as PDF in {html / FOLDER}, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else ROOT / "_build" / "html").resolve()
    if not (folder / "chapters" / "teaching.html").is_file():
        sys.exit(f"make slides: no built page chapters/teaching in {folder}; run `make book` first")
    print_pdfs(folder, make(Book(folder)))
    link_pdfs(folder)
