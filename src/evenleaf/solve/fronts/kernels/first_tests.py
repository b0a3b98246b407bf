"""Every first test above two stumps, two classes: a sweep that looks only at the cuts it has to.

Let a cut be somewhere between two others. Whoever is left of both is on its left, whoever is right of both on its
right, and those in between cost at least what each likes best; so the best stump left of the lower cut, the best stump
right of the upper one, and what is negative in between bound all cuts in between (ALGORITHM §3). Where that does not
rule them out, the cut in the middle is looked at, and there are two smaller intervals.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.sheet import best_stump, block_sums, narrow_blocks, stump_bound
from evenleaf.solve.search.kernels.compile import njit


@njit
def best_first_test(sheet, unordered, walked, price, start, stop):
    """The cheapest first test above two stumps below `start`: (price, row of the sheet, cut or mask of ranks).

    All cuts of ordered features, and all subsets of the levels of `walked` ones. The row is −1 where nothing is
    cheaper; leaves may have any number of people. Once `stop[0]` is set the answer means nothing.
    """
    targets, where, code = np.array([start]), -1, np.int64(-1)
    prices = price.reshape((1, len(price)))
    for f in range(len(sheet[0])):
        if unordered[sheet[0][f]] and not walked[sheet[0][f]]:
            continue
        codes, _, number = tests_below(sheet, unordered, f, prices, targets, 0, stop)
        if number > 0:
            where, code = f, codes[number - 1]
        if stop[0]:
            break
    return targets[0], where, code


@njit
def tests_below(sheet, unordered, f, prices, targets, most, stop):
    """The tests on a feature whose stumps cost less than the target at every multipliers: (codes, costs, number).

    `prices` are multipliers by member. With `most` 0 there is one of them, its target falls to the best that is found,
    and only the last of the codes counts. Else all tests are found, with what the stumps on either side cost (test by
    side by multipliers), and the number is −1 where they are more than `most`.
    """
    J, M = prices.shape
    inputs = np.empty((J, M, 2))
    for j in range(J):
        for m in range(M):
            inputs[j, m, 0], inputs[j, m, 1] = prices[j, m], min(0.0, prices[j, m])
    B = sheet[7][f + 1] - sheet[7][f]
    tables, made = np.empty((J, B + 1, 2, sheet[7][len(sheet[0])])), np.zeros(J, np.bool_)
    tables[0], made[0] = block_sums(sheet, f, inputs[0]), True
    state = sheet, unordered, f, prices, inputs, tables, made, workspace(sheet)
    found = np.empty(64, np.int64), np.empty((64, 2, J)), np.int64(0)  # a plain 0 would be compiled apart
    if unordered[sheet[0][f]]:
        found = _subsets_below(state, targets, most, stop, found)
    else:
        found = _cuts_below(state, targets, most, stop, found)
    return found[0], found[1], -1 if most and found[2] > most else found[2]


@njit
def block_bounds(sheet, unordered, f, prices):
    """What a cut of each block of an ordered feature, its upper end included, costs at least: block by multipliers."""
    blocks, room = sheet[7], workspace(sheet)
    J, B = len(prices), blocks[f + 1] - blocks[f]
    values, inputs = np.empty((B, J)), np.empty((prices.shape[1], 2))
    for j in range(J):
        for m in range(prices.shape[1]):
            inputs[m, 0], inputs[m, 1] = prices[j, m], min(0.0, prices[j, m])
        table = block_sums(sheet, f, inputs)
        one = 0.0
        for b in range(B + 1):
            known = bounds(table[b], table[B], sheet, unordered, room)
            if b:
                inside = 0.0
                for k in range(blocks[1]):
                    inside += table[b, 1, k] - table[b - 1, 1, k]
                values[b - 1, j] = one + known[4] + inside
            one = known[1]
    return values


@njit
def _table(state, j):
    """The table at some multipliers, made when it is first asked for."""
    sheet, _, f, _, inputs, tables, made, _ = state
    if not made[j]:
        tables[j], made[j] = block_sums(sheet, f, inputs[j]), True
    return tables[j]


@njit
def _noted(found, code, one, two):
    codes, costs, used = found
    if used == len(codes):
        more, dearer = np.empty(2 * used, np.int64), np.empty((2 * used, 2, len(one)))
        more[:used], dearer[:used] = codes, costs
        codes, costs = more, dearer
    codes[used], costs[used, 0], costs[used, 1] = code, one, two
    return codes, costs, used + 1


@njit
def total_of(sums, sheet):
    """What all members of a table's row cost: any one feature's blocks hold everybody."""
    total = 0.0
    for k in range(sheet[7][1]):
        total += sums[0, k]
    return total


@njit
def workspace(sheet):
    """Room for one test: the sums on the right, and by block what is before it and its bound, left and right."""
    K = sheet[7][len(sheet[0])]
    return np.empty((2, K)), narrow_blocks(sheet), np.empty(K), np.empty(K), np.empty(K), np.empty(K)


@njit
def bounds(left, whole, sheet, unordered, room):
    """The left side's best stump so far, a bound on all of its stumps, its price; the same of the right side."""
    right, narrow, before, low, before_right, low_right = room
    for k in range(right.shape[1]):
        right[0, k] = whole[0, k] - left[0, k]
        right[1, k] = whole[1, k] - left[1, k]
    one_total, two_total = total_of(left, sheet), total_of(right, sheet)
    one, one_bound = stump_bound(left, one_total, sheet, unordered, narrow, before, low)
    two, two_bound = stump_bound(right, two_total, sheet, unordered, narrow, before_right, low_right)
    return one, one_bound, one_total, two, two_bound, two_total


