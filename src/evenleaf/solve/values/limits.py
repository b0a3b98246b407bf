"""Limits that couple the tests of a tree, as far as the bounds know them (ALGORITHM §5).

With depth 2 they say which features may hang left and right below a root. With depth 3 only the number of leaves is
limited: then each box says at which places there may be a test.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.solve.values.boxes import PLACES
from evenleaf.solve.values.compiled import Compiled
from evenleaf.table import Schema

# Where a side of the root may have tests: below the root, and left and right below that.
_TESTED = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1))


def pairs_below(shape: Shape, schema: Schema, compiled: Compiled, root: int) -> np.ndarray:
    """For a root on a feature, which (left, right) features keep every limit; the last option is no test."""
    limits = (shape.max_leaves, shape.max_features_used, shape.max_feature_uses, shape.max_features_per_test)
    if shape.max_depth >= 3 or (shape.max_depth == 2 and all(limit is None for limit in limits)):
        return np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)
    return _pairs(shape, schema, compiled, root)


def _pairs(shape: Shape, schema: Schema, compiled: Compiled, root: int) -> np.ndarray:
    return allowed_pairs(shape, schema, compiled, root)  # type: ignore[arg-type]


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
