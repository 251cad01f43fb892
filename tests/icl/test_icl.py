"""In-context regression: the two samplers, the map to the spin glass, the exact errors, and the printed equations."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import ks_2samp

from spinlib.icl import (Features, LinearTask, Prompts, best_weights, contrast, features, population_error, predict,
                         to_spin_glass, training_loss, weights)
from stats import z_score

PROMPTS = LinearTask(D=4, N=7).sample(30, rng=5)
W_RANDOM = np.random.default_rng(6).normal(size=(5, 4))


def predict_by_eq_121(W, X):
    """The slow obvious way: the whole matrix Y = X X^T W X / N of eq. (121), last element."""
    full = np.zeros((len(W), len(W)))
    full[:, :W.shape[1]] = W
    return np.array([(x @ x.T @ full @ x / (x.shape[1] - 1))[-1, -1] for x in X])


# --- the task ------------------------------------------------------------------------------------------------------

def test_eq_122_layout_of_a_prompt():
    X, y, w = PROMPTS.X, PROMPTS.y, PROMPTS.w
    assert X.shape == (30, 5, 8) and not X[:, -1, -1].any()
    np.testing.assert_allclose(X[:, 4, :7], np.einsum("pd,pdn->pn", w, X[:, :4, :7]) / 2, atol=1e-14)
    np.testing.assert_allclose(y, (w * X[:, :4, 7]).sum(1) / 2, atol=1e-14)


def test_seed_fixes_the_draw():
    task = LinearTask(3, 5, noise=0.2)
    np.testing.assert_array_equal(task.sample(4, rng=1).X, task.sample(4, rng=np.random.default_rng(1)).X)
    np.testing.assert_array_equal(task.sample_features(4, rng=1).u, task.sample_features(4, rng=1).u)
    assert (task.sample(4, rng=1).X != task.sample(4, rng=2).X).any()


def test_pool_of_tasks():
    prompts = LinearTask(3, 2, n_tasks=5).sample(400, rng=0)
    assert len(np.unique(prompts.w, axis=0)) == 5
    assert len(np.unique(LinearTask(3, 2).sample(400, rng=0).w, axis=0)) == 400
    # one task: every exact (u, y) follows from one w; for D = 1 that makes y / query one number
    data = LinearTask(1, 2, n_tasks=1).sample_features(50, rng=0)
    np.testing.assert_allclose(data.y / data.query[:, 0], data.y[0] / data.query[0, 0], rtol=1e-12)


def test_a_pool_that_training_and_test_share():
    pool = np.random.default_rng(3).standard_normal((4, 3))
    task = LinearTask(3, 2, tasks=pool)
    pool[0] = 9                                                      # the task keeps its own copy
    assert not (task.tasks == 9).any() and not task.tasks.flags.writeable
    seen = [np.unique(task.sample(300, rng=k).w, axis=0) for k in (0, 1)]
    np.testing.assert_array_equal(seen[0], np.unique(task.tasks, axis=0))
    np.testing.assert_array_equal(seen[1], seen[0])
    share = (task.sample(40_000, rng=2).w == task.tasks[1]).all(1)
    assert abs(z_score(share, 0.25)) < 4                             # each as often as the others
    assert repr(task) == "LinearTask(D=3, N=2, corr=0, noise=0, n_tasks=None, tasks: (4, 3))"


@pytest.mark.parametrize("noise", [0.0, 0.8])
def test_the_samplers_agree_on_a_pool(noise):
    task = LinearTask(3, 5, noise=noise, tasks=[[1, 0, 0], [0.3, -2, 1]])
    slow, fast = probes(features(task.sample(6000, rng=1))), probes(task.sample_features(6000, rng=2))
    for name in slow:
        assert ks_2samp(slow[name], fast[name]).pvalue > 1e-4, name
    W = np.random.default_rng(0).standard_normal((4, 3))
    errors = [((predict(W, data.X) if hasattr(data, "X") else ((data.u @ W) * data.query).sum(1)) - data.y) ** 2
              for data in (task.sample(40_000, rng=3), task.sample_features(40_000, rng=4))]
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
    assert np.abs(z_score(X[:, 0, :, None] * X[:, 1, None, :], 0.0)).max() < 4.5   # two coordinates are independent
    L = np.linalg.cholesky(K)
    np.testing.assert_allclose(L @ L.T, K, atol=1e-15)
    published = L.T @ L                                              # X @ L, the published code
    assert published[-1, -1] == pytest.approx(L[-1, -1]**2) and published[-1, -1] < 0.6
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


@pytest.mark.parametrize("D,N,noise,n_tasks", [(1, 3, 0.0, None), (1, 1, 0.7, None), (5, 2, 0.0, None),
    (4, 9, 0.0, 3000), (3, 6, 1.3, None)])
def test_samplers_agree_in_law(D, N, noise, n_tasks):
    task = LinearTask(D, N, noise=noise, n_tasks=n_tasks)
    slow, fast = probes(features(task.sample(6000, rng=1))), probes(task.sample_features(6000, rng=2))
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
    off = ((1 + 1 / N) * (D + 4) + (D + 2)**2 / N) / D**2
    assert np.abs(z_score(h[:, :D]**2, off))[~np.eye(D, dtype=bool)].max() < 5
    assert np.abs(z_score(h[:, D]**2, (1 + 2 / N) * (1 + 2 / D) * (D + 2) * (D + 4) / D**2)).max() < 5
    assert np.abs(z_score(s[:, :D]**2, (1 + (D + 1) / N) / D)).max() < 5
    assert np.abs(z_score(s[:, D]**2, (1 + 2 / D) * (1 + 2 / N))).max() < 5


def test_text_after_eq_132_J_is_no_product_of_two_fields():
    """'E = C1 C2' fails in size and in sign: J averages products of samples, h averages label times sample."""
    D, N, block = 5, 100, np.s_[:25]                                 # the spins of W11
    glass = to_spin_glass(LinearTask(D, N).sample_features(1000, rng=3), ridge=0.0)
    J_diagonal, product = -glass.lam[block], np.outer(glass.h[block], glass.h[block])
    assert J_diagonal.mean() == pytest.approx(-(1 + (D + 1) / N) / D, rel=0.1)   # exact mean, -0.212
    assert J_diagonal.max() < 0 < np.diagonal(product).mean()
    pairs = np.add.outer(np.eye(D).ravel(), np.eye(D).ravel()) == 0              # both fields have mean 0
    pairs &= ~np.eye(25, dtype=bool)
    assert glass.J[block, block][pairs].std() > 5 * product[pairs].std()


# --- from prompts to spins -----------------------------------------------------------------------------------------

def test_eq_125_row_index():
    """With X_{D+1,i} the sum is the element (D+1, N+1) of eq. (121); with the printed X_{D,i} it is another number."""
    X, W = PROMPTS.X, W_RANDOM
    want = predict_by_eq_121(W, X)
    np.testing.assert_allclose(predict(W, X), want, atol=1e-13)
    summed = {row: np.einsum("pi,pmi,pm->p", X[:, row], X, (W @ X[:, :4, -1, None])[:, :, 0]) / 7 for row in (4, 3)}
    np.testing.assert_allclose(summed[4], want, atol=1e-13)
    assert np.abs(summed[3] - want).max() > 0.1


def test_last_column_of_W_changes_nothing():
    full = np.hstack([W_RANDOM, np.full((5, 1), 1e6)])
    np.testing.assert_array_equal(predict(full, PROMPTS.X), predict(W_RANDOM, PROMPTS.X))
    assert training_loss(full, PROMPTS) == training_loss(W_RANDOM, PROMPTS)
    assert population_error(full, 7) == population_error(W_RANDOM, 7)
    assert contrast(full) == contrast(W_RANDOM)


def test_eq_126_sample_is_rank_one():
    X, data = PROMPTS.X, features(PROMPTS)
    S = np.einsum("pi,pmi->pm", X[:, -1], X)[:, :, None] * X[:, None, :, -1] / 7      # eq. (126), all D+1 columns
    np.testing.assert_allclose(S[:, :, :4], data.u[:, :, None] * data.query[:, None, :], atol=1e-14)
    assert not S[:, :, 4].any()
    assert set(np.linalg.matrix_rank(S)) == {1}


def test_eq_130_131_blocks():
    X, data = PROMPTS.X, features(PROMPTS)
    X0, y0, query = X[:, :4, :7], X[:, 4, :7], X[:, :4, 7]
    XX = X @ X.transpose(0, 2, 1)
    np.testing.assert_allclose(
        XX[:, :4, :4], X0 @ X0.transpose(0, 2, 1) + query[:, :, None] * query[:, None, :], atol=1e-13
    )
    np.testing.assert_allclose(XX[:, 4] / 7, data.u, atol=1e-13)
    np.testing.assert_allclose(data.u[:, :4], (X0 @ y0[:, :, None])[:, :, 0] / 7, atol=1e-14)
    np.testing.assert_allclose(data.u[:, 4], (y0**2).sum(1) / 7, atol=1e-14)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("task", [LinearTask(4, 7), LinearTask(3, 2, noise=0.5, corr=0.3), LinearTask(1, 1)])
def test_eq_127_128_loss_minus_energy_is_constant(task, ridge):
    prompts = task.sample(40, rng=2)
    glass = to_spin_glass(prompts, ridge)
    for seed in range(5):
        W = np.random.default_rng(seed).normal(size=(task.D + 1, task.D))
        direct = 0.5 * np.mean((predict_by_eq_121(W, prompts.X) - prompts.y)**2) + ridge / 2 * (W**2).sum()
        assert training_loss(W, prompts, ridge) == pytest.approx(direct, rel=1e-13)
        difference = direct - glass.energy(W.ravel())
        assert difference == pytest.approx((prompts.y**2).mean() / 2, abs=1e-12 * direct)


def test_eq_127b_drops_half_the_mean_square_label():
    """(127b) as printed is the loss minus <y^2>/2, so 0 at W = 0, where the loss (127a) is not."""
    assert to_spin_glass(PROMPTS, 0.1).energy(np.zeros(20)) == 0
    assert training_loss(np.zeros((5, 4)), PROMPTS, 0.1) == pytest.approx((PROMPTS.y**2).mean() / 2, rel=1e-15)
    assert (PROMPTS.y**2).mean() / 2 > 0.1


def test_eq_128_sign_of_lambda():
    """lam_i = ridge + <s_i^2>; with the printed minus, loss - energy depends on W and curvature is lost."""
    ridge, glass = 0.05, to_spin_glass(PROMPTS, 0.05)
    printed = 2 * ridge - glass.lam
    s = W_RANDOM.ravel()
    gap = 0.5 * (s * s) @ (glass.lam - printed)                      # by how much the printed sign misses the loss
    data = features(PROMPTS)
    assert gap == pytest.approx(((data.u**2).T @ data.query**2 / 30 * W_RANDOM**2).sum(), rel=1e-12)
    assert gap > 1
    assert np.linalg.eigvalsh(glass.hessian).min() > 0.04
    assert np.linalg.eigvalsh(np.diag(printed) - glass.J).min() < 0  # no ground state at all


def test_eq_132_fields_as_sums():
    """(132a) holds; (132b) needs the prefactor 1/(P N D^(3/2)) and the square on the inner sum."""
    D, N, P = 4, 7, 30
    X0, query, w = PROMPTS.X[:, :D, :N], PROMPTS.X[:, :D, N], PROMPTS.w
    H = weights(to_spin_glass(PROMPTS, 0.0).h, D)
    wx, wq = np.einsum("pn,pnm->pm", w, X0), (w * query).sum(1)
    C = np.einsum("pi,pj->ij", (X0 @ wx[:, :, None])[:, :, 0] * wq[:, None], query) / (P * D * N)
    np.testing.assert_allclose(H[:D], C, atol=1e-14)
    right = ((wx**2).sum(1) * wq) @ query / (P * N * D**1.5)
    np.testing.assert_allclose(H[D], right, atol=1e-14)
    printed = (np.einsum("pn,pnm->p", w, X0**2) * wq) @ query / (P * D * N)
    assert np.abs(printed - right).max() > 0.01
    np.testing.assert_allclose(((wx**2).sum(1) * wq) @ query / (P * D * N), right * np.sqrt(D), rtol=1e-12)


def test_spin_glass_in_blocks_equals_one_product():
    data = LinearTask(20, 50).sample_features(10_500, rng=4)         # two blocks of samples
    glass = to_spin_glass(data, 0.2)
    s = (data.u[:, :, None] * data.query[:, None, :]).reshape(len(data.y), -1)
    A = s.T @ s / len(s)
    np.testing.assert_allclose(glass.hessian, A + 0.2 * np.eye(420), atol=1e-13)
    np.testing.assert_allclose(glass.h, data.y @ s / len(s), atol=1e-13)


def test_prompts_and_their_features_give_one_glass():
    a, b = to_spin_glass(PROMPTS, 0.1), to_spin_glass(features(PROMPTS), 0.1)
    np.testing.assert_array_equal(a.J, b.J)
    np.testing.assert_array_equal(a.h, b.h)


def test_weights_undoes_vec():
    np.testing.assert_array_equal(weights(W_RANDOM.ravel(), 4), W_RANDOM)
    np.testing.assert_array_equal(weights(W_RANDOM.ravel()), W_RANDOM)
    for n in range(1, 60):
        if n in (2, 6, 12, 20, 30, 42, 56):
            assert weights(np.zeros(n)).size == n
        else:
            with pytest.raises(ValueError, match=rf"2, 6, 12, 20, ..., got {n}"):
                weights(np.zeros(n))


def test_eq_123_last_column_is_in_the_penalty_and_nowhere_else():
    """W (D+1, D+1): its last column meets the zero in the query's label slot; the squared norm counts it."""
    whole = np.column_stack([W_RANDOM, [1.0, -2.0, 0.5, 3.0, 4.0]])
    assert training_loss(whole, PROMPTS) == training_loss(W_RANDOM, PROMPTS)
    gap = training_loss(whole, PROMPTS, 0.3) - training_loss(W_RANDOM, PROMPTS, 0.3)
    assert gap == pytest.approx(0.3 / 2 * (1 + 4 + 0.25 + 9 + 16), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, int])
