"""The best tree of a node below a target, from the fronts of its slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.front import LIMIT, NONE, PENALTY, Front, Question, TooMany, combined
from evenleaf.solve.fronts.front import cheapest as least_price
from evenleaf.solve.fronts.kernels.fronts import best_sum, sums
from evenleaf.solve.fronts.kernels.match import best_match, distinct_sums
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.limits import Limits, used_features
from evenleaf.solve.fronts.lists import Lister
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import filled, from_recipe
from evenleaf.solve.fronts.tests import Sketch

_WORK = 1_000  # sums looked at for every point that a list may have


@dataclass(frozen=True, eq=False)
class Found:
    """A tree of a node; its worth counts only what the question's mode asks.

    The best one if it is below the target; else merely one that was listed on the way.
    """

    worth: float
    vector: np.ndarray
    sketch: Sketch
    fair: Sketch | None = None  # a listed tree within the limit, where this one is not


class Finisher:
    """Adds up fronts; where limits couple the tests, it looks at one tree after another, the best first."""

    def __init__(self, lane: Lane, oracle: Oracle, limits: Limits) -> None:
        self.lane, self.limits = lane, limits
        self.lister = Lister(oracle)

    def best(
        self, cell: Cell, question: Question, base: np.ndarray, values: np.ndarray, ceiling: float
    ) -> Found | None:
        """The best tree below the target, else a listed one below the ceiling, else None.

        `TooMany` where the lists grow too long.
        """
        if len(cell.places) == 1 and question.mode != NONE:
            question = replace(question, whole=np.concatenate([[self._limit], self.lane.offset]))
        fronts = self._fronts(cell, question, base, values)
        if fronts is None:
            return None
        start = Front(self.lane.offset[None, :], np.zeros((1, 0), dtype=np.int64))
        widths = [front.recipes.shape[1] for front in fronts]
        settled = base - (self.lane.offset[0] + question.multipliers @ self.lane.offset[1:])
        cheapest = [least_price(f.points, question.multipliers) for f in fronts]
        if question.mode == LIMIT and self.lane.cancels:
            return self._matched(start, fronts, question, settled, cell, ceiling)
        for number, front in enumerate(fronts[:-1]):
            rest = settled + sum(cheapest[number + 1 :])
            pairs, count = sums(start.points, front.points, question.multipliers, rest, question.target, question.most)
            if count < 0:
                raise TooMany
            if count == 0:
                return None
            start = combined(start, front, pairs[:count])
        if question.mode == NONE:
            return self._one_by_one(start, fronts[-1], question, settled, cell, widths)
        last = fronts[-1]
        worth, a, b, finished = best_sum(
            start.points,
            last.points,
            question.multipliers,
            settled,
            question.target,
            self._limit,
            question.mode,
            _WORK * question.most,
        )
        if not finished:
            raise TooMany

        def outlined(a: int, b: int) -> Sketch:
            return self._sketch(np.concatenate([start.recipes[a], last.recipes[b]]), widths, cell)

        unfair = a >= 0 and not np.isfinite(self.lane.worth(start.points[a] + last.points[b]))
        near = self._near(start, last, question, settled, ceiling) if a < 0 or unfair else (worth, -1, -1)
        if unfair:
            fair = outlined(*near[1:]) if near[1] >= 0 else None
            return Found(worth, start.points[a] + last.points[b], outlined(a, b), fair)
        worth, a, b = near if a < 0 else (worth, a, b)
        return None if a < 0 else Found(worth, start.points[a] + last.points[b], outlined(a, b))

    def _matched(
        self, start: Front, fronts: list[Front], question: Question, settled: np.ndarray, cell: Cell, ceiling: float
    ) -> Found | None:
        """The best tree of listed points, whatever its price, where disparities must cancel: two halves are matched."""
        widths = [front.recipes.shape[1] for front in fronts]
        middle = len(fronts) // 2
        halves = [start, *fronts[:middle]], fronts[middle:]
        rest = settled + sum(least_price(front.points, question.multipliers) for front in halves[1])
        one = self._added(halves[0], question, rest)
        rest = settled + least_price(one.points, question.multipliers) if len(one) else settled
        two = self._added(halves[1], question, rest)
        if not len(one) or not len(two):
            return None
        worth, a, b, finished = best_match(one.points, two.points, ceiling, self._limit, _WORK * question.most)
        if not finished:
            raise TooMany
        if a < 0:
            return None
        recipe = np.concatenate([one.recipes[a], two.recipes[b]])
        return Found(worth, one.points[a] + two.points[b], self._sketch(recipe, widths, cell))

    def _added(self, fronts: list[Front], question: Question, rest: np.ndarray) -> Front:
        """The sums of points of each list, of those with the same disparities the cheapest."""
        total = fronts[0]
        for number, front in enumerate(fronts[1:], 1):
            if not len(total):
                break
            beside = rest + sum(least_price(other.points, question.multipliers) for other in fronts[number + 1 :])
            points, pairs, count = distinct_sums(
                total.points,
                front.points,
                question.multipliers,
                beside,
                question.target,
                question.most,
                _WORK * question.most,
            )
            if count < 0:
                raise TooMany
            total = replace(combined(total, front, pairs[:count]), points=points[:count])
        return total

    def _near(
        self, one: Front, two: Front, question: Question, rest: np.ndarray, ceiling: float
    ) -> tuple[float, int, int]:
        """The best sum of listed points whatever its price, as a tree in hand: both sides of a limit are asked."""
        mode = PENALTY if question.mode == PENALTY else LIMIT
        worth, a, b, _ = best_sum(
            one.points, two.points, question.multipliers, rest, ceiling, self._limit, mode, _WORK * 100
        )
        return worth, a, b

    @property
    def _limit(self) -> float:
        return self.lane.reach

    def _fronts(self, cell: Cell, question: Question, base: np.ndarray, values: np.ndarray) -> list[Front] | None:
        """The front of each slot, the later ones filtered by what the earlier ones left."""
        values = values.copy()
        fronts: dict[int, Front] = {}
        for number in sorted(range(len(cell.places)), key=lambda n: len(cell.places[n].members)):
            place = cell.places[number]
            rest = base + values.sum(axis=0) - values[number]
            if place.fork is not None:
                front = self.lister.fork(place.fork, place.members, question, rest)
            else:
                front = self.lister.front(place.members, place.depth, question, rest)
            if not len(front):
                return None
            fronts[number] = front
            values[number] = least_price(front.points, question.multipliers)
        return [fronts[number] for number in range(len(cell.places))]

    def _one_by_one(
        self, one: Front, two: Front, question: Question, rest: np.ndarray, cell: Cell, widths: list[int]
    ) -> Found | None:
        """The first tree within the limits, the best first."""
        pairs, count = sums(one.points, two.points, question.multipliers, rest, question.target, question.most)
        if count < 0:
            raise TooMany
        front = combined(one, two, pairs[:count])
        worth = self.lane.worth(front.points)
        for number in np.argsort(worth, kind="stable"):
            if worth[number] >= question.target:
                return None
            sketch = self._sketch(front.recipes[number], widths, cell)
            if self.limits.keeps(used_features(sketch)):
                return Found(float(worth[number]), front.points[number], sketch)
        return None

    def _sketch(self, recipe: np.ndarray, widths: list[int], cell: Cell) -> Sketch:
        return filled(cell.part, self._parts(recipe, widths))

    def _parts(self, recipe: np.ndarray, widths: list[int]) -> Iterator[Sketch]:
        ends = np.cumsum(widths)
        for start, end in zip(ends - widths, ends, strict=True):
            yield from_recipe(recipe[start:end], self.lane)
