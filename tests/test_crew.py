"""Threads that share work: order, whose turn it is, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time

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
