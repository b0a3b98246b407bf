"""What a test may look at, given the limits of the shape and the other tests of the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.local.sketch import Fork, Path, Sketch, at, leaves_of, paths


@dataclass(frozen=True)
class Allowance:
    """The features that one test may use: `known` are tested elsewhere, of the others at most `new`, of all `most`."""

    usable: frozenset[int]
    known: frozenset[int]
    most: int
    new: int

    def permits(self, features: Iterable[int]) -> bool:
        """Whether a test may look at exactly these."""
        wanted = set(features)
        return wanted <= self.usable and len(wanted) <= self.most and len(wanted - self.known) <= self.new

    def single(self) -> list[int]:
        """The features that a test may look at alone."""
        return [feature for feature in sorted(self.usable) if self.permits({feature})]

    def choose(self, ranked: Iterable[int], size: int) -> list[int]:
        """The first `size` features of a ranking that may be tested together."""
        chosen: list[int] = []
        for feature in ranked:
            if len(chosen) < size and self.permits([*chosen, feature]):
                chosen.append(feature)
        return chosen


def allowance(problem: Problem, sketch: Sketch, path: Path) -> Allowance:
    """The allowance of the test at a path (there may be none yet) beside all other tests."""
    shape, schema = problem.shape, problem.people.features.schema
    forks = [part for other in paths(sketch) if other != path and isinstance(part := at(sketch, other), Fork)]
    uses = Counter(column for fork in forks for column in fork.test.columns)
    limits = shape.use_limits(schema)
    usable = frozenset(c for c in shape.allowed(schema) if uses[c] < limits.get(c, np.inf))
    per_test = len(schema) if shape.max_features_per_test is None else shape.max_features_per_test
    in_all = len(schema) if shape.max_features_used is None else shape.max_features_used
    most = per_test if shape.branching == "linear" else min(1, per_test)
    return Allowance(usable, frozenset(uses), most, max(0, in_all - len(uses)))


def may_grow(problem: Problem, sketch: Sketch, path: Path) -> bool:
    """Whether the leaf at a path may become a test."""
    shape = problem.shape
    return len(path) < shape.max_depth and (shape.max_leaves is None or len(leaves_of(sketch)) < shape.max_leaves)
