"""What two levels of tests below a root cost: the loops of the checker that numpy would be too slow for.

A leaf grows person by person. Its cost is convex in its value, with kinks at the outcomes: the state of a leaf is where
its cheapest value stands (`at`), the slope to the right of there and the cost there. Nothing here is the search's.

`people` is (level, levels, share, price, count, lowest, highest): the last two are the levels between which everybody's
value must lie. `tables` is (ranks, unordered, offsets). A part's people are listed in the order of each feature.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def _joined(i, leaf, people, jump):
    """The leaf with one person more; `jump[q]` is by how much its slope rises at level q."""
    level, levels, share, price, count, lowest, highest = people
    at, slope, cost, low, high, crowd = leaf
    q = level[i]
    slope += price[i] + (share[i] if q <= at else -share[i])
    cost += share[i] * abs(levels[q] - levels[at]) + price[i] * levels[at]
    jump[q] += 2.0 * share[i]
    return at, slope, cost, max(low, lowest[i]), min(high, highest[i]), crowd + count[i]


@njit
def _settled(leaf, levels, jump):
    """The leaf at its cheapest value; it costs infinitely much where there is none that everybody may have."""
    at, slope, cost, low, high, crowd = leaf
    if low > high:
        return at, slope, np.inf, low, high, crowd
    while at < low or (slope < 0.0 and at < high):
        cost += slope * (levels[at + 1] - levels[at])
        at += 1
        slope += jump[at]
    while at > high or (at > low and slope - jump[at] > 0.0):
        slope -= jump[at]
        cost -= slope * (levels[at] - levels[at - 1])
        at -= 1
    return at, slope, cost, low, high, crowd


@njit
def leaf_cost(ids, wanted, which, people, jump):
    """(cost, people) of the leaf of those who are marked as wanted."""
    leaf, levels = (0, 0.0, 0.0, 0, len(people[1]) - 1, 0), people[1]
    jump[:] = 0.0
    for i in ids:
        if wanted[i] == which:
            leaf = _joined(i, leaf, people, jump)
    leaf = _settled(leaf, levels, jump)
    return leaf[2], leaf[5]


@njit
def _cuts(ids, ranks, tests, people, jump, cost, fewest):
    """The cost of each cut of a feature, and how many people the smaller of its leaves has."""
    levels, n = people[1], len(ids)
    for upper in range(2):
        leaf = (0, 0.0, 0.0, 0, len(levels) - 1, 0)
        jump[:] = 0.0
        j = 0
        for k in range(len(tests)):
            t = len(tests) - 1 - k if upper else k
            while j < n:
                i = ids[n - 1 - j] if upper else ids[j]
                if (ranks[i] > tests[t]) != (upper == 1):
                    break
                leaf = _joined(i, leaf, people, jump)
                j += 1
            leaf = _settled(leaf, levels, jump)
            if upper:
                cost[t], fewest[t] = cost[t] + leaf[2], min(fewest[t], leaf[5])
            else:
                cost[t], fewest[t] = leaf[2], leaf[5]


@njit
def _subsets(ids, ranks, tests, people, jump, right, cost, fewest):
    """The same for subsets of levels: bit r − 1 of a subset's number plus one says whether rank r goes right."""
    for t in range(len(tests)):
        for i in ids:
            right[i] = 1 if ranks[i] > 0 and ((tests[t] + 1) >> (ranks[i] - 1)) & 1 else 0
        first, second = leaf_cost(ids, right, 0, people, jump), leaf_cost(ids, right, 1, people, jump)
        cost[t], fewest[t] = first[0] + second[0], min(first[1], second[1])


@njit
def _stumps(listed, alive, starts, tests, people, tables, least, work, out):
    """(cheapest stump or no test, the same if leaves may be as small as they like); `out` becomes each test's cost."""
    ranks, unordered, offsets = tables
    jump, marks, cost, fewest = work
    none = len(out) - 1
    best, loosest = np.inf, np.inf
    out[:] = np.inf
    if alive[none]:
        for i in listed[0]:
            marks[i] = 0
        whole, crowd = leaf_cost(listed[0], marks, 0, people, jump)
        loosest = whole
        if crowd >= least:
            best = out[none] = whole
    for f in range(len(unordered)):
        mine = tests[starts[f] : starts[f + 1]]
        if len(mine) == 0:
            continue
        if unordered[f]:
            _subsets(listed[f], ranks[f], mine, people, jump, marks, cost, fewest)
        else:
            _cuts(listed[f], ranks[f], mine, people, jump, cost, fewest)
        for t in range(len(mine)):
            loosest = min(loosest, cost[t])
            if fewest[t] >= least:
                out[offsets[f] + mine[t]] = cost[t]
                best = min(best, cost[t])
    return best, loosest


@njit
def below_children(order, right, alive, starts, tests, people, tables, least, cutoff, totals):
    """For each child test (a row of `right`: who goes right) what either part costs with the best stump below it.

    Four columns: both parts, then both with leaves of any size. `totals[part, test]` becomes the least cost of a
    subtree that has that stump, of all child tests with a cost below the cutoff. `alive[part]` marks the stumps that
    there may be; `starts` and `tests` list them by feature.
    """
    n_children, n_people, n_tests = len(right), len(people[0]), alive.shape[1]
    found = np.empty((n_children, 4))
    work = (np.zeros(len(people[1])), np.zeros(n_people, np.int64), np.zeros(n_tests), np.zeros(n_tests, np.int64))
    out, filled = np.empty((2, n_tests)), np.zeros(2, np.int64)
    listed = np.empty((2, order.shape[0], order.shape[1]), np.int64)
    for k in range(n_children):
        n_right = 0
        for i in order[0]:
            n_right += right[k, i]
        for f in range(order.shape[0]):
            filled[:] = 0
            for i in order[f]:
                part = right[k, i]
                listed[part, f, filled[part]] = i
                filled[part] += 1
        for p in range(2):
            n = n_right if p else order.shape[1] - n_right
            found[k, p], found[k, 2 + p] = _stumps(
                listed[p, :, :n], alive[p], starts[p], tests[p], people, tables, least, work, out[p]
            )
        if found[k, 0] + found[k, 1] < cutoff:
            for p in range(2):
                for t in range(n_tests):
                    totals[p, t] = min(totals[p, t], out[p, t] + found[k, 1 - p])
    return found
