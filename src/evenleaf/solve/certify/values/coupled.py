"""Limits that couple the tests of a deep tree, for the checker: leaves, uses of a column, different columns.

The number of leaves is settled at the start: trees are parted by the places where they may have a test. The limits on
columns are counted as far as a set of trees is sure of them.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.table import Schema

EVERYWHERE = 0b111111  # bit p: there may be a test at place p


def places_tested(most_leaves: int | None) -> list[int]:
    """Sets of places such that each tree with so many leaves has its tests within one of them."""
    if most_leaves is None or most_leaves >= 8:
        return [EVERYWHERE]
    found = []
    for tested in product((0, 1), repeat=6):
        hanging = all(tested[side] or not any(tested[2 + 2 * side : 4 + 2 * side]) for side in (0, 1))
        if hanging and 2 + sum(tested) == most_leaves:
            found.append(sum(bit << place for place, bit in enumerate(tested)))
    return found


class Coupled:
    """How often each column may be tested, and how many different ones."""

    def __init__(self, shape: Shape, schema: Schema, numbers: Numbers) -> None:
        self.uses, self.different = shape.use_limits(schema), shape.max_features_used
        columns = [feature.column for feature in numbers.compiled.features]
        self.column = np.array([*columns, -1])  # of a feature; −1 for no test
        self.of_test = self.column[numbers.feature_of]

    def keeps(self, used: Counter[int]) -> bool:
        """Whether tests may be on these columns, as often as they are."""
        few = self.different is None or len(used) <= self.different
        return few and all(used[column] <= limit for column, limit in self.uses.items())

    def counted(self, feature: int, tests: tuple[int, ...]) -> Counter[int]:
        """The columns of a tree, with its root on a feature."""
        columns = [int(self.of_test[test]) for test in tests]
        return Counter([int(self.column[feature]), *(column for column in columns if column >= 0)])

    def left(self, feature: int, alive: np.ndarray) -> np.ndarray:
        """The tests a place without those that no tree can have which keeps the limits; none at all where none does."""
        if not self.uses and self.different is None:
            return alive
        options = [set(self.of_test[row].tolist()) for row in alive]
        before = None
        while options != before:
            before = [set(option) for option in options]
            _settle_sides(options)
            sure = Counter([int(self.column[feature]), *(c for option in options if len(option) == 1 for c in option)])
            sure.pop(-1, None)
            if not self.keeps(sure):
                return np.zeros_like(alive)
            for option in options:
                if len(option) > 1:
                    option -= {column for column in option if column >= 0 and not self.keeps(sure + Counter([column]))}
        return alive & np.array([np.isin(self.of_test, list(option)) for option in options])


def _settle_sides(options: list[set[int]]) -> None:
    """A side without a test has none further down, and one with a test there has one above it."""
    for side in (0, 1):
        here, below = options[side], options[2 + 2 * side : 4 + 2 * side]
        if not all(-1 in option for option in below):
            here.discard(-1)
        if here <= {-1}:
            for option in below:
                option &= {-1}
