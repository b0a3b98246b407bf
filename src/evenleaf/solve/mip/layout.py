"""The complete binary tree of the paper: branching nodes V in heap order, leaves L from left to right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.mip.instance import Instance


@dataclass(frozen=True)
class Layout:
    """Positions 0 … |V|−1 are tests, the next |L| = |V| + 1 are leaves; the children of v are 2v+1 and 2v+2."""

    depth: int

    @property
    def n_nodes(self) -> int:
        """|V|, how many tests."""
        return 2**self.depth - 1

    @property
    def n_leaves(self) -> int:
        """|L|, how many leaves."""
        return 2**self.depth

    def is_leaf(self, position: int) -> bool:
        """Whether the position is a leaf."""
        return position >= self.n_nodes

    def is_bottom(self, position: int) -> bool:
        """Whether the children of this test are leaves."""
        return not self.is_leaf(position) and self.is_leaf(2 * position + 1)

    def leaves_below(self, position: int) -> np.ndarray:
        """The numbers of the leaves below a position, from left to right."""
        first = last = position
        while not self.is_leaf(first):
            first, last = 2 * first + 1, 2 * last + 2
        return np.arange(first, last + 1) - self.n_nodes

    def left_leaves(self, node: int) -> np.ndarray:
        """L^l(ν) of the paper."""
        return self.leaves_below(2 * node + 1)

    def right_leaves(self, node: int) -> np.ndarray:
        """L^r(ν) of the paper."""
        return self.leaves_below(2 * node + 2)


def layout_for(instance: Instance, n_questions: int) -> Layout:
    """The depth K, or less where nothing could use it; none at all where there is nothing to ask.

    Each test on a path parts the people who reach it, so a path of d tests leaves d + 1 leaves with somebody in
    each, and uses up d of the allowed uses.
    """
    shape = instance.problem.shape
    depth = min(shape.max_depth, instance.n_units - 1, _most_tests(shape, instance))
    return Layout(depth if n_questions else 0)


def _most_tests(shape: Shape, instance: Instance) -> int:
    """How many tests the limits leave room for (a large number where they do not say)."""
    most = [shape.max_depth]
    if shape.max_leaves is not None:
        most.append(shape.max_leaves - 1)
    if 0 in (shape.max_features_used, shape.max_features_per_test):
        most.append(0)
    limits = shape.use_limits(instance.problem.people.features.schema)
    columns = [feature.column for feature in instance.features]
    if all(column in limits for column in columns):
        most.append(sum(limits[column] for column in columns))
    return min(most)
