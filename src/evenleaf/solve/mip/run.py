"""One run of a solver: what is asked, what it has said so far, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.result import relative_gap

# What counts as rounding; the absolute gap that solvers are asked to close is this small too.
ROUNDING = 1e-9
# A point is believed that breaks the model by no more than this: presolve undone in floating point loses a little.
POINT_TOLERANCE = 1e-6
# A solver that is told of the deadline stops by itself and says so in its own words; past this it is interrupted.
OVERTIME_SECONDS = 0.25
# Every solver at hand writes infinity as a number of at least this size.
INFINITY = 1e20


class SolverError(RuntimeError):
    """A mixed-integer solver failed; the message holds its own words."""


class LicenceError(SolverError):
    """A mixed-integer solver is installed, but its licence does not allow this model; the message says what to do."""


class Ending(Enum):
    """How a solver's own run ended."""

    OPTIMAL = auto()  # solved to the gap that was asked for
    INFEASIBLE = auto()
    UNDECIDED = auto()  # infeasible, or unbounded: solvers often do not tell these apart
    STOPPED = auto()  # a limit or an interrupt


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver said when it returned: how it ended, its best point, its lower bound, its own words."""

    ending: Ending
    x: np.ndarray | None
    bound: float
    message: str


def ending_of(solver: str, status: str, endings: dict[str, Ending]) -> Ending:
    """How the run ended, by the solver's own status; one that is not a known end is a failure."""
    if status not in endings:
        raise SolverError(f"{solver} failed, and says: {status}")
    return endings[status]


class Run:
    """What is asked of a solver, and the slate its callbacks write on.

    The solver works in a thread of its own. It calls `prove` and `find`; the caller's thread reads. Nothing here
    calls the user's code, so no exception of theirs can unwind through a solver. Once abandoned, what a solver left
    behind still says comes too late and is not written down.
    """

    def __init__(
        self,
        model: LinearModel,
        budget: Budget,
        start: np.ndarray | None,
        options: dict[str, Any] | None,
        scale: float = 1.0,
    ) -> None:
        self.model, self.budget, self.start, self.scale = model, budget, start, scale
        self.options = dict(options or {})
        self.bound, self.objective = -np.inf, np.inf
        self.x: np.ndarray | None = None
        self.first_found: float | None = None
        self.abandoned = False
        self.interrupt: Callable[[], None] = lambda: None
        self.news = threading.Event()
        self._lock = threading.Lock()
        self.prove(model.box_bound())
        if start is not None:
            self._keep(start, model.objective(start))

    @property
    def stopping(self) -> bool:
        """Whether the solver should stop now, though its own clock may not say so: its callbacks ask."""
        budget = self.budget
        overdue = budget.time_limit is not None and budget.seconds > budget.time_limit + OVERTIME_SECONDS
        return self.abandoned or budget.cancelled or overdue or self.gap_reached

    @property
    def gap_reached(self) -> bool:
        """Whether the bound is as near as was asked: solvers measure a gap each in their own way, this is ours."""
        known = np.isfinite(self.bound) and np.isfinite(self.objective)
        return self.budget.gap > 0 and known and relative_gap(self.objective, self.bound) <= self.budget.gap

    @property
    def seed(self) -> int:
        """The seed, in the range that every solver takes."""
        return self.budget.seed % 2_000_000_000

    def prove(self, bound: float) -> None:
        """Take note of a lower bound on every point, in the units of the model and with its offset."""
        if not self.abandoned and bound > self.bound and abs(bound) < INFINITY:
            self.bound = float(bound)
            self.news.set()

    def find(self, x: np.ndarray) -> None:
        """Take note of a point, if it keeps the model and beats what is known."""
        x = tidy(self.model, x)
        if self.model.violation(x) > POINT_TOLERANCE:
            return
        objective = self.model.objective(x)
        if self.first_found is None:
            self.first_found = objective
        self._keep(x, objective)

    def report(self) -> None:
        """Pass on what is known, in the caller's units; only ever called in the caller's thread."""
        self.budget.report(self.bound * self.scale, self.objective * self.scale)

    def _keep(self, x: np.ndarray, objective: float) -> None:
        with self._lock:
            if objective < self.objective and not self.abandoned:
                self.x, self.objective = x, objective
                self.news.set()


class QuietRun(Run):
    """A run on the side, whose bounds and points mean nothing to whoever follows the budget."""

    def report(self) -> None:
        """Say nothing."""


def tidy(model: LinearModel, x: np.ndarray) -> np.ndarray:
    """The point with its whole numbers made whole and its bounds kept to the letter, where no row suffers from it."""
    x = np.asarray(x, dtype=float).copy()
    whole = np.clip(np.where(model.integer, np.round(x), x), model.lower, model.upper)
    return whole if model.violation(whole) <= max(model.violation(x), ROUNDING) else x
