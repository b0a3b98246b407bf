"""The best tree at given prices for a part of the people: exact, or a bound where tests are taken together.

This is the cost-sensitive tree of ALGORITHM §3, for several multipliers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.kernels.blocks import blocks, level_blocks
from evenleaf.solve.fronts.kernels.forks import COMPOSITE, SHOWN, best_fork, level_sums
from evenleaf.solve.fronts.kernels.pairs import pair_values
from evenleaf.solve.fronts.kernels.stumps import best_stumps, stump_labels
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import FREE, LEFT, RIGHT, Box, Cuts, Levels
from evenleaf.solve.search.kernels import INFINITE

MOST_BLOCKS, FEW_BLOCKS, MOST_LEVELS = 160, 16, 8
MOST_SUBSETS, BOUND_SUBSETS = 7, 5  # levels of a stump's feature of which all subsets are listed, or bounded
MOST_CUTS_TO_FORK = 2000
NOBODY: frozenset[int] = frozenset()


class OutOfTime(Exception):  # noqa: N818 (it is no error: the node stays open)
    """The budget was spent in the middle of a table."""


@dataclass(frozen=True, eq=False)
class Children:
    """The boxes of first tests of a slot and what each costs at each multipliers."""

    boxes: list[Box]
    values: np.ndarray

    def least(self) -> np.ndarray:
        """The cheapest box at each multipliers."""
        return np.asarray(self.values.min(axis=0, initial=np.inf))


# A tree in outline: a label, or a test with what is below it on the left and on the right.
Sketch = int | tuple[Box, "Sketch", "Sketch"]


@dataclass(frozen=True, eq=False)
class Cheapest:
    """A tree at given prices: what it costs, the label of each member, and its outline."""

    value: float
    labels: np.ndarray
    sketch: Sketch


@dataclass(frozen=True, eq=False)
class ForkTable:
    """The levels that somebody has (their people, their side) and the stumps that may hang below."""

    levels: np.ndarray
    numbered: np.ndarray
    heads: np.ndarray
    sides: np.ndarray
    stumps: np.ndarray
    costs: np.ndarray

    def at(self, j: int) -> np.ndarray:
        """The costs at one multipliers, level by stump."""
        return np.ascontiguousarray(self.costs[:, :, j].T)

    def turned(self) -> np.ndarray:
        """The costs by multipliers, level and stump."""
        return np.ascontiguousarray(self.costs.transpose(2, 1, 0))


class Oracle:
    """Answers questions about slots: who is in it, how deep it may be, at which prices."""

    def __init__(self, lane: Lane, allowed: np.ndarray, least: int, out_of_time: Callable[[], bool]) -> None:
        self.lane, self.allowed, self.least, self.out_of_time = lane, allowed, least, out_of_time
        # Where free people may yet fill a leaf, its least number of people is not asked for.
        self.relaxed = self if least == 1 else Oracle(lane, allowed, 1, out_of_time)
        compiled = lane.compiled
        self.ranks, self.sizes, self.unordered = compiled.ranks, compiled.sizes, compiled.unordered
        self.count = compiled.count
        self.known: dict[tuple[int, int, int, bytes], np.ndarray] = {}  # values of whole levels, at given multipliers
        self.most_blocks, self.most_levels = MOST_BLOCKS, MOST_LEVELS  # read here, so that they can be set

    def coarse(self, most: int) -> Oracle:
        """The same questions about fewer cuts: ranks taken together, about equally many people each.

        Its cuts are cuts of the whole, so that its trees are trees; its values are no bounds.
        """
        oracle = copy(self)
        oracle.ranks = self.ranks.copy()
        everybody = np.arange(self.ranks.shape[1])
        for f in np.flatnonzero(~self.unordered):
            block = np.empty(len(everybody), dtype=np.int64)
            upper = np.empty(int(self.sizes[f]) + 1, dtype=np.int64)
            blocks(self.ranks[f], self.sizes[f], everybody, most, block, upper)
            oracle.ranks[f] = upper[block]
        oracle.relaxed = oracle
        return oracle

    def part(self, box: Box, members: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The members on the left, on the right, and free."""
        sides = box.sides(int(self.sizes[box.feature]))[self.ranks[box.feature, members]]
        return members[sides == LEFT], members[sides == RIGHT], members[sides == FREE]

    def weights(self, box: Box, members: np.ndarray) -> np.ndarray:
        """How many of the members have each rank of the box's feature."""
        size = int(self.sizes[box.feature])
        return np.bincount(self.ranks[box.feature, members], weights=self.count[members], minlength=size)

    def leaf(self, members: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """Everybody gets the same label."""
        return np.asarray(np.minimum(0.0, prices[members].sum(axis=0).min(axis=0)))

    def free(self, members: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """Everybody gets their own cheapest label."""
        return np.asarray(np.minimum(0.0, prices[members].min(axis=1)).sum(axis=0))

    def crowded(self, members: np.ndarray, times: int = 2) -> bool:
        """Whether these people are enough for so many leaves."""
        return bool(len(members) > 1 and self.count[members].sum() >= times * self.least)

    def value(self, members: np.ndarray, depth: int, prices: np.ndarray) -> np.ndarray:
        """The least price of a tree of at most this depth, for each multipliers."""
        if depth == 0 or not self.crowded(members):
            return self.leaf(members, prices)
        if depth == 1:
            return np.asarray(self._stump(members, prices)[0])
        return np.minimum(self.leaf(members, prices), self.children(members, depth, prices).least())

    def _stump(self, members: np.ndarray, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return best_stumps(
            self.ranks, self.sizes, self.unordered, members, prices, self.count, self.least, self.allowed
        )

    def children(self, members: np.ndarray, depth: int, prices: np.ndarray) -> Children:
        """Every box of first tests with its value; none where the people are too few for a test."""
        n_multipliers = prices.shape[2]
        if not self.crowded(members):
            return Children([], np.zeros((0, n_multipliers)))
        if depth == 2 and self.lane.n_labels == 1:
            return self._pairs(members, prices)
        boxes = list(self.boxes(members, depth))
        values = np.full((len(boxes), n_multipliers), np.inf)
        for number, box in enumerate(boxes):
            if self.out_of_time():
                raise OutOfTime
            values[number] = self.below(box, members, depth, prices)
        return Children(boxes, values)

    def below(self, box: Box, members: np.ndarray, depth: int, prices: np.ndarray) -> np.ndarray:
        """The value of a slot whose first test is in a box; infinite where the box leaves a side too few people."""
        left, right, free = self.part(box, members)
        if min(self.count[left].sum(), self.count[right].sum()) + self.count[free].sum() < self.least:
            return np.full(prices.shape[2], np.inf)
        if depth == 2 and isinstance(box, Levels) and len(free) and self.may_fork:
            return self.fork(box, members, prices)
        oracle = self.relaxed if len(free) else self
        sides = (oracle.value(side, depth - 1, prices) for side in (left, right))
        return self.free(free, prices) + sum(sides)

    def _pairs(self, members: np.ndarray, prices: np.ndarray) -> Children:
        starts, numbers, exact, upper, values = pair_values(
            self.ranks,
            self.sizes,
            self.unordered,
            members,
            np.ascontiguousarray(prices[:, 0]),
            self.count,
            self.least,
            self.allowed,
            self.most_blocks,
        )
        boxes: list[Box] = []
        for f in range(len(numbers)):
            if starts[f + 1] > starts[f]:
                boxes += self._feature_boxes(f, upper[f, : numbers[f]], bool(exact[f]))
        by_levels = [
            box for f in np.flatnonzero(self.allowed & self.unordered) for box in self._level_boxes(int(f), members)
        ]
        above = [self.below(box, members, 2, prices)[None] for box in by_levels]
        return Children(boxes + by_levels, np.concatenate([values, *above]))

    @property
    def may_fork(self) -> bool:
        """Whether pairs of stumps are few enough to be looked at for each test of levels above them."""
        cuts = int(self.sizes[self.allowed & ~self.unordered].sum())
        return self.lane.n_labels == 1 and cuts <= MOST_CUTS_TO_FORK

    def fork(self, box: Levels, members: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """The value of a categorical test with free levels above two stumps."""
        table = self.table(box, members, prices)
        values = [best_fork(table.at(j), table.sides, INFINITE)[0] for j in range(prices.shape[2])]
        return np.array(values)

    def table(
        self, box: Levels, members: np.ndarray, prices: np.ndarray, most_subsets: int = BOUND_SUBSETS
    ) -> ForkTable:
        """All stumps below such a test, and what they cost among the people of each level.

        Features of at most so many levels have a stump for every subset, the others composite ones.
        """
        size = int(self.sizes[box.feature])
        heads = np.bincount(self.ranks[box.feature, members], weights=self.count[members], minlength=size)
        levels = np.flatnonzero(heads)
        numbered = np.zeros(size, dtype=np.int64)
        numbered[levels] = np.arange(len(levels))
        stumps, costs = level_sums(
            self.ranks,
            self.sizes,
            self.unordered,
            members,
            box.feature,
            numbered,
            len(levels),
            np.ascontiguousarray(prices[:, 0]),
            self.allowed,
            most_subsets,
        )
        sides = box.sides(size)[levels].astype(np.int64)
        return ForkTable(levels, numbered, heads[levels].astype(np.int64), sides, stumps, costs)

    def cheapest_fork(self, box: Levels, members: np.ndarray, prices: np.ndarray) -> Cheapest:
        """A cheapest tree below such a test; where a stump is a composite, its outline is only a suggestion."""
        table = self.table(box, members, prices)
        costs = table.at(0)
        value, *pair = best_fork(costs, table.sides, INFINITE)
        right = np.where(table.sides == FREE, costs[:, pair[1]] < costs[:, pair[0]], table.sides == RIGHT)
        mine = right[table.numbered[self.ranks[box.feature, members]]]
        labels = np.zeros(len(members), dtype=np.int64)
        sketches: list[Sketch] = []
        for side, stump in enumerate(pair):
            here = mine == bool(side)
            labels[here], sketch = self._fork_stump(table.stumps[stump], box, members, here, prices)
            sketches.append(sketch)
        left = frozenset(table.levels[~right].tolist())
        everyone = frozenset(range(int(self.sizes[box.feature])))
        return Cheapest(float(value), labels, (Levels(box.feature, left, everyone - left), sketches[0], sketches[1]))

    def _fork_stump(
        self, stump: np.ndarray, box: Levels, everybody: np.ndarray, here: np.ndarray, prices: np.ndarray
    ) -> tuple[np.ndarray, Sketch]:
        g, code, sign = (int(number) for number in stump)
        members = everybody[here]
        if g < 0:
            return np.full(len(members), sign), sign
        ranks = self.ranks[g, members]
        everyone = frozenset(range(int(self.sizes[g])))
        if sign == COMPOSITE:
            own = np.bincount(ranks, weights=prices[members, 0, 0], minlength=len(everyone)) < 0
            shown = self._shown(g, everybody)
            chosen = frozenset(level for level in everyone if (code >> level & 1 if level in shown else own[level]))
            cell = ranks.astype(np.int64) * int(self.sizes[box.feature]) + self.ranks[box.feature, members]
            cheap = np.bincount(cell, weights=prices[members, 0, 0])[cell] < 0
            labels = np.where(np.isin(ranks, list(shown)), np.array(code) >> ranks & 1, cheap)
            return labels.astype(np.int64), (Levels(g, everyone - chosen, chosen), 0, 1)
        if self.unordered[g]:
            chosen = frozenset(level for level in everyone if code >> level & 1)
            return (np.array(code) >> ranks & 1).astype(np.int64), (Levels(g, everyone - chosen, chosen), 0, 1)
        low = int(sign == 1)
        return np.where(ranks <= code, low, 1 - low), (Cuts(g, code, code), low, 1 - low)

    @property
    def many_cuts(self) -> bool:
        """Whether some feature has more cuts than are looked at one by one."""
        return bool((self.sizes[self.allowed & ~self.unordered] > self.most_blocks).any())

    def boxes(self, members: np.ndarray, depth: int) -> Iterator[Box]:
        """The boxes of first tests: single tests where a feature has few ranks here, else several together."""
        number = np.empty(len(members), dtype=np.int64)
        for f in np.flatnonzero(self.allowed):
            if self.unordered[f]:
                yield from self._level_boxes(int(f), members, above_stumps=depth == 2)
                continue
            upper = np.full(int(self.sizes[f]) + 1, -1, dtype=np.int64)
            count, exact = blocks(self.ranks[f], self.sizes[f], members, self.most_blocks, number, upper)
            if not exact:  # few large boxes, which are halved where it matters
                count, exact = blocks(self.ranks[f], self.sizes[f], members, FEW_BLOCKS, number, upper)
            yield from self._feature_boxes(int(f), upper[:count], bool(exact))

    def _level_boxes(self, f: int, members: np.ndarray, *, above_stumps: bool = True) -> list[Box]:
        """All subsets in one box above stumps, else a box for each choice of sides of the commonest levels."""
        if above_stumps and self.may_fork:
            return [Levels(int(f), NOBODY, NOBODY)]
        number = np.empty(len(members), dtype=np.int64)
        upper = np.full(int(self.sizes[f]) + 1, -1, dtype=np.int64)
        count, exact = level_blocks(self.ranks[f], self.sizes[f], members, self.most_levels, number, upper)
        return self._feature_boxes(int(f), upper[:count], bool(exact))

    def _feature_boxes(self, f: int, upper: np.ndarray, exact: bool) -> list[Box]:
        """In the order of the kernel."""
        ends = [int(rank) for rank in upper]
        if not self.unordered[f]:
            if exact:
                return [Cuts(f, end, end) for end in ends[:-1]]
            return [Cuts(f, low, high - 1) for low, high in zip([0, *ends[:-1]], ends, strict=True)]
        boxes: list[Box] = []
        absent = frozenset(range(int(self.sizes[f]))) - frozenset(ends) if exact else frozenset()
        for step in range(1 if exact else 0, 1 << (len(ends) - 1)):
            chosen = step ^ (step >> 1)  # the Gray code, in which the kernel walks through the subsets
            left = frozenset(level for bit, level in enumerate(ends[1:]) if chosen >> bit & 1)
            boxes.append(Levels(f, left, (frozenset(ends) - left) | absent))
        return boxes

    def _shown(self, g: int, members: np.ndarray) -> frozenset[int]:
        """The levels of a composite stump that have one label each, as the kernel picks them."""
        people = np.bincount(self.ranks[g, members], minlength=int(self.sizes[g]))
        return frozenset(np.argsort(-people, kind="stable")[: min(SHOWN, BOUND_SUBSETS)].tolist())

    def forks(self, box: Box, members: np.ndarray) -> bool:
        """Whether a test above stumps is one whose free levels pick their sides given the stumps."""
        return isinstance(box, Levels) and self.may_fork and len(self.part(box, members)[2]) > 0

    def cheapest(self, members: np.ndarray, depth: int, prices: np.ndarray) -> Cheapest:
        """A cheapest tree at the first multipliers.

        Where tests are taken together the labels of free people are their own cheapest, and the sketch is only a
        suggestion; the value is a bound all the same.
        """
        if depth == 0 or not self.crowded(members):
            return self._same_label(members, prices)
        if depth == 1:
            return self._cheapest_stump(members, prices)
        children = self.children(members, depth, prices)
        leaf = self._same_label(members, prices)
        if not children.boxes or children.values[:, 0].min() >= leaf.value:
            return leaf
        number = int(children.values[:, 0].argmin())
        box = children.boxes[number]
        if depth == 2 and self.forks(box, members):
            assert isinstance(box, Levels)  # noqa: S101 (only they fork)
            return self.cheapest_fork(box, members, prices)
        labels, sketch = self._below(box, members, depth, prices)
        return Cheapest(float(children.values[number, 0]), labels, sketch)

    def _same_label(self, members: np.ndarray, prices: np.ndarray) -> Cheapest:
        sums = np.concatenate([[0.0], prices[members, :, 0].sum(axis=0)])
        label = int(sums.argmin())
        return Cheapest(float(sums[label]), np.full(len(members), label), label)

    def _cheapest_stump(self, members: np.ndarray, prices: np.ndarray) -> Cheapest:
        value, feature, cut = self._stump(members, prices)
        if feature[0] < 0:
            return self._same_label(members, prices)
        single = np.ascontiguousarray(prices[:, :, 0])
        labels = stump_labels(self.ranks, self.sizes, self.unordered, members, single, feature[0], cut[0])
        return Cheapest(float(value[0]), labels, self._stump_sketch(int(feature[0]), int(cut[0]), members, labels))

    def _below(self, box: Box, members: np.ndarray, depth: int, prices: np.ndarray) -> tuple[np.ndarray, Sketch]:
        labels = np.zeros(len(prices), dtype=np.int64)
        left, right, free = self.part(box, members)
        own = np.concatenate([np.zeros((len(free), 1)), prices[free, :, 0]], axis=1)
        labels[free] = own.argmin(axis=1)
        oracle = self.relaxed if len(free) else self
        one, two = (oracle.cheapest(side, depth - 1, prices) for side in (left, right))
        labels[left], labels[right] = one.labels, two.labels
        return labels[members], (box, one.sketch, two.sketch)

    def _stump_sketch(self, feature: int, cut: int, members: np.ndarray, labels: np.ndarray) -> Sketch:
        if not self.unordered[feature]:
            left = self.ranks[feature, members] <= cut
            if left.all():
                return int(labels[0])
            return Cuts(feature, cut, cut), int(labels[left][0]), int(labels[~left][0])
        low = labels.min()
        if low == labels.max():
            return int(low)
        everyone = frozenset(range(int(self.sizes[feature])))
        chosen = frozenset(self.ranks[feature, members[labels == low]].tolist())
        return Levels(feature, chosen, everyone - chosen), int(low), int(labels.max())
