"""The exact search: the shelf, brute force on made-up problems, and what a limit leaves behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status, Stop
from evenleaf.solve.search import SearchSolver
from evenleaf.testing import brute_force, check_solver
from evenleaf.testing.strategies import problems

SOLVER = SearchSolver()


def agree(problem: Problem) -> None:
    """The search proves what brute force finds, wherever it takes the problem on."""
    if not SOLVER.accepts(problem):
        return
    answer = SOLVER.solve(problem, Budget())
    expected = brute_force(problem)
    assert answer.status is expected.status
    if expected.status is Status.PROVEN:
        assert answer.objective == pytest.approx(expected.objective, abs=1e-9)
        assert answer.tree is not None
        assert problem.evaluate(answer.tree).feasible


def test_shelf() -> None:
    check_solver(SOLVER.solve, SOLVER.accepts)


@given(problem=problems(task="classification", forms=("weight", "plain")))
@settings(max_examples=150)
def test_penalised(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="classification", forms=("limit",), max_people=6))
@settings(max_examples=60)
def test_constrained(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="classification", max_people=10, max_values=6, max_classes=2, limits=False))
@settings(max_examples=60)
def test_many_levels(problem: Problem) -> None:
    agree(problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=12))
@settings(max_examples=2000)
def test_many_problems(problem: Problem) -> None:
    agree(problem)


def adult_problem(n_people: int, depth: int = 2) -> Problem:
    people = load_adult().sample(n_people, seed=1).people()
    return pose(people, fairness=DisparateTreatment(), fairness_weight=1.0, shape=Shape(max_depth=depth))


def test_trace_and_bound_are_true_when_time_runs_out() -> None:
    problem = adult_problem(400)
    optimum = SOLVER.solve(problem, Budget())
    assert optimum.proven
    for limit in (0.01, 0.1, 0.3):
        answer = SOLVER.solve(problem, Budget(time_limit=limit))
        assert answer.bound <= optimum.objective + 1e-9 <= answer.objective + 2e-9
        assert all(point.bound <= optimum.objective + 1e-9 for point in answer.trace)
        assert all(point.objective >= optimum.objective - 1e-9 for point in answer.trace)
        assert answer.proven or answer.stop is Stop.TIME_LIMIT


def test_cancelled_search_keeps_its_best_tree() -> None:
    budget = Budget()
    budget.cancel()
    answer = SOLVER.solve(adult_problem(300), budget)
    assert answer.stop is Stop.INTERRUPTED
    assert answer.tree is not None
    assert not answer.proven


def test_gap_is_kept() -> None:
    problem = adult_problem(400)
    answer = SOLVER.solve(problem, Budget(gap=0.2))
    assert answer.gap <= 0.2


def test_start_is_never_lost() -> None:
    problem = adult_problem(300)
    best = SOLVER.solve(problem, Budget())
    budget = Budget()
    budget.cancel()
    assert SOLVER.solve(problem, budget, start=best.tree).objective == pytest.approx(best.objective)


def test_weights_count_like_copies() -> None:
    people = load_adult().sample(60, seed=3).people()
    copies = np.random.default_rng(0).integers(1, 4, people.n_people)
    heavy = people.take(np.arange(people.n_people))
    weighted = pose(
        type(heavy)(heavy.features, heavy.outcome, heavy.groups, copies.astype(float)), fairness=DisparateImpact()
    )
    repeated = pose(people.take(np.repeat(np.arange(people.n_people), copies)), fairness=DisparateImpact())
    one, two = SOLVER.solve(weighted, Budget()), SOLVER.solve(repeated, Budget())
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-9)


def test_same_tree_every_time() -> None:
    problem = adult_problem(300)
    assert SOLVER.solve(problem, Budget()).tree == SOLVER.solve(problem, Budget()).tree


def test_what_it_does_not_take_on() -> None:
    assert not SOLVER.accepts(adult_problem(60, depth=3))
