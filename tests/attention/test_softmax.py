"""Softmax attention and the small transformer against torch's own, and what the prediction reads of them."""

import numpy as np
import pytest
import torch

from spinlib import ConvergenceWarning
from spinlib.attention import (
    LinearAttention,
    SoftmaxAttention,
    architecture,
)
from spinlib.attention._models import TransformerBlock
from spinlib.icl import LinearTask
from spinlib.training import fit, loss


def prompts(seed, P=6, D=3, N=7):
    X = np.random.default_rng(seed).standard_normal((P, D + 1, N + 1))
    X[:, -1, -1] = 0
    return X


def softmax_attention(X, *matrices):
    """All columns of Thesis eq. (165), by what the models compute for the query."""
    X, W_Q, W_K, W_V = (torch.as_tensor(part) for part in (X, *matrices))
    model = SoftmaxAttention(X.shape[1] - 1, len(W_Q), rng=0)
    model.W_Q.data, model.W_K.data = W_Q, W_K
    columns = [model.mix(X.roll(-k - 1, 2)) for k in range(X.shape[2])]  # each of them asks once
    return (W_V @ torch.stack(columns, -1)).detach()


def arrays(model):
    return {name: p.detach() for name, p in model.named_parameters()}


@pytest.mark.slow
def test_eq_165_against_scaled_dot_product_attention():
    """torch has tokens as rows; its softmax sums over the tokens that answer, ours over a column. W_Q x asks."""
    X = torch.from_numpy(prompts(0))
    model = SoftmaxAttention(3, 5, rng=1)
    W = arrays(model)
    asks, answers, values = ((W[name] @ X).mT for name in ("W_Q", "W_K", "W_V"))
    want = torch.nn.functional.scaled_dot_product_attention(asks, answers, values, scale=3**-0.5).mT
    got = softmax_attention(X, W["W_Q"], W["W_K"], W["W_V"])
    assert got.shape == (6, 4, 8)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(model(X).detach(), want[:, -1, -1], rtol=1e-12, atol=1e-12)
    exchanged = softmax_attention(X, W["W_K"], W["W_Q"], W["W_V"])
    assert (exchanged - want).abs().max() > 1e-2  # with a softmax the two names are not the same


@pytest.mark.slow
def test_eq_165_against_multi_head_attention_of_one_head():
    """torch's layer has keys of D+1 components and the scale sqrt(D+1); its output matrix is set to one."""
    D, X = 3, torch.from_numpy(prompts(2))
    model = SoftmaxAttention(D, D + 1, rng=3)
    W = arrays(model)
    layer = torch.nn.MultiheadAttention(D + 1, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([W["W_Q"] * ((D + 1) / D) ** 0.5, W["W_K"], W["W_V"]]))
        layer.out_proj.weight.copy_(torch.eye(D + 1))
    want = layer(X.mT, X.mT, X.mT, need_weights=False)[0].mT
    torch.testing.assert_close(
        softmax_attention(X, W["W_Q"], W["W_K"], W["W_V"]), want.detach(), rtol=1e-12, atol=1e-12
    )


def test_eqs_166_169_against_torch_layers():
    X = torch.from_numpy(prompts(4))
    model = TransformerBlock(3, 5, rng=5)
    with torch.no_grad():
        for b in (model.b_1, model.b_2):
            b.copy_(torch.linspace(-1, 1, len(b)))  # they start as 0, which would test nothing
    W = arrays(model)
    net = torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4)
    ).double()
    net.load_state_dict(
        {"0.weight": W["W_1"], "0.bias": W["b_1"], "2.weight": W["W_2"], "2.bias": W["b_2"]}
    )
    asks, answers, values = ((W[name] @ X).mT for name in ("W_Q", "W_K", "W_V"))
    z1 = (
        torch.nn.functional.scaled_dot_product_attention(asks, answers, values, scale=3**-0.5)
        + X.mT
    )
    want = (z1 + net(z1)).mT.detach()
    torch.testing.assert_close(model(X).detach(), want[:, -1, -1], rtol=1e-12, atol=1e-12)
    assert type(architecture("TF", 3, 5)) is TransformerBlock


@pytest.mark.parametrize(
    "model",
    [
        SoftmaxAttention(3, 4, rng=0),
        TransformerBlock(3, 4, rng=0),
        LinearAttention(3, value=True, heads=2, output=True, rng=0),
    ],
)
def test_the_order_of_the_examples_does_not_matter(model):
    X = prompts(8)
    order = np.random.default_rng(0).permutation(7)
    mixed = np.concatenate([X[:, :, order], X[:, :, -1:]], axis=2)
    np.testing.assert_allclose(model(mixed).detach(), model(X).detach(), rtol=1e-12, atol=1e-12)
    moved = X[:, :, [7, 1, 2, 3, 4, 5, 6, 0]]  # but which token asks does
    assert (model(moved) - model(X)).abs().max() > 1e-3


