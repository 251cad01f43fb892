"""One thread for linear algebra."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra, so that a number does not depend on how many there are (with threadpoolctl)."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # for torch, and for processes that start from here
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        limits = contextlib.nullcontext()
    else:
        limits = threadpool_limits(1)
    try:
        with limits:
            yield
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
