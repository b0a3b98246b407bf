"""Trees with exactly equal rates near good ones: the upper tests of some outlines stay, and their stumps are matched.

Cheapest trees at multipliers hardly ever have the right counts. But a stump has thousands of neighbours that cost
little more, and several of them together can make nearly any counts: the stumps of each slot are listed, those below
one test are added up, and two sides of a tree are matched by their disparities.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.solve.fronts.front import LIMIT, Front, Question, TooMany, cheapest, combined, deepened, joined, thinned
from evenleaf.solve.fronts.kernels.match import best_match, distinct_sums
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.lists import Lister, test_code
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import from_recipe
from evenleaf.solve.fronts.tests import Box, Sketch

_LISTED, _WORK = 200_000, 10_000_000
_STUMPS, _SIDES = 400, 30_000  # points of a slot, and of a side of a test, that are kept: the cheapest
_BUCKETS = 16  # a disparity
_PARTS = (0.1, 0.4, 1.0)  # of the way from the bound to what is better, until lists grow too long


class Repair:
    """Makes trees whose disparities cancel out of outlines, at multipliers at which they are cheap."""

    def __init__(self, lane: Lane, oracle: Oracle, mus: np.ndarray) -> None:
        self.lane, self.oracle = lane, oracle
        self.lister = Lister(oracle)
        self.prices = lane.prices(mus)
        self.question = Question(mus, self.prices, np.inf, _LISTED, LIMIT)
        self.too_many = False

    def best(self, outlines: list[Sketch], depth: int, bound: float, better: float) -> Sketch | None:
        """A good tree with upper tests of the outlines that is worth less than `better`, or None."""
        found: Sketch | None = None
        self.too_many = False
        for part in _PARTS:
            target = min(better, self.lane.steps.beyond(bound + part * (better - bound)))
            if target <= self.question.target < np.inf:
                continue
            self.question = replace(self.question, target=target)
            for box, lows, highs in _by_test(outlines):
                worth, sketch = self._below(box, lows, highs, depth, better)
                if sketch is not None:
                    found, better = sketch, worth
            if found is not None or self.too_many:
                break
        return found

    def _below(
        self, box: Box, lows: list[Sketch], highs: list[Sketch], depth: int, better: float
    ) -> tuple[float, Sketch | None]:
        """The best tree with a first test, and upper tests of outlines on either side of it."""
        mus = self.question.multipliers
        settled = -self.lane.allowance(mus)
        start = Front(self.lane.offset[None, :], np.zeros((1, 0), dtype=np.int64))
        everybody = np.arange(self.lane.compiled.n_people)
        sides = self._sides(box, lows, highs, everybody, depth, settled + cheapest(start.points, mus))
        if sides is None:
            return better, None
        one, two = sides[0].points + self.lane.offset, sides[1].points
        worth, a, b, _ = best_match(one, two, better, self.lane.reach, _WORK)
        if a < 0:
            return better, None
        low, high = (from_recipe(side.recipes[n], self.lane) for side, n in zip(sides, (a, b), strict=True))
        return worth, (box, low, high)

    def _sides(
        self, box: Box, lows: list[Sketch], highs: list[Sketch], members: np.ndarray, depth: int, rest: np.ndarray
    ) -> tuple[Front, Front] | None:
        """The lists on either side of a test, None where one is empty."""
        left, right, _ = self.oracle.part(box, members)
        one = self._list(lows, left, depth - 1, rest + self.oracle.value(right, depth - 1, self.prices))
        if not len(one):
            return None
        two = self._list(highs, right, depth - 1, rest + cheapest(one.points, self.question.multipliers))
        return (one, two) if len(two) else None

    def _list(self, outlines: list[Sketch], members: np.ndarray, depth: int, rest: np.ndarray) -> Front:
        """The points of trees with upper tests of the outlines, as far as they are soon listed."""
        try:
            stumps = self.lister.front(members, min(depth, 1), self.question, rest)
        except TooMany:
            stumps, self.too_many = self._nothing(min(depth, 1)), True
        stumps = self._cheapest(stumps, _STUMPS)
        if depth <= 1:
            return stumps
        parts = [deepened(stumps, depth)]
        for box, lows, highs in _by_test(outlines):
            sides = self._sides(box, lows, highs, members, depth, rest)
            if sides is not None:
                parts.append(self._added(box, *sides, rest))
        return self._cheapest(thinned(joined(parts), self.question), _SIDES)

    def _cheapest(self, front: Front, most: int) -> Front:
        """Points that are cheap at the first multipliers, of all kinds of disparities some."""
        if len(front) <= most:
            return front
        prices = front.points[:, 0] + front.points[:, 1:] @ self.question.multipliers[0]
        low, high = front.points[:, 1:].min(axis=0), front.points[:, 1:].max(axis=0)
        place = ((front.points[:, 1:] - low) / np.maximum(high - low, 1e-12) * (_BUCKETS - 1)).astype(np.int64)
        bucket = place @ _BUCKETS ** np.arange(place.shape[1])
        order = np.lexsort([prices, bucket])
        first = np.flatnonzero(np.diff(bucket[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        return front.take(np.sort(order[np.lexsort([prices[order], rank])[:most]]))

    def _added(self, box: Box, one: Front, two: Front, rest: np.ndarray) -> Front:
        points, pairs, number = distinct_sums(
            one.points, two.points, self.question.multipliers, rest, self.question.target, _LISTED, _WORK
        )
        self.too_many |= number < 0
        number = max(number, 0)
        return replace(combined(one, two, pairs[:number], test_code(box)), points=points[:number])

    def _nothing(self, depth: int) -> Front:
        width = 3 * max(1, 2**depth - 1)
        return Front(np.zeros((0, self.lane.n_dimensions + 1)), np.zeros((0, width), dtype=np.int64))


def _by_test(outlines: list[Sketch]) -> list[tuple[Box, list[Sketch], list[Sketch]]]:
    """The first tests of outlines, each with what is below it on the left and on the right."""
    found: dict[Box, tuple[list[Sketch], list[Sketch]]] = {}
    for outline in outlines:
        if isinstance(outline, tuple):
            box, low, high = outline
            lows, highs = found.setdefault(box, ([], []))
            lows.append(low)
            highs.append(high)
    return [(box, lows, highs) for box, (lows, highs) in found.items()]
