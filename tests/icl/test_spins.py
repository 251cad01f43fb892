"""From prompts to spins, Thesis eqs. (123) to (132): indices, blocks, loss and energy, and what is refused."""

import numpy as np
import pytest

from spinlib.icl import (
    Features,
    LinearTask,
    Prompts,
    best_weights,
    contrast,
    features,
    in_context_ridge,
    linear_attention,
    population_error,
    to_spin_glass,
    training_loss,
    weights,
)

PROMPTS = LinearTask(D=4, N=7).sample(30, rng=5)

W_RANDOM = np.random.default_rng(6).normal(size=(5, 4))


def predict_by_eq_121(W, X):
    """The slow obvious way: the whole matrix Y = X X^T W X / N of eq. (121), last element."""
    full = np.zeros((len(W), len(W)))
    full[:, : W.shape[1]] = W
    return np.array([(x @ x.T @ full @ x / (x.shape[1] - 1))[-1, -1] for x in X])


def test_text_after_eq_132_J_is_no_product_of_two_fields():
    """'E = C1 C2' fails in size and in sign: J averages products of samples, h averages label times sample."""
    D, N, block = 5, 100, np.s_[:25]  # the spins of W11
    glass = to_spin_glass(LinearTask(D, N).sample_features(1000, rng=3), ridge=0.0)
    J_diagonal, product = -glass.lam[block], np.outer(glass.h[block], glass.h[block])
    assert J_diagonal.mean() == pytest.approx(-(1 + (D + 1) / N) / D, rel=0.1)  # exact mean, -0.212
    assert J_diagonal.max() < 0 < np.diagonal(product).mean()
    pairs = np.add.outer(np.eye(D).ravel(), np.eye(D).ravel()) == 0  # both fields have mean 0
    pairs &= ~np.eye(25, dtype=bool)
    assert glass.J[block, block][pairs].std() > 5 * product[pairs].std()


def test_eq_125_row_index():
    """With X_{D+1,i} the sum is the element (D+1, N+1) of eq. (121); with the printed X_{D,i} it is another number."""
    X, W = PROMPTS.X, W_RANDOM
    want = predict_by_eq_121(W, X)
    np.testing.assert_allclose(linear_attention(W, X), want, atol=1e-13)
    summed = {
        row: np.einsum("pi,pmi,pm->p", X[:, row], X, (W @ X[:, :4, -1, None])[:, :, 0]) / 7
        for row in (4, 3)
    }
    np.testing.assert_allclose(summed[4], want, atol=1e-13)
    assert np.abs(summed[3] - want).max() > 0.1


def test_last_column_of_W_changes_nothing():
    full = np.hstack([W_RANDOM, np.full((5, 1), 1e6)])
    np.testing.assert_array_equal(
        linear_attention(full, PROMPTS.X), linear_attention(W_RANDOM, PROMPTS.X)
    )
    assert training_loss(full, PROMPTS) == training_loss(W_RANDOM, PROMPTS)
    assert population_error(full, 7) == population_error(W_RANDOM, 7)
    assert contrast(full) == contrast(W_RANDOM)


def test_eq_126_sample_is_rank_one():
    X, data = PROMPTS.X, features(PROMPTS)
    S = (
        np.einsum("pi,pmi->pm", X[:, -1], X)[:, :, None] * X[:, None, :, -1] / 7
    )  # eq. (126), all D+1 columns
    np.testing.assert_allclose(S[:, :, :4], data.u[:, :, None] * data.query[:, None, :], atol=1e-14)
    assert not S[:, :, 4].any()
    assert set(np.linalg.matrix_rank(S)) == {1}


