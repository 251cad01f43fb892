"""The door of spinlib.theory: a law takes sizes and numbers, draws nothing and sees no prompt."""

import ast
import inspect
import pathlib

import pytest

from spinlib import theory

TESTS = pathlib.Path(__file__).parents[1]
RUNS = {  # the law, and the test that holds it against prompts that were drawn
    "prompt_teacher": "theory/test_teacher.py::test_the_variances_are_those_of_sampled_features",
    "ridge_equivalent": "reproduce/test_merged_or_separate.py::test_cost_of_the_start",
    "state_evolution": "theory/test_state_evolution.py::test_prompts_follow_it_too_and_better_the_larger_they_are",
    "learning_curve": "theory/test_curves.py::test_sampled_ground_states_come_near_as_one_over_D",
    "training_curve": "theory/test_training.py::test_sampled_prompts_come_near_as_one_over_D",
    "pool_errors": "theory/test_pools.py::test_sampled_ground_states_on_the_same_pools",
    "bayes_error": "theory/test_bayes.py::test_bayes_error_against_prompts_at_D_20",
    "depth_error": "theory/test_depth.py::test_prompts_with_the_steps_and_with_messages",
    "spectrum_teacher": "theory/test_spectrum.py::test_sampled_ground_states_at_the_best_ridge",
    "best_ridge": "theory/test_spectrum.py::test_sampled_ground_states_at_the_best_ridge",
    "prompt_moment": "theory/test_moments.py::test_powers_of_sampled_features",
    "block_moments": "theory/test_moments.py::test_moments_of_the_blocks_against_whole_prompts",
    "shuffled_edge": "theory/test_moments.py::test_the_edge_against_sampled_spectra",
    "shuffled_error": "theory/test_moments.py::test_the_errors_against_sampled_glasses",
    "hessian_density": "theory/test_density.py::test_density_with_norms_has_the_second_moment_of_samples",
    "spike_evolution": "theory/test_spikes.py::test_prompts_follow_it_below_and_above_the_hard_phase",
    "spike_free_energy": "theory/test_spikes.py::test_prompts_know_the_lowest_minimum_and_find_the_other",
    "spike_thresholds": "theory/test_spikes.py::test_prompts_know_the_lowest_minimum_and_find_the_other",
}
FILES = sorted(pathlib.Path(theory.__file__).parent.glob("*.py"))
OUTSIDE = {"rng", "X", "prompts", "features", "data", "glass", "seed"}
MAY_IMPORT = {
    "spinlib._core",
    "spinlib.random_matrix",
    "spinlib.icl",
    "spinlib.theory",
    "scipy",
    "numpy",
    "math",
    "dataclasses",
    "typing",
    "__future__",
}


@pytest.mark.parametrize("name", theory.__all__)
def test_a_law_takes_no_sample(name):
    taken = set(inspect.signature(getattr(theory, name)).parameters)
    assert taken and not taken & OUTSIDE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_package_imports_what_is_allowed_and_draws_nothing(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert any(
                node.module == one or node.module.startswith(one + ".") for one in MAY_IMPORT
            ), node.module
            assert node.module != "spinlib._core" or not {"RNG", "check_rng"} & {
                alias.name for alias in node.names
            }
        elif isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"numpy"}
        assert not (isinstance(node, ast.Attribute) and node.attr in ("random", "default_rng"))
    laws = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert path.name == "__init__.py" or laws


def test_a_new_law_is_public():
    """Every file shows at least one of its functions, and every public function is shown."""
    shown = set(theory.__all__)
    for path in FILES:
        names = {
            n.name
            for n in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")
        }
        assert names <= shown, names - shown


def test_every_law_is_held_against_a_run():
    assert set(RUNS) == {
        name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))
    }
    for law, place in RUNS.items():
        path, name = place.split("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        body = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
        used = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)}
        assert {law, "LinearTask"} <= used, place
