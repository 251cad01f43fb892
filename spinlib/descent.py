"""Training as descent on the energy of a glass: Adam and gradient descent step by step, gradient flow exactly.

A full-batch step of linear attention sees of its prompts only the couplings and fields of ``icl.to_spin_glass``, so a
step costs n^2, whatever their number. Everything here works for any quadratic energy.
"""

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

    ``start`` holds the n weights in any shape, such as W (D+1, D), Thesis eq. (171). It may also be a tuple (W_K,
    W_Q) of W_K (r, D+1) and W_Q (r, D), which are trained while their product W = W_K^T W_Q is what enters the energy
    and what is returned, eq. (172). The descent is on the energy with gradient A w - h, A = ``glass.hessian``, by
    Adam with its usual constants if ``adam``, and otherwise by plain gradient descent. Programs that descend on the
    mean squared error without its half have twice this gradient, so that Adam then takes the steps of ``eps`` = 5e-9,
    and their weight decay is twice the ridge.

    Raises ValueError for shapes that do not fit and where the weights overflow.

    >>> from spinlib.descent import trajectory
    >>> from spinlib.spin_glass import SpinGlass
    >>> glass = SpinGlass(J=[[0, 0], [0, 0]], h=[1, 2], lam=[1, 4])
    >>> trajectory(glass, [0, 0], n_steps=200, lr=0.2, adam=False, every=150).round(6).tolist()
    [[0.0, 0.0], [1.0, 0.5], [1.0, 0.5]]
    """
    parts, shape = _parts(glass, start)
    n_steps, lr = check_integer("n_steps", n_steps, 1), check_real("lr", lr, above=0)
    adam, eps = check_flag("adam", adam), check_real("eps", eps, above=0)
    every = n_steps if every is None else check_integer("every", every, 1)
    A, h = glass.hessian.T, glass.h  # symmetric; columns first, for BLAS
    means, squares = ([np.zeros_like(part) for part in parts] for _ in range(2))
    product = lambda: parts[0].copy() if len(parts) == 1 else parts[0].T @ parts[1]
    path = [product()]
    with np.errstate(over="ignore", invalid="ignore"):  # reported below, in words
        for step in range(1, n_steps + 1):
            G = (dsymv(1.0, A, product().ravel()) - h).reshape(shape)  # dH/dW, from one half of A
            gradients = [G] if len(parts) == 1 else [parts[1] @ G.T, parts[0] @ G]
            for w, g, mean, square in zip(parts, gradients, means, squares):
                if adam:
                    mean += 0.1 * (g - mean)
                    square += 0.001 * (g * g - square)
                    w -= lr * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + eps)
                else:
                    w -= lr * g
            if step % every == 0 or step == n_steps:
                path.append(product())
                if not np.isfinite(path[-1]).all():
                    raise ValueError(
                        f"lr must be small enough for the weights to converge, got {lr:g}, with which "
                        f"they overflow within {step} steps; gradient descent of one matrix needs "
                        "lr < 2 / (largest eigenvalue of the Hessian)"
                    )
    return np.array(path)


def flow(glass: SpinGlass, times: ArrayLike, *, start: ArrayLike) -> np.ndarray:
    """The weights (n_times, ...) under gradient flow dw/dt = h - A w, exactly, at all ``times`` (n_times,) >= 0.

    ``start`` holds the n weights in any shape, which the result keeps. The cost is O(n^3) once, for the eigenvectors
    of A = ``glass.hessian``; flat directions are allowed. Source: the chapter on training in time. Raises ValueError
    for shapes that do not fit, for negative times, and where the energy falls without end and the weights overflow.

    >>> import numpy as np
    >>> from spinlib.descent import flow
    >>> from spinlib.spin_glass import SpinGlass
    >>> flow(SpinGlass(J=[[0]], h=[1], lam=[1]), [0.0, np.log(2), 50.0], start=[0.0]).round(6).tolist()
    [[0.0], [0.5], [1.0]]
    """
    (w,), shape = _parts(glass, check_numbers("start", start))
    t = check_array("times", times, (None,), "the flow runs forward", minimum=0)[:, None]
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


def _parts(glass, start) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """The trained matrices, as copies, and the shape of the weights."""
    check_type("glass", glass, SpinGlass, "make one with icl.to_spin_glass(prompts, ridge)")
    if isinstance(start, tuple) and len(start) == 2:
        parts = [check_array(*w, (None, None)).copy() for w in zip(("W_K", "W_Q"), start)]
        shape = (parts[0].shape[1], parts[1].shape[1])
    else:
        parts = [check_finite("start", start, hint="it may be a tuple (W_K, W_Q)").copy()]
        shape = parts[0].shape
    if not shape or np.prod(shape) != glass.n or len(parts[0]) != len(parts[-1]):
        raise ValueError(
            f"start must hold n = {glass.n} weights, one a spin, or be a pair W_K (r, D+1), W_Q (r, D) "
            f"whose product does, got {' and '.join(str(part.shape) for part in parts)}"
        )
    return parts, shape
