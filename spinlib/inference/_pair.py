"""Message passing between the spins of a glass: relaxed BP with a message an edge, AMP with one a spin."""
from __future__ import annotations

import numpy as np

from spinlib._core import iterate
from spinlib.inference._marginals import REMEDY, Marginals, check_glass, marginals
from spinlib.spin_glass import SpinGlass


def relaxed_bp(glass: SpinGlass, beta: float = 1.0, *, damping: float = 0.0, tol: float = 1e-10, max_iter: int = 500) -> Marginals:
    r"""Relaxed belief propagation, one Gaussian message an edge: Thesis eqs. (145), (147) and (149).

    .. math:: m_{i\to j} = x_{i\to j}\Big(h_i + \sum_{k\ne i,j}J_{ik}m_{k\to i}\Big),\qquad
              x_{i\to j} = \Big(\lambda_i - \sum_{k\ne i,j}J_{ik}^2x_{k\to i}\Big)^{-1},\quad x=\beta v

    On a quadratic energy this is Gaussian belief propagation, with nothing neglected: exact on trees, and
    with exact means wherever it converges. O(n^2) memory and time a sweep. Warns and returns
    ``converged=False`` where it does not settle, or settles on variances that are not positive.

    >>> from spinlib.inference import relaxed_bp
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = relaxed_bp(SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1]), beta=2.0)
    >>> print(found.mean.round(4), found.var.round(4))
    [1.3333 0.6667] [0.6667 0.6667]
    """
    beta = check_glass(glass, beta, message_passing=True)
    J, h, lam = glass.J, glass.h[:, None], glass.lam[:, None]
    J2 = J * J

    def step(state):
        m, x = state  # m[i, j] is the message i -> j
        in_m, in_x = J * m.T, J2 * x.T  # what i hears from j
        new_x = 1.0 / (lam - in_x.sum(1, keepdims=True) + in_x)
        return new_x * (h + in_m.sum(1, keepdims=True) - in_m), new_x

    start = np.zeros_like(J), np.broadcast_to(1.0 / lam, J.shape).copy()
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, name="relaxed_bp", remedy=REMEDY)
    # the diagonal removes J_ii = 0 from the sums, that is nothing: it holds the marginals of eq. (149)
    return marginals(found, np.diagonal(found.state[0]).copy(), np.diagonal(found.state[1]).copy(), beta, "relaxed_bp")


def amp(glass: SpinGlass, beta: float = 1.0, *, onsager: bool = True, damping: float = 0.0, tol: float = 1e-10,
        max_iter: int = 500) -> Marginals:
    r"""Approximate message passing, one mean and one variance a spin.

    .. math:: x_i = (\lambda_i - R_i)^{-1},\quad R_i=\sum_jJ_{ij}^2x_j,\qquad
              m_i^{t+1} = x_i\Big(h_i + \sum_jJ_{ij}m_j^t - R_i\,m_i^{t-1}\Big),\quad x=\beta v

    ``onsager=False`` drops the reaction term :math:`R_im_i`: Thesis eq. (153), as printed. Its fixed point is the
    solution of :math:`(\Lambda - R - J)m = h`, a biased one; with the term the fixed point is the ground state.
    O(n^2) time a sweep. Warns and returns ``converged=False`` where it does not settle: the variances lose
    their positive fixed point (damping does not help), or the means oscillate (damping helps).

    >>> from spinlib.inference import amp
    >>> from spinlib.spin_glass import SpinGlass
    >>> pair = SpinGlass(J=[[0, 0.4], [0.4, 0]], h=[0.84, 0], lam=[1, 1])
    >>> print(amp(pair).mean.round(4), amp(pair, onsager=False).mean.round(4))
    [1.  0.4] [1.4 0.7]
    """
    beta = check_glass(glass, beta, message_passing=True)
    J, h, lam = glass.J, glass.h, glass.lam
    J2 = J * J

    def step(state):
        m, m_old, x = state
        reaction = J2 @ x
        new_x = 1.0 / (lam - reaction)
        return new_x * (h + J @ m - (reaction * m_old if onsager else 0.0)), m, new_x

    start = np.zeros_like(h), np.zeros_like(h), 1.0 / lam
    name = "amp" if onsager else "amp without the Onsager term"
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, name=name, remedy=REMEDY)
    return marginals(found, found.state[0], found.state[2], beta, name)
