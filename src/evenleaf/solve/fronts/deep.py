"""First tests above slots of depth 2 and more, the cheapest first, at one multipliers.

Best-first over boxes of tests. A box costs at least what the people on either side of all its tests cost, each side with
the best tree for them alone, and what the free people cost, each with the label that they like best (a free level as a
whole). The side of a cut is looked at once, and only as far as the target asks. Wherever the search is stopped, the
boxes that wait hold all tests below the target, so that the lowest of them tells what no test costs less than.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenleaf.solve.fronts.answers import Children, OutOfTime
from evenleaf.solve.fronts.lane import Prices
from evenleaf.solve.fronts.swept import swept
from evenleaf.solve.fronts.tests import FREE, LEFT, RIGHT, Box, Cuts, Levels

if TYPE_CHECKING:
    from evenleaf.solve.fronts.oracle import Oracle

MOST_WORK = 2_000_000  # people looked at for one answer
FEWEST_LOOKS = 64
_Key = tuple[int, object, int, int]  # feature, cut or levels, side, people that a leaf needs


class Priced(NamedTuple):
    """A box of first tests and what it costs at least; what it costs where it is one test."""

    value: float
    box: Box
    single: bool


class _Side(NamedTuple):
    """What one side of a test costs; where it is not exact, at least that."""

    value: float
    exact: bool


@dataclass(eq=False)
class FirstTests:
    """The first tests of a slot of a depth of 3 and more."""

    oracle: Oracle
    members: np.ndarray
    depth: int
    prices: Prices
    looks: int = 0
    sides: dict[_Key, _Side] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """So many sides of tests are looked at: fewer of many people, as the boxes may be split elsewhere as well."""
        return max(FEWEST_LOOKS, MOST_WORK // max(1, len(self.members)))

    def below(self, target: float) -> Iterator[Priced]:
        """Every test that costs less than the target, the cheapest first; in the end the boxes not looked into."""
        waiting: list[tuple[float, int, Priced]] = []
        order = count()
        liked = float(self.oracle.free(self.members, self.prices)[0])
        for box in self._features():
            heapq.heappush(waiting, (liked, next(order), Priced(liked, box, single=False)))
        while waiting and waiting[0][0] < target:
            priced = heapq.heappop(waiting)[2]
            if priced.single or self.looks >= self.most:
                yield priced
                continue
            if self.oracle.out_of_time():
                raise OutOfTime
            for half in self._halves(priced.box):
                value, single = self.bound(half, target)
                value = max(value, priced.value)
                if value < target:
                    heapq.heappush(waiting, (value, next(order), Priced(value, half, single)))

    def _features(self) -> Iterator[Box]:
        """All tests of each feature that tells these people apart; of a subset and its complement one."""
        oracle = self.oracle
        for f in np.flatnonzero(oracle.allowed):
            heads = np.bincount(oracle.ranks[f, self.members], weights=oracle.count[self.members])
            present = np.flatnonzero(heads)
            if len(present) > 1 and oracle.unordered[f]:
                yield Levels(int(f), frozenset(), frozenset({int(heads.argmax())}))
            elif len(present) > 1:
                yield Cuts(int(f), int(present[0]), int(present[-2]))

    def _halves(self, box: Box) -> tuple[Box, ...]:
        weight = self.oracle.weights(box, self.members)
        if isinstance(box, Cuts) and not weight[box.low + 1 : box.high + 1].any():
            return (Cuts(box.feature, box.low, box.low),)
        return box.halves(weight)

    def bound(self, box: Box, target: float) -> tuple[float, bool]:
        """What the tests of a box cost at least, or more than the target, and whether it is one test for these people."""
        f, oracle = box.feature, self.oracle
        ranks = oracle.ranks[f, self.members]
        side = box.sides(int(oracle.sizes[f]))[ranks]
        free = side == FREE
        keys: tuple[object, object] = (box.low, box.high) if isinstance(box, Cuts) else (box.left, box.right)
        people = [self.members[side == which] for which in (LEFT, RIGHT)]
        if min(oracle.count[part].sum() for part in people) + oracle.count[self.members[free]].sum() < oracle.least:
            return np.inf, True
        if free.any():
            oracle = oracle.relaxed  # whoever is free may fill any leaf
        rest = self._free(box, ranks, free)
        least = [self._known((f, keys[which], which, oracle.least), people[which]) for which in (LEFT, RIGHT)]
        for which in sorted((LEFT, RIGHT), key=lambda which: len(people[which])):
            if rest + sum(least) < target:
                cutoff = target - rest - least[1 - which]
                least[which] = self._side((f, keys[which], which, oracle.least), people[which], cutoff, oracle)
        return rest + sum(least), not free.any()

    def _free(self, box: Box, ranks: np.ndarray, free: np.ndarray) -> float:
        """What the free people of a box cost at least: a level goes to one side as a whole, and has a tree there."""
        if isinstance(box, Cuts):
            return float(self.oracle.free(self.members[free], self.prices)[0])
        levels = np.unique(ranks[free]).tolist()
        return sum(
            self._side((box.feature, level, FREE, 1), self.members[ranks == level], np.inf, self.oracle.relaxed)
            for level in levels
        )

    def _known(self, key: _Key, people: np.ndarray) -> float:
        """What a side costs at least, as far as that is known."""
        known = self.sides.get(key)
        return float(self.oracle.free(people, self.prices)[0]) if known is None else known.value

    def _side(self, key: _Key, people: np.ndarray, cutoff: float, oracle: Oracle) -> float:
        """What a side costs, or at least the cutoff."""
        known = self.sides.get(key)
        if known is None or not (known.exact or known.value >= cutoff):
            self.looks += 1
            value = least_price(oracle, people, self.depth - 1, self.prices, cutoff)
            known = self.sides[key] = _Side(value, value < cutoff)
        return known.value


def least_price(oracle: Oracle, members: np.ndarray, depth: int, prices: Prices, cutoff: float) -> float:
    """The least price of a tree of at most this depth at one multipliers, or a cutoff that is lower."""
    if depth == 2 and oracle.sweeps and oracle.crowded(members):
        return swept(oracle, members, prices, np.array([cutoff]))[0].value
    return float(oracle.value(members, depth, prices, np.array([cutoff]))[0])


def cheapest_first_test(
    oracle: Oracle, members: np.ndarray, depth: int, prices: Prices, target: float
) -> tuple[float, Box | None]:
    """The cheapest first test (or box of tests) below a target, else the target and none."""
    found = next(FirstTests(oracle, members, depth, prices).below(target), None)
    return (target, None) if found is None else (found.value, found.box)


def tests_below(oracle: Oracle, members: np.ndarray, depth: int, prices: Prices, targets: np.ndarray) -> Children:
    """The first tests that cost less than a target at each multipliers, and boxes that may hold more of them."""
    boxes: list[Box] = []
    values: list[list[float]] = []
    each = [FirstTests(oracle, members, depth, prices.at(j)) for j in range(len(targets))]
    for found in each[0].below(float(targets[0])):
        others = [tests.bound(found.box, np.inf)[0] for tests in each[1:]]
        if all(other < target for other, target in zip(others, targets[1:], strict=True)):
            boxes.append(found.box)
            values.append([found.value, *others])
    return Children(boxes, np.array(values).reshape(len(boxes), len(targets)))
