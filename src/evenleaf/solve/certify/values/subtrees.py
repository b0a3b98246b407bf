"""Depth 3: which tests may hang below a root in a tree that costs less than a budget, two levels of them on a side.

Every child test is priced with the best stumps below it. A part of the people that grows costs at least as much more
as each newcomer costs alone, so that two priced cuts bound all cuts between them: runs of cuts are halved, and those
that reach the budget are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.certify.values.below import FREE, Below, Trees
from evenleaf.solve.certify.values.coupled import Coupled, places_tested
from evenleaf.solve.certify.values.kernels import below_children, leaf_cost
from evenleaf.solve.certify.values.numbers import Numbers, Prices
from evenleaf.table import Schema

_CHILDREN = 512  # so many child tests are priced at a time


@dataclass(frozen=True)
class _Run:
    """Cuts of a feature, the cost of what lies below and above them all, and what everybody between costs alone."""

    feature: int
    cuts: np.ndarray
    below: float
    above: float
    between: tuple[float, float]

    @property
    def bound(self) -> float:
        return self.below + self.above + self.between[1] - self.between[0]


class _Priced:
    """People and rows of the disparity at some prices, and between which levels caps leave everybody's value."""

    def __init__(self, numbers: Numbers, trees: Trees, prices: Prices) -> None:
        caps = trees.caps
        levels = np.unique(np.concatenate([numbers.levels, np.clip([cap.value for cap in caps], 0.0, 1.0)]))
        lowest = np.zeros(len(numbers.count), dtype=np.int64)
        highest = np.full(len(numbers.count), len(levels) - 1)
        for cap in caps:
            at, who = int(np.searchsorted(levels, min(max(cap.value, 0.0), 1.0))), cap.person
            if cap.above:
                lowest[who] = max(lowest[who], at)
            else:
                highest[who] = min(highest[who], at)
        level = np.searchsorted(levels, numbers.levels[numbers.level])
        self.people = (level, levels, numbers.share, prices.person, numbers.count, lowest, highest)
        entries = numbers.operator
        self.rows = (entries.indptr, entries.indices, entries.data, numbers.row_size, prices.steep, prices.lean)
        outcome = levels[level]
        near = np.array([np.clip(outcome, levels[lowest], levels[highest]), levels[lowest], levels[highest]])
        self.alone = (numbers.share * np.abs(near - outcome) + prices.person * near).min(axis=0)


