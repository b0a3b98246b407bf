"""Numbers at depth 3: subtrees on a shelf, the planes that they give, and ascents that never claim too much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem, Shape
from evenleaf.solve.search.bundle import Bundle
from evenleaf.solve.values import patterns
from evenleaf.solve.values import shelf as shelves
from evenleaf.solve.values.ascent import DEEP_CLIMB, Ascent
from evenleaf.solve.values.boxes import Box, first_boxes, single_root
from evenleaf.solve.values.branching import Proof
from evenleaf.solve.values.compiled import compile_values
from evenleaf.solve.values.limits import possible_tests
from evenleaf.solve.values.oracle import SubtreeOracle
from evenleaf.solve.values.planes import PlaneClimb
from evenleaf.solve.values.shelf import Shelf
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems


def leaf_cost(outcome: np.ndarray, share: np.ndarray, price: float) -> float:
    """min over u in [0, 1] of Σ share·|y − u| + price·u: at an outcome, or at an end."""
    return min(float(share @ np.abs(outcome - u)) + price * u for u in (0.0, 1.0, *outcome))


NO_ROWS = np.zeros((2, 0))


def members(leaf: np.ndarray) -> list[np.ndarray]:
    """Who is in each of the four leaves of a side."""
    return [np.flatnonzero(leaf % 4 == q) for q in range(4)]


@given(seed=st.integers(0, 10_000), n=st.integers(0, 12), n_subtrees=st.integers(1, 5))
@settings(deadline=None, max_examples=200)
def test_known_subtrees_cost_what_their_leaves_do(seed: int, n: int, n_subtrees: int) -> None:
    random = np.random.default_rng(seed)
    outcome, share = random.integers(0, 5, n) / 4, random.integers(1, 4, n) / 10
    costs = random.normal(size=n) * random.choice([0.01, 0.3, 3.0])
    shelf = Shelf(np.argsort(outcome, kind="stable"), outcome, share, 0)
    leaves = [random.integers(0, 8, n) for _ in range(n_subtrees)]
    for k, leaf in enumerate(leaves):
        shelf.add((k, 0, 0), leaf, NO_ROWS)
    expected = [
        sum(
            leaf_cost(outcome[here], share[here], float(costs[here].sum()))
            for here in (leaf % 4 == q for q in range(4))
        )
        for leaf in leaves
    ]
    cost, (which, _, _) = shelf.cheapest(costs, np.zeros(0), 1.0)
    assert cost == pytest.approx(min(expected), abs=1e-12)
    assert expected[which] == pytest.approx(cost, abs=1e-12)


def test_a_full_shelf_forgets_what_was_not_the_cheapest_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "_MOST", 2)
    monkeypatch.setattr(shelves, "_LATELY", 1)
    outcome = np.array([0.0, 1.0])
    shelf = Shelf(np.arange(2), outcome, np.full(2, 0.5), 0)
    together, apart = np.array([0, 0]), np.array([0, 1])
    shelf.add((1, 1, 1), apart, NO_ROWS)
    shelf.add((2, 2, 2), together, NO_ROWS)
    assert shelf.cheapest(np.zeros(2), np.zeros(0), 1.0) == (0.0, (1, 1, 1))
    shelf.add((3, 3, 3), together, NO_ROWS)
    assert set(shelf.places) == {(1, 1, 1), (3, 3, 3)}
    shelf.add((3, 3, 3), together, NO_ROWS)
    assert len(shelf.subtrees) == 2
    for _ in range(3):
        shelf.cheapest(np.zeros(2), np.zeros(0), 1.0)
    assert shelf.lately_used() == [(1, 1, 1)]


def test_a_full_bundle_forgets_the_plane_that_pulled_least_lately() -> None:
    bundle: Bundle[str] = Bundle(1, 2)
    bundle.add(0.0, np.array([1.0]), "rising")
    bundle.add(5.0, np.array([0.0]), "high")
    assert bundle.nearest(np.zeros(1), 0.5, 1e-9, again=False) == pytest.approx([0.5])
    bundle.add(1.0, np.array([-1.0]), "falling")
    assert bundle.origins == ["rising", "falling"]
    bundle.nearest(np.zeros(1), 0.9, 1e-9, again=False)
    assert 0.5 <= bundle.ceiling < 0.9  # they cross at a half; a ceiling below the level is all that is looked for
    assert {origin for _, origin in bundle.mixture} == {"rising", "falling"}


def test_multipliers_at_the_end_of_their_range_may_come_back() -> None:
    bundle: Bundle[None] = Bundle(3, 4)
    bundle.add(0.0, np.array([-1.0, 1.0, 0.0]), None)
    point = bundle.nearest(np.array([1.0, -1.0, 1.0]), -1.0, 1e-9, again=False)
    assert point == pytest.approx([0.5, -0.5, 1.0])


def weighed(problem: Problem) -> Problem:
    return problem.with_shape(replace(problem.shape, max_depth=3))


@given(problem=problems(task="regression", max_depth=3, max_columns=2, max_values=3, forms=("weight", "plain")))
@settings(deadline=None, max_examples=40)
def test_no_bound_is_above_the_optimum_even_from_the_trees_of_another_root(problem: Problem) -> None:
    """An aim far above the optimum asks for as much as the planes allow; each box starts from the last one's trees."""
    problem = weighed(problem)
    compiled = compile_values(problem)
    assume(compiled.n_tests > 0 and compiled.spread > 0)
    best = brute_force(problem)
    assume(best.tree is not None and best.tree.depth > 0)
    assert best.objective is not None
    ascent = Ascent(compiled, problem.shape, None)
    allowed = np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)
    target, bounds = 2 * best.objective / compiled.spread + 1.0, []
    for marks in possible_tests(problem.shape, compiled):
        known = None
        for box in first_boxes(compiled, marks, np.zeros_like(compiled.weight), 1.0):
            reached = ascent.climb(replace(box, mixture=known), allowed, target, DEEP_CLIMB).box
            known = reached.mixture
            bounds.append(reached.bound)
    assert min(bounds) <= best.objective / compiled.spread + 1e-9


