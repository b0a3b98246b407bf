"""A node whose disparities must cancel, one point of one side after the other: given it, the other side is settled.

Where one of two slots has few points that could lead below the target, each of them tells exactly which disparities the
other slot must have. The other slot then has multipliers of its own for that point, and mostly these rule it out; for
the points that are left, the other slot's list is short. All of these multipliers together are the node's: at one of
them each point that was ruled out is too dear, which is all that a proof has to know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from evenleaf.solve.fronts.ascent import Point, climb
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.front import LIMIT, Front, Question, TooMany
from evenleaf.solve.fronts.kernels.match import best_match
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.lists import Lister
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import filled, from_recipe
from evenleaf.solve.fronts.tests import Sketch, Split

_FEW, _LISTED, _POINTS, _WORK = 400, 4_000, 20_000, 10_000_000
_STEPS, _ROWS = 16, 6
_FAILURES = 3  # points with a list that is too long, before it is given up


@dataclass(eq=False)
class Seen:
    """What the other slot costs at least at multipliers that were looked at."""

    mus: list[np.ndarray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def bounds(self, lane: Lane, point: np.ndarray) -> np.ndarray:
        """What a tree with a point of the first slot costs at least, at each of the multipliers."""
        mus, own = np.array(self.mus), point + lane.offset
        return np.asarray(own[0] + mus @ own[1:] + np.array(self.values) - lane.allowance(mus))


@dataclass(frozen=True, eq=False)
class Settled:
    """Multipliers that rule out what is worth less than this, a tree that is worth it, and whether all is ruled out."""

    mus: np.ndarray
    worth: float
    sketch: Sketch | None
    complete: bool


class Settler:
    """Looks for the best tree of a node with two slots."""

    def __init__(self, lane: Lane, oracle: Oracle, most: float, pause: Callable[[], None]) -> None:
        self.lane, self.oracle, self.most, self.pause = lane, oracle, most, pause
        self.lister = Lister(oracle)

    def settled(self, cell: Cell, question: Question, base: np.ndarray, values: np.ndarray) -> Settled:
        """What rules trees below the target out, and the best that was found; `TooMany` where both lists are long."""
        side, points = self._short_side(cell, question, base, values)
        other, target, failures = 1 - side, question.target, 0
        seen = Seen(list(question.multipliers), values[other].tolist())
        kept, best = set(range(len(seen.mus))), None
        for point, recipe in zip(points.points, points.recipes, strict=True):
            bounds = seen.bounds(self.lane, point)
            if bounds.max() < target:
                self._climb(cell, other, point, seen, int(bounds.argmax()), target)
                bounds = seen.bounds(self.lane, point)
            if bounds.max() >= target:
                kept.add(int(bounds.argmax()))
                continue
            rows = np.argsort(-bounds, kind="stable")[:_ROWS]
            kept.update(rows.tolist())
            try:
                found = self._with_point(cell, other, point, np.array(seen.mus)[rows], target)
            except TooMany:
                failures += 1
                if failures > _FAILURES:
                    break
                continue
            if found is not None:
                target = found[0]
                best = (recipe, found[1]) if other else (found[1], recipe)
        mus = np.array([seen.mus[number] for number in sorted(kept)])
        sketch = None if best is None else filled(cell.part, (from_recipe(recipe, self.lane) for recipe in best))
        return Settled(mus, target, sketch, not failures)

    def _short_side(self, cell: Cell, question: Question, base: np.ndarray, values: np.ndarray) -> tuple[int, Front]:
        """The slot with few points that could lead below the target, and these points, the cheapest first."""
        few = replace(question, most=_LISTED)
        found: list[tuple[int, Front]] = []
        for number in sorted(range(2), key=lambda n: len(cell.places[n].members)):
            try:
                front = self._front(cell, number, few, base + values[1 - number])
            except TooMany:
                continue
            if len(front) <= _FEW:
                found.append((number, front))
                break
        if not found:
            raise TooMany
        side, front = found[0]
        price = (front.points[:, :1] + front.points[:, 1:] @ question.multipliers.T + base + values[1 - side]).max(
            axis=1
        )
        return side, front.take(np.argsort(price, kind="stable"))

    def _front(self, cell: Cell, number: int, question: Question, rest: np.ndarray) -> Front:
        place = cell.places[number]
        if place.fork is not None:
            return self.lister.fork(place.fork, place.members, question, rest)
        return self.lister.front(place.members, place.depth, question, rest)

    def _climb(self, cell: Cell, other: int, point: np.ndarray, seen: Seen, start: int, target: float) -> None:
        """Look for multipliers at which the other slot is too dear for a point."""
        assert isinstance(cell.part, Split)  # noqa: S101 (it has two slots)
        part = cell.part.right if other else cell.part.left
        lane = replace(self.lane, offset=self.lane.offset + point)
        alone = Cell(part, lane, self.oracle, cell.places[other].members)

        def dual(mu: np.ndarray) -> Point:
            self.pause()
            reached = alone.dual(mu)[0]
            own = lane.offset[0] + mu @ lane.offset[1:] - lane.allowance(mu)
            seen.mus.append(mu)
            seen.values.append(float(reached.value - own))
            return reached

        climb(dual, seen.mus[start], target, _STEPS, self.most)

    def _with_point(
        self, cell: Cell, other: int, point: np.ndarray, mus: np.ndarray, target: float
    ) -> tuple[float, np.ndarray] | None:
        """The least worth below the target of a tree with this point, and what rebuilds its other side."""
        prices, own = self.lane.prices(mus), point + self.lane.offset
        rest = own[0] + mus @ own[1:] - self.lane.allowance(mus)
        front = self._front(cell, other, Question(mus, prices, target, _POINTS, LIMIT), rest)
        if not len(front):
            return None
        worth, _, b, finished = best_match(own[None, :], front.points, target, self.lane.reach, _WORK)
        if not finished:
            raise TooMany
        return None if b < 0 else (worth, front.recipes[b])
