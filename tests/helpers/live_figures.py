"""What the tests of the live figures share: their names, a phone, a finger."""

import pathlib

FOLDER = pathlib.Path(__file__).parents[2] / "_static" / "explore"
NAMES = sorted(p.stem for p in FOLDER.glob("*.js") if p.stem not in ("explore", "physics"))
PHONE = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}


def pull(page, handle, dy):
    """A finger moves a handle, brought to the middle of the phone; how far the page has scrolled."""
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.query_selector(handle).evaluate("e => e.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(300)
    box = page.query_selector(handle).bounding_box()
    return swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, dy)


def swipe(page, x, y, dy):
    """A finger moves up or down; how far the page has scrolled."""
    send, before = page.context.new_cdp_session(page).send, page.evaluate("scrollY")
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for k in range(1, 9):
        spot = {"x": x, "y": y + dy * k / 8}
        send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [spot]})
        page.wait_for_timeout(30)
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    return page.evaluate("scrollY") - before
