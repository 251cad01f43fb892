"""Open every page of the built book from disk, without a network, and report what a reader would find broken.

python tools/check_pages.py HTML_FOLDER CHROMIUM      (tools/check_pages finds both)
"""
import pathlib
import re
import sys
import time
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urlsplit

from playwright.sync_api import TimeoutError as Timeout
from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 400, "height": 800}

# What the tools under the book say although nothing is wrong: (pattern, why it may stay).
KNOWN = [
    (r"Identifier 'THEBE_JS_URL' has already been declared", "Jupyter Book 1 includes its thebe snippet twice; thebe is off"),
    (r"Got invalid theme mode: \. Resetting to auto", "the theme's first visit: no light or dark mode is stored yet"),
    (r"_static/vendor/fontawesome/\S+\.woff2", "the theme preloads its icons with crossorigin, which file: refuses; the style sheet "
                                               "then loads them (a font that stays missing is reported by itself)"),
]

READ_PAGE = r"""() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const excerpt = text => [...text.trim().replace(/\s+/g, ' ')].slice(0, 70).join('');
  const raw = [], skip = 'code, pre, script, style, textarea, noscript, mjx-container';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());)
    if (/\$[^$]+\$|\$\$|\\[()\[\]]|\\[a-zA-Z]{2,}/.test(node.data) && !node.parentElement.closest(skip)) raw.push(excerpt(node.data));
  if (/\$|\\[(a-zA-Z]/.test(document.title)) raw.push('page title: ' + document.title);
  const inside = {};
  for (const block of all('details, .toggle'))
    for (const target of all('[id]', block)) inside[target.id] = 1;
  return {
    raw,
    red: all('mjx-container').filter(e => e.querySelector('mjx-merror, [data-mjx-error], [style*="red"], [mathcolor="red"]')).map(e =>
      (e.querySelector('[data-mjx-error]')?.getAttribute('data-mjx-error') || 'red: ' + e.querySelector('mtext[mathcolor="red"]')?.textContent) +
      ' in ' + excerpt(e.querySelector('mjx-assistive-mml')?.textContent || e.textContent)),
    formulas: all('.math').length,
    bare: all('.math').filter(e => !e.querySelector('mjx-container')).map(e => excerpt(e.textContent)),
    images: all('img').map(e => ({name: e.src.split('/').pop().slice(-60), loaded: e.complete && e.naturalWidth > 0, alt: e.alt})),
    fonts: [...document.fonts].filter(f => f.status === 'error').map(f => f.family),
    opened: all('article details[open], article .toggle:not(.toggle-hidden)').map(e => excerpt(e.textContent)),
    stuck: all('article .toggle').filter(e => !e.querySelector('.toggle-button')).map(e => excerpt(e.textContent)),
    inside: Object.keys(inside),
    links: all('a[href]').map(e => ({url: e.href, text: excerpt(e.textContent)})),
  };
}"""

# At desktop width, with every dropdown open: formulas cut by their box or too wide for it, and other things that a box cuts.
READ_CUTS = r"""async () => {
  for (const e of document.querySelectorAll('details')) e.open = true;
  for (const e of document.querySelectorAll('.toggle-hidden')) e.classList.remove('toggle-hidden');
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const words = e => `in #${e.closest('[id]')?.id}: ${(e.querySelector('mjx-assistive-mml') || e).textContent.trim().replace(/\s+/g, ' ').slice(0, 50).toWellFormed()}`;
  const wrong = [];
  for (const formula of document.querySelectorAll('article mjx-container[display]')) {
    const glyphs = [...formula.querySelectorAll('mjx-math :is(mjx-c, mjx-line)')].map(e => e.getBoundingClientRect()).filter(r => r.width * r.height);
    const top = Math.min(...glyphs.map(r => r.top)), bottom = Math.max(...glyphs.map(r => r.bottom));
    for (let box = formula; box.matches('mjx-container, .math'); box = box.parentElement) {
      if (getComputedStyle(box).overflowY === 'visible') continue;
      const edge = box.getBoundingClientRect(), room = Math.min(top - edge.top, edge.bottom - bottom);
      if (room < 2) wrong.push(`formula with ${room.toFixed(1)} px of room before it is clipped, ${words(formula)}`);
    }
    const right = e => e.getBoundingClientRect().right;
    const wide = formula.scrollWidth > formula.clientWidth + 1 || right(formula) > right(formula.parentElement) + 1;
    if (wide) wrong.push(`formula of ${formula.querySelector('mjx-math').getBoundingClientRect().width.toFixed(0)} px in a column of ${formula.clientWidth} px ${words(formula)}`);
    const number = formula.parentElement.querySelector('.eqno');
    if (number && right(number) > right(formula.parentElement.parentElement) + 1) wrong.push(`formula whose number is out of its column ${words(formula)}`);
  }
  for (const e of document.querySelectorAll('article :is(pre, .highlight, table, .output)'))
    if (['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1) wrong.push(`cut at ${e.clientWidth} px: ${e.tagName.toLowerCase()} ${words(e)}`);
  return wrong;
}"""

