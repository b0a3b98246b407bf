"""The oracle for trees of depth 3 and more under limits that join their tests (ALGORITHM §5).

Each side gets the cheapest subtree for every use of the limits, and the root takes the cheapest pair within them. It
is exact for a single root, up to what `rationed.py` says of long lists of levels: so the tree that the bound belongs to
keeps every limit, and branching on people's labels closes the gap as it does without limits.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import FREE, Box
from evenleaf.solve.search.kernels import usage
from evenleaf.solve.search.model import ALONE
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.rationed import Rationed
from evenleaf.solve.search.rationed_tall import RationedTall
from evenleaf.solve.search.tall import LOWEST, make_subtree
from evenleaf.solve.search.usage import Supply

_FEW = 8  # people that a tree of their own would label as they please anyhow


class LimitedOracle:
    """A subtree a side, one level lower than the tree, both together within the limits.

    Levels of an unordered root that are not placed yet each get the best subtree of their own, whatever it uses.
    """

    n_sides = 1  # the first part loses tests on the way down

    has_many_cuts = False

    def __init__(self, box: Box, scratch: Scratch, height: int, supply: Supply) -> None:
        self.box, self.scratch, self.compiled, self.supply = box, scratch, scratch.compiled, supply
        self.parts = scratch.once(box, lambda: _Parts(box, scratch, height, supply))
        self.sides = self.parts.sides
        self.root = int(supply.number[box.feature])
        self.loose, self.own = 0.0, [0] * len(self.parts.levels)

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest pair of subtrees within the limits, and whatever the people who are not placed cost at least."""
        self._price(enough)
        left, right = self.sides
        value, one, two = usage.best_within(
            left.cost, left.rows, right.cost, right.rows, self.root, *self.supply.limits
        )
        return (np.inf, (-1, -1)) if one < 0 else (float(value) + self.loose, (int(one), int(two)))

    def _price(self, enough: float) -> None:
        costs, parts = self.scratch.costs, self.parts
        free = np.minimum(costs.min(axis=1), 0.0)
        apart = [level.best(costs) for level in parts.levels]
        self.own = [number for _, number in apart]
        self.loose = sum(value for value, _ in apart) + float(free[parts.free].sum())
        slack = enough - self.loose
        alone = [float(free[side.member].sum()) for side in self.sides]
        least = [side.price_listed(costs, slack - other) for side, other in zip(self.sides, alone[::-1], strict=True)]
        for side, other in zip(self.sides, least[::-1], strict=True):
            side.price_pairs(slack - other)

    def part_of_each(self) -> np.ndarray:
        """Which part everybody belongs to: the sides, joined by the limits, a level that is not placed, or none."""
        part = np.zeros(self.compiled.n_people, dtype=np.int64)
        part[self.parts.free] = ALONE
        for number, level in enumerate(self.parts.levels, start=1):
            part[level.member] = number
        return part

    def is_real(self, choice: tuple[int, ...]) -> bool:
        """Whether everybody is placed and no subtree is a relaxation."""
        if min(choice) < 0 or not self.parts.placed:
            return False
        return all(side.is_real(use) for side, use in zip(self.sides, choice, strict=True))

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Side by side; free people as cheaply as they can."""
        costs, free = self.scratch.costs, self.parts.free
        labels = np.zeros(self.compiled.n_people, dtype=np.int64)
        labels[free] = np.column_stack([np.zeros(free.sum()), costs[free]]).argmin(axis=1)
        for side, use in zip(self.sides, choice, strict=True):
            side.label(use, costs, labels)
        for level, number in zip(self.parts.levels, self.own, strict=True):
            level.label(number, costs, labels)
        return labels

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """The root and both subtrees."""
        left, right = (side.plan(use, self.scratch.costs, labels) for side, use in zip(self.sides, choice, strict=True))
        return Plan(self.box.feature, self.box.left_ranks(0), left, right)

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """Child cuts and stump cuts of each side that leave a tree within the limits below the budget.

        The budget is what was said to be `enough` when the sides were priced last.
        """
        slack, costs = budget - self.loose, self.scratch.costs
        kept, possible = [], False
        for side, other in (self.sides, reversed(self.sides)):
            partner = np.empty(len(side.cost))
            usage.cheapest_partner(
                side.cost, side.rows, other.cost, other.rows, self.root, *self.supply.limits, slack, partner
            )
            possible = possible or bool((partner < kernels.INFINITE).any())
            kept.append(side.survivors(costs, slack, partner))
        return np.array([possible]), np.array([kept[0][0], kept[1][0], kept[0][1], kept[1][1]])


class _Parts:
    """The people of a box: the two sides, the large free levels by themselves, and who is left over."""

    def __init__(self, box: Box, scratch: Scratch, height: int, supply: Supply) -> None:
        c, ranks = scratch.compiled, scratch.compiled.ranks[box.feature]
        left, right, self.free = box.sides(ranks)
        self.placed = not self.free.any()
        sides = [self._side(box, scratch, height, supply, k, group >= 0) for k, group in enumerate((left, right))]
        self.sides = (sides[0], sides[1])
        self.levels = []
        for level in np.flatnonzero(box.state == FREE) if c.unordered[box.feature] else ():
            member = ranks == level
            if member.sum() > _FEW:
                make = partial(make_subtree, c, member, height, scratch.stop)
                self.levels.append(scratch.level(box.feature, int(level), make))
                self.free = self.free & ~member

    def _side(
        self, box: Box, scratch: Scratch, height: int, supply: Supply, number: int, member: np.ndarray
    ) -> Rationed | RationedTall:
        c, least = scratch.compiled, scratch.least_people
        possible = member | self.free
        if height > LOWEST:
            return RationedTall(c, supply, member, possible, height, least, scratch.stop)
        return Rationed(c, supply, member, possible, box.alive[number], box.alive[2 + number], least)
