"""The features of prompts as groups of directions: against the exact error, its curvature and sampled features."""

import numpy as np
import pytest
from stats import z_score

from spinlib.icl import LinearTask, best_weights, population_error
from spinlib.theory import Teacher, prompt_teacher


@pytest.mark.parametrize("D, N, noise", [(1, 1, 0.0), (3, 4, 0.0), (6, 2, 0.7), (20, 100, 0.3)])
def test_prompt_teacher_is_the_exact_error_of_weights(D, N, noise):
    """population_error is a quadratic form of W: its curvatures, its minimum and the minimum's place."""
    teacher, W = prompt_teacher(D, N, noise), best_weights(D, N, noise=noise)
    least = population_error(W, N, noise)
    for place, a in (((0, D - 1), teacher.variance[0]), ((D, 0), teacher.variance[1])):
        for size in (0.5, -0.5):
            moved = W.copy()
            moved[place] += size
            assert population_error(moved, N, noise) - least == pytest.approx(
                size**2 * a, rel=1e-10
            )
    assert teacher.unexplained == pytest.approx(least, rel=1e-12)
    assert teacher.signal == pytest.approx(
        [(W**2).sum(), 0], rel=1e-12
    ) and teacher.count.tolist() == [D * D, D]
    assert teacher.label == pytest.approx(1 + noise**2, rel=1e-12)


def test_the_variances_are_those_of_sampled_features():
    f = LinearTask(3, 4, noise=0.5).sample_features(200_000, rng=0)
    a, b = prompt_teacher(3, 4, 0.5).variance
    assert abs(z_score((f.u[:, 0] * f.query[:, 1]) ** 2, a)) < 5
    assert abs(z_score((f.u[:, 3] * f.query[:, 0]) ** 2, b)) < 5
    c = 1 / (3 * a)
    assert (
        abs(
            z_score(
                (f.y - c * (f.u[:, :3] * f.query).sum(1)) ** 2,
                prompt_teacher(3, 4, 0.5).unexplained,
            )
        )
        < 5
    )


def test_a_teacher_keeps_its_own_arrays():
    mine = np.array([1.0, 2.0])
    teacher = Teacher(mine, mine, 0.1, count=7)
    mine[0] = 9
    assert (
        teacher.variance.tolist() == [1, 2]
        and teacher.count.tolist() == [7, 7]
        and "\n" not in repr(teacher)
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: Teacher([1.0], [1.0, 2.0], 0.1), "signal must have shape"),
        (lambda: Teacher([1.0, 0.0], [1.0, 2.0], 0.1), "leave out directions without features"),
        (lambda: Teacher([1.0], [-1.0], 0.1), "signal must be finite and >= 0"),
        (lambda: Teacher([1.0], [1.0], 0.1, count=[2, 3]), "count must have shape"),
        (lambda: Teacher([1.0], [1.0], 0.1, count=0), "count must be finite and >= 1"),
        (lambda: Teacher([], [], 0.1), "no axis may be empty; one variance a group"),
        (lambda: Teacher([1.0], [1.0], -0.1), "unexplained must be finite and >= 0"),
        (lambda: prompt_teacher(0, 5), "D must be at least 1"),
        (lambda: prompt_teacher(3, 5, -1.0), "noise must be finite and >= 0"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
