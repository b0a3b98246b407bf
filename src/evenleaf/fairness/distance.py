"""How far apart two people are on columns of both kinds (DESIGN: "distance on mixed columns").

Quantitative columns are scaled to unit standard deviation; two different levels of a categorical column are 1
apart. A missing number counts as the column's mean plus one more unit against everybody who has a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.table import Table

# Squared distances are compared after rounding, so that people who are equally far tie in spite of the
# last bits of floating-point sums; ties then fall to the row order.
TIES = 9
# A kernel needs the distance itself; only what a sum may be off by is rounded away, so that people who are
# exactly as far as a kernel reaches are inside it.
EXACT = 12


@dataclass(frozen=True, eq=False)
class MixedSpace:
    """The people of a table as points; distances are recomputed from the raw columns, never stored.

    Sample weights count in the mean and the standard deviation, so that a person of weight 2 and two
    equal people make the same space.
    """

    table: Table
    weight: np.ndarray | None = None

    @cached_property
    def _numbers(self) -> np.ndarray:
        """Quantitative columns in a handy unit (differences of whole numbers stay exact), the missing at the mean."""
        columns = []
        for position, column in enumerate(self.table.schema):
            if not column.is_categorical:
                gone = self.table.missing(position)
                values = np.zeros(self.table.n_rows)
                values[~gone] = _handy(self.table.data[position][~gone])
                values[gone] = self._mean(values, ~gone)
                columns.append(values)
        stacked = np.column_stack(columns) if columns else np.zeros((self.table.n_rows, 0))
        return np.asfortranarray(stacked)  # columns are read one at a time

    @cached_property
    def _scale(self) -> np.ndarray:
        """The weighted deviation; where only people without weight differ, the plain one; else 1."""
        everybody = np.ones(self.table.n_rows, dtype=bool)
        centred = [values - self._mean(values, everybody) for values in self._numbers.T]
        weighted = np.sqrt([self._mean(values * values, everybody) for values in centred])
        deviation = np.where(weighted > 0, weighted, self._numbers.std(axis=0))
        return np.where(deviation > 0, deviation, 1.0)

    def _mean(self, values: np.ndarray, among: np.ndarray) -> float:
        """The weighted mean of some people, the plain one where none of them has weight."""
        if not among.any():
            return 0.0
        weight = np.ones(len(values)) if self.weight is None else self.weight
        weight = weight[among] if weight[among].sum() > 0 else np.ones(among.sum())
        return float(weight @ values[among] / weight.sum())

    @cached_property
    def labels(self) -> np.ndarray:
        """Level codes of the categorical columns, and who is missing in each quantitative one."""
        columns = [
            self.table.data[position] if column.is_categorical else self.table.missing(position)
            for position, column in enumerate(self.table.schema)
            if column.is_categorical or self.table.missing(position).any()
        ]
        return np.column_stack(columns).astype(np.int32) if columns else np.zeros((self.table.n_rows, 0), np.int32)

    @property
    def n_dimensions(self) -> int:
        """How many coordinates `points` has."""
        return self._numbers.shape[1] + sum(len(np.unique(labels)) for labels in self.labels.T)

    def squared(self, rows: np.ndarray, others: np.ndarray, decimals: int = TIES) -> np.ndarray:
        """Squared distances between people, for index arrays that broadcast against each other."""
        total = self.squared_steps(rows, others)
        for labels in self.labels.T:
            total += labels[rows] != labels[others]
        return np.round(total, decimals)

    def squared_steps(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The part of it that the quantitative columns make, not rounded yet."""
        total = np.zeros(np.broadcast_shapes(rows.shape, others.shape))
        for values, scale in zip(self._numbers.T, self._scale, strict=True):
            step = values[rows] - values[others]
            step /= scale
            step *= step
            total += step
        return total

    def points(self) -> np.ndarray:
        """Coordinates whose Euclidean distance is this distance: scaled numbers, levels one-hot at 1/√2."""
        numbers = self._numbers / self._scale
        numbers = numbers - (numbers.mean(axis=0) if len(numbers) else 0.0)
        return np.column_stack([numbers, *(_one_hot(labels) / np.sqrt(2.0) for labels in self.labels.T)])


def _handy(values: np.ndarray) -> np.ndarray:
    """The column counted from its least value, in units of a power of two near its range.

    That changes no scaled distance, makes a constant column exactly zero, and keeps the squares of very large
    and very small numbers within what a float can hold.
    """
    counted = _near_one(values)
    return _near_one(counted - counted.min(initial=np.inf))


def _near_one(values: np.ndarray) -> np.ndarray:
    return np.ldexp(values, -int(np.frexp(np.abs(values).max(initial=0.0))[1]))


def _one_hot(labels: np.ndarray) -> np.ndarray:
    levels, codes = np.unique(labels, return_inverse=True)
    return np.eye(len(levels))[codes]
