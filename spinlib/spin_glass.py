"""A spin glass with real spins and quadratic energy: couplings, fields, stiffnesses. Disorder is all that inference sees."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinlib._core import check_array


@dataclass(frozen=True)
class SpinGlass:
    r"""Energy :math:`H(s) = \frac12\sum_i\lambda_i s_i^2 - \sum_i h_i s_i - \sum_{i<j}J_{ij}s_is_j` (Thesis eq. (128)).

    Parameters: ``J`` (n, n) symmetric with zero diagonal, ``h`` (n,) fields, ``lam`` (n,) stiffness of each spin
    (it need not be positive). Units: energies of the loss of Thesis eq. (123).
    Raises ValueError for wrong shapes, NaN, a non-symmetric J or a non-zero diagonal.

    >>> from spinlib.spin_glass import SpinGlass
    >>> pair = SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1])
    >>> print(pair.energy([1.0, 1.0]), pair.gradient([1.0, 1.0]))
    -0.5 [-0.5  0.5]
    """

    J: np.ndarray
    h: np.ndarray
    lam: np.ndarray

    def __post_init__(self):
        h = check_array("h", self.h, (None,))
        lam = check_array("lam", self.lam, (len(h),), hint="lam needs one entry per spin, as h has")
        J = check_array("J", self.J, (len(h), len(h)), hint="J couples every pair of the spins of h")
        scale = np.abs(J).max(initial=0.0)
        diagonal = np.abs(np.diagonal(J)).max(initial=0.0)
        if diagonal > 0:
            raise ValueError(f"J must have a zero diagonal, got an entry of size {diagonal:.3g}; "
                             "move it into lam: lam - np.diagonal(J)")
        skew = np.abs(J - J.T).max(initial=0.0)
        if skew > 1e-12 * scale:
            raise ValueError(f"J must be symmetric, got |J - J.T| up to {skew:.3g}; pass (J + J.T) / 2 if that is what you mean")
        for name, array in (("J", J), ("h", h), ("lam", lam)):
            object.__setattr__(self, name, array)

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.h)

    def energy(self, s) -> np.ndarray | float:
        """H(s) for s (..., n); returns shape (...,)."""
        s = np.asarray(s, dtype=np.float64)
        return 0.5 * (s * s) @ self.lam - s @ self.h - 0.5 * ((s @ self.J) * s).sum(-1)

    def gradient(self, s) -> np.ndarray:
        """dH/ds for s (..., n), same shape; zero at the ground state when the Hessian is positive definite."""
        s = np.asarray(s, dtype=np.float64)
        return self.lam * s - self.h - s @ self.J

    @property
    def hessian(self) -> np.ndarray:
        """diag(lam) - J, (n, n); Thesis eq. (159), with the ridge that the printed one leaves out."""
        return np.diag(self.lam) - self.J
