"""The suite that every solver passes, ours and anybody else's.

    from evenleaf.testing import check_solver
    check_solver(lambda problem, budget: MySolver().solve(problem, budget))

It gives the solver every problem on the shelf, twice, and believes nothing: the tree is evaluated again, the
bound is held against the known optimum, and the people must be as they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem, Score
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import PROOF_TOLERANCE, Solution, Status
from evenleaf.testing.brute import brute_force
from evenleaf.testing.entry import ShelfProblem
from evenleaf.testing.shelf import SHELF
from evenleaf.tree import tree_from_json, tree_to_json

Solve = Callable[[Problem, Budget], Solution]


def check_solver(
    solve: Solve,
    accepts: Callable[[Problem], bool] = lambda _: True,
    *,
    exact: bool = True,
    problems: Sequence[ShelfProblem] = SHELF,
    make_budget: Callable[[], Budget] = Budget,
) -> int:
    """Run a solver on the shelf and raise an `AssertionError` that names every problem it gets wrong.

    Problems that `accepts` refuses are left out; accepting none is a failure too. `exact=False` is for heuristics:
    they may return a worse tree, but must not lie about it. Returns how many problems were answered.
    """
    complaints: list[str] = []
    answered = 0
    for entry in problems:
        if accepts(entry.build()):
            answered += 1
            found = entry_complaints(solve, entry, exact=exact, make_budget=make_budget)
            complaints += [f"{entry.name}: {complaint}" for complaint in found]
    if answered == 0:
        complaints.append("the solver accepts none of the problems")
    if complaints:
        listed = "\n  ".join(complaints)
        raise AssertionError(f"{len(complaints)} complaints about {answered} problems:\n  {listed}")
    return answered


def check_against_brute_force(solve: Solve, problem: Problem, *, exact: bool = True) -> None:
    """Hold a solver's answer to any tiny problem against brute force; raise an `AssertionError` where it is wrong."""
    truth = brute_force(problem)
    solution = solve(problem, Budget())
    complaints = list(answer_complaints(problem, solution, truth.objective, truth.status, exact=exact))
    if complaints:
        best = f"\nthe best tree, {truth.objective:.9g}:\n{truth.tree}" if truth.tree is not None else ""
        raise AssertionError("\n".join(complaints) + best)


def entry_complaints(
    solve: Solve, entry: ShelfProblem, *, exact: bool = True, make_budget: Callable[[], Budget] = Budget
) -> list[str]:
    """All that is wrong with a solver's two answers to one problem of the shelf."""
    problem = entry.build()
    before = _snapshot(problem)
    try:
        first, second = solve(problem, make_budget()), solve(entry.build(), make_budget())
    except Exception as error:  # whatever a stranger's solver raises is a complaint about it
        return [f"it raised {type(error).__name__}: {error}"]
    complaints = list(answer_complaints(problem, first, entry.objective, entry.status, exact=exact))
    if before != _snapshot(problem):
        complaints.append("the solver changed the problem it was given")
    if first.tree != second.tree:
        complaints.append(f"two runs gave different trees:\n{first.tree}\n  and\n{second.tree}")
    return complaints


def answer_complaints(
    problem: Problem, solution: Solution, optimum: float, status: Status, *, exact: bool = True
) -> Iterator[str]:
    """All that is wrong with one answer, given the true optimum (infinite where no tree keeps the limits)."""
    if exact and solution.status is not status:
        yield f"the status is {solution.status!s}, not {status!s}"
    if not solution.bound <= optimum + _tolerance(optimum):  # NaN is refused too
        yield f"the bound {solution.bound:.9g} is above the optimum {optimum:.9g}"
    if solution.tree is None:
        yield from _complaints_without_tree(solution, status)
        return
    try:
        truth = problem.evaluate(solution.tree)
    except InputError as error:
        yield f"the tree cannot be evaluated: {error}"
        return
    yield from (f"the tree breaks a limit: {violation}" for violation in truth.violations)
    yield from _complaints_about_score(solution.score, truth)
    if solution.status not in (Status.PROVEN, Status.FEASIBLE):
        yield f"there is a tree, but the status is {solution.status!s}"
    if truth.feasible:
        yield from _complaints_about_optimality(solution, truth.objective, optimum, exact=exact)
    if tree_from_json(json.loads(json.dumps(tree_to_json(solution.tree)))) != solution.tree:
        yield "the tree is not the same after it was written as JSON and read back"


def _complaints_without_tree(solution: Solution, status: Status) -> Iterator[str]:
    if solution.status in (Status.PROVEN, Status.FEASIBLE):
        yield f"the status is {solution.status!s}, but there is no tree"
    if solution.status is Status.INFEASIBLE and status is not Status.INFEASIBLE:
        yield "the problem was called infeasible, but it is not"
    if solution.score is not None:
        yield "there is a score, but no tree"


def _complaints_about_score(claimed: Score | None, truth: Score) -> Iterator[str]:
    if claimed is None:
        yield "there is a tree, but no score"
        return
    for name in ("objective", "loss", "discrimination"):
        said, true = getattr(claimed, name), getattr(truth, name)
        if not abs(said - true) <= _tolerance(true):
            yield f"the {name} is said to be {said:.9g}, but the tree has {true:.9g}"


def _complaints_about_optimality(solution: Solution, objective: float, optimum: float, *, exact: bool) -> Iterator[str]:
    slack = _tolerance(optimum)
    if objective < optimum - slack:
        yield f"the tree has {objective:.9g}, better than the optimum {optimum:.9g}: the known optimum is wrong"
    if (exact or solution.proven) and objective > optimum + slack:
        yield f"the tree has {objective:.9g}, but the optimum is {optimum:.9g}"
    if solution.proven and not solution.bound >= objective - slack:
        yield f"it is called proven, but the bound {solution.bound:.9g} does not reach {objective:.9g}"


def _tolerance(value: float) -> float:
    return PROOF_TOLERANCE * max(1.0, abs(value)) if np.isfinite(value) else 0.0


def _snapshot(problem: Problem) -> tuple[Any, ...]:
    """Everything about a problem that a careless solver could write to, as bytes."""
    people, disparity = problem.people, problem.disparity
    arrays = [
        *people.features.data,
        people.outcome.values,
        people.weight,
        *(group.codes for group in people.groups),
        disparity.matrix.data,
        disparity.matrix.indices,
        disparity.matrix.indptr,
        disparity.weight,
    ]
    settings = (problem.loss, problem.shape, problem.fairness_weight, problem.max_discrimination)
    return (*settings, *(array.tobytes() for array in arrays))
