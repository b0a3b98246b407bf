"""One deadline, one way to report progress, one way to be cancelled: shared by every solver."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evenleaf.errors import InputError
from evenleaf.solve.result import TracePoint

OnProgress = Callable[[TracePoint], None]


@dataclass
class Budget:
    """How long a solver may take, how exact it must be, and whom to tell.

    The clock starts when the budget is made. `gap` is relative: a solver may stop once it is reached.
    `n_jobs` counts as in scikit-learn: −1 is every core, −2 every core but one.
    """

    time_limit: float | None = None
    gap: float = 0.0
    n_jobs: int = 1
    seed: int = 0
    on_progress: OnProgress | None = None
    started: float = field(default_factory=time.perf_counter)
    trace: list[TracePoint] = field(default_factory=list)
    cancelled: bool = False

    def __post_init__(self) -> None:
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit must be a positive number of seconds, not {self.time_limit}")
        if not np.isfinite(self.gap) or self.gap < 0:
            raise InputError(f"gap must be a number of at least 0, not {self.gap}")
        if self.n_jobs == 0:
            raise InputError("n_jobs must not be 0: give the number of cores, or −1 for all of them")

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return time.perf_counter() - self.started

    @property
    def remaining(self) -> float:
        """Time left, infinite without a limit."""
        return np.inf if self.time_limit is None else max(0.0, self.time_limit - self.seconds)

    @property
    def exhausted(self) -> bool:
        """Whether to stop now: out of time, or cancelled."""
        return self.cancelled or self.remaining <= 0

    @property
    def threads(self) -> int:
        """How many threads `n_jobs` stands for on this machine, at least one."""
        if self.n_jobs > 0:
            return self.n_jobs
        return max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    def cancel(self) -> None:
        """Ask the solver to stop and return its best so far."""
        self.cancelled = True

    def report(self, bound: float, objective: float) -> None:
        """Record what is known now, and pass it on; the trace keeps only news.

        What is known never gets worse: a bound once proven stays, and so does a point once found, whatever order
        the news come in. A number that is not one (NaN) says nothing.
        """
        point = self._point(float(bound), float(objective))
        if not self.trace or (point.bound, point.objective) != (self.trace[-1].bound, self.trace[-1].objective):
            self.trace.append(point)
        if self.on_progress is not None:
            self.on_progress(point)

    def _point(self, bound: float, objective: float) -> TracePoint:
        bound = -np.inf if math.isnan(bound) else bound
        objective = np.inf if math.isnan(objective) else objective
        if self.trace:
            bound, objective = max(bound, self.trace[-1].bound), min(objective, self.trace[-1].objective)
        # Rounding may put a bound a hair above the point that it proves optimal; the point is the truth.
        return TracePoint(self.seconds, min(bound, objective), objective)
