"""Figure 6, valleys on a globe and of forty spins: its numbers against spinlib, then the figure as a reader uses it."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from live_figures import PHONE, swipe

from spinlib.pspin.simulation import descend, gaussian_couplings, overlap, random_spins

OWN = "p['sp-valleys']"
POINTS = [(N, p, k) for N in (3, 4, 8, 12, 40) for p in (2, 3) for k in (0, 1)]


def packed(J):
    """The numbers of the figure from the couplings of spinlib: one for each set of indices."""
    return {
        "N": J.n_spins,
        "p": J.p,
        "c": [
            float(J.tensor[index]) * len(set(permutations(index)))
            for index in combinations_with_replacement(range(J.n_spins), J.p)
        ],
    }


@pytest.mark.parametrize("N,p,k", POINTS)
def test_energy_gradient_and_descent(physics, N, p, k):
    J, s = gaussian_couplings(N, p, rng=[k, N]), random_spins(N, rng=[k, p])
    plain = packed(J)
    there = physics(
        f"(() => {{ const g = new Float64Array(a[0].N), H = {OWN}.gradient(a[0], a[1], g); return [H, g]; }})()",
        plain,
        s.tolist(),
    )
    assert there[0] == pytest.approx(float(J.energy(s)), abs=1e-11)
    assert np.abs(np.array(there[1]) - J.gradient(s)).max() < 1e-11
    for _ in range(60):  # downhill, as in the chapter
        g = J.gradient(s)
        g = g - s * (g * s).mean()
        s = s - 0.2 * g
        s = s / np.sqrt((s**2).mean())
    there = physics(
        "(() => { const s = Float64Array.from(a[1]);"
        f"for (let k = 0; k < 60; k++) {OWN}.downhill(a[0], s, .2); return s; }})()",
        plain,
        random_spins(N, rng=[k, p]).tolist(),
    )
    assert np.abs(np.array(there) - s).max() < 1e-10


@pytest.mark.parametrize("k", range(20))
def test_the_valleys_of_three_spins_are_all_found(physics, k):
    J = gaussian_couplings(3, 2 + k % 2, rng=[k, 3])
    ends = descend(J, random_spins(3, (200,), rng=[k, 4]), tol=1e-10).s
    kept = []
    for s in ends:
        if not any(overlap(s, t) > 0.99 for t in kept):
            kept.append(s)
    found = np.array(physics(f"{OWN}.valleys(a[0])", packed(J)))
    assert len(found) == len(kept) and (k % 2 or len(found) == 2)
    q = overlap(found[:, None], np.array(kept)[None])
    assert np.abs(q.max(1) - 1).max() < 1e-10
    assert found.shape[1] == 3 and np.abs((found**2).sum(1) - 3).max() < 1e-10


@pytest.mark.parametrize("p", [2, 3])
def test_couplings_of_the_browser_have_the_right_law(physics, p):
    """Covariance of the energies of two states over 4000 samples: (N/2) q^p."""
    N, samples = 5, 4000
    s, t = random_spins(N, (2,), rng=5)
    t = 0.8 * s + 0.6 * (t - s * overlap(s, t)) / np.sqrt(1 - overlap(s, t) ** 2)
    H = np.array(
        physics(
            f"Array.from({{length: a[0]}}, (_, k) => {OWN}.sample(a[1], a[2], k + 1, 9))"
            f".map(J => [{OWN}.energy(J, a[3]), {OWN}.energy(J, a[4])])",
            samples,
            N,
            p,
            s.tolist(),
            t.tolist(),
        )
    )
    assert np.abs(H.mean(0)).max() < 5 * np.sqrt(N / 2 / samples)
    for product, q in ((H[:, 0] ** 2, 1), (H[:, 1] ** 2, 1), (H[:, 0] * H[:, 1], 0.8)):
        error = product.std() / np.sqrt(samples)
        assert abs(product.mean() - N / 2 * q**p) < 5 * error and error < 0.1


PROBE = "document.querySelector('.ex-sp-valleys').figure.probe()"
AT_REST = f"() => {{ const s = {PROBE}; return !s.moving && s.balls > 0; }}"


def test_two_valleys_then_more(opened):
    page = opened("sp-valleys")
    page.wait_for_function(AT_REST, timeout=90_000)
    state = page.figure("f.probe()")
    assert state["here"] == state["far"] == state["valleys"] == 2 and state["runs"] == 20
    assert "Two valleys" in page.text_content(".said")
    page.click(".ex-sp-valleys button:has-text('= 3')")
    assert page.figure("f.probe().dark") and page.figure("f.probe().balls") == 0
    page.click(".ex-sp-valleys button >> text=Drop 20 balls")
    page.wait_for_function(AT_REST, timeout=90_000)
    state = page.figure("f.probe()")
    assert state["dark"] and state["runs"] == 0 and state["here"] == state["valleys"] == 3
    page.click(".answers >> text=Three")
    assert not page.figure("f.probe().dark") and page.text_content(".said").startswith("Yes, three")
    page.click(".answers >> text=More")
    page.wait_for_function(
        "() => document.querySelector('.ex-sp-valleys').figure.probe().runs === 20"
    )
    page.wait_for_function(AT_REST, timeout=90_000)
    state = page.figure("f.probe()")
    assert state["far"] > 7 and f"Yes: 20 balls, {state['far']} valleys" in page.text_content(
        ".said"
    )
    page.wait_for_timeout(500)
    assert "p=3" in page.url and page.url.endswith("#fig-sp-valleys") and not page.wrong


def test_the_globe_by_hand_and_by_keys(opened):
    page = opened("sp-valleys", "?p=3", reduced_motion="reduce")
    box = page.locator(".ex-sp-valleys canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(x, y)
    assert page.figure("f.probe().balls") == 1
    before = page.figure("f.probe().turn")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=5)
    page.mouse.up()
    after = page.figure("f.probe().turn")
    angle = 60 / (box["width"] / 2 - 10)
    turn = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    assert page.figure("f.probe().balls") == 1 and np.allclose(
        after, turn @ np.array(before), atol=0.03
    )
    page.locator(".ex-sp-valleys canvas").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    state = page.figure("f.probe()")
    turn = np.array(state["turn"])
    assert state["balls"] == 2 and np.allclose(turn @ turn.T, np.eye(3), atol=1e-9)
    assert not state["moving"] and not page.wrong


def test_a_finger_turns_the_globe_and_scrolls_beside_it(opened):
    page = opened("sp-valleys", **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.wait_for_function(AT_REST, timeout=90_000)
    canvas = page.locator(".ex-sp-valleys canvas")
    canvas.scroll_into_view_if_needed()
    before, box = page.figure("f.probe()"), canvas.bounding_box()
    assert swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 60) == 0
    after = page.figure("f.probe()")
    assert after["balls"] == before["balls"] and not np.allclose(
        after["turn"], before["turn"], atol=0.1
    )
    chart = page.locator(".ex-sp-valleys svg >> nth=1").bounding_box()
    assert swipe(page, chart["x"] + 150, chart["y"] + 60, -120) > 60
