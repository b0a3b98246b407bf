"""What hangs below first tests of slots of depth 3 and more: best-first over boxes of them, at one multipliers.

A box of first tests costs at least what the people on either side of all its tests cost, each side with the best tree
for them alone, and what the free people cost, each with the label that they like best (a free level as a whole). The
lowest box tells what no tree of the slot costs less than, so a search can be stopped anywhere and go on later; once the
lowest is a single test, that is the slot's price. The side of a cut is looked at once, and only as far as is asked.
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
from evenleaf.solve.fronts.tests import FREE, LEFT, RIGHT, Box, Cuts, Levels, Sketch

if TYPE_CHECKING:
    from evenleaf.solve.fronts.oracle import Oracle

MOST_LOOKS = 2_000
_Key = tuple[int, object, int, int]  # feature, cut or levels, side, people that a leaf needs


class Priced(NamedTuple):
    """A box of first tests and what it costs at least; exactly that where nothing more can be found out of the box."""

    value: float
    order: int
    box: Box
    exact: bool
    single: bool


class _Side(NamedTuple):
    """What one side of a test costs; where it is not exact, at least that."""

    value: float
    exact: bool


@dataclass(eq=False)
class FirstTests:
    """The first tests of a slot, and what was found out about them so far."""

    oracle: Oracle
    members: np.ndarray
    depth: int
    prices: Prices
    looks: int = 0
    waiting: list[Priced] = field(default_factory=list)
    sides: dict[_Key, _Side] = field(default_factory=dict)
    order: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.leaf = float(self.oracle.leaf(self.members, self.prices)[0])
        liked = float(self.oracle.free(self.members, self.prices)[0])
        boxes = self._features() if self.oracle.crowded(self.members) else ()
        self.waiting = [Priced(liked, next(self.order), box, exact=True, single=False) for box in boxes]

    @property
    def least(self) -> float:
        """What no tree costs less than; what the cheapest costs once it is `settled`."""
        return min(self.leaf, self.waiting[0].value) if self.waiting else self.leaf

    @property
    def settled(self) -> bool:
        """Whether the cheapest tree is known."""
        return not self.waiting or self.waiting[0].value >= self.leaf or self._known(self.waiting[0])

    @property
    def first(self) -> Box | None:
        """The cheapest first test, or the box that is the cheapest so far; None for a leaf."""
        return self.waiting[0].box if self.waiting and self.waiting[0].value < self.leaf else None

    @staticmethod
    def _known(priced: Priced) -> bool:
        return priced.exact and priced.single

    def lift(self, target: float, most: int = MOST_LOOKS) -> float:
        """Find out until nothing below the target is uncertain, or after so many looks: the least price so far."""
        most += self.looks
        while self.least < target and not self.settled and self.looks < most:
            self._look(heapq.heappop(self.waiting), target)
        if self.settled:
            self.sides, self.waiting = {}, self.waiting[:1]
        return self.least

    def outline(self, prices: Prices) -> Sketch:
        """The cheapest tree."""
        if self.first is None:
            return self.oracle.cheapest(self.members, 0, prices).sketch
        return self.oracle.begun(self.first, self.members, self.depth, prices)[1]

    def below(self, target: float) -> Iterator[tuple[float, Box]]:
        """Every first test that costs less than the target, the cheapest first; boxes once it is much work."""
        while self.waiting and self.waiting[0].value < target:
            priced = heapq.heappop(self.waiting)
            if self._known(priced) or self.looks >= MOST_LOOKS:
                yield priced.value, priced.box
            else:
                self._look(priced, target)

    def _look(self, priced: Priced, target: float) -> None:
        if self.oracle.out_of_time():
            heapq.heappush(self.waiting, priced)
            raise OutOfTime
        for box in self._halves(priced.box) if priced.exact else (priced.box,):
            value, exact, single = self.bound(box, target)
            if value < np.inf:
                value = max(value, priced.value)
                heapq.heappush(self.waiting, Priced(value, next(self.order), box, exact, single))

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

    def bound(self, box: Box, target: float) -> tuple[float, bool, bool]:
        """What the tests of a box cost at least, whether no target cut that short, and whether it is one test."""
        f, oracle = box.feature, self.oracle
        ranks = oracle.ranks[f, self.members]
        side = box.sides(int(oracle.sizes[f]))[ranks]
        free = side == FREE
        keys: tuple[object, object] = (box.low, box.high) if isinstance(box, Cuts) else (box.left, box.right)
        people = [self.members[side == which] for which in (LEFT, RIGHT)]
        if min(oracle.count[part].sum() for part in people) + oracle.count[self.members[free]].sum() < oracle.least:
            return np.inf, True, True
        if free.any():
            oracle = oracle.relaxed  # whoever is free may fill any leaf
        rest = self._free(box, ranks, free)
        sides = [self._known_side((f, keys[which], which, oracle.least), people[which]) for which in (LEFT, RIGHT)]
        for which in sorted((LEFT, RIGHT), key=lambda which: len(people[which])):
            cutoff = target - rest - sides[1 - which].value
            if sides[which].value < cutoff:
                sides[which] = self._side((f, keys[which], which, oracle.least), people[which], cutoff, oracle)
        value, exact = rest + sides[0].value + sides[1].value, sides[0].exact and sides[1].exact
        return value if exact else max(value, target), exact, not free.any()  # the target, but for rounding

    def _free(self, box: Box, ranks: np.ndarray, free: np.ndarray) -> float:
        """What the free people of a box cost at least: a level goes to one side as a whole, and has a tree there."""
        if isinstance(box, Cuts):
            return float(self.oracle.free(self.members[free], self.prices)[0])
        levels = np.unique(ranks[free]).tolist()
        return sum(
            self._side((box.feature, level, FREE, 1), self.members[ranks == level], np.inf, self.oracle.relaxed).value
            for level in levels
        )

    def _known_side(self, key: _Key, people: np.ndarray) -> _Side:
        """What is known of what a side costs."""
        return self.sides.get(key) or _Side(float(self.oracle.free(people, self.prices)[0]), exact=False)

    def _side(self, key: _Key, people: np.ndarray, cutoff: float, oracle: Oracle) -> _Side:
        """What a side costs, or at least the cutoff."""
        known = self.sides.get(key)
        if known is None or not (known.exact or known.value >= cutoff):
            self.looks += 1
            value = least_price(oracle, people, self.depth - 1, self.prices, cutoff)
            known = self.sides[key] = _Side(value, value < cutoff)
        return known


def least_price(oracle: Oracle, members: np.ndarray, depth: int, prices: Prices, cutoff: float) -> float:
    """The least price of a tree of at most this depth at one multipliers, or a cutoff that is lower."""
    if depth == 2 and oracle.sweeps and oracle.crowded(members):
        return swept(oracle, members, prices, np.array([cutoff]))[0].value
    return float(oracle.value(members, depth, prices, np.array([cutoff]))[0])


def tests_below(oracle: Oracle, members: np.ndarray, depth: int, prices: Prices, targets: np.ndarray) -> Children:
    """The first tests that cost less than a target at each multipliers, and boxes that may hold more of them."""
    first, *others = (FirstTests(oracle, members, depth, prices.at(j)) for j in range(len(targets)))
    boxes: list[Box] = []
    values: list[list[float]] = []
    for value, box in first.below(float(targets[0])):
        found = [value]
        for tests, target in zip(others, targets[1:].tolist(), strict=True):
            found.append(tests.bound(box, target)[0])
            if found[-1] >= target:
                break
        else:
            boxes.append(box)
            values.append(found)
    return Children(boxes, np.array(values).reshape(len(boxes), len(targets)))
