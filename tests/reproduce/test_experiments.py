"""The table of experiments: a file for each chapter that has one, and no name twice."""
import pathlib

import pytest

from spinlib.reproduce import _experiments
from spinlib.reproduce._experiment import Experiment

ROOT = pathlib.Path(__file__).parents[2]


def test_each_file_but_large_is_the_name_of_a_chapter():
    chapters = {path.stem for path in (ROOT / "chapters").glob("*/*.ipynb")}
    files = {path.stem for path in pathlib.Path(_experiments.__file__).parent.glob("*.py")} - {"__init__", "large"}
    assert files and files <= chapters
    tables = [getattr(_experiments, name).EXPERIMENTS for name in files]
    assert sum(map(len, tables)) == len(_experiments.EXPERIMENTS)          # every file is in the table


def test_a_name_given_twice_is_refused():
    one = Experiment(lambda full: [], lambda rng: {}, lambda points, results: {})
    assert list(_experiments.merged({"a": one}, {"b": one})) == ["a", "b"]
    with pytest.raises(ValueError, match="two experiments are called a; .* rename one"):
        _experiments.merged({"a": one}, {"b": one, "a": one})
