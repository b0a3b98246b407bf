"""The lane for few rows in several threads: the same answer, step by step, for any number of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver, engine, oracle, sweep, worker
from evenleaf.solve.fronts import lane as lanes
from evenleaf.testing.strategies import problems

NOTIONS = ("impact", "opportunity")


@pytest.fixture(scope="module", autouse=True)
def _shared() -> Iterator[None]:
    """Tables count as large, and lists are short, so that there is something to share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_MUCH_WORK", 0)
        patch.setattr(sweep, "_MANY", 0)
        patch.setattr(worker, "_POINTS", 8)
        patch.setattr(oracle, "MOST_CUTS_TO_FORK", 0)
        patch.setattr(oracle, "MOST_BLOCKS", 2)
        patch.setattr(lanes, "_MANY_CUTS", 0)
        yield


def check_same_for_any_number(problem: Problem) -> None:
    budgets = [Budget(n_jobs=n_jobs) for n_jobs in (1, 3)]
    one, three = (FrontSolver().solve(problem, budget) for budget in budgets)
    assert one.proven
    assert (one.tree, one.objective, one.bound, one.message) == (
        three.tree,
        three.objective,
        three.bound,
        three.message,
    )
    steps, others = ([(point.bound, point.objective) for point in budget.trace] for budget in budgets)
    assert steps == others
    assert one.certificate is not None
    assert three.certificate is not None
    assert one.certificate.to_bytes() == three.certificate.to_bytes()


@given(problem=problems(task="classification", notions=NOTIONS, max_depth=3, max_columns=2, max_values=4))
@settings(max_examples=30)
def test_made_up_people(problem: Problem) -> None:
    check_same_for_any_number(problem)


@pytest.mark.parametrize(("depth", "limit"), [(2, None), (3, 0.05)])
def test_adult(depth: int, limit: float | None) -> None:
    people = load_adult(race="white_or_not").sample(80, seed=1).people()
    problem = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=depth))
    check_same_for_any_number(problem.with_weight(1.0) if limit is None else problem.with_limit(limit))
