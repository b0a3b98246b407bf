"""Threads that share work: answers come in the order of the questions, and are the same for any number of threads.

Kernels run without the interpreter's lock. Work is cut into pieces in a way that does not depend on how many threads
there are, no piece knows of another one that is done at the same time, and what comes out is put together in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Worker = TypeVar("Worker")


class Crew:
    """So many threads; with one, everything is done where it is asked for.

    Ctrl-C reaches the thread that waits for the others: `interrupted` is what tells them.
    """

    def __init__(self, size: int = 1, interrupted: Callable[[], None] = lambda: None) -> None:
        self.size, self.interrupted = size, interrupted
        self._pool: ThreadPoolExecutor | None = None

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[Answer]:
        """The answer for each item, in their order; whoever is free takes the next one."""
        if self.size == 1 or len(items) < 2:
            yield from map(work, items)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size)
        waiting: list[Future[Answer]] = []
        try:
            for item in items:
                waiting.append(self._pool.submit(work, item))  # noqa: PERF401 (what is begun must be cancelled)
            for answer in waiting:
                yield answer.result()
        except KeyboardInterrupt:
            self.interrupted()
            raise
        finally:
            for answer in waiting:
                answer.cancel()

    def share(
        self, work: Callable[[Worker, Item], Answer], workers: Sequence[Worker], items: Sequence[Item]
    ) -> list[Answer]:
        """The answer for each item, in their order, by workers of whom each may do one thing at a time."""
        found: dict[int, Answer] = {}
        waiting = iter(range(len(items)))

        def take(worker: Worker) -> None:
            for position in waiting:
                found[position] = work(worker, items[position])

        for _ in self.each(take, workers):
            pass
        return [found[position] for position in range(len(items))]

    def close(self) -> None:
        """Let the threads go, once they are done with what they began."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


ALONE = Crew()
