"""How many patterns softmax attention can tell apart."""

from __future__ import annotations

from math import hypot, log, log1p

from spinlib._core import check_real


def retrieval_capacity(m: float, beta: float) -> float:
    r"""Capacity R of one softmax over e^{R d} random patterns, for a query of overlap m with one of them.

    Patterns and query have d components and length sqrt(d), scores are beta d times the overlap, for d to infinity:
    with fewer patterns the right one gets all the weight, with more none. With :math:`q=2\beta/(1+\sqrt{1+4\beta^2})`
    it is :math:`\beta(m-q)-\frac12\ln(1-q^2)` for beta < m/(1-m^2), the Nishimori temperature of this problem, and
    from there on :math:`-\frac12\ln(1-m^2)`, the capacity of the Gaussian channel. At m = .8, d = 20 the mean weight is
    half at .422 for beta = 1 (the law: .423) and at .563 for beta = 4 (.511). Source: Lucibello and Mezard (2024).
    ValueError for m outside (0, 1] and for beta <= 0.

    >>> from spinlib.theory import retrieval_capacity
    >>> print([round(retrieval_capacity(0.8, beta), 4) for beta in (0.5, 1, 2, 4)])
    [0.287, 0.4226, 0.5088, 0.5108]
    """
    m, beta = check_real("m", m, above=0, maximum=1), check_real("beta", beta, above=0)
    if beta * (1 - m**2) >= m:
        return -log1p(-(m**2)) / 2
    root = hypot(1, 2 * beta)
    q = 2 * beta / (1 + root)  # beta = q / (1 - q^2), so 1 - q^2 = 2 / (1 + root)
    return beta * (m - 1) + q / (1 + q) + log((1 + root) / 2) / 2
