"""What an experiment is: the points of a sweep, how one is computed, how they become arrays and a picture."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from spinlib import ConvergenceWarning

Point = dict[str, Any]  # parameters of one point: plain JSON values


@dataclass(frozen=True)
class Experiment:
    """A sweep whose points are computed one by one, each with its own generator.

    ``points(full)`` lists the parameters of every point (whole numbers, floats, strings, lists), of a page or of the
    stored file. ``compute(rng=generator, **point)`` computes one, a few seconds at most, silently and with one thread,
    and returns named numbers and arrays; it may take ``device`` if it uses torch, and ``tell``, to call with the
    share of the point that is done. ``collect(points, results)`` makes the named arrays of the figure.
    ``draw(figure, arrays, color)`` draws them plainly into a matplotlib figure.
    ``seeds(rng, points)`` lists the generators of the points, so that the numbers depend neither on their order nor on
    who computes them; the default spawns one a point, by its index.
    ``say(arrays)``: what the command prints of them. ``needs``: packages beside those of every sweep.
    """

    points: Callable[..., list[Point]]
    compute: Callable[..., dict]
    collect: Callable[[list[Point], list[dict]], dict[str, np.ndarray]]
    draw: Callable
    seeds: Callable = lambda rng, points: rng.spawn(len(points))
    say: Callable | None = None
    needs: tuple[str, ...] = ()


def quiet() -> warnings.catch_warnings:
    """Where not converging is an answer, no warning."""
    return warnings.catch_warnings(action="ignore", category=ConvergenceWarning)


def seeded(key: Callable[[Point], list[int]]) -> Callable:
    """Seeds of an :class:`Experiment` by what a point is: by whole numbers, whatever else is run beside it."""

    def seeds(rng, points):
        seed = int(rng.integers(2**32))
        return [np.random.default_rng([seed, *key(point)]) for point in points]

    return seeds


def grid(points: Sequence[Point], results: Sequence[dict], *names: str) -> dict[str, np.ndarray]:
    """The values of the named parameters, in order, and every result as an array over them: their axes come first.

    A combination that no point has, or that has no such result, is NaN; whole numbers that fill their grid stay whole.

    >>> points = [{"N": 20, "run": 0}, {"N": 10, "run": 0}, {"N": 10, "run": 1}]
    >>> grid(points, [{"error": 1}, {"error": 2}, {"error": 3}], "N", "run")["error"].tolist()
    [[2.0, 3.0], [1.0, nan]]
    """
    axes = {
        name: np.unique([point[name] for point in points], return_inverse=True) for name in names
    }
    tables = {name: values for name, (values, _) in axes.items()}
    sizes = tuple(len(values) for values in tables.values())
    for name in dict.fromkeys(name for result in results for name in result):
        have = [k for k, result in enumerate(results) if name in result]
        places = tuple(place[have] for _, place in axes.values())
        if len(set(zip(*places))) < len(have):
            raise ValueError(f"two points of the same {', '.join(names)}: name one parameter more")
        values = np.array([results[k][name] for k in have])
        whole = len(have) == np.prod(sizes, dtype=int)
        tables[name] = (
            np.empty(sizes + values.shape[1:], values.dtype)
            if whole
            else np.full(sizes + values.shape[1:], np.nan)
        )
        tables[name][places] = values
    return tables


def lines(
    x: str | Callable, series: dict[str, str] | Callable, *, axis: int = 0, **settings: object
) -> Callable:
    """A drawing for :class:`Experiment`: medians against ``x``, which runs along their ``axis``, in bands of quartiles.

    ``x`` names a result, or is a function of all. ``series`` says of each named result "kind: words", the kind that
    gives its colour and the words of the legend; or it is a function of all that returns {"kind: words": values}.
    """

    def draw(figure, result, color):
        ax = figure.subplots()
        at = x(result) if callable(x) else result[x]
        named = series if callable(series) else lambda r: {series[name]: r[name] for name in series}
        marks = cycle(("o-", "s--", "^:", "D-.", "v-", "P--", "X:"))
        for (look, values), mark in zip(named(result).items(), marks):
            kind, _, words = look.partition(": ")
            values = np.moveaxis(values, axis, 0).reshape(len(at), -1)
            run = ~np.isnan(values).all(axis=1)
            low, middle, high = np.nanquantile(values[run], (0.25, 0.5, 0.75), axis=1)
            (line,) = ax.plot(
                at[run], middle, mark, color=color.get(kind), markerfacecolor="none", label=words
            )
            ax.fill_between(at[run], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.set(**{"xlabel": x, **settings})
        ax.legend()

    return draw
