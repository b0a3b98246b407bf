"""What stumps cost: one test, or none, for the people on each side of a test above.

Prices have a row a label. "Cuts" are numbered over all features, `offsets[f]` on for feature f; an unordered feature
has one number, which stands for all its subsets of levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from evenleaf.solve.certify.labels.pairs import Listed
from evenleaf.solve.search.compiled import Compiled

MOST_SPELT_LEVELS = 8
Uses = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class People:
    """Some people with their prices: a row a label in `prices`, a row a feature in `ranks`."""

    prices: np.ndarray
    ranks: np.ndarray
    count: np.ndarray

    def only(self, which: np.ndarray) -> People:
        """Some of these people."""
        return People(self.prices[:, which], self.ranks[:, which], self.count[which])

    @property
    def alone(self) -> float:
        """What they cost if each had the label that is cheapest for them."""
        return float(self.prices.min(axis=0).sum())


class Stumps:
    """Prices the stumps of a problem."""

    def __init__(self, compiled: Compiled, most_spelt: int = MOST_SPELT_LEVELS) -> None:
        self.most_spelt = most_spelt  # levels of a stump whose subsets are spelt out
        self.compiled, self.n_features, self.n_cuts = compiled, compiled.n_features, int(compiled.offsets[-1])
        self.labels = list(permutations(range(compiled.n_labels + 1), 2))

    def pairs(
        self,
        people: People,
        part: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
        alive: np.ndarray,
        allowed: np.ndarray,
        least: int = 1,
    ) -> tuple[np.ndarray, Uses]:
        """For each root (row of `left` and `right`) the cheapest tree with a stump or a leaf on either side.

        Also, feature by feature, cuts with an array (side, root, cut): the cheapest tree that has the cut there.
        """
        n_roots = len(left)
        totals, found = self.priced(people, part, np.concatenate([left, right]), np.asarray(alive.any((0, 1))), least)
        best = np.full((2, n_roots, self.n_features + 1), np.inf)
        best[:, :, -1] = totals.min(axis=0).reshape(2, n_roots)
        stumps = []
        for feature, numbers, labelled in found:
            cost = labelled.min(axis=0).reshape(2, n_roots, len(numbers))
            cost = np.where(alive[:, :, numbers], cost, np.inf)
            best[:, :, feature] = cost.min(axis=2)
            stumps.append((feature, numbers, cost))
        fits = np.stack([allowed, allowed.T])[:, None]
        partner = np.where(fits, best[::-1, :, None, :], np.inf).min(axis=3)
        uses = [(numbers, cost + partner[:, :, feature, None]) for feature, numbers, cost in stumps]
        return (best[0] + partner[0]).min(axis=1), uses

    def listed(self, people: People, part: np.ndarray, n_parts: int, alive: np.ndarray, spell_but: int) -> Listed:
        """Every labelled stump, and what it costs on each part alone.

        In a stump that is itself a subset of levels each level picks its label part by part: a relaxation. So those
        subsets are spelt out, except of the feature `spell_but`, whose levels are the parts.
        """
        totals, found = self.priced(people, part, np.eye(n_parts, dtype=np.bool_), alive)
        rows, numbers, features = [totals], [np.full(len(totals), -1)], [np.full(len(totals), self.n_features)]
        for feature, cuts, cost in found:
            rows.append(cost.transpose(0, 2, 1).reshape(-1, n_parts))
            if self.spells(feature, spell_but):
                rows[-1] = self._spelt(feature, people, part, n_parts)
            numbers.append(np.tile(cuts, len(rows[-1]) // len(cuts)))
            features.append(np.full(len(rows[-1]), feature))
        return Listed(np.concatenate(rows), np.concatenate(numbers), np.concatenate(features))

    def spells(self, feature: int, spell_but: int) -> bool:
        """Whether the subsets of a feature are spelt out."""
        return feature not in (spell_but, self.n_features) and bool(self.compiled.unordered[feature])

    def cells(self, feature: int, people: People, part: np.ndarray, n_parts: int) -> np.ndarray:
        """What each label (first) costs on each part and each level of a feature that occurs."""
        present, level = np.unique(people.ranks[feature], return_inverse=True)
        n_levels = max(1, len(present))
        sums = _sums(people.prices, part * n_levels + level, n_parts * n_levels)
        return sums.reshape(len(people.prices), n_parts, n_levels)

    def _spelt(self, feature: int, people: People, part: np.ndarray, n_parts: int) -> np.ndarray:
        """What each subset of a feature's levels costs on each part, for all pairs of labels.

        Of many levels only the first are spelt out, which are the largest; the others pick part by part.
        """
        sums = self.cells(feature, people, part, n_parts)
        n_spelt = min(sums.shape[2], self.most_spelt)
        one = ((np.arange(1 << n_spelt)[:, None] >> np.arange(n_spelt)) & 1).astype(np.float64)
        spelt, rest = sums[:, :, :n_spelt], sums[:, :, n_spelt:]
        return np.concatenate(
            [
                one @ spelt[a].T + (1 - one) @ spelt[b].T + np.minimum(rest[a], rest[b]).sum(axis=1)
                for a, b in self.labels
            ]
        )

    def priced(
        self, people: People, part: np.ndarray, member: np.ndarray, alive: np.ndarray, least: int = 1
    ) -> tuple[np.ndarray, list[tuple[int, np.ndarray, np.ndarray]]]:
        """What every stump costs on every side; a side is a row of `member`, which tells the parts it holds.

        First the costs (label, side) without a test. Then for each feature its cuts, and the costs (labels, side,
        cut) with the first label below the cut and the second above. A stump with the same label twice is no test.
        Leaves with fewer than `least` people cost infinitely much.
        """
        # The number of people is added up like a price, in a row of its own.
        weigh = np.vstack([people.prices, people.count]) if least > 1 else people.prices
        n_labels, n_parts = len(people.prices), member.shape[1]
        sides = member.astype(np.float64)
        totals = sides @ _sums(weigh, part, n_parts)[:, :, None]
        found = []
        for f in range(self.n_features):
            start, size = int(self.compiled.offsets[f]), int(self.compiled.sizes[f])
            after = np.flatnonzero(alive[start : int(self.compiled.offsets[f + 1])])
            if not len(after):
                continue
            segment = people.ranks[f]
            if not self.compiled.unordered[f]:
                # Ranks between two cuts that are alive are never parted: they are added up together.
                segment, size = np.searchsorted(after, np.arange(size))[segment], len(after) + 1
            sums = sides @ _sums(weigh, part * size + segment, n_parts * size).reshape(len(weigh), n_parts, size)
            if self.compiled.unordered[f]:
                cost = np.array([_subsets(sums[a], sums[b], sums[n_labels:], least) for a, b in self.labels])
            else:
                below = sums.cumsum(axis=2)[:, :, :-1]
                above = totals - below
                enough = (np.minimum(below, above)[n_labels:] >= least).all(axis=0)
                cost = np.array([np.where(enough, below[a] + above[b], np.inf) for a, b in self.labels])
            found.append((f, start + after, cost))
        enough = (totals[n_labels:, :, 0] >= least).all(axis=0)
        return np.where(enough, totals[:n_labels, :, 0], np.inf), found


def _sums(weigh: np.ndarray, cell: np.ndarray, n_cells: int) -> np.ndarray:
    """Each row of numbers added up by cell."""
    return np.array([np.bincount(cell, weights=row, minlength=n_cells) for row in weigh]).reshape(len(weigh), n_cells)


def _subsets(one: np.ndarray, other: np.ndarray, count: np.ndarray, least: int) -> np.ndarray:
    """On each side (row) the best subset of levels: each takes the cheaper label, if that leaves enough people."""
    cost = np.minimum(one, other).sum(axis=1)
    if least > 1:
        people, takes = count[0], one <= other
        few = np.minimum((people * takes).sum(axis=1), (people * ~takes).sum(axis=1)) < least
        for side in np.flatnonzero(few):
            cost[side] = _crowded_subset(one[side], other[side], people[side].astype(np.int64), least)
    return cost[:, None]


def _crowded_subset(one: np.ndarray, other: np.ndarray, people: np.ndarray, least: int) -> float:
    """The best subset with at least so many people on both parts.

    Level by level, `table[p, q]` is the least cost with p people on one part and q on the other; from `least` on
    they are not told apart.
    """
    table = np.full((least + 1, least + 1), np.inf)
    table[0, 0] = 0.0
    for level in np.flatnonzero(people):
        table = np.minimum(
            _joined(table, int(people[level])) + one[level], _joined(table.T, int(people[level])).T + other[level]
        )
    return float(table[-1, -1])


def _joined(table: np.ndarray, people: int) -> np.ndarray:
    """The table after so many people joined the part that its rows count."""
    after, enough = np.full_like(table, np.inf), len(table) - 1
    people = min(people, enough)
    after[people:] = table[: enough + 1 - people]
    after[-1] = table[enough - people :].min(axis=0)
    return after
