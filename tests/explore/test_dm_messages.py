"""Figure 5, messages on nine spins: its numbers against spinlib, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, swipe

from spinlib.factor_graph import FactorGraph, bp, enumerate_states

SCOPES = {
    "a": (0, 1, 2),
    "b": (0, 3, 4),
    "c": (0, 5, 6),
    "d": (2, 7, 8),
    "e": (1, 3, 7),
    "f": (2, 5, 8),
    "g": (0, 4, 6),
}
OWN = "p['dm-messages']"
ONE = np.array([-1, 1])
PRODUCT = ONE[:, None, None] * ONE[:, None] * ONE


def lot(k):
    """The k-th of twenty: which factors, their signs, and the fields of the nine spins."""
    rng = np.random.default_rng([k, 13])
    names = list("abcd") + [x for x in "efg" if k and rng.random() < 0.5]
    signs = rng.choice([-1.0, 1.0], len(names))
    field = np.arctanh(rng.uniform(-0.9, 0.9, 9)) * (rng.random(9) < 0.8)
    return names, signs, field


def graph(names, signs, field):
    """The model of spinlib with factors 1 + t s s s and fields e^{h s}."""
    factors = [(SCOPES[x], 1 + 0.8 * s * PRODUCT) for x, s in zip(names, signs)]
    return FactorGraph([2] * 9, factors + [((i,), np.exp(h * ONE)) for i, h in enumerate(field)])


def mean(marginals):
    return marginals[:, 1] - marginals[:, 0]


@pytest.mark.parametrize("k", range(20))
def test_messages_and_list(physics, k):
    names, signs, field = lot(k)
    model = graph(names, signs, field)
    plain = [[SCOPES[x] for x in names], (0.8 * signs).tolist(), field.tolist()]
    exact, log_Z = enumerate_states(model)
    there = physics(f"{OWN}.list(a[0], a[1], a[2])", *plain)
    assert np.abs(np.array(there["means"]) - mean(exact)).max() < 1e-12
    assert there["logZ"] == pytest.approx(log_Z, abs=1e-12)
    found = bp(model, tol=1e-13)
    there = physics(f"{OWN}.rest(a[0], a[1], a[2])", *plain)
    assert np.abs(np.array(there["means"]) - mean(found.marginals)).max() < 1e-10
    assert there["logZ"] == pytest.approx(found.log_Z, abs=1e-10)
    right = np.abs(mean(found.marginals) - mean(exact)).max() < 1e-10
    assert right == (set(names) == set("abcd"))  # a tree, and only a tree


@pytest.mark.parametrize("k", range(20))
def test_one_sweep_is_that_of_the_chapter(physics, k):
    names, signs, field = lot(k)
    triples, t = np.array([SCOPES[x] for x in names]), 0.8 * signs[:, None]
    u = np.random.default_rng(k).uniform(-0.7, 0.7, triples.shape)
    total = field + np.bincount(triples.ravel(), np.arctanh(u).ravel(), 9)
    m = np.tanh(total[triples] - np.arctanh(u))
    answer = t * m[:, [1, 2, 0]] * m[:, [2, 0, 1]]
    arguments = [triples.tolist(), t[:, 0].tolist(), field.tolist(), u.tolist()]
    there = physics(f"{OWN}.sweep(a[0], a[1], a[2], a[3])", *arguments)
    assert np.abs(np.array(there["m"]) - m).max() < 1e-13
    assert np.abs(np.array(there["u"]) - answer).max() < 1e-13
    there = physics(f"{OWN}.means(a[0], a[2], a[3])", *arguments)
    assert np.abs(np.array(there) - np.tanh(total)).max() < 1e-13


AT_REST = "() => !document.querySelector('.ex-dm-messages').figure.probe().moving"


def worst(page):
    return page.figure(
        "(s => Math.max(...s.means.map((m, i) => Math.abs(m - s.exact[i]))))(f.probe())"
    )


def test_a_tree_stays_exact_and_a_loop_does_not(opened):
    page = opened("dm-messages")
    page.wait_for_function(AT_REST, timeout=90_000)
    assert worst(page) < 1e-10 and page.figure("f.probe().logZ") == pytest.approx(14.9356, abs=1e-4)
    assert "can you get a dot out of its ring?" in page.text_content(".said")
    assert "0.24" not in page.text_content(".said")
    page.click(".factor >> nth=1")
    assert page.figure("f.state.b") == 1
    page.wait_for_function(AT_REST, timeout=90_000)
    assert worst(page) < 1e-10 and "Which one" in page.text_content(".said")
    page.click(".factor >> nth=1")
    page.click(".ex-dm-messages button >> text=Loop e")
    page.wait_for_function(AT_REST, timeout=90_000)
    assert worst(page) == pytest.approx(0.1534, abs=1e-3)
    text = page.text_content(".said")
    assert "No, it is g" in text and "e 0.15, f 0.17, g 0.24" in text
    for loop in "fg":
        page.click(f".ex-dm-messages button >> text=Loop {loop}")
    page.wait_for_function(AT_REST, timeout=90_000)
    assert page.figure("f.probe().logZ") == pytest.approx(16.780, abs=1e-3)
    assert page.figure("f.probe().truth") == pytest.approx(17.032, abs=1e-3)
    assert "too sure at 9 of 9" in page.text_content(".said")
    page.wait_for_timeout(500)
    assert "e=-1" in page.url and page.url.endswith("#fig-dm-messages")
    assert not page.wrong


def test_a_knob_by_pointer_and_keys(opened):
    page = opened("dm-messages")
    page.wait_for_function(AT_REST, timeout=90_000)
    knob = page.locator(".knob .grip >> nth=0").bounding_box()
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 29, y + 29, steps=6)  # a quarter of a turn
    page.mouse.up()
    assert page.figure("f.state.h0") == pytest.approx(np.pi / 2 / 2.5, abs=0.05)
    page.locator(".knob >> nth=7").focus()
    for key in ("ArrowRight", "PageUp", "End"):
        page.keyboard.press(key)
    assert page.figure("f.state.h7") == 0.95
    page.locator(".factor >> nth=3").focus()
    page.keyboard.press("Enter")
    assert page.figure("f.state.d") == -1
    page.wait_for_function(AT_REST, timeout=90_000)
    assert worst(page) < 1e-10 and not page.wrong


def test_a_linked_state_and_a_wrong_sign(opened):
    page = opened("dm-messages", "?e=-1&f=1&g=1", reduced_motion="reduce")
    page.wait_for_function(AT_REST, timeout=90_000)
    assert worst(page) == pytest.approx(0.5785, abs=1e-3)
    assert "Wrong sign" in page.text_content(".said")


def test_a_finger_turns_a_knob_and_scrolls_elsewhere(opened):
    page = opened("dm-messages", **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.wait_for_function(AT_REST, timeout=90_000)
    grip = page.locator(".knob .grip >> nth=6")  # at the lower right of its spin
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert swipe(page, x, y, -25) == 0 and page.figure("f.state.h6") < 0.7
    table = page.locator(".ex-dm-messages svg >> nth=1").bounding_box()
    assert swipe(page, table["x"] + 100, table["y"] + 40, -120) > 60
