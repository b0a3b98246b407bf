"""Which of equally good trees is the answer: simpler ones, lower tests, never a worse one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status, frontier, solve
from evenleaf.solve.certify import check
from evenleaf.solve.ties import TIE, preferred, settled, tree_rank
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems, trees
from evenleaf.tree import Branch, Leaf, Node, SubsetTest, ThresholdTest, Tree

GROUPS = {"g": ["a", "b"] * 4}


def posed(columns: dict[str, Any], labels: list[int], **shape: Any) -> Problem:
    people = people_from(columns, labels, {"g": GROUPS["g"][: len(labels)]})
    return pose(people, fairness=DisparateImpact(), fairness_weight=0.1, shape=Shape(**shape))


def made(problem: Problem, *nodes: Node) -> Tree:
    return Tree(problem.people.features.schema, problem.target, nodes)


def test_of_two_equal_columns_the_first_is_tested() -> None:
    problem = posed(
        {"z": [0, 1] * 4, "x": [0, 0, 1, 1, 2, 2, 3, 3], "copy": [0, 0, 1, 1, 2, 2, 3, 3]}, [0] * 4 + [1] * 4
    )
    second = made(problem, Branch(ThresholdTest(2, 1.5), 1, 2), Leaf(0.0), Leaf(1.0))
    assert preferred(problem, second).tests[0].columns == (1,)


def test_a_column_used_already_is_preferred_to_a_lower_one() -> None:
    """Column 0 would do for the lower test as well as column 2, but column 2 is tested anyhow."""
    columns = {"low": [0, 1, 0, 0, 0, 0], "other": [0, 0, 0, 0, 1, 1], "x": [0, 1, 2, 3, 4, 5]}
    problem = posed(columns, [0, 1, 1, 1, 0, 0], max_depth=2)
    lower = made(
        problem,
        Branch(ThresholdTest(2, 3.5), 1, 2),
        Branch(ThresholdTest(2, 0.5), 3, 4),
        Leaf(0.0),
        Leaf(0.0),
        Leaf(1.0),
    )
    assert set(preferred(problem, lower).feature_uses) == {2}


def test_a_useless_split_disappears() -> None:
    problem = posed({"x": [0, 0, 1, 1, 2, 2, 3, 3], "z": [0, 1] * 4}, [0] * 4 + [1] * 4)
    useless = made(
        problem,
        Branch(ThresholdTest(1, 0.5), 1, 2),
        Branch(ThresholdTest(0, 1.5), 3, 4),
        Branch(ThresholdTest(0, 1.5), 5, 6),
        *(Leaf(0.0), Leaf(1.0), Leaf(0.0), Leaf(1.0)),
    )
    assert preferred(problem, useless) == made(problem, Branch(ThresholdTest(0, 1.5), 1, 2), Leaf(0.0), Leaf(1.0))


def test_a_split_that_gains_nothing_becomes_a_leaf() -> None:
    """Half of the people on the right are of either class: to decide them all alike costs the same."""
    people = people_from({"x": [0, 0, 1, 1], "z": [0, 0, 0, 1]}, [0, 0, 0, 1], {"g": ["a", "b", "a", "b"]})
    problem = pose(people, shape=Shape(max_depth=2, min_samples_leaf=1))
    wrong_way = made(
        problem,
        Branch(ThresholdTest(0, 0.5), 1, 2),
        Leaf(0.0),
        Branch(ThresholdTest(1, 0.5), 3, 4),
        Leaf(1.0),
        Leaf(0.0),
    )
    assert preferred(problem, wrong_way).n_leaves == 1


def test_leaves_that_agree_are_one() -> None:
    problem = posed({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]}, [0, 0, 1, 1])
    same = made(
        problem,
        Branch(ThresholdTest(0, 0.5), 1, 2),
        Branch(ThresholdTest(1, 0.5), 3, 4),
        Leaf(1.0),
        Leaf(0.0),
        Leaf(0.0),
    )
    assert preferred(problem, same).n_leaves == 2


def test_levels_stand_in_for_a_number_of_a_later_column() -> None:
    columns = {"level": ["p", "q", "p", "r", "q", "r"], "x": [0.0, 1.0, 0.0, 2.0, 1.0, 2.0]}
    problem = posed(columns, [0, 1, 0, 1, 1, 1], max_depth=1)
    number = made(problem, Branch(ThresholdTest(1, 0.5), 1, 2), Leaf(0.0), Leaf(1.0))
    answer = preferred(problem, number)
    assert answer == made(problem, Branch(SubsetTest(0, (0,), False), 1, 2), Leaf(0.0), Leaf(1.0))


def test_limits_are_kept() -> None:
    """A column that may not be tested is not, however low it is."""
    columns = {"low": [0, 0, 0, 1, 2, 2], "x": [0, 0, 0, 1, 1, 1]}
    people = people_from(columns, [0, 0, 0, 1, 1, 1], {"g": ["a", "b"] * 3})
    wide = pose(people, shape=Shape(max_depth=2))
    tree = made(wide, Branch(ThresholdTest(1, 0.5), 1, 2), Leaf(0.0), Leaf(1.0))
    assert preferred(wide, tree).tests[0].columns == (0,)
    kept = wide.with_shape(Shape(max_depth=2, allowed_features=("x",)))
    assert preferred(kept, tree) == tree


def test_fit_and_frontier_show_the_same_tree() -> None:
    problem = posed(
        {"x": [0, 0, 1, 1, 2, 2, 3, 3], "copy": [0, 0, 1, 1, 2, 2, 3, 3]}, [0, 0, 0, 1, 1, 1, 1, 0], max_depth=2
    )
    for point in frontier(problem):
        weight = point.weight_from + 0.5 if np.isinf(point.weight_to) else (point.weight_from + point.weight_to) / 2
        assert solve(problem.with_weight(weight)).tree == point.tree


def test_the_certificate_is_about_the_answer() -> None:
    people = load_adult().sample(80, seed=2).people()
    problem = pose(people, fairness=DisparateTreatment(), fairness_weight=0.5, shape=Shape(max_depth=2))
    answer = solve(problem, solver="search")
    assert answer.proven
    assert answer.tree == preferred(problem, answer.tree)  # type: ignore[arg-type]
    assert check(answer.certificate, problem).holds
    worse = settled(problem, answer)
    assert worse is answer


@given(data=st.data(), problem=problems(max_depth=3))
@settings(max_examples=150)
def test_never_worse_never_larger_and_settled(data: st.DataObject, problem: Problem) -> None:
    tree = data.draw(trees(problem.people, max_depth=3))
    before = problem.evaluate(tree)
    if not before.feasible:
        return
    answer = preferred(problem, tree)
    after = problem.evaluate(answer)
    assert after.feasible
    assert after.objective <= before.objective + TIE
    assert after.discrimination <= before.discrimination + TIE
    assert answer.n_leaves <= tree.n_leaves
    assert tree_rank(preferred(problem, answer)) == tree_rank(answer)
    assert preferred(problem, answer) == answer


@given(problem=problems(task="classification", max_people=6))
@settings(max_examples=30)
def test_the_same_for_any_number_of_workers(problem: Problem) -> None:
    one, two = (solve(problem, Budget(n_jobs=n_jobs), solver="search") for n_jobs in (1, 2))
    assert one.tree == two.tree
    if one.status is Status.PROVEN:
        assert one.bound == pytest.approx(one.objective)
