"""Training: the loss of eq. (123) written out, its minimum, and the factor of two against torch's weight decay."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from spinlib import ConvergenceWarning
from spinlib.attention import LinearAttention
from spinlib.icl import linear_attention
from spinlib.training import fit, loss


@dataclass
class Prompts:
    X: np.ndarray
    y: np.ndarray


@dataclass
class Features:
    u: np.ndarray
    query: np.ndarray
    y: np.ndarray


def sample(seed, P=200, D=3, N=20):
    """Thesis section 4.1: y = w.x / sqrt(D), one task w a prompt, the query label empty in X."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((P, D, N + 1)), rng.standard_normal((P, D))
    y = (w[:, :, None] * x).sum(1) / np.sqrt(D)
    X = np.concatenate([x, y[:, None, :]], axis=1)
    X[:, -1, -1] = 0
    return Prompts(X, y[:, -1])


def ridge_solution(data, ridge):
    """Normal equations of eq. (123) in the D(D+1) live weights, from explicit loops over the prompts."""
    P, n, columns = data.X.shape
    D, N = n - 1, columns - 1
    A, b = ridge * np.eye(n * D), np.zeros(n * D)
    for X, y in zip(data.X, data.y):
        s = np.outer(X[:, :N] @ X[-1, :N] / N, X[:D, N]).ravel()
        A, b = A + np.outer(s, s) / P, b + y * s / P
    return np.linalg.solve(A, b).reshape(n, D)


def test_eq_123_loss_against_a_loop():
    data = sample(0, P=7)
    model = LinearAttention(3, rng=1)
    W = model.W[0].detach().numpy()
    total = sum((linear_attention(W, X[None])[0] - y) ** 2 for X, y in zip(data.X, data.y))
    want = total / (2 * 7) + 0.3 / 2 * (W**2).sum()
    assert loss(model, data, ridge=0.3).item() == pytest.approx(want, rel=1e-13)
    assert 2 * loss(model, data).item() == pytest.approx(total / 7, rel=1e-13)


@pytest.mark.slow
def test_adam_reaches_the_ridge_solution_eq_123():
    data, ridge = sample(1), 0.02
    model = LinearAttention(3, rng=0)
    history = fit(model, data, ridge=ridge, n_steps=800, lr=3e-2)
    best = ridge_solution(data, ridge)
    assert np.linalg.norm(best) > 0.5  # the ridge has not killed it
    np.testing.assert_allclose(model.weights(), best, atol=1e-6)
    minimum = loss(LinearAttention(3).set_weights(best), data, ridge=ridge).item()
    assert -1e-14 < history.loss[-1] - minimum < 1e-10  # not below the minimum, but for rounding
    assert (
        np.abs(model.W.detach().numpy()[0, :, -1]).max() < 1e-6
    )  # with a ridge the idle column decays
    assert len(history.loss) == 801 and history.test_error.size == 0 and history.seconds > 0


@pytest.mark.slow
def test_without_ridge_the_idle_column_keeps_its_start():
    model = LinearAttention(3, rng=0)
    start = model.W.detach().clone()
    fit(model, sample(1), n_steps=20)
    assert torch.equal(model.W[0, :, -1], start[0, :, -1]) and not torch.equal(
        model.W[0, :, :-1], start[0, :, :-1]
    )


@pytest.mark.slow
def test_weight_decay_wd_on_plain_mse_is_ridge_half_wd():
    """The published code: torch Adam(weight_decay=wd) on MSE without the 1/2. Its minimum is ridge = wd/2, not wd."""
    data, wd = sample(2), 0.1
    model = LinearAttention(3, rng=0)
    adam = torch.optim.Adam(model.parameters(), lr=3e-2, weight_decay=wd)
    X, y = torch.from_numpy(data.X), torch.from_numpy(data.y)
    for _ in range(800):
        adam.zero_grad()
        torch.nn.functional.mse_loss(model(X), y).backward()
        adam.step()
    np.testing.assert_allclose(model.weights(), ridge_solution(data, wd / 2), atol=1e-6)
    assert np.abs(model.weights() - ridge_solution(data, wd)).max() > 0.05


