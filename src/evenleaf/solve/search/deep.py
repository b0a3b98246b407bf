"""The oracle for trees of depth 3: one root, or several whose undecided people are free, and the best subtrees."""

from __future__ import annotations

from functools import partial

import numpy as np

from evenleaf.solve.search.boxes import FREE, Box
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.model import ALONE
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.sketch import Fork, sketch
from evenleaf.solve.search.tall import LOWEST, Tall, make_subtree

Subtree = Children | Tall

_FEW = 8  # people that a tree of their own would label as they please anyhow
_DEAR = 500  # child tests: with fewer, to price them all takes little more than to price a few


class DeepOracle:
    """A subtree a side, one level lower than the tree.

    `alive` has a row for the child cuts and one for the stump cuts of each side.
    The levels of an unordered root that are not placed yet stay together at least: each gets the best subtree of
    its own, which costs no more than what either side could give it.
    """

    n_sides = 2  # the first parts lose tests on the way down

    def __init__(self, box: Box, scratch: Scratch, height: int) -> None:
        self.box, self.scratch, self.compiled = box, scratch, scratch.compiled
        self.placed, self.sides, self.levels, self.free = scratch.once(box, lambda: _subtrees(box, scratch, height))
        self.subtrees = (*self.sides, *self.levels.values())
        self.is_dear = sum(len(s.moves) for s in self.subtrees if isinstance(s, Children)) >= _DEAR
        self.has_many_cuts = any(isinstance(side, Children) and side.has_many_cuts for side in self.sides)
        self.bests = (0.0, 0.0)
        self.loose = 0.0
        self.own: list[int] = []

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:  # noqa: ARG002
        """The cheapest pair of subtrees, and whatever the people who are not placed cost at least."""
        costs = self.scratch.costs
        found = [side.best(costs) for side in self.sides]
        apart = [level.best(costs) for level in self.levels.values()]
        self.bests, self.own = (found[0][0], found[1][0]), [number for _, number in apart]
        self.loose = sum(value for value, _ in apart) + self._price_free()
        return sum(self.bests) + self.loose, (found[0][1], found[1][1])

    def glimpse(self) -> tuple[float, tuple[int, ...]] | None:
        """A cheap pair of subtrees, not the cheapest one; None where that would take as long, or nothing is known."""
        costs, found = self.scratch.costs, []
        for subtree in self.subtrees if self.is_dear else ():
            glimpsed = subtree.glimpse(costs) if isinstance(subtree, Children) else None
            if glimpsed is None:
                return None
            found.append(glimpsed)
        if not found:
            return None
        self.own = [number for _, number in found[2:]]
        return sum(value for value, _ in found) + self._price_free(), (found[0][1], found[1][1])

    def _price_free(self) -> float:
        """What the people on their own cost at least."""
        if not self.free.any():
            return 0.0
        return float(np.minimum(self.scratch.costs[self.free].min(axis=1), 0.0).sum())

    def part_of_each(self) -> np.ndarray:
        """Which part everybody belongs to: a side, a level that is not placed, or none."""
        part = np.full(self.compiled.n_people, ALONE, dtype=np.int64)
        for number, subtree in enumerate(self.subtrees):
            part[subtree.member] = number
        return part

    @property
    def places(self) -> list[int]:
        """Of each part the side, or the level as a negative number: −1 is the first."""
        return [0, 1, *(-1 - level for level in self.levels)]

    def tests(self, choice: tuple[int, ...], labels: np.ndarray, part: int) -> Fork | int:
        """Those of one part."""
        subtree = self.subtrees[part]
        plan = subtree.plan((*choice, *self.own)[part], self.scratch.costs, labels)
        members = np.flatnonzero(subtree.member)
        return sketch(plan, self.compiled, members, labels[members])

    def is_real(self, choice: tuple[int, ...]) -> bool:
        """Whether everybody is placed and no subtree is a relaxation."""
        return self.placed and all(side.is_real(number) for side, number in zip(self.sides, choice, strict=True))

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Side by side; free people as cheaply as they can."""
        costs = self.scratch.costs
        labels = np.zeros(self.compiled.n_people, dtype=np.int64)
        labels[self.free] = np.column_stack([np.zeros(self.free.sum()), costs[self.free]]).argmin(axis=1)
        for side, number in zip(self.subtrees, (*choice, *self.own), strict=True):
            side.label(number, costs, labels)
        return labels

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """The root and both subtrees."""
        left, right = (
            side.plan(number, self.scratch.costs, labels) for side, number in zip(self.sides, choice, strict=True)
        )
        return Plan(self.box.feature, self.box.left_ranks(0), left, right)

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Child cuts and stump cuts of each side that leave a tree below the budget."""
        slack = budget - self.loose
        kept = [
            side.survivors(self.scratch.costs, slack - other)
            for side, other in zip(self.sides, reversed(self.bests), strict=True)
        ]
        alive = np.array([kept[0][0], kept[1][0], kept[0][1], kept[1][1]])
        return np.array([sum(self.bests) < slack]), alive


def _subtrees(
    box: Box, scratch: Scratch, height: int
) -> tuple[bool, tuple[Subtree, Subtree], dict[int, Subtree], np.ndarray]:
    """Whether all are placed, the subtrees of the two sides and of large free levels, and who is on their own."""
    c = scratch.compiled
    ranks = c.ranks[box.feature]
    left, right, free = box.sides(ranks)
    sides = [_side(box, scratch, side, group >= 0, free, height) for side, group in enumerate((left, right))]
    placed, levels = not free.any(), dict[int, Subtree]()
    if c.unordered[box.feature]:
        for level in np.flatnonzero(box.state == FREE):
            member = ranks == level
            if member.sum() > _FEW:
                make = partial(make_subtree, c, member, height, scratch.stop)
                levels[int(level)] = scratch.level(box.feature, int(level), make)
                free &= ~member
    return placed, (sides[0], sides[1]), levels, free


def _side(box: Box, scratch: Scratch, side: int, member: np.ndarray, free: np.ndarray, height: int) -> Subtree:
    if height > LOWEST:
        return make_subtree(scratch.compiled, member, height, scratch.stop)
    # While people are free, a closer bound is not worth its time.
    refines = not free.any()
    return Children(scratch.compiled, member, member | free, box.alive[side], box.alive[2 + side], refines)
