"""Figure 1, Train it, or solve it: its numbers against spinlib and torch, then the figure as a reader uses it."""

import numpy as np
import pytest

from live_figures import PHONE, swipe

from spinlib import icl
from spinlib.inference import ground_state

POINTS = [
    (D, N, P, ridge)
    for D, N in [(4, 30), (4, 5), (4, 100), (2, 3)]
    for P, ridge in [(1, 0.5), (7, 1.0), (60, 0.01), (200, 0.1), (500, 0.003)]
]


@pytest.mark.parametrize("D,N,P,ridge", POINTS)
def test_the_glass_of_the_prompts(physics, D, N, P, ridge):
    data = icl.LinearTask(D, N).sample_features(P, rng=np.random.default_rng([P, N]))
    glass = icl.to_spin_glass(data, ridge)
    plain = {"u": data.u.tolist(), "query": data.query.tolist(), "y": data.y.tolist()}
    sums = physics("p.averages(a[0])", plain)
    A = np.array(sums["A"])
    assert np.abs(-(A - np.diag(A.diagonal())) - glass.J).max() < 1e-13
    assert np.abs(A.diagonal() + ridge - glass.lam).max() < 1e-13
    assert np.abs(np.array(sums["h"]) - glass.h).max() < 1e-13
    found = np.array(physics("p.groundState(a[0], a[1])", sums, ridge))
    assert np.abs(found - ground_state(glass).mean).max() < 1e-11
    w = np.random.default_rng([1, P]).normal(size=glass.n)
    there = physics("p['train-or-solve'].gradient(a[0], a[1], a[2])", sums, ridge, w.tolist())
    assert there["energy"] == pytest.approx(float(glass.energy(w)), rel=1e-12, abs=1e-11)
    assert np.abs(np.array(there["slope"]) - glass.gradient(w)).max() < 1e-11
    loss = icl.training_loss(icl.weights(w, D), data, ridge)
    assert there["energy"] + sums["half"] == pytest.approx(loss, rel=1e-12, abs=1e-11)
    error = physics("p.populationError(a[0], a[1], a[2])", w.tolist(), D, N)
    assert error == pytest.approx(icl.population_error(icl.weights(w, D), N), rel=1e-12)
    best = physics("p['train-or-solve'].best(a[0], a[1])", D, N)
    assert error > best
    assert best == pytest.approx(icl.population_error(icl.best_weights(D, N), N), abs=1e-12)
    for size in (0, ridge):
        diagonal = physics("p['train-or-solve'].diagonal(a[0], a[1], a[2])", D, N, size)
        assert diagonal == pytest.approx(icl.best_weights(D, N, size)[0, 0], rel=1e-12)


