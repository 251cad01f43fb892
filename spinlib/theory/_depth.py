"""Several layers of linear attention: the best steps and their error, and one trained layer that is used again."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from spinlib._core import check_integer, check_noise


def depth_error(L: int, D: int, N: int, noise: float = 0.0) -> float:
    r"""Least error E (prediction - label)^2 that L layers reach, each reading the prompt once, for large D at this N/D.

    From e = 1, L times :math:`e\to(\rho+e)/(\nu+\rho+e)` with nu = N/D, rho = noise^2; returned is rho + e, with the
    noise of the asked label. Without noise 1/(1 + nu + ... + nu^L), which the steps of a Chebyshev polynomial have;
    with noise a layer must also keep the residuals of the layer before (message passing inside the prompt). At D = 200
    it is 5 % low at nu = 2, L = 4 without noise. Source: Montanari and Wu (2022). ValueError for L < 0, D, N < 1.

    >>> from spinlib.theory import depth_error
    >>> [round(1 / depth_error(L, D=20, N=40)) for L in (0, 1, 2, 3)]
    [1, 3, 7, 15]
    """
    L, rho = check_integer("L", L, 0), check_noise(noise) ** 2
    nu, e = check_integer("N", N, 1) / check_integer("D", D, 1), 1.0
    for _ in range(L):
        e = (rho + e) / (nu + rho + e)
    return rho + e


def thinking_curve(D: int, N: int, P: int, k: int, noise: float = 0.0) -> np.ndarray:
    r"""Error (k,) after 1 to k passes through one layer trained on P prompts without ridge, for large D at N/D, P/D^2.

    The trained layer is :math:`c_0I+\Delta`, with Delta taken as independent normals whose size is the excess of the
    :func:`learning_curve`; each pass reads what is left of the labels. A pass adds to the error in w a Gaussian
    field whose covariance over the passes follows from the passes before. Errors include noise^2. Slow in D where it
    grows: at D = 80, P = 2 D^2 samples are 20 % above it after 6 passes. ValueError for N <= D, P <= D^2, k < 1,
    noise < 0.

    >>> from spinlib.theory import thinking_curve
    >>> [thinking_curve(D=100, N=200, P=P, k=12).round(3)[[0, 5, 11]].tolist() for P in (20_000, 100_000)]
    [[0.667, 0.239, 0.347], [0.37, 0.051, 0.013]]
    """
    D, k, rho = check_integer("D", D, 1), check_integer("k", k, 1), check_noise(noise) ** 2
    N, P = (
        check_integer(name, value, least + 1, f"the law is for {name} > {least}")
        for name, value, least in (("N", N, D), ("P", P, D**2))
    )
    nu, nodes = N / D, 400
    c = 1 / (1 + (1 + rho) / nu)
    angle = (np.arange(nodes) + 0.5) * pi / nodes
    x = (1 + 1 / nu + 2 / sqrt(nu) * np.cos(angle))[:, None]  # eigenvalues of a prompt's covariance
    weight = 2 * np.sin(angle) ** 2 / (nodes * x[:, 0])
    power = (1 - c * x) ** np.arange(k + 1)  # left of w after so many passes, if Delta = 0
    echo = np.zeros((nodes, k + 1, k))  # of the field in pass j, after i passes
    for i in range(1, k + 1):
        echo[:, i, :i] = power[:, :i][:, ::-1]
    C = np.zeros((k, k))  # covariance of the field over the passes
    for i in range(k):
        seen = (x**2 + rho / nu * x) * power[:, i : i + 1] * power[:, : i + 1]
        seen += x**2 * np.einsum("nj,nmj->nm", echo[:, i, :i] @ C[:i, :i], echo[:, : i + 1, :i])
        C[i, : i + 1] = C[: i + 1, i] = c * (1 + rho - c) / (P / D**2 - 1) * (weight @ seen)
    left = power**2 + rho / (nu * x) * (1 - power) ** 2 + np.einsum("nij,nij->ni", echo @ C, echo)
    return rho + (weight @ left)[1:]
