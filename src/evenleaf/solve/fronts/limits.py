"""Limits that couple the tests of a tree: leaves, uses of a feature, number of features (ALGORITHM §5).

Bounds take no notice of them; outlines that break them are not opened, and listed trees that do are passed over.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import Fork, Part, Sketch, Split


class Limits:
    """Which outlines a shape allows."""

    def __init__(self, problem: Problem, lane: Lane) -> None:
        shape = problem.shape
        self.columns = lane.columns
        self.uses = shape.use_limits(problem.people.features.schema)
        self.most_features, self.most_leaves = shape.max_features_used, shape.max_leaves
        tests = 2**shape.max_depth - 1
        self.active = (
            (self.most_leaves is not None and self.most_leaves <= tests)
            or (self.most_features is not None and self.most_features < min(tests, len(set(self.columns.tolist()))))
            or any(limit < tests for limit in self.uses.values())
        )

    def keeps(self, used: Counter[int]) -> bool:
        """Whether tests on these features keep every limit."""
        columns: Counter[int] = Counter()
        for feature, times in used.items():
            columns[int(self.columns[feature])] += times
        return (
            (self.most_leaves is None or used.total() < self.most_leaves)
            and (self.most_features is None or len(columns) <= self.most_features)
            and all(columns[column] <= limit for column, limit in self.uses.items())
        )


def allowed_features(problem: Problem, lane: Lane) -> np.ndarray:
    """Which features may be tested at all."""
    shape = problem.shape
    uses = shape.use_limits(problem.people.features.schema)
    none = 0 in (shape.max_features_used, shape.max_features_per_test) or shape.max_leaves == 1
    return np.array([not none and uses.get(int(column), 1) > 0 for column in lane.columns], dtype=np.bool_)


def used_features(part: Part | Sketch) -> Counter[int]:
    """How many tests look at each feature."""
    if isinstance(part, Split):
        return Counter([part.box.feature]) + used_features(part.left) + used_features(part.right)
    if isinstance(part, Fork):
        return Counter([part.box.feature])
    if isinstance(part, tuple):
        return Counter([part[0].feature]) + used_features(part[1]) + used_features(part[2])
    return Counter()
