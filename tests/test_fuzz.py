"""Every public callable that takes ``rng``: what is no seed is refused in our words, and equal seeds give equal draws."""
import importlib
import inspect

import numpy as np
import pytest
from faces import FACES
from matplotlib.figure import Figure

from spinlib import attention, factor_graph, icl, landscape, plotting, random_matrix, reproduce, spin_glass, training
from spinlib.pspin import simulation

TASK, COUPLINGS = icl.LinearTask(2, 3), simulation.gaussian_couplings(6, rng=0)
CALLS = {
    "attention.architecture": lambda rng: attention.architecture("SLA", 2, rng=rng),
    "attention.InContextTransformer": lambda rng: attention.InContextTransformer(2, width=4, layers=1, rng=rng),
    "attention.LinearAttention": lambda rng: attention.LinearAttention(2, rng=rng),
    "attention.SoftmaxAttention": lambda rng: attention.SoftmaxAttention(2, 2, rng=rng),
    "attention.TransformerBlock": lambda rng: attention.TransformerBlock(2, 2, rng=rng),
    "attention.Heads.draw": lambda rng: attention.Heads.draw(4, 2, rng=rng),
    "attention.Layer.draw": lambda rng: attention.Layer.draw(4, 2, 3, rng=rng),
    "factor_graph.bp": lambda rng: factor_graph.bp(factor_graph.ising([[0, 1], [1, 0]]), start="random", rng=rng),
    "factor_graph.random_scopes": lambda rng: factor_graph.random_scopes(6, 4, 3, rng=rng),
    "factor_graph.tree_scopes": lambda rng: factor_graph.tree_scopes(4, 3, rng=rng),
    "icl.LinearTask.blocks": lambda rng: TASK.blocks(3, rng=rng)[0].u,
    "icl.LinearTask.sample": lambda rng: TASK.sample(3, rng=rng).X,
    "icl.LinearTask.sample_features": lambda rng: TASK.sample_features(3, rng=rng).u,
    "icl.LinearTask.sample_pairs": lambda rng: TASK.sample_pairs(3, rng=rng)[0],
    "landscape.Mixture.sample": lambda rng: landscape.Mixture([1.0], [0], [1]).sample(3, rng=rng),
    "plotting.factor_graph": lambda rng: plotting.factor_graph(Figure().subplots(), factor_graph.ising([[0, 1], [1, 0]]), rng=rng),
    "pspin.simulation.gaussian_couplings": lambda rng: simulation.gaussian_couplings(5, rng=rng).tensor,
    "pspin.simulation.langevin": lambda rng: simulation.langevin(
        COUPLINGS, simulation.random_spins(6, rng=0), 0.5, dt=0.1, n_steps=2, rng=rng),
    "pspin.simulation.parallel_tempering": lambda rng: simulation.parallel_tempering(
        COUPLINGS, [0.5, 0.6], n_sweeps=2, rng=rng),
    "pspin.simulation.planted_couplings": lambda rng: simulation.planted_couplings(5, T=0.5, rng=rng)[0].tensor,
    "pspin.simulation.random_spins": lambda rng: simulation.random_spins(5, rng=rng),
    "random_matrix.wishart": lambda rng: random_matrix.wishart(3, 4, rng=rng),
    "reproduce.run": lambda rng: reproduce.run("fig8", rng=rng),
    "spin_glass.gaussian_glass": lambda rng: spin_glass.gaussian_glass(3, rng=rng).J,
    "spin_glass.shuffled": lambda rng: spin_glass.shuffled(spin_glass.gaussian_glass(5, rng=0), rng=rng).J,
    "training.fit": lambda rng: training.fit(attention.LinearAttention(2, rng=0), TASK.sample(4, rng=0), steps=1,
                                             rng=rng),
}
NO_SEEDS = ["monday", 1.5, True, -1, [0, -2], {"seed": 1}, np.random, object(), [None]]


def takes_rng(module):
    """Names of the functions, constructors and methods of a face that have a parameter ``rng``."""
    for name in FACES[module].split():
        thing = getattr(importlib.import_module(module), name)
        if inspect.isfunction(thing):
            calls = {name: thing}
        elif inspect.isclass(thing) and thing.__module__.startswith("spinlib"):
            calls = {name if method == "__init__" else f"{name}.{method}": getattr(thing, method)
                     for method in vars(thing) if method == "__init__" or not method.startswith("_")}
        else:
            continue
        for path, call in calls.items():
            if callable(call) and "rng" in inspect.signature(call).parameters:
                yield f"{module}.{path}".removeprefix("spinlib.")


@pytest.mark.parametrize("module", [name for name in FACES if name != "spinlib.reproduce"])
def test_every_callable_with_rng_has_a_row(module):
    assert set(takes_rng(module)) <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_seed_is_refused(name):
    for value in NO_SEEDS:
        with pytest.raises((TypeError, ValueError), match="rng must be .*write rng=0"):
            CALLS[name](value)


ARRAYS = [name for name in CALLS if name.startswith(("icl", "random_matrix", "spin_glass", "pspin", "landscape"))]


@pytest.mark.parametrize("name", [name for name in ARRAYS if "tempering" not in name and "blocks" not in name])
def test_equal_seeds_give_equal_draws(name):
    np.testing.assert_array_equal(CALLS[name]([1, 0]), CALLS[name](np.random.default_rng([1, 0])))
    assert (CALLS[name]([1, 0]) != CALLS[name]([1, 1])).any()
