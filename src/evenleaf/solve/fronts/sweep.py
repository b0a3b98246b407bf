"""All cuts (and all subsets of few levels) of first tests above two stumps, swept feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenleaf.solve.fronts.kernels.first_points import points_below
from evenleaf.solve.fronts.kernels.first_tests import best_first_test, block_bounds, tests_below
from evenleaf.solve.fronts.kernels.sheet import lay_out
from evenleaf.solve.fronts.kernels.stumps import best_stumps
from evenleaf.solve.fronts.kernels.whole import best_whole, cheapest_run
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.tests import Box, Cuts, Levels

WORK = 200  # sums looked at for every point that a list may have
_FEW_TESTS = 128
MOST_TESTS = 20_000  # first tests whose stumps are listed
FEWEST_BLOCKS, MOST_BLOCKS = 16, 96  # runs of ranks a feature; a table of them has about as many cells as people


@dataclass(frozen=True, eq=False)
class Tests:
    """Which features may be tested, and of which unordered ones all subsets are walked through as first tests."""

    allowed: np.ndarray
    walked: np.ndarray


class Sweep:
    """The people of a slot, laid out for sweeps; `stop[0]` is set from outside when the time is up."""

    def __init__(self, lane: Lane, ranks: np.ndarray, members: np.ndarray, tests: Tests, stop: np.ndarray) -> None:
        compiled = lane.compiled
        self.lane, self.members, self.tests, self.stop = lane, members, tests, stop
        self.ranks, self.unordered = ranks, compiled.unordered
        n_blocks = int(np.clip(0.5 * np.sqrt(len(members)), FEWEST_BLOCKS, MOST_BLOCKS))
        self.sheet = lay_out(ranks, compiled.sizes, compiled.unordered, members, tests.allowed, n_blocks)

    def best(self, prices: Prices, start: float) -> tuple[float, Box | None]:
        """The cheapest first test below a price, at the first multipliers, whatever the size of its leaves."""
        own = np.ascontiguousarray(prices.table[self.members, 0, 0])
        value, row, code = best_first_test(self.sheet, self.unordered, self.tests.walked, own, start, self.stop)
        return float(value), None if row < 0 else self._test(int(row), int(code))

    def _test(self, row: int, code: int) -> Box:
        f = int(self.sheet[0][row])
        upper = self.sheet[5][self.sheet[4][row] : self.sheet[4][row + 1]]
        if not self.unordered[f]:
            return Cuts(f, int(upper[code]), int(upper[code]))
        everyone = frozenset(range(int(self.lane.compiled.sizes[f])))
        left = frozenset(int(level) for number, level in enumerate(upper) if code >> number & 1)
        return Levels(f, left, everyone - left)

    def boxes(self, prices: Prices) -> tuple[list[Box], np.ndarray]:
        """The cuts of ordered features in boxes, and what each box costs at least: box by multipliers."""
        boxes: list[Box] = []
        values = [np.zeros((0, prices.shape[2]))]
        own = np.ascontiguousarray(prices.table[self.members, 0].T)
        names, starts, upper, edges, blocks = (self.sheet[number] for number in (0, 4, 5, 6, 7))
        for row in np.flatnonzero(~self.unordered[names]):
            ends = edges[blocks[row] + row : blocks[row + 1] + row + 1]
            ranks = upper[starts[row] : starts[row + 1]]
            found = block_bounds(self.sheet, self.unordered, row, own)
            for first, last in pairwise(ends.tolist()):
                if first < len(ranks) - 1:
                    last_cut = min(last - 1, len(ranks) - 2)
                    boxes.append(Cuts(int(names[row]), int(ranks[first]), int(ranks[last_cut])))
            values.append(found if ends[-2] < len(ranks) - 1 else found[:-1])
        return boxes, np.concatenate(values)

    def points(
        self, prices: Prices, least: int, rest: np.ndarray, goal: np.ndarray, most: int, mode: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The points of all trees with such a test above stumps that survive; a negative number is the kernel's excuse.

        Where `goal` says what a whole tree is worth, its first number falls to the best that was found.
        """
        own = prices.table[self.members, 0]
        lead = self._leading(prices, rest)
        inputs = self.inputs(prices, lead)
        question = prices.multipliers, rest, lead
        limits = most, mode, least, np.array([WORK * most]), self.stop
        found = np.zeros((64, self.lane.n_dimensions + 1)), np.zeros((64, 9), dtype=np.int64), 0
        order = np.concatenate([[lead], np.delete(np.arange(len(rest)), lead)])
        back = np.argsort(order)
        alive = self._alive(np.ascontiguousarray(own[:, order].T), goal[0] - rest[order])
        if alive is None:
            return found[0], found[1], -2 if self.stop[0] else -1
        for row, codes, costs in alive:
            costs = np.ascontiguousarray(costs[:, :, back])
            found = points_below(self.sheet, self.unordered, row, codes, costs, inputs, question, goal, limits, found)
            if found[2] < 0:
                break
        return found

    def whole(
        self, prices: Prices, least: int, rest: np.ndarray, goal: np.ndarray, most: int, mode: int, *, few: bool = False
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The best tree with such a test above stumps, where these are all the tests there are: one point, or none.

        It is exact with one disparity, and with several where a limit is so small that theirs have to cancel. With
        `few`, only features with few tests are looked at.
        """
        best, target = (np.zeros(self.lane.n_dimensions + 1), np.zeros(9, dtype=np.int64)), goal[0]
        asked, inputs = (prices.multipliers[:1], rest[:1]), self.inputs(prices, 0)
        limits = most, mode, least, np.array([WORK * most]), self.stop
        number = 0
        for row in self._in_order(inputs, few):
            number = best_whole(self.sheet, self.unordered, row, inputs, asked, goal, limits, best)
            if number < 0:
                break
        found = number if number < 0 else int(goal[0] < target)
        return best[0][None, :], best[1][None, :], int(found)

    def _in_order(self, inputs: np.ndarray, few: bool) -> np.ndarray:
        """The rows whose tests are swept: what features with few tests find, the cheapest first, helps the others."""
        names, tests = self.sheet[0], np.diff(self.sheet[4]).astype(float)
        swept = np.flatnonzero(~self.unordered[names] | self.tests.walked[names])
        if few:
            swept = swept[~self.unordered[names[swept]] & (tests[swept] <= _FEW_TESTS)]
        for row in swept:
            if self.unordered[names[row]]:
                tests[row] = _FEW_TESTS
            elif tests[row] <= _FEW_TESTS:  # all prices are below 1
                tests[row] = cheapest_run(self.sheet, self.unordered, row, inputs)
        return swept[np.argsort(tests[swept], kind="stable")]

    def _alive(self, prices: np.ndarray, targets: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]] | None:
        """The first tests below the targets by feature, the cheapest first; None where they are too many."""
        names, found, size = self.sheet[0], [], 0
        for row in np.flatnonzero(~self.unordered[names] | self.tests.walked[names]):
            codes, costs, number = tests_below(self.sheet, self.unordered, row, prices, targets, MOST_TESTS, self.stop)
            size += number
            if number < 0 or size > MOST_TESTS or self.stop[0]:
                return None
            if number:
                order = np.argsort(costs[:number, :, 0].sum(axis=1), kind="stable")
                found.append((int(row), codes[order], costs[order]))
        return sorted(found, key=lambda one: float(one[2][0, :, 0].sum()))

    def inputs(self, prices: Prices, lead: int) -> np.ndarray:
        """Member by member: the price at some multipliers, what is negative of it, the vector, and people."""
        price = np.ascontiguousarray(prices.table[self.members, 0, lead])
        count = self.lane.compiled.count[self.members].astype(float)
        return np.column_stack([price, np.minimum(price, 0.0), self.lane.vectors[self.members, 0], count])

    def _leading(self, prices: Prices, rest: np.ndarray) -> int:
        """The multipliers that are tried first: those at which stumps and the rest cost most."""
        compiled = self.lane.compiled
        stumps = best_stumps(
            self.ranks,
            compiled.sizes,
            compiled.unordered,
            self.members,
            prices.table,
            compiled.count,
            1,
            self.tests.allowed,
        )
        return int(np.argmax(stumps[0] + rest))
