"""A child test with many levels under limits: the cheapest pair of stumps for every two features (ALGORITHM §9.8).

For a pair of labelled stumps each level takes the cheaper, as long as that leaves enough people in every leaf. Stumps
that are subsets of long lists of levels leave the label to each cell: that is only a bound, and `is_real` says when it
is more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.kernels.crowded_pairs import count_below, pair_each_stump, place_levels
from evenleaf.solve.search.oracle import plan_stump
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.stumps import label_subset, labelled_stumps, one_label_each

_FEW_LEVELS = 7  # of a stump: its subsets are listed from the start
# Of a stump: up to so many levels its subsets are listed where leaving the label to the cells is not enough; with a
# least number of people a leaf, which cells know nothing of, more of them.
_MOST_LEVELS, _MOST_LEVELS_COUNTED = 10, 13


class Side(Protocol):
    """The people on one side of a root, as `Rationed` has them."""

    compiled: Compiled
    least_people: int
    refines: bool
    member: np.ndarray
    members: np.ndarray
    everybody: np.ndarray
    part: np.ndarray
    n_parts: np.ndarray
    segment: np.ndarray
    n_segments: np.ndarray
    place: np.ndarray


@dataclass(frozen=True, eq=False)
class _List:
    """Labelled stumps, none last, where those of each feature start, and their costs and people on each level."""

    stumps: np.ndarray
    starts: np.ndarray
    parts: np.ndarray
    below: np.ndarray


class RationedPairs:
    """One such child test; `choose` says which pair of features the other questions are about."""

    def __init__(self, side: Side, feature: int) -> None:
        self.side, self.feature, self.n_levels = side, feature, int(side.n_parts[feature])
        c = side.compiled
        # Group 0 of the histogram is for people who are settled; here every level picks.
        self.group = (side.part[feature] + 1).astype(np.int32)
        self.people = np.zeros(self.n_levels, dtype=np.int64)
        self.relaxed = self.listed = self._first_list()
        self.settled = np.empty(len(self.relaxed.stumps))
        self.table = np.empty((c.n_features + 1, c.n_features + 1))
        self.best = np.empty((c.n_features + 1, c.n_features + 1, 2), dtype=np.int64)
        self.real = np.empty((c.n_features + 1, c.n_features + 1), dtype=np.bool_)
        self.h = np.empty((self.n_levels + 1, int(side.n_segments.max(initial=1)), c.n_labels))
        self.costs = np.zeros((0, 0))
        self.chosen, self.goes_left = (-1, -1), np.zeros(self.n_levels, dtype=np.bool_)

    def _first_list(self) -> _List:
        side, c = self.side, self.side.compiled
        stumps = labelled_stumps(c, side.n_segments, self._few)
        # Of two classes, a second test on the same levels can only say what the first one could.
        stumps = stumps[(stumps[:, 0] != self.feature) | (c.n_labels > 1)]
        none = stumps[:, 0] < 0
        stumps = np.vstack([stumps[~none], stumps[none]])
        below = np.zeros((len(stumps), self.n_levels), dtype=np.int64)
        count_below(
            c.count, side.everybody, side.part[self.feature], side.segment, side.n_segments, c.unordered, stumps,
            below, self.people,
        )  # fmt: skip
        return _List(stumps, _starts(stumps, c.n_features), np.empty((len(stumps), self.n_levels)), below)

    def _few(self, feature: int) -> bool:
        return feature != self.feature and int(self.side.n_segments[feature]) <= _FEW_LEVELS

    def price_levels(self, costs: np.ndarray) -> float:
        """What each stump costs on each level; the least that any two could cost."""
        side, self.costs, self.listed = self.side, costs, self.relaxed
        kernels.price_stumps(
            costs, side.members, self.group, side.segment, side.n_segments, side.compiled.unordered,
            self.relaxed.stumps, self.h, self.settled, self.relaxed.parts,
        )  # fmt: skip
        return float(self.relaxed.parts.min(axis=0).sum())

    def price(self, enough: np.ndarray) -> None:
        """The cheapest pair of stumps for every two features; what costs `enough` need not be told exactly."""
        side = self.side
        self._pair(enough)
        if not side.refines:
            return
        loose = (self.table < enough) & (self.table < kernels.INFINITE)
        features = np.flatnonzero(np.asarray((loose | loose.T).any(axis=1))[:-1])
        most = _MOST_LEVELS if side.least_people == 1 else _MOST_LEVELS_COUNTED
        spell = [int(f) for f in features if f != self.feature and _FEW_LEVELS < side.n_segments[f] <= most]
        spell = [f for f in spell if side.compiled.unordered[f]]
        if spell:
            self.listed = self._spelt(spell)
            self._pair(enough)

    def price_below(self, slack: np.ndarray) -> None:
        """The same at the same prices for other ends; long lists of levels are left to their cells."""
        self.listed = self.relaxed
        self._pair(slack)

    def _pair(self, enough: np.ndarray) -> None:
        listed = self.listed
        pair_each_stump(
            listed.parts, listed.starts, listed.below, self.people, self.side.least_people, enough, self.table,
            self.best, self.real,
        )  # fmt: skip

    def _spelt(self, features: list[int]) -> _List:
        """The list with every subset in the place of stumps that leave the label to the cells."""
        relaxed, c = self.relaxed, self.side.compiled
        kept = ~np.isin(relaxed.stumps[:, 0], features) | (relaxed.stumps[:, 0] < 0)
        blocks = [(relaxed.stumps[kept], relaxed.parts[kept], relaxed.below[kept])]
        for feature in features:
            for first, second in relaxed.stumps[relaxed.stumps[:, 0] == feature][:, 2:]:
                blocks.append(self._subsets(feature, int(first), int(second)))
        stumps, parts, below = (np.concatenate(columns) for columns in zip(*blocks, strict=True))
        order = np.argsort(np.where(stumps[:, 0] < 0, c.n_features, stumps[:, 0]), kind="stable")
        stumps = stumps[order]
        return _List(stumps, _starts(stumps, c.n_features), parts[order], below[order])

    def _subsets(self, feature: int, first: int, second: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every subset of a feature's levels as a stump: rows, costs and people on each level of the child test."""
        side, n = self.side, int(self.side.n_segments[feature])
        costs = np.column_stack([np.zeros(len(self.costs)), self.costs])
        gain, dear = (
            self._cells(feature, side.members, weights[side.members], n)
            for weights in (costs[:, first] - costs[:, second], costs[:, second])
        )
        people = self._cells(feature, side.everybody, side.compiled.count[side.everybody], n)
        sets = np.arange(1, (1 << n) - 1)
        inside = ((sets[:, None] >> np.arange(n)) & 1).astype(float)
        rows = np.empty((len(sets), 4), dtype=np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = feature, sets, first, second
        below = np.rint(inside @ people.T).astype(np.int64)
        return rows, inside @ gain.T + dear.sum(axis=1), below

    def _cells(self, feature: int, people: np.ndarray, weights: np.ndarray, n: int) -> np.ndarray:
        """Sums by level of the child test and level of a stump."""
        cell = self.side.part[self.feature][people].astype(np.int64) * n + self.side.segment[feature][people]
        return np.bincount(cell, weights=weights, minlength=self.n_levels * n).reshape(self.n_levels, n)

    def entries(self) -> Iterator[tuple[int, int, float]]:
        """Two features, the last being none, and what their cheapest pair of stumps costs."""
        n = len(self.table)
        for g in range(n):
            for h in range(g, n):
                if self.table[g, h] < kernels.INFINITE:
                    yield g, h, float(self.table[g, h])

    def choose(self, one: int, other: int) -> None:
        """Speak about the cheapest pair on these two features."""
        left, right = (int(number) for number in self.best[one, other])
        self.chosen = (left, right)
        parts, below = self.listed.parts, self.listed.below
        self.goes_left = parts[left] <= parts[right]
        if not self.real[one, other]:
            none = len(self.table) - 1
            place_levels(
                parts[left], parts[right], below[left], below[right], self.people,
                self.side.least_people, one == none, other == none, 0.0, self.table[one, other] + kernels.EPSILON,
                self.goes_left,
            )  # fmt: skip

    def _halves(self) -> tuple[np.ndarray, np.ndarray]:
        goes_left = self.goes_left[self.side.part[self.feature]]
        return self.side.member & goes_left, self.side.member & ~goes_left

    def label(self, labels: np.ndarray) -> None:
        """Everybody by the stump that their level took; in a relaxed subset, cell by cell."""
        side = self.side
        for half, number in zip(self._halves(), self.chosen, strict=True):
            stump = self.listed.stumps[number]
            feature, segment, below, above = (int(entry) for entry in stump)
            if feature < 0:
                labels[half] = below
            elif side.compiled.unordered[feature]:
                level, part = side.segment[feature][half], side.part[self.feature][half]
                labels[half] = np.where((segment >> level) & 1, below, above)
                if segment < 0:
                    labels[half] = label_subset(self.costs[half], stump, level, part, int(side.n_segments[feature]))
            else:
                labels[half] = np.where(side.segment[feature][half] <= segment, below, above)

    def is_real(self) -> bool:
        """Whether no level of a stump was given two labels, and every leaf has enough people."""
        side = self.side
        labels = np.zeros(side.compiled.n_people, dtype=np.int64)
        self.label(labels)
        for half, number in zip(self._halves(), self.chosen, strict=True):
            feature, segment = (int(entry) for entry in self.listed.stumps[number, :2])
            leaf = np.zeros(len(half), dtype=np.bool_)
            if feature >= 0 and side.compiled.unordered[feature]:
                if not one_label_each(side.segment[feature][half], labels[half]):
                    return False
                leaf = labels == labels[half].min(initial=side.compiled.n_labels)
            elif feature >= 0:
                leaf = side.segment[feature] <= segment
            for inside in (half & leaf, half & ~leaf) if feature >= 0 else (half,):
                if side.compiled.count[inside].sum() < side.least_people:
                    return False
        return True

    def plan(self, labels: np.ndarray) -> Plan:
        """The subset that the levels chose, and the stumps."""
        side, c = self.side, self.side.compiled
        halves = self._halves()
        left = np.zeros(int(c.sizes[self.feature]), dtype=np.bool_)
        left[c.ranks[self.feature][halves[0]]] = True
        below = []
        for half, number in zip(halves, self.chosen, strict=True):
            feature, segment = (int(entry) for entry in self.listed.stumps[number, :2])
            below.append(plan_stump(c, side.place, feature, segment, half, labels))
        return Plan(self.feature, left, *below)


def _starts(stumps: np.ndarray, n_features: int) -> np.ndarray:
    """Where the stumps of each feature start; those of none come last."""
    option = np.where(stumps[:, 0] < 0, n_features, stumps[:, 0])
    return np.searchsorted(option, np.arange(n_features + 2))
