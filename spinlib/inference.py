"""Marginals of the Boltzmann distribution of a spin glass: exact solvers and message passing.

The inverse temperature never moves a mean: every routine iterates x = beta v, in which beta drops out,
and divides by beta at the end. All of them are silent; what happened is in the :class:`Marginals`.
"""
from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigvalsh
from scipy.sparse.linalg import LinearOperator, cg

from spinlib._core import ConvergenceWarning, check_array, check_integer, check_real, iterate
from spinlib.spin_glass import SpinGlass

_REMEDY = ("raise damping (it helps where only the means oscillate), or use ground_state or sample_amp "
           "(nothing helps `amp` and `relaxed_bp` where the variance recursion has no positive fixed point)")


@dataclass(frozen=True)
class Marginals:
    """Means and variances of the spins, and how they were found.

    ``mean`` (n,); ``var`` (n,), or None where a solver does not compute it; ``converged``; ``n_iter`` sweeps
    (0 for a direct solver); ``residual`` of the last sweep; ``history`` (n_iter,) of residuals.
    Without convergence the arrays hold the last finite state, whose variances need not be positive.
    """

    mean: np.ndarray
    var: np.ndarray | None
    converged: bool
    n_iter: int
    residual: float
    history: np.ndarray


def ground_state(glass: SpinGlass, beta: float = 1.0) -> Marginals:
    r"""Exact marginals of exp(-beta H): mean :math:`(\Lambda - J)^{-1} h`, variance diag of the inverse over beta.

    Thesis eqs. (128), (133): the mean is the ground state, and for prompts it is ridge regression.
    O(n^3) time by Cholesky. Raises ValueError when the Hessian is not positive definite: no ground state.

    >>> from spinlib.inference import ground_state
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = ground_state(SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1]), beta=2.0)
    >>> print(found.mean.round(4), found.var.round(4))
    [1.3333 0.6667] [0.6667 0.6667]
    """
    beta = _check(glass, beta)
    hessian = glass.hessian
    try:
        factor = cho_factor(hessian, lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"the Hessian diag(lam) - J must be positive definite, its smallest eigenvalue is "
                         f"{eigvalsh(hessian, subset_by_index=[0, 0])[0]:.3g}; the energy has no minimum: raise the ridge "
                         "or use more prompts") from None
    mean = cho_solve(factor, glass.h)
    var = np.diagonal(cho_solve(factor, np.eye(glass.n))) / beta
    residual = _relative(glass.gradient(mean), glass.h)
    return Marginals(mean, var, True, 0, residual, np.empty(0))


