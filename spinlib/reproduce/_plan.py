"""What one call asks for. A plan is made where `run`, `save`, `load` or the command line enters, and handed on."""
from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass

from spinlib.reproduce._code import code_digest
from spinlib.reproduce._experiment import Experiment, Point


@dataclass(frozen=True)
class Plan:
    """An experiment by its name, the points of the sweep, and the settings (full, rng, device) besides them."""

    name: str
    experiment: Experiment
    points: list[Point]
    settings: dict

    @functools.cached_property
    def code(self) -> str:
        """The digest of the code that the points are computed by."""
        return code_digest(self.experiment.compute)

    @functools.cached_property
    def digest(self) -> str:
        """The digest of the points."""
        return digest(self.points)


def digest(values: object) -> str:
    """Twenty letters that change when the plain values do."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]
