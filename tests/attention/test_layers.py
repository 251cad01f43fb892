"""The blocks of a transformer against torch.nn and torch.nn.functional, and their symmetries."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocks import D, H, close, normal, random_block
from spinlib.attention import (
    Attention,
    Block,
    attention_weights,
    causal_mask,
    sinusoidal_positions,
)


def copy_heads(theirs, ours):
    """torch keeps the heads side by side in one matrix, and multiplies by its transpose."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([W.transpose(0, 1).flatten(1).T for W in (ours.W_Q, ours.W_K, ours.W_V)])
        )
        theirs.out_proj.weight.copy_(ours.W_O.T)
        for bias in (theirs.in_proj_bias, theirs.out_proj.bias):
            bias.zero_()
    return theirs


def copy_block(theirs, ours):
    copy_heads(theirs.self_attn, ours.own)
    if ours.cross is not None:
        copy_heads(theirs.multihead_attn, ours.cross)
    with torch.no_grad():
        theirs.linear1.weight.copy_(ours.W_1.T), theirs.linear1.bias.copy_(ours.b_1)
        theirs.linear2.weight.copy_(ours.W_2.T), theirs.linear2.bias.copy_(ours.b_2)
        for k in range(len(ours.gain)):
            norm = getattr(theirs, f"norm{k + 1}")
            norm.weight.copy_(ours.gain[k]), norm.bias.copy_(ours.shift[k])
    return theirs


def LN(X, *parts):
    return F.layer_norm(X, X.shape[-1:], *parts)


OPTIONS = dict(nhead=H, dim_feedforward=20, dropout=0.0, batch_first=True, dtype=torch.float64)


# attention


def test_eq_4_5_against_scaled_dot_product_attention():
    Q, K, V = normal(6, 2, 5, 4), normal(7, 2, 8, 4), normal(8, 2, 8, 3)
    mask = torch.from_numpy(np.random.default_rng(9).random((5, 8)) < 0.6)
    mask[:, 0] = True
    close(attention_weights(Q, K) @ V, F.scaled_dot_product_attention(Q, K, V))
    A = attention_weights(Q, K, mask)
    close(A @ V, F.scaled_dot_product_attention(Q, K, V, attn_mask=mask))
    close(A.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    assert (A[:, ~mask] == 0).all() and (A[:, mask] > 0).all()


def test_eq_5_printed_without_its_index_is_no_probability():
    """exp(x) / sum exp(x_i) with one x in the numerator gives every entry the same value."""
    x = normal(10, 1, 4)
    A = torch.softmax(x, -1)
    close(attention_weights(torch.ones(1, 1, dtype=torch.float64), x.T), A)
    assert A.std() > 1e-2


def test_eq_9_the_printed_mask_hides_the_past():
    Q, K, V = (normal(seed, 6, 4) for seed in (11, 12, 13))
    right = torch.zeros(6, 6, dtype=torch.float64)
    printed = right.clone()
    for i in range(6):
        for j in range(6):
            right[i, j] = 0 if j <= i else -math.inf
            printed[i, j] = 0 if i <= j else -math.inf
    found = attention_weights(Q, K, causal_mask(6)) @ V
    close(found, torch.softmax(Q @ K.T / 2 + right, 1) @ V)
    close(found, F.scaled_dot_product_attention(Q, K, V, is_causal=True))
    A = torch.softmax(Q @ K.T / 2 + printed, 1)
    assert (A.tril(-1) == 0).all() and A.triu(
        1
    ).abs().max() > 0.1  # as printed, a word sees only later words


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_eqs_3_10_12_against_multi_head_attention(memory, masked):
    X, M = normal(14, 2, 5, D), normal(15, 2, 5, D)
    ours, mask = Attention(D, H, rng=1), causal_mask(5) if masked else None
    theirs = copy_heads(
        torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64), ours
    )
    E = M if memory else X
    want, A = theirs(X, E, E, attn_mask=None if mask is None else ~mask, average_attn_weights=False)
    close(ours(X, M if memory else None, mask), want)
    close(ours.attention(X, M if memory else None, mask), A)
    each = mask if mask is None else torch.stack([mask, mask])  # a mask for each of two prompts
    close(ours(X, M if memory else None, each), want)


def test_eq_3_output_matrix_takes_all_heads():
    """H d_v rows, not H: a head of the concatenation has d_v components."""
    ours = Attention(D, H, rng=1)
    assert ours.W_O.shape == (H * ours.W_V.shape[2], D) and ours.W_O.shape[0] != H


def test_eq_4_tokens_are_rows():
    """X W_Q with X as columns, (D, N), has no meaning unless N = D, and then it mixes tokens instead of features."""
    X, W = normal(16, 5, D), normal(17, D, 4)
    with pytest.raises(RuntimeError):
        X.T @ W
    with pytest.raises(ValueError, match=r"X must have shape \(..., N, 12\).*got \(12, 5\)"):
        Attention(D, H, rng=2)(X.T)