def ground_state_cg(features, ridge: float, beta: float = 1.0, *, tol: float = 1e-10, max_iter: int = 1000) -> Marginals:
    r"""Ground state by conjugate gradients that never form J: :math:`(A + \lambda) w = \frac1P\sum_\mu y^\mu s^\mu`.

    ``features`` has u (P, D+1), query (P, D), y (P,), with s = u (x) query one row of Thesis eq. (126); ``mean`` is
    vec(W), W (D+1, D) row-major. One application of A is two matrix products; memory is that of the features.
    ``var`` is None; ``residual`` is relative to the right-hand side; beta, which does not move the mean, is only checked.
    Warns with ConvergenceWarning when tol is not reached. At ridge 0 with P < D(D+1), where the minimum is not
    unique, any of the minima may be returned.

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from spinlib.inference import ground_state_cg
    >>> rng = np.random.default_rng(0)
    >>> prompts = SimpleNamespace(u=rng.normal(size=(50, 3)), query=rng.normal(size=(50, 2)), y=rng.normal(size=50))
    >>> ground_state_cg(prompts, ridge=0.1).converged
    True
    """
    u, query, y, ridge = _check_features(features, ridge, beta)
    tol, max_iter = check_real("tol", tol, above=0), check_integer("max_iter", max_iter, 1)
    P, shape, n = len(y), (u.shape[1], query.shape[1]), u.shape[1] * query.shape[1]
    h = (_adjoint(u, query, y) / P).ravel()
    stiffness = ridge + _adjoint(u, query, np.ones(P), square=True).ravel() / P
    norm, history = float(np.linalg.norm(h)), []

    def hessian(w):
        return (_adjoint(u, query, _project(u, query, w.reshape(shape))) / P).ravel() + ridge * w

    def precondition(residual):  # conjugate gradients show their residual here, once a sweep
        history.append(float(np.linalg.norm(residual)) / norm)
        return residual / np.where(stiffness > 0, stiffness, 1.0)

    operator = LinearOperator((n, n), matvec=hessian, dtype=np.float64)
    mean, _ = cg(operator, h, rtol=tol, atol=0.0, maxiter=max_iter,
                 M=LinearOperator((n, n), matvec=precondition, dtype=np.float64))
    n_iter, residual = len(history), _relative(h - hessian(mean), h)
    converged = residual <= 10 * tol + 1e-14  # the true residual, not the one that the recursion believes
    if not converged:
        warnings.warn(f"ground_state_cg did not converge: residual {residual:.1e} > tol {tol:.1e} after {n_iter} sweeps; "
                      "raise max_iter, or the ridge", ConvergenceWarning, stacklevel=2)
    return Marginals(mean, None, converged, n_iter, residual, np.array(history[1:] + [residual])[:n_iter])


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
    beta = _check(glass, beta, message_passing=True)
    J, h, lam = glass.J, glass.h[:, None], glass.lam[:, None]
    J2 = J * J

    def step(state):
        m, x = state  # m[i, j] is the message i -> j
        in_m, in_x = J * m.T, J2 * x.T  # what i hears from j
        new_x = 1.0 / (lam - in_x.sum(1, keepdims=True) + in_x)
        return new_x * (h + in_m.sum(1, keepdims=True) - in_m), new_x

    start = np.zeros_like(J), np.broadcast_to(1.0 / lam, J.shape).copy()
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, name="relaxed_bp", remedy=_REMEDY)
    # the diagonal removes J_ii = 0 from the sums, that is nothing: it holds the marginals of eq. (149)
    return _marginals(found, np.diagonal(found.state[0]).copy(), np.diagonal(found.state[1]).copy(), beta, "relaxed_bp")


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
    beta = _check(glass, beta, message_passing=True)
    J, h, lam = glass.J, glass.h, glass.lam
    J2 = J * J

    def step(state):
        m, m_old, x = state
        reaction = J2 @ x
        new_x = 1.0 / (lam - reaction)
        return new_x * (h + J @ m - (reaction * m_old if onsager else 0.0)), m, new_x

    start = np.zeros_like(h), np.zeros_like(h), 1.0 / lam
    name = "amp" if onsager else "amp without the Onsager term"
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, name=name, remedy=_REMEDY)
    return _marginals(found, found.state[0], found.state[2], beta, name)


