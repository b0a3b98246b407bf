"""The exact search for either task: classes by `solve/search`, numbers by `solve/values`."""

from __future__ import annotations

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import Solution
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.values import ValueSolver
from evenleaf.tree import Tree


class ExactSearch:
    """Hands a problem to the search that is made for its outcome."""

    name = "search"

    def __init__(self, certificate: bool = True, memory: float | None = None) -> None:
        self.solvers = (SearchSolver(certificate, memory), ValueSolver(certificate, memory))

    def accepts(self, problem: Problem) -> bool:
        """Whether either search takes it on."""
        return any(solver.accepts(problem) for solver in self.solvers)

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The answer of the search that takes it on."""
        fitting = next(solver for solver in self.solvers if solver.accepts(problem))
        return fitting.solve(problem, budget, start)