EMPTY_HEADERS = """() => [...document.querySelectorAll('article thead th')].filter(e => !e.textContent.trim())
  .map(e => e.closest('table').querySelector('tbody tr')?.cells[e.cellIndex]?.textContent.trim().slice(0, 40))"""

# Text whose colour is too close to what lies behind it (WCAG asks for 4.5), in the light and in the dark.
READ_CONTRAST = r"""() => {
  const parts = colour => colour.match(/[\d.]+/g).map(Number);
  const over = (top, below) => [0, 1, 2].map(i => top[i] * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)));
  const light = rgb => rgb.map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const faint = {}, page = document.documentElement, before = page.dataset.theme;
  for (const theme of ['light', 'dark']) {
    page.dataset.theme = theme;
    for (const e of document.querySelectorAll('article *')) {
      const box = e.getBoundingClientRect(), own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
      if (!own || !box.width || !box.height || e.closest('mjx-container, pre, script, style, .headerlink, :disabled')) continue;
      let behind = [255, 255, 255];
      const layers = [];
      for (let p = e; p; p = p.parentElement) layers.push(parts(getComputedStyle(p).backgroundColor));
      for (const layer of layers.reverse()) behind = over(layer, behind);
      const [a, b] = [light(over(parts(getComputedStyle(e).color), behind)), light(behind)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) faint[`contrast ${ratio.toFixed(2)} (${theme}) of ${e.tagName.toLowerCase()}.${String(e.className).split(' ')[0]}`] = e.textContent.trim().slice(0, 40).toWellFormed();
    }
  }
  page.dataset.theme = before ?? '';
  return Object.entries(faint).map(([what, text]) => `${what}: ${text}`);
}"""

# At phone width, with every dropdown open: what reaches past the window and is not in a box of its own that scrolls.
READ_WIDTH = r"""async () => {
  for (const e of document.querySelectorAll('details')) e.open = true;
  for (const e of document.querySelectorAll('.toggle-hidden')) e.classList.remove('toggle-hidden');
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const boxed = e => { for (let p = e; p && !p.querySelector('h1'); p = p.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX) && p.getBoundingClientRect().right <= innerWidth + 1) return true; return false; };
  const wide = [...document.querySelectorAll('article *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right > innerWidth + 1 && !e.closest('mjx-assistive-mml') && !boxed(e); });
  const deepest = wide.filter(e => !wide.some(o => o !== e && e.contains(o)));
  const owners = new Set(deepest.map(e => e.closest('mjx-container, table, pre, img, code, dt, .math') || e));
  return {page: document.scrollingElement.scrollWidth, window: innerWidth, wide: [...owners].map(e =>
    `${e.tagName.toLowerCase()}${e.className && e.className.baseVal === undefined ? '.' + String(e.className).split(' ')[0] : ''}` +
    ` reaching ${Math.round(e.getBoundingClientRect().right)} px in #${e.closest('[id]')?.id}: ${(e.innerText || e.alt || '').trim().replace(/\s+/g, ' ').slice(0, 50).toWellFormed()}`)};
}"""

# A link within the page to each id in turn, every dropdown shut before: which stay hidden.
FOLLOW = r"""async ids => {
  const hidden = [];
  for (const id of ids) {
    for (const e of document.querySelectorAll('article details')) e.open = false;
    const link = document.createElement('a');
    link.href = '#' + id; document.body.append(link); link.click(); link.remove();
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let e = document.getElementById(id)?.parentElement; e; e = e.parentElement)
      if ((e.tagName === 'DETAILS' && !e.open) || e.classList.contains('toggle-hidden')) { hidden.push(id); break; }
  }
  return hidden;
}"""


