"""Every single-feature test that can matter for given people, in the order in which ties are broken.

A solver is exact only if it considers all of these. Written out, for a column of numbers:

- every midpoint between two neighbouring distinct training values;
- where somebody's value is missing, each of them twice, with the missing on the left and on the right;
- and then also the split of the known against the missing: the largest value as the threshold, the missing on
  the right. A threshold below all values with the missing on the left parts people in the same way.

For a column of levels: every way to put the levels that somebody has on two sides, the missing being one more
level. Which side is called left does not matter, so the first level is always on the left.
"""

from __future__ import annotations

from itertools import combinations

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.table import Table
from evenleaf.tree import SubsetTest, ThresholdTest, midpoints

_MOST_LEVELS = 12


def candidate_tests(problem: Problem) -> tuple[SubsetTest | ThresholdTest, ...]:
    """All tests over the allowed columns; a later one never comes first in a tie."""
    table, shape = problem.people.features, problem.shape
    if shape.max_features_per_test == 0:
        return ()
    return tuple(test for column in shape.allowed(table.schema) for test in column_tests(table, column))


def column_tests(table: Table, column: int) -> list[SubsetTest | ThresholdTest]:
    """All tests of one column, lowest threshold (or first subset) first."""
    sides = (False, True) if table.missing(column).any() else (True,)
    if table.schema[column].is_categorical:
        return [SubsetTest(column, left, side) for left in _left_subsets(table, column) for side in sides]
    values = table.data[column]
    tests: list[SubsetTest | ThresholdTest] = [
        ThresholdTest(column, float(threshold), side) for threshold in midpoints(values) for side in sides
    ]
    known = values[~table.missing(column)]
    if len(sides) == 2 and len(known):
        tests.append(ThresholdTest(column, float(known.max()), missing_left=False))
    return tests


def _left_subsets(table: Table, column: int) -> list[tuple[int, ...]]:
    codes = table.data[column]
    levels = sorted({int(code) for code in codes if code >= 0})
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"column {table.schema[column].name!r} has {len(levels)} levels, too many to try all their subsets"
        )
    first, rest = levels[:1], levels[1:]
    subsets = [(*first, *more) for size in range(len(rest) + 1) for more in combinations(rest, size)]
    return sorted(subsets)
