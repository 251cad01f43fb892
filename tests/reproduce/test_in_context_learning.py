"""The reader of prompts: what it may look at, its two exact companions, and the stored run."""
import numpy as np
import pytest
import torch

from spinlib.attention import causal_mask, multi_head, scaled_dot_product
from spinlib.icl import LinearTask, in_context_ridge
from spinlib.reproduce import (
    about,
    draw_pairs,
    draw_reader,
    load,
    pool_answers,
    read_prompts,
    ridge_answers,
    train_reader,
)
from spinlib.reproduce._in_context import ICL_TRANSFORMER


def awake(D=3, seed=0):
    """A reader with random weights that answers something."""
    reader = draw_reader(D, 16, 2, rng=seed)
    reader.out.copy_(torch.from_numpy(np.random.default_rng(seed + 1).standard_normal(16)))
    return reader


def test_all_questions_at_once_are_a_causal_prompt_with_the_question_last():
    reader, pairs = awake(), torch.from_numpy(draw_pairs(1, 7, 3, rng=2)[0]).float()
    together = read_prompts(reader, pairs)[0]
    for n in range(7):
        tokens = torch.cat([pairs[0, :n + 1], torch.zeros(n + 1, 1)], 1)
        tokens[-1, -2:] = torch.tensor([0.0, 1.0])
        X = tokens @ reader.embed
        for layer in reader.layers:
            X = X + multi_head(X, layer.own, mask=causal_mask(n + 1))
            X = X + torch.relu(X @ layer.W_1 + layer.b_1) @ layer.W_2 + layer.b_2
        assert (X[-1] @ reader.out - together[n]).abs() < 1e-4


def test_an_answer_sees_neither_its_label_nor_what_comes_later():
    reader, pairs = awake(), draw_pairs(4, 6, 3, rng=3)[0]
    other = pairs.copy()
    other[:, 3, -1] += 1.0
    other[:, 4:] += 1.0
    before, after = read_prompts(reader, pairs), read_prompts(reader, other)
    assert (before[:, :4] - after[:, :4]).abs().max() < 1e-5
    assert (before[:, 4:] - after[:, 4:]).abs().max() > 1e-2


def test_training_lowers_the_error_and_leaves_frozen_weights():
    reader = train_reader(1, 4, steps=150, width=16, layers=1, rng=0)
    assert not any(weights.requires_grad for weights in reader.parameters)
    pairs, rules = draw_pairs(1000, 5, 1, rng=1)
    assert ((read_prompts(reader, pairs).numpy()[:, 4] - pairs[:, 4, 0] * rules[:, 0]) ** 2).mean() < 0.8


def test_ridge_answers_are_those_of_the_prompts_of_part_three():
    prompts = LinearTask(3, 6, noise=0.5).sample(20, rng=4)
    pairs = prompts.X.transpose(0, 2, 1)
    answers = ridge_answers(pairs, 0.5)
    assert np.abs(answers[:, -1] - in_context_ridge(prompts.X, 3 * 0.25 / 6)).max() < 1e-12
    assert (answers[:, 0] == 0).all()


def test_the_posterior_over_a_pool_is_softmax_attention_to_its_tasks():
    rng = np.random.default_rng(5)
    pool = rng.standard_normal((6, 2))
    pairs = draw_pairs(1, 5, 2, pool=pool, rng=6)[0]
    x, y, query = pairs[0, :4, :2], pairs[0, :4, 2], pairs[0, 4, :2]
    asks = np.concatenate([x.T @ y, (x.T @ x).ravel()])[None] * np.sqrt(6) / 0.25
    keys = np.array([np.concatenate([v, -np.outer(v, v).ravel() / 2]) for v in pool])
    attention = scaled_dot_product(asks, keys, (pool @ query)[:, None]).item()
    answers = pool_answers(pairs, pool, 0.5)[0]
    assert answers[-1] == pytest.approx(attention, abs=1e-12)
    assert answers[0] == pytest.approx((pool @ pairs[0, 0, :2]).mean(), abs=1e-12)