@njit
def exactly(known, sheet, unordered, price, f, code, room):
    """The best stumps on both sides, after `bounds` has told what is known of them."""
    _, _, before, low, before_right, low_right = room
    left = np.bool_(True)  # plain True and False would be compiled apart
    one = best_stump(known[2], known[0], before, low, sheet, unordered, price, f, code, left)
    return one, best_stump(known[5], known[3], before_right, low_right, sheet, unordered, price, f, code, not left)


@njit
def left_of(sheet, f, cut, table, inputs, left):
    """The sums of everybody up to a cut: whole blocks, and those of its own block one by one."""
    order, begins, starts, edges, blocks, block = sheet[2], sheet[3], sheet[4], sheet[6], sheet[7], sheet[8]
    b = block[order[f, begins[starts[f] + f + cut]], f]
    left[:] = table[b - blocks[f]]
    n = block.shape[1]
    for s in range(begins[starts[f] + f + edges[b + f]], begins[starts[f] + f + cut + 1]):
        m = order[f, s]
        for q in range(inputs.shape[1]):
            for g in range(n):
                left[q, block[m, g]] += inputs[m, q]


@njit
def _cuts_below(state, targets, most, stop, found):
    """The cuts between blocks first, then those within the blocks that may hide a cheap one."""
    sheet, unordered, f, prices, inputs, tables, _, room = state
    edges, blocks = sheet[6], sheet[7]
    J, B, at = len(targets), blocks[f + 1] - blocks[f], blocks[f] + f
    negative = np.empty((J, sheet[4][f + 1] - sheet[4][f] + 1))
    below, above = np.zeros((J, B + 1)), np.zeros((J, B + 1))
    exact, hidden = np.zeros((J, B + 1), np.bool_), np.ones(B, np.bool_)
    for j in range(J):
        if j and not (hidden.any() or found[2]):
            break
        _negative(sheet, f, inputs[j], negative[j])
        table = _table(state, j)
        for b in range(B + 1):
            known = bounds(table[b], table[B], sheet, unordered, room)
            below[j, b], above[j, b] = known[1], known[4]
        if j == 0:
            found = _between(state, below, above, exact, targets, most, found)
        for b in range(B):
            first, last = edges[at + b] - 1, edges[at + b + 1] - 1
            inside = negative[j, last + 1] - negative[j, first + 1]
            hidden[b] &= last - first > 1 and below[j, b] + above[j, b + 1] + inside < targets[j]
    for b in range(B):
        for j in range(J):
            for end in (b, b + 1):
                if hidden[b] and not exact[j, end]:
                    known = bounds(tables[j, end], tables[j, B], sheet, unordered, room)
                    cut = edges[at + end] - 1
                    below[j, end], above[j, end] = exactly(known, sheet, unordered, prices[j], f, cut, room)
                    exact[j, end] = True
            first, last = edges[at + b] - 1, edges[at + b + 1] - 1
            inside = negative[j, last + 1] - negative[j, first + 1]
            hidden[b] &= below[j, b] + above[j, b + 1] + inside < targets[j]
        if hidden[b]:
            ends = edges[at + b] - 1, edges[at + b + 1] - 1
            found = _within(state, negative, ends, below[:, b], above[:, b + 1], targets, most, stop, found)
        if stop[0] or (most and found[2] > most):
            break
    return found


@njit
def _between(state, below, above, exact, targets, most, found):
    """The cuts between blocks, the cheapest first."""
    sheet, unordered, f, prices, _, _, _, room = state
    edges, blocks = sheet[6], sheet[7]
    J, B = len(targets), blocks[f + 1] - blocks[f]
    one, two = np.empty(J), np.empty(J)
    for b in np.argsort(below[0] + above[0], kind="mergesort"):
        if b == 0 or b == B or below[0, b] + above[0, b] >= targets[0]:
            continue
        cut, alive = edges[blocks[f] + f + b] - 1, True
        for j in range(J):
            table = _table(state, j)
            known = bounds(table[b], table[B], sheet, unordered, room)
            one[j], two[j] = known[1], known[4]
            if one[j] + two[j] < targets[j]:
                one[j], two[j] = exactly(known, sheet, unordered, prices[j], f, cut, room)
                if j == 0:
                    below[0, b], above[0, b], exact[0, b] = one[0], two[0], True
            if one[j] + two[j] >= targets[j]:
                alive = False
                break
        if alive:
            found = _noted(found, np.int64(cut), one, two)
            if most == 0:
                targets[0] = one[0] + two[0]
            elif found[2] > most:
                break
    return found


