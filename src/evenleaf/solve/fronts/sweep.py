"""All cuts (and all subsets of few levels) of first tests above two stumps, swept feature by feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.kernels.sweep import (
    best_cut,
    by_rank,
    lay_out,
    moved,
    stumps_on_both_sides,
    sum_up,
)
from evenleaf.solve.fronts.kernels.sweep_points import cut_points, subset_points
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.tests import Box, Cuts, Levels

_WORK = 200  # sums looked at for every point that a list may have


@dataclass(frozen=True, eq=False)
class Tests:
    """Which features may be tested, and of which unordered ones all subsets are walked through as first tests."""

    allowed: np.ndarray
    walked: np.ndarray


class Sweep:
    """The people of a slot, laid out for sweeps; `stop[0]` is set from outside when the time is up."""

    def __init__(self, lane: Lane, ranks: np.ndarray, members: np.ndarray, tests: Tests, stop: np.ndarray) -> None:
        compiled = lane.compiled
        self.lane, self.members, self.walked, self.stop = lane, members, tests.walked, stop
        self.unordered = compiled.unordered
        self.place, self.starts, self.upper = lay_out(ranks, compiled.sizes, compiled.unordered, members, tests.allowed)

    def best(self, prices: Prices, start: float) -> tuple[float, Box | None]:
        """The cheapest first test below a price, at the first multipliers, whatever the size of its leaves."""
        own = np.ascontiguousarray(prices.table[self.members, 0, :1])
        value, f, code = best_cut(self.place, self.starts, self.unordered, self.walked, own, start, self.stop)
        return float(value), None if f < 0 else self._test(int(f), int(code))

    def _test(self, f: int, code: int) -> Box:
        if not self.unordered[f]:
            rank = int(self.upper[code])
            return Cuts(f, rank, rank)
        everyone = frozenset(range(int(self.lane.compiled.sizes[f])))
        left = frozenset(level for level in everyone if code >> level & 1)
        return Levels(f, left, everyone - left)

    def points(
        self, prices: Prices, least: int, rest: np.ndarray, goal: np.ndarray, most: int, mode: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The points of all trees with a cut above stumps that survive; a negative number is the kernel's excuse.

        Where `goal` says what a whole tree is worth, its first number falls to the best that was found.
        """
        own = prices.table[self.members, 0]
        lead = self._leading(own, rest)
        count = self.lane.compiled.count[self.members].astype(float)
        inputs = np.column_stack([own[:, lead], self.lane.vectors[self.members, 0], count])
        whole, total = sum_up(self.place, self.starts, inputs)
        sheet = self.place, self.starts, self.upper, self.unordered, inputs, whole, total
        question = prices.multipliers, rest, lead
        limits = most, mode, least, np.array([_WORK * most]), self.stop
        found = np.zeros((64, self.lane.n_dimensions + 1)), np.zeros((64, 9), dtype=np.int64), 0
        for f in np.flatnonzero((~self.unordered | self.walked) & (np.diff(self.starts) > 1)):
            order, begins = by_rank(self.place, f, self.starts)
            mass = moved(own, order, begins)
            kernel = subset_points if self.unordered[f] else cut_points
            found = kernel(sheet, f, order, begins, mass, question, goal, limits, found)
            if found[2] < 0:
                break
        return found

    def _leading(self, prices: np.ndarray, rest: np.ndarray) -> int:
        """The multipliers that are tried first: those at which stumps and the rest cost most."""
        values = []
        for j in range(len(rest)):
            whole, total = sum_up(self.place, self.starts, np.ascontiguousarray(prices[:, j : j + 1]))
            nobody = np.zeros(whole.shape[1])
            stump = stumps_on_both_sides(nobody, whole[0], 0.0, total[0], self.starts, self.unordered)[1]
            values.append(stump + rest[j])
        return int(np.argmax(values))