def test_eq_130_131_blocks():
    X, data = PROMPTS.X, features(PROMPTS)
    X0, y0, query = X[:, :4, :7], X[:, 4, :7], X[:, :4, 7]
    XX = X @ X.transpose(0, 2, 1)
    np.testing.assert_allclose(
        XX[:, :4, :4],
        X0 @ X0.transpose(0, 2, 1) + query[:, :, None] * query[:, None, :],
        atol=1e-13,
    )
    np.testing.assert_allclose(XX[:, 4] / 7, data.u, atol=1e-13)
    np.testing.assert_allclose(data.u[:, :4], (X0 @ y0[:, :, None])[:, :, 0] / 7, atol=1e-14)
    np.testing.assert_allclose(data.u[:, 4], (y0**2).sum(1) / 7, atol=1e-14)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize(
    "task", [LinearTask(4, 7), LinearTask(3, 2, noise=0.5, corr=0.3), LinearTask(1, 1)]
)
def test_eq_127_128_loss_minus_energy_is_constant(task, ridge):
    prompts = task.sample(40, rng=2)
    glass = to_spin_glass(prompts, ridge)
    for seed in range(5):
        W = np.random.default_rng(seed).normal(size=(task.D + 1, task.D))
        direct = (
            0.5 * np.mean((predict_by_eq_121(W, prompts.X) - prompts.y) ** 2)
            + ridge / 2 * (W**2).sum()
        )
        assert training_loss(W, prompts, ridge) == pytest.approx(direct, rel=1e-13)
        difference = direct - glass.energy(W.ravel())
        assert difference == pytest.approx((prompts.y**2).mean() / 2, abs=1e-12 * direct)


def test_eq_127b_drops_half_the_mean_square_label():
    """(127b) as printed is the loss minus <y^2>/2, so 0 at W = 0, where the loss (127a) is not."""
    assert to_spin_glass(PROMPTS, 0.1).energy(np.zeros(20)) == 0
    assert training_loss(np.zeros((5, 4)), PROMPTS, 0.1) == pytest.approx(
        (PROMPTS.y**2).mean() / 2, rel=1e-15
    )
    assert (PROMPTS.y**2).mean() / 2 > 0.1


def test_eq_128_sign_of_lambda():
    """lam_i = ridge + <s_i^2>; with the printed minus, loss - energy depends on W and curvature is lost."""
    ridge, glass = 0.05, to_spin_glass(PROMPTS, 0.05)
    printed = 2 * ridge - glass.lam
    s = W_RANDOM.ravel()
    gap = 0.5 * (s * s) @ (glass.lam - printed)  # by how much the printed sign misses the loss
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
    np.testing.assert_allclose(
        ((wx**2).sum(1) * wq) @ query / (P * D * N), right * np.sqrt(D), rtol=1e-12
    )


def test_spin_glass_in_blocks_equals_one_product():
    data = LinearTask(20, 50).sample_features(10_500, rng=4)  # two blocks of samples
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


# --- nouns and refusals ----------------------------------------------------------------------------------------------


