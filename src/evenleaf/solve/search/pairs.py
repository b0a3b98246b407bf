"""The oracle for a categorical root with many levels: fix the two stumps, and each level picks its side (§9.8).

It bounds every subset at once. Where a stump is itself a subset of levels, first each cell of the two columns picks
its label alone, which is a relaxation. Stumps that stay below the target so are listed again with the subsets of
their largest levels spelt out; what is left to the cells then are the small levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.oracle import Scratch, Sides, labelled_stumps, plan_stump, spelt_sets
from evenleaf.solve.search.plan import Plan


@dataclass(frozen=True, eq=False)
class _List:
    """Labelled stumps of one side: their costs on who is settled and on each moving level, and the least totals."""

    stumps: np.ndarray
    settled: np.ndarray
    moving: np.ndarray
    least: np.ndarray


class PairOracle:
    """Lists the labelled stumps of each side, and searches the pairs of them."""

    def __init__(self, box: Box, pairs: np.ndarray, scratch: Scratch) -> None:
        self.box, self.pairs, self.scratch = box, pairs, scratch
        self.compiled, self.sides = scratch.compiled, scratch.once(box, lambda: Sides(box, scratch))
        self.h = np.empty((len(box.moving) + 1, self.sides.widest, self.compiled.n_labels))
        self.relaxed = tuple(
            self._list(labelled_stumps(self.compiled, n_segments, spelt=lambda _: False))
            for n_segments in self.sides.n_segments
        )
        self.lists = self.relaxed

    def _list(self, stumps: np.ndarray) -> _List:
        n = len(stumps)
        return _List(stumps, np.empty(n), np.empty((n, len(self.box.moving))), np.empty(n))

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest pair of labelled stumps."""
        self.lists = self.relaxed
        self._price()
        value, left, right = self._pairs(kernels.INFINITE, enough)
        if value < enough and self._spell(enough):
            value, left, right = self._pairs(kernels.INFINITE, -kernels.INFINITE)
        return (np.inf, (-1, -1, -1)) if value >= kernels.INFINITE else (value, (0, left, right))

    def _spell(self, budget: float) -> bool:
        """List subsets instead of relaxed stumps that stay below the budget, and drop the others; if there are any."""
        lists, expanded = [], False
        for side, known in enumerate(self.relaxed):
            below = known.stumps[known.least < budget]
            # Of the root's own levels a stump takes each as a whole: there is nothing to relax.
            relaxed = (below[:, 1] < 0) & (below[:, 0] != self.box.feature)
            rows, expanded = [below[~relaxed]], expanded or bool(relaxed.any())
            for feature, _, first, second in below[relaxed]:
                sets = np.array(spelt_sets(int(self.sides.n_segments[side][feature])), dtype=np.int64)
                rows.append(
                    np.column_stack([np.full_like(sets, feature), sets, *np.full((2, len(sets)), [[first], [second]])])
                )
            listed = np.concatenate(rows)
            lists.append(self._list(listed[np.argsort(listed[:, 0], kind="stable")]))
        if not expanded:
            return False
        self.lists = (lists[0], lists[1])
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
            feature, segment, below, above = (int(entry) for entry in self.lists[side].stumps[number])
            if feature < 0:
                labels[member] = below
            elif not c.unordered[feature]:
                labels[member] = np.where(self.sides.segment[side, feature][member] <= segment, below, above)
            else:
                level = c.ranks[feature][member]
                cell = self.sides.groups[side][member].astype(np.int64) * c.sizes[feature] + level
                labels[member] = self._cheaper(cell, member, below, above)
                if segment >= 0:
                    spelt = np.where((segment >> np.minimum(level, kernels.MOST_SPELT)) & 1, below, above)
                    labels[member] = np.where(level < kernels.MOST_SPELT, spelt, labels[member])
        return labels

    def _cheaper(self, cell: np.ndarray, member: np.ndarray, first: int, second: int) -> np.ndarray:
        costs = self.scratch.costs[member]
        low = np.zeros(len(costs)) if first == 0 else costs[:, first - 1]
        gain = np.bincount(cell, weights=costs[:, second - 1] - low)
        return np.where(gain[cell] < 0, second, first)

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
                given = np.unique(c.ranks[feature][member].astype(np.int64) * (c.n_labels + 1) + labels[member])
                if len(np.unique(given // (c.n_labels + 1))) < len(given):
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
