"""The cheapest tree of a box when every person has a price a unit of value (ALGORITHM §3)."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import FREE, LEFT, RIGHT, Box
from evenleaf.solve.values.caps import Ghosts
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.limits import Coupling

NO_TESTS = -1
_NEAREST = 12
_NOT_MANY = 60  # child tests of both sides: with no more, a bound costs little more than a look at the best


class Scratch:
    """Arrays shared by all oracles, one after another; `costs` holds the prices."""

    def __init__(
        self, compiled: Compiled, shape: Shape, ghosts: Ghosts | None = None, coupling: Coupling | None = None
    ) -> None:
        self.compiled, self.shape, self.coupling = compiled, shape, coupling
        self.ghosts = ghosts or Ghosts(np.zeros(0), 0.0)
        self.n_real = compiled.n_people - len(self.ghosts.prices)
        n_people, n_levels = compiled.n_people, len(compiled.levels)
        most_levels = int(compiled.sizes[compiled.unordered].max(initial=1))
        self.costs = np.zeros(n_people)
        self.free = np.zeros(n_people)
        self.people = (
            compiled.level, compiled.levels, compiled.share, self.costs, compiled.count, shape.min_samples_leaf,
        )  # fmt: skip
        self.tables = (compiled.ranks, compiled.sizes, compiled.unordered, compiled.offsets)
        room = n_people + 2
        n_words = room // 64 + 1
        layout = (
            np.zeros((room, kernels.N_COLUMNS)), np.zeros(room, dtype=np.int64), np.zeros(n_people, dtype=np.int64),
            np.zeros((compiled.n_features, room), dtype=np.uint64),
            np.zeros((2, compiled.n_features, room), dtype=np.int32),
            np.zeros((2, compiled.n_tests + 1), dtype=np.int32), np.zeros((2, compiled.n_features), dtype=np.int64),
        )  # fmt: skip
        leaving = (
            np.zeros(room, dtype=np.uint64), *(np.zeros(room, dtype=np.int32) for _ in range(3)), np.zeros(room),
            np.zeros(n_words, dtype=np.uint64),
        )  # fmt: skip
        self.work = (
            np.zeros(n_levels), layout, np.zeros(room, dtype=np.uint8), np.zeros((2, n_words), dtype=np.uint64),
            leaving, np.zeros((most_levels, n_levels)), np.zeros((most_levels, 3)),
        )  # fmt: skip
        n_rows = len(compiled.weight)
        noted = np.zeros((2, room), dtype=np.int64), np.zeros((2, room)), np.zeros(room), np.zeros(room)
        n_entries = len(compiled.entries)
        listed = (
            np.zeros(room + 1, dtype=np.int64), np.zeros(n_entries, dtype=np.int32), np.zeros(n_entries),
            np.zeros(n_entries), np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        # A leaf's number has a bit a level: the last stump's leaves differ in the last bit, or in the one before.
        self.shift = 1 if shape.max_depth >= 3 else 2
        self.within = (
            (compiled.pointers, compiled.rows, compiled.entries), (np.zeros(n_rows), np.zeros(n_rows)),
            (compiled.reach[0], compiled.reach[1]), np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows), noted,
            np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64), listed,
        )  # fmt: skip
        self.best = np.zeros((2, 2))
        self.spot = np.zeros(n_people, dtype=np.int64)
        self.leaf = np.zeros(n_people, dtype=np.int64)
        self.decided = np.zeros(n_people)
        self.tag: tuple[bytes, float] = (b"", 1.0)  # the multipliers behind the prices, and their scale
        # The multipliers and the marks of the sides that are kept.
        self.shared: tuple[tuple[bytes, float], np.ndarray] | None = None
        self.known: dict[tuple[int, int, int, int], np.ndarray] = {}
        self.out = np.full((2, compiled.n_tests + 1), kernels.INFINITE)

    def price(self, mu: np.ndarray, scale: float) -> None:
        """What a unit of value costs everybody at these multipliers; ghosts have prices that none of them changes."""
        c = self.compiled
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, *self.within[1], self.costs)
        self.costs[self.n_real :] = self.ghosts.prices

    @cached_property
    def influence(self) -> np.ndarray:
        """How much each person's value may change the objective, a unit of it."""
        c = self.compiled
        person = np.repeat(np.arange(c.n_people), np.diff(c.pointers))
        weight = np.abs(c.entries) * c.weight[c.rows, 0]
        return np.asarray(c.share + np.bincount(person, weights=weight, minlength=c.n_people))

    def shares(self, alive: np.ndarray) -> bool:
        """Whether sides at these prices and with these marks are kept: those of the first boxes, which are alike."""
        if self.shared is None:
            self.shared = self.tag, alive
        return self.shared[0] == self.tag and self.shared[1] is alive

    def forget(self) -> None:
        """Keep the sides of the next boxes instead."""
        self.shared, self.known = None, {}

    def busy(self, alive: np.ndarray) -> np.ndarray:
        """Which features have an alive test in each row."""
        counted = np.add.reduceat(alive[:, :-1], self.compiled.offsets[:-1], axis=1, dtype=np.int64)
        return counted > 0


