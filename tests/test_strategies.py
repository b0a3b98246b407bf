"""The random problems keep to what was asked of them, and reach the corners they are made for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from evenleaf.problem import Misclassification, Problem, Shape
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems

FEW = settings(deadline=None, max_examples=60)
MANY = settings(deadline=None, max_examples=3000, database=None, derandomize=True, phases=[Phase.generate])


@FEW
@given(
    problems(
        task="regression",
        min_people=3,
        max_people=6,
        max_columns=2,
        max_values=2,
        max_depth=1,
        max_groups=2,
        notions=["impact", "opportunity"],
        forms=["limit"],
        limits=False,
        missing=False,
        categorical=False,
        weights=False,
    )
)
def test_everything_can_be_narrowed(problem: Problem) -> None:
    people = problem.people
    assert people.outcome.task == "regression"
    assert 3 <= people.n_people <= 6
    assert 1 <= people.features.n_columns <= 2
    assert problem.shape == Shape(max_depth=problem.shape.max_depth)
    assert problem.shape.max_depth <= 1
    assert problem.max_discrimination is not None
    assert not any(column.is_categorical or column.has_missing for column in people.features.schema)
    assert all(len(np.unique(values)) <= 2 for values in people.features.data)
    assert (people.weight == 1).all()
    assert people.groups[0].n_groups == 2
    assert problem.disparity.n_rows == 2  # DIDI: one row a group


@FEW
@given(problems(task="classification", max_classes=4, max_groups=5, costs=False))
def test_what_is_not_narrowed_stays_within_bounds(problem: Problem) -> None:
    people = problem.people
    assert people.outcome.classes is not None
    assert 2 <= people.outcome.n_classes <= 4
    assert 2 <= people.groups[0].n_groups <= 5
    assert 4 <= people.n_people <= 8
    assert problem.loss == Misclassification()


def splits_twice(problem: Problem) -> bool:
    solution = brute_force(problem)
    return solution.tree is not None and solution.tree.depth == 2 and solution.objective > 0


CORNERS: dict[str, Callable[[Problem], bool]] = {
    "no test allowed": lambda p: p.shape.max_depth == 0,
    "large leaves": lambda p: p.shape.min_samples_leaf > 1,
    "a feature with a limit of its own": lambda p: bool(isinstance(p.shape.max_feature_uses, dict)),
    "a person without weight": lambda p: bool((p.people.weight == 0).any()),
    "a group of one person": lambda p: 1 in np.bincount(p.people.groups[0].codes),
    "a class that nobody has": lambda p: len(np.unique(p.people.outcome.values)) < p.people.outcome.n_classes,
    "an empty term": lambda p: p.disparity.empty_terms > 0,
    "no discrimination allowed": lambda p: p.max_discrimination == 0,
    "an optimum of depth two": splits_twice,
}


@pytest.mark.parametrize("corner", CORNERS.values(), ids=CORNERS)
def test_the_corners_are_reached(corner: Callable[[Problem], bool]) -> None:
    assert corner(find(problems(), corner, settings=MANY))
