"""Threads that share work: order, whose turn it is, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from evenleaf.solve.crew import Crew


def test_a_crew_answers_in_order() -> None:
    crew = Crew(3)
    assert list(crew.each(lambda number: number * number, range(20))) == [number * number for number in range(20)]
    crew.close()


def test_what_goes_wrong_in_a_thread_is_raised() -> None:
    crew = Crew(2)
    with pytest.raises(ZeroDivisionError):
        list(crew.each(lambda number: 1 // number, [1, 2, 0, 3]))
    crew.close()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_workers_share_and_answers_come_in_order(size: int) -> None:
    busy = [threading.Lock() for _ in range(size)]

    def work(worker: int, item: int) -> int:
        assert busy[worker].acquire(blocking=False), "one worker was asked for two things at a time"
        busy[worker].release()
        return item * item

    crew = Crew(size)
    assert crew.share(work, range(size), range(50)) == [item * item for item in range(50)]
    crew.close()


class Line:
    """Numbers to be squared; what is known when each is taken is noted down."""

    def __init__(self, n: int, busy: list[threading.Lock]) -> None:
        self.n, self.busy, self.used = n, busy, 0
        self.taken: list[tuple[int, int]] = []

    def take(self) -> Callable[[int], int] | None:
        number = len(self.taken)
        if number == self.n:
            return None
        self.taken.append((number, self.used))

        def square(worker: int) -> int:
            assert self.busy[worker].acquire(blocking=False), "one worker was asked for two things at a time"
            time.sleep(0.002 * (number % 3))
            self.busy[worker].release()
            return number * number

        return square


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_stream_is_taken_from_the_same_state_for_any_number_of_workers(size: int) -> None:
    line = Line(30, [threading.Lock() for _ in range(size)])
    crew, found = Crew(size), []
    for answer in crew.stream(range(size), line.take, 4):
        found.append(answer)
        line.used += 1
    crew.close()
    assert found == [number * number for number in range(30)]
    assert line.taken == [(number, max(0, number - 3)) for number in range(30)]


def test_a_stream_goes_on_where_an_answer_gives_more_to_do() -> None:
    """There is one errand at a time: the next one is known only once the last one was done."""
    waiting, crew, done = [5], Crew(2), []
    for answer in crew.stream([None, None], lambda: partial(_less, waiting.pop()) if waiting else None, 4):
        done.append(answer)
        if answer:
            waiting.append(answer)
    crew.close()
    assert done == [4, 3, 2, 1, 0]


def _less(number: int, _: None) -> int:
    return number - 1


def test_leaving_a_stream_tells_the_threads() -> None:
    """Whoever uses the answers may be interrupted, too, while others are at work."""
    told = threading.Event()
    errands = iter([lambda _: True, lambda _: told.wait(timeout=30), lambda _: told.wait(timeout=30)])
    crew = Crew(2, told.set)
    stream = crew.stream([1, 2], lambda: next(errands, None), 3)
    assert next(stream)
    stream.close()
    assert told.is_set()
    crew.close()


def test_an_interrupt_is_passed_on_to_the_threads() -> None:
    """Whoever waits for the others is interrupted; the others end because they are told, not because they are done."""
    told, begun = threading.Event(), threading.Barrier(3)

    def work(_: int) -> bool:
        begun.wait(timeout=30)
        return told.wait(timeout=30)

    def press() -> None:
        begun.wait(timeout=30)
        time.sleep(0.3)  # so that the answers are being waited for
        signal.pthread_kill(waiting, signal.SIGINT)

    waiting, before = threading.get_ident(), signal.signal(signal.SIGINT, signal.default_int_handler)
    crew = Crew(2, told.set)
    threading.Thread(target=press).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(crew.each(work, [1, 2]))
    finally:
        signal.signal(signal.SIGINT, before)
    assert told.is_set()
    crew.close()
