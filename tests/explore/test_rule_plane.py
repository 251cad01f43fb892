"""Figure 4, the plane of rules: its numbers against spinlib and torch, then the figure as a reader uses it."""

import numpy as np
import pytest
from live_figures import PHONE, pull, swipe

from spinlib.icl import LinearTask, in_context_ridge, linear_attention

RULES = "p['rule-plane'].rules(a[0])"
CASES = [(k, seed) for k in (1, 2, 3, 5, 8) for seed in range(4)]


def drawn(k, seed):
    return np.random.default_rng([k, seed]).normal(size=(k, 3))


def prompts(examples, queries):
    """Prompts of columns (x, y), one for each query, as spinlib.icl reads them."""
    rows = np.concatenate(
        [
            np.repeat(examples[None], len(queries), 0),
            np.c_[queries, np.zeros(len(queries))][:, None],
        ],
        1,
    )
    return rows.transpose(0, 2, 1)


@pytest.mark.parametrize("k,seed", CASES)
def test_bayes_is_ridge_regression_inside_the_prompt(physics, k, seed):
    examples = drawn(k, seed)
    found = physics(RULES, examples.tolist())
    assert found["bayes"] == pytest.approx(
        in_context_ridge(prompts(examples, np.eye(2)), 2 * 0.25 / k), abs=1e-10
    )
    X = examples[:, :2]
    assert (
        np.abs(np.array(found["covariance"]) - np.linalg.inv(2 * np.eye(2) + 4 * X.T @ X)).max()
        < 1e-12
    )


@pytest.mark.parametrize("k,seed", CASES)
def test_one_layer_is_linear_attention_with_the_best_step(physics, k, seed):
    """c = k / (k + D + 1 + D rho): the step with the lowest error over prompts of k examples."""
    examples = drawn(k, seed)
    W = np.vstack([np.eye(2), np.zeros((1, 2))]) * k / (k + 3 + 0.5)
    assert physics(RULES, examples.tolist())["one"] == pytest.approx(
        linear_attention(W, prompts(examples, np.eye(2))), abs=1e-12
    )


@pytest.mark.parametrize("k,seed", CASES)
def test_twelve_layers_are_twelve_steps_of_descent(physics, k, seed):
    torch = pytest.importorskip("torch")
    examples = drawn(k, seed)
    x, y = torch.tensor(examples[:, :2]), torch.tensor(examples[:, 2])
    rule = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.SGD([rule], lr=0.4)
    for _ in range(12):
        descent.zero_grad()
        ((y - x @ rule) ** 2).mean().div(2).backward()
        descent.step()
    there = physics(RULES, examples.tolist())["deep"]
    assert np.abs(np.array(there) - rule.detach().numpy()).max() < 1e-10 * max(
        1, np.abs(rule.detach().numpy()).max()
    )


def test_no_example(physics):
    found = physics(RULES, [])
    assert found["one"] == found["deep"] == found["bayes"] == [0, 0]
    assert found["covariance"] == [[0.5, 0], [0, 0.5]]


def test_the_prompt_is_that_of_the_page(physics):
    [pair], [rule] = LinearTask(2, 16, noise=0.5).sample_pairs(1, rng=5965)
    assert np.abs(np.array(physics("p['rule-plane'].prompt")) - pair[:8]).max() < 6e-4
    assert np.abs(np.array(physics("p['rule-plane'].rule")) - rule).max() < 6e-4


def test_the_answers_part(opened):
    page = opened("rule-plane")
    before = page.figure("f.probe().answers")
    assert not page.locator(".mark.deep").first.is_visible()
    page.click("text=Both rise")
    page.wait_for_function("() => document.querySelector('.explore').figure.probe().aim === null")
    after = page.figure("f.probe().answers")
    assert page.figure("f.state.y2") == 1.5
    assert after["one"] > before["one"] + 0.1 and after["bayes"] < before["bayes"] - 0.1
    assert after["deep"] < before["deep"] - 0.1
    page.wait_for_function(
        "() => document.querySelector('.said').textContent.includes('One rises, one falls')"
    )
    assert page.locator(".mark.deep").first.is_visible() and not page.wrong


def test_examples_come_go_and_are_pulled(opened):
    page = opened("rule-plane", "?answer=seen")
    for _ in range(6):
        page.click("text=One more example")
    assert page.figure("f.state.examples") == 8 and page.locator(".example").count() == 8
    assert page.get_by_role("button", name="One more example").is_disabled()
    assert "one layer 0.43, twelve layers 0.04, Bayes 0.10" in page.text_content(".said")
    knob = page.query_selector_all(".example .knob")[5].bounding_box()
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y - 40, steps=5)
    page.mouse.up()
    moved = page.query_selector_all(".example .knob")[5].bounding_box()
    assert abs(moved["x"] - knob["x"] - 50) < 2 and abs(moved["y"] - knob["y"] + 40) < 2
    assert page.text_content(".said").startswith("Example 6: y =")
    page.click("text=The prompt as it was")
    back = page.query_selector_all(".example .knob")[5].bounding_box()
    assert abs(back["x"] - knob["x"]) < 1 and page.figure("f.state.y6") == -1.66
    page.query_selector_all(".example")[5].focus()
    page.keyboard.press("ArrowUp")
    assert page.figure("f.state.y6") == pytest.approx(-1.61)
    for _ in range(8):
        page.click("text=One less")
    assert page.locator(".example").count() == 0 and "mean of the prior" in page.text_content(
        ".said"
    )
    assert not page.wrong


def test_the_query_turns(opened):
    page = opened("rule-plane", "?answer=seen&examples=4&query=90")
    rules = page.figure("f.probe()")
    assert rules["answers"]["bayes"] == pytest.approx(rules["bayes"][1], abs=1e-12)
    knob = page.query_selector(".asker .knob").bounding_box()
    page.mouse.move(knob["x"] + 5, knob["y"] + 5)
    page.mouse.down()
    page.mouse.move(knob["x"] + 405, knob["y"] + 205, steps=6)
    page.mouse.up()
    assert page.figure("f.state.query") < 90 or page.figure("f.state.query") > 270
    page.query_selector(".asker").focus()
    page.keyboard.press("ArrowUp")
    assert not page.wrong


def test_a_finger_pulls_an_example_and_scrolls_beside_it(opened):
    page = opened("rule-plane", "?answer=seen", **PHONE)
    place = (
        "e => { const box = e.getBoundingClientRect(); return [box.x + scrollX, box.y + scrollY]; }"
    )
    before = np.array(page.query_selector(".example .knob").evaluate(place))
    assert pull(page, ".example .knob", 40) == 0
    moved = np.array(page.query_selector(".example .knob").evaluate(place)) - before
    assert np.abs(moved - [0, 40]).max() < 2
    drawing = page.query_selector(".explore svg").bounding_box()
    assert swipe(page, drawing["x"] + 20, drawing["y"] + drawing["height"] - 30, -120) > 60
    assert not page.wrong
