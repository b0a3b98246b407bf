"""The cheapest of very many child tests by cuts: most of them are ruled out in runs, without a look at each.

To price every test takes people times tests. Where tests are nearly as many as people, it is quicker to bound runs of
neighbouring cuts, on either level of the subtree, and to look only into those that may hold the cheapest.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.kernels.first_tests import cheapest_cuts
from evenleaf.solve.search.kernels.sheet import lay_out

_PEOPLE_A_BLOCK, _FEWEST_BLOCKS, _MOST_BLOCKS = 32, 8, 64  # runs of ranks a feature
_NEVER = np.zeros(1, dtype=np.bool_)

Parted = tuple[np.ndarray, np.ndarray]  # everybody's segment of each feature, and how many there are


class Cuts:
    """Some people laid out by their segments, those of child tests and those of stumps.

    A cut that parts only people who are free is `idle`, and costs what a single stump does.
    """

    def __init__(self, member: np.ndarray, children: Parted, stumps: Parted, unordered: np.ndarray) -> None:
        n_features = len(unordered)
        self.member, self.members = member, np.flatnonzero(member)
        self.people = (member, *stumps, unordered)
        sizes = np.concatenate([stumps[1], children[1]]).astype(np.int64)
        allowed = (sizes > 1) & ~np.concatenate([np.zeros(n_features, dtype=np.bool_), unordered])
        ranks = np.concatenate([stumps[0], children[0]])
        n_blocks = int(np.clip(len(self.members) / _PEOPLE_A_BLOCK, _FEWEST_BLOCKS, _MOST_BLOCKS))
        self.sheet = lay_out(ranks, sizes, np.tile(unordered, 2), self.members, allowed, n_blocks, 0.0, n_features)
        names, below = self.sheet[0], int(self.sheet[9])
        self.by_level = unordered[names[:below]]
        self.row = {int(names[row]) - n_features: row for row in range(below, len(names))}
        self.found = np.full(len(names), -1, dtype=np.int64)
        idle = (self._idle(int(f), children[0][f], int(children[1][f])) for f in np.flatnonzero(allowed[n_features:]))
        self.idle = next((test for test in idle if test is not None), None)

    def _idle(self, feature: int, part: np.ndarray, n_parts: int) -> tuple[int, int] | None:
        """A cut of a feature with all of these people on one side, if there is one."""
        low, high = int(part[self.members].min()), int(part[self.members].max())
        if low > 0:
            return feature, 0
        return (feature, high) if high < n_parts - 1 else None

    def cheapest(self, costs: np.ndarray, target: float) -> tuple[float, list[tuple[int, int]]]:
        """The cost of the cheapest test below the target, and tests that were met, the cheapest last: feature, part."""
        met: list[tuple[int, int]] = []
        if self.idle is not None:
            stump = self._stump(costs)
            if stump < target:
                target, met = stump, [self.idle]
        value = float(cheapest_cuts(self.sheet, self.by_level, self._prices(costs), target, _NEVER, self.found))
        starts, upper = self.sheet[4], self.sheet[5]
        for feature, row in self.row.items():
            if self.found[row] >= 0:
                met.append((feature, int(upper[starts[row] + self.found[row]])))
        return value, met

    def _prices(self, costs: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(costs[self.members, 0])[None, :]

    def _stump(self, costs: np.ndarray) -> float:
        return float(kernels.best_stump(costs, *self.people)[0])
