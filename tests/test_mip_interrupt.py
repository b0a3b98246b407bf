"""Ctrl-C, solvers that do not hear, and solvers that are wrong: what the caller gets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenleaf.errors import DisagreementError
from evenleaf.solve.budget import Budget
from evenleaf.solve.interrupt import ctrl_c_cancels
from evenleaf.solve.mip.backend import Backend, SolverError
from evenleaf.solve.mip.run import Ending, Outcome, Run
from evenleaf.solve.result import Stop, TracePoint
from mip_models import knapsack, market_split, one_sided_start

BEST = np.array([0.0, 1.0, 0.0, 1.0])  # the optimum of the knapsack, −90
NEXT = np.array([0.0, 1.0, 1.0, 0.0])  # a worse point, −70


class Scripted(Backend):
    """A solver that says what the test tells it to; its package is any that is there."""

    name = "scripted"
    package = "numpy"
    extra = ""
    parallel = False
    needs_licence = False

    def __init__(self, outcome: Outcome | Exception, tell: Callable[[Run], None] | None = None) -> None:
        self.outcome, self.tell = outcome, tell

    def _solve(self, run: Run) -> Outcome:
        if self.tell is not None:
            self.tell(run)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def says(ending: Ending, x: np.ndarray | None, bound: float) -> Outcome:
    return Outcome(ending, x, bound, "in its own words")


SCRIPT = """
import os, signal, sys, threading
import numpy as np
from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.backends import get_backend
from mip_models import market_split

name, presses = sys.argv[1], int(sys.argv[2])
model = market_split()
pressed = []

def press(point):
    if np.isfinite(point.objective) and not pressed:
        pressed.append(True)
        if presses == 1:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

