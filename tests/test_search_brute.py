"""The exact search against brute force on problems that hypothesis makes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import Status
from evenleaf.solve.search import SearchSolver
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems


def check(problem: Problem) -> None:
    solver = SearchSolver()
    if not solver.accepts(problem):
        return
    expected = brute_force(problem)
    answer = solver.solve(problem, Budget(time_limit=60))
    assert answer.status is Status.PROVEN
    assert expected.status is Status.PROVEN
    assert answer.objective == pytest.approx(expected.objective, abs=1e-9)
    assert answer.tree is not None
    assert problem.evaluate(answer.tree).feasible


@given(problem=problems(task="classification", max_people=10))
@settings(max_examples=300)
def test_small(problem: Problem) -> None:
    check(problem)


@given(problem=problems(task="classification", max_people=12, max_columns=2, max_values=6, forms=("weight",)))
@settings(max_examples=150)
def test_many_levels(problem: Problem) -> None:
    check(problem)


@given(problem=problems(task="classification", max_people=9, max_classes=4, max_groups=5, limits=False, forms=("limit",)))
@settings(max_examples=150)
def test_constrained(problem: Problem) -> None:
    check(problem)
