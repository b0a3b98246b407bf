"""Pairs of stumps that are subsets of many levels, made real: a level with two labels gets one, best pair first (§9.8).

A stump that is a subset of levels is relaxed where it has many: small levels take the cheaper label cell by cell. Where
all trees of a mixture agree and yet are no trees, nobody's label is left to be decided; then this is called for.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.children import Children, LevelPairs
from evenleaf.solve.search.deep import DeepOracle

_MOST_STUMPS, _MOST_PAIRS = 1200, 4000  # beyond that the relaxation stands
_CHEAPER, _FIRST, _SECOND = -1, 0, 1  # which label of its stump a level takes: the cheaper one in each cell, or one


@dataclass(frozen=True, eq=False)
class Spelt:
    """A labelled stump: its row in the list, its cost part by part and, of a subset, what each level takes."""

    row: int
    costs: np.ndarray
    takes: np.ndarray | None = None
    cells: np.ndarray | None = None  # (which label, part, level): what each cell costs

    def with_level(self, level: int, label: int) -> Spelt:
        """The same with one more level spelt out."""
        assert self.takes is not None and self.cells is not None  # noqa: S101, PT018 (only such stumps have levels)
        takes = self.takes.copy()
        takes[level] = label
        costs = self.costs + self.cells[label, :, level] - self.cells[:, :, level].min(axis=0)
        return Spelt(self.row, costs, takes, self.cells)

    def conflict(self, here: np.ndarray) -> tuple[float, int]:
        """The level with two labels on these parts that costs most to settle, and what that costs; 0 for none."""
        if self.takes is None or self.cells is None:
            return 0.0, -1
        dearer = self.cells[:, here] - self.cells[:, here].min(axis=0)
        regret = np.where(self.takes == _CHEAPER, dearer.sum(axis=1).min(axis=0), 0.0)
        level = int(regret.argmax())
        return float(regret[level]), level


def resolve(oracle: DeepOracle) -> None:
    """From now on the oracle's pairs of stumps are real ones, as far as the work allows."""
    for side in oracle.sides:
        if isinstance(side, Children):
            side.pairs = [p if isinstance(p, Resolved) else Resolved(side, p.feature) for p in side.pairs]


class Resolved(LevelPairs):
    """A child test with many levels, whose relaxed stumps are spelt out further as long as the best pair needs it."""

    def __init__(self, children: Children, feature: int) -> None:
        super().__init__(children, feature)
        self.pair: tuple[Spelt, Spelt] | None = None

    @property
    def real(self) -> bool:
        """Whether no level of a chosen stump was given two labels."""
        return self.pair is not None or super().real

    def best(self, costs: np.ndarray, start: float, budget: float) -> float:
        """The cheapest pair below the start, with one label a level."""
        self.pair = None
        value = super().best(costs, start, budget)
        if value >= start or super().real:
            return value
        chosen = self.chosen
        self._pairs(start, start)  # what each stump costs in its best pair, as far as that is below the start
        self.chosen = chosen
        return self._resolved(value, start)

    def _resolved(self, value: float, limit: float) -> float:
        """Best pair first: done once it has one label a level; else settle the level where that costs most."""
        stumps = [self._stump(int(row)) for row in np.flatnonzero(self.listed.least < limit)]
        if len(stumps) > _MOST_STUMPS:
            return value
        order = itertools.count()
        heap = [(total, next(order), left, right) for total, left, right in _pairs_below(stumps, limit)]
        heapq.heapify(heap)
        for _ in range(_MOST_PAIRS):
            if not heap:
                return limit
            total, _, left, right = heapq.heappop(heap)
            goes_left = left.costs <= right.costs
            conflicts = left.conflict(goes_left), right.conflict(~goes_left)
            side = int(conflicts[1][0] > conflicts[0][0])
            regret, level = conflicts[side]
            if regret <= 0:
                self.pair, self.chosen = (left, right), (left.row, right.row)
                return total
            for label in (_FIRST, _SECOND):
                pair = (left.with_level(level, label), right) if side == 0 else (left, right.with_level(level, label))
                cost = float(np.minimum(pair[0].costs, pair[1].costs).sum())
                if cost < limit:
                    heapq.heappush(heap, (cost, next(order), *pair))
        return min(limit, heap[0][0]) if heap else limit

    def _stump(self, row: int) -> Spelt:
        """A stump of the list, with its cells if it is a subset of many levels."""
        children, costs = self.children, self.listed.moving[row] + self.listed.settled[row] / self.n_levels
        feature, levels, first, second = (int(entry) for entry in self.listed.stumps[row])
        if feature < 0 or feature == self.feature or not children.compiled.unordered[feature]:
            return Spelt(row, costs)
        n_levels, members = int(children.n_segments[feature]), children.members
        number = np.arange(n_levels)
        takes = np.where((levels >> np.minimum(number, kernels.MOST_SPELT)) & 1, _FIRST, _SECOND)
        takes[number >= (kernels.MOST_SPELT if levels >= 0 else 0)] = _CHEAPER
        cell = children.part[self.feature][members].astype(np.int64) * n_levels + children.segment[feature][members]
        prices = np.column_stack([np.zeros(len(members)), self.costs[members]])
        size = self.n_levels * n_levels
        cells = [np.bincount(cell, weights=prices[:, label], minlength=size) for label in (first, second)]
        return Spelt(row, costs, takes, np.array(cells).reshape(2, self.n_levels, n_levels))

    def goes_left(self) -> np.ndarray:
        """Who takes the left stump of the pair."""
        if self.pair is None:
            return super().goes_left()
        left, right = self.pair
        return np.asarray((left.costs <= right.costs)[self.children.part[self.feature]])

    def label(self, costs: np.ndarray, labels: np.ndarray) -> None:
        """Everybody by the stump that their level took."""
        super().label(costs, labels)
        if self.pair is None:
            return
        children, goes_left = self.children, self.goes_left()
        for stump, here in zip(self.pair, (goes_left, ~goes_left), strict=True):
            if stump.takes is None or stump.cells is None:
                continue
            half = children.member & here
            feature, _, first, second = (int(entry) for entry in self.listed.stumps[stump.row])
            parts = np.zeros(self.n_levels, dtype=np.bool_)
            parts[children.part[self.feature][half]] = True
            low, high = stump.cells[:, parts].sum(axis=1)
            takes = np.where(stump.takes == _CHEAPER, np.where(low <= high, _FIRST, _SECOND), stump.takes)
            labels[half] = np.where(takes[children.segment[feature][half]] == _FIRST, first, second)


def _pairs_below(stumps: list[Spelt], limit: float) -> Iterator[tuple[float, Spelt, Spelt]]:
    """Every pair of stumps that costs less than the limit, either side first."""
    costs = np.array([stump.costs for stump in stumps]).reshape(len(stumps), -1)
    for a, stump in enumerate(stumps):
        totals = np.minimum(costs[a], costs[a:]).sum(axis=1)
        for b in np.flatnonzero(totals < limit):
            yield float(totals[b]), stump, stumps[a + int(b)]