def test_columns_permute_with_the_tokens():
    X, order = prompts(9), np.random.default_rng(1).permutation(8)
    W = arrays(SoftmaxAttention(3, 2, rng=7))
    whole = softmax_attention(X, W["W_Q"], W["W_K"], W["W_V"])
    mixed = softmax_attention(X[:, :, order], W["W_Q"], W["W_K"], W["W_V"])
    torch.testing.assert_close(mixed, whole[:, :, order], rtol=1e-12, atol=1e-12)


def test_small_scores_are_centred_linear_attention():
    """Scores of size e: y_hat - mean of X_{D+1} is e times linear attention of centred tokens, up to order e^2."""
    X = prompts(10)
    W_K = np.random.default_rng(2).standard_normal((2, 4))
    away = []
    for e in (1e-3, 1e-4):
        found = softmax_attention(X, W_K, e * W_K, np.eye(4)).numpy()[:, -1, -1]
        y, scores = X[:, -1], np.einsum("hn,pni->phi", W_K, X)
        scores = np.einsum("phi,ph->pi", scores, scores[:, :, -1]) / 3**0.5
        first = y.mean(1) + e * ((y - y.mean(1, keepdims=True)) * scores).mean(1)
        away.append(np.abs(found - first).max())
    assert away[0] < 1e-3 and away[1] == pytest.approx(away[0] / 100, rel=0.05)


def test_eq_170_readout_matrix_of_the_heads():
    """W_O [Y_1; Y_2] with W_O (D+1, 2 (D+1)), head by head."""
    X = prompts(11)
    model = LinearAttention(3, value=True, heads=2, output=True, rng=7)
    W = {name: p.numpy() for name, p in arrays(model).items()}
    assert W["W_O"].shape == (4, 8)
    want = [
        (W["W_O"] @ np.concatenate([W["W_V"][k] @ x @ x.T @ W["W"][k] @ x / 7 for k in range(2)]))[
            -1, -1
        ]
        for x in X
    ]
    np.testing.assert_allclose(model(X).detach(), want, rtol=1e-12)
    model(X).sum().backward()
    assert (model.W_O.grad[:-1] == 0).all() and (model.W_V.grad != 0).all()
    with pytest.raises(ValueError, match="no common W"):
        model.weights()


def test_only_the_rows_that_are_read_feel_a_force():
    softmax, block = SoftmaxAttention(3, 4, rng=0), TransformerBlock(3, 4, rng=0)
    softmax(prompts(12)).sum().backward()
    block(prompts(12)).sum().backward()
    assert (softmax.W_V.grad[:-1] == 0).all() and (softmax.W_V.grad[-1] != 0).all()
    assert (
        (block.W_V.grad != 0).all()
        and (block.W_2.grad[:-1] == 0).all()
        and (block.b_2.grad[:-1] == 0).all()
    )
    assert (softmax.W_Q.grad[:, -1] == 0).all()  # the query's empty label slot
    assert softmax.float()(prompts(12)).dtype == torch.float32


@pytest.mark.slow
@pytest.mark.parametrize("model", [SoftmaxAttention(2, 8, rng=0), TransformerBlock(2, 8, rng=0)])
def test_training_settles_and_beats_zero(model):
    task = LinearTask(2, 40)
    history = fit(
        model,
        task.sample(2000, rng=1),
        n_steps=6000,
        lr=1e-2,
        batch=128,
        test=task.sample(500, rng=2),
        test_every=20,
        settle=0.02,
        rng=0,
    )
    assert history.settled and len(history.test_error) == (len(history.loss) + 19) // 20
    assert history.test_error[-1] < 0.5 * history.test_error[0]
    ends = [
        float(np.mean(history.test_error[k : k + 10]))
        for k in range(0, len(history.test_error), 10)
    ]
    falls = [now > 0.98 * min(ends[:k]) for k, now in enumerate(ends) if k]
    assert falls[-1] and sum(falls) == 4  # the criterion as it is written


@pytest.mark.slow
def test_settle_reports_when_steps_are_too_few():
    task = LinearTask(2, 20)
    with pytest.warns(
        ConvergenceWarning, match="had not settled to 0.01 after 50 steps; raise n_steps"
    ):
        history = fit(
            LinearAttention(2, rng=0),
            task.sample(100, rng=0),
            n_steps=50,
            test=task.sample(50, rng=1),
            settle=0.01,
        )
    assert history.settled is False
    assert fit(LinearAttention(2, rng=0), task.sample(100, rng=0), n_steps=5).settled is None


