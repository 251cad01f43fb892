"""The spin glass with quadratic energy: energy against a sum over pairs, gradient, Hessian, and its two disorders."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from spinlib.spin_glass import SpinGlass, gaussian_glass, shuffled


def energy_by_pairs(glass, s):
    """Eq. (128) term by term."""
    n = len(s)
    return (
        -sum(glass.J[i, j] * s[i] * s[j] for i in range(n) for j in range(i + 1, n))
        - sum(glass.h[i] * s[i] for i in range(n))
        + sum(glass.lam[i] * s[i] ** 2 for i in range(n)) / 2
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_eq_128_energy_gradient_hessian(n, seed):
    rng = np.random.default_rng(seed)
    glass = gaussian_glass(n, coupling=1.3, field=0.7, stiffness=0.4, rng=seed)
    s, step = rng.normal(size=n), rng.normal(size=n)
    assert glass.energy(s) == pytest.approx(energy_by_pairs(glass, s), abs=1e-12)
    up, down = glass.energy(s + step), glass.energy(s - step)  # exact on a parabola
    assert (up - down) / 2 == pytest.approx(glass.gradient(s) @ step, abs=1e-11)
    assert up + down - 2 * glass.energy(s) == pytest.approx(step @ glass.hessian @ step, abs=1e-11)


def test_batches():
    glass, s = gaussian_glass(5, field=1.0, rng=1), np.random.default_rng(2).normal(size=(3, 2, 5))
    assert glass.energy(s).shape == (3, 2) and glass.gradient(s).shape == (3, 2, 5)
    assert glass.energy(s)[1, 1] == pytest.approx(glass.energy(s[1, 1]), rel=1e-14)


def test_a_glass_keeps_its_own_arrays_and_compares_by_identity():
    J, h, lam = np.array([[0, 0.5], [0.5, 0]]), np.array([1.0, 0.0]), np.ones(2)
    glass = SpinGlass(J, h, lam)
    J[0, 1], h[0], lam[0] = 99, 99, 99
    np.testing.assert_array_equal(glass.hessian, [[1, -0.5], [-0.5, 1]])
    assert glass.h[0] == 1
    for array in (glass.J, glass.h, glass.lam):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert (
        glass == glass
        and glass != SpinGlass(glass.J, glass.h, glass.lam)
        and repr(glass) == "SpinGlass(n=2)"
    )


def test_symmetry_is_held_to_rounding():
    J = np.array([[0, 1.0], [1.0, 0]])
    SpinGlass(J + [[0, 1e-13], [0, 0]], [0, 0], [1, 1])
    with pytest.raises(
        ValueError, match="J must be symmetric with a zero diagonal, got .* up to 1e-11 and"
    ):
        SpinGlass(J + [[0, 1e-11], [0, 0]], [0, 0], [1, 1])
    with pytest.raises(ValueError, match="J must be symmetric"):
        SpinGlass(1e-30 * (J + [[0, 1e-11], [0, 0]]), [0, 0], [1, 1])  # relative to its size


def test_gaussian_disorder_has_the_stated_moments():
    n, coupling, field = 300, 1.5, 0.4
    glass = gaussian_glass(n, coupling=coupling, field=field, stiffness=3.2, rng=0)
    upper = glass.J[np.triu_indices(n, 1)]
    assert abs(upper.mean()) < 5 * coupling / np.sqrt(n * len(upper))
    assert abs((upper**2).mean() * n / coupling**2 - 1) < 5 * np.sqrt(2 / len(upper))
    assert abs((glass.h**2).mean() / field**2 - 1) < 5 * np.sqrt(2 / n)
    edge = np.linalg.eigvalsh(glass.J)[-1]  # Wigner: 2 coupling, corrections n^(-2/3)
    assert abs(edge - 2 * coupling) < 2 * coupling * n ** (-2 / 3)
    assert np.linalg.eigvalsh(glass.hessian)[0] > 0


def test_shuffling_moves_couplings_only_inside_their_blocks():
    groups = np.array([0] * 6 + [1] * 4)
    glass = gaussian_glass(10, field=1.0, rng=3)
    other = shuffled(glass, groups, rng=4)
    np.testing.assert_array_equal(other.h, glass.h)
    np.testing.assert_array_equal(other.lam, glass.lam)
    inside = np.triu(np.ones((10, 10), dtype=bool), 1)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        block = inside & ((groups[:, None] == a) & (groups == b))
        np.testing.assert_array_equal(np.sort(other.J[block]), np.sort(glass.J[block]))
        assert (other.J[block] != glass.J[block]).any()
    assert (shuffled(glass, groups, rng=4).J == other.J).all()  # the seed fixes it
    names = np.array([7] * 6 + [-2] * 4)  # labels are names: only equality counts
    inside_names = np.sort(shuffled(glass, names, rng=4).J[:6, :6], axis=None)
    np.testing.assert_array_equal(inside_names, np.sort(glass.J[:6, :6], axis=None))


def test_shuffling_kills_the_correlation_of_rows():
    s = np.random.default_rng(5).normal(
        size=(4, 60)
    )  # few samples: J is far from independent entries
    J = s.T @ s / 4
    np.fill_diagonal(J, 0)
    glass = SpinGlass(J, np.zeros(60), np.ones(60))
    top = np.linalg.eigvalsh(glass.J)[-1]
    assert np.linalg.eigvalsh(shuffled(glass, rng=6).J)[-1] < 0.75 * top


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: SpinGlass([[0, 1], [0, 0]], [0, 0], [1, 1]), ValueError, r"\(J \+ J.T\) / 2"),
        (
            lambda: SpinGlass([[1, 0], [0, 0]], [0, 0], [1, 1]),
            ValueError,
            "a diagonal up to 1; .*move the diagonal into lam",
        ),
        (lambda: SpinGlass(np.zeros((2, 3)), [0, 0], [1, 1]), ValueError, "J must have shape"),
        (lambda: SpinGlass(np.zeros((2, 2)), [0, 0], [1]), ValueError, "one entry per spin"),
        (lambda: SpinGlass(np.zeros((2, 2)), [0, np.nan], [1, 1]), ValueError, "h must be finite"),
        (
            lambda: SpinGlass(np.full((2, 2), np.nan), [0, 0], [1, 1]),
            ValueError,
            "J must be finite",
        ),
        (lambda: SpinGlass("x", [0], [1]), TypeError, "array of real numbers"),
        (lambda: gaussian_glass(0), ValueError, "n must be at least 1"),
        (lambda: gaussian_glass(3, coupling=-1.0), ValueError, "coupling"),
        (lambda: gaussian_glass(3, field=np.inf), ValueError, "field"),
        (lambda: gaussian_glass(3, stiffness=np.nan), ValueError, "stiffness"),
        (
            lambda: gaussian_glass(2, rng=0).energy([1, np.nan]),
            ValueError,
            "s must be finite, got nan",
        ),
        (
            lambda: gaussian_glass(2, rng=0).energy(["a", "b"]),
            TypeError,
            "s must be an array of real numbers",
        ),
        (
            lambda: gaussian_glass(2, rng=0).gradient([1j, 0]),
            TypeError,
            "s must be an array of real numbers",
        ),
        (lambda: gaussian_glass(2, rng=0).gradient([1, np.inf]), ValueError, "s must be finite"),
        (
            lambda: gaussian_glass(2, rng=0).gradient([1, 2, 3]),
            ValueError,
            r"s must have shape \(..., 2\), got \(3,\)",
        ),
        (lambda: gaussian_glass(2, rng=0).energy(1.0), ValueError, r"s must have shape \(..., 2\)"),
        (
            lambda: SpinGlass(np.zeros((0, 0)), [], []),
            ValueError,
            r"h must have shape .*got \(0,\); no axis may be empty; a glass has at least one spin",
        ),
        (lambda: gaussian_glass(10**400), ValueError, "n must be at most"),
        (lambda: shuffled("glass"), TypeError, "glass must be of type SpinGlass, got str"),
        (lambda: shuffled(gaussian_glass(3, rng=0), [0, 1]), ValueError, "one group label a spin"),
        (
            lambda: shuffled(gaussian_glass(3, rng=0), [0.5, 1.0, 1.0]),
            TypeError,
            "must be integers",
        ),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("n", [2, 5])
def test_the_variance_of_a_coupling_at_few_spins(n, coupling=0.7, draws=1500):
    """coupling^2 / n at every n, not only where n and n + 1 are the same; the fields field^2."""
    pair, rng = np.triu_indices(n, 1), np.random.default_rng(n)
    glasses = [gaussian_glass(n, coupling=coupling, field=1.5, rng=rng) for _ in range(draws)]
    J, h = np.array([g.J[pair] for g in glasses]).ravel(), np.array([g.h for g in glasses]).ravel()
    for values, variance in ((J, coupling**2 / n), (h, 1.5**2)):
        error = variance * np.sqrt(2 / len(values))  # of the mean square of normals
        assert abs((values**2).mean() - variance) < 4 * error < 0.15 * variance
