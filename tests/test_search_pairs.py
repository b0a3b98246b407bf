"""Categorical roots with many levels: the pairs of stumps against every subset there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.search.boxes import LEFT, MOVING, Box
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.pairs import PairOracle
from evenleaf.testing import people_from

ROOT_LEVELS = 7


def question(random: np.random.Generator, levels: int, classes: int) -> Problem:
    """A column whose levels part people at the root, one with levels below it, and a number."""
    n = 40
    a, b, x = random.integers(0, ROOT_LEVELS, n), random.integers(0, levels, n), random.integers(0, 3, n)
    a[:ROOT_LEVELS], b[:levels] = np.arange(ROOT_LEVELS), np.arange(levels)
    y = (a + b + x) % classes
    columns = {"a": [f"a{i}" for i in a], "b": [f"b{i:02d}" for i in b], "x": x.astype(float)}
    people = people_from(columns, y, {"g": ["pq"[i] for i in random.integers(0, 2, n)]})
    return pose(people, fairness=DisparateImpact(), fairness_weight=0.5, shape=Shape(max_depth=2))


def oracle_for(compiled: Compiled, costs: np.ndarray) -> PairOracle:
    """All subsets of the first column's levels at once."""
    scratch = Scratch(compiled, 1, lambda: False)
    scratch.costs[:] = costs
    state = np.full(int(compiled.sizes[0]), MOVING, dtype=np.int8)
    state[0] = LEFT
    moving = np.flatnonzero(state == MOVING)
    alive = np.ones((2, int(compiled.offsets[-1])), dtype=np.uint8)
    none, every = np.zeros(0, dtype=np.int64), np.ones(1, dtype=np.bool_)
    box = Box(0, state, moving, none, every, alive, -np.inf, np.zeros_like(compiled.weight), 1.0)
    assert box.chooses
    options = compiled.n_features + 1
    return PairOracle(box, np.ones((options, options), dtype=np.bool_), scratch)


def cheapest_stump(compiled: Compiled, prices: np.ndarray, member: np.ndarray) -> float:
    """One label for all, or the best cut, or each level its cheaper label of two."""
    best = prices[member].sum(axis=0).min()
    for f in range(compiled.n_features):
        ranks = compiled.ranks[f][member]
        sums = np.array([np.bincount(ranks, weights=p, minlength=int(compiled.sizes[f])) for p in prices[member].T])
        for one, two in combinations(range(len(sums)), 2):
            if compiled.unordered[f]:
                best = min(best, np.minimum(sums[one], sums[two]).sum())
            else:
                below = [np.cumsum(sums[label])[:-1] for label in (one, two)]
                rest = [sums[label].sum() - part for label, part in zip((one, two), below, strict=True)]
                best = min(best, (below[0] + rest[1]).min(), (below[1] + rest[0]).min())
    return float(best)


def cheapest_tree(compiled: Compiled, costs: np.ndarray) -> float:
    prices = np.column_stack([np.zeros(len(costs)), costs])
    best = np.inf
    for number in range(1 << (int(compiled.sizes[0]) - 1)):
        left = np.concatenate([[True], (number >> np.arange(int(compiled.sizes[0]) - 1)) & 1 == 1])
        member = left[compiled.ranks[0]]
        best = min(best, sum(cheapest_stump(compiled, prices, side) for side in (member, ~member)))
    return best


@given(seed=st.integers(0, 10_000), levels=st.integers(3, 8), classes=st.integers(2, 3))
@settings(max_examples=25)
def test_spelt_out_the_bound_is_exact(seed: int, levels: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    compiled = compile_problem(question(random, levels, classes))
    costs = random.normal(size=(compiled.n_people, classes - 1))
    oracle = oracle_for(compiled, costs)
    value, choice = oracle.best(np.inf)
    assert value == pytest.approx(cheapest_tree(compiled, costs), abs=1e-9)
    assert oracle.is_real(choice)
    labels = oracle.labels(choice)
    prices = np.column_stack([np.zeros(len(costs)), costs])
    assert prices[np.arange(len(costs)), labels].sum() == pytest.approx(value, abs=1e-9)


@given(seed=st.integers(0, 10_000), levels=st.integers(9, 12), classes=st.integers(2, 3))
@settings(max_examples=25)
def test_with_more_levels_it_is_a_bound_between_the_relaxed_one_and_the_truth(
    seed: int, levels: int, classes: int
) -> None:
    random = np.random.default_rng(seed)
    compiled = compile_problem(question(random, levels, classes))
    costs = random.normal(size=(compiled.n_people, classes - 1))
    truth = cheapest_tree(compiled, costs)
    relaxed, _ = oracle_for(compiled, costs).best(-np.inf)
    oracle = oracle_for(compiled, costs)
    spelt, choice = oracle.best(np.inf)
    assert relaxed - 1e-9 <= spelt <= truth + 1e-9
    if oracle.is_real(choice):
        assert spelt == pytest.approx(truth, abs=1e-9)


@given(seed=st.integers(0, 10_000), slack=st.floats(0.0, 3.0))
@settings(max_examples=25)
def test_what_the_best_tree_needs_survives(seed: int, slack: float) -> None:
    random = np.random.default_rng(seed)
    compiled = compile_problem(question(random, 6, 2))
    oracle = oracle_for(compiled, random.normal(size=(compiled.n_people, 1)))
    value, choice = oracle.best(np.inf)
    plan = oracle.plan(choice, oracle.labels(choice))
    live, alive = oracle.survivors(value + slack + 1e-9)
    assert live.all()
    for side, stump in enumerate((plan.left, plan.right)):
        if stump is not None:
            cut = 0 if compiled.unordered[stump.feature] else int(stump.left_ranks.sum()) - 1
            assert alive[side, compiled.offsets[stump.feature] + cut]
    assert not oracle.survivors(value - 1e-9)[0].any()
