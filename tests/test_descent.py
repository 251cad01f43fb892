"""Descent on a quadratic energy: torch's Adam on the prompts, plain steps, the flow as a matrix exponential."""

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from spinlib.attention import LinearAttention
from spinlib.descent import flow, trajectory
from spinlib.icl import LinearTask, to_spin_glass
from spinlib.inference import ground_state
from spinlib.spin_glass import SpinGlass, gaussian_glass
from spinlib.training import fit


def start(D, rng):
    rng = np.random.default_rng(rng)
    return [rng.standard_normal((D + 1, k)) / np.sqrt(D + 1) for k in (D, D + 1, D)]


@pytest.mark.slow
def test_it_is_torch_adam_on_the_prompts():
    D, data = 4, LinearTask(4, 12).sample_features(40, rng=0)
    glass = to_spin_glass(data, 0.0)
    W, W_K, W_Q = start(D, 1)
    one = LinearAttention(D).set_weights(W)
    fit(one, data, n_steps=50, lr=0.01)
    assert np.abs(one.weights() - trajectory(glass, W, n_steps=50)[-1]).max() < 1e-9
    two = LinearAttention(D, factored=True)  # W = W_K^T W_Q
    with torch.no_grad():
        two.W_K[0] = torch.tensor(W_K)
        two.W_Q[0] = torch.tensor(np.pad(W_Q, ((0, 0), (0, 1))))
    fit(two, data, n_steps=50, lr=0.01)
    assert np.abs(two.weights() - trajectory(glass, (W_K, W_Q), n_steps=50)[-1]).max() < 1e-9


