"""Local search: from a good tree to better ones, one test or one set of leaves at a time, with chance kicks.

It is for the linear classes at sizes that no program closes (ALGORITHM §8), and for first incumbents elsewhere.
Its tree is never worse than its start; how far from the best it may be is told only by the bound that it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenleaf.problem import Misclassification, Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.local.descent import Descent
from evenleaf.solve.result import Solution, Status, Stop
from evenleaf.tree import Tree


@dataclass(frozen=True)
class LocalSearch:
    """Improves a tree until `patience` kicks in a row have not helped, or the budget is spent."""

    patience: int = 20
    name = "local"

    def accepts(self, problem: Problem) -> bool:  # noqa: ARG002
        """Any problem: every shape, loss, notion and form."""
        return True

    def solve(
        self, problem: Problem, budget: Budget, start: Tree | None = None, *, lower_bound: float = -np.inf
    ) -> Solution:
        """The best tree found. `lower_bound` is one that the caller has proven for this very problem.

        (A bound for single-feature trees is none for linear ones, which may be better.) Ctrl-C ends the search,
        not the answer.
        """
        search = Descent(problem, budget, max(trivial_bound(problem), lower_bound))
        interrupted = False
        try:
            # Many small products: threads that wait for each other would only slow them down.
            with threadpool_limits(budget.threads):
                search.run(start, self.patience)
        except KeyboardInterrupt:
            interrupted = True
        return _solution(search, budget, _why(search, budget, interrupted=interrupted))


def trivial_bound(problem: Problem) -> float:
    """What the loss cannot be below: everybody is given what costs least for them."""
    if not isinstance(problem.loss, Misclassification):
        return 0.0
    # Added up as the loss is, so that a tree which gives everybody just that is not below it by a rounding.
    return float((problem.people.share * problem.loss.table(problem.people.outcome).min(axis=1)).sum())


def _why(search: Descent, budget: Budget, *, interrupted: bool) -> Stop:
    if interrupted or budget.cancelled:
        return Stop.INTERRUPTED
    if search.gap_reached:
        return Stop.GAP
    return Stop.TIME_LIMIT if budget.exhausted else Stop.HEURISTIC


def _solution(search: Descent, budget: Budget, stop: Stop) -> Solution:
    name, trace, bound = LocalSearch.name, tuple(budget.trace), search.bound
    if search.best is None:
        message = "no tree that keeps the limits was found, and local search cannot tell whether there is one"
        return Solution(None, None, bound, Status.UNKNOWN, stop, name, budget.seconds, trace, message)
    score, tree = search.best
    message = (
        "found by local search, which proves nothing by itself: "
        f"all that is known of other trees is that none is below {bound:.6g}"
    )
    return Solution(tree, score, bound, Status.FEASIBLE, stop, name, budget.seconds, trace, message)