result = get_backend(name).solve(model, Budget(on_progress=press))
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert model.violation(result.x) < 1e-6 and result.bound <= model.objective(result.x)
print("stopped:", result.stop)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("Ctrl-C is Python's again")
"""


def run_script(name: str, presses: int) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, name, str(presses)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": paths},
    )


every_backend = pytest.mark.parametrize(
    "name",
    [
        pytest.param("highs"),
        pytest.param("gurobi", marks=pytest.mark.needs("gurobi")),
        pytest.param("scip", marks=pytest.mark.needs("scip")),
    ],
)


@every_backend
def test_ctrl_c_brings_the_incumbent(name: str) -> None:
    done = run_script(name, 1)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["stopped: interrupted", "Ctrl-C is Python's again"]
    assert done.returncode == 0


@every_backend
def test_a_second_ctrl_c_gives_up_without_a_crash(name: str) -> None:
    done = run_script(name, 2)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    # Python ends with the signal itself after an interrupt; a solver that calls back too late would abort instead.
    assert done.returncode in (-signal.SIGINT, 130)


def test_another_handler_of_ctrl_c_is_left_alone() -> None:
    heard: list[int] = []

    def hear(number: int, frame: Any) -> None:
        heard.append(number)

    before = signal.signal(signal.SIGINT, hear)
    try:
        budget = Budget()
        with ctrl_c_cancels(budget):
            signal.raise_signal(signal.SIGINT)
        assert heard == [signal.SIGINT]
        assert not budget.cancelled
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_cancels_and_the_handler_returns() -> None:
    budget = Budget()
    with ctrl_c_cancels(budget):
        signal.raise_signal(signal.SIGINT)
        assert budget.cancelled
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_outside_the_main_thread_no_handler_is_touched() -> None:
    seen: list[Any] = []

    def enter() -> None:
        with ctrl_c_cancels(Budget()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_deaf_solver_is_left_behind_with_what_it_told(cancelled: bool) -> None:
    model, _ = knapsack()
    release = threading.Event()

    def tell_and_sleep(run: Run) -> None:
        run.find(NEXT)
        run.prove(-100.0)
        release.wait()

    budget = Budget(time_limit=None if cancelled else 0.2)
    if cancelled:
        threading.Timer(0.2, budget.cancel).start()
    result = Scripted(says(Ending.OPTIMAL, BEST, -90.0), tell_and_sleep).solve(model, budget)
    release.set()
    assert result.x is not None
    assert result.x.tolist() == NEXT.tolist()
    assert result.bound == -100.0
    assert result.stop is (Stop.INTERRUPTED if cancelled else Stop.TIME_LIMIT)
    assert "did not answer in time" in result.message


def test_a_deaf_solver_that_told_nothing_leaves_the_start() -> None:
    release = threading.Event()
    model = market_split()
    start = one_sided_start(model)

    def sleep(run: Run) -> None:
        release.wait()

    deaf = Scripted(says(Ending.STOPPED, None, -np.inf), sleep)
    result = deaf.solve(model, Budget(time_limit=0.1), start=start)
    bare = deaf.solve(model, Budget(time_limit=0.1))
    release.set()
    assert result.x is not None
    assert model.objective(result.x) == model.objective(start)
    # Of the split every variable at its better bound is known without a solver: nothing missed, and the offset.
    assert (bare.x, bare.bound, bare.infeasible) == (None, 10.0, False)


def test_a_solver_that_raises_is_heard() -> None:
    model, _ = knapsack()
    with pytest.raises(SolverError, match="out of memory"):
        Scripted(SolverError("out of memory")).solve(model, Budget())


@pytest.mark.parametrize(
    ("outcome", "start", "complaint"),
    [
        (says(Ending.OPTIMAL, np.ones(4), -130.0), None, "breaks 'weight_0' of the model by 8"),
        (says(Ending.OPTIMAL, NEXT, -70.0), BEST, "nothing is below -70, but a point with -90 is known"),
        (says(Ending.INFEASIBLE, None, np.inf), BEST, "infeasible, but a point keeps every row"),
    ],
)
def test_a_wrong_claim_is_an_error(outcome: Outcome, start: np.ndarray | None, complaint: str) -> None:
    model, _ = knapsack()
    with pytest.raises(DisagreementError, match=complaint):
        Scripted(outcome).solve(model, Budget(), start=start)


def test_an_optimum_without_a_point_is_an_error() -> None:
    model, _ = knapsack()
    with pytest.raises(SolverError, match="has no point"):
        Scripted(says(Ending.OPTIMAL, None, -90.0)).solve(model, Budget())


def test_a_start_that_was_not_taken_is_said() -> None:
    model, _ = knapsack()
    solver = Scripted(says(Ending.STOPPED, NEXT, -100.0), lambda run: run.find(NEXT))
    with pytest.warns(RuntimeWarning, match="did not take the start: its first point has -70, the start -90"):
        result = solver.solve(model, Budget(), start=BEST)
    assert result.x is not None
    assert model.objective(result.x) == -90.0


def test_points_and_bounds_that_are_none_are_not_believed() -> None:
    model, _ = knapsack()

    def tell(run: Run) -> None:
        run.find(np.ones(4))
        run.find(np.full(4, np.nan))
        run.prove(np.nan)
        run.prove(-1e20)
        run.prove(1e100)

    result = Scripted(says(Ending.STOPPED, None, -1e100), tell).solve(model, Budget())
    assert (result.x, result.bound, result.stop) == (None, model.box_bound(), Stop.INTERRUPTED)


def test_a_bound_a_hair_above_the_point_is_lowered_to_it() -> None:
    model, _ = knapsack()
    result = Scripted(says(Ending.OPTIMAL, BEST + 1e-10, -90.0 + 1e-9)).solve(model, Budget())
    assert result.x is not None
    assert result.x.tolist() == BEST.tolist()
    assert result.bound == -90.0
    assert result.stop is Stop.FINISHED


def test_progress_is_told_in_the_callers_thread() -> None:
    threads: set[str] = set()

    def note(point: TracePoint) -> None:
        threads.add(threading.current_thread().name)

    model, _ = knapsack()
    Scripted(says(Ending.OPTIMAL, BEST, -90.0), lambda run: run.find(NEXT)).solve(model, Budget(on_progress=note))
    assert threads == {threading.current_thread().name}