def test_gradient_of_the_loss_is_the_normal_equations():
    data, ridge = sample(3), 0.05
    model = LinearAttention(3).set_weights(ridge_solution(data, ridge))
    loss(model, data, ridge=ridge).backward()
    assert model.W.grad.abs().max() < 1e-14


@pytest.mark.slow
def test_factored_weights_reach_what_merged_ones_reach():
    data = sample(4, D=2)
    model = LinearAttention(2, factored=True, rng=1)
    history = fit(model, data, n_steps=500, lr=3e-2, test=sample(5, D=2), test_every=200)
    least = loss(LinearAttention(2).set_weights(ridge_solution(data, 0.0)), data).item()
    assert abs(history.loss[-1] - least) < 1e-9  # W_K^T W_Q can be any matrix, and no more
    assert list(history.test_steps) == [0, 200, 400, 500]
    assert history.test_error[-1] == pytest.approx(
        2 * loss(model, sample(5, D=2)).item(), rel=1e-12
    )


@pytest.mark.parametrize(
    "options", [{"value": True}, {"value": True, "factored": True, "heads": 2}]
)
def test_values_and_heads_descend(options):
    model = LinearAttention(3, rng=1, **options)
    history = fit(model, sample(4), ridge=1e-3, n_steps=100, lr=3e-2)
    assert history.loss[-1] < 0.6 * history.loss[0]
    assert history.loss[-1] == pytest.approx(loss(model, sample(4), ridge=1e-3).item(), rel=1e-12)


def test_features_are_as_good_as_prompts():
    data = sample(6)
    u = data.X[:, :, :-1] @ data.X[:, -1, :-1, None] / 20
    short = Features(u[:, :, 0], data.X[:, :3, -1], data.y)
    one, two = LinearAttention(3, rng=0), LinearAttention(3, rng=0)
    a, b = fit(one, data, ridge=0.1, n_steps=30), fit(two, short, ridge=0.1, n_steps=30)
    np.testing.assert_allclose(a.loss, b.loss, rtol=1e-12)
    with pytest.raises(ValueError, match="value=False"):
        fit(LinearAttention(3, value=True), short)
    with pytest.raises(ValueError, match="this model has D = 2"):
        fit(LinearAttention(2), short)


def test_full_batch_is_deterministic_and_batches_follow_rng():
    def run(**options):
        model = LinearAttention(3, rng=0)
        return fit(model, sample(7), n_steps=30, **options).loss

    np.testing.assert_array_equal(run(rng=1), run(rng=2))
    np.testing.assert_array_equal(run(batch=20, rng=1), run(batch=20, rng=1))
    assert not np.array_equal(run(batch=20, rng=1), run(batch=20, rng=2))
    np.testing.assert_allclose(
        run(batch=200, rng=1), run(), rtol=1e-10
    )  # a batch of all is the full batch


def test_any_module_and_any_optimizer():
    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))

        def summary(self, X):
            return (torch.tensor(X[:, -1, :-1]).mean(1),)

        def readout(self, mean):
            return self.a * mean

    data = sample(8)
    model = Mean()
    fit(model, data, n_steps=400, lr=1.0, optimizer=torch.optim.SGD)
    m = data.X[:, -1, :-1].mean(1)
    assert model.a.item() == pytest.approx((m @ data.y) / (m @ m), rel=1e-6)


def test_divergence_is_reported_and_the_weights_stay_finite():
    model = LinearAttention(3, rng=0)
    with pytest.warns(ConvergenceWarning, match="left the finite numbers .* lower lr"):
        history = fit(model, sample(9), n_steps=500, lr=50.0, optimizer=torch.optim.SGD)
    assert np.isfinite(history.loss).all() and len(history.loss) < 501
    assert np.isfinite(model.weights()).all()
    # the weights of the last finite loss
    assert loss(model, sample(9)).item() == pytest.approx(history.loss[-1], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ridge": -1.0}, ValueError, "ridge must be finite and >= 0, got -1"),
        ({"n_steps": 0}, ValueError, "n_steps must be at least 1"),
        ({"lr": 0.0}, ValueError, "lr must be finite and > 0"),
        ({"batch": 201}, ValueError, "batch must be at most the number of prompts 200"),
        ({"test_every": 0}, ValueError, "test_every"),
    ],
)
def test_refused_options(options, error, words):
    with pytest.raises(error, match=words):
        fit(LinearAttention(3), sample(0), **options)


