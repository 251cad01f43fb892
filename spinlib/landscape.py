"""The landscape of the transformer's glass: its curvatures and its blocks."""

import numpy as np

from spinlib._core import check_real, check_type
from spinlib.icl import Features, Prompts, averages, features, weights
from spinlib.spin_glass import SpinGlass


def hessian_spectrum(prompts: Prompts | Features, ridge: float = 0.0) -> np.ndarray:
    """All n = D (D+1) eigenvalues (n,) of the Hessian A + ridge of the loss, ascending; A = <s s^T> over P prompts.

    This is Thesis eq. (159), with its ridge. For P < n the P non-zero eigenvalues of A come from the scalar products
    of the prompts, those of u times those of the queries, so that the cost is O(P^3) and no sample s is formed; the
    other n - P are exactly ``ridge``. Raises TypeError for anything but Prompts or Features, and ValueError for a
    negative ridge.

    >>> from spinlib.icl import LinearTask
    >>> from spinlib.landscape import hessian_spectrum
    >>> spectrum = hessian_spectrum(LinearTask(D=3, N=5).sample_features(4, rng=0), ridge=0.5)
    >>> print(len(spectrum), spectrum[:8])
    12 [0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5]
    """
    data = features(prompts)
    ridge = check_real("ridge", ridge, minimum=0, hint="ridge is the lambda of Thesis eq. (123)")
    P, D = data.query.shape
    n = D * (D + 1)
    if P >= n:
        return np.clip(np.linalg.eigvalsh(averages(data)[0]), 0, None) + ridge
    gram = (data.u @ data.u.T) * (data.query @ data.query.T) / P
    return np.concatenate([np.zeros(n - P), np.clip(np.linalg.eigvalsh(gram), 0, None)]) + ridge


def block_values(glass: SpinGlass) -> dict[str, np.ndarray]:
    """Fields and couplings of a prompt glass by block, as lists: C, D of the fields, E, F, G of the couplings.

    C (D^2,) holds the fields of W11, and D (D,) those of the label row. E holds the couplings inside W11, F those
    between it and the label row, and G those inside the label row, each pair of spins once. The letters are those of
    Thesis eq. (132). Raises ValueError where n is not D (D+1).

    >>> from spinlib.icl import LinearTask, to_spin_glass
    >>> from spinlib.landscape import block_values
    >>> blocks = block_values(to_spin_glass(LinearTask(D=3, N=5).sample_features(50, rng=0), 0.1))
    >>> {name: len(values) for name, values in blocks.items()}
    {'C': 9, 'D': 3, 'E': 36, 'F': 27, 'G': 3}
    """
    check_type("glass", glass, SpinGlass, "make one with icl.to_spin_glass")
    D = weights(glass.h).shape[1]
    first, row = slice(0, D * D), slice(D * D, None)
    return {
        "C": glass.h[first].copy(),
        "D": glass.h[row].copy(),
        "E": glass.J[first, first][np.triu_indices(D * D, 1)],
        "F": glass.J[first, row].ravel(),
        "G": glass.J[row, row][np.triu_indices(D, 1)],
    }