def test_adam_is_that_of_torch(physics):
    torch = pytest.importorskip("torch")
    data = icl.LinearTask(4, 30).sample_features(60, rng=3)
    glass = icl.to_spin_glass(data, 0.01)
    H, h = torch.tensor(np.array(glass.hessian)), torch.tensor(np.array(glass.h))
    w = torch.zeros(20, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([w], lr=0.01)
    path = []
    for _ in range(300):
        adam.zero_grad()
        (w @ H @ w / 2 - h @ w).backward()
        adam.step()
        path.append(w.detach().numpy().copy())
    plain = {"u": data.u.tolist(), "query": data.query.tolist(), "y": data.y.tolist()}
    there = physics(
        """(() => {
          const s = p.averages(a[0]), own = p['train-or-solve'], w = new Float64Array(20), step = own.adam(w), all = [];
          for (let k = 0; k < 300; k++) { step(own.gradient(s, 0.01, w).slope); all.push([...w]); }
          return all;
        })()""",
        plain,
    )
    assert np.abs(np.array(there) - np.array(path)).max() < 1e-10


@pytest.mark.parametrize("P,N", [(1, 30), (3, 100), (20, 30), (60, 30), (60, 5)])
@pytest.mark.parametrize("spread", [0.4, 1e-3])
def test_training_comes_to_rest_from_near_and_far(physics, P, N, spread):
    """At a fixed rate Adam circles for ever in some of these cases (60 prompts, 1e-3); a falling rate ends it."""
    far = physics(
        """[1, 2, 3, 4].map(seed => {
          const s = p.averages(p.prompts(4, a[1], a[0], seed)), rest = p.groundState(s, 0.01), z = p.normals(99, seed);
          const w = rest.map(v => v + a[2] * z()), slope = new Float64Array(20), own = p['train-or-solve'];
          const step = own.training(w, slope);
          own.gradient(s, 0.01, w, slope);
          for (let k = 0; k < 20000; k++) { step(-1); own.gradient(s, 0.01, w, slope); }
          return Math.max(...w.map((v, i) => Math.abs(v - rest[i])));
        })""",
        P,
        N,
        spread,
    )
    assert max(far) < 1e-8


def test_the_prompts_of_the_browser_have_the_right_law(physics):
    """The fields and couplings of 20 000 prompts drawn in the browser, against their exact means."""
    D, N, P = 4, 30, 20_000
    sums = physics("p.averages(p.prompts(...a))", D, N, P, 7)
    A, h = np.array(sums["A"]), np.array(sums["h"])
    a, b = (1 + (D + 1) / N) / D, (1 + 2 / N) * (1 + 2 / D)
    assert np.abs(h - np.eye(D + 1, D).ravel() / D).max() < 0.03
    assert np.abs(A - np.diag([a] * D * D + [b] * D)).max() < 0.12
    z = np.array(
        physics("(() => { const z = p.normals(3, 1); return Array.from({length: 40000}, z); })()")
    )
    assert abs(z.mean()) < 0.02 and abs(z.var() - 1) < 0.03 and abs((z**4).mean() - 3) < 0.15
    assert abs((z[1:] * z[:-1]).mean()) < 0.02


def weight(page, i):
    box = page.query_selector_all(".ex-train-or-solve .views svg .dot")[i].bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_training_ends_in_the_ground_state(opened):
    page = opened("train-or-solve")
    page.click("text=Solve the glass")
    page.click("text=Train the transformer")
    page.wait_for_function(
        "() => document.querySelector('.explore').figure.probe().distance < 1e-9", timeout=60_000
    )
    page.wait_for_function(
        "() => document.querySelector('.said').textContent.includes('Training ends in the ground state')"
    )
    for dot, ring in list(
        zip(page.query_selector_all(".views .dot"), page.query_selector_all(".views .ring"))
    )[:20]:
        assert abs(float(dot.get_attribute("cy")) - float(ring.get_attribute("cy"))) < 1e-3
    x, y = weight(page, 7)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=6)
    page.wait_for_timeout(1500)
    assert "You hold W24" in page.text_content(".said")
    w, sigma = np.array(page.figure("f.probe().w")), np.array(page.figure("f.probe().sigma"))
    assert w[7] > sigma[7] + 0.3
    assert np.abs(np.delete(w - sigma, 7)).max() > 0.02, "its couplings pull at the others"
    page.mouse.up()
    page.wait_for_function(
        "() => document.querySelector('.explore').figure.probe().distance < 1e-6", timeout=60_000
    )
    page.get_by_role("button", name="Train from another start").click()
    page.wait_for_timeout(100)
    assert page.figure("f.probe().distance") > 0.01 and "start=3" in page.evaluate(
        "new Promise(done => setTimeout(() => done(location.search), 600))"
    )
    assert not page.wrong


def test_weights_by_keyboard(opened):
    page = opened("train-or-solve")
    stage = page.query_selector(".stage")
    stage.focus()
    before = page.figure("f.probe().w")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    after = page.figure("f.probe().w")
    assert after[2] == pytest.approx(min(1.25, before[2] + 0.1)) and after[1] == before[1]
    assert stage.get_attribute("aria-valuetext").startswith("W 1 3")
    slider = page.get_by_label("Training prompts, P")
    slider.press("Home")
    assert slider.get_attribute("aria-valuetext") == "1"
    assert page.text_content(".said").startswith("This one prompt ")


def test_a_linked_state_has_been_trained(opened):
    page = opened("train-or-solve", "?show=both&P=200&ridge=0.1")
    assert page.figure("f.probe().distance") < 1e-9 and page.figure("f.probe().running")
    assert "Training ends in the ground state" in page.text_content(".said")


def test_a_finger_pulls_a_weight_and_scrolls_between_the_weights(opened):
    page = opened("train-or-solve", **PHONE)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    page.query_selector(".views svg").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    before = page.figure("f.probe().w[17]")
    assert swipe(page, *weight(page, 17), -60) == 0
    assert page.figure("f.probe().w[17]") > before + 0.4
    box = page.query_selector(".triangle, .views svg").bounding_box()
    assert swipe(page, box["x"] + 200, box["y"] + 250, -120) > 60
