"""A clock for long kernels: they run without the interpreter's lock, so a thread can tell them that time is up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def clock(seconds: float, stop: np.ndarray) -> Iterator[None]:
    """Set `stop[0]` after so many seconds, unless the block ends before."""
    stop[0] = seconds <= 0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        yield
        return

    def ring() -> None:
        stop[0] = True

    # A moment late, so that whoever is stopped finds the budget spent.
    timer = threading.Timer(seconds + 0.001, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
