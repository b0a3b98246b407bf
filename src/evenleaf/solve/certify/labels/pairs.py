"""Pairs of labelled stumps below a test whose levels are open: each level goes to the cheaper stump (ALGORITHM §9.8).

That bounds every subset of the levels at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Placed:
    """Labelled stumps on one side: their cost on who is placed there, and on each open level; their feature."""

    settled: np.ndarray
    levels: np.ndarray
    features: np.ndarray


@dataclass(frozen=True, eq=False)
class Listed:
    """Labelled stumps (rows) and their costs part by part; cut −1 where there is no test."""

    costs: np.ndarray
    cuts: np.ndarray
    features: np.ndarray

    def placed(self, on_side: np.ndarray, is_open: np.ndarray) -> Placed:
        """These stumps on a side that holds some parts for certain, while others are open."""
        return Placed(self.costs[:, on_side].sum(axis=1), self.costs[:, is_open], self.features)

    def all_open(self) -> Placed:
        """These stumps with nobody placed."""
        return Placed(np.zeros(len(self.costs)), self.costs, self.features)


def cheapest_pairs(
    left: Placed, right: Placed, allowed: np.ndarray, best: float, budget: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """The cheapest pair, if it is below `best`; and for each stump the cheapest pair that it is in.

    The latter is exact where it is below the budget, and not below the budget where the truth is not.
    """
    # A stump with the best that the other side could offer each level by itself: if that is not low enough, no
    # pair is, and it is passed over.
    hope_left = left.settled + right.settled.min() + np.minimum(left.levels, right.levels.min(axis=0)).sum(axis=1)
    hope_right = right.settled + left.settled.min() + np.minimum(right.levels, left.levels.min(axis=0)).sum(axis=1)
    columns = np.flatnonzero(hope_right < max(best, budget))
    least_left, least_right = np.full(len(left.settled), np.inf), np.full(len(right.settled), np.inf)
    settled, levels = right.settled[columns], right.levels[columns]
    for row in np.argsort(hope_left, kind="stable"):
        if hope_left[row] >= max(best, budget) or not len(columns):
            break
        total = left.settled[row] + settled + np.minimum(left.levels[row], levels).sum(axis=1)
        total[~allowed[left.features[row], right.features[columns]]] = np.inf
        least_left[row] = total.min()
        least_right[columns] = np.minimum(least_right[columns], total)
        best = min(best, least_left[row])
    return best, least_left, least_right