def test_the_loss_does_not_overflow_in_the_dtype_of_W(dtype):
    """100^2 wraps round in int8, and 1000^2 is inf in float16."""
    W = np.full((5, 4), 100 if dtype is np.int8 else 1000).astype(dtype)
    assert training_loss(W, PROMPTS, 0.3) == training_loss(W.astype(float), PROMPTS, 0.3) > 0


# --- nouns ---------------------------------------------------------------------------------------------------------

def test_nouns_keep_their_own_arrays_and_compare_by_identity():
    X, y, w = PROMPTS.X.copy(), PROMPTS.y.copy(), PROMPTS.w.copy()
    mine = Prompts(X, y, w)
    before = features(mine).u.copy()
    X[:], y[:] = 0, 0
    np.testing.assert_array_equal(features(mine).u, before)
    for array in (mine.X, mine.y, mine.w, features(mine).u):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert mine == mine and mine != Prompts(mine.X, mine.y, mine.w) and len({mine, features(mine)}) == 2
    assert repr(mine) == "Prompts(P=30, D=4, N=7)" and repr(features(mine)) == "Features(P=30, D=4)"


# --- errors --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("noise", [0.0, 0.6])
@pytest.mark.parametrize("sampler", ["sample", "sample_features"])
def test_eq_124_population_error_is_monte_carlo(noise, sampler):
    D, N = 3, 6
    data = getattr(LinearTask(D, N, noise=noise), sampler)(60_000, rng=11)
    data = data if isinstance(data, Features) else features(data)
    for seed in range(4):
        W = np.random.default_rng(seed).normal(size=(D + 1, D))
        squares = (((data.u @ W) * data.query).sum(1) - data.y)**2
        assert abs(z_score(squares, population_error(W, N, noise))) < 5


