"""Every live figure as a reader uses it: pointer, keys, a finger, no script, paper, no motion, a phone, a link."""

import re

import pytest
from live_figures import NAMES, PHONE, swipe

NOW = "JSON.stringify([f.state, f.probe()])"
LIMITS = "explore.figures[document.querySelector('.explore').className.match(/ex-([a-z0-9-]+)/)[1]].state"
TEXTS = "[...document.querySelectorAll('.explore svg text')].filter(e => e.textContent.trim())"

every = pytest.mark.parametrize("name", NAMES)


@every
def test_the_sentence_asks_and_then_changes(opened, name):
    page = opened(name, bare=True)
    first = page.text_content(".said")
    assert "?" in first, "a prediction is asked for before anything is answered"
    said = {first}
    for control in page.query_selector_all(".explore :is(.bar button, input, [role=slider])"):
        if control.evaluate("e => e.tagName === 'BUTTON'"):
            control.is_visible() and control.click()
        else:
            control.focus()
            for key in ("PageUp", "PageUp", "ArrowRight", "End"):
                page.keyboard.press(key)
        page.wait_for_timeout(250)
        said.add(page.text_content(".said"))
    assert len(said) > 2 and all(40 < len(text) < 300 for text in said), said
    assert not page.wrong


@every
def test_every_handle_has_keys_a_name_and_a_value(opened, name):
    page = opened(name, bare=True)
    handles = page.query_selector_all(".explore :is([role=slider], input)")
    assert handles
    for handle in handles:
        assert handle.get_attribute("aria-label")
        handle.focus()
        seen = {(page.figure(NOW), handle.get_attribute("aria-valuetext"))}
        for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
            page.wait_for_timeout(60)
            seen.add((page.figure(NOW), handle.get_attribute("aria-valuetext")))
        assert len(seen) > 1 and handle.get_attribute("aria-valuetext")
    assert not page.wrong


@every
def test_axe_finds_nothing_when_it_has_been_driven(opened, name):
    page = opened(name, bare=True)
    from axe_playwright_python.base import AXE_SCRIPT  # with the browser, not before

    for button in page.query_selector_all(".explore .bar button"):
        button.is_visible() and button.click()
    for handle in page.query_selector_all(".explore :is([role=slider], input)")[:4]:
        handle.focus()
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    page.evaluate(AXE_SCRIPT)
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.wait_for_timeout(200)
        found = page.evaluate("axe.run('.explore', {resultTypes: ['violations'], preload: false})")
        serious = [
            (each["id"], each["nodes"][0]["html"][:120])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert not serious, theme


@every
def test_without_scripts_and_on_paper_the_picture_stands(opened, name):
    page = opened(name, java_script_enabled=False)
    picture = page.locator(f"img.explore-{name}")
    assert picture.is_visible() and page.locator(".explore").count() == 0
    assert len(picture.get_attribute("alt")) > 0
    page = opened(name)
    live, picture = page.locator(".explore"), page.locator(f"img.explore-{name}")
    assert not picture.is_visible() and live.is_visible()
    assert live.get_attribute("aria-label") == picture.get_attribute("alt")
    page.emulate_media(media="print")
    assert picture.is_visible() and not live.is_visible()


@every
def test_a_broken_script_leaves_the_picture(opened, name):
    broken = "new Proxy({}, { get() { throw Error('broken'); }, set: () => true })"
    page = opened(name, before=f"globalThis.explore = {{ figures: {{}}, physics: {broken} }};")
    page.wait_for_timeout(300)
    assert (
        page.locator(f"img.explore-{name}").is_visible() and page.locator(".explore").count() == 0
    )
    assert any("broken" in text for text in page.wrong)


@every
def test_readers_who_want_no_motion_see_the_end_at_once(opened, name):
    page = opened(name, bare=True, reduced_motion="reduce")
    for button in page.query_selector_all(".explore .bar button"):
        if button.is_visible():
            button.click()
            page.wait_for_timeout(150)
            before = page.figure(NOW)
            page.wait_for_timeout(400)
            assert page.figure(NOW) == before, button.text_content()


@every
def test_on_a_phone(opened, name):
    page = opened(name, **PHONE)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400
    box = page.query_selector(".explore").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 400
    for control in page.query_selector_all(".explore :is(button, input)"):
        assert not control.is_visible() or control.bounding_box()["height"] >= 24
    sizes = f"{TEXTS}.map(e => parseFloat(getComputedStyle(e).fontSize))"
    assert min(page.evaluate(sizes)) >= 10
    edges = f"{TEXTS}.map(e => e.getBoundingClientRect()).filter(b => b.width).flatMap(b => [b.left, b.right])"
    assert -1 <= min(page.evaluate(edges)) and max(page.evaluate(edges)) <= 401
    assert not page.wrong


@every
def test_the_drawing_follows_its_column(opened, name):
    page = opened(name)
    for width in (400, 820, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(250)
        host = page.query_selector(".explore").bounding_box()
        drawings = "[...document.querySelectorAll('.explore :is(svg, canvas)')]"
        right = f"Math.max(...{drawings}.map(e => e.getBoundingClientRect().right))"
        assert page.evaluate(right) <= host["x"] + host["width"] + 1
    assert not page.wrong


@every
def test_a_state_can_be_linked(opened, name):
    page = opened(name, bare=True)
    limits = page.figure(LIMITS)
    first = page.figure("f.state")
    assert first == {key: values[0] for key, values in limits.items()}
    for key, (start, *rest) in limits.items():
        last = rest[-1] if isinstance(start, str) else rest[1]
        tries = {last: last, "nonsense": start}
        if not isinstance(start, str):
            tries["1e99"] = last
        for given, kept in tries.items():
            page.visit(f"?{key}={given}")
            assert page.figure("f.state")[key] == kept and not page.wrong


@every
def test_the_address_follows_the_hand(opened, name):
    page = opened(name, bare=True)
    for handle in page.query_selector_all(".explore :is([role=slider], input, .bar button)"):
        if handle.is_visible() and handle.evaluate("e => e.tagName !== 'BUTTON'"):
            handle.focus()
            page.keyboard.press("PageUp")
            page.keyboard.press("ArrowRight")
        elif handle.is_visible():
            handle.click()
        page.wait_for_timeout(500)
        if "?" in page.url:
            break
    assert re.search(r"\?[a-zA-Z_]+=[^?]+#[a-z-]+$", page.url), page.url
    again = opened(name, "?" + page.url.split("?")[1].split("#")[0], bare=True)
    kept = page.figure("f.state")
    for key, value in again.figure("f.state").items():
        assert value == (
            kept[key] if isinstance(value, str) else pytest.approx(kept[key], rel=1e-5)
        )


@every
def test_a_finger_on_the_sentence_scrolls_the_page(opened, name):
    page = opened(name, **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    said = page.query_selector(".said")
    said.scroll_into_view_if_needed()
    box = said.bounding_box()
    assert swipe(page, box["x"] + 100, box["y"] + box["height"] / 2, -120) > 60
