"""One door to all solvers: `solve(problem)`. "auto" takes an exact method wherever one is of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import Solution
from evenleaf.solve.ties import settled
from evenleaf.table import find_name
from evenleaf.tree import Tree

SolverName = Literal["auto", "fronts", "search", "mip", "local", "greedy"]


class Solver(Protocol):
    """What every solver offers; `evenleaf.testing.check_solver` checks the rest."""

    name: str

    def accepts(self, problem: Problem) -> bool:
        """Whether the solver can answer this problem as it claims to."""

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The answer within the budget, at least as good as the start."""


def _search(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.exact import ExactSearch  # compiles kernels, so only when it is asked for

    return ExactSearch(**options)


def _fronts(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.fronts import FrontSolver  # compiles kernels, so only when it is asked for

    return FrontSolver(**options)


def _mip(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.mip.solve import MipSolver

    return MipSolver(**options)


def _linear_leaves(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.values.linear import LinearLeafSearch  # compiles kernels, so only when it is asked for

    return LinearLeafSearch(**options)


def _local(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.local import LocalSearch

    return LocalSearch(**options)


def _greedy(options: Mapping[str, Any]) -> Solver:
    from evenleaf.solve.greedy import GreedySolver

    return GreedySolver(**options)


SOLVERS: dict[str, Callable[[Mapping[str, Any]], Solver]] = {
    "fronts": _fronts,
    "search": _search,
    "mip": _mip,
    "local": _local,
    "greedy": _greedy,
}
_EXACT = ("search", "mip")  # in the order in which auto tries them
# Beyond this many people with linear leaves the mixed-integer program ends with no bound worth having: a search that
# starts from the proven optimum with constant leaves finds better trees in seconds, and says that it proves nothing.
_MOST_LINEAR = 100
_FEW_ROWS = 8  # with at most this many absolute values in D, fronts of (loss, disparities) stay short


def get_solver(name: str, problem: Problem, options: Mapping[str, Any] | None = None) -> Solver:
    """The solver by name, or for "auto" the first exact one that accepts the problem.

    Regression trees with linear leaves for many people are the exception: see `LinearLeafSearch`.
    """
    if name == "auto":
        if options:
            raise InputError("solver_options need a solver: say which one they are for, for example solver='mip'")
        if _many_linear_leaves(problem):
            linear = _linear_leaves({})
            if linear.accepts(problem):
                return linear
        names = ("fronts", *_EXACT) if _few_rows(problem) else _EXACT
        return next(solver for solver in (SOLVERS[exact]({}) for exact in names) if solver.accepts(problem))
    if name not in SOLVERS:
        find_name(name, ["auto", *SOLVERS], what="solver")
    try:
        solver = SOLVERS[name](options or {})
    except TypeError as error:
        raise InputError(f"the {name} solver does not take these options: {error}") from error
    if not solver.accepts(problem):
        raise InputError(f"the {name} solver cannot answer this problem exactly as asked; use solver='auto' or 'mip'")
    return solver


def _few_rows(problem: Problem) -> bool:
    """Parity and the error-rate notions between few groups."""
    classes = problem.people.outcome.classes is not None
    return classes and 0 < int((problem.simplified.weight > 0).sum()) <= _FEW_ROWS


def _many_linear_leaves(problem: Problem) -> bool:
    """Linear leaves for more numbers than the mixed-integer program can say anything useful about."""
    numbers = problem.people.outcome.classes is None
    return numbers and problem.shape.leaves == "linear" and problem.people.n_people > _MOST_LINEAR


def solve(
    problem: Problem,
    budget: Budget | None = None,
    *,
    solver: SolverName | str = "auto",
    start: Tree | None = None,
    options: Mapping[str, Any] | None = None,
) -> Solution:
    """Answer a problem. The clock runs from the moment the budget was made, or from now.

    Of equally good trees the one that `ties.py` prefers is the answer, whichever solver found it.
    """
    return settled(problem, get_solver(solver, problem, options).solve(problem, budget or Budget(), start))
