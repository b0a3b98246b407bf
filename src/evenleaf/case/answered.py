"""From a file to its answer: one tree for a λ or ε, the whole trade-off, or both for a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenleaf.case.answer import Answer
from evenleaf.case.opened import Case, open_case
from evenleaf.case.question import Question
from evenleaf.case.watch import OnScore, Undominated, WatchedProblem, only_better
from evenleaf.fairness import Progress
from evenleaf.solve import Budget, Frontier, FrontierPoint, Solution, Status, frontier, solve
from evenleaf.solve.interrupt import ctrl_c_cancels
from evenleaf.tree import Tree

OnSolved = Callable[[int, int], None]
OnOpened = Callable[[Case], None]


@dataclass(frozen=True, eq=False)
class Answered:
    """A case with its answer: `solution` for one λ or ε, `frontier` for every λ; at least one of them is there.

    `fresh` are new people to look at the trees with.
    """

    case: Case
    solution: Solution | None
    frontier: Frontier | None
    fresh: Case | None = None

    @property
    def answer(self) -> Answer:
        """The model file of the solution."""
        if self.solution is None:
            raise ValueError("a whole frontier was asked for, not one tree")
        return Answer.of(self.case, self.solution)

    @property
    def status(self) -> Status:
        """What one has: of a frontier, proven only where all of it is."""
        if self.solution is not None:
            return self.solution.status
        return Status.PROVEN if self.frontier is not None and self.frontier.proven else Status.FEASIBLE


def fit_file(
    path: str | Path,
    question: Question,
    budget: Budget | None = None,
    *,
    solver: str = "auto",
    options: Mapping[str, Any] | None = None,
    with_frontier: bool = False,
    test: str | Path | None = None,
    progress: Progress | None = None,
    on_opened: OnOpened | None = None,
    on_score: OnScore | None = None,
    on_solved: OnSolved | None = None,
) -> Answered:
    """The best tree for the question about a file; Ctrl-C once stops the search and keeps the best so far.

    `with_frontier` also solves every other λ in the time that is left, for a report to compare with.
    """
    case = open_case(path, question, progress=progress)
    fresh = _fresh(test, case, progress)
    budget = _opened(case, budget, on_opened)
    problem = case.problem if on_score is None else WatchedProblem.of(case.problem, only_better(on_score))
    with ctrl_c_cancels(budget):
        solution = solve(problem, budget, solver=solver, options=options)
    if not with_frontier or not question.fair or solution.tree is None or budget.exhausted:
        return Answered(case, solution, None, fresh)
    rest = Budget(None if budget.time_limit is None else budget.remaining, budget.gap, budget.n_jobs, budget.seed)
    found = _frontier(case, rest, solver, options, None, on_solved, [solution.tree])
    return Answered(case, solution, found, fresh)


def frontier_file(
    path: str | Path,
    question: Question,
    budget: Budget | None = None,
    *,
    solver: str = "auto",
    options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    test: str | Path | None = None,
    progress: Progress | None = None,
    on_opened: OnOpened | None = None,
    on_solved: OnSolved | None = None,
) -> Answered:
    """Every λ's best tree for the question about a file; Ctrl-C once keeps those found so far."""
    case = open_case(path, question, progress=progress)
    fresh = _fresh(test, case, progress)
    budget = _opened(case, budget, on_opened)
    return Answered(case, None, _frontier(case, budget, solver, options, n_jobs, on_solved, []), fresh)


def answer_point(
    case: Case, point: FrontierPoint, weight: float | None = None, *, budget: Budget | None = None, solver: str = "auto"
) -> Answer:
    """The model file of a point of the frontier, for a λ of its interval (by default one inside it).

    Its tree is solved once more at that λ, from itself, so that the file carries a proof for that very question.
    Where the budget does not suffice for that, the claim of the frontier stands, without a certificate.
    """
    weight = _inside(point) if weight is None else weight
    asked = case.weighing(weight)
    solution = solve(asked.problem, budget or Budget(60.0), solver=solver, start=point.tree)
    if solution.proven and solution.tree == point.tree:
        return Answer.of(asked, solution)
    return Answer.at_weight(case, point, weight)


def _inside(point: FrontierPoint) -> float:
    if math.isinf(point.weight_to):
        return 2 * point.weight_from if point.weight_from > 0 else 1.0
    return (point.weight_from + point.weight_to) / 2


def _frontier(
    case: Case,
    budget: Budget,
    solver: str,
    options: Mapping[str, Any] | None,
    n_jobs: int | None,
    on_solved: OnSolved | None,
    known: list[Tree],
) -> Frontier:
    """The trade-off. A solver answers Ctrl-C with its best; between two solves it is answered here.

    The trees seen so far are then arranged once more, without solving anything and without a claim of proof.
    """
    seen = Undominated()
    problem = WatchedProblem.of(case.problem, seen.add)
    try:
        return frontier(problem, budget, solver, options, n_jobs, known=known, on_solved=on_solved)
    except KeyboardInterrupt:
        budget.cancel()
        return frontier(case.problem, budget, solver, options, known=[*known, *seen.trees])


def _fresh(test: str | Path | None, case: Case, progress: Progress | None) -> Case | None:
    """New people, read as the first ones were and asked the same question."""
    if test is None:
        return None
    return open_case(test, case.question, schema=case.people.features.schema, progress=progress)


def _opened(case: Case, budget: Budget | None, on_opened: OnOpened | None) -> Budget:
    """Reading the table is not the solver's time: the clock starts now."""
    if on_opened is not None:
        on_opened(case)
    if budget is None:
        return Budget()
    return Budget(budget.time_limit, budget.gap, budget.n_jobs, budget.seed, budget.on_progress)
