"""In which boxes with free people their labels are worth deciding before the box is split (ALGORITHM §9.11).

Trees of depth 3 that differ in the side of a small level are many and cost much the same, so that placing levels closes
next to nothing. Deciding people's labels does, while few enough people are free; how few is learnt feature by feature,
from what was tried before.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.boxes import FREE, MOST_SWEPT_DEPTH, Box
from evenleaf.solve.search.compiled import Compiled

_MOST_BY_LEVEL, _MOST_BY_CUT = 0.3, 0.02  # parts of all people who may be free, at most
_LEAST_BOUND = 0.75  # of the incumbent: a box that is further below it is better split
_SHRINK, _GROW = 0.8, 1.2


class Freedom:
    """For each feature, the part of all people up to which free ones are no hindrance, as far as is known."""

    def __init__(self, compiled: Compiled, depth: int) -> None:
        self.compiled, self.total = compiled, float(compiled.count.sum())
        self.highest = np.where(compiled.unordered, _MOST_BY_LEVEL, _MOST_BY_CUT) * (depth > MOST_SWEPT_DEPTH)
        self.most = self.highest.copy()

    def allows(self, box: Box, objective: float) -> bool:
        """Whether to decide labels in a box before it is split."""
        if not box.has_free:
            return True
        return bool(box.bound >= _LEAST_BOUND * objective and self._free(box) <= self.most[box.feature])

    def learn(self, box: Box, worked: bool) -> None:
        """Be bolder where deciding labels closed a box with free people, and more careful where it did not."""
        if box.has_free:
            f, free = box.feature, self._free(box)
            wanted = max(self.most[f], _GROW * free) if worked else min(self.most[f], _SHRINK * free)
            self.most[f] = min(wanted, self.highest[f])

    def _free(self, box: Box) -> float:
        c = self.compiled
        return float(c.count[(box.state == FREE)[c.ranks[box.feature]]].sum()) / self.total
