"""What was given is what is used: numpy's scalar types, masked arrays, and nouns that were copied or pickled."""

import copy
import dataclasses
import pickle
from fractions import Fraction

import numpy as np
import pytest
from answers import numbers
from calls import CALLS

from spinlib import icl, random_matrix, spin_glass, theory
from spinlib.factor_graph import ising
from spinlib.icl import LinearTask
from spinlib.pspin import PSpin
from spinlib.pspin.simulation import gaussian_couplings

WHOLE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
REAL = [np.float16, np.float32, np.longdouble, Fraction]
NOUNS = {
    "LinearTask": LinearTask(3, 5, corr=0.25, noise=2.0, tasks=np.eye(3)),
    "LinearTask(matrix)": LinearTask(3, 5, corr=np.eye(6)),
    "Prompts": LinearTask(3, 5).sample(4, rng=0),
    "Features": LinearTask(3, 5).sample_features(4, rng=0),
    "Teacher": theory.Teacher([1.0, 0.5], [0.5, 0.5], unexplained=0.25, count=[10, 20]),
    "SpinGlass": spin_glass.gaussian_glass(4, rng=0),
    "Couplings": gaussian_couplings(4, rng=0),
    "FactorGraph": ising([[0.0, 0.5], [0.5, 0.0]], 0.1),
    "PSpin": PSpin(4),
}


def same(one, two):
    one, two = list(numbers(one)), list(numbers(two))
    return len(one) == len(two) and all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(one, two)
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [n for n in CALLS if not n.startswith(("attention", "training", "reproduce"))]
)
def test_a_number_is_the_same_in_every_type(name):
    """Of Python, of numpy, a fraction: every callable, and so every field of every noun, one argument at a time.

    12 and 16 because their squares leave int8 and uint8: the check of a callee does not mend the number of its caller.
    """
    call, said = CALLS[name]
    for key, good in said.items():
        if key == "rng" or isinstance(good, bool) or not isinstance(good, (int, float)):
            continue
        whole = isinstance(good, int)
        for value in (good, 12, 16) if whole else (float(np.float16(good)), 1, 3, 16, 100):
            try:
                want = call(**said | {key: value if whole else float(value)})
            except ValueError:
                continue  # not allowed here, in any type
            for kind in (WHOLE if float(value).is_integer() else []) + ([] if whole else REAL):
                if kind in WHOLE and value > np.iinfo(kind).max:
                    continue
                assert same(call(**said | {key: kind(value)}), want), f"{key} = {kind(value)!r}"


FIELDS = [("D", 3), ("N", 5), ("corr", 1), ("noise", 16), ("noise", 100)]


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize(("key", "value"), FIELDS)
def test_a_task_samples_by_the_numbers_it_was_given(key, value, kind):
    """Three samplers: noise of np.uint8(16) was squared to 0 in one of them."""
    given = {"D": 3, "N": 5}
    plain, typed = (LinearTask(**given | {key: number}) for number in (value, kind(value)))
    assert type(getattr(typed, key)) in (int, float)
    for sampler in ("sample", "sample_features", "sample_pairs"):
        one, two = (getattr(task, sampler)(7, rng=0) for task in (plain, typed))
        assert same(one, two), sampler


@pytest.mark.parametrize("name", NOUNS)
def test_every_noun_keeps_what_was_checked(name):
    """No field is left as it was given where a check made a Python number of it."""
    noun = NOUNS[name]
    for field in dataclasses.fields(noun):
        value = getattr(noun, field.name)
        assert not isinstance(value, np.generic), field.name
        if isinstance(value, (int, float)):
            for kind in WHOLE if isinstance(value, int) else REAL + WHOLE:
                if kind(value) == value:
                    again = dataclasses.replace(noun, **{field.name: kind(value)})
                    assert type(getattr(again, field.name)) is type(value), field.name
                    assert getattr(again, field.name) == value


def arrays(value):
    if isinstance(value, tuple):
        return [array for part in value for array in arrays(part)]
    return [value] if isinstance(value, np.ndarray) else []


@pytest.mark.parametrize("name", NOUNS)
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_stays_read_only(name, way):
    again = way(NOUNS[name])
    assert type(again) is type(NOUNS[name]) and same(again, NOUNS[name])
    found = arrays(tuple(vars(again).values()))
    assert not any(array.flags.writeable for array in found)
    assert found or name == "PSpin"


@pytest.mark.parametrize(
    "call",
    [
        lambda a: spin_glass.SpinGlass(np.zeros((2, 2)), a, [1, 1]),
        lambda a: spin_glass.SpinGlass(np.zeros((2, 2)), [1, 1], a),
        lambda a: icl.Features(a[None], [[1.0]], [1.0]),
        lambda a: random_matrix.mp_density(a, 0.5),
        lambda a: theory.Teacher(a, [1.0, 1.0], 0.0),
        lambda a: spin_glass.shuffled(spin_glass.gaussian_glass(2, rng=0), a.astype(int)),
        lambda a: icl.contrast([a, a, a]),
    ],
)
def test_a_mask_is_not_lost_in_silence(call):
    call(np.ones(2))
    with pytest.raises(TypeError, match="masked|MaskedArray"):
        call(np.ma.masked_array([1.0, 1.0], [True, False]))


def test_formulas_use_the_checked_numbers():
    """The edges were of the checked ratio, the formula of the raw one."""
    for kind in WHOLE:
        x = random_matrix.mp_density([50.0, 200.0], kind(3), kind(100))
        assert (x == random_matrix.mp_density([50.0, 200.0], 3.0, 100.0)).all()


def test_blocks_are_a_sequence():
    """Counted from the end, cut, gone over backwards, as every sequence of Python is."""
    blocks = LinearTask(2, 3).blocks(10, size=4, rng=1)
    assert same(blocks[-1], blocks[2]) and same(blocks[-3], blocks[np.uint8(0)])
    assert [len(b.y) for b in blocks[1:]] == [4, 2] and blocks[5:] == []
    assert same(blocks[::-1], list(reversed(blocks)))
    for b in (3, -4):
        with pytest.raises(IndexError, match="index out of range"):
            blocks[b]
    for b in (1.0, "0", None):
        with pytest.raises(TypeError, match="must be integers or slices"):
            blocks[b]


def test_numbers_that_leave_the_numbers_are_refused():
    for T in (5e-324, 1e-320, 1e-301):
        for call in (PSpin(3).solve, PSpin(3).x_threshold, lambda T: PSpin(3).free_energy(0.5, T)):
            with pytest.raises(ValueError, match="T must be finite and > 0 and >= 1e-300"):
                call(T)
    assert np.isfinite(PSpin(3).free_energy([0.0, 0.5], 1e-300)).all()
    errors = theory.training_curve(20, 100, 800, times=[0, 5e-324, 1e-199])
    assert (np.abs(errors - errors[0]) < 1e-9).all()
