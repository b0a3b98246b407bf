"""All cuts (and all subsets of few levels) of first tests above two stumps, swept feature by feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenleaf.solve.crew import ALONE, Crew
from evenleaf.solve.fronts.kernels.corners import weights
from evenleaf.solve.fronts.kernels.first_points import points_below
from evenleaf.solve.fronts.kernels.stumps import best_stumps
from evenleaf.solve.fronts.kernels.whole import best_whole, cheapest_run
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.tests import Box, Cuts, Levels
from evenleaf.solve.search.kernels.compile import INFINITE
from evenleaf.solve.search.kernels.first_tests import block_bounds, make_inputs, subsets_below
from evenleaf.solve.search.kernels.sheet import lay_out
from evenleaf.solve.search.kernels.spanned import spanned_cuts_below
from evenleaf.solve.search.kernels.spans import usual_labels

WORK = 200  # sums looked at for every point that a list may have
_FEW_TESTS = 128
_TOGETHER, _MANY = 4, 4_000  # rows that threads may share, and for how many people at least
MOST_TESTS = 20_000  # first tests whose stumps are listed
FEWEST_BLOCKS, MOST_BLOCKS = 16, 128  # runs of ranks a feature; a table of them has about as many cells as people
GROWTH = 0.1  # of a block, to the nearer end, where the cheapest test is asked for


@dataclass(frozen=True, eq=False)
class Tests:
    """Which features may be tested, and of which unordered ones all subsets are walked through as first tests."""

    allowed: np.ndarray
    walked: np.ndarray


@dataclass(frozen=True, eq=False)
class Priced:
    """Prices, multipliers by member; with quantities that are summed up, and whether the second label is usual."""

    prices: np.ndarray
    inputs: np.ndarray
    usual: np.ndarray


class Sweep:
    """The people of a slot, laid out for sweeps; `stop[0]` is set from outside when the time is up."""

    def __init__(
        self,
        lane: Lane,
        ranks: np.ndarray,
        members: np.ndarray,
        tests: Tests,
        stop: np.ndarray,
        crew: Crew = ALONE,
        growth: float = 0.0,
    ) -> None:
        compiled = lane.compiled
        self.lane, self.members, self.tests, self.stop, self.crew = lane, members, tests, stop, crew
        self.ranks, self.unordered = ranks, compiled.unordered
        n_blocks = int(np.clip(0.75 * np.sqrt(len(members)), FEWEST_BLOCKS, MOST_BLOCKS))
        table = ranks, compiled.sizes, compiled.unordered, members, tests.allowed
        self.sheet = lay_out(*table, n_blocks, growth, len(ranks))
        self.by_level = compiled.unordered[self.sheet[0]]

    def best(self, prices: Prices, start: float) -> tuple[float, Box | None]:
        """The cheapest first test below a price, at the first multipliers, whatever the size of its leaves."""
        return self.narrowed(prices, start)[:2]

    def narrowed(
        self, prices: Prices, start: float, cutoff: float | None = None, asked: np.ndarray | None = None
    ) -> tuple[float, Box | None, np.ndarray]:
        """The same of the features that are asked for, and which of them have a test below a cutoff.

        Without a cutoff that is whatever was found before.
        """
        own = self._priced(np.ascontiguousarray(prices.table[self.members, 0, 0])[None, :])
        value, test, alive = start, None, np.zeros(len(self.unordered), dtype=np.bool_)

        def below(row: int) -> tuple[float, int]:
            targets = np.array([value if cutoff is None else cutoff])
            codes, costs, number = self._below(row, own, targets, 0, value)
            return (float(costs[number - 1].sum()), int(codes[number - 1])) if number > 0 else (np.inf, -1)

        names, swept = self.sheet[0], self._swept
        for rows in self._together(swept if asked is None else swept[asked[names[swept]]]):
            for row, (found, code) in zip(rows, list(self.crew.each(below, rows)), strict=True):
                alive[names[row]] = code >= 0
                if found < value:
                    value, test = found, (row, code)
            if self.stop[0]:
                break
        return value, None if test is None else self._test(*test), alive

    def _together(self, rows: np.ndarray) -> Iterator[list[int]]:
        """The rows that are looked at at the same time: what one finds helps only those that come later."""
        for start in range(0, len(rows), self._width):
            yield rows[start : start + self._width].tolist()

    @property
    def _width(self) -> int:
        """How many rows are looked at at the same time; must not depend on the number of threads."""
        return _TOGETHER if self.crew is not ALONE and len(self.members) >= _MANY else 1

    @property
    def _swept(self) -> np.ndarray:
        """The rows of features whose tests are swept."""
        return np.flatnonzero(~self.by_level | self.tests.walked[self.sheet[0]])

    def _priced(self, prices: np.ndarray) -> Priced:
        """Prices (multipliers by member) with what is summed up by blocks."""
        usual = usual_labels(self.sheet, self.by_level, prices)
        return Priced(prices, make_inputs(prices), usual)

    def _below(
        self, row: int, priced: Priced, targets: np.ndarray, most: int, best: float = INFINITE
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The tests of a feature that cost less than the targets."""
        where, how = (self.sheet, self.by_level, row), (targets, best, most, self.stop)
        if self.by_level[row]:
            codes, costs, number = subsets_below(*where, priced.prices, *how)
        else:
            codes, costs, number = spanned_cuts_below(*where, priced.prices, priced.inputs, priced.usual, *how)
        return codes, costs, int(number)

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
        for row in np.flatnonzero(~self.by_level):
            ends = edges[blocks[row] + row : blocks[row + 1] + row + 1]
            ranks = upper[starts[row] : starts[row + 1]]
            found = block_bounds(self.sheet, self.by_level, row, own)
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
        lined, question = inputs[self.sheet[2]], (prices.multipliers, rest, lead)
        limits = most, mode, least, np.array([WORK * most]), self.stop
        found = np.zeros((64, self.lane.n_dimensions + 1)), np.zeros((64, 9), dtype=np.int64), 0
        order = np.concatenate([[lead], np.delete(np.arange(len(rest)), lead)])
        back = np.argsort(order)
        alive = self._alive(np.ascontiguousarray(own[:, order].T), goal[0] - rest[order])
        if alive is None:
            return found[0], found[1], -2 if self.stop[0] else -1
        for row, codes, costs in alive:
            costs = np.ascontiguousarray(costs[:, :, back])
            found = points_below(
                self.sheet, self.by_level, row, codes, costs, inputs, lined, question, goal, limits, found
            )
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
        best = np.zeros((1, self.lane.n_dimensions + 1)), np.zeros((1, 9), dtype=np.int64)
        asked, number = (prices.multipliers[:1], rest[:1]), 0
        plain = self.inputs(prices, 0)
        lined, inputs = plain[self.sheet[2]], self._with_corners(plain, mode, float(prices.multipliers[0, 0]))

        def whole(row: int) -> tuple[int, np.ndarray, tuple[np.ndarray, np.ndarray]]:
            own, own_goal = (np.zeros_like(best[0]), np.zeros_like(best[1])), goal.copy()
            limits = most, mode, least, np.array([WORK * most]), self.stop
            done = best_whole(self.sheet, self.by_level, row, inputs, lined, asked, own_goal, limits, own)
            return done, own_goal, own

        waiting, width = self._in_order(plain, few), self._width
        while len(waiting):
            rows, waiting, before = waiting[:width].tolist(), waiting[width:], goal[0]
            for excuse, reached, own in list(self.crew.each(whole, rows)):
                if excuse < 0:
                    return best[0], best[1], int(excuse)
                if reached[0] < goal[0]:
                    goal[0], best, number = reached[0], own, 1
            # Where nothing is found any more, nobody need wait for what others find.
            width = self._width if goal[0] < before or self._width == 1 else 2 * width
        return best[0], best[1], number

    def _in_order(self, inputs: np.ndarray, few: bool) -> np.ndarray:
        """The rows whose tests are swept: what features with few tests find, the cheapest first, helps the others."""
        tests, swept = np.diff(self.sheet[4]).astype(float), self._swept
        inputs = np.ascontiguousarray(inputs[:, :4])
        if few:
            swept = swept[~self.by_level[swept] & (tests[swept] <= _FEW_TESTS)]
        for row in swept:
            if self.by_level[row]:
                tests[row] = _FEW_TESTS
            elif tests[row] <= _FEW_TESTS:  # all prices are below 1
                tests[row] = cheapest_run(self.sheet, self.by_level, row, inputs)
        return swept[np.argsort(tests[swept], kind="stable")]

    def _alive(self, prices: np.ndarray, targets: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]] | None:
        """The first tests below the targets by feature, the cheapest first; None where they are too many."""
        found, size, priced = [], 0, self._priced(prices)
        for row in self._swept:
            codes, costs, number = self._below(row, priced, targets, MOST_TESTS)
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

    def _with_corners(self, inputs: np.ndarray, mode: int, mu: float) -> np.ndarray:
        """The same, and what is negative of the two quantities by which pairs of stumps are ruled out."""
        made = weights(mode, mu)
        return np.column_stack([inputs, np.minimum(inputs[:, 2:4] @ made.T, 0.0)])

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
