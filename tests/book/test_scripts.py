"""What the scripts of _static do to a page, in a browser: previews, Predict boxes, formulas on a phone.

`make check-pages` runs this first, with test_check_pages.py.
"""

import os
import pathlib
import shutil
import sysconfig

import check_pages
import pytest

PDF = (pathlib.Path(__file__).parents[2] / "tools" / "make_pdf.js").read_text(encoding="utf-8")
STATIC = pathlib.Path(__file__).parents[2] / "_static"
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))
MATHJAX = (
    pathlib.Path(sysconfig.get_path("purelib"))
    / "sphinx-mathjax-offline/static/mathjax/tex-chtml.js"
)
TEX = f'<script src="{MATHJAX.as_uri()}"></script>'
DISPLAY = "<style>* { box-sizing: border-box } mjx-container { overflow: auto hidden; padding: .4rem 0 }</style>"


@pytest.fixture(scope="module")
def context():
    with check_pages.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=check_pages.FLAGS)
        context = browser.new_context(offline=True, viewport=check_pages.DESKTOP)
        context.set_default_timeout(60_000)
        yield context
        browser.close()


@pytest.fixture
def page(context, tmp_path):
    """page(body, *files of _static) opens such a page; what its scripts throw fails the test."""
    page, thrown = context.new_page(), []
    page.on("pageerror", lambda error: thrown.append(error))

    def show(body, *files, data=None):
        (tmp_path / "_static").mkdir(exist_ok=True)
        head = ""
        for name in files:
            shutil.copy(STATIC / name, tmp_path / "_static")
            kind = name.endswith(".css")
            head += (
                f'<link rel="stylesheet" href="_static/{name}">'
                if kind
                else f'<script src="_static/{name}"></script>'
            )
        path = tmp_path / "page.html"
        path.write_text(
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>T</title>"
            f"{head}</head><body>{body}</body></html>"
        )
        if data is not None:
            page.route("**/preview-data.js", lambda route: data(route))
        page.goto(path.as_uri())
        if TEX in body:
            page.wait_for_function("() => window.MathJax?.startup?.promise?.then(() => true)")
        return page

    yield show
    page.close()
    assert thrown == []


def test_on_paper_a_figure_leaves_no_half_empty_page(page):
    """Pages of 1000 px: a picture that nearly fits gets smaller, another lets the text behind it pass."""
    text, tall = '<p style="height:{0}px;margin:0">t</p>', '<figure style="margin:0;height:{0}px">'
    picture = '<img style="height:{0}px;width:9px" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></figure>'
    opened = page(
        "<style>body, article { margin: 0 } figure { height: auto !important; font-size: 0 }</style>"
        + "".join(
            f'<article class="bd-article"><section>{text.format(first)}{tall.format(500)}{picture.format(500)}'
            f"{text.format(30) * 20}</section></article>"
            for first in (550, 700, 450)
        )
    )
    opened.evaluate("window.MathJax = {startup: {promise: Promise.resolve()}}")
    layout = {"height": 1000, "gap": 150, "smallest": 0.75}
    assert opened.evaluate(PDF, layout) == {"smaller": 1, "moved": 1, "left": 0}
    places = "a => [...a.querySelectorAll('figure')].map(f => [f.offsetHeight, [...f.parentNode.children].indexOf(f)])"
    first, second, third = opened.evaluate(f"({places})(document)")
    assert first[0] < 450 and first[1] == 1  # smaller, where it was
    assert second[0] == 500 and second[1] > 5  # whole, behind the text that fills the page
    assert third == [500, 1]  # it fits


LINKED = (
    '<article style="padding: 200px"><p>see <a href="other.html#term-a">a term</a> of the book</p>'
    '<p id="away">away</p></article>'
)


@pytest.mark.parametrize("late", [False, True])
def test_a_preview_that_was_left_while_its_data_loaded_does_not_stay(page, late):
    """Over, away, over again, and only then the file of the previews arrives: one box; away and Esc: none."""
    data = 'window.bookPreviews = {"other.html#term-a": "<p><b>a</b></p>what it is"};'
    asked = []

    def arrive(route):
        route.fulfill(body=data, content_type="text/javascript")

    here = page(LINKED, "previews.js", "previews.css", data=asked.append if late else arrive)
    link, away = here.locator("a"), here.locator("#away")
    for target in (link, away, link):
        target.hover()
        here.wait_for_timeout(500)
    for route in asked:
        arrive(route)
    here.wait_for_selector(".preview")
    here.wait_for_timeout(300)
    assert here.locator(".preview").count() == 1 and len(asked) == late
    away.hover()
    here.wait_for_timeout(600)
    here.keyboard.press("Escape")
    assert here.locator(".preview").count() == 0


