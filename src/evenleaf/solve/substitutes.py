"""Tests that may stand in for another: whoever is decided differently on one side must go to the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.table import Table
from evenleaf.tree import SubsetTest, Test, ThresholdTest, threshold_above


def substitutes(
    table: Table, column: int, rows: np.ndarray, not_left: np.ndarray, not_right: np.ndarray
) -> Iterator[tuple[Test, bool]]:
    """The lowest test on a column that keeps these people from the wrong side; also with left and right swapped.

    `not_left` and `not_right` tell who of the rows must not go where; whoever is in neither may go anywhere.
    """
    values = table.data[column][rows]
    first, second = values[not_right], values[not_left]
    make = _subset if table.schema[column].is_categorical else _threshold
    for swapped, (left, right) in enumerate(((first, second), (second, first))):
        test = make(table, column, left, right)
        if test is not None:
            yield test, bool(swapped)


def _threshold(table: Table, column: int, left: np.ndarray, right: np.ndarray) -> Test | None:
    """The lowest threshold with these values on the left and those on the right, if there is one."""
    gone_left, gone_right = np.isnan(left), np.isnan(right)
    known_left, known_right = left[~gone_left], right[~gone_right]
    if not len(known_left) or (gone_left.any() and gone_right.any()):
        return None
    highest = float(known_left.max())
    if len(known_right) and known_right.min() <= highest:
        return None
    return ThresholdTest(column, threshold_above(table.data[column], highest), not gone_right.any())


def _subset(table: Table, column: int, left: np.ndarray, right: np.ndarray) -> Test | None:
    """The levels of the left, if none of them is needed on the right."""
    side = np.zeros((2, len(table.schema[column].levels) + 1), dtype=np.bool_)  # the last entry is the missing
    side[0, left], side[1, right] = True, True
    if (side[0] & side[1]).any():
        return None
    return SubsetTest(column, tuple(int(level) for level in np.flatnonzero(side[0, :-1])), bool(side[0, -1]))
