"""Neighbours where most columns are categorical: people who differ in more columns than they are apart are skipped.

A cell holds the kinds of people who agree on every categorical column. Two people are at least as far apart,
squared, as the number of categorical columns in which they differ, so the cells around a person are looked at
in that order and only until the k nearest cannot be beaten any more. That is exact, and on tables like Adult
looks at a twentieth of the pairs.
"""

from __future__ import annotations

import numpy as np

from evenleaf.fairness.distance import TIES, MixedSpace

Triples = tuple[np.ndarray, np.ndarray, np.ndarray]
_MOST_PAIRS = 2_000_000  # looked at together, about 16 MiB a table
_SAMPLED_CELLS = 64
_WORTHWHILE = 0.1  # the part of all kinds that may be within one difference for the search to pay


class CellSearch:
    """Candidates for the nearest neighbours, cell by cell. `pool` are the kinds among whom they are sought."""

    def __init__(self, space: MixedSpace, first: np.ndarray, pool: np.ndarray) -> None:
        self._space, self._first = space, first
        cells, self.cell = np.unique(space.labels[first], axis=0, return_inverse=True)
        self.cell = self.cell.ravel()
        self._columns = [np.ascontiguousarray(column) for column in _small(cells).T]
        self._pool = pool[np.argsort(self.cell[pool], kind="stable")]
        self._sizes = np.bincount(self.cell[pool], minlength=len(cells))
        self._starts = np.cumsum(self._sizes) - self._sizes

    @property
    def worthwhile(self) -> bool:
        """Whether cells are small enough for skipping to pay, judged by some of them."""
        n_cells = len(self._sizes)
        if n_cells > len(self.cell) / 2:
            return False
        some = np.unique(np.linspace(0, n_cells - 1, _SAMPLED_CELLS).astype(np.intp))
        near = [self._sizes[self._differences(cell) <= 1].sum() for cell in some]
        return bool(np.average(near, weights=self._sizes[some] + 1) <= _WORTHWHILE * len(self._pool))

    def candidates(self, kinds: np.ndarray, k: int) -> Triples:
        """(position in `kinds`, pool kind, squared distance): for each all kinds up to at least the k-th person."""
        by_cell = np.argsort(self.cell[kinds], kind="stable")
        cells, starts = np.unique(self.cell[kinds][by_cell], return_index=True)
        parts: list[Triples] = []
        for cell, members in zip(cells, np.split(by_cell, starts[1:]), strict=True):
            parts += self._around(cell, members, kinds, k)
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def _around(self, cell: int, members: np.ndarray, kinds: np.ndarray, k: int) -> list[Triples]:
        """What the members of one cell find, widening the search one more difference at a time."""
        differences = self._differences(cell)
        by_level = np.bincount(differences, weights=self._sizes)
        level = int(np.searchsorted(np.cumsum(by_level), min(k, len(self._pool))))
        best = np.full((len(members), k), np.inf)
        found, waiting = [], np.arange(len(members))
        cells = np.flatnonzero(differences <= level)
        while True:
            apart = np.repeat(differences[cells], self._sizes[cells])
            found += self._look(kinds, members, waiting, self._kinds_of(cells), apart, best)
            level += 1
            waiting = np.flatnonzero(best.max(axis=1) >= level)
            if level >= len(by_level) or not len(waiting):
                return found
            cells = np.flatnonzero(differences == level)

    def _look(
        self,
        kinds: np.ndarray,
        members: np.ndarray,
        waiting: np.ndarray,
        near: np.ndarray,
        apart: np.ndarray,
        best: np.ndarray,
    ) -> list[Triples]:
        """Compare those who still wait with more kinds, and keep the k smallest distances of each in `best`."""
        if not len(near):
            return []
        k, step = best.shape[1], max(1, _MOST_PAIRS // len(near))
        found = []
        for start in range(0, len(waiting), step):
            some = waiting[start : start + step]
            rows = self._first[kinds[members[some]]]
            squared = self._space.squared_steps(rows[:, None], self._first[near][None, :])
            squared += apart
            squared = np.round(squared, TIES, out=squared)
            together = np.concatenate([best[some], squared], axis=1)
            together.partition(k - 1, axis=1)
            best[some] = together[:, :k]
            who, what = np.nonzero(squared <= together[:, k - 1, None])
            found.append((members[some][who], near[what], squared[who, what]))
        return found

    def _differences(self, cell: int) -> np.ndarray:
        """In how many columns each cell differs from this one."""
        total = np.zeros(len(self._sizes), dtype=np.int16)
        for column in self._columns:
            total += column != column[cell]
        return total

    def _kinds_of(self, cells: np.ndarray) -> np.ndarray:
        """The pool kinds of some cells."""
        lengths = self._sizes[cells]
        offset = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.asarray(self._pool[np.repeat(self._starts[cells], lengths) + offset])


def _small(codes: np.ndarray) -> np.ndarray:
    """Codes in the fewest bytes, because they are compared a great many times."""
    codes = codes - codes.min(initial=0)
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
