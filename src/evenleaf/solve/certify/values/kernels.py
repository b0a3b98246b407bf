"""What two levels of tests below a root cost: the loops of the checker that numpy would be too slow for.

A leaf grows person by person. Its cost is convex in its value, with kinks at the outcomes: the state of a leaf is where
its cheapest value stands (`at`), the slope to the right of there and the cost there. Nothing here is the search's.

`people` is (level, levels, share, price, count, lowest, highest): the last two are the levels between which everybody's
value must lie. `tables` is (ranks, unordered, offsets). A part's people are listed in the order of each feature.

A row of the disparity whose people are all in one part has the difference A·(v − w) where a stump there has the values
v and w, A being the sum of its entries over the lower leaf. It costs s·|A|·|v − w|, of which the prices already hold
s·μ·A·(v − w). With K = Σ s·|A| and κ = Σ s·μ·A over these rows a stump costs F(v) + G(w) − κ(v − w) + K|v − w|, where
F and G are what its leaves cost at the prices. That is convex. Where v ≤ w is best, so it is with −(K + κ)(v − w) in
the place of the last two; where v ≥ w is best, with (K − κ)(v − w); if neither, v = w is best.

`rows` is (pointers, rows, entries, size, steep, lean): the disparity by person; how many people each row has; s and s·μ
of each row.
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
    leaf = _leaf(ids, wanted, which, people, jump)
    return leaf[2], leaf[5]


@njit
def _leaf(ids, wanted, which, people, jump):
    """The leaf of those who are marked as wanted, at its cheapest value."""
    leaf = (0, 0.0, 0.0, 0, len(people[1]) - 1, 0)
    jump[:] = 0.0
    for i in ids:
        if wanted[i] == which:
            leaf = _joined(i, leaf, people, jump)
    return _settled(leaf, people[1], jump)


@njit
def _tilted(leaf, tilt, levels, jump):
    """(cost, level) of the leaf where a unit of its value costs so much more."""
    at, slope, cost, low, high, crowd = leaf
    leaf = _settled((at, slope + tilt, cost + tilt * levels[at], low, high, crowd), levels, jump)
    return leaf[2], leaf[0]


@njit
def _both_ways(leaf, sign, known, levels, jump, out):
    """(cost, level) of a lower leaf (an upper one with `sign` −1) as v ≤ w would have it, then as v ≥ w would."""
    spread, pull = known
    out[0], out[1] = _tilted(leaf, sign * (-spread - pull), levels, jump)
    out[2], out[3] = _tilted(leaf, sign * (spread - pull), levels, jump)


@njit
def _inside(ids, rows, inside):
    """Mark the rows all of whose people are among these; whether there are any."""
    pointers, row_of, _, size, _, _ = rows
    inside[:] = 0
    for i in ids:
        for e in range(pointers[i], pointers[i + 1]):
            inside[row_of[e]] += 1
    some = False
    for r in range(len(inside)):
        inside[r] = inside[r] == size[r]
        some = some or inside[r] == 1
    return some


@njit
def _joined_below(i, spread, pull, rows, inside, sums):
    """(K, κ) once a person has joined the lower leaf, whose sums of entries by row are kept."""
    pointers, row_of, entries, _, steep, lean = rows
    for e in range(pointers[i], pointers[i + 1]):
        r = row_of[e]
        if inside[r]:
            before = abs(sums[r])
            sums[r] += entries[e]
            spread += steep[r] * (abs(sums[r]) - before)
            pull += lean[r] * entries[e]
    return spread, pull


@njit
def _two_leaves(lower, upper, whole):
    """What a stump costs from (cost, level) of both leaves, first as v ≤ w would have it, then as v ≥ w would."""
    if lower[1] <= upper[1]:
        return lower[0] + upper[0]
    if lower[3] >= upper[3]:
        return lower[2] + upper[2]
    return whole


@njit
def _cuts(ids, ranks, tests, people, rows, some, whole, work):
    """The cost of each cut of a feature, and how many people the smaller of its leaves has."""
    jump, _, cost, fewest, inside, sums, known, lower, upper = work
    levels, n = people[1], len(ids)
    for side in range(2):
        leaf, spread, pull = (0, 0.0, 0.0, 0, len(levels) - 1, 0), 0.0, 0.0
        jump[:] = 0.0
        sums[:] = 0.0
        j = 0
        for k in range(len(tests)):
            t = len(tests) - 1 - k if side else k
            while j < n:
                i = ids[n - 1 - j] if side else ids[j]
                if (ranks[i] > tests[t]) != (side == 1):
                    break
                leaf = _joined(i, leaf, people, jump)
                if some and not side:
                    spread, pull = _joined_below(i, spread, pull, rows, inside, sums)
                j += 1
            leaf = _settled(leaf, levels, jump)
            if side:
                _both_ways(leaf, -1, (known[t, 0], known[t, 1]), levels, jump, upper)
                cost[t], fewest[t] = _two_leaves(lower[t], upper, whole), min(fewest[t], leaf[5])
            else:
                known[t, 0], known[t, 1], fewest[t] = spread, pull, leaf[5]
                _both_ways(leaf, 1, (spread, pull), levels, jump, lower[t])


@njit
def _subsets(ids, ranks, tests, people, rows, some, whole, work):
    """The same for subsets of levels: bit r − 1 of a subset's number plus one says whether rank r goes right."""
    jump, right, cost, fewest, inside, sums, _, lower, upper = work
    levels = people[1]
    for t in range(len(tests)):
        spread, pull = 0.0, 0.0
        sums[:] = 0.0
        for i in ids:
            right[i] = 1 if ranks[i] > 0 and ((tests[t] + 1) >> (ranks[i] - 1)) & 1 else 0
            if some and not right[i]:
                spread, pull = _joined_below(i, spread, pull, rows, inside, sums)
        leaf = _leaf(ids, right, 0, people, jump)
        fewest[t] = leaf[5]
        _both_ways(leaf, 1, (spread, pull), levels, jump, lower[t])
        leaf = _leaf(ids, right, 1, people, jump)
        _both_ways(leaf, -1, (spread, pull), levels, jump, upper)
        cost[t], fewest[t] = _two_leaves(lower[t], upper, whole), min(fewest[t], leaf[5])


