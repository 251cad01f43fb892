"""The check of the built pages finds each defect it promises to find, planted one at a time.

`make check-pages` runs this first.
"""

import os
import pathlib
import shutil
import sysconfig

import check_pages
import pytest

CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
MATHJAX = (
    pathlib.Path(sysconfig.get_path("purelib"))
    / "sphinx-mathjax-offline/static/mathjax/tex-chtml.js"
)
TEX = f'<script src="{MATHJAX.as_uri()}"></script>'
LONG = "a_{1}" + "+b_{12345}" * 40
# As reading.css does.
DISPLAY = "mjx-container { overflow: auto hidden; padding: .4rem 0 } article { max-width: 600px }"
NO_PADDING = "mjx-container { padding: 0 !important; %s }"
NUMBERED = (
    ".math { display: flex; flex-direction: row-reverse } mjx-container { flex-grow: 1 } "
    ".eqno { position: relative; left: 5px }"
)


def style(*rules):
    return f"<style>{' '.join(rules)}</style>"


def display(tex, number=""):
    return f'<div class="math">{number}\\[{tex}\\]</div>'


PLANTED = {  # name: (body of the page, the words of the report; None: nothing is wrong)
    "clean": (
        f'{TEX}<p class="math">\\(a^2\\)</p><img src="{DOT}" alt="A black dot.">'
        '<p>either <a href="other.html#there">go</a> there or <a href="#in">in</a> here</p>'
        '<details><summary>More</summary><p>x</p><p id="in">y</p></details><code>$$ \\frac $$</code>',
        None,
    ),
    "raw-dollars": ("<p>so $$ x = 1 $$ holds</p>", "raw TeX: so $$ x"),
    "raw-command": ("<p>a \\frac left</p>", "raw TeX: a \\frac left"),
    "not-typeset": ('<p class="math"><span>x</span></p>', "MathJax did not finish"),
    "unknown-macro": (
        f'{TEX}<p class="math">\\(\\nothing\\)</p>',
        "formula with an error: red: \\nothing",
    ),
    "open-brace": (f'{TEX}<p class="math">\\(\\frac{{1}}{{2\\)</p>', "\\frac{1}{2"),
    "no-right": (
        f'{TEX}<p class="math">\\(\\left( x\\)</p>',
        "formula with an error: Extra \\left or missing \\right",
    ),
    "display": (TEX + style(DISPLAY) + display("\\frac{a^2}{b} = \\sum_1^2 c"), None),
    "clipped-above": (
        TEX + style(DISPLAY, NO_PADDING % "height: 20px") + display("\\frac{a^2}{b}"),
        "before it is clipped",
    ),
    "clipped-a-little": (
        TEX
        + style(DISPLAY, ".math { overflow: hidden }", NO_PADDING % "margin: 0 !important")
        + display("\\frac{a^2}{b}"),
        "before it is clipped",
    ),
    "wide-formula": (TEX + style(DISPLAY) + display(LONG), "px in a column of 600 px"),
    "wide-formula-moves-page": (
        TEX + display("+b_{12345}" * 15),
        "wider than 400 px: mjx-container",
    ),
    "cut-on-paper": (
        TEX
        + style("mjx-container { overflow: auto hidden; padding: .4rem 0 }")
        + display("+b_{12345}" * 15),
        "on paper too wide: mjx-container",
    ),
    "drawn-on-paper": (
        '<details class="hide"><summary>code</summary>x</details>',
        "on paper code that draws: details",
    ),
    "number-out": (
        TEX + style(DISPLAY, NUMBERED) + display("a", '<span class="eqno">(1)</span>'),
        "whose number is out of its column",
    ),
    "cut-code": (
        '<div class="highlight" style="max-width: 300px; overflow: hidden">'
        '<pre style="width: 380px">x</pre></div>',
        "cut at 300 px",
    ),
    "faint": (
        style("[data-theme=light] p { color: #888 }") + "<p>faint words</p>",
        "color-contrast (light) 3.54 of <p>faint words",
    ),
    "faint-in-the-dark": (
        style("[data-theme=dark] article { background: #000 } [data-theme=dark] p { color: #555 }")
        + "<p>words</p>",
        "color-contrast (dark) 2.81 of <p>words",
    ),
    "nameless": ("<button></button>", "button-name (light)"),
    "unlabelled": ("<input type=text>", "label (light)"),
    "empty-header": (
        "<table><thead><tr><th></th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "empty header over '1'",
    ),
    "lost-image": ('<img src="gone.png" alt="Words.">', "image not loaded: gone.png"),
    "no-alt": (f'<img src="{DOT}">', "image without description"),
    "alt-is-a-name": (f'<img src="{DOT}" alt="_images/ab12.png">', "image without description"),
    "console": ("<script>console.error('oh')</script>", "console: oh"),
    "chatter": ("<script>console.log('here I am')</script>", "console: here I am"),
    "script": ("<script>null.x</script>", "script error:"),
    "two-brackets": ("<p>as (<a>(18.1)</a>) says</p>", "two pairs of brackets: as ((18.1)) says"),
    "torn": (
        f'{TEX}<p style="width: 100px"><span class="math">\\(a+b+c+d\\)</span><br>, so</p>',
        "a line begins with the sign after a formula: , so",
    ),
    "code-runs-out": (
        '<div class="cell_input" style="max-width: 300px"><pre style="overflow: auto" tabindex="0">'
        + "x" * 90
        + "</pre></div>",
        "code that runs out of its box",
    ),
    "network": (
        '<script src="https://example.org/x.js"></script>',
        "asks the network for https://example.org/x.js",
    ),
    "open-dropdown": (
        "<details open><summary>D</summary>x</details>",
        "dropdown open at the start",
    ),
    "stuck-toggle": ('<div class="toggle toggle-hidden">x</div>', "dropdown that no button opens"),
    "wide": ('<p style="width: 900px">wide words</p>', "wider than 400 px: p reaching"),
    "wide-page-scrolls": (
        '<section style="overflow-x: auto" tabindex="0"><h1>T</h1><p style="width: 900px">w</p></section>',
        "wider than 400 px: p reaching",
    ),
    "wide-but-clipped": (
        '<svg width="100" height="9"><clipPath id="c"><rect width="9" height="9"/></clipPath>'
        '<g clip-path="url(#c)"><rect width="900" height="9"/></g></svg>',
        None,
    ),
    "wide-in-a-box": (
        '<div style="overflow-x: auto" tabindex="0"><p style="width: 900px">w</p></div>',
        None,
    ),
    "wide-without-keys": (
        '<div style="overflow-x: auto"><p style="width: 900px">w</p></div>',
        "scrolls, but not by the keyboard: div",
    ),
    "lost-file": ('<a href="gone.html">go</a>', "link to a missing file: 'go' -> gone.html"),
    "lost-anchor": (
        '<a href="other.html#nowhere">go</a>',
        "link to a missing anchor: 'go' -> other.html#nowhere",
    ),
    "outside": ('<a href="../x.html">go</a>', "link out of the book"),
    "toggle-stays-shut": (
        '<p>then <a href="#in">go</a> in</p><div class="toggle toggle-hidden">'
        '<button class="toggle-button">B</button><p id="in">y</p></div>',
        None,
    ),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What the check says about each planted page, and about the links into its dropdowns."""
    html = tmp_path_factory.mktemp("book").resolve()
    (html / "_sources").mkdir()
    for name, (body, _) in {**PLANTED, "other": ('<p id="there">x</p>', None)}.items():
        (html / f"{name}.html").write_text(
            "<!doctype html><html lang=en><head><title>T</title></head>"
            f"<body><article>{body}</article></body></html>"
        )
        (html / "_sources" / f"{name}.md").touch()
    (html / "genindex.html").touch()  # made by Sphinx, no page of the book
    with check_pages.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=check_pages.FLAGS)
        checker = check_pages.Checker(browser, html, patience_ms=5_000)
        paths = check_pages.pages_of(html)
        found = {path.stem: checker.check(path) for path in paths}
        followed = {path.stem: checker.follow(path) for path in paths}
        browser.close()
    return found, followed


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_is_found_and_nothing_else_is(reports, name):
    found, words = reports[0][name], PLANTED[name][1]
    if words is None:
        assert found == []
    else:
        assert any(words in line for line in found), found
        # What the browser adds to a missing file or script, and paper to what is too wide for the screen.
        related = ("not loaded", "console", "formula not typeset", "on paper too wide")
        assert [line for line in found if words not in line and not line.startswith(related)] == []


def test_only_pages_with_a_source_are_checked(reports):
    assert set(reports[0]) == {*PLANTED, "other"}


def test_links_into_dropdowns_must_open_them(reports):
    said = {name: lines for name, lines in reports[1].items() if lines}
    assert list(said) == ["toggle-stays-shut"]
    assert "#in leaves its dropdown shut" in said["toggle-stays-shut"][0]


def test_a_page_is_named_by_the_end_of_its_name(tmp_path):
    pages = [
        tmp_path / "chapters" / part / f"{name}.html"
        for part, name in (("a", "x"), ("b", "x"), ("b", "y"))
    ]
    for name, found in (("y", 2), ("chapters/a/x", 0), ("b/x.html", 1)):
        assert check_pages.named(name, pages) == pages[found]
    for name in ("x", "z"):
        with pytest.raises(SystemExit, match=f"built pages are called {name}"):
            check_pages.named(name, pages)


class OnePageAtATime:
    """A stand-in for the browser's context: pages are counted, and all closed."""

    opened = closed = 0

    def new_page(self):
        self.opened += 1
        return self

    def close(self):
        self.closed += 1


@pytest.mark.parametrize(
    "hangs, said", [(0, []), (1, []), (2, ["the browser hangs: Page.goto: late"])]
)
def test_a_browser_that_hangs_is_asked_once_more(hangs, said):
    checker = object.__new__(check_pages.Checker)
    checker.context = OnePageAtATime()

    def look(page):
        if page.opened <= hangs:
            raise check_pages.Timeout("Page.goto: late\nCall log: ...")
        return []

    assert checker.patiently(look) == said
    assert checker.context.opened == checker.context.closed == min(hangs + 1, 2)
