"""Figure 2, A glass after all: its numbers against spinlib, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, swipe

from spinlib.theory import spike_evolution, spike_free_energy, spike_thresholds

LAW = "p['glass-after-all'].law(a[0], a[1])"
PLACES = [(40, 800), (20, 400), (40, 4000), (100, 1500), (200, 4000)]


@pytest.mark.parametrize("D,N", PLACES)
@pytest.mark.parametrize("P", [20, 60, 140, 240])
def test_free_energy_and_evolution(physics, D, N, P):
    E = np.geomspace(1.0, 0.03, 23)
    there = np.array(physics(f"a[2].map(E => {LAW}.freeEnergy(E, a[3]))", D, N, E.tolist(), P))
    here = spike_free_energy(E, D, N, P)
    assert np.abs(there - here).max() < 1e-8 and np.abs(there / here - 1).max() < 1e-10
    drawn = np.array(physics(f"a[2].map(E => {LAW}.freeEnergy(E, a[3], 3))", D, N, E.tolist(), P))
    assert np.abs(drawn - here).max() < 1e-6, "enough for a drawing"
    for informed in (False, True):
        here = spike_evolution(D, N, P, informed=informed, n_steps=60)
        sweeps = physics(
            f"""(() => {{
              const l = {LAW}, E = [a[2]];
              for (let k = 0; k < 60; k++) E.push(l.sweep(E[k], a[3]));
              return E;
            }})()""",
            D,
            N,
            here[0],
            P,
        )
        assert np.abs(np.array(sweeps) - here).max() < 1e-10


@pytest.mark.parametrize("D,N", [*PLACES, *((40, N) for N in range(240, 4000, 240))])
def test_thresholds_and_fixed_points(physics, D, N):
    found, here = physics(f"{LAW}.thresholds()", D, N), spike_thresholds(D, N)
    for name in ("spinodal", "information", "algorithm"):
        assert found[name] == pytest.approx(getattr(here, name), rel=1e-8)
    for P in np.linspace(here.spinodal, here.algorithm, 5)[1:-1]:
        points = physics(f"(l => l.fixedPoints(a[2], l.thresholds()))({LAW})", D, N, P)
        assert len(points) == 3 and points == sorted(points, reverse=True)
        swept = physics(f"a[2].map(E => {LAW}.sweep(E, a[3]))", D, N, points, P)
        assert np.abs(np.array(swept) - points).max() < 1e-10


@pytest.mark.parametrize("N", [100, 200])
def test_short_prompts_have_no_transition(physics, N):
    assert np.isnan(spike_thresholds(40, N).spinodal)
    assert physics(f"{LAW}.thresholds()", 40, N) is None
    (E,) = physics(f"{LAW}.fixedPoints(140, null)", 40, N)
    here = spike_evolution(40, N, 140, n_steps=2000)[-1]
    assert here == pytest.approx(E, abs=1e-9)


def comes(page, condition):
    test = f"() => {{ const f = document.querySelector('.explore').figure; return {condition}; }}"
    page.wait_for_function(test, timeout=20_000)


def test_found_late_and_lost_later_by_keyboard(opened):
    page = opened("glass-after-all")
    level = page.query_selector(".level")
    level.focus()
    level.press("End")
    comes(page, "f.probe().E < 0.05")
    comes(page, "document.querySelector('.said').textContent.includes('All found')")
    for _ in range(13):
        level.press("PageDown")
    thresholds = page.figure("f.probe().thresholds")
    P = page.figure("f.state.P")
    assert thresholds["spinodal"] < P < thresholds["information"]
    page.wait_for_timeout(1000)
    assert page.figure("f.probe().E") < 0.06, "the right weights are held"
    assert page.query_selector(".law path") is None, "the law is not shown before it is met"
    level.press("Home")
    comes(page, "f.probe().E > 0.8")
    comes(page, "f.state.law === 'shown' && document.querySelector('.law .all')")
    assert not page.wrong


def test_the_level_and_the_ball_by_pointer(opened):
    page = opened("glass-after-all")
    grip = page.query_selector(".level .body").bounding_box()
    page.mouse.move(grip["x"] + 20, grip["y"] + 15)
    page.mouse.down()
    page.mouse.move(grip["x"] + 20, grip["y"] - 50, steps=8)
    page.mouse.up()
    assert 140 < page.figure("f.state.P") < 200
    page.visit("?P=140#fig-sw-phi")
    page.wait_for_selector(".ex-glass-after-all svg").scroll_into_view_if_needed()
    ball, floor = page.query_selector(".ball .body").bounding_box(), 0.05
    comes(page, "f.probe().E > 0.5")
    box = page.query_selector(".explore svg").bounding_box()
    page.mouse.move(ball["x"] + 10, ball["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.85, ball["y"], steps=8)
    page.mouse.up()
    comes(page, f"f.probe().E < {floor} * 1.2")


def test_calm_readers_see_where_the_ball_ends(opened):
    page = opened("glass-after-all", reduced_motion="reduce")
    page.query_selector(".level").focus()
    page.keyboard.press("End")
    assert page.figure("f.probe().E") < 0.05


def test_a_finger_lifts_the_level_and_scrolls_elsewhere(opened):
    page = opened("glass-after-all", **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.query_selector(".explore svg").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box, before = page.query_selector(".level .body").bounding_box(), page.figure("f.state.P")
    assert swipe(page, box["x"] + 20, box["y"] + 15, -50) == 0
    assert page.figure("f.state.P") > before + 20
    box = page.query_selector(".explore svg").bounding_box()
    assert swipe(page, box["x"] + 250, box["y"] + 60, -120) > 60
