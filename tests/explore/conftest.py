"""A browser for the live figures: ``physics`` calls their formulas, ``bare`` and ``opened`` show them.

``make check-pages`` runs these tests on the built book; elsewhere they are skipped.
"""

import json
import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).parents[2]
HTML = pathlib.Path(os.environ.get("CHECK_PAGES_HTML", ROOT / "_build" / "html")).resolve()
CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))


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

    Typed arrays come back as lists.
    """
    page = browser.new_context(offline=True).new_page()
    for path in sorted((ROOT / "_static" / "explore").glob("*.js")):
        page.add_script_tag(path=path)
    plain = "JSON.stringify(v, (k, x) => ArrayBuffer.isView(x) ? [...x] : typeof x === 'number' && !Number.isFinite(x) ? String(x) : x)"

    def value(expression, *arguments):
        text = page.evaluate(
            f"a => {{ const p = explore.physics, v = {expression}; return {plain}; }}",
            list(arguments),
        )
        return None if text is None else json.loads(text)

    yield value
    page.context.close()


@pytest.fixture
def opened(browser):
    """opened(name, query="", **context): the built page with the live figure ``name``; page.wrong lists its errors.

    ``page.figure(expression)`` evaluates with f = the live figure's {state, probe(), ...}.
    """
    contexts = []

    def open_page(name, query="", **options):
        pages = [
            path
            for path in sorted(HTML.rglob("*.html"))
            if f'class="explore-{name}' in path.read_text(encoding="utf-8")
            or f" explore-{name}" in path.read_text(encoding="utf-8")
        ]
        if not pages:
            pytest.skip(f"no page of {HTML} has the figure {name}")
        options = {"viewport": {"width": 1280, "height": 1000}, **options}
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.wrong = []
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on(
            "console",
            lambda message: (
                message.type == "error"
                and "theme mode" not in message.text
                and page.wrong.append(message.text)
            ),
        )
        page.goto(pages[0].as_uri() + query)
        page.figure = lambda expression: page.evaluate(
            f"() => {{ const f = document.querySelector('.ex-{name}').figure; return {expression}; }}"
        )
        if options.get("java_script_enabled", True):
            page.wait_for_selector(f".ex-{name} svg").scroll_into_view_if_needed()
        return page

    yield open_page
    for context in contexts:
        context.close()
