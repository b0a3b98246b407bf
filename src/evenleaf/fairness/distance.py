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
_DECIMALS = 9


@dataclass(frozen=True, eq=False)
class MixedSpace:
    """The people of a table as points; distances are recomputed from the raw columns, never stored."""

    table: Table

    @cached_property
    def _numbers(self) -> np.ndarray:
        """Raw quantitative columns (differences of whole numbers stay exact), the missing at the mean."""
        columns = []
        for position, column in enumerate(self.table.schema):
            if not column.is_categorical:
                gone = self.table.missing(position)
                values = self.table.data[position]
                mean = values[~gone].mean() if not gone.all() else 0.0
                columns.append(np.where(gone, mean, values))
        return np.column_stack(columns) if columns else np.zeros((self.table.n_rows, 0))

    @cached_property
    def _scale(self) -> np.ndarray:
        deviation = self._numbers.std(axis=0)
        return np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def _labels(self) -> np.ndarray:
        """Level codes of the categorical columns, and who is missing in each quantitative one."""
        columns = [
            self.table.data[position] if column.is_categorical else self.table.missing(position)
            for position, column in enumerate(self.table.schema)
            if column.is_categorical or self.table.missing(position).any()
        ]
        return (
            np.column_stack(columns).astype(np.int32)
            if columns
            else np.zeros((self.table.n_rows, 0), np.int32)
        )

    def squared(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Squared distances between people, for index arrays that broadcast against each other."""
        total = np.zeros(np.broadcast_shapes(rows.shape, others.shape))
        for values, scale in zip(self._numbers.T, self._scale, strict=True):
            step = (values[rows] - values[others]) / scale
            total += step * step
        for labels in self._labels.T:
            total += labels[rows] != labels[others]
        return np.round(total, _DECIMALS)

    def points(self) -> np.ndarray:
        """Coordinates whose Euclidean distance is this distance: scaled numbers, levels one-hot at 1/√2."""
        numbers = (self._numbers - self._numbers.mean(axis=0)) / self._scale
        return np.column_stack([numbers, *(_one_hot(labels) / np.sqrt(2.0) for labels in self._labels.T)])


def _one_hot(labels: np.ndarray) -> np.ndarray:
    levels, codes = np.unique(labels, return_inverse=True)
    return np.eye(len(levels))[codes]
