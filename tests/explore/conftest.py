"""A browser for the live figures: ``physics`` calls their formulas, ``opened`` shows them.

``make check-pages`` runs these tests on the built book; elsewhere they are skipped. A figure that no built page has
yet is shown on a page of its own.
"""

import json
import os
import pathlib
import re
import shutil

import pytest
from live_figures import FOLDER

ROOT = pathlib.Path(__file__).parents[2]
HTML = pathlib.Path(os.environ.get("CHECK_PAGES_HTML", ROOT / "_build" / "html")).resolve()
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))
PLAIN = """(key, x) => ArrayBuffer.isView(x) ? [...x] : typeof x === 'number' && !Number.isFinite(x) ? String(x) : x"""


@pytest.fixture(scope="session")
def browser():
    """Chromium without a network, or a skip that says why."""
    if not os.environ.get("CHECK_PAGES"):
        pytest.skip("the live figures are tried in a browser by `make check-pages`")
    import check_pages

    with check_pages.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=check_pages.FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def physics(browser):
    """physics(expression, *arguments): its value in the browser; p is explore.physics, a the list of the arguments.

    Typed arrays come back as lists, numbers that are not finite as strings.
    """
    page = browser.new_context(offline=True).new_page()
    for path in sorted(FOLDER.glob("*.js")):
        page.add_script_tag(path=path)

    def value(expression, *arguments):
        call = (
            f"a => {{ const p = explore.physics; return JSON.stringify({expression}, {PLAIN}); }}"
        )
        text = page.evaluate(call, list(arguments))
        return None if text is None else json.loads(text)

    yield value
    page.context.close()


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    """places(name, bare): the built page that has the live figure ``name``; if none or ``bare``, a page of its own."""
    text = {path: path.read_text(encoding="utf-8") for path in sorted(HTML.rglob("*.html"))}
    folder = tmp_path_factory.mktemp("bare")

    def place(name, bare):
        import stills

        shown = re.compile(rf'<img[^>]*class="(?:[^"]* )?explore-{name}[" ]')
        found = [] if bare else [path for path, words in text.items() if shown.search(words)]
        return found[0] if found else stills.bare(folder, name)

    return place


@pytest.fixture
def opened(browser, places):
    """opened(name, query="", bare=False, **context): the page of the live figure ``name``; page.wrong lists its errors.

    ``page.figure(expression)`` evaluates with f = the live figure's {state, probe(), ...}; ``page.visit(query)``
    goes to a link of the figure.
    """
    contexts = []

    def open_page(name, query="", before="", bare=False, **options):
        options = {"viewport": {"width": 1280, "height": 1000}, **options}
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.wrong = []
        page.on("pageerror", lambda error: page.wrong.append(str(error)))

        def heard(message):
            if message.type == "error" and "theme mode" not in message.text:
                page.wrong.append(message.text)

        page.on("console", heard)
        if before:
            page.add_init_script(before)
        address = places(name, bare).as_uri()
        page.visit = lambda query: (page.goto("about:blank"), page.goto(address + query))
        page.goto(address + query)
        get = "const f = document.querySelector('.explore')?.figure"
        page.figure = lambda expression: page.evaluate(f"() => {{ {get}; return {expression}; }}")
        if options.get("java_script_enabled", True) and not before:
            page.wait_for_selector(f".ex-{name} svg").scroll_into_view_if_needed()
        return page

    yield open_page
    for context in contexts:
        context.close()
