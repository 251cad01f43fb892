"""Local Sphinx extension: the search page, and the index that its script reads.

The index is a script, search-index.js, because a page that is read from disk may load one and may not fetch. It has an
entry for each section, term, exercise, function and reference: the names that the page, the glossary and the general
index have for it, and its words. Everything is read from the built pages, so two builds write the same bytes;
_static/search.js finds and ranks.

(Pagefind 1.5.2, tried in November 2026: its index can be read from a server only, knows no term of the glossary as a
place, and leads to fewer of the targets of tests/book/searches.yml; test_search.py has the numbers.)
"""

import json
import pathlib
import posixpath
import re
import unicodedata

from bs4 import BeautifulSoup

ARTICLE = re.compile(r'<article class="bd-article">.*?</article>', re.S)
CONTENTS = re.compile(r'<nav class="bd-links.*?</nav>', re.S)
CODE = re.compile(r'<div class="highlight">.*?</pre></div>', re.S)  # most of a page, slow to parse
LEFT_OUT = (
    ".headerlink, .eqno, .viewcode-link, .output, .needs, .rails, .solution, .caption-number, .sd-octicon, .citation a,"
    "script, div.math, .hide > summary, .numbers > summary, details:has(> summary:-soup-contains('In this chapter'))"
)
ENTRIES = "section, .glossary dt:not(dt + dt), .exercise, .erratum, .citation, dt.sig[id]"
BESIDE = re.compile(r"[\d. ]*(Exercises|What is checked.*|Next)$")
INDEX = "chapters/reference/index.html"
NOT_READ = {INDEX, "chapters/reference/equation_index.html", "chapters/problems/exercises.html"}
SIGNS = dict(
    pair.split(":")
    for pair in (
        "infty:∞ to:→ sum:∑ int:∫ partial:∂ cdot:· times:× le:≤ leq:≤ ge:≥ geq:≥ ll:≪ gg:≫ ne:≠ approx:≈ simeq:≃ "
        "sim:∼ propto:∝ pm:± in:∈ top:⊤ ell:ℓ langle:⟨ rangle:⟩ lVert:‖ rVert:‖ sqrt:√ dots:… ldots:… cdots:… "
        "otimes:⊗ prime:′ star:⋆ ast:∗ mid:| varepsilon:ε varphi:φ"
    ).split()
) | {
    name: f"{name} " for name in "arg cos cosh det exp inf lim ln log max min sin sup tanh".split()
}
PAGE = """
<div class="bd-search-container">
<h1>Search</h1>
<noscript><p>The search needs JavaScript; the <a href="chapters/reference/index.html">general index</a> does not.</p>
</noscript>
<form class="bd-search" role="search">
<input type="search" class="form-control" name="q" aria-label="Search this book" placeholder="Search this book..."
 autocomplete="off" autocapitalize="off" spellcheck="false">
</form>
<p id="search-status" role="status"></p>
<ol id="search-results"></ol>
</div>
<script src="_static/search-index.js"></script>
"""


def sign(command: str) -> str:
    """What a command of TeX prints, as far as a line of text can: a letter or a sign, or nothing."""
    size = "CAPITAL" if command[0].isupper() else "SMALL"
    name = f"GREEK {size} LETTER {command.replace('lambda', 'lamda').upper()}"
    try:
        return SIGNS.get(command) or unicodedata.lookup(name)
    except KeyError:
        return ""


def plain(tex: str) -> str:
    r"""An inline formula as text.

    >>> plain(r"\(T_K=\frac{1}2,\ \mathbf{m}\le\beta^{2k}\)")
    'T_K=1/2,m≤β^2k'
    """
    part = r"\s*(?:\{([^{}]*)\}|(\w))"
    tex = re.sub(rf"\\[dt]?frac{part}{part}", r"{\1\2/\3\4}", re.sub(r"\\[^A-Za-z{}]", "", tex))
    tex = re.sub(r"\\([A-Za-z]+)\s*", lambda m: sign(m[1]), tex)
    return re.sub(r"[\\{}$&]", "", tex).strip()


def words(node) -> str:
    return re.sub(r"\s+", " ", node.get_text()).strip()


def names(text: str) -> list[str]:
    """The names in a line: what commas, brackets, colons and question marks part, without a number.

    >>> names("17.2. How many? The curve (曲线, LC)")
    ['How many', 'The curve', '曲线', 'LC']
    """
    parts = re.split(r"[,;()]|[:?] ", re.sub(r"^[\d.]+ ", "", text))
    return [part.strip() for part in parts if part.strip()]