def gaussian_average(degrees, function):
    """E of a polynomial of independent standard normals, exact: Gauss-Hermite with enough nodes for each variable's
    degree."""
    rules = [np.polynomial.hermite_e.hermegauss(d // 2 + 1) for d in degrees]
    points = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weight = 1.0
    for k, (_, w) in enumerate(rules):
        weight = weight * (w / w.sum()).reshape([-1 if j == k else 1 for j in range(len(rules))])
    return (function(*points) * weight).sum()


@pytest.mark.parametrize("D,N", [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("noise,corr", [(0.0, 0.0), (0.7, 0.0), (0.0, 0.4), (0.7, 0.4), (0.3, 1.0)])
def test_eq_124_162_population_error_is_a_finite_sum(D, N, noise, corr):
    """The error is a polynomial of Gaussian numbers: a cubature gives its mean without Wick, to rounding."""
    W = np.random.default_rng(N).normal(size=(D + 1, D))
    root = np.linalg.cholesky(corr + (1 - corr) * np.eye(N + 1)) if corr < 1 else np.ones((N + 1, 1))

    def error(*z):
        z = list(z)
        raw = [[z.pop() for _ in range(root.shape[1])] for _ in range(D)]
        x = [[sum(root[i, j] * raw[d][j] for j in range(root.shape[1])) for i in range(N + 1)] for d in range(D)]
        w, g = [z.pop() for _ in range(D)], [z.pop() for _ in range(N)]
        y = [sum(w[d] * x[d][i] for d in range(D)) / np.sqrt(D) + (noise * g[i] if i < N else 0) for i in range(N + 1)]
        u = [sum(x[d][i] * y[i] for i in range(N)) / N for d in range(D)] + [sum(y[i]**2 for i in range(N)) / N]
        y_hat = sum(u[a] * W[a, b] * x[b][N] for a in range(D + 1) for b in range(D))
        return (y_hat - y[N])**2 + noise**2                          # the noise of the query's label is independent

    degrees = [4] * (D + N) + [6] * (D * root.shape[1])
    assert population_error(W, N, noise, corr) == pytest.approx(gaussian_average(degrees, error), rel=1e-11)


@pytest.mark.parametrize("D,N,noise,corr", [(3, 5, 0.6, 0.4), (4, 2, 0.0, 0.7), (2, 6, 0.5, 1.0)])
def test_eq_162_population_error_is_monte_carlo_for_correlated_tokens(D, N, noise, corr):
    data = features(LinearTask(D, N, corr=corr, noise=noise).sample(60_000, rng=11))
    independent = []
    for seed in range(3):
        W = np.random.default_rng(seed).normal(size=(D + 1, D))
        squares = (((data.u @ W) * data.query).sum(1) - data.y)**2
        assert abs(z_score(squares, population_error(W, N, noise, corr))) < 5
        independent.append(z_score(squares, population_error(W, N, noise)))
    assert np.abs(independent).max() > 8                                      # the form for independent tokens fails


def test_population_error_known_values():
    """Without a prompt's help the error is E y^2; W = I has (D+1)/N; the optimum (D+1)/(N+D+1) goes to 0 for long
    prompts."""
    assert population_error(np.zeros((21, 20)), 100, 0.5) == 1.25
    assert population_error(np.eye(21, 20), 20) == pytest.approx(21 / 20, rel=1e-14)
    assert population_error(best_weights(20, 100), 100) == pytest.approx(21 / 121, rel=1e-14)
    assert population_error(best_weights(3, 10**9), 10**9) == pytest.approx(4e-9, rel=1e-6)
    assert population_error(best_weights(3, 10**9, noise=0.3), 10**9, 0.3) == pytest.approx(0.09, rel=1e-6)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 40), st.floats(0, 2), st.floats(0, 2), st.integers(0, 10**6))
def test_best_weights_is_the_minimiser(D, N, ridge, noise, seed):
    def objective(W):
        return population_error(W, N, noise) / 2 + ridge * (W**2).sum() / 2
    best = best_weights(D, N, ridge, noise)
    for i in np.ndindex(best.shape):                                 # central differences are exact on a parabola
        step = np.zeros_like(best)
        step[i] = 0.5
        scale = objective(best + step)
        assert abs(objective(best + step) - objective(best - step)) < 1e-12 * max(1, scale)
    other = best + np.random.default_rng(seed).normal(size=best.shape)
    assert objective(other) > objective(best)


def test_eq_158_identity_is_not_the_optimum():
    for D, N in [(20, 20), (20, 100), (5, 40)]:
        assert population_error(np.eye(D + 1, D), N) > population_error(best_weights(D, N), N) + 0.01
    assert population_error(np.eye(21, 20), 20) > population_error(np.zeros((21, 20)), 20)   # worse than silence


def test_sample_gradient_vanishes_at_best_weights():
    """The ground state of infinitely many prompts: the mean over prompts of dL/dW is 0 there, entry by entry."""
    D, N, ridge, noise = 3, 8, 0.2, 0.4
    W = best_weights(D, N, ridge, noise)
    data = LinearTask(D, N, noise=noise).sample_features(200_000, rng=7)
    error = ((data.u @ W) * data.query).sum(1) - data.y
    gradient = error[:, None, None] * data.u[:, :, None] * data.query[:, None, :] + ridge * W
    assert np.abs(z_score(gradient, 0.0)).max() < 5
    assert np.abs(z_score(gradient - ridge * W, 0.0)).max() > 20     # the test sees the ridge


def test_multiple_of_identity_is_one_step_of_gradient_descent():
    """From w = 0 on the loss sum_i (w.x_i - sqrt(D) y_i)^2 / 2N, rate c/..: the prediction of W = c I, to rounding."""
    c, D, N = 0.7, 4, 7
    X0, y0, query = PROMPTS.X[:, :D, :N], PROMPTS.X[:, D, :N], PROMPTS.X[:, :D, N]
    beta = np.zeros((30, D))                                         # the student's w / sqrt(D)
    gradient = (X0 @ ((beta[:, None, :] @ X0)[:, 0] - y0)[:, :, None])[:, :, 0] / N
    beta = beta - c * gradient
    np.testing.assert_allclose(predict(c * np.eye(D + 1, D), PROMPTS.X), (beta * query).sum(1), atol=1e-14)


def test_eq_161_contrast():
    D = 6
    assert contrast(3.7 * np.eye(D + 1, D)) == pytest.approx(1, rel=1e-15)
    assert contrast(-np.eye(D + 1)) == pytest.approx(-1, rel=1e-15)
    assert contrast(np.vstack([np.eye(D), np.full(D, 100.0)])) == pytest.approx(1)             # sees W11 only
    whole = np.eye(D + 1)
    whole[-1, -1] = 0                                                # the published cosine, at a perfect W
    assert np.trace(whole) / (np.linalg.norm(whole) * np.sqrt(D + 1)) == pytest.approx(np.sqrt(D / (D + 1)))
    assert contrast(whole) == pytest.approx(1)


# --- refusals ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kwargs,error,words", [
    (dict(D=0, N=3), ValueError, "D must be at least 1, got 0"), (dict(D=3, N=0), ValueError, "N must be at least 1, "
                                                                                              "got 0"),
    (dict(D=3.0, N=3), TypeError, "write D=3"), (dict(D=3, N=3, noise=-1), ValueError, "noise must be finite and >= 0"),
    (dict(D=3, N=3, noise=np.nan), ValueError, "noise"), (dict(D=3, N=3, corr=1.1), ValueError, "corr must be finite"),
    (dict(D=3, N=3, corr=-0.1), ValueError, "corr"), (dict(D=3, N=3, n_tasks=0), ValueError, "n_tasks must be at "
                                                                                             "least 1"),
    (dict(D=3, N=3, tasks=np.ones((4, 2))), ValueError, r"tasks must have shape \(any, 3\), got \(4, 2\)"),
    (dict(D=3, N=3, tasks=np.ones((0, 3))), ValueError, "at least one task vector"),
    (dict(D=3, N=3, tasks=[[1, 2, np.nan]]), ValueError, "tasks must be finite"),
    (dict(D=3, N=3, tasks="all"), TypeError, "tasks must be an array of real numbers"),
    (dict(D=3, N=3, tasks=np.ones((4, 3)), n_tasks=4), ValueError, "exclude each other")])
