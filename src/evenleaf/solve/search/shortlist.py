"""The child tests that were cheap lately. The cheapest among them is no bound, but it takes little time to find.

A bound needs the cheapest subtree of all. To learn that multipliers are too low, any subtree will do that costs little
there, and it mostly has a test that was cheap before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels

_LONGEST = 5


@dataclass(eq=False)
class Listed:
    """A child test: its feature, its number among the tests that are listed (−1: none), and who is on which part."""

    feature: int
    number: int
    left: np.ndarray
    right: np.ndarray
    few: np.ndarray  # the people on the smaller part
    is_left: bool  # whether that is the left one
    used: int


class Shortlist:
    """A few child tests for some people, and the best stumps below each."""

    def __init__(self, members: np.ndarray, segment: np.ndarray, n_segments: np.ndarray, unordered: np.ndarray) -> None:
        self.people = (members, segment, n_segments, unordered)
        self.tests: dict[Hashable, Listed] = {}
        self.clock = 0
        self.stumps = np.zeros((_LONGEST, 2, 2), dtype=np.int64)
        self._ordered: list[Listed] = []
        self._few = self._starts = np.zeros(0, dtype=np.int64)

    def add(
        self, key: Hashable, feature: int, number: int, halves: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> None:
        """List a test, in the place of the one that was cheap longest ago; `halves` tells who goes left and right."""
        self.clock += 1
        if key in self.tests:
            self.tests[key].used = self.clock
            return
        if len(self.tests) == _LONGEST:
            del self.tests[min(self.tests, key=lambda other: self.tests[other].used)]
        left, right = halves()
        is_left = bool(left.sum() <= right.sum())
        few = np.flatnonzero(left if is_left else right)
        self.tests[key] = Listed(feature, number, left, right, few, is_left, self.clock)
        self._ordered = []

    def best(self, costs: np.ndarray) -> tuple[float, int]:
        """The cheapest test with its best stumps, and its place; infinite and −1 where there is none."""
        if len(self._ordered) < len(self.tests):
            self._ordered = list(self.tests.values())
            self._few = np.concatenate([test.few for test in self._ordered])
            self._starts = np.cumsum([0, *(len(test.few) for test in self._ordered)])
        if not self._ordered:
            return np.inf, -1
        members, *segments = self.people
        value, place = kernels.best_halves(costs, members, self._few, self._starts, *segments, self.stumps)
        return float(value), int(place)

    def test(self, place: int) -> Listed:
        """The test at a place, as numbered by `best`."""
        return self._ordered[place]

    def halves(self, place: int) -> list[tuple[np.ndarray, int, int]]:
        """Who is on the left and on the right of a test, and the feature and cut of their stumps."""
        test, stumps = self._ordered[place], self.stumps[place].tolist()
        if not test.is_left:
            stumps.reverse()
        return [(half, *stump) for half, stump in zip((test.left, test.right), stumps, strict=True)]
