"""The ground state, which for a quadratic energy gives the exact marginals: by Cholesky, or by conjugate gradients without J."""
from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigvalsh
from scipy.sparse.linalg import LinearOperator, cg

from spinlib._core import ConvergenceWarning, check_integer, check_real
from spinlib.inference._features import adjoint, check_features, project
from spinlib.inference._marginals import Marginals, check_glass, relative
from spinlib.spin_glass import SpinGlass


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
    beta = check_glass(glass, beta)
    hessian = glass.hessian
    try:
        factor = cho_factor(hessian, lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"the Hessian diag(lam) - J must be positive definite, its smallest eigenvalue is "
                         f"{eigvalsh(hessian, subset_by_index=[0, 0])[0]:.3g}; the energy has no minimum: raise the ridge "
                         "or use more prompts") from None
    mean = cho_solve(factor, glass.h)
    var = np.diagonal(cho_solve(factor, np.eye(glass.n))) / beta
    residual = relative(glass.gradient(mean), glass.h)
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
    u, query, y, ridge = check_features(features, ridge, beta)
    tol, max_iter = check_real("tol", tol, above=0), check_integer("max_iter", max_iter, 1)
    P, shape, n = len(y), (u.shape[1], query.shape[1]), u.shape[1] * query.shape[1]
    h = (adjoint(u, query, y) / P).ravel()
    stiffness = ridge + adjoint(u, query, np.ones(P), square=True).ravel() / P
    norm, history = float(np.linalg.norm(h)), []

    def hessian(w):
        return (adjoint(u, query, project(u, query, w.reshape(shape))) / P).ravel() + ridge * w

    def precondition(residual):  # conjugate gradients show their residual here, once a sweep
        history.append(float(np.linalg.norm(residual)) / norm)
        return residual / np.where(stiffness > 0, stiffness, 1.0)

    operator = LinearOperator((n, n), matvec=hessian, dtype=np.float64)
    mean, _ = cg(operator, h, rtol=tol, atol=0.0, maxiter=max_iter,
                 M=LinearOperator((n, n), matvec=precondition, dtype=np.float64))
    n_iter, residual = len(history), relative(h - hessian(mean), h)
    converged = residual <= 10 * tol + 1e-14  # the true residual, not the one that the recursion believes
    if not converged:
        warnings.warn(f"ground_state_cg did not converge: residual {residual:.1e} > tol {tol:.1e} after {n_iter} sweeps; "
                      "raise max_iter, or the ridge", ConvergenceWarning, stacklevel=2)
    return Marginals(mean, None, converged, n_iter, residual, np.array(history[1:] + [residual])[:n_iter])
