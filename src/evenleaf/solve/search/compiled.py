"""A problem as the kernels see it: people with equal features merged, features as ranks, labels as costs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness import Disparity
from evenleaf.problem import Misclassification, Problem
from evenleaf.solve.search.pairwise import in_pairs
from evenleaf.table import Table, distinct, equal_rows
from evenleaf.tree import SubsetTest, Test, ThresholdTest, threshold_above

_FEW_ROWS = 16  # so many are added up faster one by one than by a product of sparse matrices


@dataclass(frozen=True, eq=False)
class Feature:
    """One way to test a column: by a cut of its ranks, or by a subset of them.

    A column with missing values becomes two features, one that ranks the missing lowest and one that ranks them
    highest, so that a cut never needs to know about them. `values[rank]` is what the rank stands for (NaN or −1:
    missing); where `missing_lowest`, the missing share the lowest rank.
    """

    column: int
    unordered: bool
    categorical: bool
    values: np.ndarray
    missing_lowest: bool = False

    def test(self, left: np.ndarray) -> Test:
        """The test that sends exactly these ranks left (a prefix, where the feature is ordered)."""
        if self.categorical:
            codes = [int(self.values[rank]) for rank in np.flatnonzero(left)]
            return SubsetTest(self.column, tuple(sorted(code for code in codes if code >= 0)), -1 in codes)
        known = self.values[~np.isnan(self.values)]
        missing_left = self.missing_lowest or bool(left[np.isnan(self.values)].any())
        highest = self.values[left & ~np.isnan(self.values)].max()
        return ThresholdTest(self.column, threshold_above(known, float(highest)), missing_left)


@dataclass(frozen=True, eq=False)
class Compiled:
    """Arrays for the kernels. `offsets[f]` is where the cuts of feature f start in a list of all cuts.

    The last rows may be facets (`facets.py`): which row each belongs to, and what it costs whatever the labels are.
    """

    features: tuple[Feature, ...]
    ranks: np.ndarray
    sizes: np.ndarray
    unordered: np.ndarray
    offsets: np.ndarray
    kind: np.ndarray
    count: np.ndarray
    base: np.ndarray
    constant: float
    pointers: np.ndarray
    rows: np.ndarray
    entries: np.ndarray
    weight: np.ndarray
    owner: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    shift: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def n_rows(self) -> int:
        """How many rows the operator has itself."""
        return len(self.weight) - len(self.owner)

    @property
    def n_people(self) -> int:
        """How many different people."""
        return len(self.count)

    @property
    def n_features(self) -> int:
        """How many ways to test a column."""
        return len(self.features)

    @property
    def n_labels(self) -> int:
        """Classes but the first."""
        return int(self.base.shape[1])

    def influence(self) -> np.ndarray:
        """How much each person's label can move the objective: Σ_r w_r|a_ri| + |loss| (ALGORITHM §9.11)."""
        heaviest = self.weight.max(axis=1) if len(self.weight) else np.zeros(0)
        person = np.repeat(np.arange(self.n_people), np.diff(self.pointers))
        pull = np.bincount(person, weights=np.abs(self.entries) * heaviest[self.rows], minlength=self.n_people)
        return np.asarray(pull + np.abs(self.base).max(axis=1))

    def labels_to_loss(self, labels: np.ndarray) -> float:
        """The loss of labels for the merged people."""
        chosen = labels > 0
        return float(self.constant + self.base[chosen, labels[chosen] - 1].sum())


