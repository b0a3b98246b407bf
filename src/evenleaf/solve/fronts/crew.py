"""Threads that share work: answers come in the order of the questions, and are the same for any number of threads.

Kernels run without the interpreter's lock. Work is cut into pieces in a way that does not depend on how many threads
there are, no piece knows of another one that is done at the same time, and what comes out is put together in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Crew:
    """So many threads; with one, everything is done where it is asked for."""

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[Answer]:
        """The answer for each item, in their order; whoever is free takes the next one."""
        if self.size == 1 or len(items) < 2:
            yield from map(work, items)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size)
        waiting = [self._pool.submit(work, item) for item in items]
        try:
            for answer in waiting:
                yield answer.result()
        finally:
            for answer in waiting:
                answer.cancel()

    def close(self) -> None:
        """Let the threads go, once they are done with what they began."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


ALONE = Crew()
