"""What an experiment is: the points of a sweep, how one is computed, how they become arrays and a picture."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Point = dict[str, object]  # parameters of one point: plain JSON values


@dataclass(frozen=True)
class Experiment:
    """A sweep whose points are computed one by one, each with its own generator.

    ``points(full)`` lists the parameters of every point (whole numbers, floats, strings, lists), of a page or of the
    stored file. ``compute(rng=generator, **point)`` computes one, a few seconds at most, silently and with one thread,
    and returns named numbers and arrays; it may take ``device`` if it uses torch. ``collect(points, results)`` makes
    the named arrays of the figure. ``draw(figure, arrays, color)`` draws them plainly into a matplotlib figure.
    ``seeds(rng, points)`` lists the generators of the points; the default spawns one a point, by its index.
    """

    points: Callable[[bool], list[Point]]
    compute: Callable[..., dict]
    collect: Callable[[list[Point], list[dict]], dict[str, np.ndarray]]
    draw: Callable | None = None
    seeds: Callable[[np.random.Generator, list[Point]], list[np.random.Generator]] | None = None

    @property
    def takes_device(self) -> bool:
        """Whether ``compute`` can be told the device of torch."""
        return "device" in inspect.signature(self.compute).parameters

    def generators(self, rng: np.random.Generator, points: list[Point]) -> list[np.random.Generator]:
        """One generator a point: the numbers depend neither on the order of the points nor on who computes them."""
        return list(self.seeds(rng, points)) if self.seeds else rng.spawn(len(points))
