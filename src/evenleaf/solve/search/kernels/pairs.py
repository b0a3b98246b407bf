"""The best pair of labelled stumps when every level of the root picks its side (ALGORITHM §9.8)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.histograms import histogram

MOST_SPELT = 8  # levels of a stump whose subsets are listed: the largest, as levels are ranked by their people


@njit
def price_stumps(c, members, group, segment, n_segments, unordered, stumps, h, settled, moving):
    """What each labelled stump costs on the settled people, and on each moving part of the root.

    `stumps` holds (feature, segment, label below, label above) with the features in ascending order. Of an
    unordered feature, segment −1 lets every cell take the cheaper label; else it is the set of levels, as bits,
    that take the label below, and only levels from `MOST_SPELT` on are left to their cells.
    """
    n_parts = moving.shape[1] + 1
    values = np.empty(n_parts)
    loaded = -2
    for q in range(len(stumps)):
        f, s, below, above = stumps[q]
        if f != loaded:
            loaded = f
            if f < 0:
                n_here = 1
                histogram(c, members, group, np.zeros(len(group), np.int32), n_parts, 1, True, h)
            else:
                n_here = n_segments[f]
                histogram(c, members, group, segment[f], n_parts, n_here, not unordered[f], h)
        for g in range(n_parts):
            if f >= 0 and unordered[f]:
                total = 0.0
                for level in range(n_here):
                    low = 0.0 if below == 0 else h[g, level, below - 1]
                    high = 0.0 if above == 0 else h[g, level, above - 1]
                    if s < 0 or level >= MOST_SPELT:
                        total += min(low, high)
                    else:
                        total += low if (s >> level) & 1 else high
                values[g] = total
            else:
                total = 0.0 if below == 0 else h[g, s, below - 1]
                if above > 0:
                    total += h[g, n_here - 1, above - 1] - h[g, s, above - 1]
                values[g] = total
        settled[q] = values[0]
        for g in range(1, n_parts):
            moving[q, g - 1] = values[g]


@njit
def best_pair(
    left, left_parts, left_stumps, right, right_parts, right_stumps, allowed, start, budget, least_left, least_right,
):  # fmt: skip
    """The cheapest admissible pair of stumps when every part picks its side, and the least total of each stump.

    Only pairs cheaper than `start` count. Stumps that can lead neither below the best so far nor below the budget,
    even if every part could pick among all stumps of the other side, are passed over; the least totals are then
    lower bounds, which is all that dropping a stump needs.
    """
    none = allowed.shape[0] - 1
    hope_of_each(left, left_parts, right, right_parts, least_left)
    hope_of_each(right, right_parts, left, left_parts, least_right)
    hope = least_right.copy()
    best, best_left, best_right = start, -1, -1
    least_right[:] = INFINITE
    for q in np.argsort(least_left):
        if least_left[q] >= best and least_left[q] >= budget:
            continue
        f = left_stumps[q, 0] if left_stumps[q, 0] >= 0 else none
        row = INFINITE
        for p in range(len(right)):
            if hope[p] >= best and hope[p] >= budget:
                row = min(row, hope[p])
                continue
            g = right_stumps[p, 0] if right_stumps[p, 0] >= 0 else none
            if not allowed[f, g]:
                continue
            total = left[q] + right[p]
            for u in range(left_parts.shape[1]):
                total += min(left_parts[q, u], right_parts[p, u])
            row = min(row, total)
            least_right[p] = min(least_right[p], total)
            if total < best:
                best, best_left, best_right = total, q, p
        least_left[q] = row
    return best, best_left, best_right


@njit
def hope_of_each(mine, my_parts, other, other_parts, least):
    """What each stump costs at least, if every part could pick the best stump of the other side for itself."""
    n_parts = my_parts.shape[1]
    floor = np.full(n_parts, INFINITE)
    lowest = INFINITE
    for p in range(len(other)):
        lowest = min(lowest, other[p])
        for u in range(n_parts):
            floor[u] = min(floor[u], other_parts[p, u])
    for q in range(len(mine)):
        total = mine[q] + lowest
        for u in range(n_parts):
            total += min(my_parts[q, u], floor[u])
        least[q] = total
