"""What a run of cuts above two stumps costs at least, two classes, where people in between have a usual label.

Let a cut be somewhere between two others. On which side of it people in between are is open, and with the label that
each likes best they cost far less than in any tree. But near the best tree most people get the label of one good stump,
their *usual* label. So let everybody in between pay for that, and stand on both sides of the cut at once: where a
stump has another label for somebody, what that saves is taken off, and what it costs more is not added. Whoever is on a
side pays no less than that, and the other side adds nothing. Any labels will do; good ones make the bound good.

A second test of the same feature tells people in between from all others, and could save everything that they might.
What it costs exactly is known for every cut, from the sums of prices before each rank; so it is not among the stumps
that are bounded, and the people in between that are behind the cut stand on the other side only.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.sheet import LEFT, NARROW, WIDE


@njit
def usual_labels(sheet, by_level, prices):
    """Whether the best stump gives people the second label, its cut at the end of a block: multipliers by member."""
    blocks, block, n = sheet[7], sheet[8], sheet[9]
    J, M = prices.shape
    usual, sums = np.zeros((J, M), np.bool_), np.empty(blocks[n])
    for j in range(J):
        sums[:] = 0.0
        for m in range(M):
            for g in range(n):
                sums[block[m, g]] += prices[j, m]
        g, cut, first = _best_ends(sums, blocks, by_level)
        if g < 0:  # everybody alike
            usual[j, :] = first
            continue
        for m in range(M):
            k = block[m, g]
            usual[j, m] = sums[k] < 0.0 if by_level[g] else (k <= cut) == first
    return usual


@njit
def _best_ends(sums, blocks, by_level):
    """The best stump: its feature, the last block on its left, and whether these have the second label."""
    best, feature, cut, first = 0.0, -1, 0, False
    for g in range(len(by_level)):
        total, price = 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            total += sums[k]
            price += min(0.0, sums[k])
        if total < best:
            best, feature, first = total, -1, True
        if by_level[g]:
            if price < best:
                best, feature = price, g
            continue
        run = 0.0
        for k in range(blocks[g], blocks[g + 1]):
            run += sums[k]
            if min(run, total - run) < best:
                best, feature, cut, first = min(run, total - run), g, k, run < total - run
    return feature, cut, first


@njit
def settle(sheet, f, price, usual, settled, own):
    """What is known of cuts of feature f, ahead of any run.

    `settled[:, b]`, of people before a block whose usual label is the second: what is negative of their prices, and
    what is positive. `own[:, b]`, of the cuts within a block, at its end or at its beginning: the least that a stump of
    the feature itself costs left of the cut, less what the usual labels cost there; right of it, with what they cost
    left of it; and both such stumps.
    """
    order, begins, edges, blocks = sheet[2], sheet[3], sheet[6], sheet[7]
    base, at, B = sheet[4][f] + f, blocks[f] + f, blocks[f + 1] - blocks[f]
    R = sheet[4][f + 1] - sheet[4][f]
    run, paid = np.empty(R), np.empty(R)  # up to each rank: prices, and what the usual labels cost
    total, negative, positive, b = 0.0, 0.0, 0.0, 0
    settled[0, 0], settled[1, 0] = 0.0, 0.0
    for r in range(R):
        for s in range(begins[base + r], begins[base + r + 1]):
            m = np.uint64(order[f, s])  # without a sign it need not be looked at twice
            total += price[m]
            if usual[m]:
                negative += min(0.0, price[m])
                positive += max(0.0, price[m])
        run[r], paid[r] = total, negative + positive
        if r + 1 == edges[at + b + 1]:
            b += 1
            settled[0, b], settled[1, b] = negative, positive
    left, right = np.empty(R), np.empty(R)
    _own_stumps(run, left, right)
    for b in range(B):
        own[0, b], own[1, b], own[2, b] = INFINITE, INFINITE, INFINITE
        for r in range(max(0, edges[at + b] - 1), min(edges[at + b + 1], R - 1)):
            own[0, b] = min(own[0, b], left[r] - paid[r])
            own[1, b] = min(own[1, b], right[r] + paid[r])
            own[2, b] = min(own[2, b], left[r] + right[r])


@njit
def _own_stumps(run, left, right):
    """The best stump of the same feature left of each cut, and right of it, from the prices up to each rank."""
    R = len(run)
    total, low, high = run[R - 1], 0.0, 0.0
    for r in range(R):
        low, high = min(low, run[r]), max(high, run[r])
        left[r] = min(low, run[r] - high)
    low, high = total, total
    for r in range(R - 1, -1, -1):
        low, high = min(low, run[r]), max(high, run[r])
        right[r] = min(low - run[r], total - high)


@njit
def span_bound(table, low, high, f, blocks, by_level, room, settled, own):
    """What any cut costs at least with the blocks before `low` on its left and those from `high` on on its right."""
    one, two = _stumps(table[low], table[high], table[len(table) - 1], f, blocks, by_level, room)
    return _together(one, two, low, high, settled, own)


@njit
def _together(one, two, low, high, settled, own):
    """The same from bounds on the stumps of other features on either side.

    Whoever is in between and usually has the second label pays its price; to deviate from it may save what is positive
    of that. On a side that is not theirs that is all that they may do, and it is taken off.
    """
    value = one + two + settled[0, high] - settled[0, low] - settled[1, high] + settled[1, low]
    lefts, rights = INFINITE, INFINITE
    for b in range(low, high):
        lefts, rights, value = min(lefts, own[0, b]), min(rights, own[1, b]), min(value, own[2, b])
    lefts += settled[0, high] + settled[1, low]
    rights -= settled[0, low] + settled[1, high]
    return min(value, lefts + two, rights + one)


@njit
def span_exactly(sheet, by_level, f, first, last, table, low, high, price, usual, room, settled, own):
    """The same, with blocks of other features read person by person where they may hide a better stump.

    People in between have ranks of f after `first`, up to `last`.
    """
    one = _best_stump(sheet, by_level, f, first, last, table, low, high, price, usual, room, True)
    two = _best_stump(sheet, by_level, f, first, last, table, low, high, price, usual, room, False)
    return _together(one, two, low, high, settled, own)


@njit
def _best_stump(sheet, by_level, f, first, last, table, low, high, price, usual, room, to_left):
    """The best stump of other features on one side, people in between being there with what they may save."""
    _, rank, order, begins, starts, _, edges, blocks, _, n = sheet
    B, best, total = len(table) - 1, 0.0, 0.0
    before, bound = room[LEFT], room[LEFT + 1]
    for g in range(n):
        run, levels = 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            here, negative = table[high, k, 2] - table[low, k, 2], table[high, k, 3] - table[low, k, 3]
            here += table[low, k, 0] if to_left else table[B, k, 0] - table[high, k, 0]
            negative += table[low, k, 1] if to_left else table[B, k, 1] - table[high, k, 1]
            before[k], bound[k] = run, negative
            run += here
            levels += min(0.0, here)
        total = run
        if g == f:
            continue
        best = min(best, total)
        if by_level[g]:
            best = min(best, levels)
        for k in range(blocks[g], blocks[g + 1]):
            after = before[k + 1] if k + 1 < blocks[g + 1] else total
            best = min(best, after, total - after)
            bound[k] = room[NARROW, k] + min(before[k] + bound[k], total - after + bound[k])
    for g in range(n):
        R = starts[g + 1] - starts[g]
        for k in range(blocks[g], blocks[g + 1]):
            if g == f or bound[k] >= best:
                continue
            run = before[k]
            for r in range(edges[k + g], min(edges[k + g + 1], R - 1)):
                for s in range(begins[starts[g] + g + r], begins[starts[g] + g + r + 1]):
                    m = order[g, s]
                    where = rank[f, m]
                    if first < where <= last:
                        run += max(0.0, price[m]) if usual[m] else min(0.0, price[m])
                    elif (where <= first) == to_left:
                        run += price[m]
                best = min(best, run, total - run)
    return best


@njit
def _stumps(before, until, whole, f, blocks, by_level, room):
    """Bounds on all stumps of other features on either side, people in between on both (see `bounds`)."""
    one, two, one_total, two_total = 0.0, 0.0, 0.0, 0.0
    one_least, one_most, two_least, two_most = 0.0, 0.0, 0.0, 0.0
    for g in range(len(by_level)):
        if g == f:
            continue
        run, rest, low, high = 0.0, 0.0, 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            saved, adverse = until[k, 2] - before[k, 2], until[k, 3] - before[k, 3]
            here, negative = before[k, 0] + saved, before[k, 1] + adverse
            there, adverse = whole[k, 0] - until[k, 0] + saved, whole[k, 1] - until[k, 1] + adverse
            wide = room[WIDE, k]
            run += here
            rest += there
            low += min(0.0, here)
            high += min(0.0, there)
            one_least = min(one_least, run - wide * (here - negative))
            one_most = max(one_most, run - wide * negative)
            two_least = min(two_least, rest - wide * (there - adverse))
            two_most = max(two_most, rest - wide * adverse)
        if by_level[g]:
            one, two = min(one, low), min(two, high)
        one_total, two_total = run, rest
    one = min(one, one_total, one_least, one_total - one_most)
    return one, min(two, two_total, two_least, two_total - two_most)
