"""Message passing between the spins of a glass: relaxed BP, a message an edge; AMP, one a spin; VAMP, any spectrum."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv

from spinlib._core import Callback, Found, check_array, check_finite, check_flag, iterate
from spinlib.inference._marginals import Marginals, check_glass, marginals
from spinlib.spin_glass import SpinGlass

# From x = 1/lam the variances can only rise, and stay below any positive fixed point x*: x <= x* gives
# lam - J^2 x >= lam - J^2 x* > 0. So one that is not positive proves that there is no positive fixed point.
_NO_VARIANCES = "the variances have no positive fixed point"
_ELSEWHERE = "use ground_state, or sample_amp on the prompts"


def relaxed_bp(
    glass: SpinGlass,
    *,
    beta: float = 1.0,
    damping: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 500,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Marginals:
    r"""Relaxed belief propagation, two Gaussian messages for each edge: Thesis eqs. (145), (147) and (149).

    .. math::

        m_{i\to j} &= x_{i\to j}\Big(h_i + \sum_{k\ne i,j}J_{ik}m_{k\to i}\Big),\\
        x_{i\to j} &= \Big(\lambda_i - \sum_{k\ne i,j}J_{ik}^2x_{k\to i}\Big)^{-1},\quad x=\beta v

    On a quadratic energy this is Gaussian belief propagation, with nothing neglected: it is exact on trees, and its
    means are exact wherever it converges. A sweep takes O(n^2) memory and time. Where the iteration does not
    converge, or converges to variances that are not positive, it warns and returns ``converged=False``; ``reason``
    distinguishes a failure of the variances (damping does not help) from one of the means (damping may).

    >>> from spinlib.inference import relaxed_bp
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = relaxed_bp(SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1]), beta=2.0)
    >>> print(found.mean.round(4), found.var.round(4))
    [1.3333 0.6667] [0.6667 0.6667]
    """
    beta = check_glass(glass, beta, message_passing=True)
    J, h, lam = glass.J, glass.h[:, None], glass.lam[:, None]
    J2 = J * J
    joined = J2 > 0  # the others carry no message: what stands there answers nobody

    def step(state):
        m, x = state  # m[i, j] is the message i -> j
        in_m, in_x = J * m.T, J2 * x.T  # what i hears from j; then, in place, what it tells j
        in_x += lam - in_x.sum(1, keepdims=True)
        x = np.divide(1.0, in_x, out=in_x)
        m = np.subtract(h + in_m.sum(1, keepdims=True), in_m, out=in_m)
        m *= x
        return m, x

    first = np.zeros_like(J), np.broadcast_to(1.0 / lam, J.shape).copy()
    found = iterate(
        step,
        first,
        damping=damping,
        tol=tol,
        max_iter=max_iter,
        silent=True,
        start=start,
        callback=callback,
        fault=lambda state: _fault(state[1], joined),
    )
    reason, remedy = _why(found, damping, x=1)
    # the diagonal removes J_ii = 0 from the sums, that is nothing: it holds the marginals of eq. (149)
    m, x = (np.diagonal(array).copy() for array in found.state)
    return marginals(found, m, x, beta, "relaxed_bp", remedy, reason)


def amp(
    glass: SpinGlass,
    *,
    beta: float = 1.0,
    onsager: bool = True,
    damping: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 500,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Marginals:
    r"""Approximate message passing, one mean and one variance for each spin.

    .. math::

        x_i &= (\lambda_i - R_i)^{-1},\quad R_i=\sum_jJ_{ij}^2x_j,\quad x=\beta v,\\
        m_i^{t+1} &= x_i\Big(h_i + \sum_jJ_{ij}m_j^t - R_i\,m_i^{t-1}\Big)

    ``onsager=False`` drops the reaction term :math:`R_im_i`, which gives Thesis eq. (153), as printed. Its fixed
    point is the solution of :math:`(\Lambda - R - J)m = h`, a biased one; with the term the fixed point is the ground
    state. ``damping`` d mixes the whole state, that is the variances and the pair :math:`(m^t, m^{t-1})`, so every
    eigenvalue z of the iteration becomes (1 - d) z + d. To damp :math:`m^t` alone, with the undamped mean in the
    reaction, is another iteration with another threshold. A sweep takes O(n^2) time. Where the iteration does not
    converge it warns and returns ``converged=False``, and ``reason`` gives which of two failures it was: the
    variances have no positive fixed point (damping does not help), or the means oscillate or grow (damping may help).

    >>> from spinlib.inference import amp
    >>> from spinlib.spin_glass import SpinGlass
    >>> pair = SpinGlass(J=[[0, 0.4], [0.4, 0]], h=[0.84, 0], lam=[1, 1])
    >>> print(amp(pair).mean.round(4), amp(pair, onsager=False).mean.round(4))
    [1.  0.4] [1.4 0.7]
    """
    beta, onsager = check_glass(glass, beta, message_passing=True), check_flag("onsager", onsager)
    h, lam = glass.h, glass.lam
    J, J2 = glass.J.T, (glass.J**2).T  # symmetric; columns first, for BLAS

    def step(state):
        m, m_old, x = state
        reaction = dsymv(1.0, J2, x)  # from one half of the symmetric matrix
        new_x = 1.0 / (lam - reaction)
        return new_x * (h + dsymv(1.0, J, m) - (reaction * m_old if onsager else 0.0)), m, new_x

    first = np.zeros_like(h), np.zeros_like(h), 1.0 / lam
    found = iterate(
        step,
        first,
        damping=damping,
        tol=tol,
        max_iter=max_iter,
        silent=True,
        start=start,
        callback=callback,
        fault=lambda state: _fault(state[2]),
    )
    reason, remedy = _why(found, damping, x=2)
    name = "amp" if onsager else "amp without the Onsager term"
    return marginals(found, found.state[0], found.state[2], beta, name, remedy, reason)


def _fault(x: np.ndarray, counts: np.ndarray | bool = True) -> str:
    if x.min() > 0 and x.max() < np.inf:
        return ""
    wrong, total = (
        int((counts & ~((x > 0) & (x < np.inf))).sum()),
        np.broadcast_to(counts, x.shape).sum(),
    )
    return f"{_NO_VARIANCES} ({wrong} of {total} left the positive numbers)" if wrong else ""


def _why(found: Found, damping: float, x: int) -> tuple[str, str]:
    """Why message passing stopped, and what to do: variances or means, told apart by the last two sweeps."""
    if found.converged or found.reason.startswith(_NO_VARIANCES):
        return found.reason, f"damping does not help: {_ELSEWHERE}"
    if found._trail[-1] is found.state and found.residual < 0.5 * found.history[found.n_iter // 2]:
        return f"still converging: {found.reason}", "raise max_iter"
    (m, _), (m1, v1), (m2, v2) = ((state[0], state[x]) for state in found._trail)
    if np.abs(v2 - v1).max() > 1e-3 * (1 - damping) * np.abs(v2).max():
        return (
            f"the variances have not settled: {found.reason}",
            "raise max_iter; if it stays so, they have no fixed point",
        )
    turning = "oscillate" if ((m2 - m1) * (m1 - m)).sum() < 0 else "do not settle"
    return f"the means {turning}: {found.reason}", f"raise damping, or {_ELSEWHERE}"


def vamp(
    glass: SpinGlass,
    *,
    ridge: ArrayLike,
    beta: float = 1.0,
    damping: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 500,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Marginals:
    r"""Vector approximate message passing: a reaction term of all free cumulants, from the spectrum of the couplings.

    ``ridge``, a number or (n,), is the part of ``glass.lam`` that belongs to a spin alone; the rest joins the
    couplings, A = diag(lam - ridge) - J. For prompts A is the second moment of the features. Spins and couplings
    exchange one precision:

    .. math:: \bar x=\frac1n\sum_i\frac1{\mathrm{ridge}_i+\gamma},\qquad
              \bar x=\frac1n\,\mathrm{tr}\,\Big(\frac1{\bar x}-\gamma+A\Big)^{-1},

    so that gamma is the R-transform of A at -xbar, and x_i = 1 / (ridge_i + gamma) = beta v_i. Source: Opper and
    Winther (2001), Rangan, Schniter and Fletcher (2019). The means are the ground state at every fixed point. The
    variances are right, as n grows, if the eigenvectors of A are uniformly random; with one ridge for all spins their
    average is exact for any A. One eigendecomposition, O(n^3), then O(n^2) time a sweep. If A has no negative
    eigenvalue, no sweep can make a variance negative. Warns and returns ``converged=False`` where it does not settle.

    >>> import numpy as np
    >>> from spinlib.inference import ground_state, vamp
    >>> from spinlib.spin_glass import SpinGlass
    >>> glass = SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1])
    >>> print(vamp(glass, ridge=0.5).var.round(4), ground_state(glass).var.round(4))
    [1.3333 1.3333] [1.3333 1.3333]
    """
    beta = check_glass(glass, beta, message_passing=True)
    ridge = check_finite("ridge", ridge, minimum=0, hint="it is the stiffness of a spin alone")
    if ridge.ndim:
        check_array("ridge", ridge, glass.h.shape, "give a number, or one ridge a spin")
    ridge = np.broadcast_to(ridge, glass.h.shape)
    spectrum, basis = eigh(np.diag(glass.lam - ridge) - glass.J)

    def spins(gamma, q):
        x = 1.0 / (ridge + gamma)
        return x * (glass.h + q), x

    def step(state):
        gamma, q = state  # the couplings say: exp(q s - gamma s^2 / 2) to every spin
        mean, x = spins(gamma, q)
        average = x.mean()
        gamma2, q2 = 1.0 / average - gamma, mean / average - q  # the spins to the couplings
        weight = 1.0 / (gamma2 + spectrum)
        if not (weight > 0).all():
            return gamma * np.nan, q  # no Gaussian: reported as not finite
        average, mean = weight.mean(), basis @ (weight * (basis.T @ q2))
        return 1.0 / average - gamma2, mean / average - q2

    first = np.array([max(spectrum.mean(), np.finfo(float).tiny)]), np.zeros_like(glass.h)
    found = iterate(
        step,
        first,
        damping=damping,
        tol=tol,
        max_iter=max_iter,
        silent=True,
        start=start,
        callback=callback,
    )
    mean, x = spins(*found.state)
    return marginals(
        found,
        mean,
        x,
        beta,
        "vamp",
        "raise damping, or give a ridge that leaves diag(lam - ridge) - J without negative eigenvalues",
    )
