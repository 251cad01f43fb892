"""The corpus of chapters/transformer/language_models, its counting models, and Thesis eqs. (15), (16)."""

import importlib.util
import itertools
import json
import math
import pathlib
from collections import Counter

import numpy as np
import pytest
import torch

from spinlib.reproduce import load, prose

CHAPTERS = pathlib.Path(__file__).resolve().parents[2] / "chapters"
TRAIN, HELD_OUT = prose()


def page(n_V, *begins):
    """The functions of the page, from the cells that begin so, with an alphabet of n_V characters."""
    cells = json.loads(
        (CHAPTERS / "transformer" / "language_models.ipynb").read_text(encoding="utf-8")
    )["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    names = {"np": np, "torch": torch, "n_V": n_V}
    for begin in begins:
        (source,) = (s for s in sources if s.startswith(begin))
        exec(source, names)
    return names


def entropy(P):
    return -sum(p * math.log(p) for p in P if p > 0)


def ising_chain(p, N):
    return {
        spins: 0.5 * math.prod(p if a == b else 1 - p for a, b in itertools.pairwise(spins))
        for spins in itertools.product((0, 1), repeat=N)
    }


def test_corpus_sizes_alphabet_and_one_paragraph_a_line():
    assert (len(TRAIN), len(HELD_OUT)) == (288_692, 34_730)
    assert set(TRAIN + HELD_OUT) == set("abcdefghijklmnopqrstuvwxyz .,;:'-?()#\n")
    lines = (TRAIN + HELD_OUT).splitlines()
    assert min(map(len, lines)) >= 40 and len(lines) == len(set(lines))
    assert not any(line != line.strip() or "  " in line for line in lines)


def test_corpus_the_two_parts_share_no_string_of_60_characters():
    strings = {TRAIN[i : i + 60] for i in range(len(TRAIN) - 59)}
    assert not any(HELD_OUT[i : i + 60] in strings for i in range(len(HELD_OUT) - 59))


def test_counting_models_against_a_count_of_strings():
    """predict and additive of the page, beside dictionaries of strings."""
    code = page(3, "def windows")
    text = "".join(np.random.default_rng(0).choice(list("abc"), 300, p=[0.5, 0.3, 0.2]))
    u = np.array(["abc".index(c) for c in text])
    tables = code["count"](u, 3)

    def prior(h, c):
        P = 1 / 3
        for n in range(3):
            begun = h[len(h) - n :]
            seen = Counter(text[i + n] for i in range(len(text) - n) if text[i : i + n] == begun)
            P = (seen[c] + 5 * P) / (sum(seen.values()) + 5)
            plain = (seen[c] + 0.1) / (sum(seen.values()) + 0.3)
        return P, plain

    for string in itertools.product("abc", repeat=3):
        number = code["windows"](np.array(["abc".index(c) for c in string]), 3)
        wanted = prior("".join(string[:2]), string[2])
        assert code["predict"](number, tables)[0] == pytest.approx(wanted[0], rel=1e-12)
        assert code["additive"](number, tables)[0] == pytest.approx(wanted[1], rel=1e-12)


@pytest.mark.parametrize("rule", ["predict", "additive"])
def test_eq_16_factors_that_sum_to_one_are_a_probability_over_strings(rule):
    """The exponential of N times (16), summed over all strings of N characters after a given beginning, is one."""
    code = page(3, "def windows")
    tables = code["count"](np.random.default_rng(1).integers(0, 3, 200), 3)
    total = 0.0
    for string in itertools.product(range(3), repeat=6):
        numbers = code["windows"](np.array((0, 1) + string), 3)
        L_C = np.log(code[rule](numbers, tables)).mean()
        total += math.exp(6 * L_C)
    assert total == pytest.approx(1, rel=1e-12)


def test_eq_16_its_mean_is_minus_the_entropy_minus_the_relative_entropy():
    """<-ln P> over the law of the text is its entropy plus the relative entropy, so it is never below the entropy."""
    text, model = ising_chain(0.8, 5), ising_chain(0.65, 5)
    cross = -sum(mu * math.log(model[s]) for s, mu in text.items())
    relative = sum(mu * math.log(mu / model[s]) for s, mu in text.items())
    assert cross == pytest.approx(entropy(text.values()) + relative, rel=1e-12)
    assert relative > 0.1


@pytest.mark.parametrize("p", [0.6, 0.9])
def test_eq_15_is_a_pseudo_likelihood_below_the_entropy(p):
    """One site hidden at a time: the mean of (15), summed over all sites, is minus a sum of local entropies."""
    P = ising_chain(p, 6)
    local = []
    for i in range(6):
        rest = Counter()
        for s, weight in P.items():
            rest[s[:i] + s[i + 1 :]] += weight
        mean_15 = sum(
            weight * math.log(weight / rest[s[:i] + s[i + 1 :]]) for s, weight in P.items()
        )
        local.append(-mean_15)
        assert local[-1] == pytest.approx(entropy(P.values()) - entropy(rest.values()), rel=1e-10)
    assert sum(local) < entropy(P.values())
    inner = 2 * entropy([p, 1 - p]) - entropy([p**2 + (1 - p) ** 2, 2 * p * (1 - p)])
    assert local[2] == pytest.approx(inner, rel=1e-10)


def test_eq_15_the_hidden_set_is_15_per_cent_as_80_10_10():
    code = page(30, "CONTEXT, HIDDEN")
    u = torch.from_numpy(np.random.default_rng(2).integers(0, 30, (2000, 32)))
    read, asked = code["hide"](u, np.random.default_rng(3))
    hidden, changed = read == code["HIDDEN"], (read != u) & (read != code["HIDDEN"])
    assert not ((hidden | changed) & ~asked).any()
    for share, wanted in ((asked, 0.15), (hidden, 0.12), (changed, 0.015 * 29 / 30)):
        assert abs(share.double().mean() - wanted) < 5 * (wanted / u.numel()) ** 0.5


@pytest.fixture(scope="module")
def modern():
    """The tool that trained the network of fig-lm-today."""
    tool = CHAPTERS.parent / "tools" / "authors" / "train_modern_model.py"
    spec = importlib.util.spec_from_file_location("train_modern_model", tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_stored_network_begins_as_it_is_trained(modern):
    """Its first losses again, from seed 0, and its number of weights."""
    stored = load("language_models")
    model, losses, path = modern.train("muon", steps=4)
    assert losses == pytest.approx(stored["muon_losses"][:4], abs=0.02) and path == []
    assert sum(W.numel() for W in model.parameters()) == stored["muon_numbers"]
    assert len(stored["muon_losses"]) == modern.STEPS


def test_the_network_of_today_reads_each_character_from_those_before(modern):
    """Bits of a window do not change at a place when later characters do, and the law sums to one."""
    model = modern.Model(5)
    u = torch.from_numpy(np.random.default_rng(6).integers(0, 5, (2, modern.CONTEXT)))
    other = u.clone()
    other[:, 60:] = (u[:, 60:] + 1) % 5
    with torch.no_grad():
        assert torch.equal(model(u)[:, :60], model(other)[:, :60])
        last = torch.stack(
            [
                model(torch.cat([u[:, :-1], torch.full_like(u[:, :1], c)], 1))[:, -1]
                for c in range(5)
            ]
        )
    assert (2**-last).sum(0) == pytest.approx(1, abs=1e-5)