@pytest.mark.slow
def test_the_full_square_with_weight_decay_is_half_a_ridge_and_half_of_epsilon():
    """The published programs: mean squared error without 1/2. At weights of 1e-8 the epsilon of Adam matters."""
    D, begin = 3, 1e-8 * np.random.default_rng(1).standard_normal((4, 3))
    data = LinearTask(D, 5).sample_features(40, rng=0)
    u, query, y = (torch.tensor(1e-4 * a) for a in (data.u, data.query, data.y))
    W = torch.tensor(begin, requires_grad=True)
    optimizer = torch.optim.Adam([W], lr=1e-9, weight_decay=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        ((((u @ W) * query).sum(1) - y) ** 2).mean().backward()
        optimizer.step()
    small = to_spin_glass(data, 0.0)
    glass = SpinGlass(1e-16 * small.J, 1e-12 * small.h, 1e-16 * small.lam + 0.01)
    found = trajectory(glass, begin, n_steps=60, lr=1e-9, eps=5e-9)[-1]
    np.testing.assert_allclose(found, W.detach().numpy(), rtol=1e-9)
    assert np.abs(trajectory(glass, begin, n_steps=60, lr=1e-9)[-1] - found).max() > 1e-10


def test_adam_ends_in_the_ground_state():
    glass = to_spin_glass(LinearTask(3, 10).sample_features(200, rng=0), 0.05)
    w = np.zeros(12)
    for lr in (1e-2, 1e-5, 1e-7):  # near the minimum Adam wanders by about a step: smaller ones
        w = trajectory(glass, w, n_steps=5000, lr=lr)[-1]
    assert np.abs(w - ground_state(glass).mean).max() < 1e-6


def test_plain_steps_are_powers_of_a_matrix():
    glass = gaussian_glass(5, field=1.0, rng=0)
    w = np.random.default_rng(1).standard_normal(5)
    path = trajectory(glass, w, n_steps=7, lr=0.1, adam=False, every=1)
    step = np.eye(5) - 0.1 * glass.hessian
    best = ground_state(glass).mean
    for k, found in enumerate(path):
        np.testing.assert_allclose(
            found - best, np.linalg.matrix_power(step, k) @ (w - best), atol=1e-12
        )


@pytest.mark.parametrize(
    ("steps", "every", "kept"),
    [(6, 2, [0, 2, 4, 6]), (5, 10, [0, 5]), (5, 3, [0, 3, 5]), (4, None, [0, 4]), (1, 1, [0, 1])],
)
def test_the_start_every_so_often_and_the_end(steps, every, kept):
    glass = gaussian_glass(4, field=1.0, rng=0)
    whole = trajectory(glass, np.ones((2, 2)), n_steps=steps, lr=0.1, every=1)
    found = trajectory(glass, np.ones((2, 2)), n_steps=steps, lr=0.1, every=every)
    assert found.shape == (len(kept), 2, 2)
    np.testing.assert_array_equal(found, whole[kept])


def test_what_is_given_is_not_changed():
    glass, (W, W_K, W_Q) = gaussian_glass(12, field=1.0, rng=0), start(3, 0)
    copies = [w.copy() for w in (W, W_K, W_Q)]
    trajectory(glass, W, n_steps=3)
    trajectory(glass, (W_K, W_Q), n_steps=3)
    flow(glass, [1.0], start=W)
    assert all(np.array_equal(a, b) for a, b in zip((W, W_K, W_Q), copies))


def test_the_flow_is_a_matrix_exponential():
    glass = gaussian_glass(5, field=1.0, rng=2)
    w, A = np.random.default_rng(3).standard_normal((5, 1)), glass.hessian
    times = [0.0, 1e-9, 0.3, 2.0, 40.0]
    both = np.block([[-A, glass.h[:, None]], [np.zeros((1, 6))]])  # d (w, 1) / dt
    for t, found in zip(times, flow(glass, times, start=w)):
        np.testing.assert_allclose(
            found, (expm(t * both) @ [*w[:, 0], 1.0])[:5, None], rtol=1e-10, atol=1e-12
        )


def test_small_steps_are_the_flow():
    glass, w = gaussian_glass(4, field=1.0, rng=4), np.ones(4)
    exact = flow(glass, [1.0], start=w)[0]
    away = [
        np.abs(trajectory(glass, w, n_steps=n, lr=1 / n, adam=False)[-1] - exact).max()
        for n in (200, 400)
    ]
    assert away[0] / away[1] == pytest.approx(2, rel=0.05) and away[1] < 1e-2


def test_the_flow_keeps_what_is_flat():
    """Fewer prompts than weights: it ends in the minimum nearest to its start."""
    glass = to_spin_glass(LinearTask(3, 20).sample_features(5, rng=0), 0.0)
    w = np.random.default_rng(1).standard_normal((4, 3))
    A = glass.hessian
    seen = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    end = flow(glass, [1e7], start=w)[0].ravel()
    np.testing.assert_allclose(end, seen @ glass.h + w.ravel() - seen @ A @ w.ravel(), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda g: trajectory(g, np.zeros((3, 3))),
            ValueError,
            r"start must hold n = 6 weights, one a spin.*got \(3, 3\)$",
        ),
        (
            lambda g: trajectory(g, (np.zeros((3, 3)), np.zeros((2, 2)))),
            ValueError,
            r"or be a pair W_K .*got \(3, 3\) and",
        ),
        (
            lambda g: trajectory(g, (np.zeros((2, 3)), np.zeros((3, 2)))),
            ValueError,
            "or be a pair W_K",
        ),
        (lambda g: trajectory(g, np.full(6, np.nan)), ValueError, "start must be finite"),
        (
            lambda g: trajectory(g.hessian, np.zeros(6)),
            TypeError,
            "glass must be of type SpinGlass",
        ),
        (lambda g: trajectory(g, np.zeros(6), n_steps=0), ValueError, "n_steps must be at least 1"),
        (lambda g: trajectory(g, np.zeros(6), lr=-1.0), ValueError, "lr must be finite and > 0"),
        (lambda g: trajectory(g, np.zeros(6), eps=0.0), ValueError, "eps must be finite and > 0"),
        (
            lambda g: trajectory(g, np.zeros(6), n_steps=2000, lr=3.0, adam=False),
            ValueError,
            "lr must be small enough.*overflow",
        ),
        (
            lambda g: trajectory(g, np.zeros(6), n_steps=2000, lr=3.0, adam=False, every=1),
            ValueError,
            "lr must be small enough",
        ),
        (lambda g: flow(g, [-1.0], start=np.zeros(6)), ValueError, "times must be finite and >= 0"),
        (lambda g: flow(g, [1.0], start=np.zeros(5)), ValueError, "start must hold n = 6"),
        (
            lambda g: flow(SpinGlass([[0.0]], [1.0], [-1.0]), [1e4], start=[0.0]),
            ValueError,
            "eigenvalue -1, .*raise the ridge",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(SpinGlass(np.zeros((6, 6)), np.ones(6), np.ones(6)))


def test_a_field_on_a_flat_direction_drives_it_without_end():
    """No stiffness, field 2: the flow runs at speed 2."""
    assert flow(SpinGlass([[0.0]], [2.0], [0.0]), [0.0, 3.0], start=[1.0])[:, 0] == pytest.approx(
        [1.0, 7.0], rel=1e-14
    )


@pytest.mark.parametrize("A", [-0.5, -1e-9, 0.0, 1e-9, 2.0])
def test_the_flow_of_one_weight_in_closed_form(A, h=1.5, start=-0.4):
    """w(t) = start + (h - A start) t (1 - e^(-At)) / (At): up a bowl, along a plane and down a hill."""
    t = np.array([0.0, 0.3, 1.0, 4.0])
    path = flow(SpinGlass([[0.0]], [h], [A]), t, start=[start])[:, 0]
    grown = t if A == 0 else -np.expm1(-A * t) / A
    np.testing.assert_allclose(path, start + (h - A * start) * grown, rtol=1e-13, atol=1e-13)
    rate = (h - A * path) * 1e-6  # and the equation itself, by a small step
    later = flow(SpinGlass([[0.0]], [h], [A]), t + 1e-6, start=[start])[:, 0]
    np.testing.assert_allclose(later - path, rate, rtol=1e-5)