def test_the_preview_of_a_wide_formula_is_whole(page):
    wide = "+b_{12345}" * 16
    body = (
        f"{TEX}{DISPLAY}<article style='max-width: 700px'><p><a href='#equation-w'>(1)</a></p>"
        f"<div style='height: 3000px'></div><div class='math' id='equation-w'>\\[a{wide}\\]</div></article>"
    )
    here = page(body, "previews.js", "previews.css")
    here.locator("a").hover()
    here.wait_for_selector(".preview mjx-math")
    here.wait_for_timeout(300)
    formula, room = here.evaluate(
        "() => ['.preview mjx-math', '.preview'].map(s => document.querySelector(s).getBoundingClientRect().width)"
    )
    assert 400 < formula <= room <= 700


def test_a_choice_in_a_predict_box_is_shown_beside_its_answer(page):
    box = (
        "<div class='admonition predict {}'><p class='admonition-title'>Predict</p><p>Is it?</p>"
        "<ul><li><p>yes</p></li><li><p>no</p></li></ul></div>"
    )
    here = page(
        f"<article>{box.format('')}<div class='cell'>1</div><p id='first'>No.</p><p>more</p>"
        f"{box.format('answer-2')}<p>first a word</p><p id='second'>Yes.</p>"
        "<div class='admonition predict'><p>Open question?</p></div></article>",
        "predict.js",
        "boxes.css",
    )
    assert here.locator("button").count() == 4 and not here.locator("ul").first.is_visible()
    assert here.locator(".predict-said").first.is_hidden()
    here.get_by_role("button", name="yes").first.click()
    here.get_by_role("button", name="no").first.click()
    here.get_by_role("button", name="yes").last.click()
    said = "id => document.getElementById(id).previousElementSibling.textContent"
    assert here.evaluate(said, "first") == "You predicted: no."
    assert here.evaluate(said, "second") == "You predicted: yes."
    assert here.locator("[aria-pressed=true]").all_inner_texts() == ["no", "yes"]
    here.emulate_media(media="print")
    assert here.locator("ul").first.is_visible() and here.locator("button").first.is_hidden()
    here.emulate_media(media="screen")


@pytest.mark.parametrize("terms, scrolls", [(1, False), (12, False), (30, True)])
def test_on_a_phone_a_formula_fits_or_scrolls_with_an_edge(page, terms, scrolls):
    number = '<span class="eqno">(1)</span>'
    rules = (
        "<style>body { margin: 0 } .math { display: flex; flex-direction: row-reverse } "
        ".math mjx-container { flex-grow: 1 }</style>"
    )
    here = page(
        f"{TEX}{rules}<article><div class='math'>{number}\\[a{'+b_1' * terms}\\]</div></article>",
        "reading.js",
        "reading.css",
    )
    here.set_viewport_size(check_pages.PHONE)
    here.reload()
    here.wait_for_function("() => window.MathJax?.startup?.promise?.then(() => true)")
    here.wait_for_timeout(400)
    formula = here.locator("mjx-container")
    assert formula.evaluate("e => e.scrollWidth > e.clientWidth + 1") is scrolls
    assert formula.evaluate("e => e.classList.contains('more-right')") is scrolls
    assert formula.evaluate("e => e.tabIndex === 0") is scrolls
    below = here.evaluate(
        "() => document.querySelector('.eqno').getBoundingClientRect().top"
        " >= document.querySelector('mjx-container').getBoundingClientRect().bottom - 1"
    )
    assert below is (terms > 1)
    here.set_viewport_size(check_pages.DESKTOP)


def test_an_inline_formula_that_scrolls_can_be_reached_with_the_keyboard(page):
    here = page(
        f"{TEX}<article><p style='width: 300px'>so \\(a{'+b_1' * 30}\\), and \\(b\\)</p></article>",
        "reading.js",
        "reading.css",
    )
    here.wait_for_timeout(400)
    assert here.locator("mjx-container").evaluate_all("all => all.map(e => e.tabIndex)") == [0, -1]
