"""A problem as the mixed-integer program sees it: kinds of people, ranks, and objective terms of order one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness import Disparity
from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem
from evenleaf.table import equal_rows

# Solvers drop or refuse coefficients this small beside others of order one.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Feature:
    """One column that a test may look at: the levels that somebody has, in order, the missing as one more.

    A single-feature test depends only on which levels go left, and a threshold only on the order of the values:
    `codes` are ranks in both cases.
    """

    column: int
    categorical: bool
    values: np.ndarray  # the known values (or level codes) in ascending order
    codes: np.ndarray  # the level of each kind of person, len(values) where missing
    has_missing: bool

    @property
    def n_known(self) -> int:
        """How many different known values."""
        return len(self.values)

    @property
    def n_levels(self) -> int:
        """How many levels, the missing counted."""
        return self.n_known + self.has_missing


@dataclass(frozen=True, eq=False)
class Errors:
    """The absolute errors of a regression: Σ share·|value − ŷ_unit|, one entry a kind of person and label."""

    unit: np.ndarray
    value: np.ndarray
    share: np.ndarray


@dataclass(frozen=True, eq=False)
class Instance:
    """The numbers of the model. Labels are scaled to [0, 1], the objective is divided by `scale`.

    `kind` is the unit (kind of person, or person where nothing is merged) of each person, `first` a person of
    each unit, `count` how many there are. The disparity is Σ weight·|rows·ψ + constant| over the units.
    """

    problem: Problem
    features: tuple[Feature, ...]
    kind: np.ndarray
    first: np.ndarray
    count: np.ndarray
    scale: float
    costs: np.ndarray | None
    errors: Errors | None
    disparity: Disparity
    constant: np.ndarray
    price: float
    limit: float | None

    @property
    def n_units(self) -> int:
        """How many kinds of people."""
        return len(self.first)

    @property
    def n_outputs(self) -> int:
        """Columns of ψ: the classes, or one for a number."""
        return self.problem.people.outcome.n_classes

    @property
    def is_regression(self) -> bool:
        """Whether leaves decide numbers."""
        return self.costs is None

    @property
    def top(self) -> float:
        """The largest entry of ψ: 1, unless all labels are the same number."""
        return 1.0 if self.costs is not None else float(self.scaled(self.problem.target.high))

    def scaled(self, value: float | np.ndarray) -> np.ndarray:
        """A label on the model's scale."""
        return (np.asarray(value) - self.problem.target.low) / self.scale

    def unscaled(self, value: float) -> float:
        """A number of the model as a label, within the label range."""
        target = self.problem.target
        return float(min(max(value * self.scale + target.low, target.low), target.high))


def gather(problem: Problem, *, merge: bool) -> Instance:
    """Read a problem; with `merge`, people who agree on every usable feature become one unit."""
    table, people = problem.people.features, problem.people
    columns = [column for column in problem.shape.allowed(table.schema) if _varies(problem, column)]
    if merge:
        first, kind = equal_rows(table.select([table.schema.names[column] for column in columns]))
    else:
        first = kind = np.arange(people.n_people)
    features = tuple(_feature(problem, column, first) for column in columns)
    count = np.bincount(kind, minlength=len(first))
    scale = _scale(problem)
    costs = _costs(problem, kind, len(first), scale) if people.outcome.classes is not None else None
    errors = _errors(problem, kind, scale) if people.outcome.classes is None else None
    members = sp.csr_array((np.ones(len(kind)), (np.arange(len(kind)), kind)), shape=(len(kind), len(first)))
    disparity = _disparity(problem, members)
    # Regression's disparity is divided by the scale through ψ; with classes ψ has no scale, so the weight has.
    price = problem.fairness_weight / (1.0 if costs is None else scale)
    limit = problem.max_discrimination
    if limit is not None:
        limit = (limit + FEASIBILITY_TOLERANCE / 2) / (scale if costs is None else 1.0)
    constant = _constant(problem, disparity, scale)
    return Instance(problem, features, kind, first, count, scale, costs, errors, disparity, constant, price, limit)


def _varies(problem: Problem, column: int) -> bool:
    values, missing = problem.people.features.data[column], problem.people.features.missing(column)
    return len(np.unique(values[~missing])) + bool(missing.any()) > 1


def _feature(problem: Problem, column: int, first: np.ndarray) -> Feature:
    table = problem.people.features
    values, missing = table.data[column], table.missing(column)
    known = np.unique(values[~missing])
    codes = np.where(missing[first], len(known), np.searchsorted(known, values[first]))
    return Feature(column, table.schema[column].is_categorical, known, codes, bool(missing.any()))


def _scale(problem: Problem) -> float:
    """The largest loss one person can cause: the label range, or the dearest mistake."""
    if isinstance(problem.loss, Misclassification):
        largest = float(problem.loss.matrix(problem.people.outcome.n_classes).max())
    else:
        largest = problem.target.high - problem.target.low
    return largest if largest > 0 else 1.0


def _costs(problem: Problem, kind: np.ndarray, n_units: int, scale: float) -> np.ndarray:
    if not isinstance(problem.loss, Misclassification):
        raise TypeError("classes are decided by misclassification")
    people = problem.people
    costs = np.zeros((n_units, people.outcome.n_classes))
    np.add.at(costs, kind, people.share[:, None] * problem.loss.table(people.outcome) / scale)
    return costs


def _errors(problem: Problem, kind: np.ndarray, scale: float) -> Errors:
    people = problem.people
    pairs, where = np.unique(np.column_stack([kind, people.outcome.values]), axis=0, return_inverse=True)
    share = np.bincount(where.ravel(), weights=people.share, minlength=len(pairs))
    return Errors(pairs[:, 0].astype(int), (pairs[:, 1] - problem.target.low) / scale, share)


def _disparity(problem: Problem, members: sp.csr_array) -> Disparity:
    """The rows over units, the largest entry of each being 1: people's columns add up, proportional rows become one."""
    rows = problem.simplified
    if problem.fairness_weight == 0 and problem.max_discrimination is None:
        return Disparity.none(members.shape[1], rows.n_classes)
    merged = Disparity(sp.csr_array(rows.matrix @ members), rows.weight).simplified()
    size = abs(merged.matrix).max(axis=1).toarray().ravel() if merged.n_rows else np.ones(0)
    matrix = sp.csr_array(sp.diags_array(1.0 / size) @ merged.matrix)
    matrix.data[np.abs(matrix.data) < NEGLIGIBLE] = 0.0
    matrix.eliminate_zeros()
    return Disparity(matrix, merged.weight * size[:, None])


def _constant(problem: Problem, disparity: Disparity, scale: float) -> np.ndarray:
    """What the rows say of the lowest label; zero for every notion, whose rows compare two averages."""
    if problem.people.outcome.classes is not None:
        return np.zeros(disparity.n_rows)
    total, size = disparity.matrix.sum(axis=1), abs(disparity.matrix).sum(axis=1)
    total = np.where(np.abs(total) <= 1e-12 * size * max(1, disparity.n_people), 0.0, total)
    return np.asarray(total) * problem.target.low / scale
