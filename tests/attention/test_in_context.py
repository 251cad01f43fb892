"""The small transformer that fits in context: what an answer may look at, its start, and the law of its weights."""

import numpy as np
import pytest
import torch

from spinlib.attention import InContextTransformer, causal_mask
from spinlib.icl import LinearTask
from spinlib.training import fit


def awake(D=3, seed=0):
    """A net with random weights that answers something."""
    net = InContextTransformer(D, 16, 2, rng=seed).requires_grad_(False)
    net.out.copy_(torch.from_numpy(np.random.default_rng(seed + 1).standard_normal(16)))
    return net


def pairs_of(D, n, P, rng):
    return LinearTask(D, n - 1, noise=0.5).sample_pairs(P, rng=rng)


def test_all_questions_at_once_are_a_causal_prompt_with_the_question_last():
    net, pairs = awake(), torch.from_numpy(pairs_of(3, 7, 1, 2)[0]).float()
    together = net(pairs)[0]
    for n in range(7):
        tokens = torch.cat([pairs[0, : n + 1], torch.zeros(n + 1, 1)], 1)
        tokens[-1, -2:] = torch.tensor([0.0, 1.0])
        X = tokens @ net.embed
        for layer in net.layers:
            X = X + layer.own(X, mask=causal_mask(n + 1))
            X = X + torch.relu(X @ layer.W_1 + layer.b_1) @ layer.W_2 + layer.b_2
        assert (X[-1] @ net.out - together[n]).abs() < 1e-4


def test_an_answer_sees_neither_its_label_nor_what_comes_later():
    net, pairs = awake(), pairs_of(3, 6, 4, 3)[0]
    other = pairs.copy()
    other[:, 3, -1] += 1.0
    other[:, 4:] += 1.0
    before, after = net(pairs), net(other)
    assert (before[:, :4] - after[:, :4]).abs().max() < 1e-5
    assert (before[:, 4:] - after[:, 4:]).abs().max() > 1e-2


def test_it_starts_as_it_says():
    """Weights N(0, 1/rows), what a block adds over the root of the layers' number; first comes the embedding."""
    net = InContextTransformer(3, 64, 4, rng=0)
    first = np.random.default_rng(0).standard_normal((5, 64)) / 5**0.5
    assert torch.equal(net.embed.detach(), torch.from_numpy(first).float())
    for layer in net.layers:
        for W, variance in (
            (layer.own.W_Q, 1 / 64),
            (layer.own.W_V, 1 / 64),
            (layer.own.W_O, 1 / 256),
            (layer.W_1, 1 / 64),
            (layer.W_2, 1 / 1024),
        ):
            assert W.dtype == torch.float32
            assert abs(W.var().item() / variance - 1) < 5 * (2 / W.numel()) ** 0.5
        assert not layer.b_1.any() and not layer.b_2.any()
    assert not net.out.any()
    assert (
        sum(p.numel() for p in net.parameters())
        == 5 * 64 + 4 * (4 * 64**2 + 2 * 64 * 256 + 256 + 64) + 64
    )


def test_stored_weights_make_the_same_net():
    net, pairs = awake(), pairs_of(3, 4, 2, 0)[0]
    stored = {}
    for name, W in net.state_dict().items():  # as in spinlib/data: W_Q_0 for layers.0.own.W_Q
        parts = name.split(".")
        stored["_".join([parts[-1], *parts[1:2]])] = W.numpy()
    assert {"embed", "out", "W_Q_0", "b_2_1"} < set(stored)
    same = InContextTransformer.load(stored)
    assert torch.equal(same(pairs), net(pairs)) and not same.out.requires_grad
    with pytest.raises(ValueError, match="these weights do not fit together, got embed"):
        InContextTransformer.load({**stored, "W_1_0": stored["W_1_0"].T})
    with pytest.raises(ValueError, match="these weights do not fit together"):
        InContextTransformer.load({"embed": stored["embed"]})


@pytest.mark.slow
def test_every_weight_is_trained_and_the_error_falls():
    task = LinearTask(1, 4, noise=0.5)
    net, start = (InContextTransformer(1, 16, 1, rng=0) for _ in range(2))

    class Batch:
        def __init__(self, rng):
            self.X = task.sample_pairs(64, rng=rng)[0]
            self.y = self.X[:, :, -1]

    history = fit(net, Batch, n_steps=150, lr=0.005, rng=0)
    assert len(history.loss) == 150  # a function draws no batch for a step that is not made
    assert all((p - q).abs().max() > 1e-3 for p, q in zip(net.parameters(), start.parameters()))
    pairs, rules = task.sample_pairs(1000, rng=1)
    answers = net.requires_grad_(False)(pairs).numpy()
    assert ((answers[:, 4] - pairs[:, 4, 0] * rules[:, 0]) ** 2).mean() < 0.8


def test_float64_and_back():
    net, pairs = awake().double(), pairs_of(3, 4, 2, 0)[0]
    assert net(pairs).dtype == torch.float64 and net.layers[0].own.W_Q.dtype == torch.float64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: InContextTransformer(2, rng=0)(np.zeros((1, 0, 3))),
            r"pairs must have shape \(P, n, 3\) and no empty axis",
        ),
        (
            lambda: InContextTransformer(2, rng=0)(np.zeros((1, 4, 4))),
            r"\(P, n, 3\).*got \(1, 4, 4\)",
        ),
        (
            lambda: InContextTransformer(2, rng=0)(np.full((1, 4, 3), np.nan)),
            "pairs must be finite",
        ),
        (lambda: InContextTransformer(0), "D must be at least 1"),
        (lambda: InContextTransformer(2, layers=0), "layers must be at least 1"),
        (lambda: InContextTransformer(2, width=30), "heads must divide D"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