@given(problem=problems(task="regression", max_depth=3, max_columns=2, forms=("weight",)), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=40)
def test_a_plane_is_what_its_tree_costs(problem: Problem, seed: int) -> None:
    """At the multipliers where a tree was met, its plane is as high as the bound there; elsewhere no lower."""
    problem = weighed(problem).with_shape(Shape(max_depth=3))
    compiled = compile_values(problem)
    assume(compiled.n_tests > 0 and compiled.spread > 0)
    random = np.random.default_rng(seed)
    ascent = Ascent(compiled, problem.shape, None)
    (marks,) = possible_tests(problem.shape, compiled)
    for box in first_boxes(compiled, marks, np.zeros_like(compiled.weight), 1.0):
        oracle = SubtreeOracle(box, ascent.scratch, keeps_sides=False)
        climb = PlaneClimb(box, oracle, ascent.scratch, 10.0, None)
        climb.begin()
        mu = random.uniform(-1, 1, compiled.weight.shape)
        value, tests = climb.bound(mu, 1.0)
        climb.learn(tests)
        bundle = climb.bundle
        assert bundle.constants[0] + bundle.slopes[0] @ mu[:, 0] == pytest.approx(value, abs=1e-9)
        assert climb.cheapest_known(mu[:, 0])[0] == pytest.approx(value, abs=1e-9)
        elsewhere = random.uniform(-1, 1, compiled.weight.shape)
        lower, _ = climb.bound(elsewhere, 1.0)
        assert bundle.constants[0] + bundle.slopes[0] @ elsewhere[:, 0] >= lower - 1e-9
        assert climb.cheapest_known(elsewhere[:, 0])[0] >= lower - 1e-9
        # What is ruled out at some multipliers does not depend on what known trees were priced at since.
        climb.target = value + 0.1 * abs(value)
        climb.bound(mu, 1.0)
        expected = climb.survivors(mu, 1.0)
        climb.bound(mu, 1.0)
        climb.cheapest_known(elsewhere[:, 0])
        assert np.array_equal(climb.survivors(mu, 1.0), expected)


def test_patterns_that_take_too_much_memory_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of 8 bytes a node: with room for five nodes, the first of a feature goes, but never its last."""
    monkeypatch.setattr(patterns, "_MOST_BYTES", 40)

    def proof(n_children: int) -> Proof:
        top = Proof(np.zeros(1), 1.0)
        top.children = {k: Proof(np.zeros(1), 1.0) for k in range(n_children)}
        return top

    def root(feature: int, n_left: int) -> Box:
        return single_root(feature, np.arange(6) < n_left, np.ones((6, 8), dtype=np.uint8), np.zeros(1), 1.0)

    kept, first, second = patterns.Patterns(), proof(1), proof(2)
    kept.keep(root(0, 1), first)
    kept.keep(root(0, 4), second)
    assert kept.nearest(root(0, 2)) is first
    assert kept.bytes == 40
    kept.keep(root(1, 3), proof(0))
    assert kept.nearest(root(1, 3)) is not None
    kept.keep(root(0, 5), third := proof(0))
    assert kept.nearest(root(0, 2)) is second
    assert kept.nearest(root(0, 5)) is third
    assert kept.bytes == 40
