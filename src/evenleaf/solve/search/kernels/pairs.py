"""The best pair of labelled stumps when every level of the root picks its side (ALGORITHM §9.8)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, inner, njit
from evenleaf.solve.search.kernels.histograms import histogram

MOST_SPELT = 8  # levels of a stump whose subsets are listed: the largest, as levels are ranked by their people
LONGEST_RUN = 8  # neighbouring stumps that are bounded together


@njit
def price_stumps(c, members, group, segment, n_segments, unordered, stumps, h, settled, moving):
    """What each labelled stump costs on the settled people, and on each moving part of the root.

    `stumps` holds (feature, segment, label below, label above) with the features in ascending order. Of an
    unordered feature, segment −1 lets every cell take the cheaper label; else it is the set of levels, as bits,
    that take the label below, and only levels from `MOST_SPELT` on are left to their cells.
    """
    n_parts = moving.shape[1] + 1
    values, whole = np.empty(n_parts), np.zeros(len(group), np.int32)
    ordered, n_here, loaded = True, 1, -2
    for q in range(len(stumps)):
        f, s, below, above = stumps[q]
        if f != loaded:
            loaded = f
            ordered, n_here = f < 0 or not unordered[f], n_segments[f] if f >= 0 else 1
            histogram(c, members, group, segment[f] if f >= 0 else whole, n_parts, n_here, ordered, h)
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
    even if every part could pick among all stumps of the other side, are passed over, and so are runs of
    neighbouring stumps, which are much alike, by their least costs. The least totals are then exact or no lower
    than the budget, which is all that dropping a stump needs.
    """
    none, n_parts = allowed.shape[0] - 1, left_parts.shape[1]
    hope_of_each(left, left_parts, right, right_parts, least_left)
    hope_of_each(right, right_parts, left, left_parts, least_right)
    best, best_left, best_right = start, -1, -1
    limit = max(best, budget)
    hope_left, hope_right = least_left.copy(), least_right.copy()
    least_left[:], least_right[:] = INFINITE, INFINITE
    runs_left, runs_right = runs_of(left_stumps), runs_of(right_stumps)
    low_left, low_right = least_of_runs(left, left_parts, runs_left), least_of_runs(right, right_parts, runs_right)
    run_hope_left, run_hope_right = least_in_runs(hope_left, runs_left), least_in_runs(hope_right, runs_right)
    bound = np.empty(len(run_hope_right))
    todo = run_hope_left.copy()
    for _ in range(len(todo) if run_hope_right[lowest_place(run_hope_right)] < limit else 0):
        a = lowest_place(todo)
        if todo[a] >= limit:
            break
        todo[a] = INFINITE
        bound_runs(low_left[:, a], low_right, bound)
        for b in range(len(bound)):
            if bound[b] >= limit or run_hope_right[b] >= limit:
                continue
            for q in range(runs_left[a], runs_left[a + 1]):
                if hope_left[q] >= limit:
                    continue
                total = left[q] + low_right[n_parts, b]
                for u in range(n_parts):
                    total += min(left_parts[q, u], low_right[u, b])
                if total >= limit:
                    continue
                f = left_stumps[q, 0] if left_stumps[q, 0] >= 0 else none
                for p in range(runs_right[b], runs_right[b + 1]):
                    g = right_stumps[p, 0] if right_stumps[p, 0] >= 0 else none
                    if hope_right[p] >= limit or not allowed[f, g]:
                        continue
                    total = left[q] + right[p]
                    for u in range(n_parts):
                        total += min(left_parts[q, u], right_parts[p, u])
                    least_left[q], least_right[p] = min(least_left[q], total), min(least_right[p], total)
                    if total < best:
                        best, best_left, best_right = total, q, p
                        limit = max(best, budget)
    return best, best_left, best_right


@inner
def lowest_place(values):
    """Where the lowest value is, the first among equals."""
    place = 0
    for a in range(len(values)):
        if values[a] < values[place]:
            place = a
    return place


@inner
def runs_of(stumps):
    """Where runs of stumps on one feature with the same labels start; the last entry is the end."""
    starts = np.empty(len(stumps) + 1, np.int64)
    n = 0
    for q in range(len(stumps)):
        new = n == 0 or q - starts[n - 1] >= LONGEST_RUN
        for entry in (0, 2, 3):
            new = new or stumps[q, entry] != stumps[q - 1, entry]
        if new:
            starts[n] = q
            n += 1
    starts[n] = len(stumps)
    return starts[: n + 1]


@inner
def least_of_runs(settled, parts, starts):
    """The least cost of each run on each part, and, in the last row, on those whose side is settled."""
    n_parts = parts.shape[1]
    low = np.empty((n_parts + 1, len(starts) - 1))
    low[:] = INFINITE
    for a in range(len(starts) - 1):
        for q in range(starts[a], starts[a + 1]):
            low[n_parts, a] = min(low[n_parts, a], settled[q])
            for u in range(n_parts):
                low[u, a] = min(low[u, a], parts[q, u])
    return low


@inner
def least_in_runs(values, starts):
    """The least value of each run."""
    low = np.empty(len(starts) - 1)
    for a in range(len(low)):
        low[a] = values[starts[a]]
        for q in range(starts[a], starts[a + 1]):
            low[a] = min(low[a], values[q])
    return low


@inner
def bound_runs(low, others, bound):
    """What a run costs at least with each run of the other side; run by run within a part, for the processor's sake."""
    n_parts = len(low) - 1
    for b in range(len(bound)):
        bound[b] = low[n_parts] + others[n_parts, b]
    for u in range(n_parts):
        mine = low[u]
        for b in range(len(bound)):
            bound[b] += mine if mine < others[u, b] else others[u, b]


@inner
def hope_of_each(mine, my_parts, other, other_parts, least):
    """What each stump costs at least, if every part could pick the best stump of the other side for itself."""
    n_parts = my_parts.shape[1]
    floor = np.empty(n_parts)
    floor[:] = INFINITE
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
