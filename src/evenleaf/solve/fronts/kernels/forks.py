"""A categorical test of many levels above two stumps, two classes: given the stumps, each level picks its side.

So min over pairs of stumps of Σ_levels min(price on the left, price on the right) bounds every subset of levels at
once (ALGORITHM §3), where the subsets themselves could never be tried one by one.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.fronts import grown, subset_sums
from evenleaf.solve.fronts.kernels.needless import move, undominated
from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.order import stable_order

SHOWN = 4  # levels of a composite stump that have one label each
_WORK = 400  # partial sums looked at for every point that a list may have
COMPOSITE = 2  # as a stump's sign: its rarer levels take their own labels, level by level of the root


@njit
def level_sums(ranks, sizes, unordered, members, f, numbered, n_levels, prices, allowed, most_levels):
    """Stumps and what each costs among the people of each level of feature f.

    `numbered[level]` counts the levels that somebody has. Returns (stumps, costs): a stump is (feature, cut or mask,
    sign), sign 1 giving label 1 up to the cut (or to the levels of the mask), −1 giving it beyond; the feature −1 is
    no test, with label 1 where the sign is 1. costs[s, level, j].
    """
    J, F = prices.shape[1], len(sizes)
    total = 2
    for g in range(F):
        if allowed[g]:
            total += 2 * sizes[g] if not unordered[g] else 1 + (1 << min(sizes[g], most_levels))
    stumps, costs, used = np.empty((total, 3), np.int64), np.empty((total, n_levels, J)), 2
    stumps[0, 0], stumps[0, 1], stumps[0, 2] = -1, 0, 0
    stumps[1, 0], stumps[1, 1], stumps[1, 2] = -1, 0, 1
    whole, level, price = np.zeros((n_levels, J)), np.empty(len(members), np.int64), np.empty((len(members), J))
    for m in range(len(members)):
        level[m] = numbered[ranks[f, members[m]]]
        for j in range(J):
            price[m, j] = prices[members[m], j]
            whole[level[m], j] += price[m, j]
    _put(costs, 0, whole, 0.0)
    _put(costs, 1, whole, 1.0)
    for g in range(F):
        if not allowed[g]:
            continue
        table, heavy = np.zeros((sizes[g], n_levels, J)), np.zeros(sizes[g], np.int64)
        if J == 1:
            for m in range(len(members)):
                rank = ranks[g, members[m]]
                heavy[rank] += 1
                table[rank, level[m], 0] += price[m, 0]
        else:
            for m in range(len(members)):
                rank = ranks[g, members[m]]
                heavy[rank] += 1
                for j in range(J):
                    table[rank, level[m], j] += price[m, j]
        if unordered[g]:
            used = _level_stumps(g, table, heavy, most_levels, stumps, costs, used)
        else:
            used = _cut_stumps(g, table, heavy, whole, stumps, costs, used)
    return stumps[:used], costs[:used]


@njit
def _cut_stumps(g, table, heavy, whole, stumps, costs, used):
    run, last = np.zeros(whole.shape), len(heavy) - 1
    while last > 0 and heavy[last] == 0:
        last -= 1
    for rank in range(last):
        if heavy[rank] == 0:
            continue
        for sign in range(2):
            stumps[used + sign, 0], stumps[used + sign, 1], stumps[used + sign, 2] = g, rank, 1 - 2 * sign
        for level in range(whole.shape[0]):
            for j in range(whole.shape[1]):
                run[level, j] += table[rank, level, j]
                costs[used, level, j] = run[level, j]
                costs[used + 1, level, j] = whole[level, j] - run[level, j]
        used += 2
    return used


@njit
def _put(costs, here, table, share):
    """What a stump costs becomes a share of a table."""
    for level in range(table.shape[0]):
        for j in range(table.shape[1]):
            costs[here, level, j] = share * table[level, j]


@njit
def _level_stumps(g, table, heavy, most_levels, stumps, costs, used):
    """Every subset of the commonest levels; where there are more levels, those are composite.

    In a composite, each of the rarer levels takes its cheaper label, and may do so anew at each level of the root.
    """
    keys, present = np.empty(len(heavy)), 0
    for level in range(len(heavy)):
        keys[level] = -heavy[level]
        present += heavy[level] > 0
    if present < 2:
        return used
    levels = stable_order(keys)
    whole = present <= most_levels
    shown = present if whole else min(SHOWN, most_levels)
    spare = np.zeros((costs.shape[1], costs.shape[2]))
    for place in range(shown, present):
        for level in range(spare.shape[0]):
            for j in range(spare.shape[1]):
                spare[level, j] += min(0.0, table[levels[place], level, j])
    for chosen in range(1 if whole else 0, (1 << shown) - (1 if whole else 0)):
        _put(costs, used, spare, 1.0)
        mask = np.int64(0)
        for bit in range(shown):
            if (chosen >> bit) & 1:
                mask |= np.int64(1) << levels[bit]
                for level in range(spare.shape[0]):
                    for j in range(spare.shape[1]):
                        costs[used, level, j] += table[levels[bit], level, j]
        stumps[used, 0], stumps[used, 1], stumps[used, 2] = g, mask, 1 if whole else COMPOSITE
        used += 1
    return used


@njit
def _by_spread(costs):
    """The least cost of each level, and the levels, those that tell stumps apart first."""
    L, S = costs.shape
    least, spread = np.empty(L), np.empty(L)
    for level in range(L):
        low, high = INFINITE, -INFINITE
        for b in range(S):
            low, high = min(low, costs[level, b]), max(high, costs[level, b])
        least[level], spread[level] = low, low - high
    return least, stable_order(spread)


@njit
def best_fork(costs, sides, cutoff, stop):
    """The cheapest pair of stumps at one multipliers: (price, left, right); `sides` says who is on which side.

    `costs[level, stump]`, so that the innermost loop runs over stumps side by side. Nothing is found at or above the
    cutoff. With no level placed, the sides are alike and each pair is looked at once. Once `stop[0]` is set the answer
    means nothing.
    """
    L, S = costs.shape
    left, right, shared = np.zeros(S), np.zeros(S), 0.0
    symmetric = True
    least, order = _by_spread(costs)
    free, n = np.empty(L, np.int64), 0
    for level in order:
        for b in range(S):
            left[b] += costs[level, b] if sides[level] == 0 else 0.0
            right[b] += costs[level, b] if sides[level] == 1 else 0.0
        symmetric = symmetric and sides[level] == 2
        if sides[level] == 2:
            shared += least[level]
            free[n] = level
            n += 1
    ahead, cheapest = np.zeros(n + 1), INFINITE
    for place in range(n - 1, -1, -1):
        ahead[place] = ahead[place + 1] + least[free[place]]
    for b in range(S):
        cheapest = min(cheapest, right[b])
    best, best_l, best_r = cutoff, -1, -1
    price = np.empty(S)
    for a in range(S):
        if stop[0]:
            break
        if left[a] + cheapest + shared >= best:
            continue
        start = a if symmetric else 0
        for b in range(start, S):
            price[b] = left[a] + right[b]
        hopeful = True
        for place in range(n):
            mine, row, lowest = costs[free[place], a], costs[free[place]], INFINITE
            for b in range(start, S):
                price[b] += min(mine, row[b])
                lowest = min(lowest, price[b])
            if lowest + ahead[place + 1] >= best:
                hopeful = False
                break
        if hopeful:
            for b in range(start, S):
                if price[b] < best:
                    best, best_l, best_r = price[b], a, b
    return best, best_l, best_r


@njit
def alive_forks(costs, sides, rest, target, most, stop):
    """The pairs of stumps that stay below the target at every multipliers: (pairs, number), −1 beyond `most`.

    `costs[j, level, stump]`; the first multipliers are looked at first, and the others only where those do not settle.
    """
    L, S = costs.shape[1:]
    pairs, used = np.empty((most + 1, 2), np.int64), 0
    symmetric, ahead = True, np.zeros(L + 1)
    for level in range(L):
        symmetric = symmetric and sides[level] == 2
    least, order = _by_spread(costs[0])
    for place in range(L - 1, -1, -1):
        ahead[place] = ahead[place + 1] + least[order[place]]
    price = np.empty(S)
    for a in range(S):
        if stop[0]:
            return pairs, -1
        start = a if symmetric else 0
        for b in range(start, S):
            price[b] = rest[0]
        hopeful = True
        for place in range(L):
            level = order[place]
            mine, row, lowest = costs[0, level, a], costs[0, level], INFINITE
            if sides[level] == 2:
                for b in range(start, S):
                    price[b] += min(mine, row[b])
                    lowest = min(lowest, price[b])
            elif sides[level] == 0:
                for b in range(start, S):
                    price[b] += mine
                    lowest = min(lowest, price[b])
            else:
                for b in range(start, S):
                    price[b] += row[b]
                    lowest = min(lowest, price[b])
            if lowest + ahead[place + 1] >= target:
                hopeful = False
                break
        if not hopeful:
            continue
        for b in range(start, S):
            if price[b] < target and _stays_below(costs, sides, rest, target, a, b):
                if used == most:
                    return pairs, -1
                pairs[used, 0], pairs[used, 1] = a, b
                used += 1
    return pairs, used


@njit
def _stays_below(costs, sides, rest, target, a, b):
    alive = True
    for j in range(1, len(rest)):
        price = rest[j]
        for level in range(len(sides)):
            one, two = costs[j, level, a], costs[j, level, b]
            price += one if sides[level] == 0 else (two if sides[level] == 1 else min(one, two))
        if price >= target:
            alive = False
            break
    return alive


@njit
def stump_by_level(ranks, unordered, members, f, numbered, n_levels, vectors, stump):
    """The vector that a stump gives the people of each level of feature f."""
    sums = np.zeros((n_levels, vectors.shape[1]))
    g, code, sign = stump[0], stump[1], stump[2]
    for i in members:
        if g < 0:
            one = sign == 1
        elif unordered[g]:
            one = (code >> ranks[g, i]) & 1 == 1
        else:
            one = (ranks[g, i] <= code) == (sign == 1)
        if one:
            level = numbered[ranks[f, i]]
            for q in range(vectors.shape[1]):
                sums[level, q] += vectors[i, q]
    return sums


@njit
def fork_points(by_level, pairs, sides, levels, heads, multipliers, rest, target, most, mode, stop):
    """The points of every subset of levels above each pair of stumps: (points, masks on the left, pair, number)."""
    L, width = by_level.shape[1], by_level.shape[2]
    points, masks, origin, used = np.empty((64, width)), np.empty((64, 1), np.int64), np.empty((64, 1), np.int64), 0
    free, work = np.flatnonzero(sides == 2), np.array([_WORK * most])
    fixed = np.int64(0)
    for level in range(L):
        if sides[level] != 1:
            fixed |= np.int64(1) << levels[level]
    for number in range(len(pairs)):
        a, b = pairs[number, 0], pairs[number, 1]
        base, change = np.zeros(width), np.empty((len(free), width))
        for q in range(width):
            for level in range(L):
                base[q] += by_level[b if sides[level] == 1 else a, level, q]
            for place in range(len(free)):
                change[place, q] = by_level[b, free[place], q] - by_level[a, free[place], q]
        found, moved, count = subset_sums(
            change, base, levels[free], heads[free], multipliers, rest, target, most, mode, work
        )
        if count < 0 or used + count > 4 * most or stop[0]:
            return points, masks, origin, -1
        for s in range(count):
            points, masks, origin = grown(points, used), grown(masks, used), grown(origin, used)
            for q in range(width):
                points[used, q] = found[s, q]
            masks[used, 0], origin[used, 0] = fixed & ~moved[s, 0], number
            used += 1
        if used > most and mode >= 0:
            keep, kept = undominated(points[:used], mode, np.int64(64)), np.int64(0)
            for s in range(used):
                if keep[s]:
                    move(points, s, kept)
                    move(masks, s, kept)
                    move(origin, s, kept)
                    kept += 1
            used = int(kept)
    return points, masks, origin, used
