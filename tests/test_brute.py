"""Brute force against an even plainer enumeration, a grid of leaf values, and what must hold of any optimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.result import Status, Stop
from evenleaf.testing import brute_force, count_trees, people_from
from evenleaf.testing.candidates import column_tests
from evenleaf.testing.strategies import problems
from evenleaf.tree import Branch, Leaf, Node, SubsetTest, Target, ThresholdTest, Tree, tidy

Nested = float | tuple[SubsetTest | ThresholdTest, "Nested", "Nested"]


def any_tests(problem: Problem) -> list[SubsetTest | ThresholdTest]:
    """Tests by no rule: thresholds on the values and below them, every subset, both sides for the missing."""
    table = problem.people.features
    tests: list[SubsetTest | ThresholdTest] = []
    for position, column in enumerate(table.schema):
        sides = (True, False) if table.missing(position).any() else (True,)
        if column.is_categorical:
            codes = range(len(column.levels))
            subsets = [chosen for size in range(len(codes) + 1) for chosen in combinations(codes, size)]
            tests += [SubsetTest(position, subset, side) for subset in subsets for side in sides]
        else:
            values = sorted({-1.0, *table.data[position][~np.isnan(table.data[position])].tolist()})
            tests += [ThresholdTest(position, value, side) for value in values for side in sides]
    return tests


def nested_trees(depth: int, tests: list[SubsetTest | ThresholdTest], values: list[float]) -> Iterator[Nested]:
    yield from values
    if depth:
        below = list(nested_trees(depth - 1, tests, values))
        yield from product(tests, below, below)


def as_tree(nested: Nested, problem: Problem) -> Tree:
    nodes: list[Node] = []

    def write(part: Nested) -> int:
        place = len(nodes)
        if isinstance(part, tuple):
            nodes.append(Leaf(0.0))
            nodes[place] = Branch(part[0], write(part[1]), write(part[2]))
        else:
            nodes.append(Leaf(part))
        return place

    write(nested)
    return Tree(problem.people.features.schema, problem.target, tuple(nodes))


def naive_optimum(problem: Problem, values: list[float]) -> float:
    """The least objective of all trees that `Problem.evaluate` finds feasible."""
    best = np.inf
    for nested in nested_trees(problem.shape.max_depth, any_tests(problem), values):
        score = problem.evaluate(as_tree(nested, problem))
        if score.feasible:
            best = min(best, score.objective)
    return best


class TestAgainstPlainEnumeration:
    @settings(deadline=None, max_examples=25)
    @given(problems(task="classification", max_people=7, max_columns=2, max_values=3, max_depth=1))
    def test_classes_at_depth_one(self, problem: Problem) -> None:
        classes = [float(code) for code in range(problem.people.outcome.n_classes)]
        assert brute_force(problem).objective == pytest.approx(naive_optimum(problem, classes), abs=1e-9)

    @settings(deadline=None, max_examples=8)
    @given(problems(task="classification", max_people=6, max_columns=1, max_values=3, max_depth=2, max_classes=2))
    def test_classes_at_depth_two(self, problem: Problem) -> None:
        assert brute_force(problem).objective == pytest.approx(naive_optimum(problem, [0.0, 1.0]), abs=1e-9)

    def test_two_columns_at_depth_two_with_all_limits(self) -> None:
        people = people_from({"x": [0, 1, 1, None, 0], "c": list("ppqqp")}, [0, 1, 0, 1, 1], {"g": list("ababa")})
        shape = Shape(max_depth=2, max_leaves=3, max_feature_uses={"x": 1}, max_features_used=2)
        problem = pose(people, shape=shape, fairness=DisparateImpact(), fairness_weight=0.2)
        assert brute_force(problem).objective == pytest.approx(naive_optimum(problem, [0.0, 1.0]), abs=1e-12)

    @settings(deadline=None, max_examples=20)
    @given(problems(task="regression", max_people=5, max_columns=1, max_values=3, max_depth=1, forms=["weight"]))
    def test_numbers_against_a_grid(self, problem: Problem) -> None:
        low, high = problem.target.low, problem.target.high
        grid = np.linspace(low, high, 13).tolist()
        entries = abs(problem.disparity.matrix).sum(axis=1) @ problem.disparity.weight[:, 0]
        # Moving every leaf by half a step changes the loss by at most that, and D by at most its entries times that.
        error = (1 + problem.fairness_weight * float(entries)) * (high - low) / 24
        best, exact = naive_optimum(problem, grid), brute_force(problem).objective
        assert exact <= best + 1e-9
        assert best <= exact + error + 1e-9

    @settings(deadline=None, max_examples=20)
    @given(problems(task="regression", max_people=5, max_columns=1, max_values=3, max_depth=1, forms=["limit"]))
    def test_limited_numbers_against_a_grid(self, problem: Problem) -> None:
        grid = np.linspace(problem.target.low, problem.target.high, 13).tolist()
        assert brute_force(problem).objective <= naive_optimum(problem, grid) + 1e-9


def reachable_decisions(problem: Problem, rows: tuple[int, ...], depth: int) -> set[tuple[tuple[int, int], ...]]:
    """Every way in which trees without limits can decide these people, as (person, class) pairs in row order."""
    found = {tuple((row, label) for row in rows) for label in range(problem.people.outcome.n_classes)}
    for values in problem.people.features.data if depth else ():
        kinds = sorted({values[row] for row in rows if values[row] >= 0})
        missing = {row for row in rows if not values[row] >= 0}  # NaN and the code −1 alike
        levels = values.dtype.kind == "i"
        cuts = [kinds[:size] for size in range(1, len(kinds) + 1)]
        subsets = [list(chosen) for size in range(1, len(kinds) + 1) for chosen in combinations(kinds, size)]
        for chosen in subsets if levels else cuts:
            for gone in (missing, set()) if missing else (missing,):
                left = tuple(row for row in rows if row in gone or values[row] in chosen)
                right = tuple(row for row in rows if row not in left)
                if left and right:
                    below = [reachable_decisions(problem, side, depth - 1) for side in (left, right)]
                    found |= {tuple(sorted((*one, *other))) for one, other in product(*below)}
    return found


@settings(deadline=None, max_examples=40)
@given(problems(task="classification", max_people=6, max_values=3, max_depth=3, max_classes=2, limits=False))
def test_deep_trees_against_all_reachable_decisions(problem: Problem) -> None:
    everybody = tuple(range(problem.people.n_people))
    best = np.inf
    for decided in reachable_decisions(problem, everybody, problem.shape.max_depth):
        labels = np.array([label for _, label in decided])
        loss = problem.loss.value(problem.people.outcome, labels, problem.people.share)
        discrimination = problem.disparity.value(problem.psi(labels))
        if problem.max_discrimination is None:
            best = min(best, loss + problem.fairness_weight * discrimination)
        elif discrimination <= problem.max_discrimination + 1e-9:
            best = min(best, loss)
    assert brute_force(problem).objective == pytest.approx(best, abs=1e-9)


class TestWhatHoldsOfAnyOptimum:
    @settings(deadline=None, max_examples=25)
    @given(problems())
    def test_the_answer_is_complete_and_tidy(self, problem: Problem) -> None:
        solution = brute_force(problem)
        people = problem.people
        assert solution.status is Status.PROVEN
        assert solution.stop is Stop.FINISHED
        assert solution.tree is not None
        assert solution.score == problem.evaluate(solution.tree)
        assert solution.score.feasible
        assert solution.bound == solution.objective
        assert tidy(solution.tree, people.features, people.weight) == solution.tree
        assert brute_force(problem).tree == solution.tree

    @settings(deadline=None, max_examples=25)
    @given(problems(forms=["limit"], limits=False), st.sampled_from((0.0, 0.2, 1.0, 5.0)))
    def test_weak_duality_between_the_two_forms(self, problem: Problem, weight: float) -> None:
        assert problem.max_discrimination is not None
        priced = brute_force(problem.with_weight(weight)).objective
        assert brute_force(problem).objective >= priced - weight * problem.max_discrimination - 1e-8

    @settings(deadline=None, max_examples=25)
    @given(problems(), st.randoms(use_true_random=False))
    def test_the_order_of_people_does_not_matter(self, problem: Problem, random: Random) -> None:
        order = list(range(problem.people.n_people))
        random.shuffle(order)
        matrix = problem.disparity.matrix[:, order]
        shuffled = replace(
            problem, people=problem.people.take(np.array(order)), disparity=replace(problem.disparity, matrix=matrix)
        )
        assert brute_force(shuffled).objective == pytest.approx(brute_force(problem).objective, abs=1e-9)

    @settings(deadline=None, max_examples=25)
    @given(problems(limits=True))
    def test_limits_never_help(self, problem: Problem) -> None:
        free = problem.with_shape(Shape(max_depth=problem.shape.max_depth))
        assert brute_force(free).objective <= brute_force(problem).objective + 1e-9

    @settings(deadline=None, max_examples=25)
    @given(problems(max_people=6))
    def test_the_simplified_operator_asks_the_same(self, problem: Problem) -> None:
        simple = replace(problem, disparity=problem.simplified)
        assert brute_force(simple).objective == pytest.approx(brute_force(problem).objective, abs=1e-9)


class TestTies:
    def test_fewer_leaves_come_first(self) -> None:
        people = people_from({"x": [1, 2, 3, 4]}, [0, 0, 0, 0], classes=(0, 1))
        tree = brute_force(pose(people)).tree
        assert tree is not None
        assert tree.nodes == (Leaf(0.0),)

    def test_then_fewer_features(self) -> None:
        # Three leaves either way: x twice, or z and then x.
        people = people_from({"x": [1, 2, 3, 4, 5, 6], "z": [0, 0, 1, 1, 1, 1]}, [0, 0, 1, 1, 0, 0])
        tree = brute_force(pose(people)).tree
        assert tree is not None
        assert tree.feature_uses == {0: 2}

    def test_then_the_lowest_feature_and_threshold(self) -> None:
        people = people_from({"b": [1, 2, 3, 3], "a": [1, 2, 3, 3]}, [0, 1, 0, 1])
        tree = brute_force(pose(people, shape=Shape(max_depth=1))).tree
        assert tree is not None
        assert tree.tests == (ThresholdTest(0, 1.5, False),)

    def test_a_threshold_of_the_whole_table_and_not_of_the_node(self) -> None:
        # Below z, the people with x = 1 and x = 4 are parted; the next value of the table after 1 is 2.
        people = people_from({"z": [0, 0, 1, 1, 1], "x": [1, 4, 2, 3, 3]}, [0, 1, 1, 0, 0])
        tree = brute_force(pose(people)).tree
        assert tree is not None
        thresholds = {test.threshold for test in tree.tests if isinstance(test, ThresholdTest)}
        assert thresholds <= {0.5, 1.5, 2.5, 3.5}


class TestCandidates:
    def test_a_column_with_missing_values(self) -> None:
        table = people_from({"x": [3, None, 1]}, [0, 1, 0]).features
        assert column_tests(table, 0) == [
            ThresholdTest(0, 2.0, False),
            ThresholdTest(0, 2.0, True),
            ThresholdTest(0, 3.0, False),
        ]

    def test_a_column_of_levels(self) -> None:
        table = people_from({"c": ["r", "p", "q", None]}, [0, 1, 0, 1]).features
        lefts = [(test.left, test.missing_left) for test in column_tests(table, 0) if isinstance(test, SubsetTest)]
        subsets = [(0,), (0, 1), (0, 1, 2), (0, 2)]
        assert lefts == [(subset, side) for subset in subsets for side in (False, True)]

    def test_a_column_without_values_has_no_test(self) -> None:
        table = people_from({"x": [None, None], "y": [5, 5]}, [0, 1]).features
        assert column_tests(table, 0) == []
        assert column_tests(table, 1) == []

    def test_counting_by_hand(self) -> None:
        people = people_from({"x": [1, 2, 3]}, [0, 1, 0])
        # Depth 2: the constant, and each of two first splits alone or with the pair it leaves split again.
        assert [count_trees(pose(people, shape=Shape(max_depth=depth))) for depth in (0, 1, 2, 3)] == [1, 3, 5, 5]
        assert count_trees(pose(people, shape=Shape(max_depth=2, min_samples_leaf=2))) == 1
        assert count_trees(pose(people, shape=Shape(max_depth=2, allowed_features=[]))) == 1


class TestRefusals:
    def test_linear_shapes(self) -> None:
        people = people_from({"x": [1, 2]}, [0.5, 1.5], task="regression")
        for shape in (Shape(branching="linear"), Shape(leaves="linear")):
            with pytest.raises(InputError, match="single-feature tests and constant leaves"):
                brute_force(pose(people, shape=shape))

    def test_too_many_trees(self) -> None:
        people = people_from({"x": list(range(60)), "z": [i * 7 % 60 for i in range(60)]}, [0, 1] * 30)
        with pytest.raises(InputError, match="more than 200,000 trees"):
            brute_force(pose(people, shape=Shape(max_depth=3)))

    def test_too_many_classes(self) -> None:
        people = people_from({"x": list(range(14))}, list(range(14)))
        with pytest.raises(InputError, match="too many trees and classes"):
            brute_force(pose(people, shape=Shape(max_depth=3)))

    def test_too_many_levels(self) -> None:
        people = people_from({"job": list("abcdefghijklmn")}, [0, 1] * 7)
        with pytest.raises(InputError, match="'job' has 14 levels"):
            brute_force(pose(people))


def test_a_problem_that_nothing_satisfies() -> None:
    from evenleaf.testing.shelf_fair import no_tree_is_fair_enough

    solution = brute_force(no_tree_is_fair_enough())
    assert (solution.status, solution.tree, solution.score) == (Status.INFEASIBLE, None, None)
    assert solution.objective == solution.bound == np.inf


def test_a_table_without_columns_has_the_constant_tree() -> None:
    people = people_from({"x": [1, 2, 3]}, [0, 1, 1])
    bare = replace(people, features=people.features.drop(["x"]))
    solution = brute_force(pose(bare))
    assert solution.objective == pytest.approx(1 / 3)
    assert solution.tree is not None
    assert solution.tree.target == Target("y", (0, 1))
    assert str(solution.tree) == "y = 1"
