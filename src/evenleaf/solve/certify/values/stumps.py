"""What every test costs that may hang below a root, with the best values for its two leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.certify.values.leaves import least_cost
from evenleaf.solve.certify.values.numbers import Numbers

_CELLS = 1 << 19  # so many numbers are worked on at a time


def stump_costs(
    numbers: Numbers, people: np.ndarray, prices: np.ndarray, alive: np.ndarray, least: int, joining: int
) -> np.ndarray:
    """The cost of each test that is alive, for some people; the last entry is that of no test.

    A leaf with fewer than `least` people, even if all who may be `joining` came to it, costs infinitely much.
    """
    cost = np.full(len(alive), np.inf)
    levels, n_levels = numbers.levels, len(numbers.levels)
    # For each level of the outcome the shares, then the prices, then the head count, all added up alike.
    level = numbers.level[people]
    cell = np.concatenate([level, np.full(len(people), n_levels), np.full(len(people), n_levels + 1)])
    amount = np.concatenate([numbers.share[people], prices[people], numbers.count[people]])
    width = n_levels + 2
    total = np.bincount(cell, weights=amount, minlength=width)
    if alive[-1] and total[-1] + joining >= least:
        cost[-1] = least_cost(total[:n_levels], total[n_levels], levels)
    for feature, tests in _blocks(numbers, alive, width):
        rank = numbers.ranks[feature][people]
        if numbers.unordered[feature]:
            by_rank = _table(rank, int(numbers.ranks[feature].max()) + 1, cell, amount, width)
            below = numbers.sends_left(feature, tests).astype(np.float64) @ by_rank
        else:
            # Ranks between two cuts that are alive are never parted: they are added up together.
            below = _table(np.searchsorted(tests, rank), len(tests) + 1, cell, amount, width)[:-1].cumsum(axis=0)
        both = np.zeros(len(tests))
        for leaf in (below, total - below):
            enough = leaf[:, -1] + joining >= least
            both += np.where(enough, least_cost(leaf[:, :n_levels], leaf[:, n_levels], levels), np.inf)
        cost[numbers.offsets[feature] + tests] = both
    return cost


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
