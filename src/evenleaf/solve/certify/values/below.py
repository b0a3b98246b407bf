"""Which tests may hang below a root in a tree that costs less than a budget; and the trees, where few are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.certify.values.coupled import EVERYWHERE
from evenleaf.solve.certify.values.leaves import cost_alone
from evenleaf.solve.certify.values.numbers import Numbers, Prices
from evenleaf.solve.certify.values.stumps import stump_costs, without_twins
from evenleaf.solve.proofs.values import Capped

FREE = 2


@dataclass(frozen=True, eq=False)
class Trees:
    """Some roots on a feature (numbered from 0 in it) with the tests that may hang below: a row a place.

    People whom all the roots send the same way are on that side; the others are free.
    """

    feature: int
    roots: np.ndarray
    alive: np.ndarray
    side: np.ndarray  # of each person: 0 left, 1 right, 2 free
    caps: tuple[Capped, ...] = ()  # only those that keep all of these

    def who(self, side: int) -> np.ndarray:
        """The people of a side, or the free ones."""
        return np.flatnonzero(self.side == side)


class Below:
    """What hangs below a root, whatever the depth: a place for each test."""

    n_places: int
    tested: list[int]  # sets of places; each tree has its tests within one of them

    def __init__(self, numbers: Numbers, least: int) -> None:
        self.numbers, self.least = numbers, least

    def start(self, feature: int, roots: np.ndarray, tested: int) -> Trees:
        """All trees that begin with one of these tests, and have others only at the places of these bits."""
        alive = np.ones((self.n_places, self.numbers.n_tests + 1), dtype=np.bool_)
        alive[:, :-1] = np.array([tested >> place & 1 for place in range(self.n_places)], dtype=np.bool_)[:, None]
        return self.narrowed(Trees(feature, roots, alive, np.zeros(0)), roots)

    def narrowed(self, trees: Trees, roots: np.ndarray) -> Trees:
        """Fewer roots. More people are on a side then, and tests that part all who may come to it alike are one."""
        # Of cuts, the first and the last say it all.
        ends = roots if self.numbers.unordered[trees.feature] else roots[[0, -1]]
        goes_left = self.numbers.sends_left(trees.feature, ends)
        side = np.where(goes_left.all(axis=0), 0, np.where(goes_left.any(axis=0), FREE, 1))
        side = side[self.numbers.ranks[trees.feature]]
        rows = [
            without_twins(self.numbers, np.flatnonzero((side == place_side(place)) | (side == FREE)), row)
            for place, row in enumerate(trees.alive)
        ]
        return replace(trees, roots=roots, alive=np.array(rows), side=side)

    def within_limits(self, trees: Trees) -> Trees:
        """Without the tests that limits forbid by themselves."""
        return trees

    def goes_right(self, test: int) -> np.ndarray:
        """Who goes right at a test, nobody where there is none."""
        feature = int(self.numbers.feature_of[test])
        if feature == self.numbers.n_features:
            return np.zeros(len(self.numbers.count), dtype=np.intp)
        left = self.numbers.sends_left(feature, np.array([test - self.numbers.offsets[feature]]))[0]
        return (~left[self.numbers.ranks[feature]]).astype(np.intp)


class StumpsBelow(Below):
    """Depth 1 and 2: a test or none on either side. `allowed[f]` are the pairs that limits allow below feature f."""

    n_places, rounding = 2, 1e-14

    def __init__(self, numbers: Numbers, allowed: list[np.ndarray], least: int, depth: int) -> None:
        super().__init__(numbers, least)
        self.allowed, self.tested = allowed, [EVERYWHERE if depth > 1 else 0]

    def survivors(self, trees: Trees, prices: Prices, budget: float) -> np.ndarray:
        """The tests a place that some tree cheaper than the budget has."""
        free = trees.who(FREE)
        budget -= float(cost_alone(self.numbers, prices.person)[free].sum())
        joining = int(self.numbers.count[free].sum())
        cost = np.array(
            [
                stump_costs(self.numbers, trees.who(side), prices, trees.alive[side], self.least, joining)
                for side in (0, 1)
            ]
        )
        starts = np.append(self.numbers.offsets[:-1], self.numbers.n_tests)
        left, right = np.minimum.reduceat(cost, starts, axis=1)
        allowed = self.allowed[trees.feature]
        partner = np.array(
            [np.where(allowed, right, np.inf).min(axis=1), np.where(allowed.T, left, np.inf).min(axis=1)]
        )
        return cost + partner[:, self.numbers.feature_of] < budget

    def listed(self, trees: Trees) -> Iterator[np.ndarray]:
        """Everybody's leaf in each of the trees, where there is one root."""
        allowed = self.allowed[trees.feature]
        for left in np.flatnonzero(trees.alive[0]):
            for right in np.flatnonzero(trees.alive[1]):
                if allowed[self.numbers.feature_of[left], self.numbers.feature_of[right]]:
                    goes = np.where(trees.side == 0, self.goes_right(int(left)), self.goes_right(int(right)))
                    yield 2 * trees.side + goes


def place_side(place: int) -> int:
    """On which side of the root a place is: left, right, left-left, left-right, right-left, right-right."""
    return (0, 1, 0, 0, 1, 1)[place]
