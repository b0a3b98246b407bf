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
from evenleaf.solve.fronts.kernels.kinds import find_kinds

_MOST_KINDS, _MOST_ROWS = 64, 16


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
    matrix, costs = disparity.matrix, problem.loss.matrix(2)
    factor = 1.0 if problem.max_discrimination is not None else float(problem.fairness_weight)
    kinds = Kinds(
        *find_kinds(
            people.outcome.values,
            people.weight,
            people.weight.sum(),
            matrix.indptr,
            matrix.indices,
            matrix.data,
            disparity.weight,
            costs,
            factor,
            _MOST_KINDS,
        )
    )
    return kinds if len(kinds.heads) else None
