"""Boxes of tests: the cuts of an interval, or the subsets that agree about some levels.

A rank of a box is on the left of all its tests, on the right of all of them, or free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

LEFT, RIGHT, FREE = 0, 1, 2


@dataclass(frozen=True)
class Cuts:
    """The tests "rank ≤ c" with low ≤ c ≤ high."""

    feature: int
    low: int
    high: int

    @property
    def empty(self) -> bool:
        """Whether there is no test: a block of one rank at the lower end has none."""
        return self.low > self.high

    def sides(self, size: int) -> np.ndarray:
        """The side of each rank."""
        sides = np.full(size, FREE, dtype=np.int8)
        sides[: self.low + 1] = LEFT
        sides[self.high + 1 :] = RIGHT
        return sides

    def halves(self, weight: np.ndarray, share: float = 0.5) -> tuple[Cuts, Cuts]:
        """Two boxes that part the cuts, the first with about such a share of the free people (by rank)."""
        inside = np.cumsum(weight[self.low + 1 : self.high + 1])
        middle = self.low + int(np.searchsorted(inside, inside[-1] * share, side="left"))
        middle = min(max(middle, self.low), self.high - 1)
        return Cuts(self.feature, self.low, middle), Cuts(self.feature, middle + 1, self.high)

    def on_one_side(self, number: int) -> Cuts:
        """What decides who is on the left of all tests (0) or on the right of them (1)."""
        cut = self.high if number else self.low
        return Cuts(self.feature, cut, cut)

    def singles(self, present: np.ndarray) -> Iterator[Cuts]:
        """Each test that parts the people of these ranks in its own way."""
        for cut in range(self.low, self.high + 1):
            if cut == self.low or present[cut]:
                yield Cuts(self.feature, cut, cut)


@dataclass(frozen=True)
class Levels:
    """The subsets with these levels on the left and those on the right; a level in neither is free."""

    feature: int
    left: frozenset[int]
    right: frozenset[int]

    def sides(self, size: int) -> np.ndarray:
        """The side of each level."""
        sides = np.full(size, FREE, dtype=np.int8)
        sides[list(self.left)] = LEFT
        sides[list(self.right)] = RIGHT
        return sides

    def halves(self, weight: np.ndarray) -> tuple[Levels, Levels]:
        """The free level with the most people to either side."""
        level = int(np.where(self.sides(len(weight)) == FREE, weight, -1).argmax())
        return (
            Levels(self.feature, self.left | {level}, self.right),
            Levels(self.feature, self.left, self.right | {level}),
        )

    def on_one_side(self, number: int) -> Levels:
        """What decides who is on the left of all tests (0) or on the right of them (1)."""
        nobody: frozenset[int] = frozenset()
        return Levels(self.feature, nobody, self.right) if number else Levels(self.feature, self.left, nobody)

    def singles(self, present: np.ndarray) -> Iterator[Levels]:
        """Each subset; levels that nobody has go right."""
        free = np.flatnonzero((self.sides(len(present)) == FREE) & present)
        absent = frozenset(np.flatnonzero(~present).tolist()) - self.left
        for choice in product((False, True), repeat=len(free)):
            chosen = frozenset(int(level) for level, goes_left in zip(free, choice, strict=True) if goes_left)
            others = frozenset(free.tolist()) - chosen
            yield Levels(self.feature, self.left | chosen, self.right | others | absent)


Box = Cuts | Levels


def cut_boxes(feature: int, ends: list[int], exact: bool) -> list[Cuts]:
    """The cuts of a feature in runs of ranks that end there, or each by itself."""
    if exact:
        return [Cuts(feature, end, end) for end in ends[:-1]]
    return [Cuts(feature, low, high - 1) for low, high in zip([0, *ends[:-1]], ends, strict=True)]


def subset_boxes(feature: int, ends: list[int], size: int, exact: bool) -> list[Levels]:
    """The subsets of some levels, without their complements: each by itself, or with all other levels free."""
    boxes: list[Levels] = []
    absent = frozenset(range(size)) - frozenset(ends) if exact else frozenset()
    for step in range(1 if exact else 0, 1 << (len(ends) - 1)):
        chosen = step ^ (step >> 1)  # the Gray code, in which the kernel walks through the subsets
        left = frozenset(level for bit, level in enumerate(ends[1:]) if chosen >> bit & 1)
        boxes.append(Levels(feature, left, (frozenset(ends) - left) | absent))
    return boxes


def middle_test(box: Box, weight: np.ndarray) -> Box:
    """One of the tests of a box: the cut that halves the free people, or free levels on the right."""
    if isinstance(box, Levels):
        return Levels(box.feature, box.left, frozenset(range(len(weight))) - box.left)
    low = box.halves(weight)[0].high if box.low < box.high else box.low
    return Cuts(box.feature, low, low)


# A tree in outline: a label, or a test with what is below it on the left and on the right.
Sketch = int | tuple[Box, "Sketch", "Sketch"]


@dataclass(frozen=True)
class Slot:
    """A part of the tree that may still become any tree of at most this depth."""

    depth: int


@dataclass(frozen=True)
class Split:
    """A test that is settled up to its box, and the two parts below it."""

    box: Box
    left: Part
    right: Part


@dataclass(frozen=True)
class Fork:
    """A categorical test with free levels above two stumps: given the stumps, each level picks its side."""

    box: Levels


Part = Slot | Split | Fork
