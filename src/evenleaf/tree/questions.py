"""The questions a tree asks. Each says who goes left, missing and unseen values included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.table import Table

NO_LEVEL = -1


@dataclass(frozen=True)
class ThresholdTest:
    """A quantitative test: left where the value is at most the threshold (q_ν of the paper)."""

    column: int
    threshold: float
    missing_left: bool = True

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the test looks at."""
        return (self.column,)

    def goes_left(self, table: Table, rows: np.ndarray | slice) -> np.ndarray:
        """Who of these rows goes left; a missing value is neither above the threshold nor at most it."""
        values = table.data[self.column][rows]
        return np.asarray(~(values > self.threshold) if self.missing_left else values <= self.threshold)


@dataclass(frozen=True)
class SubsetTest:
    """A categorical test: left where the level is in the subset (s_νjk of the paper)."""

    column: int
    left: tuple[int, ...]
    missing_left: bool = True

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the test looks at."""
        return (self.column,)

    def goes_left(self, table: Table, rows: np.ndarray | slice) -> np.ndarray:
        """Who of these rows goes left; the code −1 (missing or unseen) reads the last entry."""
        side = np.zeros(len(table.schema[self.column].levels) + 1, dtype=bool)
        side[list(self.left)] = True
        side[-1] = self.missing_left
        return side[table.data[self.column][rows]]


@dataclass(frozen=True)
class Term:
    """One summand of a linear rule: coefficient × value, or × 1[level] for a categorical column.

    A missing number is read as `fill`; a missing or unseen level is no level at all.
    """

    column: int
    coefficient: float
    level: int = NO_LEVEL
    fill: float = 0.0

    def values(self, table: Table, rows: np.ndarray | slice) -> np.ndarray:
        """The column as this term reads it, before the coefficient."""
        values = table.data[self.column][rows]
        if self.level != NO_LEVEL:
            return (values == self.level).astype(float)
        return np.where(np.isnan(values), self.fill, values)


def weighted_sum(terms: tuple[Term, ...], table: Table, rows: np.ndarray | slice) -> np.ndarray:
    """Σ coefficient × value over the terms."""
    total = np.zeros(table.n_rows)[rows] if isinstance(rows, slice) else np.zeros(len(rows))
    for term in terms:
        total += term.coefficient * term.values(table, rows)
    return total


@dataclass(frozen=True)
class LinearTest:
    """Linear branching: left where Σ_j p_νj x_j is at most the threshold (Example 3.2 of the paper)."""

    terms: tuple[Term, ...]
    threshold: float

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the test looks at, each once."""
        return tuple(sorted({term.column for term in self.terms}))

    def goes_left(self, table: Table, rows: np.ndarray | slice) -> np.ndarray:
        """Who of these rows goes left."""
        return weighted_sum(self.terms, table, rows) <= self.threshold


Test = ThresholdTest | SubsetTest | LinearTest
