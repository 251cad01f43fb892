"""Errors after training on a pool of tasks: runs, fresh tasks as the limit of many, the closed form, and refusals."""

import numpy as np
import pytest
from pages import from_page
from stats import mean_error

from spinlib.icl import LinearTask, best_weights, population_error, weights
from spinlib.inference import ground_state_cg
from spinlib.theory import learning_curve, pool_errors
from spinlib.theory._pools import PoolErrors

mean_inverse = from_page("mapping/linear_regression_in_context", "mean_inverse").mean_inverse
pool_limit = from_page("results/task_diversity", "pool_limit", PoolErrors=PoolErrors).pool_limit


def pool_of(M, D, *seed):
    return np.random.default_rng([M, D, *seed]).standard_normal((M, D))


def error_on_pool(W, tasks, N, noise, rng):
    """Mean square on fresh prompts of the pool: the slow obvious road."""
    data = LinearTask(tasks.shape[1], N, noise=noise, tasks=tasks).sample_features(50_000, rng=rng)
    return mean_error((((data.u @ W) * data.query).sum(1) - data.y) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("M", [1, 5, 40])
def test_sampled_ground_states_on_the_same_pools(M):
    """D = 20, P = 10 D^2: what is above the law is the 1/D part, at most 2 % here; single pools scatter."""
    D, N, P, noise, ratio = 20, 100, 4000, 0.1**0.5, []
    for k in range(6):
        tasks = pool_of(M, D, k)
        task = LinearTask(D, N, noise=noise, tasks=tasks)
        W = weights(
            ground_state_cg(task.sample_features(P, rng=[M, k]), ridge=1e-2 / D, tol=1e-8).mean
        )
        law = pool_errors(tasks, N, P, 1e-2 / D, noise)
        ratio.append(
            (
                population_error(W, N, noise) / law.new,
                error_on_pool(W, tasks, N, noise, [M, k, 1])[0] / law.pool,
            )
        )
    mean, error = mean_error(ratio)
    assert (abs(mean - 1.01) < 0.02 + 4 * error).all() and error[0] < 0.1 and error[1] < 0.01


@pytest.mark.slow
def test_infinitely_many_prompts_find_the_least_squares_of_the_pool():
    """Weights from the averages over many sampled prompts; no formula for the moments."""
    D, N, noise = 3, 5, 0.4
    tasks = pool_of(4, D)
    data = LinearTask(D, N, noise=noise, tasks=tasks).sample_features(2_000_000, rng=1)
    W = np.linalg.solve(data.u.T @ data.u, data.u.T @ (data.y[:, None] * data.query))
    law = pool_errors(tasks, N, 10**12, 0, noise)
    assert population_error(W, N, noise) == pytest.approx(law.new, rel=5e-3)
    mean, error = error_on_pool(W, tasks, N, noise, 2)
    assert abs(mean - law.pool) < 4 * error


def test_a_pool_with_the_moments_of_fresh_tasks_is_as_good():
    """All axes with both signs: the best weights, exactly; and by the learning curve for finite P up to b."""
    D, N, noise = 20, 100, 0.3
    axes = D**0.5 * np.vstack([np.eye(D), -np.eye(D)])
    found = pool_errors(axes, N, 10**14, 0, noise)
    assert found.new == pytest.approx(
        population_error(best_weights(D, N, 0, noise), N, noise), rel=1e-10
    )
    assert found.new == pytest.approx(found.pool, rel=1e-10)


@pytest.mark.parametrize("P, ridge", [(600, 0.02), (4000, 0.0), (200, 0.001)])
def test_a_large_pool_is_fresh_tasks(P, ridge):
    found = pool_errors(pool_of(400_000, 8), 40, P, ridge, 0.3)
    assert found.new == pytest.approx(learning_curve(8, 40, P, ridge, 0.3), rel=3e-3)
    assert found.pool == pytest.approx(found.new, rel=6e-3)


def test_one_task_without_noise_by_hand():
    """Half of the answer from the label row: (2 + 1/2) / 4 + 1/2 on new tasks; D directions have no feature."""
    found = pool_errors([[2**0.5, 0.0]], 10**9, 10**9, 0)
    assert found.new == pytest.approx(1.125, rel=1e-6) and found.pool < 1e-8
    with pytest.raises(ValueError, match="P = n = 4"):  # D^2 directions, not D (D + 1)
        pool_errors([[2**0.5, 0.0]], 9, 4, 0)


def test_order_of_tasks_and_turned_axes_do_not_matter():
    tasks = pool_of(5, 6)
    Q = np.linalg.qr(pool_of(6, 6))[0]
    one, other = (
        pool_errors(tasks, 9, 50, 0.01, 0.2),
        pool_errors(tasks[::-1] @ Q, 9, 50, 0.01, 0.2),
    )
    assert other.new == pytest.approx(one.new, rel=1e-9) and other.pool == pytest.approx(
        one.pool, rel=1e-9
    )


@pytest.mark.parametrize("theta, t", [(0.5, 2), (2, 10), (1, 3)])
def test_pools_approach_the_limit(theta, t):
    off = []
    for D in (50, 200):
        rows = [
            pool_errors(pool_of(int(theta * D), D, k), 5 * D, t * D * D, 0, 0.3) for k in range(4)
        ]
        limit = pool_limit(D, 5 * D, t * D * D, int(theta * D), 0.3)
        off.append(
            [
                np.mean([r.new for r in rows]) / limit.new - 1,
                np.mean([r.pool for r in rows]) / limit.pool - 1,
            ]
        )
    assert (np.abs(off[1]) < 0.02).all() and np.abs(off[1]).max() < 0.6 * np.abs(off[0]).max()


@pytest.mark.slow
def test_the_limit_against_a_run():
    """D = 40 and twice as many tasks: prompts drawn, weights solved; the 1/D part is a few per cent."""
    D, N, P, noise, errors = 40, 200, 6400, 0.1**0.5, []
    for k in range(3):
        task = LinearTask(D, N, noise=noise, tasks=pool_of(80, D, k))
        W = weights(
            ground_state_cg(task.sample_features(P, rng=[k, 1]), ridge=1e-3 / D, tol=1e-7).mean
        )
        errors.append(population_error(W, N, noise))
    assert 1 < np.mean(errors) / pool_limit(D, N, P, 80, noise).new < 1.06


@pytest.mark.parametrize("theta", [0.3, 1.0, 4.0])
def test_the_limit_by_the_law_of_marchenko_and_pastur(theta):
    """The trace g and its derivative from spinlib.random_matrix and a numerical difference."""
    D, N, P, rho = 1000, 3000, 4_000_000, 0.09
    q, t = (1 + rho) * D / N, P / D**2
    trace = lambda q: mean_inverse(q, 1 / theta)
    g, slope = trace(q), (trace(q + 1e-5) - trace(q - 1e-5)) / 2e-5
    pool = (rho + q - q * q * g) * t / (t - 1)
    new = rho + 1 - 2 * (1 - q * g) + (1 + q) * (1 - 2 * q * g - q * q * slope + g * pool / t)
    found = pool_limit(D, N, P, int(theta * D), rho**0.5)
    assert found.new == pytest.approx(new, rel=1e-8) and found.pool == pytest.approx(
        pool, rel=1e-12
    )


def test_the_corner_at_as_many_tasks_as_dimensions():
    errors = [pool_limit(1000, 10**10, 10**15, M).new for M in (250, 500, 1000, 1100, 5000)]
    assert errors == pytest.approx([0.75, 0.5, 0.5 * 1e-7**0.5, 1e-7, 1e-7], rel=1e-3)
    assert pool_limit(100, 500, 10**9, 10**12, 0.5).new == pytest.approx(1.25 - 1 / 1.25, rel=1e-4)


def test_refusals():
    for tasks in (np.zeros((2, 3)), np.empty((0, 3)), np.empty((3, 0)), [1.0, 2.0]):
        with pytest.raises(ValueError, match="tasks"):
            pool_errors(tasks, 5, 20, 0.1)
    assert isinstance(
        pool_errors(np.zeros((2, 3)), 5, 20, 0.1, 0.5), PoolErrors
    )  # labels are noise only
    for bad in (dict(N=0), dict(P=0), dict(ridge=-1.0), dict(noise=-1.0)):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
            pool_errors(**{**dict(tasks=np.eye(2), N=5, P=50, ridge=0.1), **bad})
    with pytest.raises(ValueError, match="P = n = 6"):
        pool_errors(np.eye(2), 5, 6, 0.0, 0.1)
