"""The landscape: spectra against dense algebra and theory, flat directions counted, plane cuts against the energy."""

import numpy as np
import pytest
from pages import from_page

from spinlib.icl import Features, LinearTask, features, to_spin_glass
from spinlib.landscape import (
    block_values,
    hessian_spectrum,
)
from spinlib.spin_glass import gaussian_glass

page = from_page(
    "results/energy_landscape", "plane_cut", "relative_norms", "zero_modes", "zero_ratio"
)


@pytest.mark.parametrize("P", [3, 19, 20, 21, 60])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_eq_159_spectrum_is_that_of_the_dense_hessian(P, ridge):
    data = LinearTask(4, 10).sample_features(P, rng=P)
    dense = np.linalg.eigvalsh(to_spin_glass(data, ridge).hessian)
    found = hessian_spectrum(data, ridge)
    assert np.abs(found - dense).max() < 1e-13 * dense[-1]
    assert (np.diff(found) >= 0).all() and found[0] >= ridge


def test_eq_160_curvature_of_a_direction_is_a_mean_square():
    prompts = LinearTask(4, 10).sample(7, rng=0)
    data, v = features(prompts), np.random.default_rng(1).normal(size=(20, 5))
    glass = to_spin_glass(prompts, 0.0)
    square = np.mean(
        [(np.outer(u, q).ravel() @ v) ** 2 for u, q in zip(data.u, data.query)], axis=0
    )
    assert np.abs((v * (glass.hessian @ v)).sum(0) - square).max() < 1e-12 * square.max()


@pytest.mark.parametrize(
    "D, N, P",
    [
        (1, 1, 1),
        (1, 1, 2),
        (2, 1, 5),
        (2, 1, 6),
        (3, 1, 12),
        (6, 50, 41),
        (6, 50, 42),
        (6, 50, 43),
        (12, 3, 100),
    ],
)
def test_zero_modes_are_as_many_as_the_rank_says(D, N, P):
    for seed in range(3):
        data = LinearTask(D, N).sample_features(P, rng=seed)
        s = np.einsum("pi,pj->pij", data.u, data.query).reshape(P, -1)
        assert (
            page.zero_modes(data)
            == max(0, D * (D + 1) - P)
            == D * (D + 1) - np.linalg.matrix_rank(s)
        )
        assert (page.zero_modes(data) + D + 1) / (D + 1) ** 2 == pytest.approx(
            page.zero_ratio(D, P), abs=1e-15
        )


@pytest.mark.parametrize("times, flat", [(100, 1), (1000, 0)])
def test_a_curvature_is_flat_below_n_eps_of_the_largest(times, flat):
    """D = 20: one sample for each of the 420 weights, one of them small."""
    u, query = np.repeat(np.eye(21), 20, axis=0), np.tile(np.eye(20), (21, 1))
    u[7] *= (times * np.finfo(float).eps) ** 0.5
    assert page.zero_modes(Features(u, query, np.ones(420))) == flat


def test_zero_modes_see_repeated_prompts_and_a_ridge_lifts_all():
    data = LinearTask(4, 10).sample_features(12, rng=0)
    twice = Features(*(np.concatenate([a, a]) for a in (data.u, data.query, data.y)))
    assert page.zero_modes(twice) == 8  # 24 prompts, but 12 different ones
    assert hessian_spectrum(twice, 0.1)[0] == pytest.approx(0.1, abs=1e-13)


def test_idle_column_of_a_square_w_is_flat():
    prompts = LinearTask(3, 8).sample(40, rng=0)
    data = features(prompts)
    s = np.einsum("pi,pj->pij", data.u, prompts.X[:, :, -1]).reshape(
        40, -1
    )  # the query with its empty label slot
    values = np.linalg.eigvalsh(s.T @ s / 40)
    assert (np.abs(values) < 1e-12).sum() == 4
    assert (np.abs(values) < 1e-12).mean() == page.zero_ratio(3, 40)


def test_norms_are_those_of_the_samples():
    data = LinearTask(3, 8).sample_features(50, rng=0)
    s = np.einsum("pi,pj->pij", data.u, data.query)
    expected = np.column_stack([(s[:, :3] ** 2).sum((1, 2)), (s[:, 3] ** 2).sum(1)])
    assert np.abs(page.relative_norms(data) - expected / expected.mean(0)).max() < 1e-13


