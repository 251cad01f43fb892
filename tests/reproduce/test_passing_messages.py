"""Networks that read a tree: the law of its sentences, the stored runs, the page's network and the stored code."""

import numpy as np
import pytest
import torch
from pages import from_page

from spinlib.factor_graph import FactorGraph, enumerate_states
from spinlib.reproduce import load, run
from spinlib.reproduce._experiments import passing_messages as passing


def test_the_law_of_sentences_is_what_the_tree_says():
    """Sentences drawn node by node have the frequencies of the table of all."""
    M, rng, n = passing.grammar(np.random.default_rng(3)), np.random.default_rng(4), 200_000
    level = rng.integers(4, size=(n, 1))
    root = level[:, 0]
    for _ in range(3):
        ends = M.reshape(4, 16).cumsum(1)[level]
        pair = (ends[..., :-1] < rng.random((*level.shape, 1))).sum(-1)
        level = np.stack(np.divmod(pair, 4), -1).reshape(n, -1)
    law = passing.together(M).reshape((4,) * 9)
    for place in ((0, 1, 2), (0, 3, 8), (2, 5, 6)):
        found = np.histogramdd(np.c_[root, level][:, place], [np.arange(5) - 0.5] * 3)[0] / n
        exact = law.sum(tuple(set(range(9)) - set(place)))
        assert np.abs(found - exact).max() < 5 * np.sqrt(exact.max() / n)


def test_a_tie_weighs_the_states_in_which_the_two_nodes_agree():
    """Without a tie the law is that of the tree; with one, beliefs are those of a graph with a factor for it."""
    M = passing.grammar()
    assert M.sum((1, 2)) == pytest.approx(np.ones(4))
    free, tied = (passing.together(M, J) for J in (0.0, 3.0))
    assert free.sum() == pytest.approx(1) and free.sum(1) == pytest.approx(np.full(4, 0.25))
    for number in (0, 40_000):
        seen = passing.words(np.array([number]), 4, 8)[0]
        read = [((3 + k,), M[:, seen[2 * k], seen[2 * k + 1]]) for k in range(4)]
        tree = FactorGraph([4] * 7, [((i, 2 * i + 1, 2 * i + 2), M) for i in range(3)] + read)
        for law, graph in ((free, tree), (tied, tree.with_factor((4, 5), np.exp(3 * np.eye(4))))):
            root = enumerate_states(graph)[0][0]
            assert law[:, number] / law[:, number].sum() == pytest.approx(root, abs=1e-12)
        assert np.abs(free[:, number] / tied[:, number]).std() > 0.01


def test_the_page_has_the_network_of_the_stored_code():
    page = from_page("beyond/passing_messages", "network", "rms", torch=torch)
    stored = load("passing_messages")
    w = {
        k: torch.tensor(v[0])
        for k, v in stored.items()
        if k not in ("grammar", "watch", "path", "steps")
    }
    S = passing.words(stored["watch"][0], 4, 8)
    with torch.no_grad():
        one, two = passing.forward(w, S), page.network(w, S)[0]
    assert torch.allclose(one, two, atol=1e-5)
    assert np.abs(two.numpy() - stored["path"][0, -1]).max() < 0.01  # half precision


@pytest.mark.slow
def test_the_first_steps_of_a_stored_training_come_out_again(monkeypatch):
    stored, seen, forward = load("passing_messages"), [], passing.forward

    def watched(w, S):
        answers = forward(w, S)
        if not answers.requires_grad:
            seen.append(answers.numpy())
        return answers

    def stop(share):
        if share > 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(passing, "forward", watched)
    one = passing.EXPERIMENTS["passing_messages"]
    points = one.points(True)
    rng = one.seeds(np.random.default_rng(0), points)[1]
    with pytest.raises(KeyboardInterrupt):
        one.compute(rng=rng, tell=stop, **points[1])
    assert len(seen) == 4
    assert np.abs(np.array(seen) - stored["path"][1, :4]).max() < 0.02


@pytest.mark.slow
def test_the_variants_run_and_have_their_shapes():
    found = run("passing_variants")
    assert found["two_scores"].shape == (1, 2, 2, 8, 8) and found["loop_scores"].shape[1] == 3
    assert np.abs(found["other_grammar"] - found["two_grammar"]).max() > 0.1
    stored = load("passing_variants")
    assert stored["other_grammar"][0] == pytest.approx(found["other_grammar"][0])
    assert {k: v.shape[1:] for k, v in stored.items()} == {k: v.shape[1:] for k, v in found.items()}
