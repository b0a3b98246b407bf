"""Limits that couple the tests of a tree, as far as the bounds know them (ALGORITHM §5).

With depth 2 they say which features may hang left and right below a root. With depth 3 each box says at which places
there may be a test, which settles the number of leaves, and `Coupling` takes from it the tests that would break a
limit on columns. The bounds of depth 3 ignore such limits otherwise: that is a relaxation, and splits make it exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.solve.values.boxes import PLACES, Box
from evenleaf.solve.values.compiled import Compiled
from evenleaf.table import Schema

# Where a side of the root may have tests: below the root, and left and right below that.
_TESTED = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1))


def pairs_below(shape: Shape, schema: Schema, compiled: Compiled, root: int) -> np.ndarray:
    """For a root on a feature, which (left, right) features keep every limit; the last option is no test.

    With depth 3 only the root itself is judged.
    """
    limits = (shape.max_leaves, shape.max_features_used, shape.max_feature_uses, shape.max_features_per_test)
    free = np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)
    if shape.max_depth >= 2 and all(limit is None for limit in limits):
        return free
    pairs = allowed_pairs(shape, schema, compiled, root)  # type: ignore[arg-type]
    return pairs if shape.max_depth < 3 else free & pairs[-1, -1]


def possible_tests(shape: Shape, compiled: Compiled) -> list[np.ndarray]:
    """The marks of the first boxes: all tests at all places, once for each way to spend a limited number of leaves."""
    places = PLACES[min(shape.max_depth, 3)]
    every = np.ones((places, compiled.n_tests + 1), dtype=np.uint8)
    if places < 6 or shape.max_leaves is None or shape.max_leaves >= 8:
        return [every]
    found = []
    for left in _TESTED:
        for right in _TESTED:
            tested = (left[0], right[0], *left[1:], *right[1:])
            if 2 + sum(tested) == shape.max_leaves:
                alive = every.copy()
                alive[:, :-1] *= np.array(tested, dtype=np.uint8)[:, None]
                found.append(alive)
    return found


class Coupling:
    """The limits on how often a column is tested, and on how many columns are: which tests they leave in a box."""

    def __init__(self, shape: Shape, schema: Schema, compiled: Compiled) -> None:
        self.feature_column = np.array([feature.column for feature in compiled.features], dtype=np.int64)
        self.none = len(schema)  # stands for no test where columns are numbered
        self.column = np.append(self.feature_column[compiled.test_feature], self.none)
        self.offsets = compiled.offsets
        limits = shape.use_limits(schema)
        # A tree has at most seven tests.
        self.uses = np.array([limits.get(column, 7) for column in range(len(schema))], dtype=np.int64)
        self.different = 7 if shape.max_features_used is None else shape.max_features_used
        self.limited = bool((self.uses < 7).any()) or self.different < 7
        self.deep = shape.max_depth >= 3

    def keeps(self, feature: int, tests: np.ndarray) -> bool:
        """Whether the tree with a root on a feature and these tests (−1: none) keeps both limits."""
        below = self.column[tests[tests >= 0]]
        used = np.bincount(np.append(below, self.feature_column[feature]), minlength=len(self.uses))
        return bool((used <= self.uses).all()) and int((used > 0).sum()) <= self.different

    def broken(self, feature: int, trees: np.ndarray) -> bool:
        """Whether any of some trees breaks a limit: then a mixture of them is no better than none."""
        return self.limited and not all(self.keeps(feature, tests) for tests in trees)

    def narrowed(self, box: Box) -> Box:
        """The box without the tests that no tree in it can have; without any, where every tree breaks a limit.

        With depth 2 the pairs of stumps that are allowed say it all.
        """
        if not (self.limited and self.deep):
            return box
        before = self._possible(box)
        after = self._propagated(before)
        if np.array_equal(before, after):
            return box
        return replace(box, alive=box.alive * after[1:, self.column])

    def _possible(self, box: Box) -> np.ndarray:
        """Which columns may be tested at the root and at each place; the last entry is no test."""
        found = np.zeros((1 + len(box.alive), self.none + 1), dtype=np.uint8)
        found[0, self.feature_column[box.feature]] = 1
        tested = np.add.reduceat(box.alive[:, :-1], self.offsets[:-1], axis=1, dtype=np.int64) > 0
        for feature, column in enumerate(self.feature_column):
            found[1:, column] |= tested[:, feature]
        found[1:, -1] = box.alive[:, -1]
        return found

    def _propagated(self, possible: np.ndarray) -> np.ndarray:
        """What is left once every column that is certain somewhere has been counted."""
        found = possible.copy()
        while True:
            before = found.copy()
            self._settle_sides(found)
            certain = (found[:, :-1].sum(axis=1) == 1) & (found[:, -1] == 0)
            used = found[certain, :-1].sum(axis=0, dtype=np.int64)
            if (used > self.uses).any() or (used > 0).sum() > self.different:
                return np.zeros_like(found)
            found[np.ix_(~certain, np.append(used >= self.uses, False))] = 0
            if (used > 0).sum() == self.different:
                found[:, np.append(used == 0, False)] = 0
            if np.array_equal(before, found):
                return found

    def _settle_sides(self, found: np.ndarray) -> None:
        """A side of the root without a test has none further down, and one with a test there has one above it."""
        for side in (0, 1):
            here, below = found[1 + side], found[3 + 2 * side : 5 + 2 * side]
            here[-1] &= below[:, -1].min()
            if not here[:-1].any():
                below[:, :-1] = 0
