"""Figure 8, the energy of a query: its numbers against spinlib and scipy, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, swipe
from scipy.special import logsumexp, softmax

from spinlib.attention import retrieve

OWN = "p['rt-landscape']"
ANGLE = np.array([0.1, 0.6, 1.1, 2.7, 4.3])
FIVE = np.sqrt(2) * np.column_stack([np.cos(ANGLE), np.sin(ANGLE)])


def lot(k):
    """The k-th of twenty: a query, patterns and b."""
    rng = np.random.default_rng([k, 8])
    angle = rng.uniform(0, 2 * np.pi, 5)
    patterns = np.sqrt(2) * np.column_stack([np.cos(angle), np.sin(angle)])
    return rng.uniform(-2, 2, 2), patterns, float(np.geomspace(0.1, 40, 20)[k])


@pytest.mark.parametrize("k", range(20))
def test_weights_update_energy_and_rest(physics, k):
    x, patterns, b = lot(k)
    plain = [x.tolist(), patterns.tolist(), b]
    there = np.array(physics(f"{OWN}.weights(a[0], a[1], a[2])", *plain))
    assert np.abs(there - softmax(b * patterns @ x)).max() < 1e-13
    there = np.array(physics(f"{OWN}.update(a[0], a[1], a[2])", *plain))
    assert np.abs(there - retrieve(patterns, x, b)).max() < 1e-13
    here = x @ x / 2 - logsumexp(b * patterns @ x) / b
    assert physics(f"{OWN}.energy(a[0], a[1], a[2])", *plain) == pytest.approx(here, abs=1e-12)
    for _ in range(200):
        x = retrieve(patterns, x, b)
    there = np.array(physics(f"{OWN}.rest(a[0], a[1], a[2], 200)", *plain))
    assert np.abs(there - x).max() < 1e-7  # it stops when a step is below 1e-9
    assert np.abs(retrieve(patterns, there, b) - there).max() < 1e-8


@pytest.mark.parametrize("b", [*np.geomspace(0.25, 40, 20), 0.6, 1.2, 1.5, 3, 8, 12])
def test_resting_places_are_those_of_many_starts(physics, b):
    line = np.linspace(-1.7, 1.7, 12)
    x = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    for _ in range(3000):
        x = retrieve(FIVE, x, b)
    kept = []
    for row in x:
        if all(np.linalg.norm(row - other) > 0.02 for other in kept):
            kept.append(row)
    found = np.array(
        physics(f"{OWN}.branches(a[0], a[1])[3].points", FIVE.tolist(), [b, 60, 50, 45])
    )
    assert len(found) == len(kept) == {0.25: 1, 1.5: 3, 40: 5}.get(b, len(kept))
    far = np.linalg.norm(found[:, None] - np.array(kept)[None], axis=-1)
    assert far.min(1).max() < 1e-7
    assert np.abs(retrieve(FIVE, found, b) - found).max() < 1e-8


def test_the_mean_can_be_a_valley_beside_those_of_the_patterns(physics):
    """Three patterns at equal angles, as a Potts model with three states: both between b = 0.915 and 1."""
    angle = 2 * np.pi * np.arange(3) / 3 + 0.2
    three = np.sqrt(2) * np.column_stack([np.cos(angle), np.sin(angle)])
    found = [
        len(physics(f"{OWN}.valleys(a[0], a[1])", three.tolist(), b)) for b in (0.9, 0.95, 1.1)
    ]
    assert found == [1, 4, 3]


def test_a_prediction_an_answer_and_the_mean_of_all(opened):
    page = opened("rt-landscape", reduced_motion="reduce")
    assert "what does the softmax answer?" in page.text_content(".said")
    assert (
        page.locator(".string").count()
        == page.locator(".rest").count()
        == page.locator(".past").count()
        == 0
    )
    page.click(".ex-rt-landscape button >> text=A mean of")
    state, start = page.figure("f.probe()"), np.array([1.407, 0.141])
    assert np.allclose([state["x"], state["y"]], retrieve(FIVE, start, 1.5), atol=1e-9)
    assert page.text_content(".said").startswith("Yes.") and page.locator(".string").count() == 5
    page.click(".ex-rt-landscape button >> text=Until it rests")
    state = page.figure("f.probe()")
    assert min(np.hypot(state["x"] - v[0], state["y"] - v[1]) for v in state["valleys"]) < 1e-6
    level = page.locator(".ex-rt-landscape .level")
    level.focus()
    for _ in range(12):
        level.press("ArrowDown")
    state = page.figure("f.probe()")
    assert state["b"] < 1.27 and len(state["valleys"]) == 1 and state["found"]
    assert "one valley" in page.text_content(".said") and 5 < state["known"] < 20
    level.press("Home")
    state = page.figure("f.probe()")
    assert state["b"] == 0.1 and np.linalg.norm(np.array(state["valleys"][0]) - FIVE.mean(0)) < 0.1
    assert "close to the mean of all five" in page.text_content(".said")
    level.press("End")
    assert len(page.figure("f.probe().valleys")) == 5 and not page.wrong


def test_query_and_patterns_by_hand_and_keys(opened):
    page = opened("rt-landscape", "?x=-0.5&y=0.5&b=5")
    assert page.figure("f.state.x") == -0.5
    page.click(".ex-rt-landscape button >> text=Update")
    page.wait_for_function(
        "() => !document.querySelector('.ex-rt-landscape').figure.probe().moving"
    )
    ball = page.locator(".query .body").bounding_box()
    x, y = ball["x"] + ball["width"] / 2, ball["y"] + ball["height"] / 2
    before = page.figure("[f.state.x, f.state.y]")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 20, steps=5)
    page.mouse.up()
    after = page.figure("[f.state.x, f.state.y]")
    side = page.locator(".frame").bounding_box()["width"]
    assert np.allclose(np.subtract(after, before), np.array([40, 20]) * 4 / side, atol=0.03)
    page.locator(".pattern >> nth=3").focus()
    page.keyboard.press("ArrowUp")
    assert page.figure("f.state.a4") == pytest.approx(2.75)
    page.locator(".ex-rt-landscape .query").focus()
    page.keyboard.press("ArrowLeft")
    assert page.figure("f.state.x") == pytest.approx(after[0] - 0.05, abs=1e-6)
    page.wait_for_timeout(500)
    assert page.url.endswith("#fig-rt-landscape") and "a4=2.75" in page.url and not page.wrong


def test_a_finger_moves_the_query_and_scrolls_beside_it(opened):
    page = opened("rt-landscape", "?b=5&x=-0.5&y=0.5", **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    ball = page.locator(".query .body")
    ball.scroll_into_view_if_needed()
    box = ball.bounding_box()
    assert swipe(page, box["x"] + 8, box["y"] + 8, 60) == 0 and page.figure("f.state.y") < 0.1
    frame = page.locator(".frame").bounding_box()
    assert swipe(page, frame["x"] + 30, frame["y"] + frame["height"] - 40, -120) > 60
