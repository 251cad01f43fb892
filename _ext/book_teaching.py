"""Local Sphinx extension: what a course needs beside the pages, in the folder teaching of the built book.

The decks of slides (tools/make_slides.py), the notebooks of the sheets with holes and the exam (tools/course_kit.py),
and all figures with their captions in one zip. They are made from the built pages; chapters/teaching links them.
"""

import os
import pathlib
import re
import sys
import zipfile

from sphinx.util import logging

LOG = logging.getLogger(__name__)
ROOT = pathlib.Path(__file__).resolve().parents[1]
LICENCE = 'Figures and captions of "{title}", {licence}.\n\n'


def figures(book, title: str) -> int:
    """Write figures.zip: the pictures, named by their numbers and labels, and captions.txt; how many there are."""
    import make_slides
    from boxes import chapters

    html, said, count = book.html, [], 0
    licence = "CC BY 4.0: they may be shown, changed and passed on if their source is named"
    with zipfile.ZipFile(html / make_slides.FOLDER / "figures.zip", "w") as pack:
        for name in chapters():
            page = f"chapters/{name}"
            for node in book.page(page).select("figure[id]"):
                image, number = node.find("img"), node.select_one(".caption-number")
                source = (html / page).parent / image["src"] if image else None
                if number is None or source is None or not source.is_file():
                    continue
                number = number.get_text().strip()
                file = (
                    f"{number.replace('Fig. ', '').replace('.', '-')}_{node['id']}{source.suffix}"
                )
                pack.write(source, f"figures/{file}")
                caption = " ".join(node.figcaption.get_text().split()).rstrip("#").strip()
                said.append(
                    f"{file}\n{caption}\nWhat it shows, for those who cannot see it: {image['alt']}\n"
                )
                count += 1
        pack.writestr(
            "figures/captions.txt", LICENCE.format(title=title, licence=licence) + "\n".join(said)
        )
    return count


def dead(html: pathlib.Path) -> list[str]:
    """Links of the page, and of what is made for it, to files that are not there."""
    import make_slides

    pages = [
        html / "chapters" / "teaching.html",
        *sorted((html / make_slides.FOLDER).glob("*.html")),
    ]
    found = []
    for page in pages:
        for link in re.findall(
            r'(?<![\w-])(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")
        ):
            if not re.match(r"[a-z]+:", link) and not os.path.exists(
                os.path.normpath(page.parent / link)
            ):
                found.append(f"{page.name}: {link}")
    return found


def make(app, error):
    if (
        error is not None
        or app.builder.name != "html"
        or "chapters/teaching" not in app.env.found_docs
    ):
        return
    import course_kit
    import make_slides

    html = pathlib.Path(app.outdir)
    book = make_slides.Book(html)
    make_slides.make(book)
    course_kit.make(html / make_slides.FOLDER, app.config.html_baseurl.rstrip("/"))
    figures(book, app.config.project)
    make_slides.link_pdfs(html)
    for link in dead(html):
        LOG.warning("to teach from it: a dead link, %s", link)


def setup(app):
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "authors")]
    app.connect("build-finished", make, priority=950)  # when the pages have been mended
    return {"parallel_read_safe": True, "parallel_write_safe": True}
