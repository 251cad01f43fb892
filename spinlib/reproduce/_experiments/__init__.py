"""The experiments of the book: one file a chapter, named as its page, with its table at the end."""

from spinlib.reproduce._experiment import Experiment
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
    which_amp,
)


def merged(*tables: dict[str, Experiment]) -> dict[str, Experiment]:
    """One table of all; ValueError for a name that stands in two."""
    found: dict[str, Experiment] = {}
    for table in tables:
        if twice := found.keys() & table.keys():
            raise ValueError(
                f"two experiments are called {', '.join(sorted(twice))}; a stored file has one name: "
                "rename one"
            )
        found |= table
    return found


EXPERIMENTS = merged(
    *(
        chapter.EXPERIMENTS
        for chapter in (
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
            which_amp,
        )
    )
)
