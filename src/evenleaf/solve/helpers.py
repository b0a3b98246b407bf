"""Other processes that help with a long search.

Threads take turns wherever Python runs between two kernels, which is a third of a deep search; processes do not. They
take seconds to come, so that they are called only where a search lasts, and threads do the work until then.
"""

from __future__ import annotations

import copy
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from queue import Empty
from typing import Any, Generic, TypeVar

from evenleaf.solve.budget import Budget

Answer = TypeVar("Answer")
Worker = TypeVar("Worker")

_PATIENCE = 2.0  # seconds that a search takes before helpers are called
_GLANCE, _GRACE = 0.05, 3.0  # seconds between two looks at the clock; after the end, for what was begun


class OutOfTimeError(Exception):
    """The search is over before a helper had its answer."""


class Helpers(Generic[Worker]):
    """So many processes, each with a worker of its own, which `make` makes from a budget.

    Where they cannot come (a system may forbid it, a table may not be copied) or are lost, the search goes on
    without: it takes longer, and its answer is the same.
    """

    def __init__(self, size: int, budget: Budget, make: Callable[[Budget], Worker]) -> None:
        self.size, self.budget, self.make = size, budget, make
        self._pool: Any = None  # joblib has no types
        self._first: Future[None] | None = None
        self._timer: threading.Timer | None = None
        self._lost = size < 2

    def call_later(self) -> None:
        """Have them come if the search is not closed before."""
        if self._lost:
            return
        try:
            make = copy.deepcopy(self.make)  # here and now: it is packed later, while the search goes on
        except Exception:
            self._lost = True
            return
        self._timer = threading.Timer(_PATIENCE, self._call, [make])
        self._timer.daemon = True
        self._timer.start()

    def _call(self, make: Callable[[Budget], Worker]) -> None:
        try:
            # Unlike Python's own, these processes never run the script of whoever called us.
            from joblib.externals.loky import ProcessPoolExecutor

            self._pool = ProcessPoolExecutor(self.size, initializer=_begin, initargs=(make,))
            self._first = self._pool.submit(_nothing)
        except Exception:
            self._lost = True

    @property
    def are_here(self) -> bool:
        """Whether they can be sent on errands."""
        first = self._first
        if self._lost or first is None or not first.done():
            return False
        self._lost = first.exception() is not None
        return not self._lost

    def send(self, errand: Callable[[Worker], Answer]) -> Future[Answer]:
        """Have somebody do something."""
        future: Future[Answer] = self._pool.submit(_run, errand, time.time() + self.budget.remaining)
        return future

    def answer(self, future: Future[Answer]) -> Answer | None:
        """What came of an errand; None where somebody was lost on it."""
        waited = 0.0
        while not future.done():
            wait([future], timeout=_GLANCE)
            waited += _GLANCE * self.budget.exhausted
            if not future.done() and (self.budget.cancelled or waited > _GRACE):
                raise OutOfTimeError
        if future.exception() is None:
            return future.result()
        self._lost = True
        return None

    def close(self) -> None:
        """Send them away, whatever they are doing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._pool is not None:
            _forget_waiting(self._pool)
            self._pool.shutdown(kill_workers=True)
            self._pool, self._lost = None, True


def _forget_waiting(pool: Any) -> None:
    """Let go of what nobody has begun: shut down, loky would look for it in vain and print a traceback."""
    waiting = getattr(pool, "_work_ids", None)
    with suppress(Empty):
        while waiting is not None:
            waiting.get_nowait()


class _Here:
    """What a helper has, in its own process."""

    worker: Any = None
    budget = Budget()


def _begin(make: Callable[[Budget], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits
    _Here.worker = make(_Here.budget)


def _nothing() -> None:
    """Done once somebody is here."""


def _run(errand: Callable[[Any], Answer], until: float) -> Answer:
    _Here.budget.started, _Here.budget.time_limit = time.perf_counter(), until - time.time()
    return errand(_Here.worker)
