"""Linear attention, against loops over the formula as it is printed."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spinlib.attention import LinearAttention
from spinlib.icl import linear_attention


def loop(X, W, V=None):
    """Thesis eq. (120), one prompt and one matrix product at a time; only then the corner is read."""
    out = []
    for x in X:
        N = x.shape[1] - 1
        Y = (np.eye(len(x)) if V is None else V) @ x @ x.T @ W @ x / N
        out.append(Y[-1, -1])
    return np.array(out)


def prompts(rng, P, D, N):
    X = rng.standard_normal((P, D + 1, N + 1))
    X[:, -1, -1] = 0
    return X


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_eq_121_function_and_module_are_the_corner_of_Y(D, N, P, seed):
    rng = np.random.default_rng(seed)
    X, W = prompts(rng, P, D, N), rng.standard_normal((D + 1, D + 1))
    want = loop(X, W)
    np.testing.assert_allclose(linear_attention(W, X), want, rtol=1e-12, atol=1e-12)
    model = LinearAttention(D).set_weights(W[:, :D])
    np.testing.assert_allclose(model(X).detach(), want, rtol=1e-12, atol=1e-12)


def test_eq_125_sum_over_entries_with_the_label_row():
    """y_hat = (1/N) sum_{i,m,n} X_{D+1,i} X_{m,i} W_{mn} X_{n,N+1}; the printed X_{D,i} fails."""
    rng = np.random.default_rng(1)
    D, N = 3, 4
    X, W = prompts(rng, 5, D, N), rng.standard_normal((D + 1, D + 1))

    def by_entries(row):
        return [
            sum(
                x[row, i] * x[m, i] * W[m, n] * x[n, N]
                for i in range(N + 1)
                for m in range(D + 1)
                for n in range(D + 1)
            )
            / N
            for x in X
        ]

    got = linear_attention(W, X)
    np.testing.assert_allclose(
        got, by_entries(D), rtol=1e-12
    )  # row D+1 of the thesis, which counts from 1
    assert np.abs(got - by_entries(D - 1)).min() > 1e-3  # its row D


def test_normalisation_is_by_the_number_of_examples():
    """Repeating every example leaves the prediction alone; with 1/(N+1) it would not."""
    rng = np.random.default_rng(2)
    X, W = prompts(rng, 4, 3, 5), rng.standard_normal((4, 3))
    twice = np.concatenate([X[:, :, :-1], X], axis=2)
    np.testing.assert_allclose(linear_attention(W, twice), linear_attention(W, X), rtol=1e-12)
    assert (
        np.abs(linear_attention(W, twice) * 10 / 11 - linear_attention(W, X) * 5 / 6).max() > 1e-3
    )


def test_last_column_of_W_decouples_and_feels_no_force():
    rng = np.random.default_rng(3)
    X = prompts(rng, 6, 3, 5)
    model = LinearAttention(3, rng=0)
    before = model(X)
    before.sum().backward()
    assert (model.W.grad[0, :, -1] == 0).all() and (model.W.grad[0, :, :-1] != 0).all()
    with torch.no_grad():
        model.W[0, :, -1] += 7.0
    np.testing.assert_allclose(before.detach(), model(X).detach(), rtol=1e-13, atol=1e-14)
    whole = linear_attention(model.W[0].detach(), X)
    np.testing.assert_allclose(linear_attention(model.weights(), X), whole, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize("heads", [1, 3])
def test_eq_120_164_every_variant_against_the_loop(factored, value, heads):
    rng = np.random.default_rng(4)
    X = prompts(rng, 5, 3, 6)
    model = LinearAttention(3, value=value, factored=factored, heads=heads, rng=5)
    get = {name: p.detach().numpy() for name, p in model.named_parameters()}
    want = 0
    for k in range(heads):
        W = get["W_K"][k].T @ get["W_Q"][k] if factored else get["W"][k]
        want = want + loop(X, W, get["W_V"][k] if value else None)
    np.testing.assert_allclose(model(X).detach(), want, rtol=1e-12)
    if value and heads > 1:
        with pytest.raises(ValueError, match="no common W"):
            model.weights()
    elif not value:
        np.testing.assert_allclose(linear_attention(model.weights(), X), want, rtol=1e-12)
    else:
        np.testing.assert_allclose(
            loop(X, np.pad(model.weights(), ((0, 0), (0, 1))), get["W_V"][0]), want, rtol=1e-12
        )


def test_only_the_last_row_of_V_is_read():
    model = LinearAttention(2, value=True, rng=0)
    model(prompts(np.random.default_rng(0), 4, 2, 3)).sum().backward()
    assert (model.W_V.grad[0, :-1] == 0).all() and (model.W_V.grad[0, -1] != 0).all()


def test_readout_matrix_is_absorbed_by_values_eq_170():
    """Row D+1 of W_O [Y_1; Y_2] is the sum of two heads with V_h replaced by W_O,h V_h."""
    rng = np.random.default_rng(6)
    X = prompts(rng, 4, 3, 5)
    model = LinearAttention(3, value=True, heads=2, rng=7)
    W, V = model.W.detach().numpy(), model.W_V.detach().numpy()
    W_O = rng.standard_normal((4, 8))
    N = X.shape[2] - 1
    want = [
        (W_O @ np.concatenate([V[k] @ x @ x.T @ W[k] @ x / N for k in range(2)]))[-1, -1] for x in X
    ]
    with torch.no_grad():
        for k in range(2):
            model.W_V[k] = torch.from_numpy(W_O[:, 4 * k : 4 * k + 4] @ V[k])
    np.testing.assert_allclose(model(X).detach(), want, rtol=1e-12)


def test_initial_weights_have_variance_one_over_D_plus_1():
    W = (
        LinearAttention(3, heads=2500, rng=0).W.detach().numpy()
    )  # D + 1 = 4, far enough from D for the error bar
    z = (W.var() * 4 - 1) / np.sqrt(2 / W.size)
    assert abs(z) < 5 and abs(W.mean()) * np.sqrt(4 * W.size) < 5
    assert W.dtype == np.float64
    np.testing.assert_array_equal(W, LinearAttention(3, heads=2500, rng=0).W.detach().numpy())


def test_weights_round_trip_and_float32():
    W = np.random.default_rng(8).standard_normal((4, 3))
    model = LinearAttention(3).set_weights(W)
    np.testing.assert_array_equal(model.weights(), W)
    model.weights()[:] = 0  # a copy: the model keeps its own
    np.testing.assert_array_equal(model.weights(), W)
    X = prompts(np.random.default_rng(9), 3, 3, 4)
    double = model(X).detach()
    single = model.float()(X)
    assert double.dtype == torch.float64 and single.dtype == torch.float32
    np.testing.assert_allclose(single.detach(), double, rtol=1e-4)


def test_read_only_prompts():
    """Prompts of icl refuse to be written to; torch would warn."""
    X = prompts(np.random.default_rng(9), 3, 3, 4)
    X.setflags(write=False)
    model = LinearAttention(3, rng=0)
    model(X).sum().backward()
    assert model.W.grad[0, :, :3].abs().min() > 0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: LinearAttention(0), ValueError, "D must be at least 1, got 0"),
        (lambda: LinearAttention(2.0), TypeError, "D must be an integer"),
        (lambda: LinearAttention(2, heads=0), ValueError, "heads must be at least 1"),
        (
            lambda: LinearAttention(2)(np.zeros((3, 4))),
            ValueError,
            r"give one prompt a leading axis",
        ),
        (
            lambda: LinearAttention(2)(np.zeros((1, 3, 1))),
            ValueError,
            r"D, N >= 1, got \(1, 3, 1\)",
        ),
        (
            lambda: LinearAttention(2)(np.full((1, 3, 4), np.nan)),
            ValueError,
            "12 NaN or infinite",
        ),
        (lambda: LinearAttention(2)([["a"]]), TypeError, "real numbers"),
        (lambda: LinearAttention(2)(np.zeros((1, 4, 5))), ValueError, "this model has D = 2"),
        (lambda: LinearAttention(2)(np.zeros((0, 3, 5))), ValueError, "P, D, N >= 1"),
        (
            lambda: LinearAttention(2)(np.ones((1, 3, 4)) * 1e300),
            ValueError,
            "X must be at most .*got 1e.300; choose other units",
        ),
        (
            lambda: LinearAttention(2)([[[10**400]]]),
            TypeError,
            "X must be an array of real",
        ),
        (
            lambda: LinearAttention(2)(np.array([[["2020-01-01"]]], dtype="datetime64[D]")),
            TypeError,
            "X must be an array of real",
        ),
        (lambda: LinearAttention(2, value="no"), TypeError, "value must be True or False"),
        (
            lambda: LinearAttention(2)(np.zeros((1, 3, 4)) * 1j),
            TypeError,
            "X must be .*complex128",
        ),
        (
            lambda: LinearAttention(2).set_weights(np.zeros((3, 2)) * 1j),
            TypeError,
            "W must be .*complex128",
        ),
        (
            lambda: LinearAttention(2).set_weights(np.full((3, 2), np.nan)),
            ValueError,
            "W must be finite, got nan in 6",
        ),
        (
            lambda: LinearAttention(2).set_weights([["a", "b"]] * 3),
            TypeError,
            "W must be an array of real",
        ),
        (
            lambda: LinearAttention(2).set_weights(np.zeros((3, 3))),
            ValueError,
            r"W must have shape \(3, 2\)",
        ),
        (
            lambda: LinearAttention(2, factored=True).set_weights(np.zeros((3, 2))),
            ValueError,
            "set the parameters",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_set_weights_leaves_nothing_in_the_column_of_the_label():
    """It meets an empty slot, so no answer shows it, but a ridge would."""
    model = LinearAttention(3, rng=0)
    assert model.W[0, :, 3].abs().min() > 0
    assert not model.set_weights(np.ones((4, 3))).W[0, :, 3].any()


def test_arrays_of_any_kind_are_taken_as_numbers_or_refused():
    X, model = prompts(np.random.default_rng(0), 2, 3, 4), LinearAttention(3, rng=0)
    backwards = np.ascontiguousarray(X[:, ::-1])[:, ::-1]
    assert backwards.strides[1] < 0 and torch.equal(model(backwards), model(X))
    small = np.round(X).astype(np.int8)
    assert torch.equal(model(small), model(small.astype(float)))
    with pytest.raises(TypeError, match="X must be an array without a mask"):
        model(np.ma.masked_less(X, 0))


@pytest.mark.parametrize(
    ("options", "common"),
    [({"value": True}, True), ({"heads": 3}, True), ({"factored": True, "heads": 2}, True)]
    + [({"value": True, "heads": 2}, False), ({"value": True, "output": True}, False)],
)
def test_a_common_W_is_given_where_there_is_one(options, common):
    """One head behind an output matrix is read with another V than its own: no W alone says what it does."""
    model = LinearAttention(2, rng=0, **options)
    if common:
        assert model.weights().shape == (3, 2)
    else:
        with pytest.raises(ValueError, match="heads with values have no common W"):
            model.weights()
