"""Greedy trees: they keep every limit, handle every kind of value, and say honestly that they prove nothing."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import GreedySolver, greedy_tree
from evenleaf.solve.result import Status, Stop
from evenleaf.solve.splits import candidate_splits, impurity, impurity_table
from evenleaf.table import People
from evenleaf.testing import check_against_brute_force, check_solver, people_from
from evenleaf.testing.strategies import peoples, problems
from evenleaf.tree import Branch, Leaf, SubsetTest, ThresholdTest, Tree


def constant_trees(problem: Problem) -> list[Tree]:
    classes = problem.people.outcome.classes
    values = range(len(classes)) if classes is not None else np.unique(problem.people.outcome.values)
    return [Tree(problem.people.features.schema, problem.target, (Leaf(float(value)),)) for value in values]


@given(problems(max_people=12, max_depth=3))
@settings(max_examples=150)
def test_every_limit_is_kept_and_no_constant_is_better(problem: Problem) -> None:
    tree = greedy_tree(problem)
    scores = [score for constant in constant_trees(problem) if (score := problem.evaluate(constant)).feasible]
    if tree is None:
        assert not scores
        return
    found = problem.evaluate(tree)
    assert found.violations == ()
    assert found.objective <= min(score.objective for score in scores) + 1e-7


@given(problems())
@settings(max_examples=60)
def test_the_answer_is_honest(problem: Problem) -> None:
    check_against_brute_force(GreedySolver().solve, problem, exact=False)


def test_the_shelf() -> None:
    assert check_solver(GreedySolver().solve, GreedySolver().accepts, exact=False) > 50


@given(problems(max_people=12, max_depth=3))
@settings(max_examples=60)
def test_the_same_tree_every_time(problem: Problem) -> None:
    assert greedy_tree(problem) == greedy_tree(problem)


def sums_of(people: People, rows: np.ndarray, goes_left: np.ndarray) -> float:
    """Impurity from the definition: weighted Gini, or the weighted squared distance from the mean."""
    total = 0.0
    for side in (rows[goes_left], rows[~goes_left]):
        share, y = people.share[side], people.outcome.values[side]
        if not share.sum() > 0:
            continue
        if people.outcome.classes is None:
            total += float(share @ (y - np.average(y, weights=share)) ** 2)
        else:
            chances = np.bincount(y, weights=share) / share.sum()
            total += float(share.sum() * (1 - (chances**2).sum()))
    return total


def all_tests(people: People, column: int) -> list[ThresholdTest | SubsetTest]:
    values = people.features.data[column]
    if people.features.schema[column].is_categorical:
        levels = np.unique(values[values >= 0]).tolist()
        subsets = chain.from_iterable(combinations(levels, size) for size in range(len(levels) + 1))
        return [SubsetTest(column, subset, side) for subset in subsets for side in (True, False)]
    known = np.unique(values[~np.isnan(values)])
    return [ThresholdTest(column, float(value), side) for value in known for side in (True, False)]


@given(st.data())
@settings(max_examples=200)
def test_the_purest_split_is_the_purest_of_all(data: st.DataObject) -> None:
    """Every threshold and side of the missing; every subset of levels where cutting the sorted levels is exact."""
    task: Any = data.draw(st.sampled_from(["classification", "regression"]))
    people = data.draw(peoples(task=task, max_people=10, max_classes=2))
    problem, least = pose(people), data.draw(st.integers(1, 3))
    rows = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=people.n_people, max_size=people.n_people)))
    column = data.draw(st.integers(0, people.features.n_columns - 1))
    classes = people.outcome.classes is not None
    sums = impurity_table(problem)[rows]
    found = candidate_splits(people.features, column, rows, sums, classes=classes, least=least)
    sides = [test.goes_left(people.features, rows) for test in all_tests(people, column)]
    valid = [left for left in sides if left.sum() >= least and (~left).sum() >= least]
    if found is None:
        # Subsets are cut in sorted order, and then a minimum of people a side may leave no cut.
        assert not valid or (people.features.schema[column].is_categorical and least > 1)
        return
    left = found[1].goes_left(people.features, rows)
    assert left.sum() >= least
    assert (~left).sum() >= least
    assert sums_of(people, rows, left) == pytest.approx(found[0] * unit(problem), abs=1e-9)
    if least == 1 or not people.features.schema[column].is_categorical:
        assert sums_of(people, rows, left) <= min(sums_of(people, rows, side) for side in valid) + 1e-9


def unit(problem: Problem) -> float:
    """Numbers are scaled to their range before their squares are taken."""
    if problem.people.outcome.classes is not None:
        return 1.0
    return (problem.target.high - problem.target.low) ** 2 or 1.0


def test_impurity_keeps_its_digits_far_from_zero() -> None:
    y = np.array([1e9, 1e9 + 1, 1e9 + 5, 1e9 + 6])
    problem = pose(people_from({"x": [1.0, 2.0, 3.0, 4.0]}, y, task="regression"))
    found = candidate_splits(problem.people.features, 0, np.arange(4), impurity_table(problem), classes=False, least=1)
    assert found is not None
    assert found[1] == ThresholdTest(0, 2.5, True)
    assert found[0] * unit(problem) == pytest.approx(0.25)


def test_impurity_of_nobody_is_zero() -> None:
    assert impurity(np.zeros((2, 3)), classes=True).tolist() == [0.0, 0.0]
    assert impurity(np.zeros((2, 3)), classes=False).tolist() == [0.0, 0.0]


def test_being_missing_can_decide() -> None:
    people = people_from({"x": [1.0, None, 2.0, None, 3.0, None]}, ["n", "y", "n", "y", "n", "y"])
    tree = greedy_tree(pose(people))
    assert tree is not None
    assert tree.predict({"x": [2.5, None, -7.0]}).tolist() == ["n", "y", "n"]


def test_levels_are_parted_by_a_subset() -> None:
    people = people_from({"c": ["p", "q", "r", "s"] * 3}, [0, 1, 1, 0] * 3)
    tree = greedy_tree(pose(people, shape=Shape(max_depth=1)))
    assert tree is not None
    root = tree.nodes[0]
    assert isinstance(root, Branch)
    assert root.test == SubsetTest(0, (0, 3), True)


def test_weights_count_as_that_many_people() -> None:
    x, y, weight = [1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1], [1, 5, 1, 2]
    weighted = pose(people_from({"x": x}, y, weight=weight), shape=Shape(max_depth=1))
    repeated = pose(people_from({"x": np.repeat(x, weight)}, np.repeat(y, weight)), shape=Shape(max_depth=1))
    first, second = greedy_tree(weighted), greedy_tree(repeated)
    assert first is not None
    assert second is not None
    assert first.nodes == second.nodes
    assert weighted.evaluate(first).objective == pytest.approx(repeated.evaluate(second).objective)


def biased_people(n: int = 120) -> People:
    rng = np.random.default_rng(0)
    merit, group = rng.random(n), rng.choice(["a", "b"], n)
    y = (merit + 0.3 * (group == "a") > 0.6).astype(int)
    return people_from({"merit": merit, "street": (group == "a") + 0.1 * rng.random(n)}, y, {"g": group})


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("notion", [DisparateImpact(), DisparateTreatment(n_neighbors=5)])
def test_the_constrained_form_is_kept(notion: Any, limit: float) -> None:
    problem = pose(biased_people(), fairness=notion, max_discrimination=limit)
    tree = greedy_tree(problem)
    assert tree is not None
    score = problem.evaluate(tree)
    assert score.feasible
    assert score.discrimination <= limit + 1e-9


def test_a_heavier_price_buys_less_discrimination() -> None:
    people = biased_people()
    unfair = [
        problem.evaluate(tree).discrimination
        for weight in (0.0, 10.0)
        for problem in [pose(people, fairness=DisparateImpact(), fairness_weight=weight)]
        for tree in [greedy_tree(problem)]
        if tree is not None
    ]
    assert unfair[1] < unfair[0]


def test_an_exhausted_budget_still_gives_a_tree() -> None:
    problem = pose(biased_people())
    budget = Budget()
    budget.cancel()
    tree = greedy_tree(problem, budget)
    assert tree is not None
    assert tree.depth == 0
    full = greedy_tree(problem)
    assert full is not None
    assert full.depth > 0


def test_a_better_start_is_kept_and_a_broken_one_is_not() -> None:
    people = people_from({"x": [0.0, 0.0, 1.0, 1.0], "z": [0.0, 1.0, 0.0, 1.0]}, [0, 1, 1, 0])
    problem = pose(people, shape=Shape(max_depth=2, max_leaves=4))
    schema, target = people.features.schema, problem.target
    leaves = [Leaf(float(label)) for label in (0, 1, 1, 0)]
    x, z = ThresholdTest(0, 0.5), ThresholdTest(1, 0.5)
    best = Tree(schema, target, (Branch(x, 1, 2), Branch(z, 3, 4), Branch(z, 5, 6), *leaves))
    assert GreedySolver().solve(problem, Budget(), best).objective == 0.0
    broken = problem.with_shape(Shape(max_depth=1))
    solution = GreedySolver().solve(broken, Budget(), best)
    assert solution.tree is not None
    assert solution.tree.depth <= 1


def test_the_solution_claims_no_proof() -> None:
    solution = GreedySolver().solve(pose(biased_people()), Budget())
    assert (solution.status, solution.stop, solution.bound) == (Status.FEASIBLE, Stop.HEURISTIC, 0.0)
    assert not solution.proven
    assert solution.trace[-1].objective == solution.objective
