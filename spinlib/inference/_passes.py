"""Passes over prompts, which never form the samples s = u (x) query: kernels, and message passing by them.

A kernel reads as its formula, in numpy and in torch alike; :meth:`spinlib.icl.Blocks.sums` adds it up over the prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from spinlib._core import Callback, check_array, check_real, iterate, warn
from spinlib.icl import Blocks, Features, Prompts
from spinlib.inference._marginals import Marginals, marginals

Data: TypeAlias = Prompts | Features | Blocks | Sequence[Features] | Sequence[Prompts]


def fields(block: tuple) -> tuple:
    """Sum y s, and sum s^2."""
    u, x, y = block
    return u.T @ (x * y[:, None]), (u * u).T @ (x * x)


def curvature(block: tuple, W: np.ndarray) -> tuple:
    """Sum s (s . W)."""
    u, x, _ = block
    return (u.T @ (x * ((u @ W) * x).sum(1)[:, None]),)


def messages(block: tuple, m: np.ndarray, v: np.ndarray, P: float, g: np.ndarray) -> tuple:
    """What prompts tell spins of means m and variances v / beta: g (own) of each prompt, precisions, sum g s."""
    u, x, y = block
    u2, x2 = u * u, x * x
    tau = ((u2 @ v) * x2).sum(1)  # beta times the variance of s . sigma
    g = (y - ((u @ m) * x).sum(1) + tau * g) / (P + tau)
    return g, u2.T @ (x2 / (P + tau)[:, None]), u.T @ (x * g[:, None])


def heard(block: tuple, z: np.ndarray) -> tuple:
    """z (own) as it is, and sum z s without the label row."""
    u, x, _ = block
    return z, u[:, :-1].T @ (x * z[:, None])


def surprises(block: tuple, W: np.ndarray, back: float, z: np.ndarray) -> tuple:
    """Residuals z (own) of weights W (D, D), with the reaction to their own messages, and sum z s."""
    u, x, y = block
    return heard(block, y - ((u[:, :-1] @ W) * x).sum(1) + back * z)


def check(prompts: Data, ridge: float, tol: float) -> tuple[Blocks, float]:
    """The blocks of prompts to go over, and ridge, or an error in words."""
    over = prompts if isinstance(prompts, Blocks) else Blocks(prompts)
    ridge = check_real("ridge", ridge, minimum=0)
    if over.dtype == np.float32 and check_real("tol", tol, above=0) < 1e-6:
        raise ValueError(
            f"tol must be at least 1e-06 in float32, whose rounding no sweep undoes, got {tol:g}; "
            "write tol=1e-4"
        )
    return over, ridge


def sample_amp(
    prompts: Data,
    *,
    ridge: float,
    beta: float = 1.0,
    damping: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 500,
    start: tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> Marginals:
    r"""Sum-product approximate message passing between spins and prompts, which never forms J.

    ``prompts``, ``start`` and ``callback`` are as in :func:`ground_state_cg`, except that the state is (means,
    variances times beta, both (D+1, D), and one number for each prompt). ``mean`` and ``var`` are in the order of
    vec(W), with W (D+1, D) in row-major order. Source: Donoho, Maleki and Montanari (2009), in the form of Rangan
    (2011) with a Gaussian prior and a Gaussian likelihood. It takes O(P D) memory and, in each sweep, O(P D^2) time.
    The fixed point of the means is the ground state. Where the iteration does not converge it warns and returns
    ``converged=False``.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask
    >>> from spinlib.inference import ground_state_cg, sample_amp
    >>> prompts = LinearTask(D=5, N=20).sample(200, rng=0)
    >>> found = sample_amp(prompts, ridge=0.1)
    >>> print(found.converged, np.allclose(found.mean, ground_state_cg(prompts, ridge=0.1).mean, atol=1e-9))
    True True
    """
    over, ridge = check(prompts, ridge, tol)
    P, beta = (
        over.P,
        check_real("beta", beta, above=0, minimum=1e-75, hint="it is the inverse temperature"),
    )

    def step(state):
        m, v, g = state  # means and beta times variances of the spins, and g (P,) of the prompts
        g, precision, pull = over.sums(messages, m, v, P, own=g)
        v = 1.0 / (ridge + precision)
        return v * (precision * m + pull), v, g

    squares = over.sums(fields)[1]
    first = np.zeros_like(squares), 1.0 / (ridge + squares / P), np.zeros(P)
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
    return marginals(
        found,
        found.state[0].ravel(),
        found.state[1].ravel(),
        beta,
        "sample_amp",
        "raise damping, max_iter or the ridge",
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SpikeMarginals(Marginals):
    """:class:`Marginals` of weights that are 0, or ``size`` with probability ``share`` before a prompt was seen; where
    these were not given, the values that the run has learned.

    >>> from spinlib.icl import LinearTask
    >>> from spinlib.inference import spike_amp
    >>> found = spike_amp(LinearTask(D=10, N=200).sample_features(200, rng=0))
    >>> print(type(found).__name__, f"{found.share:.3f} {found.size:.2f}")
    SpikeMarginals 0.100 0.95
    """

    share: float = np.nan
    size: float = np.nan


def spike_amp(
    prompts: Data,
    *,
    share: float | None = None,
    size: float | None = None,
    damping: float = 0.3,
    tol: float = 1e-8,
    max_iter: int = 500,
    start: ArrayLike | tuple[ArrayLike, ...] | None = None,
    callback: Callback = None,
) -> SpikeMarginals:
    r"""Approximate message passing for weights of W11 that are 0, or ``size`` with probability ``share``.

    ``prompts`` and ``callback`` are as in :func:`ground_state_cg`; ``mean`` and ``var`` are in the order of vec(W),
    with 0 in the label row. With A the sum of s^2 over the P prompts and E the mean square of the residuals z = y - S
    w + z_old sum(A var) / (P E), a spin receives r = w + S^T z / A, its weight in noise of variance E / A. Parameters
    that are None are learned by expectation maximisation, ``share`` starting from 1/D and ``size``, known to be
    positive, from the largest r. ``start``, weights (D+1, D), makes an informed run; if it is a tuple it is a state
    that ``callback`` was given: weights (D, D), one number for each prompt, and the three that are learned. Source:
    Donoho, Maleki and Montanari (2009); learning: Vila and Schniter (2013), Krzakala et al. (2012). A sweep is two
    products, O(P D^2), and the matrix S of the samples is never formed.

    Where the iteration does not converge it warns and returns ``converged=False``. Convergence does not mean that the
    answer is right: with few prompts the iteration converges far from weights that fit better
    (``theory.spike_thresholds``). Raises ValueError for a share outside (0, 1), a size <= 0, and a feature that is 0
    in every prompt.

    >>> from spinlib.icl import LinearTask, contrast, weights
    >>> from spinlib.inference import spike_amp
    >>> found = spike_amp(LinearTask(D=20, N=400).sample_features(140, rng=1))      # 420 weights from 140 prompts
    >>> print(found.converged, f"{contrast(weights(found.mean)):.2f}", (found.mean > 0.5).sum())
    True 1.00 20
    """
    over, _ = check(prompts, 0.0, tol)
    P, D = over.P, over.D
    if share is not None:
        share = check_real("share", share, above=0, below=1, hint="it is a probability")
    if size is not None:
        size = check_real("size", size, above=0, maximum=1e75, hint="it is that of a weight not 0")
    A = over.sums(fields)[1][:D]
    if not A.all():
        raise ValueError(
            f"{(A == 0).sum()} of {A.size} features are 0 in every prompt: leave out these coordinates"
        )
    W, state = np.zeros((D, D)), start if isinstance(start, tuple) else None
    if start is not None and state is None:
        W = check_array("start", start, (D + 1, D), hint="weights W (D+1, D), or a whole state")[:D]

    def noise(z):
        return max(float(z @ z) / P, np.finfo(float).tiny)

    def posterior(r, precision, share, size):  # the only line that knows the prior
        return expit(np.log(share / (1 - share)) + precision * size * (r - size / 2))

    def step(state):
        W, z, (back, now, value) = state  # (D, D) of the spins, (P,) of the prompts, learned
        z, pull = over.sums(surprises, W, back, own=z)  # with their own messages' reaction
        r, precision = W + pull / A, A / noise(z)
        p = posterior(r, precision, now, value)
        back = value**2 * float((precision * p * (1 - p)).sum()) / P
        value = float((p * r).sum() / p.sum()) if size is None else size
        return value * p, z, np.array([back, p.mean() if share is None else share, value])

    z, pull = over.sums(surprises, W, 0.0, own=np.zeros(P))
    found = iterate(
        step,
        (W, z, np.array([0.0, share or 1 / D, size or (W + pull / A).max()])),
        damping=damping,
        tol=tol,
        max_iter=max_iter,
        silent=True,
        start=state,
        callback=callback,
    )
    W, z, (_, share, size) = found.state
    p = posterior(W + over.sums(heard, own=z)[1] / A, A / noise(z), share, size)
    mean, var = np.zeros((2, D + 1, D))
    mean[:D], var[:D] = W, size**2 * p * (1 - p)
    warn("spike_amp", found.reason, "raise damping or max_iter, or use more prompts")
    return SpikeMarginals(
        mean=mean.ravel(),
        _var=var.ravel(),
        share=float(share),
        size=float(size),
        **vars(found),
    )