@njit
def _negative(sheet, f, inputs, negative):
    """What is negative of the prices before each rank of a feature."""
    order, begins, starts = sheet[2], sheet[3], sheet[4]
    negative[0] = 0.0
    for r in range(starts[f + 1] - starts[f]):
        negative[r + 1] = negative[r]
        for s in range(begins[starts[f] + f + r], begins[starts[f] + f + r + 1]):
            negative[r + 1] += inputs[order[f, s], 1]


@njit
def _within(state, negative, ends, one, two, targets, most, stop, found):
    """The cuts between two others, by halves; `one` and `two` are the stumps left of the first, right of the last."""
    sheet, unordered, f, prices, inputs, _, _, room = state
    J = len(targets)
    left = np.empty((2, sheet[7][len(sheet[0])]))
    cuts, stumps, pile = np.empty((64, 2), np.int64), np.empty((64, 2, J)), 1
    cuts[0, 0], cuts[0, 1], stumps[0, 0], stumps[0, 1] = ends[0], ends[1], one, two
    under, over = np.empty(J), np.empty(J)
    while pile > 0 and not stop[0]:
        pile -= 1
        low, high = cuts[pile]
        one, two = stumps[pile, 0].copy(), stumps[pile, 1].copy()
        if most == 0 and one[0] + two[0] + negative[0, high + 1] - negative[0, low + 1] >= targets[0]:
            continue
        cut = middle(sheet[3], sheet[4][f] + f, low, high, low + 1)
        here, lower, upper = True, cut - low > 1, high - cut > 1
        for j in range(J):
            if not (here or lower or upper):
                break
            table = _table(state, j)
            left_of(sheet, f, cut, table, inputs[j], left)
            known = bounds(left, table[len(table) - 1], sheet, unordered, room)
            under[j], over[j] = known[1], known[4]
            for attempt in range(2):
                if attempt:
                    under[j], over[j] = exactly(known, sheet, unordered, prices[j], f, cut, room)
                here &= under[j] + over[j] < targets[j]
                lower &= one[j] + over[j] + negative[j, cut + 1] - negative[j, low + 1] < targets[j]
                upper &= under[j] + two[j] + negative[j, high + 1] - negative[j, cut + 1] < targets[j]
                if not (here or lower or upper):
                    break
        if here:
            found = _noted(found, np.int64(cut), under, over)
            if most == 0:
                targets[0] = under[0] + over[0]
            elif found[2] > most:
                break
        if pile + 2 > len(cuts):
            more, longer = np.empty((2 * len(cuts), 2), np.int64), np.empty((2 * len(cuts), 2, J))
            more[: len(cuts)], longer[: len(cuts)] = cuts, stumps
            cuts, stumps = more, longer
        if upper:
            cuts[pile, 0], cuts[pile, 1], stumps[pile, 0], stumps[pile, 1] = cut, high, under, two
            pile += 1
        if lower:
            cuts[pile, 0], cuts[pile, 1], stumps[pile, 0], stumps[pile, 1] = low, cut, one, over
            pile += 1
    return found


@njit
def middle(begins, base, low, high, first):
    """The cut, from `first` on, with about half of the members between two cuts on its left."""
    half = (begins[base + low + 1] + begins[base + high + 1]) // 2
    last = high - 1
    while first < last:
        cut = (first + last) // 2
        if begins[base + cut + 1] < half:
            first = cut + 1
        else:
            last = cut
    return first


@njit
def _subsets_below(state, targets, most, stop, found):
    """The subsets one after the other in the order of the Gray code: one level changes sides at a time."""
    sheet, unordered, f, prices, _, tables, _, room = state
    J, B = len(targets), sheet[7][f + 1] - sheet[7][f]
    left, mask, one, two = np.zeros((J, 2, tables.shape[3])), np.int64(0), np.empty(J), np.empty(J)
    for j in range(J):
        _table(state, j)
    for step in range(1, 1 << (B - 1)):
        if stop[0] or (most and found[2] > most):
            break
        before, alive = mask, True
        for j in range(J):
            mask = flip(step, before, tables[j], left[j])
            if not alive:
                continue
            known = bounds(left[j], tables[j, B], sheet, unordered, room)
            alive = known[1] + known[4] < targets[j]
            if alive:
                one[j], two[j] = exactly(known, sheet, unordered, prices[j], f, mask, room)
                alive = one[j] + two[j] < targets[j]
        if alive:
            found = _noted(found, mask, one, two)
            if most == 0:
                targets[0] = one[0] + two[0]
    return found


@njit
def flip(step, mask, table, left):
    """The next subset: one level changes sides. Returns its mask."""
    bit = 0
    while not (step >> bit) & 1:
        bit += 1
    mask ^= np.int64(1) << bit
    if (mask >> bit) & 1:
        left += table[bit + 1] - table[bit]
    else:
        left -= table[bit + 1] - table[bit]
    return mask