class Oracle:
    """What both depths share: who is where, and what a tree decides."""

    def __init__(self, box: Box, scratch: Scratch) -> None:
        self.box, self.scratch, self.compiled = box, scratch, scratch.compiled
        self.part = box.state[self.compiled.ranks[box.feature]].astype(np.int64)
        self.loose_people = self.part == FREE
        self.real = not self.loose_people.any()
        self.loose = 0 if self.real else int(self.compiled.count[self.loose_people].sum())
        self.alive = box.alive.copy()
        for place in range(len(self.alive)):
            self._drop_twins(place, LEFT if place in (0, 2, 3) else RIGHT)

    def _drop_twins(self, place: int, side: int) -> None:
        c = self.compiled
        members = np.flatnonzero((self.part == side) | self.loose_people)
        kernels.drop_twins(members, c.ranks, c.sizes, c.unordered, c.offsets, self.alive[place])

    def free_cost(self) -> float:
        """What people who are in neither part cost, each alone."""
        if self.real:
            return 0.0
        kernels.free_costs(self.scratch.people, self.scratch.free)
        return float(self.scratch.free[self.loose_people].sum())

    def keeps(self, tests: np.ndarray) -> bool:
        """Whether a tree of the box keeps the limits that couple its tests."""
        coupling = self.scratch.coupling
        return coupling is None or coupling.keeps(self.box.feature, tests)

    def leaves(self, tests: np.ndarray) -> np.ndarray:
        """Everybody's leaf in a tree of the box, −1 where they are free."""
        c, leaf = self.compiled, self.scratch.leaf
        kernels.leaves(self.part, tests, c.test_feature, c.ranks, c.unordered, c.offsets, leaf)
        return leaf

    def decide(self, tests: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and everybody's value at the prices."""
        s = self.scratch
        loss = kernels.decide(s.people, self.leaves(tests), s.shift, s.within, s.decided)
        return loss, s.decided

    def paid(self, side: int, leaf: np.ndarray) -> np.ndarray:
        """What the two stumps of a side pay for each row of the disparity that lies inside one of them."""
        found = np.empty((2, len(self.compiled.weight)))
        kernels.rows_of_stumps(leaf, side, self.scratch.within, found)
        return found

    def rows_inside(self) -> np.ndarray:
        """Which part each row of the disparity lies in, −1 for neither."""
        kernels.rows_of_parts(self.part, self.scratch.within)
        return self.scratch.within[3].copy()


class StumpOracle(Oracle):
    """Depth 1 and 2: the best stump on either side, exactly."""

    def __init__(self, box: Box, allowed: np.ndarray, scratch: Scratch) -> None:
        super().__init__(box, scratch)
        self.allowed = allowed
        if not len(self.alive):
            self.alive = np.zeros((2, self.compiled.n_tests + 1), dtype=np.uint8)
            self.alive[:, -1] = 1
        self.busy = scratch.busy(self.alive)
        self.inside = self.rows_inside()
        self.cheapest = np.empty((2, self.compiled.n_features + 1))
        self.where = np.empty((2, self.compiled.n_features + 1), dtype=np.int64)

    def best(self, target: float) -> tuple[float, np.ndarray]:  # noqa: ARG002
        """The cost of the cheapest tree, and its tests."""
        s, tests = self.scratch, np.full(6, NO_TESTS, dtype=np.int64)
        s.within[3][:] = self.inside
        s.within[6][:] = (self.inside == 0).sum(), (self.inside == 1).sum()
        kernels.stumps(
            s.people, s.tables, self.compiled.orders, self.part, self.loose, self.alive, self.busy, True,
            kernels.INFINITE, s.out, np.full((2, self.compiled.n_features + 1), -kernels.INFINITE), s.best, s.work,
            s.within,
        )  # fmt: skip
        value, tests[0], tests[1] = kernels.best_pair(
            s.out, self.alive, self.allowed, self.compiled.offsets, self.cheapest, self.where
        )
        return (np.inf if value >= kernels.INFINITE else value + self.free_cost()), tests

    def survivors(self, budget: float) -> np.ndarray:
        """The tests that some tree cheaper than the budget may have."""
        alive = self.alive.copy()
        kernels.drop_pairs(
            self.scratch.out, alive, self.allowed, self.compiled.offsets, self.cheapest, budget - self.free_cost()
        )
        return alive[: len(self.box.alive)]


class SubtreeOracle(Oracle):
    """Depth 3: the best subtree of depth 2 on either side."""

    def __init__(self, box: Box, scratch: Scratch, *, keeps_sides: bool) -> None:
        super().__init__(box, scratch)
        self.keeps_sides = keeps_sides
        # A side without a test has none further down either: that is how it is written, and only that way.
        for s in (0, 1):
            self.alive[s, -1] &= self.alive[2 + 2 * s : 4 + 2 * s, -1].min()
        order = self.compiled.orders
        side = [self.part == LEFT, self.part == RIGHT]
        self.ids = [np.ascontiguousarray(order[here[order]].reshape(len(order), -1)) for here in side]
        self.first = 0 if self.ids[0].shape[1] <= self.ids[1].shape[1] else 1
        self.busy = [scratch.busy(self.alive[2 + 2 * s : 4 + 2 * s]) for s in (0, 1)]
        inside = self.rows_inside()
        self.rows = [np.flatnonzero(inside == s) for s in (0, 1)]
        n_options = self.compiled.n_tests + 1
        self.bounds, self.totals = np.empty((2, n_options)), np.empty((2, 2, n_options))
        self.least = [0.0, 0.0]
        self.narrow = False
        self.fresh = np.zeros(2, dtype=np.bool_)  # whether the bounds of the tests are those of the last prices

    def _side(self, side: int, cutoff: float, *, seek: bool) -> np.ndarray:
        s = self.scratch
        return kernels.subtree(
            s.people, s.tables, self.ids[side], self.loose, s.free, cutoff, seek, self.alive[side],
            self.alive[2 + 2 * side : 4 + 2 * side], self.busy[side], s.spot, s.out,
            self.bounds[side], self.totals[side], s.work, (*s.within[:7], self.rows[side], s.within[8]),
        )  # fmt: skip

    def narrowed(self) -> SubtreeOracle | None:
        """The same with few child tests, those that are best now: its best is no bound, but soon found.

        None where the last best came from what was kept, so that nothing is known about the others.
        """
        if not self.fresh.all() or self.alive[:2].sum() <= _NOT_MANY:
            return None
        few = copy(self)
        few.alive, few.bounds, few.totals = self.alive.copy(), self.bounds.copy(), self.totals.copy()
        few.narrow = True
        for side in (0, 1):
            few.alive[side] &= self._near(side)
        return few

    def _near(self, side: int) -> np.ndarray:
        """The cheapest child tests of each feature, and no test at all."""
        offsets, alive = self.compiled.offsets, self.alive[side] > 0
        kept = np.zeros(len(alive), dtype=np.uint8)
        kept[-1] = 1
        cost = np.where(alive, self.bounds[side], np.inf)
        kept[np.argsort(cost)[:_NEAREST]] = 1
        for f in np.flatnonzero(np.add.reduceat(alive[:-1], offsets[:-1]) > 0):
            kept[offsets[f] + int(cost[offsets[f] : offsets[f + 1]].argmin())] = 1
        return kept

    def _sought(self, side: int, cutoff: float) -> np.ndarray:
        """The best of a side. Neighbouring boxes share their sides, so those at the first multipliers are kept.

        Not in a climb: what it tries next must not depend on what happens to be kept.
        """
        s = self.scratch
        joining = self.loose if s.shape.min_samples_leaf > 1 else 0
        self.fresh[side] = True
        if self.narrow or not self.keeps_sides:
            return self._side(side, cutoff, seek=True)
        key = (self.box.feature, side, self.ids[side].shape[1], joining)
        if self.compiled.unordered[self.box.feature] or not s.shares(self.box.alive):
            return self._side(side, cutoff, seek=True)
        if key in s.known:
            self.fresh[side] = False
            return s.known[key]
        found = self._side(side, cutoff, seek=True)
        if found[0] < cutoff:
            s.known[key] = found
        return found

    def _other(self, side: int, cutoff: float) -> np.ndarray:
        """The second side, unless everybody there at their own cheapest is already too much."""
        if float(self.scratch.free[self.ids[side][0]].sum()) >= cutoff:
            self.fresh[side] = False
            return np.array([np.inf, NO_TESTS, NO_TESTS, NO_TESTS])
        return self._sought(side, cutoff)

    def best(self, target: float) -> tuple[float, np.ndarray]:
        """The cost of the cheapest tree and its tests, or a bound that reaches the target."""
        kernels.free_costs(self.scratch.people, self.scratch.free)
        free, tests, first = self.free_cost(), np.full(6, NO_TESTS, dtype=np.int64), self.first
        one = self._sought(first, kernels.INFINITE)
        cutoff = target - free - one[0]
        other = self._other(1 - first, cutoff)
        self.least[first], self.least[1 - first] = one[0], min(other[0], cutoff)
        for side, found in ((first, one), (1 - first, other)):
            tests[side] = int(found[1])
            tests[2 + 2 * side : 4 + 2 * side] = found[2:].astype(np.int64)
        value = one[0] + self.least[1 - first]
        return (np.inf if one[0] >= kernels.INFINITE else value + free), tests

    def survivors(self, budget: float) -> np.ndarray:
        """The tests that some tree cheaper than the budget may have; after `best` at the same prices."""
        alive = self.alive.copy()
        budget -= self.free_cost()
        for side in (0, 1):
            cutoff = budget - self.least[1 - side]
            self._side(side, cutoff, seek=False)
            alive[side, self.bounds[side] >= cutoff] = 0
            below = alive[2 + 2 * side : 4 + 2 * side]
            below[self.totals[side] >= cutoff] = 0
            below[:, -1] |= alive[side, -1]
        return alive