def test_nouns_keep_their_own_arrays_and_compare_by_identity():
    X, y, w = PROMPTS.X.copy(), PROMPTS.y.copy(), PROMPTS.w.copy()
    mine = Prompts(X, y, w)
    before = features(mine).u.copy()
    X[:], y[:] = 0, 0
    np.testing.assert_array_equal(features(mine).u, before)
    for array in (mine.X, mine.y, mine.w, features(mine).u):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert (
        mine == mine
        and mine != Prompts(mine.X, mine.y, mine.w)
        and len({mine, features(mine)}) == 2
    )
    assert repr(mine) == "Prompts(P=30, D=4, N=7)" and repr(features(mine)) == "Features(P=30, D=4)"


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: LinearTask(3, 3).sample(0), ValueError, "P must be at least 1"),
        (lambda: LinearTask(3, 3).sample_features(0), ValueError, "P must be at least 1"),
        (lambda: LinearTask(3, 3).sample_features(2.5), TypeError, "P must be an integer"),
        (
            lambda: to_spin_glass(PROMPTS, -0.1),
            ValueError,
            "ridge must be finite and >= 0, got -0.1",
        ),
        (lambda: to_spin_glass(PROMPTS, np.nan), ValueError, "ridge"),
        (lambda: to_spin_glass(PROMPTS.X, 0.1), TypeError, "Prompts or Features"),
        (lambda: features(PROMPTS.X), TypeError, "LinearTask"),
        (lambda: training_loss(W_RANDOM, PROMPTS, -1.0), ValueError, "ridge"),
        (lambda: training_loss(W_RANDOM[:3], PROMPTS), ValueError, "here with D = 4"),
        (
            lambda: linear_attention(np.full((5, 4), np.nan), PROMPTS.X),
            ValueError,
            "W must be finite",
        ),
        (lambda: linear_attention(W_RANDOM.T, PROMPTS.X), ValueError, "W must have shape"),
        (lambda: linear_attention(W_RANDOM, PROMPTS.X[0]), ValueError, "X must have shape"),
        (
            lambda: linear_attention(W_RANDOM, PROMPTS.X[:0]),
            ValueError,
            "no axis may be empty; prompts",
        ),
        (lambda: linear_attention(W_RANDOM, PROMPTS.X + 1), ValueError, "must be 0"),
        (
            lambda: weights(np.zeros(19), 4),
            ValueError,
            r"D \(D \+ 1\) spins.*, got 19, where D = 4 has 20",
        ),
        (lambda: weights(np.zeros(20), 0), ValueError, "D must be"),
        (lambda: population_error(np.zeros((3, 1)), 5), ValueError, "W must have shape"),
        (lambda: population_error(W_RANDOM, 0), ValueError, "N must be"),
        (lambda: population_error(np.zeros((1, 1)), 5), ValueError, "W must have shape"),
        (lambda: population_error(W_RANDOM, 5, -0.1), ValueError, "noise"),
        (lambda: best_weights(0, 5), ValueError, "D must be"),
        (lambda: best_weights(3, 5, 0.0, -0.5), ValueError, "noise must be finite and >= 0"),
        (lambda: population_error(W_RANDOM, 5, 0.0, 1.1), ValueError, "corr must be finite"),
        (lambda: population_error(W_RANDOM, 5, 0.0, -0.1), ValueError, "corr must be finite"),
        (
            lambda: linear_attention(W_RANDOM, PROMPTS.X * 1e300),
            ValueError,
            "X must be finite.*choose other units",
        ),
        (lambda: training_loss(np.full((5, 4), np.nan), PROMPTS), ValueError, "W must be finite"),
        (
            lambda: training_loss(W_RANDOM * 1j, PROMPTS),
            TypeError,
            "W must be an array of real numbers",
        ),
        (lambda: best_weights(3, 5, -1.0), ValueError, "ridge"),
        (lambda: contrast(np.zeros((5, 4))), ValueError, "no direction"),
        (
            lambda: Prompts(PROMPTS.X, PROMPTS.y[1:], PROMPTS.w),
            ValueError,
            "one query label a prompt",
        ),
        (lambda: Prompts(PROMPTS.X, PROMPTS.y, PROMPTS.w[:, 1:]), ValueError, "one task vector"),
        (
            lambda: Features(np.zeros((3, 4)), np.zeros((3, 4)), np.zeros(3)),
            ValueError,
            r"u is \(P, D \+ 1\)",
        ),
        (
            lambda: Features(np.full((3, 5), np.inf), np.zeros((3, 4)), np.zeros(3)),
            ValueError,
            "u must be finite",
        ),
        (
            lambda: Features(np.zeros((0, 5)), np.zeros((0, 4)), np.zeros(0)),
            ValueError,
            "no axis may be empty; query",
        ),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_weights_are_a_copy():
    mean = np.arange(6.0)
    weights(mean)[:] = 0
    np.testing.assert_array_equal(mean, np.arange(6.0))


@pytest.mark.parametrize("shape", [(1, 3, 1), (1, 1, 4), (0, 3, 4)])
def test_a_prompt_has_an_example_a_dimension_and_there_is_one(shape):
    """At the edge: N, D or P of 0 is refused wherever prompts are read, 1 is not."""
    P, rows, columns = shape
    for call in (
        lambda X: Prompts(X, np.zeros(P), np.zeros((P, rows - 1))),
        lambda X: linear_attention(np.zeros((rows, max(1, rows - 1))), X),
        in_context_ridge,
    ):
        with pytest.raises(ValueError, match="P, D, N >= 1, got|no axis may be empty"):
            call(np.zeros(shape))
    assert Prompts(np.zeros((1, 2, 2)), np.zeros(1), np.zeros((1, 1))).X.shape == (1, 2, 2)
