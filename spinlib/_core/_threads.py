"""One thread for linear algebra."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra, so that a number does not depend on how many there are; needs threadpoolctl."""
    from threadpoolctl import threadpool_limits

    with contextlib.ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        if "OMP_NUM_THREADS" not in os.environ:  # for torch, and for processes that start from here
            os.environ["OMP_NUM_THREADS"] = "1"
            stack.callback(os.environ.pop, "OMP_NUM_THREADS")
        yield