@pytest.mark.slow
def test_device_is_used_and_left_again():
    task = LinearTask(2, 20)
    data, test = task.sample(200, rng=0), task.sample(100, rng=1)
    one, two = SoftmaxAttention(2, 3, rng=0), SoftmaxAttention(2, 3, rng=0)
    a, b = (
        fit(one, data, n_steps=20, test=test),
        fit(two, data, n_steps=20, test=test, device="cpu"),
    )
    np.testing.assert_array_equal(a.loss, b.loss)
    with pytest.raises(
        ValueError, match="device must name a device that torch can use, got 'gpu'; 'cpu' always"
    ):
        fit(one, data, n_steps=1, device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="got 'cuda'.*this torch sees no GPU"):
            fit(one, data, n_steps=1, device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_gpu_gives_the_same_training(dtype):
    task = LinearTask(5, 30)
    data, test = task.sample(1000, rng=0), task.sample(1000, rng=1)
    models = [SoftmaxAttention(5, 8, rng=0).to(dtype) for _ in range(2)]
    for model, device in zip(models, ("cpu", "cuda")):
        fit(model, data, n_steps=200, batch=100, rng=0, device=device)
        assert next(model.parameters()).device.type == "cpu"
    assert 2 * loss(models[0], test).item() == pytest.approx(
        2 * loss(models[1], test).item(), rel=1e-9 if dtype == torch.float64 else 1e-2
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: SoftmaxAttention(0, 3), ValueError, "D must be at least 1, got 0"),
        (
            lambda: SoftmaxAttention(3, 0),
            ValueError,
            "H must be at least 1, got 0; it is the number of components",
        ),
        (lambda: TransformerBlock(3, 2.0), TypeError, "H must be an integer"),
        (lambda: TransformerBlock(3, 2)(np.zeros((1, 5, 4))), ValueError, "this model has D = 3"),
        (
            lambda: SoftmaxAttention(3, 2)(np.full((1, 4, 4), np.nan)),
            ValueError,
            "X must be finite, got 16",
        ),
        (lambda: LinearAttention(2, output=True), ValueError, "output=True needs value=True"),
        (
            lambda: LinearAttention(2, value=True, output=1),
            TypeError,
            "output must be True or False",
        ),
        (
            lambda: fit(LinearAttention(2), LinearTask(2, 3).sample(4, rng=0), settle=0.1),
            ValueError,
            "settle needs test prompts, got test=None",
        ),
        (
            lambda: fit(LinearAttention(2), LinearTask(2, 3).sample(4, rng=0), settle=0.0),
            ValueError,
            "settle must be",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_order_of_draws_is_fixed():
    """One generator draws W_K, W_Q, W_V, then W_1 and W_2: a stored seed is the same network for ever."""
    rng = np.random.default_rng(7)
    for model in (SoftmaxAttention(3, 5, rng=7), TransformerBlock(3, 5, rng=7)):
        rng = np.random.default_rng(7)
        for name, shape in (
            ("W_K", (5, 4)),
            ("W_Q", (5, 4)),
            ("W_V", (4, 4)),
            ("W_1", (5, 4)),
            ("W_2", (4, 5)),
        ):
            if hasattr(model, name):
                want = rng.standard_normal(shape) / shape[1] ** 0.5
                np.testing.assert_array_equal(getattr(model, name).detach().numpy(), want)
    assert not model.b_1.any() and not model.b_2.any()


@pytest.mark.parametrize(
    "model",
    [
        SoftmaxAttention(3, 4, rng=0),
        TransformerBlock(3, 4, rng=0),
        LinearAttention(3, rng=0),
        LinearAttention(3, value=True, heads=2, output=True, rng=0),
    ],
)
def test_numbers_that_are_too_large_are_told_in_words(model):
    with pytest.raises(ValueError, match=r"X must be at most 1e\+75 in size .*got 1e\+200"):
        model(np.full((1, 4, 5), 1e200))
    with torch.no_grad():
        for part in model.parameters():
            part.fill_(1e200)
    with pytest.raises(ValueError, match="the prediction must be"):
        model(np.ones((1, 4, 5)))


def test_set_weights_takes_a_read_only_array(recwarn):
    W = np.ones((4, 3))
    W.setflags(write=False)
    model = LinearAttention(3).set_weights(W)
    with torch.no_grad():
        model.W += 1
    assert (W == 1).all() and not recwarn.list
