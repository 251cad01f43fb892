"""A spin glass with real spins and quadratic energy: couplings, fields, stiffnesses. It is all that inference sees."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinlib._core import (
    Noun,
    RNG,
    check_array,
    check_integer,
    check_last_axis,
    check_real,
    check_rng,
    check_type,
    check_whole,
    freeze,
)

__all__ = ["SpinGlass", "gaussian_glass", "shuffled"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SpinGlass(Noun):
    r"""Energy :math:`H(s) = \frac12\sum_i\lambda_i s_i^2 - \sum_i h_i s_i - \sum_{i<j}J_{ij}s_is_j` (Thesis eq. (128)).

    ``J`` (n, n) is symmetric with zero diagonal, ``h`` (n,) holds the fields, and ``lam`` (n,) the stiffness of each
    spin (it need not be positive); the glass keeps read-only copies. Energies are in units of the loss of Thesis eq.
    (123). Raises ValueError for wrong shapes, NaN, a J that is not symmetric or a non-zero diagonal.

    >>> from spinlib.spin_glass import SpinGlass
    >>> pair = SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1])
    >>> print(pair, pair.energy([1.0, 1.0]), pair.gradient([1.0, 1.0]))
    SpinGlass(n=2) -0.5 [-0.5  0.5]
    """

    J: np.ndarray
    h: np.ndarray
    lam: np.ndarray

    def __init__(self, J: ArrayLike, h: ArrayLike, lam: ArrayLike) -> None:
        h = check_array("h", h, (None,), hint="a glass has at least one spin")
        lam = check_array("lam", lam, (len(h),), hint="lam needs one entry per spin, as h has")
        J = check_array("J", J, (len(h), len(h)), hint="J couples every pair of the spins of h")
        skew, diagonal = np.abs(J - J.T).max(), np.abs(np.diagonal(J)).max()
        if diagonal > 0 or skew > 1e-12 * np.abs(J).max():
            raise ValueError(
                f"J must be symmetric with a zero diagonal, got |J - J.T| up to {skew:.3g} and a "
                f"diagonal up to {diagonal:.3g}; pass (J + J.T) / 2, and move the diagonal into lam"
            )
        freeze(self, J=J, h=h, lam=lam)

    def __repr__(self) -> str:
        return f"SpinGlass(n={self.n})"

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.h)

    def energy(self, s: ArrayLike) -> np.ndarray | float:
        """H(s) for s (..., n); returns shape (...,)."""
        s = check_last_axis("s", s, self.n)
        return 0.5 * (s * s) @ self.lam - s @ self.h - 0.5 * ((s @ self.J) * s).sum(-1)

    def gradient(self, s: ArrayLike) -> np.ndarray:
        """dH/ds for s (..., n), same shape; zero at the ground state when the Hessian is positive definite."""
        s = check_last_axis("s", s, self.n)
        return self.lam * s - self.h - s @ self.J

    @property
    def hessian(self) -> np.ndarray:
        """diag(lam) - J, (n, n); Thesis eq. (159), with the ridge that the printed one leaves out."""
        return np.diag(self.lam) - self.J


def gaussian_glass(
    n: int, *, coupling: float = 1.0, field: float = 0.0, stiffness: float = 2.5, rng: RNG = None
) -> SpinGlass:
    """A glass of textbook disorder: J_ij ~ N(0, coupling^2 / n), h_i ~ N(0, field^2), one stiffness for all spins.

    The spectrum of J fills [-2 coupling, 2 coupling] (Wigner's semicircle), so a ground state exists for stiffness >
    2 coupling, up to corrections of order n^(-2/3). Source: Sherrington and Kirkpatrick (1975); Wigner (1958). Raises
    ValueError for n < 1, coupling < 0, field < 0.

    >>> from spinlib.spin_glass import gaussian_glass
    >>> glass = gaussian_glass(50, rng=0)
    >>> glass.n, bool((glass.J == glass.J.T).all())
    (50, True)
    """
    n = check_integer("n", n, 1, hint="n is the number of spins")
    coupling = check_real("coupling", coupling, minimum=0)
    field, stiffness = check_real("field", field, minimum=0), check_real("stiffness", stiffness)
    rng = check_rng(rng)
    upper = np.triu(rng.standard_normal((n, n)), 1) * (coupling / np.sqrt(n))
    return SpinGlass(upper + upper.T, field * rng.standard_normal(n), np.full(n, stiffness))


def shuffled(glass: SpinGlass, groups: ArrayLike | None = None, *, rng: RNG = None) -> SpinGlass:
    """The same glass with its couplings permuted at random: their distribution stays, their correlations go.

    ``groups`` (n,) holds integers, and a coupling moves only among those that join the same two groups (None: one
    group). J stays symmetric with a zero diagonal; h and lam are kept. This is the fair version of the pure spin
    glass of Thesis section 5.5.2, whose published code draws from a density that is not normalised and makes J
    unsymmetric. Raises ValueError for groups of another length. The result need not have a ground state.

    >>> import numpy as np
    >>> from spinlib.spin_glass import gaussian_glass, shuffled
    >>> glass = gaussian_glass(20, rng=0)
    >>> bool(np.isclose((shuffled(glass, rng=1).J**2).sum(), (glass.J**2).sum()))
    True
    """
    check_type(
        "glass",
        glass,
        SpinGlass,
        "make one with SpinGlass(J, h, lam), gaussian_glass or icl.to_spin_glass",
    )
    groups = (
        np.zeros(glass.n, int)
        if groups is None
        else check_whole("groups", groups, "use labels such as 0 and 1")
    )
    if groups.shape != (glass.n,):
        raise ValueError(
            f"groups must have shape ({glass.n},), got {groups.shape}; give one group label a spin"
        )
    rng = check_rng(rng)
    i, j = np.triu_indices(glass.n, 1)
    labels = np.unique(groups, return_inverse=True)[1]
    low, high = np.minimum(labels[i], labels[j]), np.maximum(labels[i], labels[j])
    block = low * (labels.max() + 1) + high
    J = np.zeros_like(glass.J)
    for b in np.unique(block):
        here = np.flatnonzero(block == b)
        J[i[here], j[here]] = glass.J[i, j][rng.permutation(here)]
    return SpinGlass(J + J.T, glass.h, glass.lam)
