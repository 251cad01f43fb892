"""The experiments of the book: one file a chapter, named as its page, with its table at the end."""

from spinlib.reproduce._experiments import (
    correlated_data,
    dynamics,
    energy_landscape,
    finite_samples,
    freezing,
    growing_the_crystal,
    in_context_learning,
    large,
    learning_curve,
    learning_phase_diagram,
    merged_or_separate,
    optimal_weights,
    other_architectures,
    pure_spin_glass,
    scaling_laws,
    statistics_of_disorder,
    sweeps_in_a_prompt,
    which_amp,
)

CHAPTERS = (
    correlated_data,
    dynamics,
    energy_landscape,
    finite_samples,
    freezing,
    growing_the_crystal,
    in_context_learning,
    large,
    learning_curve,
    learning_phase_diagram,
    merged_or_separate,
    optimal_weights,
    other_architectures,
    pure_spin_glass,
    scaling_laws,
    statistics_of_disorder,
    sweeps_in_a_prompt,
    which_amp,
)
EXPERIMENTS = {name: one for chapter in CHAPTERS for name, one in chapter.EXPERIMENTS.items()}