def compile_problem(problem: Problem, *, pairs: bool = True) -> Compiled:
    """Merge, rank and weigh; λ is multiplied into the weights, ε is not.

    With `pairs`, rows about one person are taken apart: better bounds, for more rows.
    """
    people = problem.people
    table = people.features
    allowed = [table.schema.names[column] for column in problem.shape.allowed(table.schema)]
    first, kind = equal_rows(table.select(allowed))
    costs = _merged_costs(problem, kind, len(first))
    factor = 1.0 if problem.max_discrimination is not None else problem.fairness_weight
    disparity = merged_disparity(factor * problem.simplified, kind, len(first))
    if pairs:
        disparity = in_pairs(disparity)
    by_person = sp.csr_array(disparity.matrix.T)
    by_person.sort_indices()
    features, ranks = find_features(problem, table, first)
    sizes = np.array([len(feature.values) for feature in features], dtype=np.int64)
    unordered = np.array([feature.unordered for feature in features], dtype=np.bool_)
    return Compiled(
        features=features,
        ranks=ranks,
        sizes=sizes,
        unordered=unordered,
        offsets=np.concatenate([[0], np.cumsum(np.where(unordered, 1, sizes - 1))]).astype(np.int64),
        kind=kind,
        count=np.bincount(kind, minlength=len(first)).astype(np.int64),
        base=np.ascontiguousarray(costs[:, 1:] - costs[:, :1]),
        constant=float(costs[:, 0].sum()),
        pointers=by_person.indptr.astype(np.int64),
        rows=by_person.indices.astype(np.int32),
        entries=by_person.data.astype(np.float64),
        weight=np.ascontiguousarray(disparity.weight),
    )


def _merged_costs(problem: Problem, kind: np.ndarray, n_kinds: int) -> np.ndarray:
    people = problem.people
    if not isinstance(problem.loss, Misclassification):
        raise TypeError("the search decides classes")
    costs = people.share[:, None] * problem.loss.table(people.outcome)
    return np.column_stack([np.bincount(kind, weights=column, minlength=n_kinds) for column in costs.T])


def merged_disparity(disparity: Disparity, kind: np.ndarray, n_kinds: int) -> Disparity:
    """The operator over merged people."""
    if disparity.n_rows <= _FEW_ROWS:
        rows = [np.bincount(kind, weights=row, minlength=n_kinds) for row in disparity.matrix.toarray()]
        return Disparity(sp.csr_array(np.array(rows).reshape(len(rows), n_kinds)), disparity.weight).simplified()
    merge = sp.csr_array((np.ones(len(kind)), (np.arange(len(kind)), kind)), shape=(len(kind), n_kinds))
    return Disparity(sp.csr_array(disparity.matrix @ merge), disparity.weight).simplified()


def find_features(problem: Problem, table: Table, first: np.ndarray) -> tuple[tuple[Feature, ...], np.ndarray]:
    """Every way to test an allowed column, and each merged person's rank in it."""
    found: list[tuple[Feature, np.ndarray]] = []
    for column in problem.shape.allowed(table.schema):
        values = table.data[column][first]
        categorical = table.schema[column].is_categorical
        found += _levels(column, values) if categorical else _numbers(column, values)
    ranks = np.array([rank for _, rank in found], dtype=np.int32).reshape(len(found), len(first))
    return tuple(feature for feature, _ in found), np.ascontiguousarray(ranks)


def _levels(column: int, values: np.ndarray) -> list[tuple[Feature, np.ndarray]]:
    """Levels ranked by how many people have them; with two levels, one cut says it all."""
    levels, rank = distinct(values)
    if len(levels) < 2:
        return []
    order = np.argsort(-np.bincount(rank), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return [(Feature(column, len(levels) > 2, True, levels[order]), place[rank])]


def _numbers(column: int, values: np.ndarray) -> list[tuple[Feature, np.ndarray]]:
    missing = np.isnan(values)
    if not missing.any():
        known, rank = distinct(values)
        return [(Feature(column, False, False, known), rank)] if len(known) > 1 else []
    known, rank = distinct(values[~missing])
    if not len(known):
        return []
    highest = np.full(len(values), len(known))
    highest[~missing] = rank
    found = [(Feature(column, False, False, np.append(known, np.nan)), highest)]
    if len(known) > 1:
        # With the missing lowest, the first cut would part missing from present once more: the missing join the
        # lowest value's rank instead, which leaves the cuts where they go left together with some number.
        lowest = np.zeros(len(values), dtype=rank.dtype)
        lowest[~missing] = rank
        found.append((Feature(column, False, False, known, missing_lowest=True), lowest))
    return found
