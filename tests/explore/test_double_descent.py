"""Figure 3, the peak of double descent: its numbers against spinlib and numpy, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, pull, swipe

from spinlib import icl
from spinlib.inference import ground_state
from spinlib.theory import best_ridge, learning_curve, prompt_teacher

LAW = "p['double-descent'].law(a[0], a[1])"
SIZES = [(6, 30), (20, 100), (2, 3)]
POINTS = [
    (D, N, P, x / D)
    for D, N in SIZES
    for P in (1, D * D // 2 + 1, D * (D + 1) - 1, D * (D + 1) + 1, 7 * D * D)
    for x in (0, 1e-5, 0.03, 3)
]


@pytest.mark.parametrize("D,N,P,ridge", POINTS)
def test_the_error_is_that_of_the_learning_curve(physics, D, N, P, ridge):
    found = physics(f"{LAW}.error(a[2], a[3])", D, N, P, ridge)
    assert found == pytest.approx(learning_curve(D, N, P, ridge), rel=1e-10)


@pytest.mark.parametrize("ridge", [1e-5, 1e-3, 0.05])
def test_the_error_at_the_peak(physics, ridge):
    assert physics(f"{LAW}.error(42, a[2])", 6, 30, ridge / 6) == pytest.approx(
        learning_curve(6, 30, 42, ridge / 6), rel=1e-10
    )
    assert physics(f"{LAW}.error(42, 0)", 6, 30) == "Infinity"


@pytest.mark.parametrize("D,N", SIZES)
@pytest.mark.parametrize("P", [5, 12, 29, 41, 42, 43, 85, 300])
def test_the_best_ridge(physics, D, N, P):
    found, ridge = physics(f"{LAW}.best(a[2])", D, N, P), best_ridge(prompt_teacher(D, N), P)
    assert found["error"] == pytest.approx(learning_curve(D, N, P, ridge), rel=1e-10)
    assert found["ridge"] == pytest.approx(ridge, rel=1e-5)  # the error is flat there


def test_sizes(physics):
    assert physics(f"[{LAW}.n, {LAW}.floor]", 6, 30) == pytest.approx([42, 7 / 37], abs=1e-15)


@pytest.mark.parametrize("P", [1, 10, 29, 41, 42, 43, 50, 97, 220])
@pytest.mark.parametrize("ridge", [0, 1e-3, 0.3])
def test_the_states_are_ground_states(physics, P, ridge):
    """A set of 220 prompts, asked in an order that uses what is kept; without ridge the state of least norm."""
    D, N = 6, 30
    data = icl.LinearTask(D, N).sample_features(220, rng=np.random.default_rng([P, 3]))
    plain = {"u": data.u.tolist(), "query": data.query.tolist(), "y": data.y.tolist()}
    asked = "(s => { s(220, 0.1); s(61, 0.1); return s(a[1], a[2]); })(p['double-descent'].set(a[0], [50, 97]))"
    found = np.array(physics(asked, plain, P, ridge / D))
    if ridge:
        first = icl.Features(data.u[:P], data.query[:P], data.y[:P])
        mean, digits = ground_state(icl.to_spin_glass(first, ridge / D)).mean, 1e-11
    else:
        S = (data.u[:P, :, None] * data.query[:P, None, :]).reshape(P, -1)
        mean = np.linalg.lstsq(S, data.y[:P], rcond=None)[0]
        digits = 1e-14 * np.linalg.cond(S) ** 2  # what the normal equations allow
    assert np.abs(found - mean).max() < max(digits, 1e-11) * max(1, np.abs(mean).max())


def test_the_transformers_of_the_figure_follow_the_law(physics):
    """The mean of 24 sets of the browser's prompts, with a ridge: above the theory of large D by less than a third."""
    for P in (17, 85, 300):
        errors = physics(
            "Array.from({length: 24}, (_, k) => p['double-descent'].set(p.prompts(6, 30, a[0], 1100 + k)))"
            ".map(set => p.populationError(set(a[0], 0.05), 6, 30))",
            P,
        )
        ratio = np.array(errors) / learning_curve(6, 30, P, 0.05)
        bar = ratio.std(ddof=1) / 24**0.5
        assert 1 - 3 * bar < ratio.mean() < 1.33 + 3 * bar


def test_the_curve_is_hidden_until_the_reader_has_committed(opened):
    page = opened("double-descent")
    assert page.locator(".line").count() == 1 and not page.locator(".line").is_visible()
    assert (
        page.locator(".cap").count() == 0
        and page.locator(".explore input").count() == 0
        and page.figure("f.probe().dots") == 0
    )
    page.query_selector(".flag").focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    assert page.figure("f.state.P") == 25
    page.click("text=Train the transformers")
    page.wait_for_function("() => document.querySelector('.explore').figure.probe().arrived === 18")
    page.wait_for_function(
        "() => document.querySelector('.said').textContent.includes('You said 25')"
    )
    assert page.locator(".line").is_visible() and not page.locator(".grey").is_visible()
    assert page.figure("f.probe().dots") == 18 * 12 and len(page.figure("f.probe().errors")) == 12
    assert not page.wrong


def test_the_peak_is_pressed_by_hand_and_by_keys(opened):
    page = opened("double-descent", "?answer=20")
    box = page.query_selector(".cap .nod").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 120, steps=6)
    page.mouse.up()
    pressed = page.figure("f.state.ridge")
    assert 0 < pressed < 0.3 and page.locator(".grey").is_visible()
    assert "There is still a hump" in page.text_content(".said")
    page.query_selector(".cap").focus()
    for _ in range(4):
        page.keyboard.press("PageDown")
    more = page.figure("f.state.ridge")
    assert more > pressed and "no peak is left" in page.text_content(".said")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.get_by_label("Ridge times D").press("End")
    assert page.figure("f.state.ridge") == pytest.approx(3) and "too much" in page.text_content(
        ".said"
    )
    page.get_by_label("Ridge times D").press("Home")
    assert page.figure("f.state.ridge") == 0
    assert not page.wrong


def test_a_link_shows_its_state_and_the_ball_lies_on_the_law(opened):
    page = opened("double-descent", "?P=60&ridge=0.1")
    assert page.locator(".line").is_visible()
    assert page.figure("f.probe().theory") == pytest.approx(
        learning_curve(6, 30, 60, 0.1 / 6), rel=1e-10
    )
    page.query_selector(".flag").focus()
    page.keyboard.press("Home")
    assert page.figure("f.state.P") == 5
    page.keyboard.press("End")
    assert page.figure("f.state.P") == 300 and page.query_selector(".flag").get_attribute(
        "aria-valuetext"
    ).startswith("300 prompts")


def test_a_finger_presses_the_peak_and_scrolls_beside_it(opened):
    page = opened("double-descent", "?answer=20", **PHONE)
    assert pull(page, ".cap .nod", 80) == 0
    assert 0 < page.figure("f.state.ridge") < 0.3 and page.locator(".grey").is_visible()
    drawing = page.query_selector(".explore svg").bounding_box()
    assert swipe(page, drawing["x"] + 0.85 * drawing["width"], drawing["y"] + 200, -120) > 60
    assert not page.wrong
