"""Limits that couple the tests of a tree: which pairs of stumps may hang below a root (ALGORITHM §5)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.compiled import Compiled
from evenleaf.table import Schema


def allowed_pairs(shape: Shape, schema: Schema, compiled: Compiled, root: int) -> np.ndarray:
    """For a root on a feature, which (left, right) features keep every limit; the last option is no test."""
    columns = [feature.column for feature in compiled.features]
    options: list[tuple[int, ...]] = [*((column,) for column in columns), ()]
    limits = shape.use_limits(schema)
    allowed = np.zeros((len(options), len(options)), dtype=np.bool_)
    if shape.max_depth == 0 or shape.max_features_per_test == 0:
        return allowed
    first = 0 if shape.max_depth >= 2 else len(columns)
    if shape.max_leaves is None and shape.max_features_used is None and not limits:
        allowed[first:, first:] = True
        return allowed
    for f, left in enumerate(options[first:], first):
        for g, right in enumerate(options[first:], first):
            below = (*left, *right)
            uses = Counter((columns[root], *below))
            allowed[f, g] = (
                (shape.max_leaves is None or 2 + len(below) <= shape.max_leaves)
                and (shape.max_features_used is None or len(uses) <= shape.max_features_used)
                and all(uses[column] <= limit for column, limit in limits.items())
            )
    return allowed
