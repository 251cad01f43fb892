"""Bounds and defaults that a docstring states, each tried just inside and just outside."""

import numpy as np
import pytest
from scipy.special import softmax

from spinlib import ConvergenceWarning
from spinlib.attention import LinearAttention
from spinlib.factor_graph import FactorGraph, enumerate_states
from spinlib.icl import Blocks, LinearTask, pool_posterior
from spinlib.inference import ground_state
from spinlib.pspin import PSpin
from spinlib.pspin.simulation import descend, gaussian_couplings, random_spins
from spinlib.random_matrix import mp_edges
from spinlib.spin_glass import SpinGlass, gaussian_glass, shuffled
from spinlib.theory import Teacher, best_ridge, hessian_density, ridge_equivalent
from spinlib.training import fit


@pytest.mark.parametrize("times, refused", [(10, True), (1000, False)])
def test_a_ground_state_is_flat_below_n_eps(times, refused):
    """All couplings alike, n = 100: the reciprocal condition number is (1 - J) / (2 n), here ``times`` eps."""
    n = 100
    J = (1 - 2 * n * times * np.finfo(float).eps) * (1 - np.eye(n))
    glass = SpinGlass(-J, np.ones(n), np.ones(n))
    if refused:
        with pytest.raises(ValueError, match="flat"):
            ground_state(glass)
    else:
        assert ground_state(glass).mean == pytest.approx(np.full(n, 1 / n), rel=1e-3)


def test_shuffled_keeps_the_couplings_of_each_pair_of_three_groups():
    glass, groups = gaussian_glass(18, rng=0), np.repeat([0, 1, 2], 6)
    J = shuffled(glass, groups, rng=1).J
    for a in range(3):
        for b in range(3):
            block = np.ix_(groups == a, groups == b)
            assert np.sort(J[block], None) == pytest.approx(np.sort(glass.J[block], None), abs=0)
            assert (J[block] != glass.J[block]).any()


def test_a_training_settles_sooner_for_a_coarser_threshold():
    """The test error falls all the time: by half in ten checks it soon does not, by a millionth it does."""
    data, test = (LinearTask(2, 20).sample(200, rng=k) for k in (0, 1))
    coarse = fit(LinearAttention(2, rng=0), data, n_steps=4000, lr=1e-3, test=test, settle=0.5)
    with pytest.warns(ConvergenceWarning, match="settled to 1e-09"):
        fine = fit(LinearAttention(2, rng=0), data, n_steps=1000, lr=1e-3, test=test, settle=1e-9)
    assert coarse.settled and fine.settled is False
    assert len(coarse.loss) < len(fine.loss) and (np.diff(coarse.test_error) < 0).all()


def test_a_posterior_over_a_pool_stands_small_noise():
    """Noise .01: every exp(-energy) is 0 in float64, the ratio of two is not."""
    pairs, _ = LinearTask(3, 8, noise=1.0).sample_pairs(4, rng=0)
    pool = np.random.default_rng(1).standard_normal((5, 3))
    guess = pairs[:, :, :-1] @ pool.T
    past = np.cumsum((guess - pairs[:, :, -1:]) ** 2, 1)[:, :-1] / (2 * 0.01**2)
    want = (softmax(-past, axis=2) * guess[:, 1:]).sum(2)
    assert pool_posterior(pairs, pool, 0.01)[:, 1:] == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("unexplained", [1e-12, 1e-6, 0.25, 500.0, 1e8])
def test_the_best_ridge_is_found_however_small_or_large(unexplained):
    """One group: unexplained count / (P signal), here unexplained itself."""
    assert best_ridge(Teacher([2.0], [0.5], unexplained, 100), 200) == pytest.approx(
        unexplained, rel=1e-9
    )


def test_without_noise_and_with_enough_samples_no_ridge_is_best():
    teacher = Teacher([2.0, 0.1], [0.5, 1.0], 0.0, [60, 40])
    assert best_ridge(teacher, 200) == 0 and ridge_equivalent(teacher, 200, 0).error == 0


def test_a_descent_takes_its_default_step():
    couplings, s = gaussian_couplings(24, rng=0), random_spins(24, rng=1)
    found = descend(couplings, s)
    assert np.array_equal(found.s, descend(couplings, s, step=0.6 / np.sqrt(12)).s)


def test_a_state_just_below_x_threshold_is_refused():
    model = PSpin(3)
    x = model.x_threshold(0.4)
    assert model.complexity(0.4, x) > 0
    for below in (1e-3, 1e-6, 1e-12):
        with pytest.raises(ValueError, match="no stable state"):
            model.complexity(0.4, x * (1 - below))


def test_a_density_that_is_not_solved_to_1e_8_is_refused():
    """At the very edge the two roots meet and Newton's method ends at an error of 2e-8."""
    teacher = Teacher([1.0], [1.0], 0.0, 10)
    low, high = mp_edges(10 / 10**6)
    with pytest.raises(RuntimeError, match="not solved"):
        hessian_density([low * (1 - 1e-16)], teacher, 10**6)
    assert hessian_density([(low + high) / 2], teacher, 10**6) > 1


def test_numbers_go_up_to_1e75():
    SpinGlass([[0.0]], [1e75], [1.0])
    with pytest.raises(ValueError, match=r"up to 1e\+75"):
        SpinGlass([[0.0]], [1.01e75], [1.0])


@pytest.mark.slow
def test_enumeration_takes_two_to_the_twenty():
    assert enumerate_states(FactorGraph((2,) * 20, []))[1] == pytest.approx(20 * np.log(2))
    with pytest.raises(ValueError, match=r"got 2\^20.6"):
        enumerate_states(FactorGraph((2,) * 19 + (3,), []))


@pytest.mark.parametrize("last, refused", [(1, False), (4, False), (5, True)])
def test_the_last_block_may_be_smaller_and_not_larger(last, refused):
    blocks = [LinearTask(2, 3).sample_features(P, rng=P) for P in (4, 4, last)]
    if refused:
        with pytest.raises(ValueError, match="block 2 of 3 must hold at most 4 prompts of D = 2"):
            Blocks(blocks)
    else:
        assert Blocks(blocks).P == 8 + last
