"""In-context linear regression: the task, its prompts, the map to a spin glass and back, and the exact errors."""
from spinlib.icl._bayes import bayes_error, in_context_ridge
from spinlib.icl._errors import best_weights, contrast, controlled_error, population_error
from spinlib.icl._learning_curve import learning_curve
from spinlib.icl._mapping import loss, predict, to_spin_glass, weights
from spinlib.icl._moments import Moments, block_moments, prompt_moment
from spinlib.icl._prompts import Features, Prompts, features
from spinlib.icl._readers import pool_posterior
from spinlib.icl._shuffled import shuffled_edge, shuffled_error
from spinlib.icl._task import LinearTask

__all__ = [  # in the order of the story
    "LinearTask",
    "Prompts",
    "Features",
    "features",
    "to_spin_glass",
    "loss",
    "weights",
    "predict",
    "population_error",
    "controlled_error",
    "best_weights",
    "learning_curve",
    "contrast",
    "in_context_ridge",
    "pool_posterior",
    "bayes_error",
    "Moments",
    "prompt_moment",
    "block_moments",
    "shuffled_edge",
    "shuffled_error",
]