def test_refused_prompts():
    data = sample(0)
    with pytest.raises(TypeError, match="LinearTask"):
        fit(LinearAttention(3), data.X)
    with pytest.raises(ValueError, match=r"y must have shape \(200,\)"):
        fit(LinearAttention(3), Prompts(data.X, data.y[:-1]))
    with pytest.raises(ValueError, match="finite"):
        fit(LinearAttention(3), Prompts(data.X, np.full(200, np.nan)))
    with pytest.raises(ValueError, match="ridge"):
        loss(LinearAttention(3), data, ridge=-0.1)
    with pytest.raises(TypeError, match="without y"):
        loss(LinearAttention(3), SimpleNamespace(X=data.X))
    with pytest.raises(TypeError, match="y must be an array of real numbers"):
        loss(LinearAttention(3), Prompts(data.X, data.y * 1j))
    for model in (None, torch.nn.Identity()):
        with pytest.raises(TypeError, match="torch module with parameters"):
            loss(model, data)
    with pytest.raises(ValueError, match="u must have shape .P, 4. and no empty axis, got .0, 4."):
        fit(LinearAttention(3), Features(np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0)))
    with pytest.raises(TypeError, match="optimizer must be a class"):
        fit(LinearAttention(3), data, optimizer="adam")


def test_eq_123_the_ridge_runs_over_every_parameter():
    model = LinearAttention(3, value=True, factored=True, heads=2, rng=0)
    squares = sum((p.detach().numpy() ** 2).sum() for p in (model.W_Q, model.W_K, model.W_V))
    gap = loss(model, sample(0), ridge=0.3).item() - loss(model, sample(0)).item()
    assert gap == pytest.approx(0.15 * squares, rel=1e-12)
    assert squares > 2 * (model.W_Q.detach().numpy() ** 2).sum()


