"""Facets of rows of the disparity, as a proof over labels lists them: slopes as whole numbers over a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

FACET_GRID = 1 << 20
MOST_PEOPLE = 12  # of a row that has facets: all their labellings are looked at


@dataclass(frozen=True, eq=False)
class Facets:
    """Linear functions below rows, in the order in which they were found.

    Each is Σ g_i z_i + h for the labels z of the row's people: of all constants that stay below, h is the greatest, so
    that it need not be told.
    """

    row: np.ndarray
    slope: np.ndarray  # over FACET_GRID, of the row's people in their order; then zeros

    def __len__(self) -> int:
        """How many there are."""
        return len(self.row)

    def and_new(self, other: Facets) -> Facets:
        """These, and those of others that are not among them."""
        known = set(self._keys())
        new = np.array([key not in known for key in other._keys()], dtype=np.bool_)
        return Facets(np.concatenate([self.row, other.row[new]]), np.concatenate([self.slope, other.slope[new]]))

    def _keys(self) -> list[tuple[int, bytes]]:
        return [(int(row), slope.tobytes()) for row, slope in zip(self.row, self.slope, strict=True)]

    def write(self) -> list[list[int]]:
        """A list for each: its row, then the slopes."""
        return np.column_stack([self.row, self.slope]).astype(int).tolist()

    @classmethod
    def read(cls, words: list[Any]) -> Facets:
        """The facets from their lists."""
        table = np.array(words, dtype=np.int64).reshape(-1, MOST_PEOPLE + 1)
        return cls(table[:, 0], table[:, 1:])


NO_FACETS = Facets(np.zeros(0, dtype=np.int64), np.zeros((0, MOST_PEOPLE), dtype=np.int64))
