"""Regression trees of depth 3 with limits that couple their tests: how often a column is used, and how many are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values import ValueSolver, worker
from evenleaf.solve.values.ascent import LOOK
from evenleaf.solve.values.boxes import Box, first_boxes
from evenleaf.solve.values.compiled import compile_values
from evenleaf.solve.values.limits import Coupling, possible_tests
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import Form, problems

SOLVER = ValueSolver()
COLUMNS = {
    "x": [0, 0, 1, 1, 2, 2],
    "y": [0, 1, 0, 1, 0, 1],
    "c": ["p", "q", "r", "p", "q", "r"],
    "m": [1, 2, None, 3, 1, 2],
}


@st.composite
def limited_problems(draw: st.DrawFn, forms: tuple[Form, ...], max_columns: int = 3) -> Problem:
    """Tiny problems of depth 3 with one of the limits or both, some with limits on leaves too."""
    problem = draw(problems(task="regression", max_columns=max_columns, max_values=3, limits=False, forms=forms))
    names = problem.people.features.schema.names
    limits: dict[str, Any] = {"max_leaves": draw(st.none() | st.integers(2, 7))}
    kind = draw(st.sampled_from(["uses", "different", "both", "named"]))
    if kind in ("uses", "both"):
        limits["max_feature_uses"] = draw(st.integers(0, 3))
    if kind in ("different", "both"):
        limits["max_features_used"] = draw(st.integers(0, 2))
    if kind == "named":
        limits["max_feature_uses"] = draw(st.dictionaries(st.sampled_from(names), st.integers(0, 3)))
    return problem.with_shape(Shape(max_depth=3, min_samples_leaf=draw(st.integers(1, 2)), **limits))


def agree(problem: Problem) -> None:
    """The search proves what brute force finds, and its tree keeps the limits."""
    assert SOLVER.accepts(problem)
    answer, expected = SOLVER.solve(problem, Budget()), brute_force(problem)
    assert answer.status is expected.status
    assert answer.objective == pytest.approx(expected.objective, abs=1e-8)
    assert answer.tree is None or problem.evaluate(answer.tree).feasible


@given(problem=limited_problems(("weight", "plain")))
@settings(max_examples=50)
def test_weighted_problems(problem: Problem) -> None:
    agree(problem)


@given(problem=limited_problems(("limit",)))
@settings(max_examples=30)
def test_limited_problems(problem: Problem) -> None:
    agree(problem)


@given(problem=limited_problems(("weight", "plain"), max_columns=2))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_by_splits_alone(monkeypatch: pytest.MonkeyPatch, problem: Problem) -> None:
    """With bounds that give up at once, everything is left to the splits."""
    with monkeypatch.context() as patch:
        for name, effort in (("DEEP_CLIMB", Effort(2, 1, 0.9)), ("DEEP_LIGHT", LOOK), ("DEEP_GLANCE", LOOK)):
            patch.setattr(worker, name, effort)
        patch.setattr(worker, "_MOST_CAPS", 2)
        agree(problem)


@pytest.mark.parametrize(
    "limits", [{"max_features_used": 2}, {"max_feature_uses": 1}, {"max_feature_uses": {"bmi": 0, "s5": 1}}]
)
def test_limits_cost_something_and_are_kept(limits: dict[str, Any]) -> None:
    people = load_diabetes().sample(20, seed=1).people()
    asked = {"fairness": DisparateTreatment(), "fairness_weight": 0.3}
    names = ("bmi", "bp", "s1", "s5")
    free = pose(people, shape=Shape(max_depth=3, allowed_features=names), **asked)  # type: ignore[arg-type]
    limited = free.with_shape(Shape(max_depth=3, allowed_features=names, **limits))
    best, answer = SOLVER.solve(free, Budget()), SOLVER.solve(limited, Budget())
    assert best.proven
    assert answer.proven
    assert answer.tree is not None
    assert limited.evaluate(answer.tree).feasible
    assert answer.objective >= best.objective - 1e-9
    assert best.tree is not None
    if limited.evaluate(best.tree).feasible:
        assert answer.objective == pytest.approx(best.objective)


def coupled(**limits: Any) -> tuple[Coupling, Box]:
    """The limits, and the box of all trees with a root on x; its columns are x, y, c and m, which has two features."""
    people = people_from(COLUMNS, [0, 1, 2, 3, 4, 5], task="regression")
    problem = pose(people, shape=Shape(max_depth=3, **limits))
    compiled = compile_values(problem)
    box = first_boxes(compiled, possible_tests(problem.shape, compiled)[0], np.zeros((0, 1)), 1.0)[0]
    return Coupling(problem.shape, people.features.schema, compiled), box


def columns_at(coupling: Coupling, box: Box, place: int) -> set[int]:
    """The columns that may be tested at a place; 4 is no test."""
    return set(coupling.column[box.alive[place] > 0].tolist())


def kept(coupling: Coupling, box: Box, place: int, *columns: int) -> Box:
    """The box with only these columns at a place."""
    alive = box.alive.copy()
    alive[place] &= np.isin(coupling.column, columns)
    return Box(box.feature, box.state, alive, box.bound, box.mu, box.scale)


def test_a_column_that_is_used_up_is_taken_from_all_other_places() -> None:
    coupling, box = coupled(max_feature_uses={"x": 1, "y": 2})
    inside = coupling.narrowed(box)
    assert all(columns_at(coupling, inside, place) == {1, 2, 3, 4} for place in range(6))
    inside = coupling.narrowed(kept(coupling, kept(coupling, inside, 1, 1), 4, 1))
    assert columns_at(coupling, inside, 1) == columns_at(coupling, inside, 4) == {1}
    assert columns_at(coupling, inside, 0) == columns_at(coupling, inside, 5) == {2, 3, 4}
    assert columns_at(coupling, inside, 2) == {2, 3, 4}


def test_columns_beyond_the_allowed_number_are_taken_away() -> None:
    coupling, box = coupled(max_features_used=2)
    assert coupling.narrowed(box) is box
    inside = coupling.narrowed(kept(coupling, box, 3, 3))
    # A test further down needs one above it, on one of the two columns that are certain now.
    assert columns_at(coupling, inside, 0) == {0, 3}
    assert columns_at(coupling, inside, 1) == columns_at(coupling, inside, 5) == {0, 3, 4}


def test_a_box_where_every_tree_breaks_a_limit_is_empty() -> None:
    coupling, box = coupled(max_features_used=2)
    assert not coupling.narrowed(kept(coupling, kept(coupling, box, 0, 1), 1, 2)).alive.any()
    coupling, box = coupled(max_feature_uses=1)
    assert not coupling.narrowed(kept(coupling, kept(coupling, box, 0, 1), 1, 1)).alive.any()


def test_two_ways_to_place_the_missing_are_one_column() -> None:
    coupling, box = coupled(max_feature_uses={"m": 1}, max_features_used=2)
    features = np.flatnonzero(coupling.feature_column == 3)
    assert len(features) == 2
    first, second = (int(coupling.offsets[feature]) for feature in features)
    assert not coupling.keeps(box.feature, np.array([first, second, -1, -1, -1, -1]))
    assert coupling.keeps(box.feature, np.array([first, -1, -1, -1, -1, -1]))
    assert coupling.broken(box.feature, np.array([[first, -1, -1, -1, -1, -1], [first, second, -1, -1, -1, -1]]))


def test_the_same_leaves_by_tests_that_break_a_limit_hide_nothing() -> None:
    """z is twice x: a partition that was met with x at both sides must still be found with z at one of them."""
    x = [0, 0, 1, 1, 2, 2, 3, 3]
    columns = {"a": [0, 1] * 4, "x": x, "z": [2 * value for value in x]}
    people = people_from(columns, [0, 9, 0, 5, 4, 5, 4, 9], {"g": list("abababba")}, task="regression")
    for depth in (2, 3):
        shape = Shape(max_depth=depth, max_feature_uses=1)
        problem = pose(people, shape=shape, fairness=DisparateTreatment(n_neighbors=4))
        agree(problem)
