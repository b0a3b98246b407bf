"""Subsets of many levels, spelt out level by level: what is left of a relaxation where a proof needs that (§9.8)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.certify.labels.pairs import Placed, cheapest_pairs
from evenleaf.solve.certify.labels.stumps import MOST_SPELT_LEVELS, People, Stumps

_MOST_STUMPS = 20_000  # beyond that the relaxation stands


@dataclass(frozen=True, eq=False)
class _Rows:
    """Labelled stumps: costs part by part, feature, and of a subset which two labels it gives (else −1)."""

    costs: np.ndarray
    features: np.ndarray
    labels: np.ndarray

    def keep(self, which: np.ndarray) -> _Rows:
        return _Rows(self.costs[which], self.features[which], self.labels[which])

    def least(self, any_pair: np.ndarray, best: float, budget: float) -> tuple[float, np.ndarray]:
        """The cheapest pair, and the cheapest that each is in."""
        placed = Placed(np.zeros(len(self.costs)), self.costs, self.features)
        value, left, right = cheapest_pairs(placed, placed, any_pair, best, budget)
        return value, np.minimum(left, right)


def cheapest_spelt_out(
    stumps: Stumps, people: People, part: np.ndarray, n_parts: int, alive: np.ndarray, own: int, budget: float
) -> float:
    """The cheapest pair of stumps below a test on `own` whose levels pick their sides; at most the budget.

    Each level of a subset gets one label, one level after another; stumps that no pair below the budget has are
    dropped before the next.
    """
    any_pair = np.ones((stumps.n_features + 1, stumps.n_features + 1), dtype=np.bool_)
    listed = stumps.listed(people, part, n_parts, alive, own)
    cells = {f: stumps.cells(f, people, part, n_parts) for f in np.unique(listed.features) if stumps.spells(f, own)}
    labels = np.full(len(listed.features), -1)
    for f in cells:
        rows = np.flatnonzero(listed.features == f)
        labels[rows] = np.repeat(np.arange(len(stumps.labels)), len(rows) // len(stumps.labels))
    kept = _Rows(listed.costs, listed.features, labels)
    for level in range(MOST_SPELT_LEVELS, max((sums.shape[2] for sums in cells.values()), default=0)):
        kept = kept.keep(kept.least(any_pair, -np.inf, budget)[1] < budget)
        if not len(kept.costs):
            return budget
        if len(kept.costs) > _MOST_STUMPS:
            break
        kept = _spell(kept, level, cells, stumps)
    return min(budget, kept.least(any_pair, budget, -np.inf)[0])


def _spell(rows: _Rows, level: int, cells: dict[int, np.ndarray], stumps: Stumps) -> _Rows:
    """Every subset of a feature that has such a level twice: once with either label for the level."""
    first, second = rows.costs.copy(), rows.costs.copy()
    twice = np.zeros(len(rows.costs), dtype=np.bool_)
    for f, sums in cells.items():
        if sums.shape[2] <= level:
            continue
        for number, (a, b) in enumerate(stumps.labels):
            here = (rows.features == f) & (rows.labels == number)
            relaxed = np.minimum(sums[a, :, level], sums[b, :, level])
            first[here] += sums[a, :, level] - relaxed
            second[here] += sums[b, :, level] - relaxed
            twice |= here
    both = np.concatenate([np.arange(len(twice)), np.flatnonzero(twice)])
    return replace(rows.keep(both), costs=np.concatenate([first, second[twice]]))
