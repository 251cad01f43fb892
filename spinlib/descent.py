"""Training as descent on the energy of a glass: Adam and gradient descent step by step, gradient flow exactly.

A full-batch step of linear attention sees of its prompts only the couplings and fields of ``icl.to_spin_glass``, so a
step costs n^2, whatever their number. Everything here works for any quadratic energy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsymv

from spinlib._core import (
    check_array,
    check_finite,
    check_flag,
    check_integer,
    check_numbers,
    check_real,
    check_type,
)
from spinlib.spin_glass import SpinGlass


def trajectory(
    glass: SpinGlass,
    start: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    n_steps: int = 3000,
    lr: float = 0.01,
    adam: bool = True,
    every: int | None = None,
    eps: float = 1e-8,
) -> np.ndarray:
    r"""The weights at the start, after each ``every`` steps (default: ``n_steps``) and at the end, first axis the time.

    ``start`` holds the n weights, in any shape, such as W (D+1, D), Thesis eq. (171); or it is a tuple (W_K, W_Q) of
    W_K (r, D+1) and W_Q (r, D), which are trained while their product W = W_K^T W_Q is what the glass sees and what is
    returned, eq. (172). ``adam`` takes Adam with its usual constants, else plain gradient descent, on the energy with
    gradient A w - h, A = ``glass.hessian``. Programs that descend on the mean squared error without its half have
    twice this gradient: Adam then takes the steps of ``eps`` = 5e-9, and their weight decay is twice the ridge.

    Raises ValueError for shapes that do not fit and where the weights overflow.

    >>> from spinlib.descent import trajectory
    >>> from spinlib.spin_glass import SpinGlass
    >>> glass = SpinGlass(J=[[0, 0], [0, 0]], h=[1, 2], lam=[1, 4])
    >>> trajectory(glass, [0, 0], n_steps=200, lr=0.2, adam=False, every=150).round(6).tolist()
    [[0.0, 0.0], [1.0, 0.5], [1.0, 0.5]]
    """
    parts, shape = _parts(glass, start)
    n_steps, lr, adam = (
        check_integer("n_steps", n_steps, 1),
        check_real("lr", lr, above=0),
        check_flag("adam", adam),
    )
    every, eps = (
        n_steps if every is None else check_integer("every", every, 1),
        check_real("eps", eps, above=0),
    )
    A, h = glass.hessian.T, glass.h  # symmetric; columns first, for BLAS
    w = np.concatenate([part.ravel() for part in parts])  # all that is trained, and its gradient
    g, mean, square = np.empty_like(w), np.zeros_like(w), np.zeros_like(w)
    pairs: Any = (_pair(v, parts) if len(parts) == 2 else (None, None) for v in (w, g))
    (K, Q), (g_K, g_Q) = pairs
    product = lambda: w if K is None else (K.T @ Q).ravel()
    path = [product().reshape(shape).copy()]
    with np.errstate(over="ignore", invalid="ignore"):  # reported below, in words
        for step in range(1, n_steps + 1):
            G = dsymv(1.0, A, product()) - h  # dH/dW, from one half of A
            if K is None:
                g = G
            else:
                np.matmul(Q, G.reshape(shape).T, out=g_K)
                np.matmul(K, G.reshape(shape), out=g_Q)
            if adam:
                mean += 0.1 * (g - mean)
                square += 0.001 * (g * g - square)
                w -= lr * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + eps)
            else:
                w -= lr * g
            if step % every == 0 or step == n_steps:
                path.append(product().reshape(shape).copy())
                if not np.isfinite(path[-1]).all():
                    raise ValueError(
                        f"lr must be small enough for the weights to converge, got {lr:g}, with which "
                        f"they overflow within {step} steps; gradient descent of one matrix needs "
                        "lr < 2 / (largest eigenvalue of the Hessian)"
                    )
    return np.array(path)


def flow(glass: SpinGlass, times: ArrayLike, *, start: ArrayLike) -> np.ndarray:
    """The weights (n_times, ...) under gradient flow dw/dt = h - A w, exactly, at all ``times`` (n_times,) >= 0.

    ``start`` holds the n weights in any shape, which the result keeps. O(n^3) once, by the eigenvectors of A =
    ``glass.hessian``; flat directions are allowed. Raises ValueError for shapes that do not fit, negative times, and
    where the energy falls without end and the weights overflow.

    >>> import numpy as np
    >>> from spinlib.descent import flow
    >>> from spinlib.spin_glass import SpinGlass
    >>> flow(SpinGlass(J=[[0]], h=[1], lam=[1]), [0.0, np.log(2), 50.0], start=[0.0]).round(6).tolist()
    [[0.0], [0.5], [1.0]]
    """
    (w,), shape = _parts(glass, check_numbers("start", start))
    t = check_finite(
        "times", check_array("times", times, (None,)), minimum=0, hint="the flow runs forward"
    )[:, None]
    values, vectors = np.linalg.eigh(glass.hessian)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where(values == 0, t, -np.expm1(-values * t) / np.where(values == 0, 1, values))
        path = (w.ravel() @ vectors * np.exp(-values * t) + glass.h @ vectors * grown) @ vectors.T
    if not np.isfinite(path).all():
        raise ValueError(
            f"the weights overflow at some of the times up to {t.max():g}: the Hessian has the "
            f"eigenvalue {values[0]:.3g}, along which the energy falls without end; raise the ridge"
        )
    return path.reshape(len(t), *shape)


def _pair(flat, parts) -> list[np.ndarray]:
    """The two matrices that lie one after the other in a flat array, as views of it."""
    return [part.reshape(like.shape) for part, like in zip(np.split(flat, [parts[0].size]), parts)]


def _parts(glass, start) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """The trained matrices, as copies, and the shape of the weights."""
    check_type("glass", glass, SpinGlass, "make one with icl.to_spin_glass(prompts, ridge)")
    if isinstance(start, tuple) and len(start) == 2:
        W_K, W_Q = (
            check_array(name, w, (None, None)).copy() for name, w in zip(("W_K", "W_Q"), start)
        )
        if len(W_K) != len(W_Q) or W_K.shape[1] * W_Q.shape[1] != glass.n:
            raise ValueError(
                f"the pair must be W_K (r, D+1) and W_Q (r, D), whose product has n = {glass.n} entries, "
                f"got {W_K.shape} and {W_Q.shape}"
            )
        return [W_K, W_Q], (W_K.shape[1], W_Q.shape[1])
    w = check_finite("start", start, hint="it holds the weights, or is a tuple (W_K, W_Q)").copy()
    if w.size != glass.n or w.ndim == 0:
        raise ValueError(
            f"start must hold n = {glass.n} weights, one a spin, got shape {w.shape}; or be a tuple "
            "(W_K, W_Q)"
        )
    return [w], w.shape
