"""The subtrees met on one side of a root, kept to be priced again: far cheaper than looking at all that there are."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.values import kernels

_MOST = 64
_LATELY = 30  # prices asked for

Subtree = tuple[int, int, int]


class Shelf:
    """Subtrees of depth 2 by the numbers of their tests, and everybody's leaf in each; `people` are by outcome."""

    def __init__(self, people: np.ndarray, outcome: np.ndarray, share: np.ndarray) -> None:
        self.people = people
        self.outcome, self.share = outcome[people], share[people]
        self.leaf = np.empty((_MOST, len(people)), dtype=np.int8)
        self.subtrees: list[Subtree] = []
        self.places: dict[Subtree, int] = {}
        self.used = np.zeros(_MOST, dtype=np.int64)
        self.clock = 0

    def add(self, subtree: Subtree, leaf: np.ndarray) -> None:
        """Keep a subtree, where there are too many in the place of the one that was not the cheapest for longest."""
        place = self.places.get(subtree)
        if place is None:
            place = self._place_for(subtree)
            self.leaf[place] = leaf[self.people] & 3
        self.used[place] = self.clock

    def take(self, subtree: Subtree, leaf: np.ndarray) -> None:
        """Keep a subtree from elsewhere, with everybody's leaf in the order of the people here."""
        if subtree not in self.places:
            place = self._place_for(subtree)
            self.leaf[place], self.used[place] = leaf, self.clock - _LATELY

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

    def cheapest(self, costs: np.ndarray, top: float) -> tuple[float, Subtree]:
        """The cheapest subtree at some prices, and its cost."""
        known = self.leaf[: len(self.subtrees)]
        cost = self.costs(costs, known, top)
        which = int(cost.argmin())
        self.clock += 1
        self.used[which] = self.clock
        return float(cost[which]), self.subtrees[which]

    def costs(self, costs: np.ndarray, leaf: np.ndarray, top: float) -> np.ndarray:
        """What subtrees cost at some prices, kept here or not."""
        found = np.empty(len(leaf))
        kernels.known_costs(self.people, self.outcome, self.share, costs, leaf, top, found)
        return found

    def lately_used(self) -> list[Subtree]:
        """The subtrees that were met or were the cheapest not long ago."""
        since = self.clock - _LATELY
        return [subtree for subtree, used in zip(self.subtrees, self.used, strict=False) if used >= since]
