"""The ground state, which for a quadratic energy gives the exact marginals: by Cholesky, or by conjugate gradients."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh, lapack

from spinlib._core import Callback, check_flag, check_real, iterate, warn
from spinlib.inference._marginals import Marginals, check_glass, relative
from spinlib.inference._passes import Data, check, curvature, fields
from spinlib.spin_glass import SpinGlass


def ground_state(glass: SpinGlass, *, beta: float = 1.0, variances: bool = True) -> Marginals:
    r"""Exact marginals of exp(-beta H): mean :math:`(\Lambda - J)^{-1} h`, variance diag of the inverse over beta.

    Thesis eqs. (128), (133): the mean is the ground state, and for prompts it is ridge regression.
    O(n^3) time by Cholesky, a third of it without ``variances`` (there is no ``var`` then). Raises ValueError when the
    Hessian is not positive definite: then there is no ground state, or, at ridge 0 with fewer prompts than spins, a
    flat set of them. Flat means here: its reciprocal condition number, the stiffnesses scaled to 1, is below n eps.

    >>> from spinlib.inference import ground_state
    >>> from spinlib.spin_glass import SpinGlass
    >>> found = ground_state(SpinGlass(J=[[0, 0.5], [0.5, 0]], h=[1, 0], lam=[1, 1]), beta=2.0)
    >>> print(found.mean.round(4), found.var.round(4))
    [1.3333 0.6667] [0.6667 0.6667]
    """
    beta, variances = check_glass(glass, beta), check_flag("variances", variances)
    if not (glass.lam > 0).all():
        raise ValueError(_no_ground_state(glass, glass.hessian))
    scale = 1 / np.sqrt(
        glass.lam
    )  # with stiffnesses of 1 the condition number does not depend on the units of a spin
    scaled = glass.J * -scale
    scaled *= scale[:, None]
    np.fill_diagonal(
        scaled := scaled.T, 1.0
    )  # columns first, and written over: LAPACK makes no copy
    norm = lapack.dlange("1", scaled)
    factor, broken = lapack.dpotrf(scaled, lower=True, clean=False, overwrite_a=True)
    if broken or lapack.dpocon(factor, norm, uplo="L")[0] < glass.n * np.finfo(float).eps:
        raise ValueError(_no_ground_state(glass, glass.hessian * scale[:, None] * scale))
    mean = scale * lapack.dpotrs(factor, scale * glass.h, lower=True)[0]
    var = (
        scale**2 * np.diagonal(lapack.dpotri(factor, lower=True, overwrite_c=True)[0]) / beta
        if variances
        else None
    )
    residual = relative(glass.gradient(mean), glass.h)
    return Marginals(mean=mean, _var=var, state=(mean,), residual=residual)


def _no_ground_state(glass: SpinGlass, scaled: np.ndarray) -> str:
    spectrum = eigvalsh(scaled)
    flat = np.abs(spectrum) <= len(spectrum) * np.finfo(float).eps * max(
        np.abs(spectrum).max(), np.finfo(float).tiny
    )
    if (spectrum[~flat] < 0).any():
        lowest = eigvalsh(glass.hessian, subset_by_index=[0, 0])[0]
        return (
            "the Hessian diag(lam) - J must be positive definite, its smallest eigenvalue is "
            f"{lowest:.3g}: the energy falls without end along that direction and has no minimum; "
            "raise the ridge"
        )
    return (
        "the Hessian diag(lam) - J must be positive definite, "
        f"{max(1, flat.sum())} of its {len(flat)} eigenvalues are 0: the energy is flat along these "
        "directions, so there is no single minimum; raise the ridge, use more prompts than spins, or "
        "ground_state_cg for one of the minima"
    )


def ground_state_cg(
    prompts: Data,
    *,
    ridge: float,
    tol: float = 1e-10,
    max_iter: int = 1000,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Marginals:
    r"""Ground state by conjugate gradients that never form J: :math:`(A + \lambda) w = \frac1P\sum_\mu y^\mu s^\mu`.

    ``prompts``, which are Prompts or Features, have u (P, D+1), query (P, D) and y (P,), with s = u (x) query one row
    of Thesis eq. (126); ``mean`` is vec(W), with W (D+1, D) in row-major order. One application of A is two matrix
    products, and the memory is that of the features. ``residual`` is relative to the right-hand side. There are no
    variances. Where tol is not reached it warns (ConvergenceWarning). At ridge 0 with P < D(D+1), where the minimum
    is not unique, any of the minima may be returned.

    Prompts may come in blocks: as :meth:`~spinlib.icl.LinearTask.blocks`, as any sequence of Features of one size, or
    as :class:`~spinlib.icl.Blocks` of them, which set the precision (float32: a ``tol`` down to 1e-6), the device and
    the number of workers of a sweep. ``callback(state, residual)`` is called after every sweep, and ``start``, such a
    state, goes on from there with the same bits: it holds weights, residuals and the direction to go, each (D+1, D).
    The count of sweeps begins again.

    >>> from spinlib.icl import LinearTask
    >>> from spinlib.inference import ground_state_cg
    >>> ground_state_cg(LinearTask(D=2, N=10).sample(50, rng=0), ridge=0.1).converged
    True
    """
    (over, ridge), tol = check(prompts, ridge, tol), check_real("tol", tol, above=0, maximum=1e75)
    h, squares = (total / over.P for total in over.sums(fields))
    stiffness = np.where(ridge + squares > 0, ridge + squares, 1.0)
    if not h.any():
        return Marginals(mean=h.ravel(), state=(h, h, h))

    def hessian(W):
        return over.sums(curvature, W)[0] / over.P + ridge * W

    def step(state):
        W, r, p = state  # weights, what is left of h, the direction to go; all (D+1, D)
        Ap, gain = hessian(p), (r * r / stiffness).sum()
        a = gain / (p * Ap).sum()
        W, r = W + a * p, r - a * Ap
        return W, r, r / stiffness + (r * r / stiffness).sum() / gain * p

    found = iterate(
        step,
        (np.zeros_like(h), h, h / stiffness),
        tol=tol,
        max_iter=max_iter,
        silent=True,
        measure=lambda state: relative(state[1], h),
        start=start,
        callback=callback,
    )
    mean, n_iter = found.state[0], found.n_iter
    residual = relative(h - hessian(mean), h)  # the true one, which decides
    converged = residual <= 10 * tol + 1e-14
    reason = "" if converged else f"residual {residual:.1e} > tol {tol:.1e} after {n_iter} sweeps"
    warn("ground_state_cg", reason, "raise max_iter, or the ridge")
    return Marginals(
        mean=mean.ravel(),
        state=found.state,
        converged=converged,
        n_iter=n_iter,
        residual=residual,
        history=np.append(found.history[:-1], residual)[:n_iter],
        reason=reason,
    )
