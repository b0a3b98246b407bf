"""What a subtree uses of the limits that join all tests of a tree: leaves, uses of a feature, number of features.

The cheapest subtree of one side may leave too little for the other. So a side keeps the cheapest subtree for each
*use*, and the root takes the cheapest pair that keeps within the limits (ALGORITHM §5: what couples subtrees is
enforced where they meet). A use holds only what the limits ask about: with a limit on leaves alone, it is the number
of tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.kernels.usage import keeps
from evenleaf.table import Schema

_NONE = -1
Use = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Supply:
    """The limits, and the number under which each feature's tests are counted.

    `number[f]` is −1 where a test on the feature counts nowhere and `len(most_uses)` where it counts only as a test.
    Of a number in `once`, a second use adds nothing.
    """

    number: np.ndarray
    most_tests: int
    most_features: int
    most_uses: np.ndarray
    once: np.ndarray

    @property
    def limits(self) -> tuple[int, int, np.ndarray]:
        """As the kernels take them."""
        return self.most_tests, self.most_features, self.most_uses

    @cached_property
    def of_three(self) -> tuple[np.ndarray, np.ndarray]:
        """Every use of a subtree of height 2, a row each; and which it is for a child test and two stumps.

        The last stump is none; −1 is a use beyond the limits. The last row is that of no test.
        """
        n = len(self.number)
        child, left, right = np.meshgrid(np.arange(n), np.arange(n + 1), np.arange(n + 1), indexing="ij")
        tests = np.column_stack([child.ravel(), left.ravel(), right.ravel()])
        rows, where = np.unique(self._rows(tests), axis=0, return_inverse=True)
        rows = np.vstack([rows, np.full((1, 3), _NONE)]).astype(np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        kept = np.array([keeps(row, nothing, _NONE, *self.limits) for row in rows])
        use_of = np.where(kept[where.ravel()], where.ravel(), -1)
        return rows, use_of.reshape(child.shape).astype(np.int64)

    @cached_property
    def smaller(self) -> tuple[np.ndarray, np.ndarray]:
        """For each use of `of_three` how many entries it has, and the three uses with one entry less.

        Where there is no such entry it is the use itself.
        """
        rows = self.of_three[0]
        number = {tuple(int(entry) for entry in row if entry >= 0): place for place, row in enumerate(rows)}
        less = np.repeat(np.arange(len(rows))[:, None], 3, axis=1)
        for use, place in number.items():
            for gone in range(len(use)):
                less[place, gone] = number[use[:gone] + use[gone + 1 :]]
        return (rows >= 0).sum(axis=1), less

    def _rows(self, tests: np.ndarray) -> np.ndarray:
        """What tests on some features use, each row sorted."""
        numbers = np.append(self.number, _NONE)[tests]
        numbers.sort(axis=1)
        again = (numbers[:, 1:] == numbers[:, :-1]) & (numbers[:, 1:] >= 0)
        numbers[:, 1:][again & np.append(self.once, False)[numbers[:, 1:]]] = _NONE
        numbers.sort(axis=1)
        return numbers

    def joined(self, feature: int, left: np.ndarray, right: np.ndarray) -> Use | None:
        """What a test and the subtrees below it use together; None where that is beyond the limits."""
        root = int(self.number[feature])
        if not keeps(left, right, root, *self.limits):
            return None
        used = sorted(int(entry) for entry in (root, *left, *right) if entry >= 0)
        once = np.append(self.once, False)
        return tuple(entry for place, entry in enumerate(used) if not (once[entry] and entry in used[:place]))


def supply_of(shape: Shape, schema: Schema, compiled: Compiled) -> Supply:
    """What a shape limits, for trees of its depth."""
    tests = (1 << shape.max_depth) - 1
    columns = sorted({feature.column for feature in compiled.features})
    most_tests = tests if shape.max_leaves is None else min(tests, shape.max_leaves - 1)
    most_features = len(columns) if shape.max_features_used is None else min(len(columns), shape.max_features_used)
    uses = shape.use_limits(schema)
    counted = {column for column in columns if uses.get(column, tests) < tests}
    named = columns if most_features < min(len(columns), most_tests) else sorted(counted)
    number = {column: place for place, column in enumerate(named)}
    otherwise = len(named) if most_tests < tests else _NONE
    return Supply(
        number=np.array([number.get(feature.column, otherwise) for feature in compiled.features], dtype=np.int64),
        most_tests=most_tests,
        most_features=most_features,
        most_uses=np.array([uses.get(column, tests) for column in named], dtype=np.int64),
        once=np.array([column not in counted and most_tests == tests for column in named], dtype=np.bool_),
    )


def deep_supply(shape: Shape, schema: Schema, compiled: Compiled) -> Supply | None:
    """The limits that subtrees deeper than stumps must be searched with; None where there are none."""
    if shape.max_depth <= MOST_SWEPT_DEPTH:
        return None
    supply = supply_of(shape, schema, compiled)
    return supply if shape.min_samples_leaf > 1 or bool((supply.number >= 0).any()) else None
