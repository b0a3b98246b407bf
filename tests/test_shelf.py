"""The shelf: brute force reproduces every stored optimum, and the shelf holds what it promises to hold."""

from __future__ import annotations

import numpy as np
import pytest

from evenleaf.fairness import Disparity
from evenleaf.solve.result import Status
from evenleaf.testing import SHELF, ShelfProblem, brute_force
from evenleaf.testing.conformance import answer_complaints

PROBLEMS = [entry.build() for entry in SHELF]


@pytest.mark.parametrize("entry", SHELF, ids=lambda entry: entry.name)
def test_brute_force_reproduces_the_stored_optimum(entry: ShelfProblem) -> None:
    solution = brute_force(entry.build())
    assert solution.status is entry.status
    if entry.feasible:
        assert solution.objective == pytest.approx(entry.objective, abs=1e-9)
    else:
        assert entry.objective == np.inf
        assert solution.tree is None
    assert not list(answer_complaints(entry.build(), solution, entry.objective, entry.status))


def test_names_are_unique_and_every_problem_says_what_it_is_about() -> None:
    assert len({entry.name for entry in SHELF}) == len(SHELF)
    assert all(entry.about for entry in SHELF)


def test_problems_are_small_and_built_anew() -> None:
    for entry, problem in zip(SHELF, PROBLEMS, strict=True):
        assert 3 <= problem.people.n_people <= 40
        assert entry.build() is not problem
        assert entry.build().people is not problem.people


def test_every_depth_task_form_and_status_is_there() -> None:
    assert {problem.shape.max_depth for problem in PROBLEMS} == {0, 1, 2, 3}
    for task in ("classification", "regression"):
        fair = [p for p in PROBLEMS if p.people.outcome.task == task and p.disparity.n_rows]
        assert any(p.max_discrimination is not None for p in fair)
        assert any(p.fairness_weight > 0 for p in fair)
    assert any(p.fairness_weight == 0 and p.max_discrimination is None and p.disparity.n_rows for p in PROBLEMS)
    assert {entry.status for entry in SHELF} == {Status.PROVEN, Status.INFEASIBLE}


@pytest.mark.parametrize(
    "limit",
    ["max_feature_uses", "max_features_used", "max_features_per_test", "max_leaves", "allowed_features"],
)
def test_every_limit_is_there(limit: str) -> None:
    assert any(getattr(problem.shape, limit) is not None for problem in PROBLEMS)


def test_every_kind_of_people_is_there() -> None:
    people = [problem.people for problem in PROBLEMS]
    groups = {len(np.unique(g.codes)) for p in people for g in p.groups}
    assert {2, 3, 4, 5} <= groups
    assert any(1 in np.bincount(g.codes) for p in people for g in p.groups)
    assert any(0 in np.bincount(g.codes, minlength=g.n_groups) for p in people for g in p.groups)
    assert any(len(p.groups) == 2 for p in people)
    assert {2, 3, 4} <= {p.outcome.n_classes for p in people if p.outcome.classes is not None}
    assert any((p.weight == 0).any() for p in people)
    kinds = {(column.kind, column.has_missing) for p in people for column in p.features.schema}
    assert len(kinds) == 4
    levels = {len(column.levels) for p in people for column in p.features.schema if column.is_categorical}
    assert {2, 3, 4, 5} <= levels


def test_fairness_changes_the_answer_of_most_fair_problems() -> None:
    """A notion that never binds would let a solver that ignores it pass."""
    changed = asked = 0
    for entry, problem in zip(SHELF, PROBLEMS, strict=True):
        if entry.feasible and problem.disparity.n_rows and (problem.fairness_weight or problem.max_discrimination):
            asked += 1
            nothing = Disparity.none(problem.people.n_people, problem.people.outcome.n_classes)
            plain = type(problem)(problem.people, problem.loss, problem.shape, nothing)
            changed += brute_force(plain).objective < entry.objective - 1e-6
    assert asked >= 25
    assert changed >= asked - 2
