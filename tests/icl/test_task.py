"""The task: prompts and features draw by draw, pools, correlated tokens, moments, two samplers of one law."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from stats import z_score

from spinlib.icl import LinearTask, features, linear_attention

PROMPTS = LinearTask(D=4, N=7).sample(30, rng=5)


# --- the task ------------------------------------------------------------------------------------------------------


def test_eq_122_layout_of_a_prompt():
    X, y, w = PROMPTS.X, PROMPTS.y, PROMPTS.w
    assert X.shape == (30, 5, 8) and not X[:, -1, -1].any()
    np.testing.assert_allclose(
        X[:, 4, :7], np.einsum("pd,pdn->pn", w, X[:, :4, :7]) / 2, atol=1e-14
    )
    np.testing.assert_allclose(y, (w * X[:, :4, 7]).sum(1) / 2, atol=1e-14)


def test_seed_fixes_the_draw():
    task = LinearTask(3, 5, noise=0.2)
    np.testing.assert_array_equal(
        task.sample(4, rng=1).X, task.sample(4, rng=np.random.default_rng(1)).X
    )
    np.testing.assert_array_equal(
        task.sample_features(4, rng=1).u, task.sample_features(4, rng=1).u
    )
    assert (task.sample(4, rng=1).X != task.sample(4, rng=2).X).any()


def test_pool_of_tasks():
    prompts = LinearTask(3, 2, tasks=np.eye(5, 3) + 1).sample(400, rng=0)
    assert len(np.unique(prompts.w, axis=0)) == 4  # the last two tasks are one
    assert len(np.unique(LinearTask(3, 2).sample(400, rng=0).w, axis=0)) == 400
    # one task: every exact (u, y) follows from one w; for D = 1 that makes y / query one number
    data = LinearTask(1, 2, tasks=[[0.7]]).sample_features(50, rng=0)
    np.testing.assert_allclose(data.y / data.query[:, 0], data.y[0] / data.query[0, 0], rtol=1e-12)


def test_a_pool_that_training_and_test_share():
    pool = np.random.default_rng(3).standard_normal((4, 3))
    task = LinearTask(3, 2, tasks=pool)
    pool[0] = 9  # the task keeps its own copy
    assert not (task.tasks == 9).any() and not task.tasks.flags.writeable
    seen = [np.unique(task.sample(300, rng=k).w, axis=0) for k in (0, 1)]
    np.testing.assert_array_equal(seen[0], np.unique(task.tasks, axis=0))
    np.testing.assert_array_equal(seen[1], seen[0])
    share = (task.sample(40_000, rng=2).w == task.tasks[1]).all(1)
    assert abs(z_score(share, 0.25)) < 4  # each as often as the others
    assert repr(task) == "LinearTask(D=3, N=2, corr=0, noise=0, tasks: (4, 3))"


@pytest.mark.parametrize("noise", [0.0, 0.8])
def test_the_samplers_agree_on_a_pool(noise):
    task = LinearTask(3, 5, noise=noise, tasks=[[1, 0, 0], [0.3, -2, 1]])
    slow, fast = (
        probes(features(task.sample(6000, rng=1))),
        probes(task.sample_features(6000, rng=2)),
    )
    for name in slow:
        assert ks_2samp(slow[name], fast[name]).pvalue > 1e-4, name
    W = np.random.default_rng(0).standard_normal((4, 3))
    errors = [
        (
            (
                linear_attention(W, data.X)
                if hasattr(data, "X")
                else ((data.u @ W) * data.query).sum(1)
            )
            - data.y
        )
        ** 2
        for data in (task.sample(40_000, rng=3), task.sample_features(40_000, rng=4))
    ]
    assert abs(errors[0].mean() - errors[1].mean()) < 4 * np.hypot(*(e.std() / 200 for e in errors))


def test_the_task_zero_gives_labels_of_noise_alone():
    silent = LinearTask(3, 5, tasks=np.zeros((1, 3))).sample_features(20, rng=0)
    assert not silent.u.any() and not silent.y.any() and silent.query.all()
    task = LinearTask(3, 5, noise=0.5, tasks=np.zeros((1, 3)))
    u = task.sample_features(40_000, rng=0).u
    assert np.abs(z_score(u[:, :3] ** 2, 0.25 / 5)).max() < 4 and abs(z_score(u[:, 3], 0.25)) < 4
    assert np.abs(z_score(features(task.sample(40_000, rng=0)).u[:, :3] ** 2, 0.25 / 5)).max() < 4


def test_eq_162_covariance_of_the_tokens():
    c, N, D = 0.6, 3, 2
    X = LinearTask(D, N, corr=c).sample(40_000, rng=1).X[:, :D]
    K = c + (1 - c) * np.eye(N + 1)
    rows = X.reshape(-1, N + 1)
    products = rows[:, :, None] * rows[:, None, :]
    assert np.abs(z_score(products, K)).max() < 4.5
    assert (
        np.abs(z_score(X[:, 0, :, None] * X[:, 1, None, :], 0.0)).max() < 4.5
    )  # two coordinates are independent
    L = np.linalg.cholesky(K)
    np.testing.assert_allclose(L @ L.T, K, atol=1e-15)
    published = L.T @ L  # X @ L, the published code
    assert published[-1, -1] == pytest.approx(L[-1, -1] ** 2) and published[-1, -1] < 0.6
    assert np.abs(z_score(products, published)).max() > 50


def test_corr_one_makes_all_tokens_equal():
    X = LinearTask(3, 4, corr=1.0).sample(5, rng=0).X
    assert np.ptp(X[:, :3], axis=2).max() == 0


# --- the two samplers agree in law ---------------------------------------------------------------------------------


def probes(data):
    """Scalars of one sample that see every block and the correlations between them."""
    r = data.u[:, :-1]
    return {
        "g1": r[:, 0],
        "q": data.u[:, -1],
        "query": data.query[:, -1],
        "y": data.y,
        "|g|": np.linalg.norm(r, axis=1),
        "g.query": (r * data.query[:, : r.shape[1]]).sum(1),
        "y g.query": data.y * (r * data.query).sum(1),
        "|g|^2/q": (r**2).sum(1) / data.u[:, -1],
        "q y^2": data.u[:, -1] * data.y**2,
    }


@pytest.mark.parametrize(
    "D,N,noise,pool",
    [(1, 3, 0.0, None), (1, 1, 0.7, None), (5, 2, 0.0, None), (4, 9, 0.0, 3000), (3, 6, 1.3, None)],
)
def test_samplers_agree_in_law(D, N, noise, pool):
    tasks = None if pool is None else np.random.default_rng(0).standard_normal((pool, D))
    task = LinearTask(D, N, noise=noise, tasks=tasks)
    slow, fast = (
        probes(features(task.sample(6000, rng=1))),
        probes(task.sample_features(6000, rng=2)),
    )
    for name in slow:
        assert ks_2samp(slow[name], fast[name]).pvalue > 1e-4, name
        error = np.hypot(slow[name].std(), fast[name].std()) / np.sqrt(6000)
        assert abs(slow[name].mean() - fast[name].mean()) < 5 * error, name


def test_the_comparison_of_laws_can_fail():
    slow = probes(features(LinearTask(3, 6, noise=1.3).sample(6000, rng=1)))
    quiet = LinearTask(3, 6, noise=0.0).sample_features(6000, rng=2)
    assert ks_2samp(slow["|g|^2/q"], probes(quiet)["|g|^2/q"]).pvalue < 1e-10
    longer = LinearTask(3, 9, noise=1.3).sample_features(6000, rng=2)
    assert ks_2samp(slow["|g|^2/q"], probes(longer)["|g|^2/q"]).pvalue < 1e-10


@pytest.mark.slow
def test_exact_moments_of_the_disorder():
    """P = 1: h_mn = y s_mn and J_ii = -s_mn^2; variances for P prompts are 1/P of these."""
    D, N = 3, 5
    data = LinearTask(D, N).sample_features(400_000, rng=8)
    s = data.u[:, :, None] * data.query[:, None, :]
    h = data.y[:, None, None] * s
    assert np.abs(z_score(h[:, :D], np.eye(D) / D)).max() < 5
    assert np.abs(z_score(h[:, D], 0.0)).max() < 5
    off = ((1 + 1 / N) * (D + 4) + (D + 2) ** 2 / N) / D**2
    assert np.abs(z_score(h[:, :D] ** 2, off))[~np.eye(D, dtype=bool)].max() < 5
    assert (
        np.abs(z_score(h[:, D] ** 2, (1 + 2 / N) * (1 + 2 / D) * (D + 2) * (D + 4) / D**2)).max()
        < 5
    )
    assert np.abs(z_score(s[:, :D] ** 2, (1 + (D + 1) / N) / D)).max() < 5
    assert np.abs(z_score(s[:, D] ** 2, (1 + 2 / D) * (1 + 2 / N))).max() < 5


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kwargs,error,words",
    [
        (dict(D=0, N=3), ValueError, "D must be at least 1, got 0"),
        (dict(D=3, N=0), ValueError, "N must be at least 1, got 0"),
        (
            dict(D=3.0, N=3),
            TypeError,
            "D must be an integer, got 3.0 of type float; write one such as 4; D is",
        ),
        (dict(D=3, N=3, noise=-1), ValueError, "noise must be finite and >= 0"),
        (dict(D=3, N=3, noise=np.nan), ValueError, "noise"),
        (dict(D=3, N=3, corr=1.1), ValueError, "corr must be finite"),
        (dict(D=3, N=3, corr=-0.1), ValueError, "corr"),
        (
            dict(D=3, N=3, tasks=np.ones((4, 2))),
            ValueError,
            r"tasks must have shape \(any, 3\), got \(4, 2\)",
        ),
        (
            dict(D=3, N=3, tasks=np.ones((0, 3))),
            ValueError,
            r"got \(0, 3\); no axis may be empty; one task a row",
        ),
        (dict(D=3, N=3, tasks=[[1, 2, np.nan]]), ValueError, "tasks must be finite"),
        (dict(D=3, N=3, tasks="all"), TypeError, "tasks must be an array of real numbers"),
    ],
)
def test_task_refuses(kwargs, error, words):
    with pytest.raises(error, match=words):
        LinearTask(**kwargs)


def test_a_block_has_the_generator_of_its_seed_and_number():
    """The rule that each worker and each restart relies on."""
    task = LinearTask(3, 5, noise=0.1)
    blocks = task.blocks(10, size=4, rng=7)
    own = task.sample_features(2, rng=np.random.Generator(np.random.Philox(key=[7, 2])))
    np.testing.assert_array_equal(blocks[2].u, own.u)
    for b in (-4, 3):
        with pytest.raises(IndexError, match="out of range"):
            blocks[b]
