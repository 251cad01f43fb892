"""Depth: orthogonal polynomials, numerical optima, Bayes as the limit, and prompts that are read again and again."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pages import from_page
from scipy.optimize import brentq, minimize

from spinlib.icl import LinearTask, best_weights, in_context_ridge, linear_attention, weights
from spinlib.inference import ground_state_cg
from spinlib.random_matrix import mp_moment
from spinlib.theory import bayes_error, depth_error, learning_curve

page = from_page("beyond/depth", "chebyshev_steps", "think")
chebyshev_steps, think = page.chebyshev_steps, page.think


def spectrum(nu, n=1000):
    """Eigenvalues and weights of the Marchenko-Pastur law of ratio 1/nu, with its atom."""
    angle = (np.arange(n) + 0.5) * np.pi / n
    x = 1 + 1 / nu + 2 * nu**-0.5 * np.cos(angle)
    weight = 2 * np.sin(angle) ** 2 / (n * x)
    return (x, weight) if nu >= 1 else (np.append(x, 0), np.append(weight, 1 - nu))


def thinking_curve(nu, load, k, rho=0.0):
    """The function of the page, without the noise of the asked label."""
    x, weight = spectrum(nu)
    page = from_page("beyond/depth", "thinking_curve", nu=nu, x=x, weight=weight)
    return page.thinking_curve(load, k, rho)


def by_responses(nu, load, k, rho=0.0):
    """The same by a second code: what is left of the field of each pass after the later ones, all at once."""
    c = 1 / (1 + (1 + rho) / nu)
    x, weight = spectrum(nu, 400)
    x = x[:, None]
    power = (1 - c * x) ** np.arange(k + 1)  # left of w after so many passes, if Delta = 0
    echo = np.zeros((len(x), k + 1, k))  # of the field in pass j, after i passes
    for i in range(1, k + 1):
        echo[:, i, :i] = power[:, :i][:, ::-1]
    C = np.zeros((k, k))  # covariance of the field over the passes
    for i in range(k):
        seen = (x**2 + rho / nu * x) * power[:, i : i + 1] * power[:, : i + 1]
        seen += x**2 * np.einsum("nj,nmj->nm", echo[:, i, :i] @ C[:i, :i], echo[:, : i + 1, :i])
        C[i, : i + 1] = C[: i + 1, i] = c * (1 + rho - c) / (load - 1) * (weight @ seen)
    left = power**2 + rho / (nu * x) * (1 - power) ** 2 + np.einsum("nij,nij->ni", echo @ C, echo)
    return (weight @ left)[1:]


@pytest.mark.parametrize(
    "nu, load, rho", [(2, 2, 0.0), (2, 4, 0.25), (5, 1.2, 1.0), (2, 1e9, 0.25)]
)
def test_the_page_solves_its_equations_as_a_second_code_does(nu, load, rho):
    assert thinking_curve(nu, load, 12, rho) == pytest.approx(
        by_responses(nu, load, 12, rho), rel=1e-9
    )


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6),
    st.sampled_from([(1, 3), (1, 2), (1, 1), (3, 2), (2, 1), (5, 1)]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_it_is_the_best_polynomial_by_its_moments(L, size, rho):
    """min over q of degree L - 1 of int (1 - x q)^2 + rho/nu x q^2: no recursion, no cavity."""
    N, D = size
    m = [mp_moment(k, D / N) for k in range(2 * L + 1)]
    A = np.array([[m[i + j + 2] + rho * D / N * m[i + j + 1] for j in range(L)] for i in range(L)])
    b = np.array(m[1 : L + 1])
    assert depth_error(L, D, N, rho**0.5) - rho == pytest.approx(
        1 - b @ np.linalg.solve(A, b), abs=1e-7
    )


@pytest.mark.parametrize("nu", [0.5, 1, 2, 5])
@pytest.mark.parametrize("L", [1, 2, 5, 9])
def test_the_steps_are_stationary_and_have_the_error(L, nu):
    D, N = 100, round(100 * nu)
    c, (x, weight) = chebyshev_steps(L, N / D), spectrum(nu)
    left = np.prod(1 - np.outer(c, x), axis=0)
    assert weight @ left**2 == pytest.approx(depth_error(L, D, N), rel=1e-9)
    assert (np.diff(c) > 0).all() and (c > 0).all()
    for j in range(L):  # derivative by c_j
        others = np.prod(1 - np.outer(np.delete(c, j), x), axis=0)
        assert abs(weight @ (left * x * others)) < 1e-10


def test_a_numerical_optimum_of_finite_prompts_is_near_the_steps():
    rng = np.random.default_rng([3, 0])
    X = rng.standard_normal((4, 400, 800))
    x = np.linalg.eigvalsh(X @ X.transpose(0, 2, 1) / 800).ravel()
    found = minimize(
        lambda c: (np.prod(1 - np.outer(c, x), axis=0) ** 2).mean(),
        [0.3, 0.8, 1.5],
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-10, "maxiter": 4000},
    )
    assert np.sort(found.x) == pytest.approx(chebyshev_steps(3, 2), rel=0.03)
    assert found.fun == pytest.approx(depth_error(3, 1, 2), rel=0.04)


def test_limits():
    assert depth_error(0, 3, 7, 0.5) == 1.25  # linear_attention 0
    assert depth_error(1, 500, 1000, 0.6) == pytest.approx(
        0.36 + 1.36 / 3.36
    )  # the best single layer
    for N, noise in ((50, 0.3), (100, 0.5), (300, 1.0)):  # many layers with a memory: Bayes
        assert depth_error(400, 100, N, noise) == pytest.approx(
            bayes_error(100, N, noise), rel=1e-10
        )
    assert depth_error(500, 100, 50) == pytest.approx(0.5)  # what the prompt does not show
    assert depth_error(10, 100, 100) == pytest.approx(1 / 11)


@pytest.mark.parametrize("nu", [2, 4])
def test_a_perfect_layer_that_thinks_takes_equal_steps(nu):
    """Sums of Catalan numbers, from the moments of the semicircle."""
    got, c = thinking_curve(nu, 10**8, 9), nu / (1 + nu)
    terms = [c * comb(2 * k, k) / (k + 1) * (nu / (1 + nu) ** 2) ** k for k in range(9)]
    assert got == pytest.approx(1 - np.cumsum(terms), rel=1e-6)
    x, weight = spectrum(nu)
    assert got[6] == pytest.approx(weight @ (1 - c * x) ** 14, rel=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_first_pass_is_the_learning_curve(noise):
    law = learning_curve(4000, 8000, 3 * 4000**2, 0.0, noise)
    assert thinking_curve(2, 3, 1, noise**2)[0] + noise**2 == pytest.approx(law, rel=2e-3)


@pytest.mark.slow
def test_its_growth_is_the_radius_of_the_passes():
    """It starts at P / D^2 = (nu^2 + 3)/(nu^2 - nu), where s^2 int x^2 / |2 - c x|^2 = 1."""
    nu, (x, weight) = 2, spectrum(2)
    c = nu / (1 + nu)

    def edge(radius, load):
        return c * (1 - c) / (load - 1) * (weight @ (x / (radius + 1 - c * x)) ** 2) - 1

    assert edge(1, 3.5) == pytest.approx(0, abs=1e-9)
    radius = brentq(edge, 0.99, 2, args=(2,))
    E = thinking_curve(2, 2, 120)
    assert (E[-1] / E[-21]) ** (1 / 40) == pytest.approx(radius, rel=0.01)


def test_prompts_with_the_steps_and_with_messages():
    """D = 150, 40 prompts: the steps of the law as layers, without noise; messages inside the prompt, with noise."""
    D, N, L = 150, 300, 3
    prompts = LinearTask(D, N).sample(40, rng=[0, 0])
    x, y, w = prompts.X[:, :D, :N], prompts.X[:, D, :N], prompts.w / D**0.5
    v = np.zeros((40, D))
    for c in chebyshev_steps(L, N / D):
        v += c / N * np.einsum("pdn,pn->pd", x, y - np.einsum("pdn,pd->pn", x, v))
    assert ((v - w) ** 2).sum(1).mean() == pytest.approx(depth_error(L, D, N), rel=0.15)
    rho, noisy = 0.25, LinearTask(D, N, noise=0.5).sample(40, rng=[1, 0])
    x, y, w = noisy.X[:, :D, :N], noisy.X[:, D, :N], noisy.w / D**0.5
    v, z = np.zeros((40, D)), y
    for t in range(L):
        share = 1 / (1 + depth_error(t, D, N, 0.5) * D / N)
        v = share * (v + np.einsum("pdn,pn->pd", x, z) / N)
        z = y - np.einsum("pdn,pd->pn", x, v) + D / N * share * z
    assert ((v - w) ** 2).sum(1).mean() + rho == pytest.approx(depth_error(L, D, N, 0.5), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("load, noise, rel", [(10, 0.0, 0.2), (4, 0.5, 0.2)])
def test_a_trained_layer_that_thinks(load, noise, rel):
    """D = 40, three trainings, 100 prompts each."""
    D, N, k, errors = 40, 80, 5, []
    for draw in range(3):
        task = LinearTask(D, N, noise=noise)
        W = weights(
            ground_state_cg(task.sample_features(load * D**2, rng=[draw, load]), ridge=1e-7).mean
        )
        test = task.sample(100, rng=[draw, load, 1])
        errors.append(((think(W, test.X, k) - test.y) ** 2).mean(1))
    assert np.mean(errors, 0) == pytest.approx(
        thinking_curve(N / D, load, k, noise**2) + noise**2, rel=rel, abs=0.02
    )


# --- the passes themselves --------------------------------------------------------------------------------------------


def test_a_pass_is_a_prediction_and_many_are_least_squares():
    prompts = LinearTask(3, 30, noise=0.5).sample(20, rng=[5, 0])
    W = np.random.default_rng(6).standard_normal((4, 3)) / 10
    assert think(W, prompts.X, 1)[0] == pytest.approx(linear_attention(W, prompts.X))
    assert think(np.pad(W, ((0, 0), (0, 1))), prompts.X, 3) == pytest.approx(think(W, prompts.X, 3))
    far = think(best_weights(3, 30), prompts.X, 400)[-1]
    assert far == pytest.approx(in_context_ridge(prompts.X), abs=1e-8)
    before = prompts.X.copy()
    think(W, prompts.X, 2)
    assert (prompts.X == before).all()


def test_two_passes_by_hand():
    """D = 1: u = (sum r x, sum r r)/N, answer u.W x."""
    X, W = np.array([[[1.0, 2.0, 3.0], [2.0, -1.0, 0.0]]]), np.array([[0.5], [0.25]])
    r, answer = np.array([2.0, -1.0]), 0.0
    for step in range(2):
        move = 0.5 * (r @ [1, 2]) / 2 + 0.25 * (r @ r) / 2
        answer, r = answer + 3 * move, r - move * np.array([1, 2])
        assert think(W, X, step + 1)[-1, 0] == pytest.approx(answer)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: depth_error(-1, 2, 4), "L must be at least 0"),
        (lambda: depth_error(1, 2, 0), "N must be at least 1"),
        (lambda: depth_error(1, 2, 4, -1), "noise must be finite and >= 0"),
    ],
)
def test_what_they_refuse(call, words):
    with pytest.raises(ValueError, match=words):
        call()
