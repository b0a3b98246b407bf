"""Tables of columns with two values each, as bits: nobody is merged, ranked or sorted, people are only counted.

People of one kind have the same outcome, the same weight and the same column of the operator, so that a label gives
them the same vector. A sum over people is then a count of each kind, a whole number, times the kind's vector: however
many people there are, its only rounding is that of as many terms as there are kinds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Misclassification, Problem
from evenleaf.solve.fronts.kernels import bits as kernels

_MOST_KINDS, _MOST_ROWS, _SAME = 64, 16, 1e-12


@dataclass(frozen=True, eq=False)
class Kinds:
    """How many people of each kind there are, and what one of them adds (kind × d + 2).

    That is what the second label adds to the loss and to the disparities, and 1 to the people. `weight` is that of one
    person; `offset` is the loss and the disparities of a tree that gives everybody the first label.
    """

    kind: np.ndarray
    heads: np.ndarray
    weight: np.ndarray
    vectors: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True, eq=False)
class Bits:
    """The columns with two values, the lower and the upper one, and which of them has its bit set.

    `counts` are the people of each kind with both of two bits (kind × feature × feature).
    """

    kinds: Kinds
    features: list[int]
    ends: list[tuple[float, float]]
    upper_is_set: list[bool]
    counts: np.ndarray

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Vectors and people over all with both bits (quantity × feature × feature), and over everybody."""
        n_kinds, n_features = self.counts.shape[:2]
        pairs = self.kinds.vectors.T @ self.counts.reshape(n_kinds, -1).astype(np.float64)
        return pairs.reshape(len(pairs), n_features, n_features), self.kinds.heads @ self.kinds.vectors


def find_bits(problem: Problem) -> Bits | None:
    """The table as bits, None where a column has more than two values, or people are of too many kinds."""
    kinds = _find_kinds(problem)
    if kinds is None:
        return None
    table = problem.people.features
    allowed = problem.shape.allowed(table.schema)
    order, words = kernels.laid_out(kinds.kind, kinds.heads)
    bits = np.empty((len(allowed), int(words[-1])), dtype=np.uint64)
    features: list[int] = []
    ends: list[tuple[float, float]] = []
    upper_is_set: list[bool] = []
    marks, gathered = np.zeros(table.n_rows + 1, dtype=np.uint8), 0
    for column in allowed:
        categorical = table.schema[column].is_categorical
        found = _two_values(table.data[column], categorical, len(features) - gathered, marks)
        if found is None:
            return None
        plain, marked = found
        if plain == marked:
            continue
        features.append(column)
        ends.append((plain, marked) if plain < marked else (marked, plain))
        upper_is_set.append(plain < marked)
        if len(features) == gathered + kernels.TOGETHER:
            kernels.gather(marks, order, bits[gathered : len(features)].view(np.uint8))
            gathered = len(features)
    bits = bits[: len(features)]
    kernels.gather(marks, order, bits[gathered:].view(np.uint8))
    return Bits(kinds, features, ends, upper_is_set, kernels.pair_counts(bits, words))


def _two_values(values: np.ndarray, categorical: bool, place: int, marks: np.ndarray) -> tuple[float, float] | None:
    """The first person's value of a column and the other one, whose people are marked; zeros where there is none.

    Numbers are told apart by their bits; −0.0, and missing values, are left to whoever ranks them.
    """
    found, example = kernels.mark(values if categorical else values.view(np.int64), place, marks)
    if found == kernels.CONSTANT:
        return 0.0, 0.0
    plain, marked = values.item(0), values.item(example)
    two = found == kernels.BINARY and (plain < marked or marked < plain)
    return None if not two or (categorical and min(plain, marked) < 0) else (plain, marked)


def _find_kinds(problem: Problem) -> Kinds | None:
    people, disparity = problem.people, problem.disparity
    if not isinstance(problem.loss, Misclassification) or people.outcome.n_classes != 2:
        return None
    if disparity.n_rows > _MOST_ROWS or not people.n_people:
        return None
    columns = disparity.matrix.toarray()
    uneven = people.weight.min() < people.weight.max()
    told_apart = np.vstack([columns, people.weight]) if uneven else columns
    kind, example, heads = kernels.number_kinds(people.outcome.values, told_apart.view(np.int64), _MOST_KINDS)
    if not len(example):
        return None
    rows = _folded(columns[:, example], disparity.weight, heads)
    if rows is None:
        return None
    factor = 1.0 if problem.max_discrimination is not None else problem.fairness_weight
    weight = people.weight[example]
    costs = problem.loss.matrix(2)[people.outcome.values[example]] * (weight / people.weight.sum())[:, None]
    vectors = np.column_stack([costs[:, 1] - costs[:, 0], factor * rows.T, np.ones(len(heads))])
    offset = np.zeros(len(rows) + 1)
    offset[0] = heads @ costs[:, 0]
    return Kinds(kind, heads, weight, vectors, offset)


def _folded(columns: np.ndarray, weight: np.ndarray, heads: np.ndarray) -> np.ndarray | None:
    """The rows over kinds, their weights multiplied in and proportional ones made one; None where one is unbalanced.

    A row that compares averages sums to zero, so that of two classes both have the same difference but for its sign.
    """
    rows, people = (columns * weight.sum(axis=1)[:, None]).tolist(), heads.tolist()
    kept: list[list[float]] = []
    for row in rows:  # kinds are few, and numbers in lists are then faster than arrays
        terms = [entry * count for entry, count in zip(row, people, strict=True)]
        if abs(sum(terms)) > 1e-9 * sum(map(abs, terms)):
            return None
        _fold(row, kept)
    return np.array(kept).reshape(len(kept), len(people))


def _fold(row: list[float], kept: list[list[float]]) -> None:
    """Add a row to those that are kept: to one that it is proportional to, or as one more."""
    sizes = list(map(abs, row))
    for place, other in enumerate(kept):
        largest = list(map(abs, other))
        lead = largest.index(max(largest))
        ratio = row[lead] / other[lead]
        if all(abs(one - ratio * two) <= _SAME * max(sizes) for one, two in zip(row, other, strict=True)):
            kept[place] = [entry * (1 + abs(ratio)) for entry in other]
            return
    if max(sizes) > 0:
        kept.append(row)
