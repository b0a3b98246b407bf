"""What a mixed-integer solver must offer: one small file each, known without being imported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.judge import MipResult, judge
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.run import (
    POINT_TOLERANCE,
    ROUNDING,
    Ending,
    LicenceError,
    Outcome,
    QuietRun,
    Run,
    SolverError,
    tidy,
)
from evenleaf.solve.mip.worker import run_in_thread

__all__ = ["Backend", "LicenceError", "MipResult", "SolverError"]


class Backend(ABC):
    """A mixed-integer solver. Availability is asked by `find_spec`, the licence by a probe.

    A subclass names its package, says what it can do, and writes `_solve`; everything that must hold for every
    solver (starts, deadlines, Ctrl-C, progress, checks of the answer) is done here once.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str]
    parallel: ClassVar[bool]  # whether `n_jobs` has an effect
    needs_licence: ClassVar[bool]  # whether some models need a licence that does not come with the package

    @classmethod
    def installed(cls) -> bool:
        """Whether the package is there, found out without importing it."""
        return find_spec(cls.package) is not None

    @classmethod
    def require(cls) -> None:
        """Raise, naming the command that installs the package, where it is missing."""
        if not cls.installed():
            what = f"evenleaf[{cls.extra}]" if cls.extra else cls.package
            raise MissingExtraError(f"the solver {cls.name!r} needs the package {cls.package!r}: pip install '{what}'")

    @classmethod
    def load(cls) -> Any:
        """The package itself, imported when a model is solved and not before."""
        cls.require()
        return import_module(cls.package)

    @classmethod
    def licence_problem(cls, model: LinearModel) -> str | None:  # noqa: ARG003
        """Why the licence at hand cannot solve this model, or None where it can."""
        return None

    def solve(
        self,
        model: LinearModel,
        budget: Budget,
        start: np.ndarray | None = None,
        options: dict[str, Any] | None = None,
        *,
        scale: float = 1.0,
    ) -> MipResult:
        """Solve within the budget; a full point may be given as a start, and must be taken or refused loudly.

        `options` are the solver's own, by its own names; they win over what this library sets. The answer is
        checked against the model by code that no solver shares, and is never worse than the start. The result is in
        the units of the model; progress is told to the budget as the model's objective times `scale`.
        """
        self.require()
        run = Run(model, budget, _checked_start(model, start), options, scale)
        result = judge(self.name, run, _known_beforehand(model) or self._ask(run))
        budget.report(result.bound * scale, run.objective * scale)
        return result

    @abstractmethod
    def _solve(self, run: Run) -> Outcome:
        """Solve `run.model` in the present thread, telling `run` of every bound and point on the way."""

    def _ask(self, run: Run) -> Outcome | None:
        problem = self.licence_problem(run.model)
        if problem is not None:
            raise LicenceError(problem)
        outcome = run_in_thread(self._solve, run)
        if outcome is None or outcome.ending is not Ending.UNDECIDED:
            return outcome
        return self._tell_apart(run, outcome)

    def _tell_apart(self, run: Run, outcome: Outcome) -> Outcome:
        """Infeasible or unbounded? Without costs nothing is unbounded, so the same rows decide."""
        free = replace(run.model, cost=np.zeros(run.model.n_variables), offset=0.0)
        aside = QuietRun(free, run.budget, None, run.options)
        decided = run_in_thread(self._solve, aside)
        if aside.x is not None or (decided is not None and decided.ending is Ending.OPTIMAL):
            raise SolverError(f"{self.name}: the model is unbounded, its objective has no minimum ({outcome.message})")
        if decided is not None and decided.ending is Ending.INFEASIBLE:
            return replace(decided, message=f"{outcome.message}; without costs: {decided.message}")
        return replace(outcome, ending=Ending.STOPPED, x=None, bound=-np.inf)


def _checked_start(model: LinearModel, start: np.ndarray | None) -> np.ndarray | None:
    if start is None:
        return None
    start = np.asarray(start, dtype=float)
    if start.shape != (model.n_variables,):
        raise InputError(f"the start must be a full point of {model.n_variables} values, not of shape {start.shape}")
    amount, where = model.worst_break(start)
    if amount > POINT_TOLERANCE:
        raise InputError(f"the start is not a point of the model: it breaks {where!r} by {amount:.3g}")
    return tidy(model, start)


def _known_beforehand(model: LinearModel) -> Outcome | None:
    """What needs no solver, and what some solvers would trip over: bounds that cross, and nothing to choose."""
    crossing = model.crossing_bounds()
    if crossing is not None:
        return Outcome(Ending.INFEASIBLE, None, np.inf, f"infeasible: the bounds of {crossing} cross")
    if model.n_variables:
        return None
    amount, where = model.worst_break(np.zeros(0))
    if amount > ROUNDING:
        return Outcome(Ending.INFEASIBLE, None, np.inf, f"infeasible: there are no variables, yet {where} asks for one")
    return Outcome(Ending.OPTIMAL, np.zeros(0), model.offset, "optimal: there are no variables")
