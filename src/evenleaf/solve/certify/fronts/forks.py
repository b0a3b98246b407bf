"""A test of many levels above two stumps: given the stumps, each level takes the cheaper side (ALGORITHM §3).

So min over pairs of stumps of Σ_levels min(left, right) bounds every subset of the levels at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.certify.fronts.line import Line
from evenleaf.solve.certify.labels.pairs import Placed, cheapest_pairs
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT

_MOST_SPELT, _SHOWN = 7, 5  # levels of a stump's feature of which all subsets are told apart


@dataclass(frozen=True, eq=False)
class Family:
    """The stumps with labels a and b on one feature, or without a test (feature −1).

    Row s of `high` tells which of the feature's ranks get the label b in the s-th stump; None: those above a cut.
    Ranks that are `alone` pick the cheaper label anew at each level of the test above: then the stump is no tree,
    and its cost is only a bound.
    """

    owner: int
    a: int
    b: int
    size: int
    high: np.ndarray | None
    alone: np.ndarray


class Fork:
    """All stumps below a test on one feature of a line; `sides` is about its levels that are present."""

    def __init__(self, line: Line, owner: int, sides: np.ndarray) -> None:
        self.line, self.sides = line, sides
        self.level, self.n_levels = line.numbered(owner), len(sides)
        n_labels, nobody = len(line.asked.vectors), np.zeros(0, dtype=np.int64)
        self.families = [Family(-1, label, label, 1, None, nobody) for label in range(n_labels)]
        for other in range(len(line.features)):
            self.families += self._families(other, n_labels)
        family = np.repeat(np.arange(len(self.families)), [f.size for f in self.families])
        self.owners = np.array([f.owner for f in self.families])[family]
        self.is_tree = np.array([len(f.alone) == 0 for f in self.families])[family]

    def _families(self, owner: int, n_labels: int) -> list[Family]:
        line = self.line
        size, nobody = int(line.starts[owner + 1] - line.starts[owner]), np.zeros(0, dtype=np.int64)
        pairs = [(a, b) for a in range(n_labels) for b in range(n_labels) if a != b]
        if size < 2:
            return []
        if not line.unordered[owner]:
            return [Family(owner, a, b, size - 1, None, nobody) for a, b in pairs]
        commonest = np.argsort(-np.bincount(line.numbered(owner), minlength=size), kind="stable")
        shown = commonest[: size if size <= _MOST_SPELT else _SHOWN]
        high = np.zeros((1 << len(shown), size), dtype=np.bool_)
        high[:, shown] = (np.arange(1 << len(shown))[:, None] >> np.arange(len(shown))) & 1 == 1
        return [Family(owner, a, b, len(high), high, commonest[len(shown) :]) for a, b in pairs if a < b]

    def costs(self, rows: np.ndarray) -> np.ndarray:
        """What each stump costs among the people of each level; `rows` are prices, a row a label."""
        line = self.line
        table = line.tables(rows[:, line.members], self.level, self.n_levels)
        whole, found = table[:, :, : line.starts[1]].sum(axis=2), []
        for family in self.families:
            low = whole[family.a]
            if family.owner < 0:
                found.append(low[None])
                continue
            mine = table[:, :, line.starts[family.owner] : line.starts[family.owner + 1]]
            step = (mine[family.b] - mine[family.a]).T
            if family.high is None:
                found.append(low + step.sum(axis=0) - np.cumsum(step, axis=0)[:-1])
            else:
                spare = np.minimum(step[family.alone], 0.0).sum(axis=0)
                found.append(low + spare + family.high.astype(np.float64) @ step)
        return np.concatenate(found)

    def least(self, price: np.ndarray, best: float) -> float:
        """The cheapest pair, if it is below `best`."""
        left, right = self._placed(self.costs(price))
        return cheapest_pairs(left, right, np.ones((1, 1), dtype=np.bool_), best, -np.inf)[0]

    def _placed(self, costs: np.ndarray) -> tuple[Placed, Placed]:
        alike, levels = np.zeros(len(costs), dtype=np.int64), costs[:, self.sides == OPEN]
        left, right = (Placed(costs[:, self.sides == side].sum(axis=1), levels, alike) for side in (LEFT, RIGHT))
        return left, right

    def pairs_below(self, costs: list[np.ndarray], budget: np.ndarray, most: int) -> np.ndarray | None:
        """The pairs of stumps below the budget at all multipliers, a row each; None where they are more than most."""
        placed = [self._placed(one) for one in costs]
        left, right = placed[0]
        hope_left, hope_right = _hopes(left, right)
        columns = np.flatnonzero(hope_right < budget[0])
        mirrored, found = bool((self.sides == OPEN).all()), [np.zeros((0, 2), dtype=np.int64)]
        size = 0
        for row in np.flatnonzero(hope_left < budget[0]):
            others = columns[columns >= row] if mirrored else columns
            for (one, two), most_cost in zip(placed, budget, strict=True):
                total = one.settled[row] + two.settled[others] + np.minimum(one.levels[row], two.levels[others]).sum(1)
                others = others[total < most_cost]
            found.append(np.column_stack([np.full(len(others), row), others]))
            size += len(others)
            if size > most:
                return None
        return np.concatenate(found)


def _hopes(left: Placed, right: Placed) -> tuple[np.ndarray, np.ndarray]:
    """What each stump costs at least with the best that the other side offers each level by itself."""
    one = left.settled + right.settled.min() + np.minimum(left.levels, right.levels.min(axis=0)).sum(axis=1)
    two = right.settled + left.settled.min() + np.minimum(right.levels, left.levels.min(axis=0)).sum(axis=1)
    return one, two
