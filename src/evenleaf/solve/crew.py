"""Threads that share work: answers come in the order of the questions, and are the same for any number of threads.

Kernels run without the interpreter's lock. Work is cut into pieces in a way that does not depend on how many threads
there are, no piece knows of another one that is done at the same time, and what comes out is put together in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from evenleaf.solve.helpers import Helpers, OutOfTimeError

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
        waiting: list[Future[Answer]] = []
        try:
            for item in items:
                waiting.append(self._threads.submit(work, item))  # noqa: PERF401 (what is begun must be cancelled)
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

    def stream(
        self,
        workers: Sequence[Worker],
        take: Callable[[], Callable[[Worker], Answer] | None],
        width: int,
        helpers: Helpers[Worker] | None = None,
    ) -> Generator[Answer, None, None]:
        """What comes of each errand, in their order, by workers of whom each may do one thing at a time.

        So many are under way at a time, however many workers there are: the next one is taken once what came of the
        first of them was used; None where there is nothing to do for now. So the state that an errand is taken from is
        the same for any number of workers, and nobody waits for others as long as a later errand is left to do.
        Helpers, once they are here, do everything; the stream ends early where they have no answer in time.
        """
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def do(errand: Callable[[Worker], Answer]) -> Answer:
            worker = idle.get()
            try:
                return errand(worker)
            finally:
                idle.put(worker)

        def begin(errand: Callable[[Worker], Answer]) -> Callable[[], Answer]:
            if helpers is not None and helpers.are_here:
                return partial(_helped, helpers, helpers.send(errand), partial(do, errand))
            return partial(do, errand) if self.size == 1 else self._threads.submit(do, errand).result

        under_way: deque[Callable[[], Answer]] = deque()
        try:
            while True:
                while len(under_way) < width and (errand := take()) is not None:
                    under_way.append(begin(errand))
                if not under_way:
                    return
                yield under_way.popleft()()
        except OutOfTimeError:
            return
        except BaseException:  # Ctrl-C as well, here or where the answers are used
            self.interrupted()
            raise

    @property
    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size)
        return self._pool

    def close(self) -> None:
        """Let the threads go, once they are done with what they began."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


ALONE = Crew()


def _helped(helpers: Helpers[Worker], future: Future[Answer], otherwise: Callable[[], Answer]) -> Answer:
    """What a helper found, or else whoever is here."""
    answer = helpers.answer(future)
    return otherwise() if answer is None else answer