def read(html: pathlib.Path, page: str):
    """The article of a page without code, outputs and displayed formulas, its inline formulas as text."""
    found = ARTICLE.search((html / page).read_text(encoding="utf-8"))
    article = BeautifulSoup(CODE.sub("", found[0]), "html.parser")
    for node in article.select(LEFT_OUT):
        node.replace_with(" ")
    for node in article.select(".math"):
        node.string = plain(node.get_text())
    return article


def contents(html: pathlib.Path) -> dict[str, str]:
    """The pages of the book in their order, each with its name in the table of contents."""
    bar = CONTENTS.search((html / "intro.html").read_text(encoding="utf-8"))[0]
    pages = {a["href"]: words(a) for a in BeautifulSoup(bar, "html.parser").select("a[href]")}
    return {"intro.html": pages.pop("#")} | pages


def indexed(html: pathlib.Path) -> dict[str, list[str]]:
    """The names that the general index has for a section that it calls the definition, or for a term."""
    found, places, see = {}, {}, []
    for line in read(html, INDEX).select("li"):
        head, _, rest = words(line).partition(": ")
        known = names(head)
        links = [a["href"] for a in line.select("strong a, a[href*='#term-']")]
        at = [posixpath.normpath(posixpath.join(posixpath.dirname(INDEX), link)) for link in links]
        if rest.startswith("see "):
            see.append((rest[4:], known))
        else:
            places[known[0]] = at
            for place in at:
                found.setdefault(place, []).extend(known)
    for target, known in see:
        for place in places.get(target, []):
            found.setdefault(place, []).extend(known)
    return found


def entry(node) -> tuple[str, str, str] | None:
    """Anchor, name and words of an entry, which are taken from the tree; a section without a heading is none."""
    kind, anchor = node.get("class", []), node.get("id")
    if node.name == "dt":
        says = node.find_next_sibling("dd")
        text = words((says.find("p") or says) if "sig" in kind else says)
        for part in [says, *node.find_next_siblings("dt"), node]:  # those of later terms have gone
            part.extract()
        return anchor, anchor if "sig" in kind else words(node), text
    head = node.find(re.compile("h[1-6]") if node.name == "section" else True, recursive=False)
    if head is None:
        return None
    label = node.find("span", id=re.compile("^(ch|sec|api)-"), recursive=False)
    name, text = words(head.extract()), words(node.extract())
    if "exercise" in kind:
        name = "Exercise: " + re.sub(r"^\(| \(★.*", "", name)
    if "erratum" in kind:
        name = f"Erratum {name}"
    return label["id"] if label else anchor, name, text


def index(html: pathlib.Path) -> dict:
    """All pages, and all entries: number of the page, anchor, name, other names, words."""
    pages, known, entries = contents(html), indexed(html), []
    for number, (page, title) in enumerate(pages.items()):
        if page in NOT_READ:
            continue
        made = [entry(node) for node in reversed(read(html, page).select(ENTRIES))]
        for anchor, name, text in filter(None, reversed(made)):
            name = title if anchor == made[-1][0] else name  # the contents say more than the page
            called = re.findall(r"Also called: (.*?)\.(?: |$)", text)
            others = names(name) + known.get(f"{page}#{anchor}", []) + names("".join(called))
            others = [n for n in dict.fromkeys(others) if [n] != names(name)]
            if not BESIDE.match(name):
                entries.append([number, anchor, name, others, text])
    return {"pages": list(pages.items()), "entries": entries}


def write(app, error):
    if error is None and app.builder.format == "html":
        static = pathlib.Path(app.outdir, "_static")
        text = json.dumps(index(static.parent), ensure_ascii=False, separators=(",", ":"))
        (static / "search-index.js").write_text(f"window.bookIndex={text};\n", encoding="utf-8")
        for script in ("searchtools.js", "language_data.js"):  # of Sphinx's search
            (static / script).unlink(missing_ok=True)


def only_there(app, pagename, templatename, context, doctree):
    """The script and the style of the search are for its page."""
    for key in ("script_files", "css_files"):
        files = context.get(key, [])
        own = [file for file in files if "/search." in str(getattr(file, "filename", file))]
        context[key] = [file for file in files if pagename == "search" or file not in own]


def search_page(app):
    yield "search", {"title": "Search", "body": PAGE}, "page.html"


def setup(app):
    app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))  # Sphinx's own
    app.connect("html-collect-pages", search_page)
    app.connect("html-page-context", only_there)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
