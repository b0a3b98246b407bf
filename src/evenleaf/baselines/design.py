"""A table as a matrix for linear rules: numbers in units of their deviation, one indicator a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.table import Table


@dataclass(frozen=True, eq=False)
class Design:
    """How each column enters. A missing number is read as the training mean; no level is all zeros."""

    means: tuple[float, ...]
    scales: tuple[float, ...]

    @classmethod
    def of(cls, table: Table, weight: np.ndarray) -> Design:
        """Means and deviations of the people with a value; constant columns keep their unit."""
        facts = [
            (0.0, 1.0) if column.is_categorical else _mean_and_scale(values, weight)
            for column, values in zip(table.schema, table.data, strict=True)
        ]
        return cls(tuple(mean for mean, _ in facts), tuple(scale for _, scale in facts))

    def matrix(self, table: Table) -> np.ndarray:
        """One row a person."""
        columns = []
        for column, values, mean, scale in zip(table.schema, table.data, self.means, self.scales, strict=True):
            if column.is_categorical:
                columns += [(values == level).astype(float) for level in range(len(column.levels))]
            else:
                columns.append(np.where(np.isnan(values), 0.0, (values - mean) / scale))
        return np.column_stack(columns)


def _mean_and_scale(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    known = ~np.isnan(values) & (weight > 0)
    if not known.any():
        return 0.0, 1.0
    share = weight[known] / weight[known].sum()
    mean = float(share @ values[known])
    deviation = float(np.sqrt(share @ (values[known] - mean) ** 2))
    return mean, deviation if deviation > 1e-12 * max(1.0, abs(mean)) else 1.0
