"""What a solver said, checked: its point against the model, its claims against the start, its bound against both."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from evenleaf.errors import DisagreementError
from evenleaf.solve.mip.run import POINT_TOLERANCE, Ending, Outcome, Run, SolverError, tidy
from evenleaf.solve.result import PROOF_TOLERANCE, Stop


@dataclass(frozen=True, eq=False)
class MipResult:
    """What a solver found: the best point (None where it has none), a valid lower bound, and why it stopped."""

    x: np.ndarray | None
    bound: float
    stop: Stop
    infeasible: bool
    message: str


def judge(name: str, run: Run, outcome: Outcome | None) -> MipResult:
    """The result of a run; None as outcome means that the solver was left behind."""
    _warn_of_a_start_not_taken(name, run)
    if outcome is None:
        words = f"stopped from outside: {name} did not answer in time, this is what it had told before"
        outcome = Outcome(Ending.STOPPED, None, -np.inf, words)
    if outcome.ending is Ending.INFEASIBLE:
        return _infeasible(name, run, outcome)
    if outcome.x is not None:
        _take(name, run, outcome.x)
    if outcome.ending is Ending.OPTIMAL:
        _check_claim(name, run, outcome)
    run.prove(outcome.bound)
    bound = min(run.bound, run.objective)
    return MipResult(run.x, bound, _stop(run, outcome, bound), infeasible=False, message=outcome.message)


def _infeasible(name: str, run: Run, outcome: Outcome) -> MipResult:
    if run.x is not None:
        raise DisagreementError(f"{name} calls the model infeasible, but a point keeps every row ({outcome.message})")
    return MipResult(None, np.inf, Stop.FINISHED, infeasible=True, message=outcome.message)


def _take(name: str, run: Run, x: np.ndarray) -> None:
    amount, where = run.model.worst_break(tidy(run.model, x))
    if amount > POINT_TOLERANCE:
        raise DisagreementError(f"{name} returned a point that breaks {where!r} of the model by {amount:.3g}")
    run.find(x)


def _check_claim(name: str, run: Run, outcome: Outcome) -> None:
    """An optimum must come with its point, and no point that is known may beat its bound."""
    if outcome.x is None:
        raise SolverError(f"{name} claims an optimum, but has no point ({outcome.message})")
    if outcome.bound - run.objective > PROOF_TOLERANCE * max(1.0, abs(run.objective)):
        raise DisagreementError(
            f"{name} proves that nothing is below {outcome.bound:.9g}, but a point with {run.objective:.9g} is known"
        )


def _stop(run: Run, outcome: Outcome, bound: float) -> Stop:
    if outcome.ending is Ending.OPTIMAL:
        closed = run.objective - bound <= PROOF_TOLERANCE * max(1.0, abs(run.objective))
        return Stop.FINISHED if closed else Stop.GAP
    if run.gap_reached and not run.budget.cancelled:
        return Stop.GAP
    # A limit of the user's own options (nodes, memory) is an interrupt too; the message says which.
    out_of_time = run.budget.remaining <= 0 and not run.budget.cancelled
    return Stop.TIME_LIMIT if out_of_time else Stop.INTERRUPTED


def _warn_of_a_start_not_taken(name: str, run: Run) -> None:
    """A solver that found a first point worse than the start did not take it; the answer does not suffer, time does."""
    if run.start is None or run.first_found is None:
        return
    objective = run.model.objective(run.start)
    if run.first_found > objective + PROOF_TOLERANCE * max(1.0, abs(objective)):
        warnings.warn(
            f"{name} did not take the start: its first point has {run.first_found:.6g}, the start {objective:.6g}",
            RuntimeWarning,
            stacklevel=4,
        )
