"""The best tree at given prices for a part of the people: exact, or a bound where tests are taken together.

This is the cost-sensitive tree of ALGORITHM §3, for several multipliers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evenleaf.solve.crew import ALONE, Crew
from evenleaf.solve.fronts.answers import Cheapest, Children, ForkTable, OutOfTime
from evenleaf.solve.fronts.deep import FirstTests, tests_below
from evenleaf.solve.fronts.flags import Flags, find_flags
from evenleaf.solve.fronts.kernels.blocks import blocks, level_blocks
from evenleaf.solve.fronts.kernels.forks import best_fork, level_sums
from evenleaf.solve.fronts.kernels.pairs import pair_values
from evenleaf.solve.fronts.kernels.stumps import best_stumps, stump_labels
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.sketches import BOUND_SUBSETS, decided, fork_stump, stump_sketch
from evenleaf.solve.fronts.sweep import Sweep, Tests
from evenleaf.solve.fronts.swept import swept
from evenleaf.solve.fronts.tests import FREE, LEFT, RIGHT, Box, Cuts, Levels, Sketch, cut_boxes, subset_boxes
from evenleaf.solve.search.kernels import INFINITE

MOST_BLOCKS, FEW_BLOCKS, MOST_LEVELS, FEW_LEVELS = 160, 16, 8, 4
MOST_SUBSETS = 7  # levels of a stump's feature of which all subsets are listed
MOST_CUTS_TO_FORK = 2000
NOBODY: frozenset[int] = frozenset()


class Oracle:
    """Answers questions about slots: who is in it, how deep it may be, at which prices."""

    def __init__(
        self,
        lane: Lane,
        allowed: np.ndarray,
        least: int,
        out_of_time: Callable[[], bool],
        flags: Flags | None = None,
        crew: Crew = ALONE,
    ) -> None:
        self.lane, self.allowed, self.least, self.out_of_time = lane, allowed, least, out_of_time
        compiled = lane.compiled
        self.ranks, self.sizes, self.unordered = compiled.ranks, compiled.sizes, compiled.unordered
        self.count = compiled.count
        self.stop = np.zeros(1, dtype=np.bool_)  # set by the clock, read inside long kernels
        self.flags = find_flags(lane) if flags is None else flags
        # Where free people may yet fill a leaf, its least number of people is not asked for.
        self.relaxed = self if least == 1 else Oracle(lane, allowed, 1, out_of_time, self.flags)
        self.relaxed.stop = self.stop
        self.crew: Crew = crew
        self.relaxed.crew = crew
        self.recall = Recall()
        self.relaxed.recall = self.recall
        self.most_blocks, self.most_levels = MOST_BLOCKS, MOST_LEVELS  # read here, so that they can be set

    def use(self, recall: Recall) -> None:
        """Remember things there."""
        self.recall = recall
        self.relaxed.recall = recall

    def part(self, box: Box, members: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The members on the left, on the right, and free."""
        sides = box.sides(int(self.sizes[box.feature]))[self.ranks[box.feature, members]]
        return members[sides == LEFT], members[sides == RIGHT], members[sides == FREE]

    def single(self, box: Box) -> bool:
        """Whether a box is one test."""
        return bool((box.sides(int(self.sizes[box.feature])) != FREE).all())

    def weights(self, box: Box, members: np.ndarray) -> np.ndarray:
        """How many of the members have each rank of the box's feature."""
        size = int(self.sizes[box.feature])
        return np.bincount(self.ranks[box.feature, members], weights=self.count[members], minlength=size)

    def leaf(self, members: np.ndarray, prices: Prices) -> np.ndarray:
        """Everybody gets the same label."""
        return np.asarray(np.minimum(0.0, prices[members].sum(axis=0).min(axis=0)))

    def free(self, members: np.ndarray, prices: Prices) -> np.ndarray:
        """Everybody gets their own cheapest label."""
        return np.asarray(np.minimum(0.0, prices[members].min(axis=1)).sum(axis=0))

    def crowded(self, members: np.ndarray, times: int = 2) -> bool:
        """Whether these people are enough for so many leaves."""
        return bool(len(members) > 1 and self.count[members].sum() >= times * self.least)

    def value(self, members: np.ndarray, depth: int, prices: Prices, cutoff: np.ndarray | None = None) -> np.ndarray:
        """The least price of a tree of at most this depth, for each multipliers, or a cutoff that is lower."""
        if depth == 0 or not self.crowded(members):
            return self.leaf(members, prices)
        if depth == 1:
            return np.asarray(self._stump(members, prices)[0])
        if depth == 2 and self.sweeps and self.many_cuts:
            return np.array([found.value for found in swept(self, members, prices, cutoff)])
        if self.flagged(depth):
            return np.minimum(
                self.leaf(members, prices), self.flag_values(members, depth, prices).sum(axis=0).min(axis=0)
            )
        if depth == 2 and self.lane.n_labels == 1 and self.may_fork:
            return self._depth_two(members, prices)
        most = self.leaf(members, prices)
        if depth == 2:
            return np.minimum(most, self.children(members, depth, prices).least())
        most = most if cutoff is None else np.minimum(most, cutoff)
        each = (FirstTests(self, members, depth, prices.at(j)).lift(most[j]) for j in range(len(most)))
        return np.minimum(most, list(each))

    def narrows(self, members: np.ndarray, depth: int) -> bool:
        """Whether such a slot is swept feature by feature."""
        return depth == 2 and self.sweeps and self.many_cuts and self.crowded(members)

    def narrowed(
        self, members: np.ndarray, prices: Prices, cutoff: np.ndarray, asked: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of a slot of depth 2 at one multipliers, from some features, and those that more people may need."""
        found = swept(self, members, prices, cutoff, asked)[0]
        value = np.array([found.value])
        # A test that parts nobody here may part people who come later: below it, a stump is all there is for these.
        if found.value >= cutoff[0] or found.alive[asked].all() or self._stump(members, prices)[0][0] < cutoff[0]:
            return value, asked
        return value, found.alive

    def _depth_two(self, members: np.ndarray, prices: Prices) -> np.ndarray:
        """The least price of a tree of at most depth 2; forks are looked at only as far as they may be cheaper."""
        value = np.minimum(self.leaf(members, prices), self._pair_boxes(members, prices).least())
        for f in np.flatnonzero(self.allowed & self.unordered):
            for box in self._level_boxes(int(f), members):
                assert isinstance(box, Levels)  # noqa: S101 (the feature is unordered)
                value = np.minimum(value, self.fork(box, members, prices, value))
        return value

    def flagged(self, depth: int) -> bool:
        """Whether trees of this depth are tabulated from flags."""
        return self.flags is not None and 2 <= depth <= self.flags.depth

    def flag_values(self, members: np.ndarray, depth: int, prices: Prices) -> np.ndarray:
        """What is below each first test of a table of flags: side × feature × multipliers."""
        assert self.flags is not None  # noqa: S101 (asked for only then)
        return self.flags.values(members, depth, prices.multipliers, self.least, self.allowed)

    def _stump(self, members: np.ndarray, prices: Prices) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return best_stumps(
            self.ranks, self.sizes, self.unordered, members, prices.table, self.count, self.least, self.allowed
        )

    def children(self, members: np.ndarray, depth: int, prices: Prices) -> Children:
        """Every box of first tests of a slot of depth 2, or of flags, with its value; none where people are too few."""
        n_multipliers = prices.shape[2]
        if not self.crowded(members):
            return Children([], np.zeros((0, n_multipliers)))
        if self.flagged(depth):
            below = self.flag_values(members, depth, prices).sum(axis=0)
            parting = np.flatnonzero(below[:, 0] < INFINITE)
            return Children([Cuts(int(f), 0, 0) for f in parting], below[parting])
        if depth == 2 and self.lane.n_labels == 1:
            return self._pairs(members, prices)
        boxes = list(self.boxes(members, depth))
        values = [self.below(box, members, depth, prices)[None] for box in boxes]
        return Children(boxes, np.concatenate([np.zeros((0, n_multipliers)), *values]))

    def children_below(self, members: np.ndarray, depth: int, prices: Prices, targets: np.ndarray) -> Children:
        """The boxes of first tests with their values; of deep slots only those below the targets."""
        if depth <= 2 or self.flagged(depth) or not self.crowded(members):
            return self.children(members, depth, prices)
        return tests_below(self, members, depth, prices, targets)

    def below(self, box: Box, members: np.ndarray, depth: int, prices: Prices) -> np.ndarray:
        """The value of a slot whose first test is in a box; infinite where the box leaves a side too few people."""
        left, right, free = self.part(box, members)
        if min(self.count[left].sum(), self.count[right].sum()) + self.count[free].sum() < self.least:
            return np.full(prices.shape[2], np.inf)
        if depth == 2 and isinstance(box, Levels) and len(free) and self.may_fork:
            return self.fork(box, members, prices)
        oracle = self.relaxed if len(free) else self
        sides = (oracle.value(side, depth - 1, prices) for side in (left, right))
        return self.free(free, prices) + sum(sides)

    @property
    def sweeps(self) -> bool:
        """Whether cuts above stumps are swept, rather than tabulated from flags or looked at one by one."""
        return self.lane.n_labels == 1 and self.flags is None

    @property
    def walked(self) -> np.ndarray:
        """The unordered features whose subsets are few enough to be walked through, where none of them forks."""
        few = self.allowed & self.unordered & (self.sizes <= self.most_levels)
        return few if self.sweeps and not self.may_fork else np.zeros_like(few)

    def sweep(self, members: np.ndarray, crew: Crew | None = None, growth: float = 0.0) -> Sweep:
        """These people laid out for sweeps."""
        tests = Tests(self.allowed, self.walked)
        return Sweep(self.lane, self.ranks, members, tests, self.stop, self.crew if crew is None else crew, growth)

    def level_children(
        self, members: np.ndarray, depth: int, prices: Prices, but: np.ndarray | None = None
    ) -> Children:
        """The boxes of first tests by levels, with their values, but for some features."""
        asked = self.allowed & self.unordered if but is None else self.allowed & self.unordered & ~but
        boxes = [
            box for f in np.flatnonzero(asked) for box in self._level_boxes(int(f), members, above_stumps=depth == 2)
        ]
        values = [self.below(box, members, depth, prices)[None] for box in boxes]
        return Children(boxes, np.concatenate([np.zeros((0, prices.shape[2])), *values]))

    def _pairs(self, members: np.ndarray, prices: Prices) -> Children:
        cuts, levels = self._pair_boxes(members, prices), self.level_children(members, 2, prices)
        return Children(cuts.boxes + levels.boxes, np.concatenate([cuts.values, levels.values]))

    def _pair_boxes(self, members: np.ndarray, prices: Prices) -> Children:
        """The boxes of ordered first tests above stumps, with their values."""
        if self.sweeps and self.many_cuts:
            return Children(*self.sweep(members).boxes(prices))
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
        return Children(boxes, values)

    @property
    def may_fork(self) -> bool:
        """Whether pairs of stumps are few enough to be looked at for each test of levels above them."""
        cuts = int(self.sizes[self.allowed & ~self.unordered].sum())
        return self.lane.n_labels == 1 and cuts <= MOST_CUTS_TO_FORK

    def fork(self, box: Levels, members: np.ndarray, prices: Prices, cutoff: np.ndarray | None = None) -> np.ndarray:
        """The value of a categorical test with free levels above two stumps, or the cutoff where that is lower."""
        table = self.table(box, members, prices)
        most = np.full(prices.shape[2], INFINITE) if cutoff is None else cutoff
        values = [best_fork(table.at(j), table.sides, most[j], self.stop)[0] for j in range(prices.shape[2])]
        if self.stop[0]:
            raise OutOfTime
        return np.array(values)

    def table(self, box: Levels, members: np.ndarray, prices: Prices, most_subsets: int = BOUND_SUBSETS) -> ForkTable:
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

    def cheapest_fork(self, box: Levels, members: np.ndarray, prices: Prices) -> Cheapest:
        """A cheapest tree below such a test; where a stump is a composite, its outline is only a suggestion."""
        table = self.table(box, members, prices)
        costs = table.at(0)
        value, *pair = best_fork(costs, table.sides, INFINITE, self.stop)
        if self.stop[0]:
            raise OutOfTime
        right = np.where(table.sides == FREE, costs[:, pair[1]] < costs[:, pair[0]], table.sides == RIGHT)
        mine = right[table.numbered[self.ranks[box.feature, members]]]
        labels = np.zeros(len(members), dtype=np.int64)
        sketches: list[Sketch] = []
        for side, stump in enumerate(pair):
            here = mine == bool(side)
            labels[here], sketch = fork_stump(self.lane, table.stumps[stump], box, members, here, prices)
            sketches.append(sketch)
        left = frozenset(table.levels[~right].tolist())
        everyone = frozenset(range(int(self.sizes[box.feature])))
        return Cheapest(float(value), labels, (Levels(box.feature, left, everyone - left), sketches[0], sketches[1]))

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
            most = self.most_blocks if depth <= 2 else FEW_BLOCKS
            count, exact = blocks(self.ranks[f], self.sizes[f], members, most, number, upper)
            if not exact:  # few large boxes, which are halved where it matters
                count, exact = blocks(self.ranks[f], self.sizes[f], members, FEW_BLOCKS, number, upper)
            yield from self._feature_boxes(int(f), upper[:count], bool(exact))

    def _level_boxes(self, f: int, members: np.ndarray, *, above_stumps: bool = True) -> Sequence[Box]:
        """All subsets in one box above stumps, else a box for each choice of sides of the commonest levels."""
        if above_stumps and self.may_fork:
            return [Levels(int(f), NOBODY, NOBODY)]
        number = np.empty(len(members), dtype=np.int64)
        upper = np.full(int(self.sizes[f]) + 1, -1, dtype=np.int64)
        most = self.most_levels if above_stumps else min(self.most_levels, FEW_LEVELS)
        count, exact = level_blocks(self.ranks[f], self.sizes[f], members, most, number, upper)
        return self._feature_boxes(int(f), upper[:count], bool(exact))

    def _feature_boxes(self, f: int, upper: np.ndarray, exact: bool) -> Sequence[Box]:
        """In the order of the kernel."""
        ends = [int(rank) for rank in upper]
        return subset_boxes(f, ends, int(self.sizes[f]), exact) if self.unordered[f] else cut_boxes(f, ends, exact)

    def forks(self, box: Box, members: np.ndarray) -> bool:
        """Whether a test above stumps is one whose free levels pick their sides given the stumps."""
        return isinstance(box, Levels) and self.may_fork and len(self.part(box, members)[2]) > 0

    def cheapest(self, members: np.ndarray, depth: int, prices: Prices) -> Cheapest:
        """A cheapest tree at the first multipliers.

        Where tests are taken together the labels of free people are their own cheapest, and the sketch is only a
        suggestion; the value is a bound all the same.
        """
        if depth == 0 or not self.crowded(members):
            return self._same_label(members, prices)
        if depth == 1:
            return self._cheapest_stump(members, prices)
        if self.flags is not None and self.flagged(depth):
            value, sketch = self.flags.cheapest(members, depth, prices.multipliers[0], self.least, self.allowed)
            return Cheapest(value, decided(sketch, members, self.ranks, self.sizes), sketch)
        if depth == 2 and self.sweeps and self.many_cuts:
            return self._cheapest_swept(members, prices)
        leaf = self._same_label(members, prices)
        if depth > 2:
            tests = FirstTests(self, members, depth, prices.at(0))
            value = tests.lift(np.inf)
            return leaf if tests.first is None else Cheapest(value, *self.begun(tests.first, members, depth, prices))
        children = self.children(members, depth, prices)
        if not children.boxes or children.values[:, 0].min() >= leaf.value:
            return leaf
        number = int(children.values[:, 0].argmin())
        box = children.boxes[number]
        if depth == 2 and self.forks(box, members):
            assert isinstance(box, Levels)  # noqa: S101 (only they fork)
            return self.cheapest_fork(box, members, prices)
        labels, sketch = self.begun(box, members, depth, prices)
        return Cheapest(float(children.values[number, 0]), labels, sketch)

    def _cheapest_swept(self, members: np.ndarray, prices: Prices) -> Cheapest:
        found = swept(self, members, prices.at(0))[0]
        value, box = found.value, found.first
        if box is None:
            return self._same_label(members, prices)
        if isinstance(box, Levels) and self.forks(box, members):
            return self.cheapest_fork(box, members, prices)
        labels, sketch = self.begun(box, members, 2, prices)
        return Cheapest(value, labels, sketch)

    def _same_label(self, members: np.ndarray, prices: Prices) -> Cheapest:
        sums = np.concatenate([[0.0], prices[members, :, 0].sum(axis=0)])
        label = int(sums.argmin())
        return Cheapest(float(sums[label]), np.full(len(members), label), label)

    def _cheapest_stump(self, members: np.ndarray, prices: Prices) -> Cheapest:
        value, feature, cut = self._stump(members, prices)
        if feature[0] < 0:
            return self._same_label(members, prices)
        single = np.ascontiguousarray(prices[:, :, 0])
        labels = stump_labels(self.ranks, self.sizes, self.unordered, members, single, feature[0], cut[0])
        return Cheapest(float(value[0]), labels, stump_sketch(self.lane, int(feature[0]), int(cut[0]), members, labels))

    def begun(self, box: Box, members: np.ndarray, depth: int, prices: Prices) -> tuple[np.ndarray, Sketch]:
        """The labels and the outline of the cheapest tree that begins with a test, or a box of tests."""
        labels = np.zeros(len(prices), dtype=np.int64)
        left, right, free = self.part(box, members)
        own = np.concatenate([np.zeros((len(free), 1)), prices[free, :, 0]], axis=1)
        labels[free] = own.argmin(axis=1)
        oracle = self.relaxed if len(free) else self
        one, two = (oracle.cheapest(side, depth - 1, prices) for side in (left, right))
        labels[left], labels[right] = one.labels, two.labels
        return labels[members], (box, one.sketch, two.sketch)
