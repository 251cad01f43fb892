"""Message passing between spins and prompts, which never forms the couplings."""
from __future__ import annotations

import numpy as np

from spinlib._core import iterate
from spinlib.icl import Features, Prompts
from spinlib.inference._features import adjoint, check_features, project
from spinlib.inference._marginals import Marginals, marginals


def sample_amp(features: Prompts | Features, ridge: float, beta: float = 1.0, *, damping: float = 0.0,
               tol: float = 1e-10, max_iter: int = 500) -> Marginals:
    r"""Sum-product approximate message passing between spins and prompts, which never forms J.

    ``features``, Prompts or Features, has u (P, D+1), query (P, D), y (P,), with s = u (x) query one row of Thesis
    eq. (126); ``mean`` and ``var`` are in the order of vec(W), W (D+1, D) row-major. Source: Donoho, Maleki and
    Montanari (2009), in the form of Rangan (2011) with a Gaussian prior and a Gaussian likelihood. O(P D) memory,
    O(P D^2) time a sweep. The fixed point of the means is the ground state. Warns and returns ``converged=False``
    where it does not settle.

    >>> import numpy as np
    >>> from spinlib.icl import LinearTask
    >>> from spinlib.inference import ground_state_cg, sample_amp
    >>> prompts = LinearTask(D=5, N=20).sample(200, rng=0)
    >>> found = sample_amp(prompts, ridge=0.1)
    >>> print(found.converged, np.allclose(found.mean, ground_state_cg(prompts, ridge=0.1).mean, atol=1e-9))
    True True
    """
    u, query, y, ridge = check_features(features, ridge, beta)
    P, shape = len(y), (u.shape[1], query.shape[1])
    u2, query2 = u * u, query * query

    def step(state):
        m, x, g = state  # m, x (D+1, D) of the spins; g (P,) of the prompts
        tau = project(u2, query2, x)  # beta times the variance of s . sigma
        g = (y - project(u, query, m) + tau * g) / (P + tau)
        precision = adjoint(u2, query2, 1.0 / (P + tau))
        new_x = 1.0 / (ridge + precision)
        return new_x * (precision * m + adjoint(u, query, g)), new_x, g

    start = np.zeros(shape), 1.0 / (ridge + adjoint(u2, query2, np.full(P, 1.0 / P))), np.zeros(P)
    found = iterate(step, start, damping=damping, tol=tol, max_iter=max_iter, silent=True)
    return marginals(found, found.state[0].ravel(), found.state[1].ravel(), float(beta), "sample_amp",
                     "raise damping, max_iter or the ridge")
