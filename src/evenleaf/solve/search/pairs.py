"""The oracle for a categorical root with many levels: fix the two stumps, and each level picks its side (§9.8).

It bounds every subset at once. Where a stump is itself a subset of levels, each cell of the two columns picks its
label alone, which is a relaxation; everything else is exact.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.oracle import Scratch, Sides, labelled_stumps, plan_stump
from evenleaf.solve.search.plan import Plan


class PairOracle:
    """Lists the labelled stumps of each side, and searches the pairs of them."""

    def __init__(self, box: Box, pairs: np.ndarray, scratch: Scratch) -> None:
        self.box, self.pairs, self.scratch = box, pairs, scratch
        self.compiled, self.sides = scratch.compiled, scratch.once(box, lambda: Sides(box, scratch))
        n_levels, n_labels = len(box.moving), self.compiled.n_labels
        self.h = np.empty((n_levels + 1, self.sides.widest, n_labels))
        self.lists = tuple(
            labelled_stumps(self.compiled, n_segments, spelt=lambda _: False) for n_segments in self.sides.n_segments
        )
        self.settled = tuple(np.empty(len(stumps)) for stumps in self.lists)
        self.moving = tuple(np.empty((len(stumps), n_levels)) for stumps in self.lists)
        self.least = tuple(np.empty(len(stumps)) for stumps in self.lists)
        self.real = not any(self.compiled.unordered[stumps[stumps[:, 0] >= 0, 0]].any() for stumps in self.lists)

    def best(self) -> tuple[float, tuple[int, ...]]:
        """The cheapest pair of labelled stumps."""
        self._price()
        value, left, right = self._pairs(kernels.INFINITE, -kernels.INFINITE)
        return (np.inf, (-1, -1, -1)) if value >= kernels.INFINITE else (value, (0, left, right))

    def _price(self) -> None:
        c = self.compiled
        for side in (0, 1):
            kernels.price_stumps(
                self.scratch.costs, self.sides.members[side], self.sides.groups[side],
                self.sides.segment[side], self.sides.n_segments[side],
                c.unordered, self.lists[side], self.h, self.settled[side], self.moving[side],
            )  # fmt: skip

    def _pairs(self, start: float, budget: float) -> tuple[float, int, int]:
        return kernels.best_pair(
            self.settled[0], self.moving[0], self.lists[0], self.settled[1], self.moving[1], self.lists[1],
            self.pairs, start, min(budget, kernels.INFINITE), self.least[0], self.least[1],
        )  # fmt: skip

    def _goes_left(self, choice: tuple[int, ...]) -> np.ndarray:
        """Each level on its cheaper side."""
        _, left, right = choice
        ranks = self.box.left_ranks(0)
        ranks[self.box.moving[self.moving[0][left] <= self.moving[1][right]]] = True
        return ranks

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Everybody by the stump of their side; in a subset stump, each cell by itself."""
        c, box = self.compiled, self.box
        own = c.ranks[box.feature]
        goes_left = self._goes_left(choice)[own]
        labels = np.zeros(c.n_people, dtype=np.int64)
        for side, number in enumerate(choice[1:]):
            member = goes_left if side == 0 else ~goes_left
            feature, segment, below, above = self.lists[side][number]
            if feature < 0:
                labels[member] = below
            elif not c.unordered[feature]:
                labels[member] = np.where(self.sides.segment[side, feature][member] <= segment, below, above)
            else:
                cell = self.sides.groups[side][member].astype(np.int64) * c.sizes[feature] + c.ranks[feature][member]
                labels[member] = self._cheaper(cell, member, int(below), int(above))
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
            feature, segment = (int(entry) for entry in self.lists[side][number][:2])
            member = goes_left if side == 0 else ~goes_left
            stumps.append(plan_stump(self.compiled, self.sides.place[side], feature, segment, member, labels))
        return Plan(self.box.feature, left_ranks, *stumps)

    def is_real(self, choice: tuple[int, ...]) -> bool:  # noqa: ARG002
        """Whether no stump is a subset of levels."""
        return self.real

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Cuts with some labels whose cheapest partner stays below the budget."""
        self._pairs(-kernels.INFINITE, budget)
        alive = np.zeros_like(self.sides.alive)
        for side in (0, 1):
            kept = self.lists[side][(self.least[side] < budget) & (self.lists[side][:, 0] >= 0)]
            start = self.compiled.offsets[kept[:, 0]]
            ordered = ~self.compiled.unordered[kept[:, 0]]
            cut = np.where(ordered, self.sides.place[side, start + np.where(ordered, kept[:, 1], 0)], 0)
            alive[side, start + cut] = 1
        possible = bool(min(self.least[0].min(), self.least[1].min()) < budget)
        return self.box.live & possible, alive
