"""The cheapest pair of stumps for every two features below a test whose levels pick their sides, people counted.

Without a least number of people a leaf each level takes the cheaper side. With one, the levels that leave a leaf too
empty must pick otherwise: which ones do so most cheaply is found by trying, the levels with the most people first.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit

_MOST_PAIRS = 500_000  # of stumps on two features that are looked at; beyond that a bound for the rest stands
_MOST_TRIED = 400  # levels placed for one pair; beyond that its relaxed cost stands


@njit
def count_below(count, members, part, segment, n_segments, unordered, stumps, below, people):
    """How many people of each level a stump sends to its first label; −1 where cells choose and nobody knows."""
    n_levels = below.shape[1]
    for i in members:
        people[part[i]] += count[i]
    loaded = -1
    cells = np.zeros((n_levels, max(1, n_segments.max())), np.int64)
    for q in range(len(stumps)):
        f, s = stumps[q, 0], stumps[q, 1]
        if f < 0 or (unordered[f] and s < 0):
            for u in range(n_levels):
                below[q, u] = people[u] if f < 0 else -1
            continue
        if f != loaded:
            loaded = f
            cells[:] = 0
            for i in members:
                cells[part[i], segment[f, i]] += count[i]
        for u in range(n_levels):
            below[q, u] = 0
            for t in range(n_segments[f]):
                if (unordered[f] and (s >> t) & 1 == 1) or (not unordered[f] and t <= s):
                    below[q, u] += cells[u, t]


@njit
def pair_each_stump(parts, starts, below, people, least_people, enough, table, chosen, real):
    """table[g, h]: the cheapest pair of stumps on features g and h, and which it is.

    The stumps of feature g are starts[g] to starts[g + 1], those of the last feature have one leaf only; `parts` has a
    column a level. Pairs that cost `enough[g, h]` or more may be given less than they cost, but not less than that.
    `real[g, h]` tells whether the levels may pick as they like for the chosen pair.
    """
    n_options = len(starts) - 1
    floor = _floors(parts, starts)
    largest = np.argmax(people)
    for g in range(n_options):
        for h in range(g, n_options):
            table[g, h], real[g, h] = INFINITE, True
            chosen[g, h, 0], chosen[g, h, 1] = -1, -1
            if starts[g] == starts[g + 1] or starts[h] == starts[h + 1]:
                continue
            # Where a level holds most people, few stumps can have it: so both ways to place the largest are tried.
            for left in range(1 if g == h else 2):
                hope_g = _hopes(parts[starts[g] : starts[g + 1]], floor[h], largest, left == 0)
                hope_h = _hopes(parts[starts[h] : starts[h + 1]], floor[g], largest, left == 1)
                for final in range(1 if least_people == 1 else 2):
                    _block(
                        parts, starts, below, people, least_people, enough[g, h], hope_g, hope_h, g, h, final == 1,
                        table, chosen, real,
                    )  # fmt: skip


@njit
def _floors(parts, starts):
    """The least that any stump of a feature costs on each level."""
    floor = np.full((len(starts) - 1, parts.shape[1]), INFINITE)
    for g in range(len(floor)):
        for q in range(starts[g], starts[g + 1]):
            for u in range(parts.shape[1]):
                floor[g, u] = min(floor[g, u], parts[q, u])
    return floor


@njit
def _hopes(mine, others, largest, taken):
    """What each stump costs at least if every level picks among all others, with the largest level taken or not."""
    hope = np.empty(len(mine))
    for q in range(len(mine)):
        hope[q] = _sum_of_least(mine[q], others) - min(mine[q, largest], others[largest])
        hope[q] += mine[q, largest] if taken else others[largest]
    return hope


@njit
def _block(parts, starts, below, people, least_people, enough, hope_g, hope_h, g, h, final, table, chosen, real):
    """All pairs on two features. The first time only those that need no trying count, which leaves less to try."""
    none, sides = len(starts) - 2, np.empty(parts.shape[1], np.bool_)
    order, looked = np.argsort(hope_h), 0
    for q in np.argsort(hope_g):
        if hope_g[q] >= table[g, h]:
            break
        if hope_g[q] >= enough or looked > _MOST_PAIRS:
            if final or least_people == 1:
                table[g, h], real[g, h] = hope_g[q], False
                chosen[g, h, 0], chosen[g, h, 1] = starts[g] + q, starts[h] + order[0]
            break
        for p in order:
            if hope_h[p] >= min(table[g, h], enough):
                if hope_h[p] < table[g, h] and (final or least_people == 1):
                    table[g, h], real[g, h] = hope_h[p], False
                    chosen[g, h, 0], chosen[g, h, 1] = starts[g] + q, starts[h] + p
                break
            looked += 1
            one, two = starts[g] + q, starts[h] + p
            total = _sum_of_least(parts[one], parts[two])
            if total >= table[g, h]:
                continue
            free = True  # each level may take the cheaper side
            if least_people > 1 and below[one, 0] >= 0 and below[two, 0] >= 0:
                free = _crowded(
                    parts[one], parts[two], below[one], below[two], people, least_people, g == none, h == none
                )
                if not free and not final:
                    continue
            if not free and total < enough:
                total = place_levels(
                    parts[one], parts[two], below[one], below[two], people, least_people, g == none, h == none, total,
                    min(enough, table[g, h]), sides,
                )  # fmt: skip
            if total < table[g, h]:
                table[g, h], real[g, h] = total, free
                chosen[g, h, 0], chosen[g, h, 1] = one, two


@njit
def _sum_of_least(one, two):
    total = 0.0
    for u in range(len(one)):
        total += min(one[u], two[u])
    return total


@njit
def _crowded(one, two, below_one, below_two, people, least_people, leaf_one, leaf_two):
    """Whether all leaves have enough people when every level takes the cheaper side."""
    inside = np.zeros(4, np.int64)
    for u in range(len(one)):
        _place(u, one[u] <= two[u], 1, below_one, below_two, people, leaf_one, leaf_two, inside)
    return inside.min() >= least_people


@njit
def _place(u, left, sign, below_one, below_two, people, leaf_one, leaf_two, inside):
    """Count a level into the leaves of a side; a side with one leaf counts everybody twice."""
    side, below, leaf = (0, below_one[u], leaf_one) if left else (2, below_two[u], leaf_two)
    inside[side] += sign * (people[u] if leaf else below)
    inside[side + 1] += sign * (people[u] if leaf else people[u] - below)


@njit
def place_levels(
    one, two, below_one, below_two, people, least_people, leaf_one, leaf_two, total, limit, sides,
):  # fmt: skip
    """The least cost with enough people in every leaf: the limit where it is no less, `total` where it takes too long.

    A walk through the levels, the cheaper side first. `rest` is what the levels from here on cost at least, `most`
    how many people they could bring to each leaf. `sides` tells which levels go left then.
    """
    n = len(one)
    rest, most = np.zeros(n + 1), np.zeros((n + 1, 4), np.int64)
    for u in range(n - 1, -1, -1):
        rest[u] = rest[u + 1] + min(one[u], two[u])
        most[u] = most[u + 1]
        _place(u, True, 1, below_one, below_two, people, leaf_one, leaf_two, most[u])
        _place(u, False, 1, below_one, below_two, people, leaf_one, leaf_two, most[u])
    inside, tried = np.zeros(4, np.int64), np.zeros(n + 1, np.int64)
    cost = np.zeros(n + 1)
    best, u, steps = limit, 0, 0
    while u >= 0:
        possible = cost[u] + rest[u] < best and (inside + most[u]).min() >= least_people
        done = possible and inside.min() >= least_people
        if done:
            best = cost[u] + rest[u]
            for v in range(n):
                cheaper = one[v] <= two[v]
                sides[v] = cheaper if v >= u or tried[v] == 1 else not cheaper
        if possible and not done and u < n and tried[u] < 2:
            left = (one[u] <= two[u]) == (tried[u] == 0)
            tried[u] += 1
            cost[u + 1] = cost[u] + (one[u] if left else two[u])
            _place(u, left, 1, below_one, below_two, people, leaf_one, leaf_two, inside)
            u, steps = u + 1, steps + 1
            tried[u] = 0
            if steps > _MOST_TRIED:
                return total
            continue
        u -= 1
        if u >= 0:
            left = (one[u] <= two[u]) == (tried[u] == 1)
            _place(u, left, -1, below_one, below_two, people, leaf_one, leaf_two, inside)
    return best
