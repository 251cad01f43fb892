"""The digests of points and of code: what they see."""

import shutil

import pytest

from spinlib.reproduce import _run, _store


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of spinlib in which the digest of the code reads."""
    folder = tmp_path / "spinlib"
    shutil.copytree(_store.DATA.parent, folder, ignore=shutil.ignore_patterns("data", "*.pyc"))
    monkeypatch.setattr(_store, "DATA", folder / "data")
    return folder, _store.code.__wrapped__


def test_every_file_counts(package):
    folder, code = package
    before = code()
    file = folder / "icl" / "_task.py"
    text = file.read_text()
    file.write_text(text + "more = 1\n")
    assert code() != before
    file.write_text(text)
    assert code() == before
    (folder / "icl" / "_new.py").write_text("")
    assert code() != before


def test_numpy_counts(package, monkeypatch):
    before = package[1]()
    monkeypatch.setattr(_store.np, "__version__", "9.9.9")
    assert package[1]() != before


def test_the_digest_of_points_is_the_one_of_the_stored_files():
    """The order of names does not count; the value is that in a stored json."""
    assert _run.digest([{"D": 1000, "draw": 0}]) == "67630306a195a21ddbdc"
    assert _run.digest([{"draw": 0, "D": 1000}]) == "67630306a195a21ddbdc"
    assert _run.digest([{"D": 0, "draw": 1000}]) != "67630306a195a21ddbdc"
