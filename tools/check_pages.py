"""Open every page of the built book from disk, without a network, and report what a reader would find broken.

python tools/check_pages.py HTML_FOLDER CHROMIUM [PAGE...]     (tools/check_pages finds both)

With PAGES (chapters/pspin/replica_method, or the end of such a name: replica_method) these only, without the previews,
which are also left out where the folder lacks the page that they need. What is read from a page in
the browser is in check_pages.js; axe-core judges colours, names and roles. No program that comes from a package index
looks at the rest: TeX that is not typeset or cut, folds that stay shut, paper, and links into anchors from disk.
"""

import pathlib
import re
import sys
import time
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import TimeoutError as Timeout
from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SCRIPT = pathlib.Path(__file__).with_suffix(".js")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 400, "height": 800}
PAPER = {"width": 672, "height": 1000}  # the column of print.css on A4


class Anchors(HTMLParser):
    """The ids (and old-style names) a page offers as targets of links."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = ("id", "name") if tag == "a" else ("id",)
        self.found |= {value for key, value in attrs if key in names}


def pages_of(html: pathlib.Path) -> list[pathlib.Path]:
    """The pages of the table of contents: those whose source Sphinx has copied beside them."""
    source_folder = lambda page: html / "_sources" / page.relative_to(html).parent
    return sorted(
        page for page in html.rglob("*.html") if list(source_folder(page).glob(page.stem + ".*"))
    )


class Checker:
    """Checks pages of one folder with one offline browser context.

    ``linked`` and ``inside`` gather what ``follow`` needs.
    """

    def __init__(self, browser, html, patience_ms=30_000):
        self.html, self.patience_ms = html, patience_ms
        self.context = browser.new_context(offline=True, viewport=DESKTOP)
        self.context.set_default_timeout(patience_ms)
        self.context.set_default_navigation_timeout(60_000)
        self.context.add_init_script(path=SCRIPT)
        self.anchors, self.linked, self.inside = {}, {}, {}
        self.count = dict.fromkeys(("formulas", "images", "links"), 0)

    def check(self, path: pathlib.Path) -> list[str]:
        """Everything wrong with one page, in words."""
        return self.patiently(lambda page: self.read(page, path))

    def patiently(self, look) -> list[str]:
        """look(page) with a fresh page; a browser that hangs is asked once more, then the hang is the defect."""
        for _ in range(2):
            page = self.context.new_page()
            try:
                return look(page)
            except Timeout as hang:
                problem = f"the browser hangs: {hang.message.splitlines()[0]}"
            finally:
                page.close()
        return [problem]

    def read(self, page, path) -> list[str]:
        """What ``check`` returns, from a page that is not yet open."""
        noise, wrong = [], []

        def heard(message):
            noise.append(f"console: {message.text} ({message.location.get('url', '')})")

        def asked(request):
            if request.url.startswith(("http:", "https:", "ws:", "wss:")):
                wrong.append(f"asks the network for {request.url}")

        page.on("console", heard)
        page.on("pageerror", lambda e: noise.append(f"script error: {e}"))
        page.on("requestfailed", lambda r: noise.append(f"not loaded: {r.url}"))
        page.on("request", asked)
        page.goto(path.as_uri())
        if page.query_selector(".math"):
            try:
                page.wait_for_function("() => window.MathJax?.startup?.promise?.then(() => true)")
            except Timeout:
                wrong.append(f"MathJax did not finish within {self.patience_ms / 1000:.0f} s")
        page.evaluate("document.fonts.ready.then(() => 0)")
        seen = page.evaluate("checkPages.page()")
        self.count["formulas"] += seen["formulas"]
        self.count["images"] += len(seen["images"])
        wrong += [f"raw TeX: {text}" for text in seen["raw"]]
        wrong += [f"formula with an error: {text}" for text in seen["red"]]
        wrong += [f"formula not typeset: {text}" for text in seen["bare"]]
        wrong += [f"font not loaded: {name}" for name in seen["fonts"]]
        for image in seen["images"]:
            if not image["loaded"]:
                wrong.append(f"image not loaded: {image['name']}")
            if not image["alt"].strip() or re.fullmatch(r"\S+\.\w{3,4}", image["alt"].strip()):
                wrong.append(f"image without description: {image['name']} (alt {image['alt']!r})")
        wrong += [f"dropdown open at the start: {text}" for text in seen["opened"]]
        wrong += [f"dropdown that no button opens: {text}" for text in seen["stuck"]]
        self.inside[path] = set(seen["inside"])
        wrong += [problem for link in seen["links"] if (problem := self.broken(path, link))]
        wrong += page.evaluate("checkPages.cuts()")
        headers = page.evaluate("checkPages.emptyHeaders()")
        wrong += [f"table with an empty header over {text!r}" for text in headers]
        wrong += self.on_paper(page)
        page.set_viewport_size(PHONE)
        width = page.evaluate("checkPages.width()")
        wrong += [f"wider than {width['window']} px: {text}" for text in width["wide"]]
        wrong += [f"scrolls, but not by the keyboard: {text}" for text in width["stuck"]]
        if width["page"] > width["window"] and not width["wide"]:
            wrong.append(f"the page is {width['page']} px wide in a window of {width['window']} px")
        page.set_viewport_size(DESKTOP)
        page.evaluate(AXE_SCRIPT)
        wrong += page.evaluate("checkPages.accessible()")
        return list(dict.fromkeys(wrong + noise))

    def on_paper(self, page) -> list[str]:
        """What print would cut, printed from a window of the size that the page has now."""
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size(PAPER)
        found = page.evaluate("checkPages.paper()")
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        return found

    def broken(self, path, link):
        """What is wrong with a link inside the book (others are not followed), or None."""
        parts = urlsplit(link["url"])
        if parts.scheme != "file":
            return None
        self.count["links"] += 1
        target, fragment = pathlib.Path(unquote(parts.path)), unquote(parts.fragment)
        if not target.is_relative_to(self.html):
            return f"link out of the book: {link['text']!r} -> {target}"
        if not target.is_file():
            return f"link to a missing file: {link['text']!r} -> {target.relative_to(self.html)}"
        if not fragment or target.suffix != ".html":
            return None
        if target not in self.anchors:
            self.anchors[target] = Anchors(target.read_text()).found
        if fragment not in self.anchors[target]:
            return f"link to a missing anchor: {link['text']!r} -> {target.relative_to(self.html)}#{fragment}"
        self.linked.setdefault(target, set()).add(fragment)
        return None

    def follow(self, path: pathlib.Path) -> list[str]:
        """Links of the whole book into the dropdowns of one page that do not show their target.

        Each must show it to one who comes from another page and to one who is on this page.
        """
        targets = sorted(self.linked.get(path, set()) & self.inside[path])
        self.count["into dropdowns"] = self.count.get("into dropdowns", 0) + len(targets)
        if not targets:
            return []

        def shut(page):
            page.goto(f"{path.as_uri()}#{targets[0]}")
            arrived = page.evaluate("id => checkPages.arrived(id)", targets[0])
            hidden = set(page.evaluate("ids => checkPages.hidden(ids)", targets))
            hidden |= set() if arrived else {targets[0]}
            words = "leaves its dropdown shut; put the target into a {dropdown}"
            return [f"a link to #{name} {words}" for name in sorted(hidden)]

        return self.patiently(shut)


# A link of each kind in a chapter must show what it leads to when the keyboard reaches it: (link, what it must show).
CHAPTER = "chapters/pspin/replica_method"
PREVIEWS = [
    ("a[href*='spherical_pspin.html#equation-']", "mjx-container mjx-mi"),
    ("a[href^='#equation-']", "mjx-container mjx-mi"),
    ("a[href*='#term-']", "p b"),
    ("a[href*='bibliography.html#id']", "p em"),
]


def previews(browser, html: pathlib.Path) -> list[str]:
    """Links that show no preview when they get the focus, or keep it after Esc."""
    wrong, page = [], browser.new_context(offline=True, viewport=DESKTOP).new_page()
    page.set_default_timeout(60_000)
    for link, inside in PREVIEWS:
        page.goto((html / f"{CHAPTER}.html").as_uri())
        page.wait_for_function("() => window.MathJax?.startup?.promise?.then(() => true)")
        page.keyboard.press("Tab")  # from now on the focus is the keyboard's
        page.evaluate(
            "link => { scrollTo(0, 0); [...document.querySelectorAll('article ' + link)]"
            ".filter(e => e.checkVisibility({checkVisibilityCSS: true})).pop().focus(); }",
            link,
        )
        try:
            page.wait_for_selector(f".preview {inside}", timeout=20_000)
        except Timeout:
            wrong.append(f"a link {link} of {CHAPTER} shows no preview")
            continue
        page.keyboard.press("Escape")
        if page.query_selector(".preview"):
            wrong.append(f"Esc leaves the preview of a link {link} of {CHAPTER}")
    return wrong


def named(name: str, pages: list[pathlib.Path]) -> pathlib.Path:
    """The one page whose name is ``name`` or ends in it."""
    wanted = pathlib.PurePosixPath(name.removesuffix(".html") + ".html").parts
    found = [page for page in pages if page.parts[-len(wanted) :] == wanted]
    if len(found) != 1:
        sys.exit(
            f"check-pages: {len(found)} built pages are called {name}; write chapters/pspin/replica_method"
        )
    return found[0]


def main(html: pathlib.Path, chromium: str, *names: str) -> int:
    start, wrong = time.perf_counter(), {}
    pages = pages_of(html)
    paths = [named(name, pages) for name in names] or pages
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        checker = Checker(browser, html)
        for path in paths:
            begun = time.perf_counter()
            wrong[path] = checker.check(path)
            report(path.relative_to(html), wrong[path], time.perf_counter() - begun)
        for path in paths:
            if found := checker.follow(path):
                wrong[path] += found
                report(path.relative_to(html), found, 0.0)
        if not names and (html / f"{CHAPTER}.html").is_file():
            if found := previews(browser, html):
                wrong[html / f"{CHAPTER}.html"] += found
                report(pathlib.Path(f"{CHAPTER}.html"), found, 0.0)
        browser.close()
    seconds = time.perf_counter() - start
    looked = ", ".join(f"{n} {what}" for what, n in {"pages": len(paths), **checker.count}.items())
    defects = sum(map(len, wrong.values()))
    verdict = f"{defects} DEFECTS on {sum(map(bool, wrong.values()))} pages"
    print(f"== {looked}: {verdict if defects else 'all well'} ({seconds:.0f} s)")
    return 1 if defects or not paths else 0


def report(name, wrong, seconds):
    print(f"{'WRONG' if wrong else 'ok':5} {seconds:5.1f} s  {name.with_suffix('')}", flush=True)
    for problem in wrong:
        print(f"               - {problem}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]))
