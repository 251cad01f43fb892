"""Figure 7, the rolling tangent: its numbers by other ways, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, pull, swipe
from scipy.optimize import minimize_scalar

LN2 = np.log(2)
END, FREEZING = -np.sqrt(LN2), 1 / (2 * np.sqrt(LN2))
READ = "(() => { const r = p['rolling-tangent'].at(a[0]); return { ...r, F: r.freeEnergy }; })()"


@pytest.mark.parametrize("T", np.geomspace(0.2, 3, 21))
def test_the_sum_by_its_largest_term(physics, T):
    """ln Z / N is the largest of Sigma - e / T over the energies that there are; its place is where the dot sits."""
    found = physics(READ, T)
    term = lambda e: LN2 - e**2 - e / T
    grid = np.linspace(END, 0, 100_001)
    top = term(grid).max()
    assert -found["F"] / T == pytest.approx(top, abs=1e-9)
    assert term(found["e"]) == pytest.approx(-found["F"] / T, abs=1e-12)
    assert END - 1e-12 < found["e"] < 0 and found["sigma"] == pytest.approx(
        LN2 - found["e"] ** 2, abs=1e-12
    )
    step = 1e-5  # entropy -dF/dT is Sigma
    F = [physics(READ, T + s)["F"] for s in (-step, step)]
    if abs(T - FREEZING) > 2 * step:
        assert -(F[1] - F[0]) / (2 * step) == pytest.approx(found["sigma"], abs=1e-8)


@pytest.mark.parametrize("T", np.geomspace(0.2, 3, 21))
def test_the_line_that_touches_and_the_mean_of_Z(physics, T):
    found = physics(READ, T)
    x = min(1.0, T / FREEZING)
    assert found["x"] == pytest.approx(x, abs=1e-14)
    assert found["slope"] == pytest.approx(x / T, abs=1e-13)
    assert found["slope"] == pytest.approx(-2 * found["e"], abs=1e-12)  # that of Sigma there
    anywhere = minimize_scalar(
        lambda e: e**2 + e / T, bounds=(-4, 0), method="bounded", options={"xatol": 1e-12}
    )
    assert found["annealed"] == pytest.approx(anywhere.x, abs=1e-7)
    assert found["annealed"] == pytest.approx(-1 / (2 * T), abs=1e-14)
    assert LN2 - found["annealed"] ** 2 - found["annealed"] / T == pytest.approx(
        LN2 + 1 / (4 * T**2), abs=1e-12
    )


def test_page_and_script_agree(physics):
    """The numbers that the page prints at T = 0.4, and its end of the curve."""
    assert physics("[p['rolling-tangent'].end, p['rolling-tangent'].freezing]") == pytest.approx(
        [END, FREEZING], abs=1e-15
    )
    assert physics("p['rolling-tangent'].at(0.4).x") == pytest.approx(0.6660, abs=5e-5)


@pytest.mark.parametrize("touch", [0.0, -0.1, -0.45, -0.7, -0.83])
@pytest.mark.parametrize("ahead", [1e-3, 0.1, 0.4, 1.0])
def test_the_ruler_through_a_point(physics, touch, ahead):
    slope = -2 * touch
    e, s = touch + ahead, LN2 - touch**2 + slope * ahead
    assert physics("p['rolling-tangent'].through(a[0], a[1])", e, s) == pytest.approx(
        slope, abs=1e-10
    )
    beta = 1.7 + ahead  # beyond the end it turns about it
    assert physics(
        "p['rolling-tangent'].through(a[0], a[1])", END + ahead, beta * ahead
    ) == pytest.approx(beta, abs=1e-10)


def drag(page, node, dx, dy):
    box = page.query_selector(node).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y + dy, steps=8)
    page.mouse.up()


def test_the_answer_is_hidden_until_the_reader_has_committed(opened):
    page = opened("rolling-tangent")
    assert page.text_content(".bars").count("?") == 2
    page.query_selector(".grip").focus()
    page.keyboard.press("End")
    assert page.figure("f.state.T") == pytest.approx(FREEZING, abs=1e-9)
    assert (
        "The end of the curve" in page.text_content(".said")
        and page.text_content(".bars").count("?") == 2
    )
    page.click("text=The dot slides on")
    page.wait_for_function("() => document.querySelector('.explore').figure.probe().aim === null")
    assert page.figure("f.state.T") == 0.4 and page.figure("f.state.answer") == "on"
    page.wait_for_function(
        "() => document.querySelector('.said').textContent.includes('mean of Z slides on')"
    )
    assert "0.33" in page.text_content(".bars") and "0.67" in page.text_content(".bars")
    assert page.locator(".touching").is_visible()
    page.query_selector(".grip").focus()
    page.keyboard.press("Home")
    assert page.figure("f.state.T") == 2.5 and not page.locator(".touching").is_visible()
    assert not page.wrong


def test_the_ruler_follows_the_hand(opened):
    page = opened("rolling-tangent", "?answer=seen")
    before = page.figure("f.state.T")
    drag(page, ".knob", -60, -10)
    after = page.figure("f.state.T")
    assert 0.25 <= after < before
    knob = page.query_selector(".knob").bounding_box()
    drag(page, ".knob", 1, 1)  # at rest it stays under the pointer
    again = page.query_selector(".knob").bounding_box()
    assert abs(again["x"] - knob["x"]) < 6 and abs(again["y"] - knob["y"]) < 6
    for dx, dy in ((-300, 300), (400, 250), (0, -400)):  # anywhere
        drag(page, ".knob", dx, dy)
        assert 0.25 <= page.figure("f.state.T") <= 2.5
    assert not page.wrong


def test_a_finger_turns_the_ruler_and_scrolls_beside_it(opened):
    page = opened("rolling-tangent", "?answer=seen", **PHONE)
    before = page.figure("f.state.T")
    assert pull(page, ".knob", 40) == 0
    assert 1.2 * before < page.figure("f.state.T") <= 2.5
    drawing = page.query_selector(".explore svg").bounding_box()
    foot = drawing["y"] + drawing["height"] - 60
    assert swipe(page, drawing["x"] + 60, foot, -120) > 60
    assert not page.wrong
