"""D ≤ ε by whole numbers: rates as fractions, and the very edge of the limit, where floating-point sums err."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from evenleaf.fairness import DisparateImpact, DisparateTreatment, EqualizedOdds, EqualOpportunity, Notion
from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem, Shape, pose
from evenleaf.problem.whole import find_whole
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Branch, Leaf, Node, ThresholdTest, Tree
from test_fronts_shallow import random_people

FEW_ROWS = ("impact", "conditional", "opportunity", "predictive", "odds", "mistreatment", "combination")


@given(problem=problems(task="classification", notions=FEW_ROWS, weights=False, max_groups=4))
@settings(max_examples=100)
def test_fractions_are_what_floats_are_near(problem: Problem) -> None:
    whole = problem.whole
    if problem.disparity.n_rows == 0:
        assert whole is None
        return
    assert whole is not None
    random = np.random.default_rng(0)
    for _ in range(5):
        decided = random.integers(0, problem.people.outcome.n_classes, problem.people.n_people)
        value = whole.value(decided)
        assert float(value) == pytest.approx(problem.disparity.value(problem.psi(decided)), abs=1e-12)
        assert (value / whole.step).denominator == 1


def test_a_rate_by_hand() -> None:
    people = people_from({"x": [0.0, 1.0, 0.0]}, [0, 1, 1], {"g": ["a", "b", "b"]}, weight=[2, 1, 3])
    whole = find_whole(DisparateImpact().operator(people), people.weight)
    assert whole is not None
    # Of weight 6 a quarter of b's 4 is class 1 and nothing of a's 2: |1/6 − 0| + |1/6 − 1/4|, and class 0 likewise.
    assert whole.value(np.array([0, 1, 0])) == 2 * (Fraction(1, 6) + Fraction(1, 12))


def test_what_has_no_whole_numbers() -> None:
    columns, groups = {"x": [0.0, 1.0, 2.0, 3.0]}, {"g": ["a", "b", "b", "a"]}
    half = people_from(columns, [0, 1, 1, 0], groups, weight=[0.5, 1, 1, 1])
    assert pose(half, fairness=DisparateImpact()).whole is None
    assert pose(people_from(columns, [0, 1, 1, 0], groups)).whole is None


def test_nearest_neighbours_are_rates_too() -> None:
    people = people_from({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 1, 1, 0], {"g": ["a", "b", "b", "a"]})
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=2))
    assert problem.whole is not None
    decided = np.array([1, 0, 1, 1])
    assert float(problem.whole.value(decided)) == pytest.approx(problem.disparity.value(problem.psi(decided)))


def limits_near(value: float) -> Iterator[float]:
    """Limits whose sum with the tolerance is the value but for a few units in the last place."""
    limit = value - FEASIBILITY_TOLERANCE
    below = np.nextafter(limit, 0.0)
    yield from (float(below), float(limit), float(np.nextafter(limit, 9.0)))


def test_the_edge_is_decided_by_whole_numbers() -> None:
    erred = 0
    for seed in range(20):
        problem = pose(random_people(seed, 50, 4, 3), fairness=DisparateImpact(), max_discrimination=0.3)
        assert problem.whole is not None
        for column in range(4):
            threshold = float(np.mean(problem.people.features.data[column]))
            nodes = (Branch(ThresholdTest(column, threshold), 1, 2), Leaf(0.0), Leaf(1.0))
            tree = Tree(problem.people.features.schema, problem.target, nodes)
            score = problem.evaluate(tree)
            exact = problem.whole.value(tree.decide(problem.people.features))
            for limit in limits_near(score.discrimination):
                fair = exact <= Fraction(limit) + Fraction(FEASIBILITY_TOLERANCE)
                assert problem.with_limit(limit).evaluate(tree).feasible == fair
                erred += (score.discrimination <= limit + FEASIBILITY_TOLERANCE) != fair
    assert erred > 0  # floats alone would decide some of these wrongly


def stumps(columns: list[int], thresholds: list[float]) -> Iterator[tuple[Node, ...]]:
    yield from ((Leaf(float(label)),) for label in (0, 1))
    for column in columns:
        for low in (0.0, 1.0):
            yield Branch(ThresholdTest(column, thresholds[column]), 1, 2), Leaf(low), Leaf(1.0 - low)


def moved(nodes: tuple[Node, ...], by: int) -> list[Node]:
    return [Branch(node.test, node.left + by, node.right + by) if isinstance(node, Branch) else node for node in nodes]


def least_loss(problem: Problem) -> float:
    """The best tree of depth 2 by `Problem.evaluate`, every one built; tests that part nobody are no tests."""
    features = problem.people.features
    thresholds = [float(np.mean(values)) for values in features.data]
    best = np.inf
    for root in range(features.n_columns):
        others = [column for column in range(features.n_columns) if column != root]
        for left, right in product(list(stumps(others, thresholds)), repeat=2):
            nodes = [Branch(ThresholdTest(root, thresholds[root]), 1, 1 + len(left)), *moved(left, 1)]
            tree = Tree(features.schema, problem.target, (*nodes, *moved(right, 1 + len(left))))
            score = problem.evaluate(tree)
            best = min(best, score.objective if score.feasible else np.inf)
    return best


@pytest.mark.parametrize("notion", [DisparateImpact(), EqualOpportunity(1), EqualizedOdds(1)], ids=str)
def test_solvers_keep_to_the_edge(notion: Notion) -> None:
    for seed in range(4):
        problem = pose(random_people(seed, 50, 3, 3), fairness=notion, max_discrimination=0.3)
        found = FrontSolver().solve(problem, Budget())
        assert found.score is not None
        for limit in limits_near(found.score.discrimination):
            tight = problem.with_limit(max(limit, 0.0))
            best = least_loss(tight)
            for solution in (FrontSolver().solve(tight, Budget()), FrontSolver()._searched(tight, Budget(), None)):
                assert solution.proven
                assert solution.objective == pytest.approx(best, abs=1e-12)


def test_the_edge_at_depth_three() -> None:
    for seed in range(6):
        people = random_people(seed, 50, 4, 3)
        problem = pose(people, fairness=DisparateImpact(), max_discrimination=0.3, shape=Shape(max_depth=3))
        found = FrontSolver().solve(problem, Budget())
        assert found.score is not None
        assert found.tree is not None
        for limit in limits_near(found.score.discrimination):
            tight = problem.with_limit(limit)
            answer = FrontSolver().solve(tight, Budget())
            assert answer.proven
            if tight.evaluate(found.tree).feasible:
                assert answer.objective == pytest.approx(found.objective, abs=1e-12)
            else:
                assert answer.objective >= found.objective - 1e-12
