"""Processes that help a long search: they come, they answer, they may be lost, and the answer is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, helpers
from evenleaf.solve.crew import Crew
from evenleaf.solve.helpers import Helpers, OutOfTimeError
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.search.errands import Outcome
from evenleaf.solve.search.worker import Worker
from evenleaf.testing import people_from

Bag = tuple[int, Budget]  # who called, and how long there is


def make_bag(caller: int, budget: Budget) -> Bag:
    return caller, budget


def hold(_: object, budget: Budget) -> Bag:
    return 0, budget


def square(number: int, bag: Bag) -> tuple[int, bool]:
    """The square of a number, and whether somebody else than the caller took it."""
    return number * number, os.getpid() != bag[0]


def square_or_die(number: int, bag: Bag) -> tuple[int, bool]:
    if number == 3 and os.getpid() != bag[0]:
        os._exit(1)
    return square(number, bag)


def sleep(seconds: float, bag: Bag) -> bool:
    while not bag[1].exhausted and seconds > 0:
        time.sleep(0.01)
        seconds -= 0.01
    return bag[1].exhausted


@pytest.fixture
def here() -> Iterator[Helpers[Bag]]:
    """Two helpers who have come."""
    budget = Budget(time_limit=60.0)
    called = Helpers(2, budget, partial(make_bag, os.getpid()))
    with patch.object(helpers, "_PATIENCE", 0.0):
        called.call_later()
    while not called.are_here and not budget.exhausted:
        time.sleep(0.01)
    assert called.are_here
    yield called
    called.close()


def stream(called: Helpers[Bag], do: Callable[[int, Bag], tuple[int, bool]]) -> list[tuple[int, bool]]:
    numbers = iter(range(8))

    def take() -> Callable[[Bag], tuple[int, bool]] | None:
        number = next(numbers, None)
        return None if number is None else partial(do, number)

    crew = Crew(1)
    return list(crew.stream([(os.getpid(), called.budget)], take, 3, called))


def test_helpers_do_everything_once_they_are_here(here: Helpers[Bag]) -> None:
    assert stream(here, square) == [(number * number, True) for number in range(8)]


def test_what_lost_helpers_leave_is_done_here(here: Helpers[Bag]) -> None:
    found = stream(here, square_or_die)
    assert [answer[0] for answer in found] == [number * number for number in range(8)]
    assert not found[3][1]
    assert not here.are_here


def test_helpers_know_when_time_is_up(here: Helpers[Bag]) -> None:
    here.budget.started, here.budget.time_limit = time.perf_counter(), 0.2
    assert here.answer(here.send(partial(sleep, 30.0))) is True


def test_nobody_waits_for_helpers_after_a_search_was_cancelled(here: Helpers[Bag]) -> None:
    future = here.send(partial(sleep, 30.0))
    here.budget.cancel()
    with pytest.raises(OutOfTimeError):
        here.answer(future)
    numbers = iter([1.0])
    late = Crew(1).stream(
        [(os.getpid(), here.budget)], lambda: partial(sleep, 30.0) if next(numbers, None) is not None else None, 3, here
    )
    assert list(late) == []


def test_a_search_whose_tables_cannot_be_sent_goes_on_alone() -> None:
    alone = Helpers(2, Budget(), partial(hold, threading.Lock()))
    with patch.object(helpers, "_PATIENCE", 0.0):
        alone.call_later()
    assert not alone.are_here
    assert stream(alone, square) == [(number * number, False) for number in range(8)]
    alone.close()


def test_errands_that_nobody_has_begun_are_let_go_without_a_word(here: Helpers[Bag]) -> None:
    said: list[object] = []
    with patch.object(threading, "excepthook", said.append):
        for _ in range(40):
            here.send(partial(sleep, 5.0))
        manager = here._pool._executor_manager_thread
        here.close()
        manager.join(10)
    assert not manager.is_alive()
    assert not said


def test_a_short_search_calls_nobody() -> None:
    waiting = Helpers(2, Budget(), partial(make_bag, os.getpid()))
    waiting.call_later()
    waiting.close()
    assert waiting._pool is None
    assert not waiting.are_here


def without_pattern(n_people: int) -> Problem:
    random = np.random.default_rng(3)
    columns = {"x": random.integers(30, size=n_people), "z": random.integers(30, size=n_people)}
    columns["c"] = np.array(list("pqrstuvw"))[random.integers(8, size=n_people)]
    people = people_from(columns, random.integers(2, size=n_people), {"g": ["ab"[i] for i in np.arange(n_people) % 2]})
    return pose(people, fairness=DisparateTreatment(n_neighbors=8), fairness_weight=1.0, shape=Shape(max_depth=3))


def test_the_answer_and_its_proof_are_the_same_with_helpers() -> None:
    problem, sent = without_pattern(50), []
    alone = SearchSolver().solve(problem, Budget(n_jobs=1))
    send = Helpers.send

    def noted(self: Helpers[Worker], errand: Callable[[Worker], Outcome]) -> Future[Outcome]:
        sent.append(errand)
        return send(self, errand)

    with patch.object(helpers, "_PATIENCE", 0.0), patch.object(Helpers, "send", noted):
        helped = SearchSolver().solve(problem, Budget(n_jobs=2))
    assert len(sent) > 8
    assert alone.proven
    assert helped.proven
    assert helped.tree == alone.tree
    assert (helped.objective, helped.message) == (alone.objective, alone.message)
    assert alone.certificate is not None
    assert helped.certificate is not None
    assert helped.certificate.to_bytes() == alone.certificate.to_bytes()


SCRIPT = """
import signal, sys, threading
sys.path.insert(0, {tests!r})
from unittest.mock import patch
from evenleaf.solve import Budget, helpers
from evenleaf.solve.search import SearchSolver
from test_helpers import without_pattern
send, first = helpers.Helpers.send, threading.Event()
def noted(self, errand):
    if not first.is_set():
        first.set()
        print("sent", flush=True)
    return send(self, errand)
with patch.object(helpers, "_PATIENCE", 0.0), patch.object(helpers.Helpers, "send", noted):
    answer = SearchSolver().solve(without_pattern(600), Budget(n_jobs=2))
print(answer.stop, answer.proven, answer.tree is not None, answer.bound <= answer.objective, flush=True)
"""


def test_ctrl_c_reaches_the_search_and_not_its_helpers() -> None:
    """As from a terminal: every process of the group gets the signal. The script need not guard against imports."""
    script = SCRIPT.format(tests=str(Path(__file__).parent))
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "sent\n"
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert out.split() == ["interrupted", "False", "True", "True"]
    assert "Traceback" not in errors
