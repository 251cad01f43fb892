"""One softmax update: a loop over patterns, its energy, its limits, torch's attention, and what it refuses."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from spinlib.attention import retrieve


def slow(patterns, x, beta):
    weights = [math.exp(beta * sum(a * b for a, b in zip(x, xi))) for xi in patterns]
    return [
        sum(w * xi[k] for w, xi in zip(weights, patterns)) / sum(weights) for k in range(len(x))
    ]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5))
def test_it_is_the_loop_and_its_energy_falls(seed, beta):
    rng = np.random.default_rng(seed)
    patterns, x = rng.standard_normal((7, 3)), rng.standard_normal((4, 3))
    new = retrieve(patterns, x, beta)
    np.testing.assert_allclose(
        new, [slow(patterns, one, beta) for one in x], rtol=1e-10, atol=1e-12
    )

    def energy(x):
        return (x**2).sum(-1) / 2 - np.log(np.exp(beta * x @ patterns.T).sum(-1)) / beta

    assert (energy(x) - energy(new) >= ((new - x) ** 2).sum(-1) / 2 - 1e-10).all()
    nudge = 1e-6 * rng.standard_normal(x.shape)  # x - new is the gradient of the energy
    slope = (energy(x + nudge) - energy(x - nudge)) / 2
    np.testing.assert_allclose(slope, (nudge * (x - new)).sum(-1), rtol=1e-3, atol=1e-13)


def test_limits_and_shapes():
    patterns = np.random.default_rng(1).standard_normal((5, 4))
    x = patterns[2] / 3
    np.testing.assert_allclose(retrieve(patterns, x, 1e-9), patterns.mean(0), atol=1e-8)
    np.testing.assert_allclose(
        retrieve(patterns, x, 1e5), patterns[(patterns @ x).argmax()], atol=1e-12
    )  # no overflow
    assert retrieve(patterns, np.zeros((2, 3, 4))).shape == (2, 3, 4)


def test_it_is_the_attention_of_torch():
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    rng = np.random.default_rng(2)
    keys, queries = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    k, q = torch.from_numpy(keys), torch.from_numpy(queries)
    np.testing.assert_allclose(
        retrieve(keys, queries, 0.7), scaled_dot_product_attention(q, k, k, scale=0.7), rtol=1e-12
    )


@pytest.mark.slow
def test_it_needs_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from spinlib.attention import retrieve; print(retrieve([[1, 0]], [0, 1]).tolist())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out == "[1.0, 0.0]\n"


@pytest.mark.parametrize(
    "patterns, x, beta, words",
    [
        (np.zeros((0, 2)), [1, 2], 1, "no axis may be empty; one pattern a row"),
        ([1.0, 2], [1, 2], 1, "patterns must have shape .*one pattern a row"),
        ([[1.0, 2]], [1, 2, 3], 1, r"x must have shape \(..., 2\)"),
        ([[1.0, np.nan]], [1, 2], 1, "patterns must be finite"),
        ([[1.0, 2]], [1, 2], 0, "beta must be finite and > 0"),
    ],
)
def test_what_it_refuses(patterns, x, beta, words):
    with pytest.raises(ValueError, match=words):
        retrieve(patterns, x, beta)