class Anchors(HTMLParser):
    """The ids (and old-style names) a page offers as targets of links."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found |= {value for key, value in attrs if key == "id" or (key == "name" and tag == "a")}


def pages_of(html: pathlib.Path) -> list[pathlib.Path]:
    """The pages of the table of contents: those whose source Sphinx has copied beside them."""
    return sorted(p for p in html.rglob("*.html") if list((html / "_sources" / p.relative_to(html).parent).glob(p.stem + ".*")))


def is_known(text: str) -> bool:
    return any(re.search(pattern, text) for pattern, _ in KNOWN)


class Checker:
    """Checks pages of one folder with one offline browser context; ``linked`` and ``inside`` gather what ``follow`` needs."""

    def __init__(self, browser, html, patience_ms=30_000):
        self.html, self.context, self.patience_ms = html, browser.new_context(offline=True, viewport=DESKTOP), patience_ms
        self.context.set_default_timeout(patience_ms)
        self.anchors, self.linked, self.inside = {}, {}, {}
        self.count = dict.fromkeys(("formulas", "images", "links"), 0)

    def check(self, path: pathlib.Path) -> list[str]:
        """Everything wrong with one page, in words."""
        noise, wrong = [], []
        page = self.context.new_page()
        page.on("console", lambda m: noise.append(f"console: {m.text} ({m.location.get('url', '')})") if m.type == "error" else None)
        page.on("pageerror", lambda e: noise.append(f"script error: {e}"))
        page.on("requestfailed", lambda r: noise.append(f"not loaded: {r.url}"))
        page.on("request", lambda r: wrong.append(f"asks the network for {r.url}") if r.url.startswith(("http:", "https:", "ws:", "wss:")) else None)
        page.goto(path.as_uri())
        if page.query_selector(".math"):
            try:
                page.wait_for_function("() => window.MathJax?.startup?.promise?.then(() => true)")
            except Timeout:
                wrong.append(f"MathJax did not finish within {self.patience_ms / 1000:.0f} s")
        page.evaluate("document.fonts.ready.then(() => 0)")
        seen = page.evaluate(READ_PAGE)
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
        wrong += page.evaluate(READ_CUTS) + page.evaluate(READ_CONTRAST)
        wrong += [f"table with an empty header over {text!r}" for text in page.evaluate(EMPTY_HEADERS)]
        page.set_viewport_size(PHONE)
        width = page.evaluate(READ_WIDTH)
        wrong += [f"wider than {width['window']} px: {text}" for text in width["wide"]]
        if width["page"] > width["window"] and not width["wide"]:
            wrong.append(f"the page is {width['page']} px wide in a window of {width['window']} px")
        page.close()
        return list(dict.fromkeys(wrong + [text for text in noise if not is_known(text)]))

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
        """Links of the whole book into the dropdowns of one page: each must show its target, from another page and from this one."""
        targets = sorted(self.linked.get(path, set()) & self.inside[path])
        self.count["into dropdowns"] = self.count.get("into dropdowns", 0) + len(targets)
        if not targets:
            return []
        page = self.context.new_page()
        page.goto(f"{path.as_uri()}#{targets[0]}")
        arrived = page.evaluate("id => { const e = document.getElementById(id).parentElement.closest('details, .toggle');"
                                "return e.open || !(e.tagName === 'DETAILS' || e.classList.contains('toggle-hidden')); }", targets[0])
        hidden = set(page.evaluate(FOLLOW, targets)) | (set() if arrived else {targets[0]})
        page.close()
        return [f"a link to #{name} leaves its dropdown shut; put the target into a {{dropdown}}" for name in sorted(hidden)]


SEARCH = ["cavity", "spin glass", "空腔", "退火", "对称", "自旋玻璃", "复本"]  # the search box must find these words


def search(browser, html: pathlib.Path) -> list[str]:
    """The words of SEARCH that the search page of the book does not find."""
    lost, page = [], browser.new_context(offline=True).new_page()
    for word in SEARCH:
        page.goto(f"{(html / 'search.html').as_uri()}?q={quote(word)}")
        page.wait_for_function("() => /finished|did not match/.test(document.querySelector('.search-summary')?.textContent)")
        if not page.query_selector("ul.search li"):
            lost.append(f"the search finds nothing for {word}")
    return lost


def main(html: pathlib.Path, chromium: str) -> int:
    start, wrong = time.perf_counter(), {}
    paths = pages_of(html)
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
        if wrong.setdefault(html / "search.html", search(browser, html)):
            report(pathlib.Path("search.html"), wrong[html / "search.html"], 0.0)
        browser.close()
    seconds = time.perf_counter() - start
    looked = ", ".join(f"{n} {what}" for what, n in {"pages": len(paths), **checker.count}.items())
    defects = sum(map(len, wrong.values()))
    print(f"== {looked}: " + (f"{defects} DEFECTS on {sum(map(bool, wrong.values()))} pages" if defects else "all well") + f" ({seconds:.0f} s)")
    return 1 if defects or not paths else 0


def report(name, wrong, seconds):
    print(f"{'WRONG' if wrong else 'ok':5} {seconds:5.1f} s  {name.with_suffix('')}", flush=True)
    for problem in wrong:
        print(f"               - {problem}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]))
