"""What every test costs that may hang below a root, with the best values for its two leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from evenleaf.solve.certify.values.leaves import least_cost, level_costs
from evenleaf.solve.certify.values.numbers import Numbers, Prices

_CELLS = 1 << 19  # so many numbers are worked on at a time


def stump_costs(
    numbers: Numbers, people: np.ndarray, prices: Prices, alive: np.ndarray, least: int, joining: int
) -> np.ndarray:
    """The cost of each test that is alive, for some people; the last entry is that of no test.

    A leaf with fewer than `least` people, even if all who may be `joining` came to it, costs infinitely much.
    """
    cost = np.full(len(alive), np.inf)
    levels, n_levels = numbers.levels, len(numbers.levels)
    # For each level of the outcome the shares, then the prices, then the head count, all added up alike.
    level = numbers.level[people]
    cell = np.concatenate([level, np.full(len(people), n_levels), np.full(len(people), n_levels + 1)])
    amount = np.concatenate([numbers.share[people], prices.person[people], numbers.count[people]])
    width = n_levels + 2
    total = np.bincount(cell, weights=amount, minlength=width)
    whole = float(least_cost(total[:n_levels], total[n_levels], levels))
    if alive[-1] and total[-1] + joining >= least:
        cost[-1] = whole
    inside, entries = rows_inside(numbers, people)
    for feature, tests in _blocks(numbers, alive, max(width, len(inside))):
        rank = numbers.ranks[feature][people]
        if numbers.unordered[feature]:
            n_ranks, goes_left = int(numbers.ranks[feature].max()) + 1, numbers.sends_left(feature, tests)
            below = goes_left.astype(np.float64) @ _table(rank, n_ranks, cell, amount, width)
            difference = goes_left.astype(np.float64) @ _by_rank(rank, n_ranks, entries)
        else:
            # Ranks between two cuts that are alive are never parted: they are added up together.
            place = np.searchsorted(tests, rank)
            below = _table(place, len(tests) + 1, cell, amount, width)[:-1].cumsum(axis=0)
            difference = _by_rank(place, len(tests) + 1, entries)[:-1].cumsum(axis=0)
        tilts = np.abs(difference) @ prices.steep[inside], difference @ prices.lean[inside]
        enough = np.minimum(below[:, -1], total[-1] - below[:, -1]) + joining >= least
        both = _two_leaves(below[:, :-1], (total - below)[:, :-1], levels, *tilts, whole)
        cost[numbers.offsets[feature] + tests] = np.where(enough, both, np.inf)
    return cost


def rows_inside(numbers: Numbers, people: np.ndarray) -> tuple[np.ndarray, sp.csr_array]:
    """The rows of the disparity that compare nobody but these people, and their entries (people × rows)."""
    entries = numbers.operator[people]
    inside = np.flatnonzero(np.bincount(entries.indices, minlength=entries.shape[1]) == numbers.row_size)
    return inside, sp.csr_array(entries[:, inside])


def _two_leaves(
    below: np.ndarray, above: np.ndarray, levels: np.ndarray, spread: np.ndarray, lean: np.ndarray, whole: float
) -> np.ndarray:
    """What stumps cost with the rows inside their part paid for exactly.

    `below` and `above` hold the shares by level, then the prices of each leaf. With the values v and w the rows cost
    K|v − w|, of which κ(v − w) is in the prices (`kernels.py`): convex. Where v ≤ w is best, so it is with
    −(K + κ)(v − w) instead; where v ≥ w is best, with (K − κ)(v − w); if neither, v = w is.
    """
    found = np.full(len(below), whole)
    decided = np.zeros(len(below), dtype=np.bool_)
    for tilt, sign in ((-spread - lean, 1), (spread - lean, -1)):
        lower = level_costs(below[:, :-1], below[:, -1] + tilt, levels)
        upper = level_costs(above[:, :-1], above[:, -1] - tilt, levels)
        as_thought = ~decided & (sign * (upper.argmin(axis=1) - lower.argmin(axis=1)) >= 0)
        found[as_thought] = (lower.min(axis=1) + upper.min(axis=1))[as_thought]
        decided |= as_thought
    return found


def _by_rank(row: np.ndarray, n_rows: int, entries: sp.csr_array) -> np.ndarray:
    """The entries of the people of each rank added up."""
    people = np.arange(len(row))
    return np.asarray((sp.csr_array((np.ones(len(row)), (row, people)), shape=(n_rows, len(row))) @ entries).toarray())


def _blocks(numbers: Numbers, alive: np.ndarray, width: int) -> Iterator[tuple[int, np.ndarray]]:
    """The tests that are alive, numbered from 0 in their feature, so many at a time that a table of them is small."""
    at_a_time = max(1, _CELLS // width)
    for feature in range(numbers.n_features):
        tests = np.flatnonzero(alive[numbers.offsets[feature] : numbers.offsets[feature + 1]])
        for start in range(0, len(tests), at_a_time):
            yield feature, tests[start : start + at_a_time]


def _table(row: np.ndarray, n_rows: int, cell: np.ndarray, amount: np.ndarray, width: int) -> np.ndarray:
    """The amounts of each row added up by cell; three amounts a person, so that rows are repeated as often."""
    where = np.concatenate([row, row, row]) * width + cell
    return np.bincount(where, weights=amount, minlength=n_rows * width).reshape(n_rows, width)


def without_twins(numbers: Numbers, people: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """The tests less those that part these people as another test of the same feature does, or not at all.

    Of the cuts between two ranks that somebody has, the lowest is kept. Of the subsets, one that sends the first rank
    that somebody has left, and right none that nobody has.
    """
    kept = alive.copy()
    for feature in range(numbers.n_features):
        present = np.zeros(int(numbers.ranks[feature].max()) + 1, dtype=np.bool_)
        present[numbers.ranks[feature][people]] = True
        start, end = int(numbers.offsets[feature]), int(numbers.offsets[feature + 1])
        if not numbers.unordered[feature]:
            above = np.cumsum(present[::-1])[::-1] - present > 0
            kept[start:end] &= (present & above)[:-1]
        else:
            may_go_right = present.copy()
            may_go_right[present.argmax()] = False
            goes_right = ~numbers.sends_left(feature, np.arange(end - start))
            kept[start:end] &= ~(goes_right & ~may_go_right).any(axis=1)
    return kept
