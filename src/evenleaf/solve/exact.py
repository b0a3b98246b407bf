"""The exact search for either task: classes by `solve/search`, numbers by `solve/values`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import Solution
from evenleaf.solve.search import SearchSolver
from evenleaf.tree import Tree

if TYPE_CHECKING:
    from evenleaf.solve.values import ValueSolver


class ExactSearch:
    """Hands a problem to the search that is made for its outcome."""

    name = "search"

    def __init__(self, certificate: bool = True, memory: float | None = None) -> None:
        self.classes = SearchSolver(certificate, memory)

    def accepts(self, problem: Problem) -> bool:
        """Whether the search for its outcome takes it on."""
        return self._fitting(problem).accepts(problem)

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The answer of the search for its outcome."""
        return self._fitting(problem).solve(problem, budget, start)

    def _fitting(self, problem: Problem) -> SearchSolver | ValueSolver:
        if problem.people.outcome.classes is not None:
            return self.classes
        from evenleaf.solve.values import ValueSolver  # takes a while, so only where numbers are decided

        return ValueSolver(self.classes.certificate, self.classes.memory)