class _Side:
    """One side of the root: its people, and what is alive there (the child's row, then two further down)."""

    def __init__(self, below: SubtreesBelow, trees: Trees, side: int, prices: _Priced, least: int) -> None:
        self.below, self.numbers, self.prices, self.least = below, below.numbers, prices, least
        self.who = trees.who(side)
        self.child = trees.alive[side].copy()
        self.grand = trees.alive[2 + 2 * side : 4 + 2 * side]
        self.child[-1] &= self.grand[:, -1].all()  # a side without a test has none further down
        order = [self.who[np.argsort(rank[self.who], kind="stable")] for rank in self.numbers.ranks]
        self.order = np.array(order, dtype=np.int64)
        offsets, n_tests = self.numbers.offsets, self.numbers.n_tests
        self.starts, self.tests = np.zeros((2, len(offsets)), dtype=np.int64), np.zeros((2, n_tests), dtype=np.int64)
        for part in (0, 1):
            kept = np.flatnonzero(self.grand[part, :-1])
            self.starts[part] = np.searchsorted(kept, offsets)
            self.tests[part, : len(kept)] = kept - offsets[self.numbers.feature_of[kept]]
        self.alone = float(prices.alone[self.who].sum())

    def whole(self) -> float:
        """Everybody of the side in one leaf."""
        marks = np.zeros(len(self.numbers.count), dtype=np.int64)
        cost, crowd = leaf_cost(self.who, marks, 0, self.prices.people, np.zeros(len(self.prices.people[1])))
        return float(cost) if crowd >= self.least else np.inf

    def priced(self, tests: np.ndarray, cutoff: float = -np.inf, totals: np.ndarray | None = None) -> np.ndarray:
        """Both parts of some child tests, then both with leaves of any size; `totals` as `below_children` says."""
        n, found, priced = self.numbers, [], (self.prices.people, self.prices.rows)
        tables = (n.ranks, n.unordered, n.offsets)
        totals = np.full((2, n.n_tests + 1), np.inf) if totals is None else totals
        for start in range(0, len(tests), _CHILDREN):
            right = np.zeros((len(tests[start : start + _CHILDREN]), len(n.count)), dtype=np.uint8)
            for row, test in zip(right, tests[start : start + _CHILDREN], strict=True):
                row[:] = self.below.goes_right(int(test))
            stumps = (self.grand, self.starts, self.tests)
            found.append(below_children(self.order, right, *stumps, *priced, tables, self.least, cutoff, totals))
        return np.concatenate(found)

    def costs(self, cutoff: float) -> np.ndarray:
        """The cost of each child test, infinite where that is sure to reach the cutoff; the last entry: no test."""
        n, cost = self.numbers, np.full(self.numbers.n_tests + 1, np.inf)
        if self.child[-1]:
            cost[-1] = self.whole()
        runs: list[_Run] = []
        for feature in range(n.n_features):
            tests = np.flatnonzero(self.child[n.offsets[feature] : n.offsets[feature + 1]])
            if not n.unordered[feature]:
                runs.append(_Run(feature, tests, 0.0, 0.0, (0.0, self.alone)))
            elif len(tests):
                parts = self.priced(n.offsets[feature] + tests)
                cost[n.offsets[feature] + tests] = parts[:, 0] + parts[:, 1]
        while runs := [run for run in runs if len(run.cuts) and run.bound < cutoff]:
            middle = np.array([n.offsets[run.feature] + run.cuts[len(run.cuts) // 2] for run in runs])
            parts = self.priced(middle)
            cost[middle] = parts[:, 0] + parts[:, 1]
            runs = [half for run, part in zip(runs, parts, strict=True) for half in self._halves(run, part)]
        return cost

    def _halves(self, run: _Run, parts: np.ndarray) -> list[_Run]:
        """The cuts on either side of the middle one, which was priced."""
        k = len(run.cuts) // 2
        inside = self.numbers.ranks[run.feature][self.who] <= run.cuts[k]
        reached = float(self.prices.alone[self.who][inside].sum())
        return [
            _Run(run.feature, run.cuts[:k], run.below, float(parts[3]), (run.between[0], reached)),
            _Run(run.feature, run.cuts[k + 1 :], float(parts[2]), run.above, (reached, run.between[1])),
        ]

    def kept(self, cost: np.ndarray, cutoff: float) -> np.ndarray:
        """The child's row and the two below it, without the tests that lead nowhere below the cutoff."""
        child, totals = self.child & (cost < cutoff), np.full((2, len(cost)), np.inf)
        if child[:-1].any():
            self.priced(np.flatnonzero(child[:-1]), cutoff, totals)
        grand = self.grand & (totals < cutoff)
        grand[:, -1] |= child[-1]
        return np.concatenate([child[None], grand])


class SubtreesBelow(Below):
    """Depth 3: on either side a test or none, and below a test two more."""

    n_places, rounding = 6, 1e-12

    def __init__(self, numbers: Numbers, shape: Shape, schema: Schema) -> None:
        super().__init__(numbers, shape.min_samples_leaf)
        self.coupled, self.tested = Coupled(shape, schema, numbers), places_tested(shape.max_leaves)

    def within_limits(self, trees: Trees) -> Trees:
        """Without the tests that would break a limit on columns in every tree."""
        return replace(trees, alive=self.coupled.left(trees.feature, trees.alive))

    def survivors(self, trees: Trees, prices: Prices, budget: float) -> np.ndarray:
        """The tests a place that some tree cheaper than the budget has."""
        priced, free = _Priced(self.numbers, trees, prices), trees.who(FREE)
        budget -= float(priced.alone[free].sum())
        least = self.least - int(self.numbers.count[free].sum())
        sides = [_Side(self, trees, side, priced, least) for side in (0, 1)]
        first = int(len(sides[0].who) > len(sides[1].who))
        cost, lowest = [np.zeros(0)] * 2, [side.alone for side in sides]
        for side in (first, 1 - first):
            cutoff = budget - lowest[1 - side]
            cost[side] = sides[side].costs(cutoff)
            lowest[side] = min(float(cost[side].min()), cutoff)
        alive = np.zeros_like(trees.alive)
        if sum(lowest) < budget:
            for side in (0, 1):
                rows = sides[side].kept(cost[side], budget - lowest[1 - side])
                alive[[side, 2 + 2 * side, 3 + 2 * side]] = rows
        return alive

    def listed(self, trees: Trees) -> Iterator[np.ndarray]:
        """Everybody's leaf in each of the trees, where there is one root; every leaf has people enough."""
        none = self.numbers.n_tests
        for tests in product(*(np.flatnonzero(row).tolist() for row in trees.alive)):
            if any(tests[s] == none and tests[2 + 2 * s : 4 + 2 * s] != (none, none) for s in (0, 1)):
                continue
            if not self.coupled.keeps(self.coupled.counted(trees.feature, tests)):
                continue
            goes = [self.goes_right(test) for test in tests]
            child = np.where(trees.side == 0, goes[0], goes[1])
            grand = np.choose(2 * trees.side + child, goes[2:])
            leaf = 4 * trees.side + 2 * child + grand
            tested = [test != none for test in tests]
            crowd = np.bincount(leaf, weights=self.numbers.count, minlength=8)
            if all(crowd[number] >= self.least for number in _leaves(tested)):
                yield leaf


def _leaves(tested: list[bool]) -> list[int]:
    """The numbers of a tree's leaves: the side of the root, of the test below, of the test below that."""
    found = []
    for side in (0, 1):
        for child in (0, 1) if tested[side] else (0,):
            found += [4 * side + 2 * child + last for last in ((0, 1) if tested[2 + 2 * side + child] else (0,))]
    return found