# normalisation, feed-forward, layers, output


@pytest.mark.parametrize("eps", [0.0, 1e-5])
def test_eqs_7_8_against_torch(eps):
    X, gain, shift = 3 * normal(18, 2, 5, D) + 1, normal(19, D), normal(20, D)
    centred = X - X.mean(-1, keepdim=True)
    root = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    close(F.layer_norm(X, (D,), gain, shift, eps), gain * centred / root + shift)
    root = (X.square().mean(-1, keepdim=True) + eps).sqrt()
    close(F.rms_norm(X, (D,), gain, eps), gain * X / root)
    close(F.rms_norm(centred, (D,), eps=eps), F.layer_norm(X, (D,), eps=eps))


def test_eq_8_the_mean_runs_over_features():
    """Divided by the number N of tokens, as printed, a row would have the length sqrt(N)."""
    X = normal(21, 5, D)
    right = F.rms_norm(X, (D,), eps=0)
    close(right.norm(dim=1), torch.full((5,), D**0.5, dtype=torch.float64))
    printed = X / (X.square().sum(1, keepdim=True) / 5).sqrt()
    close(printed.norm(dim=1), torch.full((5,), 5**0.5, dtype=torch.float64))


def test_eq_6_feed_forward_with_tokens_as_rows():
    block, X = random_block(2), normal(22, 5, D)
    want = F.linear(F.relu(F.linear(X, block.W_1.T, block.b_1)), block.W_2.T, block.b_2)
    close(block.feed(X), want)


@pytest.mark.parametrize("masked", [False, True])
def test_eqs_1_2_against_encoder_layer(masked):
    ours, X = random_block(3), normal(23, 2, 6, D)
    theirs = torch.nn.TransformerEncoderLayer(D, **OPTIONS)
    copy_block(theirs, ours)
    mask = causal_mask(6) if masked else None
    want = theirs(X, src_mask=None if mask is None else ~mask)
    close(ours(X, mask=mask), want.detach())


def test_eqs_11_12_13_against_decoder_layer():
    ours = random_block(4, cross=True)
    X, memory = normal(24, 2, 6, D), normal(25, 2, 4, D)
    theirs = torch.nn.TransformerDecoderLayer(D, **OPTIONS)
    copy_block(theirs, ours)
    want = theirs(X, memory, tgt_mask=~causal_mask(6))
    close(ours(X, memory, causal_mask(6)), want.detach())


def test_a_block_without_norm_adds_what_its_parts_find():
    ours, X = Block(D, H, 20, norm=False, rng=1).requires_grad_(False), normal(24, 5, D)
    Z = X + ours.own(X, mask=causal_mask(5))
    close(ours(X, mask=causal_mask(5)), Z + ours.feed(Z))
    assert ours.gain is None and len(list(ours.parameters())) == 8


def test_eq_13_without_feed_forward_is_not_the_decoder_layer():
    ours, X, memory = random_block(4, cross=True), normal(24, 2, 6, D), normal(25, 2, 4, D)
    A = LN(ours.own(X, mask=causal_mask(6)) + X, ours.gain[0], ours.shift[0])
    printed = LN(ours.cross(A, memory) + A, ours.gain[1], ours.shift[1])
    assert (ours(X, memory, causal_mask(6)) - printed).abs().max() > 0.1


def test_eq_12_every_decoder_layer_reads_the_last_encoder_layer():
    """torch.nn.Transformer hands the last output of the encoder to all layers of the decoder; with the output of the
    same depth instead, as printed, the first layer would read something else."""
    encoder, decoder = (
        [random_block(s) for s in (5, 6)],
        [random_block(s, cross=True) for s in (7, 8)],
    )
    theirs = torch.nn.TransformerEncoderLayer(D, **OPTIONS)
    model = torch.nn.Transformer(
        D,
        num_decoder_layers=2,
        **OPTIONS,
        custom_encoder=torch.nn.TransformerEncoder(theirs, 2, enable_nested_tensor=False),
    )
    model.decoder.norm = None
    for theirs, ours in zip([*model.encoder.layers, *model.decoder.layers], encoder + decoder):
        copy_block(theirs, ours)
    source, target = normal(26, 2, 5, D), normal(27, 2, 4, D)
    depth = [source]
    for block in encoder:
        depth.append(block(depth[-1]))

    def write(memories):
        X = target
        for block, memory in zip(decoder, memories):
            X = block(X, memory, causal_mask(4))
        return X

    close(write([depth[2]] * 2), model(source, target, tgt_mask=~causal_mask(4)).detach())
    assert (write(depth[1:]) - write([depth[2]] * 2)).abs().max() > 1e-2