def sample_amp(features, ridge: float, beta: float = 1.0, *, damping: float = 0.0, tol: float = 1e-10,
               max_iter: int = 500) -> Marginals:
    r"""Sum-product approximate message passing between spins and prompts, which never forms J.

    ``features`` has u (P, D+1), query (P, D), y (P,), with s = u (x) query one row of Thesis eq. (126); ``mean`` and
    ``var`` are in the order of vec(W), W (D+1, D) row-major. Source: Donoho, Maleki and Montanari (2009), in the
    form of Rangan (2011) with a Gaussian prior and a Gaussian likelihood. O(P D) memory, O(P D^2) time a sweep.
    The fixed point of the means is the ground state. Warns and returns ``converged=False`` where it does not settle.

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from spinlib.inference import ground_state_cg, sample_amp
    >>> rng = np.random.default_rng(0)
    >>> prompts = SimpleNamespace(u=rng.normal(size=(200, 6)), query=rng.normal(size=(200, 5)), y=rng.normal(size=200))
    >>> found = sample_amp(prompts, ridge=0.1)
    >>> print(found.converged, np.allclose(found.mean, ground_state_cg(prompts, ridge=0.1).mean, atol=1e-9))
    True True
    """
    u, query, y, ridge = _check_features(features, ridge, beta)
    P, shape = len(y), (u.shape[1], query.shape[1])
    u2, query2 = u * u, query * query

    def step(state):
        m, x, g = state  # m, x (D+1, D) of the spins; g (P,) of the prompts
        tau = _project(u2, query2, x)  # beta times the variance of s . sigma
        g = (y - _project(u, query, m) + tau * g) / (P + tau)
        precision = _adjoint(u2, query2, 1.0 / (P + tau))
        new_x = 1.0 / (ridge + precision)
        return new_x * (precision * m + _adjoint(u, query, g)), new_x, g

    start = np.zeros(shape), 1.0 / (ridge + _adjoint(u2, query2, np.full(P, 1.0 / P))), np.zeros(P)
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, name="sample_amp",
                    remedy="raise damping, max_iter or the ridge")
    return _marginals(found, found.state[0].ravel(), found.state[1].ravel(), float(beta), "sample_amp")


# --- what they share -------------------------------------------------------------------------------------------------

def _project(u, query, W):
    """s^mu . vec(W) for every prompt, (P,)."""
    return np.concatenate([np.einsum("pd,pd->p", u[k] @ W, query[k]) for k in _chunks(len(u))])


def _adjoint(u, query, g, square=False):
    """sum_mu g^mu s^mu as a matrix (D+1, D); with ``square`` the squares of s."""
    total = np.zeros((u.shape[1], query.shape[1]))
    for k in _chunks(len(u)):
        left, right = (u[k] ** 2, query[k] ** 2) if square else (u[k], query[k])
        total += left.T @ (g[k, None] * right)
    return total


def _chunks(P, size=4096):
    return [slice(k, k + size) for k in range(0, P, size)]


def _marginals(found, mean, x, beta, name):
    converged = found.converged
    if converged and not (x > 0).all():
        converged = False
        warnings.warn(f"{name} settled on {int((x <= 0).sum())} variances that are not positive: no Gaussian has these "
                      f"messages; {_REMEDY}", ConvergenceWarning, stacklevel=3)
    return Marginals(mean, x / beta, converged, found.n_iter, found.residual, found.history)


def _relative(vector, scale):
    return float(np.linalg.norm(vector) / max(np.linalg.norm(scale), np.finfo(float).tiny))


def _check(glass, beta, message_passing=False):
    if not isinstance(glass, SpinGlass):
        raise TypeError(f"glass must be a SpinGlass, got {type(glass).__name__}; icl.to_spin_glass(prompts, ridge) makes one")
    if message_passing and not (glass.lam > 0).all():
        raise ValueError(f"message passing needs lam > 0 for every spin, got {glass.lam.min():.3g}; a spin without stiffness has "
                         "no ground state: raise the ridge")
    return check_real("beta", beta, above=0, hint="it is the inverse temperature")


def _check_features(features, ridge, beta):
    if not all(hasattr(features, name) for name in ("u", "query", "y")):
        raise TypeError(f"features must have u (P, D+1), query (P, D) and y (P,), got {type(features).__name__}; "
                        "icl.features(prompts) makes them")
    query = check_array("query", features.query, (None, None))
    P, D = query.shape
    if P == 0 or D == 0:
        raise ValueError(f"query must hold at least one prompt and one dimension, got shape {query.shape}")
    u = check_array("u", features.u, (P, D + 1), hint=f"query has shape {query.shape}, so u must be (P, D+1)")
    y = check_array("y", features.y, (P,), hint="one label a prompt")
    check_real("beta", beta, above=0, hint="it is the inverse temperature")
    return u, query, y, check_real("ridge", ridge, minimum=0)
