"""How an exact search ends: run until it is done or stopped, then turn what it reached into a claim that is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evenleaf.problem import Problem, Score
from evenleaf.solve.budget import Budget
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.result import PROOF_TOLERANCE, Solution, Status, Stop, confirm
from evenleaf.tree import Tree


@dataclass(frozen=True)
class Reached:
    """What a search has when it ends, in the units of the problem; `unfinished`: something is still open."""

    tree: Tree | None
    objective: float
    bound: float
    unfinished: bool
    words: str


def run(search: Callable[[], None], budget: Budget) -> None:
    """Ctrl-C ends a search as the budget's own cancel does: with the best so far."""
    try:
        search()
    except KeyboardInterrupt:
        budget.cancel()


def conclude(
    problem: Problem, budget: Budget, name: str, reached: Reached, certificate: Callable[[Score], Certificate | None]
) -> Solution:
    """The answer as `Problem.evaluate` confirms it; proven only where the bound meets it."""
    stop = Stop.FINISHED
    if budget.cancelled:
        stop = Stop.INTERRUPTED
    elif reached.unfinished:
        stop = Stop.TIME_LIMIT if budget.remaining <= 0 else Stop.GAP
    if reached.tree is None:
        return Solution(None, None, max(reached.bound, 0.0), Status.UNKNOWN, stop, name, budget.seconds)
    score = confirm(problem, reached.tree, reached.objective)
    proven = score.objective - reached.bound <= PROOF_TOLERANCE
    return Solution(
        reached.tree,
        score,
        score.objective if proven else max(reached.bound, 0.0),
        Status.PROVEN if proven else Status.FEASIBLE,
        stop,
        name,
        budget.seconds,
        tuple(budget.trace),
        message=reached.words,
        certificate=certificate(score) if proven else None,
    )