def test_plane_cut_is_the_energy_at_every_point():
    glass, rng = gaussian_glass(12, field=1.0, rng=0), np.random.default_rng(1)
    center, first, second = rng.normal(size=(3, 12))
    a, b = np.linspace(-2, 1, 5), np.linspace(-1, 3, 4)
    cut = page.plane_cut(glass, center, first, second, a, b)
    points = center + a[None, :, None] * first + b[:, None, None] * second
    assert (
        cut.shape == (4, 5) and np.abs(cut - glass.energy(points)).max() < 1e-12 * np.abs(cut).max()
    )


def test_blocks_hold_every_field_and_every_pair_once():
    glass = to_spin_glass(LinearTask(4, 9).sample_features(30, rng=0), 0.1)
    blocks = block_values(glass)
    assert [len(blocks[name]) for name in "CDEFG"] == [16, 4, 120, 64, 6]
    assert np.array_equal(np.concatenate([blocks["C"], blocks["D"]]), glass.h)
    pairs = np.concatenate([blocks[name] for name in "EFG"])
    assert len(pairs) == 190 and (pairs**2).sum() == pytest.approx(
        (glass.J**2).sum() / 2, rel=1e-12
    )
    s = np.einsum(
        "pi,pj->pij",
        *(getattr(LinearTask(4, 9).sample_features(30, rng=0), k) for k in ("u", "query")),
    )
    assert blocks["F"][1] == pytest.approx(-(s[:, 0, 0] * s[:, 4, 1]).mean(), abs=1e-15)
    assert blocks["G"][0] == pytest.approx(-(s[:, 4, 0] * s[:, 4, 1]).mean(), abs=1e-15)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: block_values(np.eye(3)), "to_spin_glass"),
        (lambda: block_values(gaussian_glass(5, rng=0)), "mean must hold D"),
        (lambda: hessian_spectrum(np.eye(3)), "sample_features"),
        (lambda: hessian_spectrum(LinearTask(2, 3).sample_features(5, rng=0), -1), "ridge"),
    ],
)
def test_bad_input_is_refused_in_words(call, word):
    with pytest.raises((ValueError, TypeError), match=word):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("P", [6, 12, 60])
def test_160_text_no_start_is_trapped_and_no_wall_stands_between_ends(P):
    """Gradient descent from random starts: all end at the lowest loss, and so does every point between two ends."""
    data = LinearTask(4, 20).sample_features(P, rng=P)
    glass = to_spin_glass(data, 0.0)
    values, vectors = np.linalg.eigh(glass.hessian)
    seen = values > 1e-12
    lowest = -0.5 * ((vectors.T @ glass.h)[seen] ** 2 / values[seen]).sum()
    rng = np.random.default_rng(0)
    start = rng.normal(size=(6, 20))
    s = start.copy()
    for _ in range(15_000):
        s -= glass.gradient(s) / values[-1]
    assert np.abs(glass.energy(s) - lowest).max() < 1e-9
    for k in np.linspace(-1, 2, 13):
        assert abs(glass.energy((1 - k) * s[0] + k * s[1]) - lowest) < 1e-9
    if P < 20:  # the flat part of the start is still there: the ends differ
        flat = vectors[:, ~seen]
        assert flat.shape[1] == 20 - P
        assert np.abs((s - start) @ flat).max() < 1e-11
        assert np.linalg.norm(s[0] - s[1]) > 0.1
    glass = to_spin_glass(data, 0.05)  # with a ridge there is one end
    for _ in range(10_000):
        s -= glass.gradient(s) / (values[-1] + 0.05)
    assert np.abs(s - s[0]).max() < 1e-6


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_no_curvature_is_below_the_ridge(ridge):
    """Few prompts, each many times: as many as spins or more, and still flat directions, whatever rounding says."""
    for seed in range(8):
        few = LinearTask(D=3, N=5).sample_features(4, rng=seed)
        many = Features(*(np.repeat(part, 10, axis=0) for part in (few.u, few.query, few.y)))
        spectrum = hessian_spectrum(many, ridge)
        assert (spectrum >= ridge).all()
        np.testing.assert_allclose(spectrum, hessian_spectrum(few, ridge), rtol=1e-13, atol=1e-13)
