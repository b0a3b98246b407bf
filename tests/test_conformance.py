"""The suite for solvers: brute force passes it, and every way of being wrong that we could think of does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import Solution, Status, Stop
from evenleaf.testing import SHELF, brute_force, check_against_brute_force, check_solver, people_from
from evenleaf.tree import Branch, Leaf, ThresholdTest, Tree

Solve = Callable[[Problem, Budget], Solution]
SOME = [entry for entry in SHELF if entry.name in ("exclusive_or", "impact_limited", "number_impact_limited")]
INFEASIBLE = [entry for entry in SHELF if not entry.feasible]


def honest(problem: Problem, budget: Budget) -> Solution:
    return brute_force(problem)


def constant(problem: Problem) -> Tree:
    return Tree(problem.people.features.schema, problem.target, (Leaf(0.0),))


def scored(problem: Problem, tree: Tree, status: Status, bound: float | None = None) -> Solution:
    score = problem.evaluate(tree)
    return Solution(tree, score, score.objective if bound is None else bound, status, Stop.FINISHED, "wrong", 0.0)


def suboptimal_called_proven(problem: Problem, budget: Budget) -> Solution:
    return scored(problem, constant(problem), Status.PROVEN)


def bound_too_high(problem: Problem, budget: Budget) -> Solution:
    solution = brute_force(problem)
    return replace(solution, bound=solution.bound + 0.01)


def bound_not_reached(problem: Problem, budget: Budget) -> Solution:
    return replace(brute_force(problem), bound=-1.0)


def bound_not_a_number(problem: Problem, budget: Budget) -> Solution:
    return replace(brute_force(problem), bound=float("nan"))


def lying_objective(problem: Problem, budget: Budget) -> Solution:
    solution = suboptimal_called_proven(problem, budget)
    assert solution.score is not None
    best = brute_force(problem).objective
    return replace(solution, score=replace(solution.score, objective=best), bound=best)


def lying_loss(problem: Problem, budget: Budget) -> Solution:
    solution = brute_force(problem)
    assert solution.score is not None
    return replace(solution, score=replace(solution.score, loss=solution.score.loss + 0.1))


def only_feasible(problem: Problem, budget: Budget) -> Solution:
    return scored(problem, constant(problem), Status.FEASIBLE, bound=0.0)


def proven_without_tree(problem: Problem, budget: Budget) -> Solution:
    return replace(brute_force(problem), tree=None, score=None)


def called_infeasible(problem: Problem, budget: Budget) -> Solution:
    return Solution(None, None, -1.0, Status.INFEASIBLE, Stop.FINISHED, "wrong", 0.0)


def tree_without_score(problem: Problem, budget: Budget) -> Solution:
    return replace(brute_force(problem), score=None)


def deeper_than_allowed(problem: Problem, budget: Budget) -> Solution:
    deep = problem.with_shape(Shape(max_depth=problem.shape.max_depth + 1))
    return scored(problem, brute_force(deep.with_weight(0.0)).tree or constant(problem), Status.PROVEN)


def an_empty_leaf(problem: Problem, budget: Budget) -> Solution:
    nodes = (Branch(ThresholdTest(0, 1e9), 1, 2), Leaf(0.0), Leaf(1.0))
    return scored(problem, Tree(problem.people.features.schema, problem.target, nodes), Status.PROVEN)


def the_tree_of_another_table(problem: Problem, budget: Budget) -> Solution:
    other = brute_force(pose(people_from({"other": [1, 2]}, [0, 1])))
    return replace(brute_force(problem), tree=other.tree)


def breaks_down(problem: Problem, budget: Budget) -> Solution:
    raise ZeroDivisionError("no rows")


def writes_to_the_operator(problem: Problem, budget: Budget) -> Solution:
    solution = brute_force(problem)
    problem.disparity.matrix.data *= 2.0
    return solution


def different_every_time() -> Solve:
    number = count()

    def solve(problem: Problem, budget: Budget) -> Solution:
        solution = brute_force(problem)
        values = problem.people.outcome.values
        best = Leaf(float(values[0])) if next(number) % 2 else Leaf(float(values[-1]))
        return scored(problem, replace(solution.tree or constant(problem), nodes=(best,)), Status.FEASIBLE, bound=0.0)

    return solve


WRONG: list[tuple[Solve, str]] = [
    (suboptimal_called_proven, "but the optimum is"),
    (bound_too_high, "is above the optimum"),
    (bound_not_reached, "does not reach"),
    (bound_not_a_number, "is above the optimum"),
    (lying_objective, "the objective is said to be"),
    (lying_loss, "the loss is said to be"),
    (only_feasible, "the status is feasible, not proven"),
    (proven_without_tree, "but there is no tree"),
    (called_infeasible, "called infeasible, but it is not"),
    (tree_without_score, "no score"),
    (an_empty_leaf, "a leaf holds 0 people"),
    (the_tree_of_another_table, "made for another table"),
    (breaks_down, "it raised ZeroDivisionError: no rows"),
]


def test_brute_force_conforms_on_the_whole_shelf() -> None:
    assert check_solver(honest) == len(SHELF)


@pytest.mark.parametrize(("solve", "complaint"), WRONG, ids=[solve.__name__ for solve, _ in WRONG])
def test_a_wrong_solver_is_caught(solve: Solve, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint) as caught:
        check_solver(solve, problems=SOME)
    assert all(f"{entry.name}: " in str(caught.value) for entry in SOME)


def test_broken_limits_are_named() -> None:
    entry = next(entry for entry in SHELF if entry.name == "impact_forbidden")
    with pytest.raises(AssertionError, match="the tree breaks a limit: the discrimination 2 is more than 0"):
        check_solver(deeper_than_allowed, problems=[entry])
    entry = next(entry for entry in SHELF if entry.name == "exclusive_or_too_shallow")
    with pytest.raises(AssertionError, match="the tree breaks a limit: depth 2 is more than 1"):
        check_solver(deeper_than_allowed, problems=[entry])


def test_a_solver_that_writes_to_the_problem_is_caught() -> None:
    entry = next(entry for entry in SHELF if entry.name == "impact_limited")
    with pytest.raises(AssertionError, match="changed the problem"):
        check_solver(writes_to_the_operator, problems=[entry])


def test_a_solver_without_a_fixed_answer_is_caught() -> None:
    with pytest.raises(AssertionError, match="two runs gave different trees"):
        check_solver(different_every_time(), problems=SOME, exact=False)


def test_infeasible_problems_must_be_called_so() -> None:
    assert check_solver(honest, problems=INFEASIBLE) == 1
    with pytest.raises(AssertionError, match="the tree breaks a limit"):
        check_solver(suboptimal_called_proven, problems=INFEASIBLE)


def test_a_heuristic_may_be_worse_but_must_not_lie() -> None:
    assert check_solver(only_feasible, problems=SOME, exact=False) == len(SOME)
    for solve, complaint in WRONG:
        if solve is not only_feasible:
            with pytest.raises(AssertionError, match=complaint):
                check_solver(solve, problems=SOME, exact=False)


def test_what_a_solver_does_not_accept_is_left_out() -> None:
    numbers = sum(entry.build().people.outcome.classes is None for entry in SHELF)
    assert check_solver(honest, accepts=lambda p: p.people.outcome.classes is None) == numbers
    with pytest.raises(AssertionError, match="accepts none"):
        check_solver(honest, accepts=lambda _: False)


def test_each_run_has_a_budget_of_its_own() -> None:
    budgets: list[Budget] = []

    def remember(problem: Problem, budget: Budget) -> Solution:
        budgets.append(budget)
        return brute_force(problem)

    check_solver(remember, problems=SOME, make_budget=lambda: Budget(time_limit=60.0))
    assert len(set(map(id, budgets))) == 2 * len(SOME)
    assert {budget.time_limit for budget in budgets} == {60.0}


def test_any_problem_can_be_held_against_brute_force() -> None:
    people = people_from({"x": [1, 2, 3, 4]}, [0, 0, 1, 1], {"g": list("abab")})
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=0.5)
    check_against_brute_force(honest, problem)
    with pytest.raises(AssertionError, match=r"the best tree, 0:\nx ≤ 2\.5"):
        check_against_brute_force(suboptimal_called_proven, problem)


def test_a_better_tree_than_the_known_optimum_is_reported_as_a_wrong_shelf() -> None:
    entry = replace(SOME[0], objective=0.5)
    with pytest.raises(AssertionError, match="the known optimum is wrong"):
        check_solver(honest, problems=[entry])


def test_snapshots_do_not_mistake_missing_values_for_changes() -> None:
    entry = next(entry for entry in SHELF if entry.name == "known_against_missing")
    assert any(np.isnan(values).any() for values in entry.build().people.features.data)
    assert check_solver(honest, problems=[entry]) == 1
