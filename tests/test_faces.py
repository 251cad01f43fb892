"""Every public name of spinlib has its row in the table of faces (tests/helpers/faces.py), and its home there."""

import importlib
import inspect
import pkgutil
import re

import pytest
from faces import FACES

import spinlib


def public(module):
    """The names of a face: its ``__all__``, or what the file itself defines (classes, functions, capital constants)."""
    names = getattr(module, "__all__", None)
    if names is not None:
        return list(names)
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and name != "RNG"
        and (name.isupper() or getattr(thing, "__module__", None) == module.__name__)
    ]


def test_every_public_module_has_a_row():
    found = [
        "spinlib",
        *(info.name for info in pkgutil.walk_packages(spinlib.__path__, "spinlib.")),
    ]
    assert sorted(FACES) == sorted(
        name for name in found if not any(p.startswith("_") for p in name.split("."))
    )


@pytest.mark.parametrize(
    "name", [name for name in FACES if not name.startswith("spinlib.symbolic")]
)
def test_a_function_says_when_it_fails(name):
    for one in FACES[name].split():
        thing = getattr(importlib.import_module(name), one)
        if inspect.isfunction(thing) and inspect.signature(thing).parameters:
            assert re.search(r"Errors?\b|[Ww]arns", inspect.getdoc(thing)), f"{name}.{one}"


@pytest.mark.parametrize("name", FACES)
def test_a_face_shows_these_names(name):
    module, names = importlib.import_module(name), FACES[name].split()
    assert sorted(public(module)) == sorted(names) and len(set(names)) == len(names)
    for one in names:  # defined at home, not handed on from another package
        home = getattr(getattr(module, one), "__module__", name)
        ours = name != "spinlib" and home.startswith("spinlib")
        assert not ours or home.startswith(".".join(name.split(".")[:2])), one
