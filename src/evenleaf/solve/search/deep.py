"""The oracle for trees of depth 3: one root, or several whose undecided people are free, and the best subtrees."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.plan import Plan


class DeepOracle:
    """A subtree of depth 2 a side. `alive` has a row for the child cuts and one for the stump cuts of each side."""

    def __init__(self, box: Box, scratch: Scratch) -> None:
        self.box, self.scratch, self.compiled = box, scratch, scratch.compiled
        self.free, self.sides = scratch.once(box, lambda: _subtrees(box, scratch))
        self.bests = (0.0, 0.0)

    def best(self) -> tuple[float, tuple[int, ...]]:
        """The cheapest pair of subtrees."""
        found = [side.best(self.scratch.costs) for side in self.sides]
        self.bests = (found[0][0], found[1][0])
        return sum(self.bests) + self._loose(), (found[0][1], found[1][1])

    def _loose(self) -> float:
        costs = self.scratch.costs
        return float(np.minimum(costs[self.free].min(axis=1), 0.0).sum()) if self.free.any() else 0.0

    def is_real(self, choice: tuple[int, ...]) -> bool:
        """Whether nobody is free and no subtree is a relaxation."""
        return not self.free.any() and all(
            side.is_real(number) for side, number in zip(self.sides, choice, strict=True)
        )

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Side by side; free people as cheaply as they can."""
        costs = self.scratch.costs
        labels = np.zeros(self.compiled.n_people, dtype=np.int64)
        labels[self.free] = np.column_stack([np.zeros(self.free.sum()), costs[self.free]]).argmin(axis=1)
        for side, number in zip(self.sides, choice, strict=True):
            side.label(number, costs, labels)
        return labels

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """The root and both subtrees."""
        left, right = (
            side.plan(number, self.scratch.costs, labels) for side, number in zip(self.sides, choice, strict=True)
        )
        return Plan(self.box.feature, self.box.left_ranks(0), left, right)

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Child cuts and stump cuts of each side that leave a tree below the budget."""
        slack = budget - self._loose()
        kept = [
            side.survivors(self.scratch.costs, slack - other)
            for side, other in zip(self.sides, reversed(self.bests), strict=True)
        ]
        alive = np.array([kept[0][0], kept[1][0], kept[0][1], kept[1][1]])
        return np.array([sum(self.bests) < slack]), alive


def _subtrees(box: Box, scratch: Scratch) -> tuple[np.ndarray, tuple[Children, Children]]:
    """Who is free in a box, and the subtrees of its two sides."""
    left, right, free = box.sides(scratch.compiled.ranks[box.feature])
    sides = [
        Children(scratch.compiled, group >= 0, (group >= 0) | free, box.alive[side], box.alive[2 + side])
        for side, group in enumerate((left, right))
    ]
    return free, (sides[0], sides[1])