def test_task_refuses(kwargs, error, words):
    with pytest.raises(error, match=words):
        LinearTask(**kwargs)


@pytest.mark.parametrize("call,error,words", [
    (lambda: LinearTask(3, 3).sample(0), ValueError, "P must be at least 1"),
    (lambda: LinearTask(3, 3).sample_features(0), ValueError, "P must be at least 1"),
    (lambda: LinearTask(3, 3).sample_features(2.5), TypeError, "P must be an integer"),
    (lambda: to_spin_glass(PROMPTS, -0.1), ValueError, "ridge must be finite and >= 0, got -0.1"),
    (lambda: to_spin_glass(PROMPTS, np.nan), ValueError, "ridge"),
    (lambda: to_spin_glass(PROMPTS.X, 0.1), TypeError, "Prompts or Features"),
    (lambda: features(PROMPTS.X), TypeError, "LinearTask"),
    (lambda: training_loss(W_RANDOM, PROMPTS, -1.0), ValueError, "ridge"),
    (lambda: training_loss(W_RANDOM[:3], PROMPTS), ValueError, "here with D = 4"),
    (lambda: predict(np.full((5, 4), np.nan), PROMPTS.X), ValueError, "W must be finite"),
    (lambda: predict(W_RANDOM.T, PROMPTS.X), ValueError, "W must have shape"),
    (lambda: predict(W_RANDOM, PROMPTS.X[0]), ValueError, "X must have shape"),
    (lambda: predict(W_RANDOM, PROMPTS.X[:0]), ValueError, "P, D, N >= 1"),
    (lambda: predict(W_RANDOM, PROMPTS.X + 1), ValueError, "must be 0"),
    (lambda: weights(np.zeros(19), 4), ValueError, r"D \(D \+ 1\) = 20 spins"),
    (lambda: weights(np.zeros(20), 0), ValueError, "D must be"),
    (lambda: population_error(np.zeros((3, 1)), 5), ValueError, "W must have "
                                                                "shape"),
    (lambda: population_error(W_RANDOM, 0), ValueError, "N must be"),
    (lambda: population_error(np.zeros((1, 1)), 5), ValueError, "W must have shape"),
    (lambda: population_error(W_RANDOM, 5, -0.1), ValueError, "noise"),
    (lambda: best_weights(0, 5), ValueError, "D must be"),
    (lambda: best_weights(3, 5, 0.0, -0.5), ValueError, "noise must be finite and >= 0"),
    (lambda: population_error(W_RANDOM, 5, 0.0, 1.1), ValueError, "corr must be finite"),
    (lambda: population_error(W_RANDOM, 5, 0.0, -0.1), ValueError, "corr must be finite"),
    (lambda: predict(W_RANDOM, PROMPTS.X * 1e300), ValueError, "X must be finite.*choose other units"),
    (lambda: training_loss(np.full((5, 4), np.nan), PROMPTS), ValueError, "W must be finite"),
    (lambda: training_loss(W_RANDOM * 1j, PROMPTS), TypeError, "W must be an array of real numbers"),
    (lambda: best_weights(3, 5, -1.0), ValueError, "ridge"),
    (lambda: contrast(np.zeros((5, 4))), ValueError, "no direction"),
    (lambda: Prompts(PROMPTS.X, PROMPTS.y[1:], PROMPTS.w), ValueError, "one query label a prompt"),
    (lambda: Prompts(PROMPTS.X, PROMPTS.y, PROMPTS.w[:, 1:]), ValueError, "one task vector"),
    (lambda: Features(np.zeros((3, 4)), np.zeros((3, 4)), np.zeros(3)), ValueError, r"u is \(P, D \+ 1\)"),
    (lambda: Features(np.full((3, 5), np.inf), np.zeros((3, 4)), np.zeros(3)), ValueError, "u must be finite"),
    (lambda: Features(np.zeros((0, 5)), np.zeros((0, 4)), np.zeros(0)), ValueError, "P >= 1")])
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_block_has_the_generator_of_its_seed_and_number():
    """The rule that each worker and each restart relies on; and no block has a negative number."""
    task = LinearTask(3, 5, noise=0.1)
    blocks = task.blocks(10, size=4, rng=7)
    own = task.sample_features(2, rng=np.random.Generator(np.random.Philox(key=[7, 2])))
    np.testing.assert_array_equal(blocks[2].u, own.u)
    for b in (-1, 3):
        with pytest.raises(IndexError, match=f"there are 3 blocks, 0 to 2, got {b}"):
            blocks[b]


def test_weights_are_a_copy():
    mean = np.arange(6.0)
    weights(mean)[:] = 0
    np.testing.assert_array_equal(mean, np.arange(6.0))