def test_features_of_wrong_shape_or_with_holes_are_refused():
    rng = np.random.default_rng(0)
    u, query, y = rng.standard_normal((5, 4)), rng.standard_normal((5, 3)), rng.standard_normal(5)
    for bad, words in (
        (Features(u[:, :3], query, y), r"u must have shape \(P, 4\).*this model has D = 3"),
        (Features(u, query[:, :2], y), r"query must have shape \(5, 3\)"),
        (Features(u, query[:4], y), r"query must have shape \(5, 3\)"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(LinearAttention(3), bad, n_steps=1)
    for name in ("u", "query", "y"):
        parts = {"u": u.copy(), "query": query.copy(), "y": y.copy()}
        parts[name].flat[2] = np.nan
        with pytest.raises(ValueError, match=f"{name} must be finite, got"):
            fit(LinearAttention(3), Features(**parts), n_steps=1)


def test_optimizers_that_need_a_closure_are_refused():
    with pytest.raises(
        TypeError,
        match="one step from one gradient, such as Adam or SGD, got .*LBFGS",
    ):
        fit(LinearAttention(3), sample(0), optimizer=torch.optim.LBFGS)
    history = fit(
        LinearAttention(3, rng=0),
        sample(0),
        optimizer=lambda p, lr: torch.optim.SGD(p, lr=lr),
        n_steps=2,
    )
    assert len(history.loss) == 3 and "\n" not in repr(history)


def test_a_function_draws_new_prompts_for_every_step():
    """As many draws as steps, from the generator of the run; the same as a plain loop over batches with Adam."""
    seen = []

    def draw(rng):
        seen.append(sample(int(rng.integers(1000)), P=20))
        return seen[-1]

    model, again = LinearAttention(3, rng=0), LinearAttention(3, rng=0)
    history = fit(model, draw, n_steps=7, ridge=0.1, rng=5, test=sample(1), test_every=3)
    adam = torch.optim.Adam(again.parameters(), lr=1e-2)
    for batch, value in zip(seen, history.loss, strict=True):
        now = loss(again, batch, ridge=0.1)
        assert now.item() == pytest.approx(value, rel=1e-12)
        adam.zero_grad()
        now.backward()
        adam.step()
    np.testing.assert_allclose(model.weights(), again.weights(), rtol=1e-12)
    assert list(history.test_steps) == [0, 3, 6] and len({batch.y[0] for batch in seen}) == 7
    with pytest.raises(ValueError, match="batch must be None where prompts is a function, got 5"):
        fit(model, draw, batch=5)


def test_a_rate_may_depend_on_the_step():
    data = sample(2)
    one, two, three = (LinearAttention(3, rng=0) for _ in range(3))
    a, b = fit(one, data, n_steps=6, lr=0.02), fit(two, data, n_steps=6, lr=lambda step: 0.02)
    np.testing.assert_array_equal(a.loss, b.loss)
    fit(three, data, n_steps=1, lr=lambda step: 0.02 / (1 + step))
    moved = (three.W.detach() - LinearAttention(3, rng=0).W.detach()).abs().max().item()
    assert moved == pytest.approx(0.02, rel=1e-6)
    with pytest.raises(ValueError, match=r"lr\(2\) must be finite and > 0"):
        fit(one, data, n_steps=6, lr=lambda step: 2 - step)


def test_warm_steps_leave_the_ridge_out():
    data = sample(3)
    one, two = LinearAttention(3, rng=0), LinearAttention(3, rng=0)
    history = fit(one, data, ridge=0.3, n_steps=5, warm=4)
    fit(two, data, n_steps=4)
    again = fit(two, data, ridge=0.3, n_steps=5)
    np.testing.assert_array_equal(history.loss, again.loss)
    assert len(history.loss) == 6


def test_warm_steps_see_batches_too():
    data, rng = sample(3), np.random.default_rng(8)
    one, two = LinearAttention(3, rng=0), LinearAttention(3, rng=0)
    history = fit(one, data, n_steps=5, warm=4, batch=7, rng=8)
    fit(two, data, n_steps=4, batch=7, rng=rng)
    np.testing.assert_array_equal(history.loss, fit(two, data, n_steps=5, batch=7, rng=rng).loss)


def test_an_error_that_has_not_settled_is_said():
    with pytest.warns(
        ConvergenceWarning,
        match="the test error had not settled to 0.01 after 30 steps; raise n_steps",
    ):
        history = fit(
            LinearAttention(3, rng=0),
            sample(4),
            n_steps=30,
            test=sample(5),
            test_every=1,
            settle=0.01,
        )
    assert history.settled is False and len(history.loss) == 31


@pytest.mark.parametrize("lr", [0.1, lambda step: 0.1])
def test_settling_divides_the_rate_by_four_three_times(lr):
    """A rate too large for the minimum: the error settles lower and lower; a schedule is divided as a number is."""
    rates, data = [], sample(4)

    class Sgd(torch.optim.SGD):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step()

    history = fit(
        LinearAttention(3, rng=0),
        data,
        n_steps=5000,
        lr=lr,
        batch=2,
        optimizer=Sgd,
        test=sample(5),
        test_every=1,
        settle=0.05,
        rng=2,
    )
    assert list(dict.fromkeys(rates)) == [0.1, 0.025, 0.00625, 0.0015625]
    means = history.test_error.reshape(-1, 10).mean(
        1
    )  # ten errors that are no twentieth below the best ten before
    drops = [k for k in range(1, len(means)) if means[k] > 0.95 * means[:k].min()]
    assert (
        len(drops) == 4
        and history.settled
        and list(10 * np.array(drops) + 9)
        == [*(np.flatnonzero(np.diff(rates)) + 1), len(history.loss) - 1]
    )


def test_labels_of_another_shape_than_the_answers():
    data = sample(0)
    with pytest.raises(
        ValueError, match=r"y must have shape \(200,\), one label an answer, got \(200, 1\)"
    ):
        fit(LinearAttention(3), Prompts(data.X, data.y[:, None]))
