"""However many workers share the rounds of the search for numbers: the same tree, bound, proof and number of bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings

from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.result import Solution
from evenleaf.solve.values import ValueSolver
from evenleaf.testing.strategies import problems

SOLVER = ValueSolver()


def alike(problem: Problem) -> Solution:
    answers = [SOLVER.solve(problem, Budget(n_jobs=n_jobs)) for n_jobs in (1, 2, 3)]
    one = answers[0]
    for other in answers[1:]:
        assert other.tree == one.tree
        assert (other.objective, other.bound, other.status) == (one.objective, one.bound, one.status)
        assert other.message == one.message  # it counts the bounds
        assert proof_of(other) == proof_of(one)
    return one


def proof_of(answer: Solution) -> bytes | None:
    return None if answer.certificate is None else answer.certificate.to_bytes()


@given(problem=problems(task="regression", max_depth=3, max_columns=2, max_values=3))
@settings(max_examples=25)
def test_small_problems(problem: Problem) -> None:
    assume(SOLVER.accepts(problem))
    alike(problem)


@pytest.mark.parametrize("notion", [DisparateTreatment(n_neighbors=5), DisparateImpact()])
def test_a_real_table_at_depth_two(notion: Any) -> None:
    people = load_diabetes().sample(120, seed=2).people()
    problem = pose(people, fairness=notion, fairness_weight=1.0, shape=Shape(max_depth=2))
    assert alike(problem).proven


def test_a_real_table_at_depth_three() -> None:
    """Roots that are split below, and proven by the pattern of their neighbours."""
    people = load_diabetes().sample(40, seed=5).people()
    shape = Shape(max_depth=3, allowed_features=("bmi", "bp", "s5"))
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=4), fairness_weight=1.0, shape=shape)
    answer = alike(problem)
    assert answer.proven
    assert answer.objective <= SOLVER.solve(replace_depth(problem, 2), Budget()).objective + 1e-9


def replace_depth(problem: Problem, depth: int) -> Problem:
    return problem.with_shape(replace(problem.shape, max_depth=depth))
