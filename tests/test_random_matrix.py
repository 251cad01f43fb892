"""Marchenko-Pastur: against sampled spectra, quadrature and the identities that tie its functions together."""

import numpy as np
import pytest
from pages import from_page
from scipy.integrate import quad

from spinlib.random_matrix import mp_density, mp_edges, mp_moment, wishart

mean_inverse = from_page("mapping/linear_regression_in_context", "mean_inverse").mean_inverse
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


@pytest.mark.parametrize("ratio", RATIOS)
def test_mean_inverse_by_quadrature(ratio):
    """The function of the page: a quadratic there, an integral over the density and the atom at 0 here."""
    for ridge in (1e-3, 0.3, 2.0):
        want = mp_atom(ratio) / ridge + integral(lambda x: 1 / (x + ridge), ratio)
        assert mean_inverse(ridge, ratio) == pytest.approx(want, rel=1e-7)


def test_limits_of_the_mean_inverse():
    """Ridge 0: 1/(1 - ratio); a large ridge; a small one where P < n: the atom."""
    assert mean_inverse(0.0, 0.4) == pytest.approx(1 / 0.6, rel=1e-14)
    assert mean_inverse(1e12, 0.4) == pytest.approx(1e-12, rel=1e-10)
    assert mean_inverse(1e-6, 4.0) == pytest.approx(0.75e6, rel=1e-5)


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
        (lambda: wishart(10**400, 5), ValueError, "n must be at most"),
        (lambda: wishart(0, 5), ValueError, "n must be at least 1"),
        (lambda: wishart(3, 0), ValueError, "P must be"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
