"""The people among whom neighbours are sought, by kind (people with equal features are one kind)."""

from __future__ import annotations

import numpy as np


class ReferencePeople:
    """Rows of a table grouped by kind, each kind's rows in row order."""

    def __init__(self, kind: np.ndarray, n_kinds: int, reference: np.ndarray) -> None:
        self._rows = reference[np.argsort(kind[reference], kind="stable")]
        self.counts = np.bincount(kind[reference], minlength=n_kinds)
        self._starts = np.cumsum(self.counts) - self.counts
        self.kinds = np.flatnonzero(self.counts)

    def choose(self, seeker: np.ndarray, kinds: np.ndarray, squared: np.ndarray, n_seekers: int, k: int) -> np.ndarray:
        """The k nearest people of each seeker, given (seeker, kind, squared distance) in parallel arrays.

        Nearest first, ties by row. Every seeker must have been given kinds of at least k people, among them
        every kind that is no farther than the k-th person.
        """
        # Within a kind the first k rows are enough: they come before the others at the same distance.
        lengths = np.minimum(self.counts[kinds], k)
        offset = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        people = self._rows[np.repeat(self._starts[kinds], lengths) + offset]
        who = np.repeat(seeker, lengths)
        order = np.lexsort((people, np.repeat(squared, lengths), who))
        first = np.searchsorted(who[order], np.arange(n_seekers))
        return np.asarray(people[order][first[:, None] + np.arange(k)])
