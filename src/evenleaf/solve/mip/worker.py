"""A solver runs in a thread of its own, so that Ctrl-C, the deadline and `cancel` are heard while it works.

Some solvers are deaf for minutes: HiGHS and SCIP ask nobody while they solve a large root relaxation. Such a run is
left behind after a moment's grace: the best point and bound it told so far are the answer, and it stops by itself
when it next asks.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

from evenleaf.solve.interrupt import ctrl_c_cancels
from evenleaf.solve.mip.run import Outcome, Run

# How long a solver may take to hear that it should stop, and how often it is told.
GRACE_SECONDS = 1.0
POLL_SECONDS = 0.05
# How often progress is reported when there is no news, so that a clock on the screen goes on.
HEARTBEAT_SECONDS = 0.5

_at_work: set[Worker] = set()


class Worker(threading.Thread):
    """The thread of one run. A daemon, so that a deaf solver cannot keep the process from ending."""

    def __init__(self, call: Callable[[Run], Outcome], run: Run) -> None:
        super().__init__(name="evenleaf-mip", daemon=True)
        self.call, self.job = call, run
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None
        self.finished = threading.Event()

    def run(self) -> None:
        """Run the solver; its outcome or its error waits for the caller, who raises it again."""
        try:
            self.outcome = self.call(self.job)
        except BaseException as error:
            self.error = error
        finally:
            _at_work.discard(self)
            self.finished.set()
            self.job.news.set()

    def leave(self) -> None:
        """Tell the solver to stop, wait for a moment, and leave it behind if it does not hear."""
        self.job.abandoned = True
        self.job.interrupt()
        self.finished.wait(GRACE_SECONDS)


def run_in_thread(call: Callable[[Run], Outcome], run: Run) -> Outcome | None:
    """The solver's outcome, or None where it had to be left behind; what it told is in the run either way."""
    worker = Worker(call, run)
    _at_work.add(worker)
    with ctrl_c_cancels(run.budget) as take_back_ctrl_c:
        worker.start()
        try:
            _watch(worker, take_back_ctrl_c)
        except BaseException:
            worker.leave()
            raise
    if worker.error is not None:
        raise worker.error
    # An answer in the very moment of leaving comes too late: the run has stopped listening.
    return None if run.abandoned else worker.outcome


def _watch(worker: Worker, take_back_ctrl_c: Callable[[], None]) -> None:
    run, spoke = worker.job, time.monotonic()
    stop_asked: float | None = None
    while not worker.finished.is_set():
        told = run.news.wait(POLL_SECONDS)
        run.news.clear()
        take_back_ctrl_c()
        if told or time.monotonic() - spoke > HEARTBEAT_SECONDS:
            run.report()
            spoke = time.monotonic()
        if run.stopping:
            stop_asked = time.monotonic() if stop_asked is None else stop_asked
            run.interrupt()
            if time.monotonic() - stop_asked > GRACE_SECONDS:
                run.abandoned = True
                return


@atexit.register
def _stop_all() -> None:
    """Stop what still runs when Python ends: a callback into a dead interpreter would abort the process."""
    for worker in tuple(_at_work):
        worker.leave()
