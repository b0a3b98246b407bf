"""The ranks of all features side by side in one long line.

One histogram then holds every feature, and a running sum along it every cut.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from evenleaf.solve.certify.fronts.asked import Asked


class Line:
    """The ranks that some people have, feature after feature, without gaps."""

    def __init__(self, asked: Asked, members: np.ndarray) -> None:
        self.asked, self.members = asked, members
        compiled, self.features = asked.compiled, asked.features
        starts = np.concatenate([[0], np.cumsum(compiled.sizes[self.features])]).astype(np.int64)
        place = compiled.ranks[self.features][:, members] + starts[:-1, None]
        present = np.bincount(place.ravel(), minlength=starts[-1]) > 0
        self.place = (np.cumsum(present) - 1)[place]
        where = np.flatnonzero(present)
        self.owner = np.searchsorted(starts, where, side="right") - 1  # which of `features` a rank belongs to
        self.rank = where - starts[self.owner]
        self.starts = np.searchsorted(self.owner, np.arange(len(self.features) + 1))
        self.unordered = compiled.unordered[self.features]
        last = np.zeros(len(where), dtype=np.bool_)
        last[self.starts[1:][np.diff(self.starts) > 0] - 1] = True
        self.is_cut = ~last & ~self.unordered[self.owner] if len(where) else last

    def __len__(self) -> int:
        return len(self.owner)

    @cached_property
    def count(self) -> np.ndarray:
        """How many people have each rank."""
        return self.sums(self.asked.compiled.count[None, self.members])[0]

    def numbered(self, owner: int) -> np.ndarray:
        """The rank of each person in one feature, counted without gaps."""
        return np.asarray(self.place[owner] - self.starts[owner])

    def sums(self, rows: np.ndarray) -> np.ndarray:
        """Each row of numbers of the people added up by rank."""
        return self.tables(rows, np.zeros(len(self.members), dtype=np.int64), 1)[:, 0]

    def tables(self, rows: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Each row of numbers added up by a group of the people and by rank."""
        cell, found = (self.place + group * len(self)).ravel(), np.zeros((len(rows), n_groups * len(self)))
        for number, row in enumerate(rows):
            if row.any():
                weight = np.broadcast_to(row, self.place.shape).ravel()
                found[number] = np.bincount(cell, weight, minlength=n_groups * len(self))
        return found.reshape(len(rows), n_groups, len(self))

    def below(self, sums: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Running sums within each feature: what is at or below each rank. `totals` lacks the last axis of `sums`."""
        # Every feature's ranks add up to the total, so the features before count as often as there are of them.
        return np.asarray(np.cumsum(sums, axis=-1) - totals[..., None] * self.owner)
