"""Marchenko-Pastur: against sampled spectra, quadrature and the identities that tie its functions together."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad

from spinlib.random_matrix import mp_density, mp_edges, mp_moment, mp_stieltjes, wishart

RATIOS = [0.1, 0.5, 1.0, 3.0]


def mp_atom(ratio):
    """Share of eigenvalues that are exactly 0: the directions that P < n samples leave free."""
    return max(0.0, 1 - 1 / ratio)


def integral(f, ratio, variance=1.0):
    """Integral of f(x) density(x) by x = middle - half cos(t), which takes the square roots at the ends away."""
    a, b = mp_edges(ratio, variance)
    half = (b - a) / 2
    return quad(
        lambda t: (
            f((a + b) / 2 - half * np.cos(t))
            * mp_density((a + b) / 2 - half * np.cos(t), ratio, variance)
            * half
            * np.sin(t)
        ),
        0,
        np.pi,
        limit=200,
    )[0]


@pytest.mark.parametrize("ratio", RATIOS)
def test_density_integrates_to_the_continuous_part(ratio):
    assert integral(lambda x: 1.0, ratio, 1.7) + mp_atom(ratio) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_moments_by_quadrature(ratio, k):
    assert integral(lambda x: x**k, ratio, 0.8) == pytest.approx(mp_moment(k, ratio, 0.8), rel=1e-9)


def test_known_moments_and_edges():
    """Marchenko and Pastur (1967): mean 1, variance ratio; at ratio 1 the Catalan numbers and the interval [0, 4]."""
    assert [mp_moment(k, 1.0) for k in range(6)] == [1, 1, 2, 5, 14, 42]
    assert mp_moment(2, 0.3) - mp_moment(1, 0.3) ** 2 == pytest.approx(0.3)
    assert mp_edges(1.0) == (0.0, 4.0)
    assert (
        mp_density(0.0, 1.0) == np.inf and mp_density(0.0, 0.5) == 0 and mp_density(0.0, 2.0) == 0
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 5), st.floats(-8, 8), st.floats(0.01, 5), st.floats(0.2, 3))
def test_stieltjes_solves_its_quadratic_on_the_right_branch(ratio, re, im, variance):
    z = complex(re, im)
    m = complex(mp_stieltjes(z, ratio, variance))
    terms = np.array([variance * ratio * z * m * m, (z + variance * (ratio - 1)) * m, 1])
    assert abs(terms.sum()) < 1e-11 * np.abs(terms).max()
    assert m.imag > 0  # a Stieltjes transform keeps the upper half plane
    assert abs(m) <= 1 / im * (1 + 1e-12)


@pytest.mark.parametrize("ratio", RATIOS)
def test_stieltjes_by_quadrature(ratio):
    for z in (-0.3, -2.0, 1.0 + 0.5j):
        want = mp_atom(ratio) / -z
        want += integral(lambda x: (1 / (x - z)).real, ratio) + 1j * integral(
            lambda x: (1 / (x - z)).imag, ratio
        )
        assert abs(mp_stieltjes(z, ratio) - want) < 1e-7
    x = np.linspace(*mp_edges(ratio), 7)[1:-1]  # density = Im m / pi just above the axis
    np.testing.assert_allclose(
        mp_stieltjes(x + 1e-9j, ratio).imag / np.pi, mp_density(x, ratio), rtol=1e-6
    )


def test_stieltjes_limits():
    """m(0) is the mean inverse, 1/(1 - ratio); far away -1/z; near 0 the atom's pole, without cancellation."""
    assert mp_stieltjes(0.0, 0.4).real == pytest.approx(1 / 0.6, rel=1e-14)
    assert mp_stieltjes(-1e12, 0.4).real == pytest.approx(1e-12, rel=1e-10)
    assert mp_stieltjes(-1e-12, 4.0).real == pytest.approx(0.75e12, rel=1e-10)
    assert mp_stieltjes([[-1.0, -2.0]], 0.4).shape == (1, 2)


@pytest.mark.parametrize("n,P", [(200, 400), (300, 100)])
def test_sampled_spectrum(n, P):
    """Exact finite-size means tr C / n and tr C^2 / n within 5 standard errors; the histogram within 2 per cent."""
    draws = np.array([np.linalg.eigvalsh(wishart(n, P, rng=seed)) for seed in range(12)])
    first, second = draws.mean(1), (draws**2).mean(1)
    for sample, exact in ((first, 1.0), (second, 1 + (n + 1) / P)):
        assert abs(sample.mean() - exact) < 5 * sample.std(ddof=1) / np.sqrt(12)
    ratio = n / P
    assert (np.abs(draws) < 1e-10).mean() == pytest.approx(mp_atom(ratio), abs=1e-15)
    a, b = mp_edges(ratio)
    assert a - 0.15 < draws[draws > 1e-10].min() and draws.max() < b + 0.3
    cuts = np.linspace(a, b, 8)[1:-1]
    grid = np.linspace(a, b, 20_001)
    cumulative = np.concatenate(
        [
            [0],
            np.cumsum(
                (mp_density(grid[1:], ratio) + mp_density(grid[:-1], ratio)) / 2 * np.diff(grid)
            ),
        ]
    )
    for cut in cuts:
        assert (draws < cut).mean() == pytest.approx(
            mp_atom(ratio) + np.interp(cut, grid, cumulative), abs=0.01
        )


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: mp_edges(0.0), ValueError, "ratio must be finite and > 0"),
        (lambda: mp_edges(np.nan), ValueError, "ratio"),
        (lambda: mp_edges(-1.0), ValueError, "ratio"),
        (lambda: mp_density(1.0, 0.5, 0.0), ValueError, "variance"),
        (lambda: mp_density([0.5, np.nan], 0.5), ValueError, "x must be finite, got nan in 1 of 2"),
        (lambda: mp_density("one", 0.5), TypeError, "x must be an array of real numbers"),
        (lambda: mp_density(1j, 0.5), TypeError, "x must be an array of real numbers"),
        (lambda: mp_moment(-1, 0.5), ValueError, "k must be at least 0"),
        (lambda: mp_moment(1.5, 0.5), TypeError, "k must be an integer"),
        (lambda: mp_stieltjes(1.0, 0.5), ValueError, "off the spectrum"),
        (lambda: mp_stieltjes(0.0, 2.0), ValueError, "and 0"),
        (lambda: mp_stieltjes(np.nan, 0.5), ValueError, "off the spectrum"),
        (lambda: mp_stieltjes(0.0, 1.0), ValueError, r"off the spectrum \[0, 4\] and 0, got 0"),
        (
            lambda: mp_stieltjes(0.25, 0.25),
            ValueError,
            "off the spectrum",
        ),  # the edges belong to the spectrum
        (lambda: mp_stieltjes(2.25, 0.25), ValueError, "off the spectrum"),
        (lambda: mp_stieltjes("-1", 1.0), TypeError, "z must be a complex number"),
        (lambda: mp_stieltjes([None], 1.0), TypeError, "z must be a complex number"),
        (lambda: mp_stieltjes(10**400, 1.0), TypeError, "z must be a complex number"),
        (lambda: wishart(10**400, 5), ValueError, "n must be at most"),
        (lambda: wishart(0, 5), ValueError, "n must be at least 1"),
        (lambda: wishart(3, 0), ValueError, "P must be"),
        (lambda: wishart(3, 5, -1.0), ValueError, "variance"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
