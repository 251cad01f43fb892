"""The iteration loop and the input checks."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import spinlib
from spinlib import ConvergenceWarning
from spinlib._core import (
    check_array,
    check_flag,
    check_integer,
    check_last_axis,
    check_real,
    check_rng,
    freeze,
    iterate,
)


def test_fixed_point_of_a_linear_map():
    M = np.array([[0.5, 0.2], [0.1, -0.4]])
    b = np.array([1.0, 2.0])
    found = iterate(lambda s: (M @ s[0] + b,), (np.zeros(2),), tol=1e-13)
    np.testing.assert_allclose(found.state[0], np.linalg.solve(np.eye(2) - M, b), rtol=1e-12)
    assert (
        found.converged
        and found.n_iter == len(found.history)
        and found.residual == found.history[-1]
    )


def test_damping_rescues_a_period_two_cycle():
    flip = lambda s: (1.0 - 1.05 * s[0],)  # eigenvalue -1.05: diverges without damping
    with pytest.warns(ConvergenceWarning, match="raise damping"):
        assert not iterate(flip, (np.array([0.3]),), max_iter=50).converged
    damped = iterate(flip, (np.array([0.3]),), damping=0.5)
    assert damped.converged and damped.state[0][0] == pytest.approx(1 / 2.05)


def test_residual_is_taken_before_damping():
    with pytest.warns(ConvergenceWarning, match="stopped at residual"):
        slow = iterate(
            lambda s: (0.0 * s[0] + 1.0,), (np.array([0.0]),), damping=0.999, tol=1e-2, max_iter=1
        )
    assert slow.residual == pytest.approx(1.0) and slow.state[0][0] == pytest.approx(0.001)


def test_divergence_keeps_a_sane_state():
    with pytest.warns(ConvergenceWarning, match="left the finite numbers"):
        found = iterate(lambda s: (s[0] ** 2,), (np.array([10.0]),), max_iter=100)
    assert (
        found.state[0] <= 1e4 < 1e200 < found._trail[-1][0] < np.inf
        and not found.converged
        and found.n_iter < 100
    )


@pytest.mark.parametrize("factor", [1.2, -1.2, 3.0, -1.05])
def test_growth_without_end_is_stopped_early(factor):
    """The first sweep that exceeds 1e8 times the largest entry of the first ten ends the run."""
    with pytest.warns(ConvergenceWarning, match=r"grew more than 1e\+08 times"):
        found = iterate(lambda s: (factor * s[0] + 1,), (np.array([0.0, 1.0]),), max_iter=100_000)
    expected = 10 + np.log(1e8) / np.log(abs(factor))
    assert abs(found.n_iter - expected) < 12 and not found.converged and found.reason
    assert np.abs(found.state[0]).max() < 1e5 < 1e8 < np.abs(found._trail[-1][0]).max()


@pytest.mark.slow
def test_what_grows_and_settles_is_not_stopped():
    """Slow: z = 1 - 1e-3 reaches a thousand times its first value; steep:
    one sweep in the first ten multiplies by 1e12."""
    slow = iterate(lambda s: ((1 - 1e-3) * s[0] + 1,), (np.array([0.0]),), max_iter=30_000)
    assert (
        slow.converged
        and slow.n_iter > 10_000
        and slow.state[0][0] == pytest.approx(1e3)
        and slow.reason == ""
    )
    steep = iterate(lambda s: (np.minimum(s[0] * 1e3, 1e12),), (np.array([1.0]),))
    assert steep.converged and steep.state[0][0] == 1e12
    chain = np.diag(
        np.full(49, 3.0), -1
    )  # nilpotent: grows by 3 a sweep for 50 sweeps, 3^49 = 2e23, and is still
    with pytest.warns(
        ConvergenceWarning, match="grew"
    ):  # beyond 1e8 even a transient is refused: no digits are left
        iterate(lambda s: (chain @ s[0] + np.eye(50)[0],), (np.zeros(50),))
    short = chain[:17, :17]  # 3^16 = 4e7
    assert (
        iterate(lambda s: (short @ s[0] + np.eye(17)[0],), (np.zeros(17),)).state[0][-1] == 3.0**16
    )


def test_a_fault_ends_the_run_before_it_happens():
    with pytest.warns(ConvergenceWarning, match="below zero after 3 sweeps"):
        found = iterate(
            lambda s: (s[0] - 1,),
            (np.array([3.0]),),
            fault=lambda s: "below zero" if s[0][0] < 0 else "",
        )
    assert found.state[0][0] == 0 and found.n_iter == 3 and not found.converged
    silent = iterate(
        lambda s: (s[0] - 1,), (np.array([3.0]),), max_iter=5, silent=True
    )  # no warning
    assert silent.reason.startswith("it stopped at residual")


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_residual_is_relative(scale):
    """The same run at any scale: with an absolute residual the small one would stop at once, the large one never."""
    run = lambda s: iterate(lambda v: (0.5 * v[0] + s,), (np.array([0.0]),), tol=1e-9, silent=True)
    assert run(scale).n_iter == run(1.0).n_iter and run(scale).converged
    np.testing.assert_allclose(run(scale).history, run(1.0).history, rtol=1e-6)


def test_a_measure_replaces_the_residual():
    """Halving from 1: the measure alone decides; the entries themselves never stop changing by half."""
    found = iterate(
        lambda s: (s[0] / 2,),
        (np.array([1.0]),),
        tol=1e-3,
        measure=lambda s: float(np.abs(s[0]).max()),
    )
    np.testing.assert_array_equal(found.history, 0.5 ** np.arange(1, 11))
    assert found.converged and found.n_iter == 10 and found.residual == 0.5**10
    with pytest.warns(ConvergenceWarning, match="left the finite numbers"):
        iterate(lambda s: (s[0] / 2,), (np.array([1.0]),), measure=lambda s: np.nan)


def test_without_damping_nothing_is_mixed():
    """The state is the very array that step made; with damping it is another."""
    made = []

    def step(state):
        made.append(state[0] / 2)
        return (made[-1],)

    assert iterate(step, (np.ones(3),), max_iter=3, silent=True).state[0] is made[-1]
    assert (
        iterate(step, (np.ones(3),), max_iter=3, damping=0.1, silent=True).state[0] is not made[-1]
    )


def test_the_state_kept_is_the_one_that_changed_least():
    """Changes are measured by the sizes of the first sweeps: a step of 10 at height 1e6 is a large one, and an array of
    large entries does not outweigh one of small entries."""
    path = [
        1.5,
        1.0,
        1.6,
        1.0,
        1.7,
        1.0,
        1.8,
        1.0,
        1.3,
        1.0,
        1e6,
        1e6 + 10,
        1e20,
    ]  # least: 1.3 -> 1.0
    heavy = [1e9, 1e9 + 7, 1e9, 1e9 + 1, *[1e9 + 90 * k for k in range(9)]]  # least: 1e9 -> 1e9 + 1
    steps = iter(zip(path, heavy))
    with pytest.warns(ConvergenceWarning, match="grew"):
        found = iterate(
            lambda s: tuple(np.array([v]) for v in next(steps)), (np.ones(1), np.full(1, 1e9))
        )
    assert found.n_iter == 13 and (found.state[0][0], found.state[1][0]) == (1.0, heavy[9])


@pytest.mark.parametrize("value", [1, 0, "no", None, 1.0, [True]])
def test_flags_are_true_or_false(value):
    with pytest.raises(TypeError, match="onsager must be True or False"):
        check_flag("onsager", value)
    assert check_flag("onsager", np.True_) is True and check_flag("onsager", False) is False


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        np.int64(3),
        [1, 2],
        (0,),
        np.array([1, 2]),
        np.random.SeedSequence(1),
        np.random.PCG64(1),
        10**40,
    ],
)
def test_what_rng_may_be(value):
    assert isinstance(check_rng(value), np.random.Generator)
    generator = np.random.default_rng(0)
    assert (
        check_rng(generator) is generator
        and check_rng([4, 1]).random() == np.random.default_rng([4, 1]).random()
    )


@pytest.mark.parametrize(
    "value, error",
    [
        ("7", TypeError),
        (1.0, TypeError),
        (True, TypeError),
        ([1.5], TypeError),
        (np.array(["a"]), ValueError),
        ({1: 2}, TypeError),
        (np.random, TypeError),
        (-1, ValueError),
        ([0, -2], ValueError),
        (np.float64("nan"), TypeError),
    ],
)
def test_what_rng_may_not_be(value, error):
    with pytest.raises(error, match="rng must be .*write rng=0"):
        check_rng(value)


@pytest.mark.parametrize("value", [-0.1, 1.0, 2, np.nan])
def test_damping_outside_the_unit_interval(value):
    with pytest.raises(ValueError, match="damping must be .*weight of the OLD value"):
        iterate(lambda s: s, (np.ones(1),), damping=value)


@pytest.mark.parametrize(
    ("value", "error"), [(3.0, TypeError), ("3", TypeError), (True, TypeError), (2, ValueError)]
)
def test_integers(value, error):
    with pytest.raises(error, match="p must be"):
        check_integer("p", value, 3)
    assert check_integer("p", np.int64(3), 3) == 3


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
def test_reals(value):
    with pytest.raises(ValueError, match="T must be finite and > 0"):
        check_real("T", value, above=0)
    with pytest.raises(TypeError, match="real number"):
        check_real("T", "warm", above=0)


def test_arrays():
    with pytest.raises(ValueError, match=r"shape \(any, 3\), got \(2, 2\)"):
        check_array("W", np.eye(2), (None, 3))
    with pytest.raises(ValueError, match="h must be finite, got nan in 1 of 2"):
        check_array("h", [1.0, np.nan], (None,))
    with pytest.raises(TypeError, match="real numbers"):
        check_array("h", ["a"], (1,))
    for empty, shape in (
        ([], (None,)),
        (np.empty((0, 3)), (None, 3)),
        (np.empty((2, 0)), (2, None)),
    ):
        with pytest.raises(ValueError, match="W must have shape .*; no axis may be empty"):
            check_array("W", empty, shape)
    assert check_array("W", np.empty((0, 3)), (0, 3)).size == 0
    with pytest.raises(ValueError, match="W must be finite and >= 0, got -1.0 in 1 of 2 entries"):
        check_array("W", [-1.0, 0.0], (2,), minimum=0)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([3], dtype="timedelta64[s]"),
        [10**400],
        10**400,
        [None],
        None,
        np.array(["1"], dtype=object),
        [1j],
        "1",
        b"1",
        np.zeros(1, dtype=[("a", float)]),
        {1: 2},
        object(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_is_no_array_of_numbers(value):
    with pytest.raises(TypeError, match="h must be an array of real numbers"):
        check_array("h", value, (1,))


def test_tensors():
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(check_array("h", torch.ones(2), (2,)), 1)
    with pytest.raises(TypeError, match=r"h must be an array of real numbers.*detach\(\)"):
        check_array("h", torch.ones(2, requires_grad=True), (2,))


def test_numbers_beyond_the_floats():
    for value in (10**400, -(10**400), 10**5000):
        with pytest.raises(ValueError, match="T must be finite"):
            check_real("T", value)
    with pytest.raises(ValueError, match="p must be at least 3"):
        check_integer("p", -(10**5000), 3)
    assert check_integer("p", 2**63 - 1, 3) == 2**63 - 1
    for value in (2**63, 10**400, 10**5000):  # no array has such a size, and no float such a value
        with pytest.raises(ValueError, match="p must be at most 9223372036854775807"):
            check_integer("p", value, 3)
    with pytest.raises(TypeError, match=r"got \[0, 1, 2, "):
        check_real("T", list(range(1000)))


def test_the_last_axis_runs_over_the_spins():
    assert check_last_axis("s", [[1, 2]], 2).shape == (1, 2)
    for bad in (1.0, [1.0, 2.0, 3.0], np.empty((0, 2))):
        with pytest.raises(ValueError, match=r"s must have shape \(..., 2\)"):
            check_last_axis("s", bad, 2)


def test_frozen_arrays_are_copies():
    noun, mine = SimpleNamespace(), np.zeros(3)
    freeze(noun, h=mine)
    mine[0] = 1
    assert not noun.h.any()
    with pytest.raises(ValueError, match="read-only"):
        noun.h[0] = 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "package,module",
    [
        ("torch", "spinlib.attention.embed"),
        ("torch", "spinlib.training"),
        ("sympy", "spinlib.symbolic"),
        ("matplotlib", "spinlib.plotting"),
    ],
)
def test_a_missing_package_is_named_with_what_to_install(package, module):
    home, _, name = module.rpartition(
        "."
    )  # the last part may be a name: spinlib.attention itself needs no torch
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"try:\n    from {home} import {name}\nexcept ImportError as e: print(e)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert (
        out.strip()
        == f'{module} needs {package}, which is missing: pip install ".[all]" in the folder of the book'
    )


def test_every_public_parameter_is_annotated():
    missing = []
    for info in pkgutil.walk_packages(spinlib.__path__, "spinlib."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            thing = getattr(module, name)
            if not getattr(thing, "__module__", "").startswith("spinlib"):
                continue
            calls = (
                [thing]
                if inspect.isfunction(thing)
                else (
                    [
                        m
                        for k, m in vars(thing).items()
                        if inspect.isfunction(m) and (not k.startswith("_") or k == "__init__")
                    ]
                    if inspect.isclass(thing)
                    else []
                )
            )
            for call in calls:
                if not (call.__module__ or "").startswith("spinlib"):
                    continue
                missing += [
                    f"{info.name}.{name}.{call.__name__}({p.name})"
                    for p in inspect.signature(call).parameters.values()
                    if p.name not in ("self", "_") and p.annotation is inspect.Parameter.empty
                ]
    assert missing == []


@pytest.mark.parametrize("damping", [0.0, 0.4])
@pytest.mark.parametrize("at", [1, 7, 12])
def test_a_run_goes_on_from_the_state_of_its_callback(damping, at):
    """With the same bits, sweep by sweep; counts begin again. One call a sweep, with what the next one starts from."""
    step, first = lambda s: (np.cos(s[0]), 0.5 * s[1] + s[0]), (np.ones(2), np.zeros(3)[:2])
    seen, later = [], []
    alone = iterate(step, first, damping=damping, callback=lambda *now: seen.append(now))
    assert [residual for _, residual in seen] == alone.history.tolist()
    assert seen[-1][0] is alone.state and alone.state is alone._trail[-1]
    rest = iterate(
        step, first, damping=damping, start=seen[at][0], callback=lambda *now: later.append(now)
    )
    assert rest.n_iter == alone.n_iter - at - 1 and rest.converged
    np.testing.assert_array_equal(rest.history, alone.history[at + 1 :])
    for (one, _), (two, _) in zip(seen[at + 1 :], later, strict=True):
        np.testing.assert_array_equal(one, two)


def test_growth_is_watched_from_the_restart():
    step, first = lambda state: (3 * state[0],), (np.ones(2),)
    alone = iterate(step, first, silent=True)
    again = iterate(step, first, silent=True, start=(3.0**18 * np.ones(2),))
    assert "grew" in alone.reason and alone.state[0][0] < alone._trail[-1][0][0]
    assert "grew" in again.reason and again.n_iter == alone.n_iter


def test_start_and_callback_refuse_in_words():
    run = lambda **options: iterate(lambda s: s, (np.ones(2), np.ones(3)), **options)
    words = r"start must be a state as callback is given it, 2 arrays of shapes \(2,\), \(3,\), got"
    for start in (np.ones(2), (np.ones(2),), 3, "state", {}):
        with pytest.raises(TypeError, match=words):
            run(start=start)
    with pytest.raises(ValueError, match=r"start\[1\] must have shape \(3,\), got \(2,\)"):
        run(start=(np.ones(2), np.ones(2)))
    for callback in (3, "print", []):
        with pytest.raises(TypeError, match=r"callback must be a function of \(state, residual\)"):
            run(callback=callback)


def test_bounds_that_are_reached():
    assert check_real("x", 2, minimum=2) == check_real("x", 2, maximum=2) == 2
    for bound in ("above", "below"):
        with pytest.raises(ValueError, match="x must be"):
            check_real("x", 2, **{bound: 2})
