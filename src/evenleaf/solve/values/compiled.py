"""A regression problem as the kernels see it: people with equal features and outcome merged, everything ranked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import Problem
from evenleaf.solve.search.compiled import Feature, find_features, merged_disparity
from evenleaf.table import equal_rows

# A categorical feature with more levels has too many subsets to keep a mark for each, and to price each.
MOST_LEVELS = 16


@dataclass(frozen=True, eq=False)
class Compiled:
    """Arrays for the kernels. Outcomes are scaled to [0, 1]: what was `low` is 0, and `spread` is the unit.

    The tests of feature f are numbered from `offsets[f]`: the cut after rank t, or the subset whose number plus one
    has a bit for each rank but the first that goes right.
    """

    features: tuple[Feature, ...]
    ranks: np.ndarray
    order: np.ndarray  # the people in the order of each feature
    sizes: np.ndarray
    unordered: np.ndarray
    offsets: np.ndarray
    test_feature: np.ndarray
    kind: np.ndarray  # the merged person of everybody
    count: np.ndarray
    level: np.ndarray
    levels: np.ndarray
    share: np.ndarray
    pointers: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    weight: np.ndarray
    reach: np.ndarray  # the lowest and the highest rank of each row's people, by feature
    low: float
    spread: float

    @property
    def n_people(self) -> int:
        """How many different people."""
        return len(self.count)

    @property
    def n_features(self) -> int:
        """How many ways to test a column."""
        return len(self.features)

    @property
    def n_tests(self) -> int:
        """How many tests there are in all."""
        return int(self.offsets[-1])

    @cached_property
    def orders(self) -> np.ndarray:
        """The people in the order of each feature, and in the last row in that of the outcome."""
        return np.vstack([self.order, np.argsort(self.level, kind="stable")]).astype(np.int32)

    @cached_property
    def owner(self) -> np.ndarray:
        """The feature of each test; the last entry, for no test, has a number of its own."""
        return np.append(self.test_feature, self.n_features)

    def left_ranks(self, test: int) -> tuple[int, np.ndarray]:
        """The feature of a test, and which of its ranks go left."""
        feature = int(self.test_feature[test])
        local, rank = test - int(self.offsets[feature]), np.arange(int(self.sizes[feature]))
        if not self.unordered[feature]:
            return feature, rank <= local
        return feature, (rank == 0) | ((local + 1) >> np.maximum(rank - 1, 0) & 1 == 0)


def compile_values(problem: Problem) -> Compiled:
    """Merge, rank and weigh; λ is multiplied into the weights, ε is not."""
    people, target = problem.people, problem.target
    table = people.features
    allowed = [table.schema.names[column] for column in problem.shape.allowed(table.schema)]
    _, alike = equal_rows(table.select(allowed))
    levels, level = np.unique(people.outcome.values, return_inverse=True)
    _, first, kind = np.unique(np.column_stack([alike, level.ravel()]), axis=0, return_index=True, return_inverse=True)
    kind = kind.ravel()
    factor = 1.0 if problem.max_discrimination is not None else problem.fairness_weight
    disparity = merged_disparity(factor * problem.simplified, kind, len(first))
    by_person = sp.csr_array(disparity.matrix.T)
    by_person.sort_indices()
    features, ranks = find_features(problem, table, first)
    sizes = np.array([len(feature.values) for feature in features], dtype=np.int64)
    unordered = np.array([feature.unordered for feature in features], dtype=np.bool_)
    n_tests = np.array(
        [2 ** (s - 1) - 1 if u else s - 1 for s, u in zip(sizes, unordered, strict=True)], dtype=np.int64
    )
    spread = target.high - target.low
    return Compiled(
        features=features,
        ranks=ranks,
        order=np.ascontiguousarray(np.argsort(ranks, axis=1, kind="stable").astype(np.int32)),
        sizes=sizes,
        unordered=unordered,
        offsets=np.concatenate([[0], np.cumsum(n_tests)]).astype(np.int64),
        test_feature=np.repeat(np.arange(len(features)), n_tests),
        kind=kind,
        count=np.bincount(kind, minlength=len(first)).astype(np.int64),
        level=level.ravel()[first].astype(np.int64),
        levels=(levels - target.low) / (spread or 1.0),
        share=np.bincount(kind, weights=people.share, minlength=len(first)),
        pointers=by_person.indptr.astype(np.int64),
        rows=by_person.indices.astype(np.int32),
        entries=by_person.data.astype(np.float64),
        weight=np.ascontiguousarray(disparity.weight),
        reach=_reach(disparity.matrix, ranks),
        low=target.low,
        spread=spread,
    )


def _reach(matrix: sp.csr_array, ranks: np.ndarray) -> np.ndarray:
    """The lowest and the highest rank of each row's people, by feature; a row without people reaches nowhere."""
    lowest = np.full((len(ranks), matrix.shape[0]), np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full_like(lowest, -1)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    for feature, rank in enumerate(ranks):
        np.minimum.at(lowest[feature], row, rank[matrix.indices])
        np.maximum.at(highest[feature], row, rank[matrix.indices])
    return np.array([lowest, highest])
