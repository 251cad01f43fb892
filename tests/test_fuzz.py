"""Every public callable, one argument spoiled at a time: out comes a ValueError or TypeError of ours or finite numbers.

Nothing that was given is changed, and no other library speaks. Left out are ``symbolic``, whose arguments are
expressions that SymPy reads and refuses, and the results that spinlib makes itself."""

import copy
import importlib
import inspect
import pathlib
import traceback
import warnings

import numpy as np
import pytest
import torch
from answers import numbers
from calls import CALLS
from faces import FACES

import spinlib
from spinlib import ConvergenceWarning

RESULTS = """factor_graph.Beliefs icl.PromptBlocks inference.Marginals inference.SpikeMarginals pspin.OneRSB
    theory.RidgeEquivalent""".split()
OTHERWISE = {
    "plotting.style": "takes nothing",
    "reproduce.names": "takes nothing",
    "reproduce.prose": "takes nothing",
    "reproduce.about": "test_store",
    "reproduce.load": "test_store",
    "reproduce.save": "test_command",
}
STEPS = ("summary", "readout", "mix", "feed")  # of a model, called by its forward and by training
NAN = {"theory.spike_thresholds"}  # as its docstring says: nan where there is no transition
HOME = str(pathlib.Path(spinlib.__file__).parent)

NUMBER = [
    None,
    "3",
    True,
    np.nan,
    np.inf,
    -1,
    10**400,
    -(10**400),
    1j,
    [3],
    np.array([1, 2]),
    object(),
]
WHOLE = [*NUMBER, 0, 2.5]
REAL = [*NUMBER, 0.0, -1.0, -np.inf, 1e-300, 1e200]
FLAG = [None, "yes", 1, 2.5, [True]]
TEXT = ["", "no such name", None, 3, ["a"]]
LIST = [None, "x", 3, object(), [[]], (0,) * 8]
NOUN = [None, "x", 3, object(), np.ones(3), {}]


def arrays(good):
    """What may stand where an array of that shape should."""
    good = np.asarray(good.detach() if isinstance(good, torch.Tensor) else good)
    numbers = good.astype(float)
    nan, infinite = numbers.copy(), numbers.copy()
    nan.flat[-1], infinite.flat[0] = np.nan, np.inf
    return [
        None,
        "text",
        [],
        {},
        1j,
        object(),
        nan,
        infinite,
        numbers * 1e200,
        numbers + 0j,
        good.astype(str),
        np.full(good.shape, None),
        good[None],
        [[1.0], [1.0, 2.0]],
        numbers.T[::-1][:1],
        -numbers,
        0 * numbers,
        torch.tensor(numbers, requires_grad=True),
        np.full(good.shape, 10**400, dtype=object),
    ]


def spoiled(good):
    if isinstance(good, (np.ndarray, torch.Tensor)):
        return arrays(good)
    kinds = [
        ((bool, np.bool_), FLAG),
        (int, WHOLE),
        (float, REAL),
        (str, TEXT),
        ((list, tuple), LIST),
        (type(None), [0, -1, 2.5, "x"]),
    ]
    return next((values for kind, values in kinds if isinstance(good, kind)), NOUN)


def fault(name, call, said):
    """What is wrong with how the call took what was said, or None."""
    before = {
        key: value.tobytes()
        for key, value in said.items()
        if isinstance(value, np.ndarray) and value.dtype != object
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = call(**said)
    except (TypeError, ValueError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = last.filename.startswith(HOME) and any(word in last.line for word in ("raise ", '"'))
        return None if ours else f"another's words, in {last.filename}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if any(not np.isfinite(array).all() for array in numbers(found)) and name not in NAN:
        return "an answer that is not finite"
    changed = [key for key, data in before.items() if said[key].tobytes() != data]
    return f"changed {changed}" if changed else None


def takes(module):
    """Names of the functions, classes and methods of a face that take arguments."""
    for name in FACES[module].split():
        thing = getattr(importlib.import_module(module), name)
        ours = inspect.isclass(thing) and thing.__module__.startswith("spinlib")
        calls = {name: thing} if inspect.isfunction(thing) or ours else {}
        if inspect.isclass(thing):
            calls |= {
                f"{name}.{method}": getattr(thing, method)
                for method in vars(thing)
                if not method.startswith("_") and method not in STEPS
            }
        for path, call in calls.items():
            if (
                call is thing
                or callable(call)
                and len(inspect.signature(call).parameters) > 1 - inspect.ismethod(call)
            ):
                yield f"{module}.{path}".removeprefix("spinlib.")


@pytest.mark.parametrize("module", [name for name in FACES if "symbolic" not in name])
def test_every_callable_has_a_row(module):
    assert {*takes(module)} - {"ConvergenceWarning"} <= {*CALLS, *RESULTS, *OTHERWISE}


@pytest.mark.slow
def test_the_rows_are_good_calls():
    for name, (call, said) in CALLS.items():
        assert fault(name, call, said) is None, name


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_what_is_spoiled_is_refused_in_our_words(name):
    call, said = CALLS[name]
    faults = [
        f"{key} = {bad!r:.80}: {what}"
        for key, good in said.items()
        if key != "rng"
        for bad in spoiled(good)
        if (what := fault(name, call, said | {key: copy.deepcopy(bad)}))
    ]
    assert not faults, "\n".join(faults)


SEEDED = [
    name for name, (_, said) in CALLS.items() if "rng" in said and "blocks" not in name
]  # blocks: a whole number only, see test_passes
NO_SEEDS = ["monday", 1.5, True, -1, [0, -2], {"seed": 1}, np.random, object(), [None]]
NO_SEEDS += [np.array(3), np.array([1.0]), np.timedelta64(3), np.random.RandomState(0)]


@pytest.mark.parametrize("name", SEEDED)
def test_what_is_no_seed_is_refused(name):
    call, said = CALLS[name]
    for value in NO_SEEDS:
        with pytest.raises((TypeError, ValueError), match="rng must be .*write rng=0"):
            call(**said | {"rng": value})


DRAWS = "icl", "random_matrix", "spin_glass", "pspin", "landscape"


@pytest.mark.parametrize("name", [name for name in SEEDED if name.startswith(DRAWS)])
def test_equal_seeds_give_equal_draws(name):
    call, said = CALLS[name]
    one, same, other = (
        list(numbers(call(**said | {"rng": rng})))
        for rng in ([1, 0], np.random.default_rng([1, 0]), [1, 1])
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert any((a != b).any() for a, b in zip(one, other))
