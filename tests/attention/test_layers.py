"""The blocks of a transformer against torch.nn and torch.nn.functional, and their symmetries."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocks import D, H, close, normal, random_layer
from spinlib.attention import (
    Heads,
    Layer,
    attention_weights,
    causal_mask,
    decoder_layer,
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head,
    output_probabilities,
    rms_norm,
    scaled_dot_product,
    sinusoidal_positions,
)


def copy_heads(layer, heads):
    """torch keeps the heads side by side in one matrix, and multiplies by its transpose."""
    with torch.no_grad():
        layer.in_proj_weight.copy_(
            torch.cat([W.transpose(0, 1).flatten(1).T for W in (heads.W_Q, heads.W_K, heads.W_V)])
        )
        layer.out_proj.weight.copy_(heads.W_O.T)
        for bias in (layer.in_proj_bias, layer.out_proj.bias):
            bias.zero_()
    return layer


def copy_layer(theirs, ours):
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


OPTIONS = dict(nhead=H, dim_feedforward=20, dropout=0.0, batch_first=True, dtype=torch.float64)


# attention


def test_eq_4_5_against_scaled_dot_product_attention():
    Q, K, V = normal(6, 2, 5, 4), normal(7, 2, 8, 4), normal(8, 2, 8, 3)
    mask = torch.from_numpy(np.random.default_rng(9).random((5, 8)) < 0.6)
    mask[:, 0] = True
    close(scaled_dot_product(Q, K, V), F.scaled_dot_product_attention(Q, K, V))
    close(
        scaled_dot_product(Q, K, V, mask), F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    )
    A = attention_weights(Q, K, mask)
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
    close(scaled_dot_product(Q, K, V, causal_mask(6)), torch.softmax(Q @ K.T / 2 + right, 1) @ V)
    close(
        scaled_dot_product(Q, K, V, causal_mask(6)),
        F.scaled_dot_product_attention(Q, K, V, is_causal=True),
    )
    A = torch.softmax(Q @ K.T / 2 + printed, 1)
    assert (A.tril(-1) == 0).all() and A.triu(
        1
    ).abs().max() > 0.1  # as printed, a word sees only later words


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_eqs_3_10_12_against_multi_head_attention(memory, masked):
    X, M = normal(14, 2, 5, D), normal(15, 2, 5, D)
    heads, mask = Heads.draw(D, H, rng=1), causal_mask(5) if masked else None
    theirs = copy_heads(
        torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64), heads
    )
    E = M if memory else X
    want, A = theirs(X, E, E, attn_mask=None if mask is None else ~mask, average_attn_weights=False)
    close(multi_head(X, heads, M if memory else None, mask), want.detach())
    close(heads.attention(X, M if memory else None, mask), A.detach())
    each = mask if mask is None else torch.stack([mask, mask])  # a mask for each of two prompts
    close(multi_head(X, heads, M if memory else None, each), want.detach())


def test_eq_3_output_matrix_takes_all_heads():
    """H d_v rows, not H: a head of the concatenation has d_v components."""
    heads = Heads.draw(D, H, rng=1)
    assert heads.W_O.shape == (H * heads.W_V.shape[2], D) and heads.W_O.shape[0] != H
    with pytest.raises(ValueError, match=r"W_O \(H d_v, D\), got .*\(3, 3\)"):
        Heads(heads.W_Q, heads.W_K, heads.W_V, heads.W_O[:H, :H])


def test_eq_4_tokens_are_rows():
    """X W_Q with X as columns, (D, N), has no meaning unless N = D, and then it mixes tokens instead of features."""
    X, W = normal(16, 5, D), normal(17, D, 4)
    with pytest.raises(RuntimeError):
        X.T @ W
    heads = Heads.draw(D, H, rng=2)
    with pytest.raises(ValueError, match=r"X must have shape \(..., N, 12\), got \(12, 5\)"):
        multi_head(X.T, heads)


# normalisation, feed-forward, layers, output


@pytest.mark.parametrize("eps", [0.0, 1e-5])
def test_eqs_7_8_against_torch(eps):
    X, gain, shift = 3 * normal(18, 2, 5, D) + 1, normal(19, D), normal(20, D)
    close(layer_norm(X, gain, shift, eps=eps), F.layer_norm(X, (D,), gain, shift, eps))
    close(rms_norm(X, gain, eps=eps), F.rms_norm(X, (D,), gain, eps))
    close(rms_norm(X - X.mean(-1, keepdim=True), eps=eps), layer_norm(X, eps=eps))


def test_eq_8_the_mean_runs_over_features():
    """Divided by the number N of tokens, as printed, a row would have the length sqrt(N)."""
    X = normal(21, 5, D)
    close(rms_norm(X, eps=0).norm(dim=1), torch.full((5,), D**0.5, dtype=torch.float64))
    printed = X / (X.square().sum(1, keepdim=True) / 5).sqrt()
    close(printed.norm(dim=1), torch.full((5,), 5**0.5, dtype=torch.float64))


def test_eq_6_feed_forward_with_tokens_as_rows():
    layer, X = random_layer(2), normal(22, 5, D)
    want = F.linear(F.relu(F.linear(X, layer.W_1.T, layer.b_1)), layer.W_2.T, layer.b_2)
    close(feed_forward(X.T, layer.W_1.T, layer.b_1, layer.W_2.T, layer.b_2).T, want)


@pytest.mark.parametrize("masked", [False, True])
def test_eqs_1_2_against_encoder_layer(masked):
    ours, X = random_layer(3), normal(23, 2, 6, D)
    theirs = copy_layer(torch.nn.TransformerEncoderLayer(D, **OPTIONS), ours)
    mask = causal_mask(6) if masked else None
    want = theirs(X, src_mask=None if mask is None else ~mask)
    close(encoder_layer(X, ours, mask), want.detach())


def test_eqs_11_12_13_against_decoder_layer():
    ours, X, memory = random_layer(4, cross=True), normal(24, 2, 6, D), normal(25, 2, 4, D)
    theirs = copy_layer(torch.nn.TransformerDecoderLayer(D, **OPTIONS), ours)
    close(decoder_layer(X, memory, ours), theirs(X, memory, tgt_mask=~causal_mask(6)).detach())


def test_eq_13_without_feed_forward_is_not_the_decoder_layer():
    ours, X, memory = random_layer(4, cross=True), normal(24, 2, 6, D), normal(25, 2, 4, D)
    A = layer_norm(multi_head(X, ours.own, mask=causal_mask(6)) + X, ours.gain[0], ours.shift[0])
    printed = layer_norm(multi_head(A, ours.cross, memory) + A, ours.gain[1], ours.shift[1])
    assert (decoder_layer(X, memory, ours) - printed).abs().max() > 0.1


def test_eq_12_every_decoder_layer_reads_the_last_encoder_layer():
    """torch.nn.Transformer hands the last output of the encoder to all layers of the decoder; with the output of the
    same depth instead, as printed, the first layer would read something else."""
    encoder, decoder = (
        [random_layer(s) for s in (5, 6)],
        [random_layer(s, cross=True) for s in (7, 8)],
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
        copy_layer(theirs, ours)
    source, target = normal(26, 2, 5, D), normal(27, 2, 4, D)
    depth = [source]
    for layer in encoder:
        depth.append(encoder_layer(depth[-1], layer))

    def write(memories):
        X = target
        for layer, memory in zip(decoder, memories):
            X = decoder_layer(X, memory, layer)
        return X

    close(write([depth[2]] * 2), model(source, target, tgt_mask=~causal_mask(4)).detach())
    assert (write(depth[1:]) - write([depth[2]] * 2)).abs().max() > 1e-2


def test_eq_14_against_linear_and_softmax():
    X, W, b = normal(28, 2, 5, D), normal(29, D, 9), normal(30, 9)
    close(output_probabilities(X, W, b), F.softmax(F.linear(X, W.T, b), -1))


# symmetries


def test_attention_without_positions_does_not_know_the_order():
    X, layer, order = normal(31, 6, D), random_layer(9), torch.tensor([3, 0, 5, 1, 4, 2])
    for block in (lambda X: multi_head(X, layer.own), lambda X: encoder_layer(X, layer)):
        close(block(X[order]), block(X)[order])
    places = sinusoidal_positions(6, D)
    for block in (
        lambda X: encoder_layer(X + places, layer),
        lambda X: encoder_layer(X, layer, rotate=True),
        lambda X: encoder_layer(X, layer, causal_mask(6)),
    ):
        assert (block(X[order]) - block(X)[order]).abs().max() > 1e-2


def test_cross_attention_does_not_know_the_order_of_the_memory():
    X, memory, layer = normal(32, 4, D), normal(33, 6, D), random_layer(10, cross=True)
    close(decoder_layer(X, memory[[3, 0, 5, 1, 4, 2]], layer), decoder_layer(X, memory, layer))


def test_the_causal_mask_hides_the_future_through_all_layers():
    X, memory, other = normal(34, 6, D), normal(35, 5, D), normal(36, 6, D)
    other[:4] = X[:4]
    only, full = (
        [random_layer(s) for s in (11, 12)],
        [random_layer(s, cross=True) for s in (13, 14)],
    )

    def run(X):
        A = B = X
        for a, b in zip(only, full):
            A, B = encoder_layer(A, a, causal_mask(6)), decoder_layer(B, memory, b)
        return A, B

    for got, want in zip(run(other), run(X)):
        close(got[:4], want[:4])
        assert (got[4:] - want[4:]).abs().max() > 1e-2


@pytest.mark.slow
def test_gradients_pass():
    X, layer = normal(37, 4, D).requires_grad_(), random_layer(15, cross=True)
    assert torch.autograd.gradcheck(lambda X: decoder_layer(X, normal(38, 3, D), layer), X)


def test_norms_add_1e_5_unless_told():
    X = torch.tensor([[1e-3, -1e-3]], dtype=torch.float64)
    want = X / (1e-6 + 1e-5) ** 0.5
    torch.testing.assert_close(layer_norm(X), want, rtol=1e-12, atol=0)
    torch.testing.assert_close(rms_norm(X), want, rtol=1e-12, atol=0)
    torch.testing.assert_close(
        layer_norm(X), torch.nn.functional.layer_norm(X, (2,)), rtol=1e-12, atol=0
    )


def test_the_laws_of_a_drawn_layer():
    """Matrices N(0, 1/rows): W_2 has d_f rows, not D."""
    layer = Layer.draw(16, 2, 256, cross=True, rng=0)
    for W, rows in (
        (layer.own.W_Q, 16),
        (layer.own.W_O, 16),
        (layer.cross.W_V, 16),
        (layer.W_1, 16),
        (layer.W_2, 256),
    ):
        assert abs(W.var().item() * rows - 1) < 5 * (2 / W.numel()) ** 0.5
    assert (
        (layer.gain == 1).all()
        and not layer.shift.any()
        and not layer.b_1.any()
        and not layer.b_2.any()
    )


def test_both_norms_of_an_encoder_layer_have_its_eps():
    layer = Layer.draw(D, H, 8, rng=0)
    X = torch.from_numpy(np.random.default_rng(1).standard_normal((5, D)))
    Z = F.layer_norm(multi_head(X, layer.own) + X, (D,), eps=0.5)
    Z = F.layer_norm(torch.relu(Z @ layer.W_1) @ layer.W_2 + Z, (D,), eps=0.5)
    torch.testing.assert_close(encoder_layer(X, layer, eps=0.5), Z)


def test_the_weights_of_a_batch_have_a_mask_a_prompt():
    heads, rng = Heads.draw(D, H, rng=0), np.random.default_rng(1)
    X = torch.from_numpy(rng.standard_normal((H, 5, D)))
    mask = torch.from_numpy(rng.random((H, 5, 5)) < 0.5) | torch.eye(5, dtype=torch.bool)
    alone = torch.stack([heads.attention(x, mask=m) for x, m in zip(X, mask)])
    torch.testing.assert_close(heads.attention(X, mask=mask), alone)


def test_the_three_norms_of_a_decoder_layer_have_its_eps():
    layer, rng = Layer.draw(D, H, 8, cross=True, rng=0), np.random.default_rng(1)
    X, memory = (torch.from_numpy(rng.standard_normal((n, D))) for n in (5, 4))
    Z = F.layer_norm(multi_head(X, layer.own, mask=causal_mask(5)) + X, (D,), eps=0.5)
    Z = F.layer_norm(multi_head(Z, layer.cross, memory) + Z, (D,), eps=0.5)
    Z = F.layer_norm(torch.relu(Z @ layer.W_1) @ layer.W_2 + Z, (D,), eps=0.5)
    torch.testing.assert_close(decoder_layer(X, memory, layer, eps=0.5), Z)
