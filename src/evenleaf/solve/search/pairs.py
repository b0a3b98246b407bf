"""The oracle for a categorical root with many levels: fix the two stumps, and each level picks its side (§9.8).

It bounds every subset at once, up to the relaxation that is left in stumps which are subsets of many levels.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.oracle import Scratch, Sides, plan_stump
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.stumps import (
    is_relaxed,
    label_subset,
    labelled_stumps,
    list_of,
    one_label_each,
    spelt_out,
)


class PairOracle:
    """Lists the labelled stumps of each side, and searches the pairs of them."""

    has_many_cuts = False

    def __init__(self, box: Box, pairs: np.ndarray, scratch: Scratch) -> None:
        self.box, self.pairs, self.scratch = box, pairs, scratch
        self.compiled, self.sides = scratch.compiled, scratch.once(box, lambda: Sides(box, scratch))
        self.h = np.empty((len(box.moving) + 1, self.sides.widest, self.compiled.n_labels))
        self.relaxed = tuple(
            list_of(labelled_stumps(self.compiled, n_segments, lambda _: False), len(box.moving))
            for n_segments in self.sides.n_segments
        )
        self.lists = self.relaxed

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest pair of labelled stumps."""
        self.lists = self.relaxed
        self._price()
        value, left, right = self._pairs(kernels.INFINITE, -kernels.INFINITE)
        if value < enough and self._is_relaxed(left, right):
            self._pairs(kernels.INFINITE, enough)  # what may stay below the target
            if self._spell(enough):
                value, left, right = self._pairs(kernels.INFINITE, -kernels.INFINITE)
        return (np.inf, (-1, -1, -1)) if value >= kernels.INFINITE else (value, (0, left, right))

    def _is_relaxed(self, *choice: int) -> bool:
        chosen = [listed.stumps[number] for listed, number in zip(self.lists, choice, strict=True)]
        return bool(is_relaxed(np.array(chosen), self.box.feature).any())

    def _spell(self, budget: float) -> bool:
        """List subsets in the place of relaxed stumps that stay below the budget; False where there is none."""
        below = [listed.stumps[listed.least < budget] for listed in self.relaxed]
        spelt = [spelt_out(below[side], self.box.feature, self.sides.n_segments[side]) for side in (0, 1)]
        if spelt[0] is None and spelt[1] is None:
            return False
        rows = (old if new is None else new for old, new in zip(below, spelt, strict=True))
        self.lists = tuple(list_of(stumps, len(self.box.moving)) for stumps in rows)
        self._price()
        return True

    def _price(self) -> None:
        c = self.compiled
        for side, listed in enumerate(self.lists):
            kernels.price_stumps(
                self.scratch.costs, self.sides.members[side], self.sides.groups[side],
                self.sides.segment[side], self.sides.n_segments[side],
                c.unordered, listed.stumps, self.h, listed.settled, listed.moving,
            )  # fmt: skip

    def _pairs(self, start: float, budget: float) -> tuple[float, int, int]:
        left, right = self.lists
        return kernels.best_pair(
            left.settled, left.moving, left.stumps, right.settled, right.moving, right.stumps,
            self.pairs, start, min(budget, kernels.INFINITE), left.least, right.least,
        )  # fmt: skip

    def _goes_left(self, choice: tuple[int, ...]) -> np.ndarray:
        """Each level on its cheaper side."""
        _, left, right = choice
        ranks = self.box.left_ranks(0)
        ranks[self.box.moving[self.lists[0].moving[left] <= self.lists[1].moving[right]]] = True
        return ranks

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Everybody by the stump of their side; in a subset stump, small levels cell by cell."""
        c, box = self.compiled, self.box
        goes_left = self._goes_left(choice)[c.ranks[box.feature]]
        labels = np.zeros(c.n_people, dtype=np.int64)
        for side, number in enumerate(choice[1:]):
            member = goes_left if side == 0 else ~goes_left
            stump = self.lists[side].stumps[number]
            feature, segment, below, above = (int(entry) for entry in stump)
            if feature < 0:
                labels[member] = below
            elif c.unordered[feature]:
                level, part = c.ranks[feature][member], self.sides.groups[side][member]
                labels[member] = label_subset(self.scratch.costs[member], stump, level, part, int(c.sizes[feature]))
            else:
                labels[member] = np.where(self.sides.segment[side, feature][member] <= segment, below, above)
        return labels

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """The root that the levels chose, and the stumps."""
        left_ranks = self._goes_left(choice)
        goes_left = left_ranks[self.compiled.ranks[self.box.feature]]
        stumps = []
        for side, number in enumerate(choice[1:]):
            feature, segment = (int(entry) for entry in self.lists[side].stumps[number][:2])
            member = goes_left if side == 0 else ~goes_left
            stumps.append(plan_stump(self.compiled, self.sides.place[side], feature, segment, member, labels))
        return Plan(self.box.feature, left_ranks, *stumps)

    def is_real(self, choice: tuple[int, ...]) -> bool:
        """Whether no level of a stump was given two labels."""
        if min(choice) < 0:
            return False
        labels, c = self.labels(choice), self.compiled
        goes_left = self._goes_left(choice)[c.ranks[self.box.feature]]
        for side, number in enumerate(choice[1:]):
            feature = int(self.lists[side].stumps[number, 0])
            if feature >= 0 and c.unordered[feature]:
                member = goes_left if side == 0 else ~goes_left
                if not one_label_each(c.ranks[feature][member], labels[member]):
                    return False
        return True

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Cuts with some labels whose cheapest partner stays below the budget."""
        self.lists = self.relaxed
        self._pairs(-kernels.INFINITE, budget)
        if self._spell(budget):
            self._pairs(-kernels.INFINITE, budget)
        alive = np.zeros_like(self.sides.alive)
        for side, listed in enumerate(self.lists):
            kept = listed.stumps[(listed.least < budget) & (listed.stumps[:, 0] >= 0)]
            start = self.compiled.offsets[kept[:, 0]]
            ordered = ~self.compiled.unordered[kept[:, 0]]
            cut = np.where(ordered, self.sides.place[side, start + np.where(ordered, kept[:, 1], 0)], 0)
            alive[side, start + cut] = 1
        least = [listed.least.min(initial=kernels.INFINITE) for listed in self.lists]
        return self.box.live & bool(min(least) < budget), alive