def test_eq_14_against_linear_and_softmax():
    X, W, b = normal(28, 2, 5, D), normal(29, D, 9), normal(30, 9)
    weights = torch.exp(X @ W + b)
    close(weights / weights.sum(-1, keepdim=True), F.softmax(F.linear(X, W.T, b), -1))


# symmetries


def test_attention_without_positions_does_not_know_the_order():
    X, block, order = normal(31, 6, D), random_block(9), torch.tensor([3, 0, 5, 1, 4, 2])
    for part in (block.own, block):
        close(part(X[order]), part(X)[order])
    places = sinusoidal_positions(6, D)
    for part in (
        lambda X: block(X + places),
        lambda X: block(X, rotate=True),
        lambda X: block(X, mask=causal_mask(6)),
    ):
        assert (part(X[order]) - part(X)[order]).abs().max() > 1e-2


def test_cross_attention_does_not_know_the_order_of_the_memory():
    X, memory, block = normal(32, 4, D), normal(33, 6, D), random_block(10, cross=True)
    close(block(X, memory[[3, 0, 5, 1, 4, 2]]), block(X, memory))


def test_the_causal_mask_hides_the_future_through_all_layers():
    X, memory, other, mask = normal(34, 6, D), normal(35, 5, D), normal(36, 6, D), causal_mask(6)
    other[:4] = X[:4]
    only, full = (
        [random_block(s) for s in (11, 12)],
        [random_block(s, cross=True) for s in (13, 14)],
    )

    def run(X):
        A = B = X
        for a, b in zip(only, full):
            A, B = a(A, mask=mask), b(B, memory, mask)
        return A, B

    for got, want in zip(run(other), run(X)):
        close(got[:4], want[:4])
        assert (got[4:] - want[4:]).abs().max() > 1e-2


@pytest.mark.slow
def test_gradients_pass():
    X, block = normal(37, 4, D).requires_grad_(), random_block(15, cross=True)
    memory = normal(38, 3, D)
    assert torch.autograd.gradcheck(lambda X: block(X, memory, causal_mask(4)), X)


def test_the_laws_and_the_order_of_draws():
    """Matrices N(0, 1/rows), W_2 with d_f rows, not D; one generator draws own, cross, W_1, W_2."""
    block, rng = Block(16, 2, 256, cross=True, rng=0), np.random.default_rng(0)
    drawn = [getattr(part, f"W_{k}") for part in (block.own, block.cross) for k in "QKVO"]
    for W in (*drawn, block.W_1, block.W_2):
        want = rng.standard_normal(W.shape) / W.shape[-2] ** 0.5
        torch.testing.assert_close(W.detach(), torch.from_numpy(want), rtol=1e-15, atol=0)
    assert block.own.W_Q.shape == (2, 16, 8) and block.W_2.shape == (256, 16)
    assert (block.gain == 1).all() and block.gain.shape == block.shift.shape == (3, 16)
    assert not block.shift.any() and not block.b_1.any() and not block.b_2.any()
    assert sum(p.numel() for p in block.parameters()) == 8 * 256 + 2 * 16 * 256 + 272 + 96


def test_the_weights_of_a_batch_have_a_mask_a_prompt():
    own, rng = Attention(D, H, rng=0), np.random.default_rng(1)
    X = torch.from_numpy(rng.standard_normal((H, 5, D)))
    mask = torch.from_numpy(rng.random((H, 5, 5)) < 0.5) | torch.eye(5, dtype=torch.bool)
    for part in (own.attention, own):
        alone = torch.stack([part(x, mask=m) for x, m in zip(X, mask)])
        torch.testing.assert_close(part(X, mask=mask), alone)


def test_stored_weights_make_the_same_block():
    ours, X = random_block(3), normal(23, 2, 6, D)
    stored = {name.removeprefix("own."): W.numpy() for name, W in ours.state_dict().items()}
    close(Block.load(stored)(X, mask=causal_mask(6)), ours(X, mask=causal_mask(6)))
    single = Block.load({name: W.astype(np.float32) for name, W in stored.items()})
    assert single.W_1.dtype == torch.float32 and not single.own.W_Q.requires_grad
    bare = {name: W for name, W in stored.items() if name not in ("gain", "shift")}
    assert Block.load(bare).gain is None
    for wrong in (
        {name: W for name, W in stored.items() if name != "shift"},
        stored | {"W_2": stored["W_2"][:3]},
        stored | {"W_3": stored["W_2"]},
        stored | {"W_Q": stored["W_Q"][0]},
        {},
    ):
        with pytest.raises(ValueError, match="these weights do not fit together, got "):
            Block.load(wrong)
