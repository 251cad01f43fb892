"""The small experiment of tests/helpers/tiny_sweep.py under the name tiny, for the tests that ask for it."""

import pytest

import tiny_sweep
from spinlib.reproduce import _run


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(_run.EXPERIMENTS, "tiny", tiny_sweep.TINY)
    for name in ("TINY_LOG", "TINY_WAIT", "SPINLIB_DATA"):
        monkeypatch.delenv(name, raising=False)
