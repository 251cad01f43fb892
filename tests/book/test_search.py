"""The search page of the built book in a browser, from disk and from a server: what 32 searches lead to.

`make check-pages` runs this. The searches and their targets (searches.yml) were written down before the search was
tuned, by somebody who did not tune it; change the search, not them.
"""

import functools
import http.server
import os
import pathlib
import shutil
import threading
from urllib.parse import quote

import check_pages
import pytest
import yaml

HERE = pathlib.Path(__file__).parent
HTML = pathlib.Path(
    os.environ.get("CHECK_PAGES_HTML", HERE.parents[1] / "_build" / "html")
).resolve()
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))
SEARCHES = yaml.safe_load((HERE / "searches.yml").read_text(encoding="utf-8"))
WORDS = "cavity, spin glass, 1RSB, GAMP, Gardner, β, Kauzm, 空腔, 退火, 对称, 自旋玻璃, 复本"
RESULTS = """() => [...document.querySelectorAll('#search-results > li')].map(li => ({
    to: li.querySelector('a').getAttribute('href').replace('.html', ''), name: li.querySelector('a').textContent,
    where: li.querySelector('.where').textContent, words: li.querySelector('p').textContent}))"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module", params=["from disk", "served"])
def book(request):
    """The address of the book."""
    if request.param == "from disk":
        yield HTML.as_uri()
        return
    handler = functools.partial(Quiet, directory=HTML)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with check_pages.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=check_pages.FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, book):
    """A page that keeps what it asks for outside of the book, and what it says."""
    page = browser.new_context(viewport=check_pages.DESKTOP).new_page()
    page.set_default_timeout(60_000)
    page.wrong = []
    page.on("console", lambda message: page.wrong.append(message.text))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda r: r.url.startswith((book, "data:")) or page.wrong.append(r.url))
    yield page
    page.context.close()


def asked(page, book, query):
    page.goto(f"{book}/search.html?q={quote(query)}")
    return page.evaluate(RESULTS)


def leads(result, targets):
    return any(result["to"] == t or result["to"].split("#")[0] == t for t in targets)


def test_searches_lead_to_their_chapter_or_term(page, book):
    """Of the 32, in November 2026, 27 have the target first and 31 among the first three.

    Pagefind counted by pages: 17 and 24; not given the pages of chapters/reference, 22 and 25.
    """
    places = {}
    for search in SEARCHES:
        found = asked(page, book, search["query"])
        hits = [leads(result, search["to"]) for result in found]
        places[search["query"]] = hits.index(True) + 1 if True in hits else 99
        for result in found:
            assert "#" in result["to"] and result["name"] and result["where"], result
            assert "\\" not in result["words"] + result["name"], result
    assert len(SEARCHES) == 32 and not page.wrong
    assert sum(place == 1 for place in places.values()) >= 25, places
    assert sum(place <= 3 for place in places.values()) >= 29, places


def test_words_their_beginnings_and_parts_of_chinese_words_are_found(page, book):
    assert [
        word for word in WORDS.split(", ") if not asked(page, book, word)
    ] == [] and not page.wrong
    assert asked(page, book, "qqqq") == []
    assert page.inner_text("#search-status") == "Nothing was found for qqqq."


@pytest.mark.parametrize("way", ["keyboard", "phone"])
def test_the_field_of_a_page_leads_to_the_results(page, book, way):
    if way == "phone":
        page.set_viewport_size(check_pages.PHONE)
    page.goto(f"{book}/chapters/pspin/replica_method.html")
    if way == "phone":
        page.click(".article-header-buttons .search-button")
    else:
        page.keyboard.press("Control+k")
    page.keyboard.type("cavity method")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results a")
    page.fill("article input", "replica trick")  # results follow the words, without Enter
    first = page.locator("#search-results a").first
    page.wait_for_function("() => /replica/.test(document.querySelector('#search-results a').text)")
    assert "q=replica%20trick" in page.url
    page.press("article input", "Enter")
    assert first.evaluate("e => e === document.activeElement")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*.html#*")


class Asked(str):
    """An address in the place of a path."""

    as_uri = str.__str__


def test_the_results_are_a_page_like_others(browser):
    """Its links have targets, it fits a phone, and axe-core has nothing against it."""
    checker = check_pages.Checker(browser, HTML)
    found = Asked(f"{HTML.as_uri()}/search.html?q=belief%20propagation")
    assert checker.check(found) == [] and checker.count["links"] > 40