def test_a_large_pool_is_the_gaussian_prior():
    """At D = 1, 4000 tasks: their posterior mean is within a few per cent of ridge regression."""
    pool = np.random.default_rng(7).standard_normal((4000, 1))
    pairs = draw_pairs(200, 5, 1, rng=8)[0]
    exact = ridge_answers(pairs, 0.5)
    away = np.mean((pool_answers(pairs, pool, 0.5) - exact) ** 2) / np.mean(exact**2)
    small = np.mean((pool_answers(pairs, pool[:4], 0.5) - exact) ** 2) / np.mean(exact**2)
    assert away < 0.01 < 0.05 < small


@pytest.mark.parametrize("call, words", [
    (lambda: read_prompts(draw_reader(2, rng=0), np.zeros((1, 0, 3))), "n >= 1"),
    (lambda: read_prompts(draw_reader(2, rng=0), np.zeros((1, 4, 4))), r"\(P, n, 3\)"),
    (lambda: pool_answers(np.zeros((1, 2, 3)), np.zeros((4, 2)), 0), "noise"),
    (lambda: pool_answers(np.zeros((1, 2, 3)), np.zeros((4, 3)), 0.5), "one rule of length D a row"),
    (lambda: draw_pairs(3, 0, 2), "n must be"),
    (lambda: train_reader(2, 0), "N must be"),
])
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_tiny_run_has_the_arrays_of_the_figure():
    points = [{"D": 1, "N": 3, "tasks": M, "run": run, "steps": 2, "width": 8, "layers": 1}
              for M, run in ((0, 0), (0, 1), (2, 0), (3, 0))]
    generators = ICL_TRANSFORMER.generators(np.random.default_rng(0), points)
    results = [ICL_TRANSFORMER.compute(rng=g, prompts=40, **p) for g, p in zip(generators, points)]
    found = ICL_TRANSFORMER.collect(points, results)
    assert found["length"].tolist() == list(range(7)) and found["M"].tolist() == [2, 3]
    assert all(found[name].shape == (2, 7) for name in ("reader", "ridge", "reader_bar", "ridge_bar", "from_ridge"))
    assert all(found[f"{where}_{who}"].shape == (2, 1, 7) for where in ("new", "pool")
               for who in ("reader", "ridge", "posterior"))
    assert found["from_ridge_M"].shape == found["from_posterior_M"].shape == (2, 1, 7)
    assert len(np.unique(found["reader"][:, -1])) == 2                        # two seeds are two trainings


def test_the_stored_run_stands_between_bayes_and_the_best_linear_attention():
    stored, N = load("icl_transformer"), 15
    assert about("icl_transformer")["full"] and stored["length"][-1] == 2 * N and stored["reader"].shape == (4, 31)
    n = np.arange(2, N + 1)
    linear = 7.25 / (n + 7.25)
    assert (stored["reader"][:, 2:N + 1] > stored["ridge"][:, 2:N + 1]).all()
    assert (stored["reader"][:, N] < 2 / 3 * linear[-1]).all()
    # Bayes is the posterior mean: errors differ by the mean square of the difference, up to the luck of the prompts
    excess = stored["reader"] - stored["ridge"]
    assert (np.abs(excess - stored["from_ridge"]) < 5 * stored["reader_bar"]).all()


def test_a_baseline_of_the_stored_run_comes_out_again():
    """The errors of ridge regression on other prompts agree with the stored ones."""
    stored = load("icl_transformer")
    pairs, rules = draw_pairs(2000, 16, 5, rng=11)
    squares = (ridge_answers(pairs, 0.5)[:, -1] - (pairs[:, -1, :5] * rules).sum(1)) ** 2
    error = squares.std(ddof=1) / 2000**0.5
    away = (squares.mean() - stored["ridge"][:, 15]) / np.hypot(error, stored["ridge_bar"][:, 15])
    assert (np.abs(away) < 5).all()
