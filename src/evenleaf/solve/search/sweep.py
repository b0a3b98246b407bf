"""The oracle that visits every root of a box in turn, taking one rank across at a time."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.oracle import Scratch, Sides, plan_stump
from evenleaf.solve.search.plan import Plan


class SweepOracle:
    """Exact over all roots of the box, except that the people of free ranks take their cheapest label each."""

    has_many_cuts = False

    def __init__(self, box: Box, pairs: np.ndarray, scratch: Scratch) -> None:
        self.box, self.pairs, self.scratch = box, pairs, scratch
        self.compiled, self.sides = scratch.compiled, scratch.once(box, lambda: Sides(box, scratch))
        self.real = not self.sides.free.any()
        # With people free, how many a leaf gets is not known yet: the bound goes without.
        self.least_people = scratch.least_people if self.real else 1
        self.on_side = (np.zeros(len(box.moving), np.bool_), np.ones(len(box.moving), np.bool_))
        self.live = box.live & self._crowded()
        n_roots, n_options, n_labels = len(box.moves) + 1, self.compiled.n_features + 1, self.compiled.n_labels
        self.values = np.empty((2, n_roots, n_options))
        self.totals = np.zeros((2, n_roots, n_labels))
        self.h = np.empty((len(box.moving) + 1, self.sides.widest, n_labels))
        self.sums = np.empty((self.sides.widest, n_labels))

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:  # noqa: ARG002
        """The cheapest root and pair of stumps."""
        for side in (0, 1):
            self._sweep(side)
        value, root, left, right = kernels.best_tree(self.values[0], self.values[1], self.live, self.pairs)
        if value >= kernels.INFINITE:
            return np.inf, (-1, -1, -1)
        return value + self._loose(), (root, left, right)

    def _loose(self) -> float:
        if self.real:
            return 0.0
        free = self.scratch.costs[self.sides.free]
        least = free[:, 0] if free.shape[1] == 1 else free.min(axis=1)
        return float(np.minimum(least, 0.0).sum())

    def _sweep(self, side: int) -> None:
        c, sides = self.compiled, self.sides
        kernels.sweep_side(
            self.scratch.costs, sides.members[side], sides.groups[side], sides.starts[side], sides.members[side],
            self.sides.segment[side], sides.n_segments[side], c.unordered,
            self.box.moves, self.on_side[side], self.live, self.values[side], self.h, self.sums, self.totals[side],
        )  # fmt: skip
        if self.least_people > 1:
            kernels.crowd_levels(
                self.scratch.costs, sides.members[side], sides.segment[side], sides.n_segments[side], c.unordered,
                c.count, self.least_people, self.values[side],
            )  # fmt: skip

    def _mark(self, side: int, slack: np.ndarray, keep: np.ndarray) -> None:
        c, sides = self.compiled, self.sides
        if c.n_labels == 1:
            kernels.mark_few_cuts(
                self.scratch.costs, sides.starts[side], sides.members[side],
                sides.segment[side], sides.n_segments[side], c.unordered, self.box.moves, self.on_side[side], self.live,
                self.values[side], c.offsets, sides.place[side], slack, keep,
            )  # fmt: skip
            return
        kernels.mark_cuts(
            self.scratch.costs, sides.members[side], sides.groups[side],
            sides.segment[side], sides.n_segments[side], c.unordered, self.box.moves, self.on_side[side], self.live,
            self.values[side], self.h, self.sums, self.totals[side], c.offsets, sides.place[side], slack, keep,
        )  # fmt: skip

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Stump by stump; free people as cheaply as they can."""
        c, costs = self.compiled, self.scratch.costs
        root, *features = choice
        goes_left = self.box.left_ranks(root)[c.ranks[self.box.feature]]
        labels = np.zeros(c.n_people, dtype=np.int64)
        if not self.real:
            free = self.sides.free
            prices = costs[free]
            cheapest = prices.argmin(axis=1)
            labels[free] = np.where(prices[np.arange(len(prices)), cheapest] < 0, cheapest + 1, 0)
        for side, feature in enumerate(features):
            member = (goes_left if side == 0 else ~goes_left) & ~self.sides.free
            f = min(feature, c.n_features - 1)
            kernels.label_side(
                costs, member, self.sides.segment[side, f], int(self.sides.n_segments[side][f]),
                bool(c.unordered[f]), self._cut(side, feature, member), feature == c.n_features,
                c.count, self.least_people, labels,
            )  # fmt: skip
        return labels

    def _cut(self, side: int, feature: int, member: np.ndarray) -> int:
        """Where a stump on this feature cuts best; 0 where it does not cut."""
        if feature == self.compiled.n_features or self.compiled.unordered[feature]:
            return 0
        segments = int(self.sides.n_segments[side][feature])
        return int(kernels.find_cut(self.scratch.costs, member, self.sides.segment[side, feature], segments))

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """The root at its position and the best stump of each chosen feature."""
        root, *features = choice
        left_ranks = self.box.left_ranks(root)
        goes_left = left_ranks[self.compiled.ranks[self.box.feature]]
        stumps = []
        for side, feature in enumerate(features):
            member = goes_left if side == 0 else ~goes_left
            cut, place = self._cut(side, feature, member), self.sides.place[side]
            stumps.append(plan_stump(self.compiled, place, feature, cut, member, labels))
        return Plan(self.box.feature, left_ranks, *stumps)

    def is_real(self, choice: tuple[int, ...]) -> bool:  # noqa: ARG002
        """Whether everybody was labelled by a stump."""
        return self.real

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Roots and cuts whose cheapest tree stays below the budget."""
        budget -= self._loose()
        pairs = np.where(self.pairs, 0.0, np.inf)
        left, right = self.values
        partner = ((right[:, None, :] + pairs).min(axis=2), (left[:, :, None] + pairs).min(axis=1))
        self.live = self.live & ((left + partner[0]).min(axis=1) < budget)
        alive = np.zeros_like(self.sides.alive)
        for side in (0, 1):
            self._mark(side, budget - partner[side], alive[side])
        return self.live, alive

    def _crowded(self) -> np.ndarray:
        """Which roots can have enough people on both sides."""
        box, count, least = self.box, self.compiled.count, self.scratch.least_people
        enough = np.ones(len(box.moves) + 1, dtype=np.bool_)
        if least <= 1:
            return enough
        for group, start in zip(self.sides.groups, self.on_side, strict=True):
            here = start.copy()
            parts = np.bincount(group[group >= 0], weights=count[group >= 0], minlength=len(box.moving) + 1)
            total = parts[0] + parts[1:][here].sum() + count[self.sides.free].sum()
            enough[0] &= total >= least
            for t, u in enumerate(box.moves):
                total += -parts[u + 1] if here[u] else parts[u + 1]
                here[u] = not here[u]
                enough[t + 1] &= total >= least
        return enough
