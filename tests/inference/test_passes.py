"""Prompts in blocks: the solvers against scipy and against matrices in memory, one block against many."""

import warnings

import numpy as np
import pytest
from passes import BLOCKS, SOLVERS, TASK, close, joined
from scipy.sparse.linalg import LinearOperator, cg

from spinlib import ConvergenceWarning
from spinlib.icl import Blocks, Features, LinearTask, features, weights
from spinlib.inference import ground_state_cg, sample_amp


# --- blocks of prompts ---------------------------------------------------------------------------------------------


def test_a_block_is_the_same_whatever_was_read_before():
    there, back = (
        [BLOCKS[b] for b in range(len(BLOCKS))],
        [BLOCKS[b] for b in reversed(range(len(BLOCKS)))][::-1],
    )
    again = LinearTask(6, 30, noise=0.2).blocks(1000, size=24, rng=3)
    for b, (one, two) in enumerate(zip(there, back)):
        for name in ("u", "query", "y"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
            np.testing.assert_array_equal(getattr(one, name), getattr(again[b], name))
    assert [len(block.y) for block in BLOCKS] == 41 * [24] + [16]
    assert len({block.y[0] for block in there}) == 42  # no block is another one
    assert (TASK.blocks(1000, size=24, rng=4)[0].y != there[0].y).all()
    fewer = TASK.blocks(100, size=24, rng=3)  # the first prompts of a longer run
    np.testing.assert_array_equal(fewer[3].u, there[3].u)


def test_blocks_have_the_law_of_features():
    data, other = joined(TASK.blocks(40_000, size=512, rng=0)), TASK.sample_features(40_000, rng=1)
    for name in ("u", "query", "y"):
        one, two = getattr(data, name), getattr(other, name)
        for power in (1, 2):
            a, b = one**power, two**power
            assert (
                np.abs(a.mean(0) - b.mean(0)) < 5 * np.sqrt((a.var(0) + b.var(0)) / 40_000)
            ).all()
    assert (
        abs(np.corrcoef(data.y[:-512], data.y[512:])[0, 1]) < 5 / 40_000**0.5
    )  # neighbours share nothing


@pytest.mark.parametrize("b", [-43, 42, 100])
def test_there_is_no_block_beside_them(b):
    with pytest.raises(IndexError, match="out of range"):
        BLOCKS[b]


def test_blocks_refuse_in_words():
    for rng in (np.random.default_rng(0), None, 1.5, [0, 1]):
        with pytest.raises(
            TypeError,
            match="rng must be an integer.*the key of a generator that counts.*write rng=0",
        ):
            TASK.blocks(10, rng=rng)
    for rng in (-1, 2**64):
        with pytest.raises(ValueError, match="rng must be at .*write rng=0"):
            TASK.blocks(10, rng=rng)
    for bad in ({"P": 0}, {"P": 5, "size": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            TASK.blocks(**bad)
    pool = np.eye(6)[:2]
    assert LinearTask(6, 30, tasks=pool).blocks(10)[0].u.shape == (10, 7)


# --- solvers -------------------------------------------------------------------------------------------------------


def scipy_cg(f, ridge, tol):
    """scipy's conjugate gradients on the matrix of couplings, and the residual of every sweep."""
    S = np.einsum("pa,pb->pab", f.u, f.query).reshape(len(f.y), -1)
    A, h, seen = S.T @ S / len(S) + ridge * np.eye(S.shape[1]), f.y @ S / len(S), []

    def precondition(r):
        seen.append(np.linalg.norm(r) / np.linalg.norm(h))
        return r / np.diagonal(A)

    mean = cg(
        A,
        h,
        rtol=tol,
        atol=0,
        maxiter=200,
        M=LinearOperator(A.shape, matvec=precondition, dtype=float),
    )[0]
    return mean, seen


def slow_amp(f, ridge, sweeps):
    """Sample-spin AMP with the matrix of samples and its squares in memory."""
    S = np.einsum("pa,pb->pab", f.u, f.query).reshape(len(f.y), -1)
    P, n = S.shape
    m, v, g = np.zeros(n), 1 / (ridge + (S**2).mean(0)), np.zeros(P)
    for _ in range(sweeps):
        tau = S**2 @ v
        g = (f.y - S @ m + tau * g) / (P + tau)
        precision = (1 / (P + tau)) @ S**2
        v = 1 / (ridge + precision)
        m = v * (precision * m + g @ S)
    return m, v


@pytest.mark.parametrize(("P", "ridge"), [(1000, 0.02), (60, 0.3), (500, 0.0)])
def test_conjugate_gradients_are_those_of_scipy(P, ridge):
    f = TASK.sample_features(P, rng=1)
    for tol in (1e-2, 1e-6):
        mean, seen = scipy_cg(f, ridge, tol)
        found = ground_state_cg(f, ridge=ridge, tol=tol)
        close(found.mean, mean, 1e-10)
        assert found.n_iter == len(seen)
        np.testing.assert_allclose(found.history[:-1], seen[1:], rtol=1e-6)


def test_sample_amp_is_the_one_with_matrices_in_memory():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for sweeps in (1, 2, 7):
            found, (m, v) = (
                sample_amp(BLOCKS, ridge=0.02, max_iter=sweeps),
                slow_amp(joined(BLOCKS), 0.02, sweeps),
            )
            close(found.mean, m)
            close(found.var, v)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_one_block_is_many_blocks(name):
    """However they come; in blocks of the same size the bits are the same."""
    solve, data = SOLVERS[name], list(BLOCKS)
    drawn, held, whole = solve(BLOCKS), solve(data), solve(joined(data))
    np.testing.assert_array_equal(drawn.mean, held.mean)
    np.testing.assert_array_equal(drawn.history, held.history)
    assert drawn.n_iter == whole.n_iter and drawn.converged
    close(drawn.mean, whole.mean, 1e-11)
    close(solve([joined(data)]).mean, whole.mean, 1e-11)
    if hasattr(whole, "var"):
        close(drawn.var, whole.var, 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_the_order_of_the_prompts_does_not_matter(name):
    whole = joined(BLOCKS)
    mixed = np.random.default_rng(0).permutation(1000)
    f = Features(whole.u[mixed], whole.query[mixed], whole.y[mixed])
    close(SOLVERS[name](f).mean, SOLVERS[name](BLOCKS).mean, 1e-10)


def test_prompts_may_come_in_blocks_too():
    prompts = [TASK.sample(50, rng=k) for k in range(3)]
    close(
        ground_state_cg(prompts, ridge=0.1).mean,
        ground_state_cg(joined([features(p) for p in prompts]), ridge=0.1).mean,
        1e-10,
    )


@pytest.mark.parametrize("solve", SOLVERS.values())
def test_blocks_that_do_not_fit_are_refused(solve):
    a, b = (TASK.sample_features(P, rng=0) for P in (20, 30))
    with pytest.raises(ValueError, match="prompts must hold at least one block"):
        solve([])
    with pytest.raises(
        ValueError,
        match="block 1 of 3 must hold 20 prompts of D = 6, as the first, got 30 of D = 6",
    ):
        solve([a, b, a])
    with pytest.raises(
        ValueError, match="block 1 of 2 must hold at most 20 prompts of D = 6.*got 30 of D = 6"
    ):
        solve([a, b])
    with pytest.raises(ValueError, match="block 1 of 2 .*got 20 of D = 4"):
        solve([a, LinearTask(4, 3).sample_features(20, rng=0)])
    with pytest.raises(TypeError, match="Prompts or Features, got ndarray"):
        solve([a.u])
    with pytest.raises(TypeError, match="Prompts or Features, got str"):
        solve("prompts")


def test_the_weights_of_blocks_are_near_the_best():
    W = weights(ground_state_cg(LinearTask(20, 100).blocks(4000, rng=0), ridge=1e-3).mean)
    assert 0.5 < np.diagonal(W).mean() < 1.1


def test_the_true_residual_decides_and_not_the_believed_one():
    """Two features that differ by a millionth: means near 1e6, whose rounding the recursion does not see."""
    y = np.random.default_rng(0).standard_normal(50)
    near = Features(np.column_stack([np.ones(50), 1 + 1e-6 * y]), np.ones((50, 1)), y)
    with pytest.warns(
        ConvergenceWarning,
        match="ground_state_cg did not converge: residual .* > tol 1.0e-12 after",
    ):
        found = ground_state_cg(near, ridge=0.0, tol=1e-12)
    assert not found.converged and found.n_iter < 10 and found.residual > 1e-11


def test_sample_amp_says_what_would_help():
    with pytest.warns(
        ConvergenceWarning,
        match="sample_amp did not converge.*; raise damping, max_iter or the ridge",
    ):
        sample_amp(joined(BLOCKS), ridge=0.02, max_iter=2)


# --- precision, devices, workers -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_the_bits_do_not_depend_on_the_workers(name):
    """Threads, and processes of loky: the order of the sums is that of the blocks."""
    from joblib import parallel_config

    solve = SOLVERS[name]
    alone = solve(BLOCKS)
    for jobs in (2, 3):
        side = solve(BLOCKS.held(jobs=jobs))
        np.testing.assert_array_equal(side.mean, alone.mean)
        np.testing.assert_array_equal(side.history, alone.history)
    if name == "amp":
        with parallel_config(backend="loky", n_jobs=2):
            np.testing.assert_array_equal(solve(BLOCKS.held(jobs=2), max_iter=500).mean, alone.mean)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_float32_and_torch_agree_to_their_rounding(name):
    """Cached blocks have the bits of blocks drawn anew, in float32 too; torch differs by rounding only."""
    pytest.importorskip("torch")
    solve = SOLVERS[name]
    exact, rough = solve(BLOCKS), solve(BLOCKS.held(dtype="float32"), tol=1e-5)
    assert rough.converged and rough.mean.dtype == np.float64
    close(rough.mean, exact.mean, 3e-5)
    assert np.abs(rough.mean - exact.mean).max() > 1e-10  # it was float32
    kept = solve(BLOCKS.held(dtype=np.float32, keep=True), tol=1e-5)
    np.testing.assert_array_equal(kept.mean, rough.mean)
    close(solve(BLOCKS.held(device="cpu")).mean, exact.mean, 1e-10)
    close(
        solve(Blocks(list(BLOCKS), device="cpu", dtype="float32"), tol=1e-5).mean, exact.mean, 3e-5
    )


def test_what_blocks_refuse():
    for dtype in ("float16", int, "single precision", np.ones(2), None):
        with pytest.raises(
            ValueError, match="dtype must be float32 or float64, got .*write dtype='float32'"
        ):
            BLOCKS.held(dtype=dtype)
    with pytest.raises(
        ValueError, match="tol must be at least 1e-06 in float32.*got 1e-10; write tol=1e-4"
    ):
        ground_state_cg(BLOCKS.held(dtype="float32"), ridge=0.02)
    with pytest.raises(ValueError, match="tol must be at least 1e-06 in float32.*got 9e-07"):
        ground_state_cg(BLOCKS.held(dtype="float32"), ridge=0.02, tol=9e-7)
    assert ground_state_cg(BLOCKS.held(dtype="float32"), ridge=0.02, tol=1e-6).n_iter > 0
    for jobs in (0, -1):
        with pytest.raises(ValueError, match="jobs must be at least 1"):
            BLOCKS.held(jobs=jobs)
    with pytest.raises(TypeError, match="keep must be True or False"):
        BLOCKS.held(keep=1)
    pytest.importorskip("torch")
    with pytest.raises(
        ValueError,
        match="device must name a device that torch can use, got 'gpu'; 'cpu' always works",
    ):
        BLOCKS.held(device="gpu")


def test_kernels_see_the_dtype_that_was_asked_for():
    seen = []

    def kernel(block, W):
        seen.extend(array.dtype for array in (*block, W))
        return (block.u.sum(0),)

    for data in (BLOCKS, list(BLOCKS), joined(BLOCKS)):
        assert Blocks(data, dtype="float32").sums(kernel, np.ones((7, 6)))[0].dtype == np.float64
    assert set(seen) == {np.dtype("float32")}


def test_a_pass_is_thirty_two_sums():
    """64 prompts, a block each: two blocks a sum. 1 + 1 is added first, else each 1 is lost beside 1e16."""
    y = np.zeros(64)
    y[[0, 2, 3, 4]] = 1e16, 1, 1, -1e16
    one = np.ones((1, 1))
    prompts = [Features(np.ones((1, 2)), one, y[k : k + 1]) for k in range(64)]
    for jobs in (1, 2):
        assert Blocks(prompts, jobs=jobs).sums(lambda block: (block.y.sum(),)) == [2.0]
