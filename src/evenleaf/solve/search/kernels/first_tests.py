"""Every first test above two stumps, two classes: a sweep that looks only at the cuts it has to.

Let a cut be somewhere between two others. Whoever is left of both is on its left, whoever is right of both on its
right, and those in between cost at least what each likes best; so the best stump left of the lower cut, the best stump
right of the upper one, and what is negative in between bound all cuts in between (ALGORITHM §3). Where that does not
rule them out, the cut in the middle is looked at, and there are two smaller intervals.

`prices` are multipliers by member, and tests are asked for whose stumps cost less than the target at every one of them.
`inputs` are prices and what is negative of them.
With `most` 0 there is one of them, and its target falls to the best that is found, or to `best` where that is lower;
only the last of the codes counts. So no code says that nothing is below the first target, though `best` is known.
Else all tests are found, with what the stumps on either side cost (test by side by multipliers), and the number is −1
where they are more than `most`. Leaves may have any number of people. Once `stop[0]` is set the answer means nothing.

Kernels that call others are compiled with all of them, so that calls are few levels deep here, and rows are copied
number by number: a slice that is assigned takes as long to compile as all the rest.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.sheet import (
    LEFT,
    WIDE,
    add_kinds,
    add_some,
    best_stump,
    block_sums,
    flip_cells,
    kinds,
    nearer_end,
    row_of,
    stump_bound,
    subtracted,
    total_of,
    workspace,
)


@njit
def block_bounds(sheet, by_level, f, prices):
    """What a cut of each block of an ordered feature, its upper end included, costs at least: block by multipliers."""
    blocks, room = sheet[7], workspace(sheet)
    J, B = len(prices), blocks[f + 1] - blocks[f]
    values = np.empty((B, J))
    inputs = make_inputs(prices)
    for j in range(J):
        table = block_sums(sheet, f, inputs[j])
        one = 0.0
        for b in range(B + 1):
            left, right = bounds(table[b], table[B], blocks, by_level, room)
            if b:
                inside = 0.0
                for k in range(blocks[1]):
                    inside += table[b, 1, k] - table[b - 1, 1, k]
                values[b - 1, j] = one + right + inside
            one = left
    return values


@njit
def make_inputs(prices):
    """Prices and what is negative of them: multipliers by member by both."""
    J, M = prices.shape
    inputs = np.empty((J, M, 2))
    for j in range(J):
        for m in range(M):
            inputs[j, m, 0], inputs[j, m, 1] = prices[j, m], min(0.0, prices[j, m])
    return inputs


@njit
def noted(found, code, costs):
    """The list with one more test; `costs` is side by multipliers."""
    codes, known, used = found
    if used == len(codes):
        more, longer = np.empty(2 * used, np.int64), np.empty((2 * used, 2, known.shape[2]))
        for s in range(used):
            more[s] = codes[s]
            for side in range(2):
                for j in range(known.shape[2]):
                    longer[s, side, j] = known[s, side, j]
        codes, known = more, longer
    codes[used] = code
    for side in range(2):
        for j in range(known.shape[2]):
            known[used, side, j] = costs[side, j]
    return codes, known, used + 1


@njit
def bounds(left, whole, blocks, by_level, room):
    """Bounds on all stumps of the left side and of the right side.

    A stump costs nothing, what everybody costs, or what those on one side of its cut cost; so only the least and the
    most that people before a cut may cost are asked for. Within a block that is where all who are negative come first,
    or all who are positive; in a block of one rank there is no cut but its end.
    """
    one, two, one_total, two_total = 0.0, 0.0, 0.0, 0.0
    one_least, one_most, two_least, two_most = 0.0, 0.0, 0.0, 0.0
    for g in range(len(by_level)):
        run, rest, low, high = 0.0, 0.0, 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            here, negative, wide = left[0, k], left[1, k], room[WIDE, k]
            there, adverse = whole[0, k] - here, whole[1, k] - negative
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


@njit
def exactly(left, whole, sheet, by_level, price, f, code, room, to_left):
    """The best stump on one side of a test, of which `left` are the sums of its left side."""
    blocks = sheet[7]
    if not to_left:
        subtracted(whole, left, room)  # into its first rows
        left = room[:2]
    total = total_of(left, blocks)
    best = stump_bound(left, total, blocks, by_level, room, LEFT)[0]
    return best_stump(total, best, room, LEFT, sheet, by_level, price, f, code, to_left)


@njit
def cuts_below(sheet, by_level, f, prices, inputs, targets, best, most, stop):
    """The cuts of a feature that cost less than the targets: (codes, costs, number).

    Runs of blocks are halved as long as they may hide a cheap cut, and so are then the cuts within a block.
    """
    edges, blocks, room = sheet[6], sheet[7], workspace(sheet)
    J, B, K, at = len(targets), blocks[f + 1] - blocks[f], blocks[sheet[9]], blocks[f] + f
    tables, made = np.empty((J, B + 1, K, 2)), np.zeros(J, np.bool_)
    left, whole = np.empty((2, K)), np.empty((J, 2, K))
    negative = np.empty((J, sheet[4][f + 1] - sheet[4][f] + 1))
    for j in range(J):
        negative_before(sheet, f, inputs[j], negative[j])
    # Of each end of a block: the stumps left of it and right of it, or bounds; what is not known yet rules nothing out.
    known, exact = np.full((2, J, B + 1), -INFINITE), np.zeros((2, J, B + 1), np.bool_)
    for j in range(J):
        known[0, j, 0], known[1, j, B] = 0.0, 0.0  # nobody is there
        exact[0, j, 0], exact[1, j, B] = True, True
    found = np.empty(64, np.int64), np.empty((64, 2, J)), np.int64(0)  # a plain 0 would be compiled apart
    runs, pile = np.empty((64, 2), np.int64), np.int64(1)
    runs[0, 0], runs[0, 1] = 0, B
    ends = np.empty((2, J))
    while pile > 0 and not stop[0] and not (most and found[2] > most):
        pile -= 1
        low, high = runs[pile, 0], runs[pile, 1]
        first, last = edges[at + low] - 1, edges[at + high] - 1
        if last - first <= 1 or not _may_hide(known, negative, first, last, low, high, targets):
            continue
        if high - low == 1:
            for j in range(J):
                _make(sheet, f, prices, tables, whole, made, j)
            found = in_block(
                sheet, by_level, f, prices, inputs, tables, whole, left, room, negative, low, high, known, exact, ends,
                targets, (best, most, stop), found,
            )  # fmt: skip
            continue
        half = (low + high) // 2
        cut = edges[at + half] - 1
        cheap, lower, upper = True, True, True
        for j in range(J):
            if not (cheap or lower or upper):
                break
            _make(sheet, f, prices, tables, whole, made, j)
            row_of(tables[j, half], left)
            known[0, j, half], known[1, j, half] = bounds(left, whole[j], blocks, by_level, room)
            cheap &= known[0, j, half] + known[1, j, half] < targets[j]
            for side in range(2):
                if cheap:
                    know(sheet, by_level, f, prices, tables, whole, left, room, side, j, half, known, exact)
                    cheap &= known[0, j, half] + known[1, j, half] < targets[j]
            lower &= _may_hide(known, negative, first, cut, low, half, targets)
            upper &= _may_hide(known, negative, cut, last, half, high, targets)
        if cheap:
            for j in range(J):
                ends[0, j], ends[1, j] = known[0, j, half], known[1, j, half]
            found = noted(found, cut, ends)
            if most == 0:
                targets[0] = min(best, ends[0, 0] + ends[1, 0])
        if upper:
            runs[pile, 0], runs[pile, 1] = half, high
            pile += 1
        if lower:
            runs[pile, 0], runs[pile, 1] = low, half
            pile += 1
    return found[0], found[1], -1 if most and found[2] > most else found[2]


@njit
def _may_hide(known, negative, first, last, low, high, targets):
    """Whether a cut between two ends of blocks may cost less than every target."""
    for j in range(len(targets)):
        inside = negative[j, last + 1] - negative[j, first + 1]
        if known[0, j, low] + known[1, j, high] + inside >= targets[j]:
            return False
    return True


@njit
def know(sheet, by_level, f, prices, tables, whole, left, room, side, j, end, known, exact):
    """What the best stump left of the end of a block costs (side 0), or right of it (1)."""
    if not exact[side, j, end]:
        cut = sheet[6][sheet[7][f] + f + end] - 1
        row_of(tables[j, end], left)
        known[side, j, end] = exactly(left, whole[j], sheet, by_level, prices[j], f, cut, room, side == 0)
        exact[side, j, end] = True


@njit
def in_block(
    sheet, by_level, f, prices, inputs, tables, whole, left, room, negative, low, high, known, exact, ends, targets,
    limits, found,
):  # fmt: skip
    """The cuts within a block, where the stumps before it and behind it do not rule them out."""
    at = sheet[7][f] + f
    first, last = sheet[6][at + low] - 1, sheet[6][at + high] - 1
    for side in range(2):
        for j in range(len(targets)):
            end = high if side else low
            know(sheet, by_level, f, prices, tables, whole, left, room, side, j, end, known, exact)
            ends[side, j] = known[side, j, end]
        if not _may_hide(known, negative, first, last, low, high, targets):
            return found
    return _within(
        sheet, by_level, f, prices, inputs, tables, whole, left, room, negative, first, last, ends, targets, limits,
        found,
    )  # fmt: skip


@njit
def cheapest_cuts(sheet, by_level, prices, target, stop, best):
    """best[f]: a cut of row f that costs less than those of the rows before it and the target, or −1; the least cost.

    Only rows for first tests alone are looked at.
    """
    targets, inputs = np.full(1, target), make_inputs(prices)
    for f in range(sheet[9], len(best)):
        codes, _, number = cuts_below(sheet, by_level, f, prices, inputs, targets, INFINITE, 0, stop)
        best[f] = codes[number - 1] if number > 0 else -1
    return targets[0]


@njit
def _make(sheet, f, prices, tables, whole, made, j):
    """The sums at some multipliers, made when they are first asked for."""
    if not made[j]:
        add_kinds(sheet, f, prices[j], kinds(prices[j], np.empty(0, np.bool_)), tables[j])
        row_of(tables[j, tables.shape[1] - 1], whole[j])
        made[j] = True


@njit
def negative_before(sheet, f, inputs, negative):
    """What is negative of the prices before each rank of a feature."""
    order, begins, starts = sheet[2], sheet[3], sheet[4]
    negative[0] = 0.0
    for r in range(starts[f + 1] - starts[f]):
        negative[r + 1] = negative[r]
        for s in range(begins[starts[f] + f + r], begins[starts[f] + f + r + 1]):
            negative[r + 1] += inputs[order[f, s], 1]


@njit
def _within(
    sheet, by_level, f, prices, inputs, tables, whole, left, room, negative, first, last, ends, targets, limits, found
):
    """The cuts between two others, by halves; `ends` are the stumps left of the first and right of the last."""
    best, most, stop = limits
    J, blocks, size = len(targets), sheet[7], 64
    cuts, stumps, pile = np.empty((size, 2), np.int64), np.empty((size, 2, J)), np.int64(0)
    pile = _pile(cuts, stumps, pile, first, last, ends[0], ends[1])
    here = np.empty((2, J))  # the stumps of the cut that is looked at
    ends = np.empty((2, J))
    while pile > 0 and not stop[0]:
        pile -= 1
        low, high = cuts[pile, 0], cuts[pile, 1]
        for j in range(J):
            ends[0, j], ends[1, j] = stumps[pile, 0, j], stumps[pile, 1, j]
        if most == 0 and ends[0, 0] + ends[1, 0] + negative[0, high + 1] - negative[0, low + 1] >= targets[0]:
            continue
        cut = middle(sheet[3], sheet[4][f] + f, low, high, low + 1)
        alive, lower, upper = True, cut - low > 1, high - cut > 1
        for j in range(J):
            if not (alive or lower or upper):
                break
            row, begin, end, sign = nearer_end(sheet, f, cut)
            row_of(tables[j, row], left)
            add_some(sheet, f, begin, end, sign, inputs[j], left)
            here[0, j], here[1, j] = bounds(left, whole[j], blocks, by_level, room)
            for attempt in range(3):  # the bounds, then the left side exactly, then the right side
                if attempt == 1 and (alive or upper):
                    here[0, j] = exactly(left, whole[j], sheet, by_level, prices[j], f, cut, room, attempt == 1)
                if attempt == 2 and (alive or lower):
                    here[1, j] = exactly(left, whole[j], sheet, by_level, prices[j], f, cut, room, attempt == 1)
                alive &= here[0, j] + here[1, j] < targets[j]
                lower &= ends[0, j] + here[1, j] + negative[j, cut + 1] - negative[j, low + 1] < targets[j]
                upper &= here[0, j] + ends[1, j] + negative[j, high + 1] - negative[j, cut + 1] < targets[j]
                if not (alive or lower or upper):
                    break
        if alive:
            found = noted(found, cut, here)
            if most == 0:
                targets[0] = min(best, here[0, 0] + here[1, 0])
            elif found[2] > most:
                break
        # Each halving leaves one more run waiting, and nothing is halved more often than numbers have digits.
        if upper:
            pile = _pile(cuts, stumps, pile, cut, high, here[0], ends[1])
        if lower:
            pile = _pile(cuts, stumps, pile, low, cut, ends[0], here[1])
    return found


@njit
def _pile(cuts, stumps, pile, low, high, one, two):
    """One more run of cuts on the pile, with the stumps left of it and right of it."""
    cuts[pile, 0], cuts[pile, 1] = low, high
    for j in range(len(one)):
        stumps[pile, 0, j], stumps[pile, 1, j] = one[j], two[j]
    return pile + 1


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
def subsets_below(sheet, by_level, f, prices, targets, best, most, stop):
    """The subsets of a feature's levels that cost less than the targets, one after the other: as `cuts_below`."""
    blocks, room, J = sheet[7], workspace(sheet), len(targets)
    B, K = blocks[f + 1] - blocks[f], blocks[sheet[9]]
    tables, made = np.empty((J, B + 1, K, 2)), np.zeros(J, np.bool_)
    left, whole, mask, costs = np.zeros((J, 2, K)), np.empty((J, 2, K)), np.int64(0), np.empty((2, J))
    found = np.empty(64, np.int64), np.empty((64, 2, J)), np.int64(0)
    for j in range(J):
        _make(sheet, f, prices, tables, whole, made, j)
    for step in range(1, 1 << (B - 1)):
        if stop[0] or (most and found[2] > most):
            break
        before, alive = mask, True
        for j in range(J):
            mask = flip_cells(step, before, tables[j], left[j])
            if not alive:
                continue
            one, two = bounds(left[j], whole[j], blocks, by_level, room)
            alive = one + two < targets[j]
            costs[0, j], costs[1, j] = one, two
            for side in range(2):
                if alive:
                    costs[side, j] = exactly(left[j], whole[j], sheet, by_level, prices[j], f, mask, room, side == 0)
                    alive = costs[0, j] + costs[1, j] < targets[j]
        if alive:
            found = noted(found, mask, costs)
            if most == 0:
                targets[0] = min(best, costs[0, 0] + costs[1, 0])
    return found[0], found[1], -1 if most and found[2] > most else found[2]
