"""Laws in closed form: what ridge regression, messages and the map to a glass do when everything is large.

A function here takes sizes and numbers, at most norms that somebody else has drawn; it draws nothing and sees no
prompt. Each is tested against a run of ``spinlib.icl`` and ``spinlib.inference``.
"""

from spinlib.theory._density import hessian_density
from spinlib.theory._disorder import block_moments, prompt_moment, shuffled_edge, shuffled_error
from spinlib.theory._pools import pool_errors
from spinlib.theory._readers import bayes_error, depth_error
from spinlib.theory._ridge import (
    RidgeEquivalent,
    best_ridge,
    learning_curve,
    ridge_equivalent,
    state_evolution,
)
from spinlib.theory._spikes import (
    spike_evolution,
    spike_free_energy,
    spike_thresholds,
)
from spinlib.theory._teacher import Teacher, prompt_teacher, spectrum_teacher
from spinlib.theory._training import training_curve

__all__ = [  # in the order of the story
    "Teacher",
    "prompt_teacher",
    "ridge_equivalent",
    "RidgeEquivalent",
    "state_evolution",
    "learning_curve",
    "training_curve",
    "pool_errors",
    "bayes_error",
    "depth_error",
    "spectrum_teacher",
    "best_ridge",
    "prompt_moment",
    "block_moments",
    "shuffled_edge",
    "shuffled_error",
    "hessian_density",
    "spike_evolution",
    "spike_free_energy",
    "spike_thresholds",
]
