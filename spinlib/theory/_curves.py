"""The error of the ground state against the number of prompts, by theory."""
from __future__ import annotations

from spinlib.theory._ridge import ridge_equivalent
from spinlib.theory._teacher import prompt_teacher


def learning_curve(D: int, N: int, P: int, ridge: float, noise: float = 0.0) -> float:
    r"""Generalisation error of weights trained on P prompts of length N: ``population_error`` of the ground state.

    The deterministic equivalent (:func:`ridge_equivalent`) of :func:`prompt_teacher`. Right for D -> infinity at fixed
    P/D^2, N/D and ridge D; finite sizes lie higher by order 1/D (N = 5D, P = 2D^2, ridge 1e-6/D: by 7 % at D = 20,
    3.5 % at D = 40).

    At ridge 0 it is the limit, least squares for P > D (D + 1) and the interpolation of least norm below; with
    t = P/D^2 and c = 1 / (D a) it tends to (1 + noise^2 - 2 t c + t^2 c) / (1 - t) for t < 1, (1 + noise^2 - c) t / (t - 1)
    for t > 1: Lu, Letey, Zavatone-Veth, Maiti and Pehlevan (2025), for infinitely many training tasks. The thesis has
    no such formula. ValueError at ridge 0 and P = D (D + 1), where it diverges; for D, N, P < 1; ridge, noise < 0.

    >>> from spinlib.theory import learning_curve
    >>> print([round(learning_curve(D=20, N=100, P=P, ridge=0.01), 4) for P in (100, 400, 10_000)])
    [0.9958, 0.5178, 0.1974]
    """
    return ridge_equivalent(prompt_teacher(D, N, noise), P, ridge).error
