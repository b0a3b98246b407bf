"""Sets of root tests, as a proof speaks about them: listed one by one, or together with some ranks left open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.proofs.labels import LEFT, OPEN, RIGHT, Region

MOST_LISTED_LEVELS = 9  # with more open levels there are too many subsets to list


@dataclass(frozen=True, eq=False)
class Roots:
    """Root tests on one feature. Ranks of the same part always go together; a root sends parts left or right.

    A part that goes neither way is open: then there is one row, which stands for every root that places the open
    parts somehow.
    """

    feature: int
    part: np.ndarray  # of each rank
    left: np.ndarray  # roots × parts
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    @property
    def open(self) -> np.ndarray:
        """The parts that are not placed."""
        return ~(self.left | self.right).any(axis=0)

    def keep(self, which: np.ndarray | slice) -> Roots:
        """Some of the roots."""
        return replace(self, left=self.left[which], right=self.right[which])

    def left_ranks(self) -> np.ndarray:
        """Which ranks the first root sends left."""
        return np.asarray(self.left[0][self.part])


def cuts(feature: int, size: int, after: np.ndarray) -> Roots:
    """The cuts of an ordered feature after these ranks, in ascending order."""
    left = np.tri(len(after), len(after) + 1, dtype=np.bool_)
    return Roots(feature, np.searchsorted(after, np.arange(size)), left, ~left)


def interval(feature: int, size: int, first: int, last: int) -> Roots:
    """All cuts after the ranks first to last at once: the ranks in between are open."""
    part = np.searchsorted([first, last], np.arange(size))
    return Roots(feature, part, np.array([[True, False, False]]), np.array([[False, False, True]]))


def levels(feature: int, sides: np.ndarray) -> Roots:
    """All subsets at once: the levels that are not placed are open, each a part of its own."""
    part = np.where(sides == RIGHT, 1, 0)
    part[sides == OPEN] = 2 + np.arange(int((sides == OPEN).sum()))
    left = np.arange(int(2 + (sides == OPEN).sum()))[None, :] == 0
    right = np.arange(left.shape[1])[None, :] == 1
    return Roots(feature, part, left, right)


def subsets(feature: int, sides: np.ndarray) -> Roots:
    """Every subset that places the open levels, one by one."""
    together = levels(feature, sides)
    open_levels = int(together.open.sum())
    chosen = (np.arange(1 << open_levels)[:, None] >> np.arange(open_levels)) & 1 == 1
    left = np.column_stack([np.repeat(together.left[:, :2], len(chosen), axis=0), chosen])
    return Roots(feature, together.part, left, ~left)


def cuts_left_over(region: Region, parts: Sequence[Region]) -> np.ndarray:
    """The cuts of a region that none of its parts holds."""
    after = np.arange(region.first, region.last + 1)
    held = np.zeros(len(after), dtype=np.bool_)
    for part in parts:
        held |= (after >= part.first) & (after <= part.last)
    return after[~held]


def levels_left_over(sides: np.ndarray, parts: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """Placements that together hold every subset of `sides` that none of the parts holds.

    Where a part holds some of the subsets but not all, one level that it places and that is still open is placed
    both ways, and both halves are looked at again.
    """
    near = [part for part in parts if not ((part != sides) & (part != OPEN) & (sides != OPEN)).any()]
    if not near:
        yield sides
        return
    decided = [np.flatnonzero((part != OPEN) & (sides == OPEN)) for part in near]
    if all(len(ranks) for ranks in decided):
        for side in (LEFT, RIGHT):
            half = sides.copy()
            half[decided[0][0]] = side
            yield from levels_left_over(half, near)
