"""What the frozen nouns share: arrays of their own that nobody writes to, and a repr of one line."""

import dataclasses
from typing import Any

import numpy as np


class Noun:
    """A frozen dataclass whose arrays stay read-only when it is copied or pickled."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        freeze(self, **state)


def freeze(noun: object, **checked: Any) -> None:
    """Let a frozen dataclass keep what was checked, arrays as read-only copies: the caller's stay the caller's.

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from spinlib._core import freeze
    >>> mine, noun = np.zeros(2), SimpleNamespace()
    >>> freeze(noun, h=mine)
    >>> mine[0] = 1
    >>> noun.h.tolist(), noun.h.flags.writeable
    ([0.0, 0.0], False)
    """
    for name, value in checked.items():
        object.__setattr__(noun, name, _sealed(value))


def _sealed(value):
    if isinstance(value, tuple):
        return tuple(map(_sealed, value))
    if isinstance(value, np.ndarray):
        value = np.array(value)
        value.setflags(write=False)
    return value


def one_line(noun: Any) -> str:
    """A repr of one line for a dataclass: numbers and words as they are, arrays by their shape.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from spinlib._core import one_line
    >>> @dataclass
    ... class Found:
    ...     mean: np.ndarray
    ...     converged: bool
    >>> one_line(Found(np.zeros(3), True))
    'Found(mean: (3,), converged=True)'
    """
    base = getattr(type(noun).__base__, "__dataclass_fields__", ())  # its fields come last
    names = sorted((f.name for f in dataclasses.fields(noun) if f.repr), key=base.__contains__)
    words = (name.removeprefix("_") + _value(getattr(noun, name)) for name in names)
    return f"{type(noun).__name__}({', '.join(words)})"


def _value(value):
    if isinstance(value, np.ndarray):
        return f": {value.shape}"
    if isinstance(value, tuple):
        return f": {len(value)} arrays"
    return f"={value:.6g}" if isinstance(value, float) else f"={value!r}"


class Result:
    """What a function found: a frozen dataclass whose repr is one line."""

    __repr__ = one_line
