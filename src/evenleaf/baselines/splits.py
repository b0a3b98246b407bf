"""All binary splits of some people by one column, with the sums that fall to the left of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenleaf.table import Table
from evenleaf.table.table import MISSING_CODE
from evenleaf.tree import SubsetTest, Test, ThresholdTest, threshold_above


@dataclass(frozen=True, eq=False)
class Splits:
    """One row a split: the sums and the number of people on the left, and how to write the split as a test."""

    left: np.ndarray
    count: np.ndarray
    test: Callable[[int], Test]


def splits_by(table: Table, column: int, rows: np.ndarray, sums: np.ndarray) -> Splits | None:
    """Every threshold (the missing on either side), or the subsets of levels that an order suggests."""
    if table.schema[column].is_categorical:
        return _by_levels(table, column, rows, sums)
    return _by_threshold(table, column, rows, sums)


def _by_threshold(table: Table, column: int, rows: np.ndarray, sums: np.ndarray) -> Splits | None:
    values = table.data[column][rows]
    missing = np.isnan(values)
    known = np.argsort(np.where(missing, np.inf, values), kind="stable")[: int((~missing).sum())]
    if not len(known):
        return None
    ordered = values[known]
    ends = np.append(np.flatnonzero(ordered[1:] > ordered[:-1]), len(known) - 1)
    if not missing.any():
        ends = ends[:-1]  # everybody on the left is no split
    prefix, count = np.cumsum(sums[known], axis=0)[ends], ends + 1
    if missing.any():
        prefix = np.concatenate([prefix, prefix + sums[missing].sum(axis=0)])
        count = np.concatenate([count, count + missing.sum()])

    def test(place: int) -> Test:
        value = float(ordered[ends[place % len(ends)]])
        return ThresholdTest(column, threshold_above(table.data[column], value), place >= len(ends))

    return Splits(prefix, count, test)


def _by_levels(table: Table, column: int, rows: np.ndarray, sums: np.ndarray) -> Splits | None:
    """Single levels, and prefixes of the levels ordered by the share of each class and of each group.

    For two classes the best subset for the class gain is such a prefix (Breiman et al. 1984), and so is the one
    for the group gain with two groups; for their combinations these are candidates.
    """
    levels, place = np.unique(table.data[column][rows], return_inverse=True)
    if len(levels) < 2:
        return None
    by_level = np.zeros((len(levels), sums.shape[1]))
    np.add.at(by_level, place, sums)
    members = _subsets(by_level)
    inside = members.astype(float)

    def test(place: int) -> Test:
        chosen = levels[members[place]]
        named = tuple(int(level) for level in chosen if level != MISSING_CODE)
        return SubsetTest(column, named, bool(MISSING_CODE in chosen))

    return Splits(inside @ by_level, members @ np.bincount(place), test)


def _subsets(by_level: np.ndarray) -> np.ndarray:
    """One row a candidate: which levels are on the left."""
    weight = by_level.sum(axis=1)
    found = [np.eye(len(by_level), dtype=bool)]
    for column in by_level.T:
        share = np.divide(column, weight, out=np.zeros_like(column), where=weight > 0)
        rank = np.empty(len(share), dtype=np.intp)
        rank[np.argsort(share, kind="stable")] = np.arange(len(share))
        found.append(rank[None, :] <= np.arange(len(share) - 1)[:, None])
    return np.unique(np.concatenate(found), axis=0)
