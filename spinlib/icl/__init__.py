"""In-context linear regression: the task, its prompts, the map to a spin glass and back, and the exact errors."""

from spinlib.icl._blocks import Blocks
from spinlib.icl._errors import best_weights, contrast, controlled_error, population_error
from spinlib.icl._mapping import (
    averages,
    in_context_ridge,
    linear_attention,
    pool_posterior,
    to_spin_glass,
    training_loss,
    weights,
)
from spinlib.icl._prompts import Features, Prompts, features
from spinlib.icl._task import LinearTask, PromptBlocks

__all__ = [  # in the order of the story
    "LinearTask",
    "Prompts",
    "Features",
    "PromptBlocks",
    "Blocks",
    "features",
    "averages",
    "to_spin_glass",
    "training_loss",
    "weights",
    "linear_attention",
    "population_error",
    "controlled_error",
    "best_weights",
    "contrast",
    "in_context_ridge",
    "pool_posterior",
]
