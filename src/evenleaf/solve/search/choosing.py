"""Whether to decide people's labels next, or to place those who are free: learnt feature by feature, from what it did.

Both split a box with free people into smaller ones. Where its bound is low because levels that are not placed have
subtrees of their own, placing them raises it; where it is low because trees disagree about people, deciding does. Which
it is differs from table to table, and shows in what is missing in the smaller boxes when their turn comes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.examined import Examined

_POWER = 2  # of what a box misses: the work that it takes
_FORGET = 0.9  # what was learnt counts that much less with everything learnt since, as the bounds rise
_ENOUGH = 2  # splits of a kind before it is compared
_AGAIN = 8  # every so often the kind that did worse is tried again
_LEAST = 1e-3  # of the work: where less is left, one kind is as good as the other


@dataclass
class _Kind:
    """What one kind of splits led to: how many parts, and how much of the work was left in each that was looked at."""

    tries: int = 0
    splits: float = 0.0
    parts: float = 0.0
    seen: float = 0.0
    left: float = 0.0

    @property
    def is_known(self) -> bool:
        return self.tries >= _ENOUGH and self.seen > 0

    @property
    def rate(self) -> float:
        """The logarithm of the work that is left after one split in two: the lower the better."""
        parts = max(self.parts / self.splits, 2.0)
        return float(np.log(max(parts * self.left / self.seen, _LEAST)) / (parts - 1))

    def split(self, n_parts: int, n_closed: int) -> None:
        self.tries += 1
        self.splits, self.parts = _FORGET * self.splits + 1, _FORGET * self.parts + n_parts
        for _ in range(n_closed):
            self.see(0.0)

    def see(self, left: float) -> None:
        self.seen, self.left = _FORGET * self.seen + 1, _FORGET * self.left + left


class Choosing:
    """What is known about both kinds of splits, for every feature."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[int, bool], _Kind] = defaultdict(_Kind)  # by feature and whether by labels
        self.turns: dict[int, int] = defaultdict(int)

    def prefers_labels(self, feature: int) -> bool:
        """Whether to decide labels before people are placed."""
        labels, places = self.kinds[feature, True], self.kinds[feature, False]
        self.turns[feature] += 1
        if not labels.is_known or not places.is_known:
            return labels.tries <= places.tries
        is_better = labels.rate <= places.rate
        return is_better != (self.turns[feature] % _AGAIN == 0)

    def learn(self, box: Box, examined: Examined, aim: float) -> None:
        """A box with free people was looked at and split, or closed; `aim`: where it is closed."""
        if not box.has_free or examined.risen is None:
            return
        if box.origin is not None and box.origin.bound < aim < np.inf:
            missing = (aim - examined.risen) / (aim - box.origin.bound)
            self.kinds[box.feature, box.origin.by_labels].see(float(np.clip(missing, 0.0, 1.0)) ** _POWER)
        n_parts = len(examined.boxes) + len(examined.below) + examined.n_closed
        if n_parts:
            self.kinds[box.feature, not examined.boxes].split(n_parts, examined.n_closed)
