"""Ctrl-C asks a solver to stop and hand over its best so far; a second Ctrl-C gives up at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from evenleaf.solve.budget import Budget


@contextmanager
def ctrl_c_cancels(budget: Budget) -> Iterator[Callable[[], None]]:
    """Turn the first Ctrl-C inside the block into `budget.cancel()`; the caller's handling returns afterwards.

    Only Python's own handler is replaced: a host that installed another one knows better. Signals reach the main
    thread alone, so in any other thread this does nothing. Some solvers (Gurobi) put a handler of their own in the
    way when they start; calling what the block is given takes Ctrl-C back.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: None
        return

    def cancel(number: int, frame: FrameType | None) -> None:
        if budget.cancelled:
            signal.default_int_handler(number, frame)
        budget.cancel()

    def take_back() -> None:
        signal.signal(signal.SIGINT, cancel)

    take_back()
    try:
        yield take_back
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
