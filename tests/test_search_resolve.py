"""Stumps over long lists of levels: one label a level, in the search and in the checker, against every subset."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certify.labels.spelling import cheapest_spelt_out
from evenleaf.solve.certify.labels.stumps import People, Stumps
from evenleaf.solve.search.boxes import single_root
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.deep import DeepOracle
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.resolve import resolve
from evenleaf.testing import people_from

LEVELS_ABOVE, LEVELS_BELOW = 12, 10  # so many are not listed, and so many are not all spelt out
_HUGE = 1e9


def long_lists(seed: int) -> Problem:
    """Two columns with many levels and a number."""
    random = np.random.default_rng(seed)
    n = 120
    columns = {
        "above": [f"a{level:02}" for level in np.arange(n) % LEVELS_ABOVE],
        "below": [f"b{level:02}" for level in random.permutation(np.arange(n) % LEVELS_BELOW)],
        "root": np.arange(n) // 100,
    }
    groups = {"g": ["xy"[i] for i in random.integers(2, size=n)]}
    people = people_from(columns, random.integers(2, size=n), groups)
    return pose(people, fairness=DisparateTreatment(n_neighbors=3), fairness_weight=1.0, shape=Shape(max_depth=3))


def by_hand(c: Compiled, costs: np.ndarray, member: np.ndarray, above: int, below: int) -> float:
    """The cheapest pair of stumps, each a subset of `below` or none, under a subset of `above`: all are tried."""
    cells = np.zeros((LEVELS_ABOVE, LEVELS_BELOW))
    np.add.at(cells, (c.ranks[above][member], c.ranks[below][member]), costs[member])
    subsets = np.array(list(product((0.0, 1.0), repeat=LEVELS_BELOW)))
    given = cells @ subsets.T  # what each level above costs, if these levels below have label 1
    best = np.inf
    for column in given.T:
        best = min(best, float(np.minimum(given, column[:, None]).sum(axis=0).min()))
    return best


def one_root(seed: int) -> tuple[Compiled, np.ndarray, np.ndarray, DeepOracle]:
    """A root that leaves a hundred people on its left, and prices by chance."""
    c = compile_problem(long_lists(seed))
    scratch = Scratch(c, 1, lambda: False)
    scratch.costs[:, 0] = np.random.default_rng(seed).normal(size=c.n_people)
    root = on_column(c, 2)
    box = single_root(c, root, np.array([True, False]), np.zeros_like(c.weight), 1.0, 3)
    return c, scratch.costs[:, 0], c.ranks[root] == 0, DeepOracle(box, scratch, 2)


def on_column(c: Compiled, column: int) -> int:
    """The feature of a column."""
    return next(f for f, feature in enumerate(c.features) if feature.column == column)


def pairs_on(oracle: DeepOracle, feature: int) -> Any:
    """The pairs of stumps below a test on a feature, on the left of the root."""
    side = oracle.sides[0]
    assert isinstance(side, Children)
    return next(pairs for pairs in side.pairs if pairs.feature == feature)


@pytest.mark.parametrize("seed", range(4))
def test_a_resolved_pair_is_the_best_of_all_subsets(seed: int) -> None:
    c, costs, member, oracle = one_root(seed)
    above = on_column(c, 0)
    expected = by_hand(c, costs, member, above, on_column(c, 1))
    assert pairs_on(oracle, above).best(costs[:, None], _HUGE, -_HUGE) < expected - 1e-9
    resolve(oracle)
    pairs = pairs_on(oracle, above)
    # Stumps on the column above itself are not tried by hand; where they win, the pair is cheaper still.
    value = pairs.best(costs[:, None], _HUGE, -_HUGE)
    assert pairs.real
    labels = np.zeros(c.n_people, dtype=np.int64)
    pairs.label(costs[:, None], labels)
    assert costs[member & (labels == 1)].sum() == pytest.approx(value, abs=1e-9)
    assert value <= expected + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_checker_finds_the_same(seed: int) -> None:
    c, costs, member, oracle = one_root(seed)
    above = on_column(c, 0)
    resolve(oracle)
    pairs = pairs_on(oracle, above)
    value = pairs.best(costs[:, None], _HUGE, -_HUGE)
    people = People(np.vstack([np.zeros(member.sum()), costs[member]]), c.ranks[:, member], c.count[member])
    every = np.ones(int(c.offsets[-1]), dtype=np.bool_)
    n_parts = int(c.sizes[above])
    for budget in (value + 0.3, value + 1e-6, value - 1e-6):
        found = cheapest_spelt_out(Stumps(c), people, c.ranks[above][member], n_parts, every, above, budget)
        assert found == pytest.approx(min(value, budget), abs=1e-9)