@njit
def _stumps(listed, alive, starts, tests, people, rows, tables, least, work, out):
    """(cheapest stump or no test, the same if leaves may be as small as they like); `out` becomes each test's cost."""
    ranks, unordered, offsets = tables
    jump, marks, cost, fewest, inside = work[:5]
    none = len(out) - 1
    best, loosest = np.inf, np.inf
    out[:] = np.inf
    for i in listed[0]:
        marks[i] = 0
    whole, crowd = leaf_cost(listed[0], marks, 0, people, jump)
    if alive[none]:
        loosest = whole
        if crowd >= least:
            best = out[none] = whole
    some = _inside(listed[0], rows, inside)
    for f in range(len(unordered)):
        mine = tests[starts[f] : starts[f + 1]]
        if len(mine) == 0:
            continue
        if unordered[f]:
            _subsets(listed[f], ranks[f], mine, people, rows, some, whole, work)
        else:
            _cuts(listed[f], ranks[f], mine, people, rows, some, whole, work)
        for t in range(len(mine)):
            loosest = min(loosest, cost[t])
            if fewest[t] >= least:
                out[offsets[f] + mine[t]] = cost[t]
                best = min(best, cost[t])
    return best, loosest


@njit
def below_children(order, right, alive, starts, tests, people, rows, tables, least, cutoff, totals):
    """For each child test (a row of `right`: who goes right) what either part costs with the best stump below it.

    Four columns: both parts, then both with leaves of any size. `totals[part, test]` becomes the least cost of a
    subtree that has that stump, of all child tests with a cost below the cutoff. `alive[part]` marks the stumps that
    there may be; `starts` and `tests` list them by feature.
    """
    n_children, n_people, n_tests = len(right), len(people[0]), alive.shape[1]
    found = np.empty((n_children, 4))
    n_rows = len(rows[3])
    work = (
        np.zeros(len(people[1])), np.zeros(n_people, np.int64), np.zeros(n_tests), np.zeros(n_tests, np.int64),
        np.zeros(n_rows, np.int64), np.zeros(n_rows), np.zeros((n_tests, 2)), np.zeros((n_tests, 4)), np.zeros(4),
    )  # fmt: skip
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
                listed[p, :, :n], alive[p], starts[p], tests[p], people, rows, tables, least, work, out[p]
            )
        if found[k, 0] + found[k, 1] < cutoff:
            for p in range(2):
                for t in range(n_tests):
                    totals[p, t] = min(totals[p, t], out[p, t] + found[k, 1 - p])
    return found
