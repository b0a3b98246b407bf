"""What an oracle is: the cheapest tree of a box when every person has a price a label (ALGORITHM §3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.compiled import Compiled

Choice = tuple[int, int, int]  # which root, and what hangs below it on the left and on the right


@dataclass(frozen=True, eq=False)
class Stump:
    """What one side asks: nothing (feature −1), a cut after a rank, or a subset of levels (cut −1)."""

    feature: int
    cut: int


class Oracle(Protocol):
    """Bound, labels and tests of the cheapest tree, and which candidates can still lead below a budget."""

    real: bool  # whether its trees are trees, not relaxations

    def best(self) -> tuple[float, Choice]:
        """The cheapest tree's cost at the prices in the scratch array, infinite where there is none."""

    def labels(self, choice: Choice) -> np.ndarray:
        """Everybody's label in that tree."""

    def tests(self, choice: Choice) -> tuple[np.ndarray, tuple[Stump, Stump]]:
        """The ranks its root sends left, and its stumps."""

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """The roots, and the cuts a side, that some tree cheaper than the budget may have."""


class Scratch:
    """Arrays shared by all oracles, one after another."""

    def __init__(self, compiled: Compiled, least_people: int) -> None:
        self.compiled, self.least_people = compiled, least_people
        self.costs = np.empty((compiled.n_people, compiled.n_labels))
        self._last: tuple[Box, Sides] | None = None

    def sides(self, box: Box) -> Sides:
        """The people and segments of a box; both answers about a person's label share them, so the last is kept."""
        if self._last is not None:
            before, sides = self._last
            if before.state is box.state and before.alive is box.alive and before.moving is box.moving:
                return sides
        sides = Sides(box, self)
        self._last = (box, sides)
        return sides


class Sides:
    """The people of a box on either side, and the segments between the cuts that are still alive."""

    def __init__(self, box: Box, scratch: Scratch) -> None:
        compiled = scratch.compiled
        self.compiled, self.scratch = compiled, scratch
        left, right, self.free = box.sides(compiled.ranks[box.feature])
        self.groups = (left, right)
        self.members, self.starts = zip(*(_by_group(group, len(box.moving)) for group in self.groups), strict=True)
        self.alive = box.alive.copy()
        self.place = np.zeros(self.alive.shape, dtype=np.int32)
        self.segment = np.zeros((2, compiled.n_features, compiled.n_people), dtype=np.int32)
        self.n_segments = tuple(self._segments(side) for side in (0, 1))
        self.widest = int(max(n.max(initial=1) for n in self.n_segments))

    def _segments(self, side: int) -> np.ndarray:
        c, scratch = self.compiled, self.scratch
        return kernels.segments(
            c.ranks, c.offsets, c.unordered, c.sizes, self.alive[side], self.place[side], c.count,
            scratch.least_people, (self.groups[side] >= 0) | self.free, self.segment[side],
        )  # fmt: skip

    def stump(self, side: int, feature: int, segment: int) -> Stump:
        """The stump that cuts a feature after a segment."""
        c = self.compiled
        if feature == c.n_features:
            return Stump(-1, -1)
        if c.unordered[feature]:
            return Stump(feature, -1)
        return Stump(feature, int(self.place[side, c.offsets[feature] + segment]))


def _by_group(group: np.ndarray, n_moving: int) -> tuple[np.ndarray, np.ndarray]:
    """Everybody who may be on a side, group by group, and where each group starts."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_moving + 2))
    return order[starts[0] :], starts - starts[0]
