"""The subtrees met on one side of a root, kept to be priced again: far cheaper than looking at all that there are."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.values import kernels

_MOST = 64
_LATELY = 30  # prices asked for

Subtree = tuple[int, int, int]


class Shelf:
    """Subtrees of depth 2 by the numbers of their tests, and everybody's leaf in each; `people` are by outcome.

    `paid` says of either stump what it pays for each row of the disparity that lies inside it (`kernels/inside.py`).
    """

    def __init__(self, people: np.ndarray, outcome: np.ndarray, share: np.ndarray, n_rows: int) -> None:
        self.people = people
        self.outcome, self.share = outcome[people], share[people]
        self.leaf = np.empty((_MOST, len(people)), dtype=np.int8)
        self.paid = np.empty((_MOST, 2, n_rows))
        self.subtrees: list[Subtree] = []
        self.places: dict[Subtree, int] = {}
        self.used = np.zeros(_MOST, dtype=np.int64)
        self.clock = 0

    def add(self, subtree: Subtree, leaf: np.ndarray, paid: np.ndarray) -> None:
        """Keep a subtree, where there are too many in the place of the one that was not the cheapest for longest."""
        place = self.places.get(subtree)
        if place is None:
            place = self._place_for(subtree)
            self.leaf[place], self.paid[place] = leaf[self.people] & 3, paid
        self.used[place] = self.clock

    def take(self, subtree: Subtree, leaf: np.ndarray, paid: np.ndarray) -> None:
        """Keep a subtree from elsewhere, with everybody's leaf in the order of the people here."""
        if subtree not in self.places:
            place = self._place_for(subtree)
            self.leaf[place], self.paid[place], self.used[place] = leaf, paid, self.clock - _LATELY

    def _place_for(self, subtree: Subtree) -> int:
        place = len(self.subtrees)
        if place < _MOST:
            self.subtrees.append(subtree)
        else:
            place = int(self.used.argmin())
            del self.places[self.subtrees[place]]
            self.subtrees[place] = subtree
        self.places[subtree] = place
        return place

    def cheapest(self, costs: np.ndarray, mu: np.ndarray, top: float) -> tuple[float, Subtree]:
        """The cheapest subtree at some multipliers and the prices that they make, and its cost."""
        n = len(self.subtrees)
        cost = self.costs(costs, mu, self.leaf[:n], self.paid[:n], top)
        which = int(cost.argmin())
        self.clock += 1
        self.used[which] = self.clock
        return float(cost[which]), self.subtrees[which]

    def costs(self, costs: np.ndarray, mu: np.ndarray, leaf: np.ndarray, paid: np.ndarray, top: float) -> np.ndarray:
        """What subtrees cost, kept here or not."""
        found, spread = np.empty(len(leaf)), np.abs(paid).sum(axis=2)
        kernels.known_costs(self.people, self.outcome, self.share, costs, leaf, spread, paid @ mu, top, found)
        return found

    def lately_used(self) -> list[Subtree]:
        """The subtrees that were met or were the cheapest not long ago."""
        since = self.clock - _LATELY
        return [subtree for subtree, used in zip(self.subtrees, self.used, strict=False) if used >= since]
