"""Lists of (loss, disparities) that trees can have, filtered by bounds, and their sums.

A point survives if for every multipliers its reduced price plus the bound on the rest stays below the target: any
tree better than the target is made of such points (ALGORITHM §10.5).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.needless import undominated
from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def _price(vector, multipliers, j):
    price = vector[0]
    for q in range(1, len(vector)):
        price += multipliers[j, q - 1] * vector[q]
    return price


@njit
def _keeps(vector, multipliers, rest, target):
    alive = True
    for j in range(len(rest)):
        if _price(vector, multipliers, j) + rest[j] >= target:
            alive = False
            break
    return alive


@njit
def grown(table, used):
    """The table, or where it is full a larger one that begins like it."""
    if used < len(table):
        return table
    larger = np.empty((2 * len(table), table.shape[1]), table.dtype)
    larger[:used] = table
    return larger


@njit
def stump_points(
    ranks, sizes, unordered, members, vectors, count, least, allowed, multipliers, rest, target, most, mode
):
    """The points of all stumps and labels that survive, with (feature, cut or subset, labels) to build them again.

    Labels are low·K + high; the feature −1 means no test. A subset is a mask of the levels with the second label.
    Returns (points, recipes, number); the number is −1 where there would be more than `most`.
    """
    n_labels, width = vectors.shape[1], vectors.shape[2]
    K = n_labels + 1
    points, recipes, used = np.empty((64, width)), np.empty((64, 3), np.int64), np.int64(0)
    total, people = np.zeros((K, width)), np.int64(0)  # plain zeros would be compiled apart
    for i in members:
        people += count[i]
        for k in range(n_labels):
            total[k + 1] += vectors[i, k]
    for k in range(K):
        if _keeps(total[k], multipliers, rest, target):
            points, recipes = grown(points, used), grown(recipes, used)
            points[used] = total[k]
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = -1, 0, k * K + k
            used += 1
    if people < 2 * least:
        return points, recipes, used
    for f in range(len(sizes)):
        if not allowed[f]:
            continue
        size = sizes[f]
        table, heads = np.zeros((size, K, width)), np.zeros(size, np.int64)
        for i in members:
            heads[ranks[f, i]] += count[i]
            for k in range(n_labels):
                for q in range(width):
                    table[ranks[f, i], k + 1, q] += vectors[i, k, q]
        for low in range(K):
            for high in range(K):
                if low == high or (unordered[f] and low > high):
                    continue
                if unordered[f]:
                    if size > 62:
                        return points, recipes, -1
                    out = (points, recipes, used)
                    points, recipes, used = _subset_points(
                        f, table, heads, low, high, people, least, multipliers, rest, target, most, mode, out
                    )
                    if used < 0:
                        return points, recipes, used
                else:
                    points, recipes, used = _cut_points(
                        f,
                        table,
                        heads,
                        low,
                        high,
                        total,
                        people,
                        least,
                        multipliers,
                        rest,
                        target,
                        points,
                        recipes,
                        used,
                    )
        if used > most:
            return points, recipes, -1
    return points, recipes, used


@njit
def _cut_points(f, table, heads, low, high, total, people, least, multipliers, rest, target, points, recipes, used):
    size, K, width = table.shape
    vector = total[high].copy()
    below = 0
    for rank in range(size - 1):
        if heads[rank] == 0:
            continue
        below += heads[rank]
        for q in range(width):
            vector[q] += table[rank, low, q] - table[rank, high, q]
        crowded = below >= least and people - below >= least and people > below
        if crowded and _keeps(vector, multipliers, rest, target):
            points, recipes = grown(points, used), grown(recipes, used)
            points[used] = vector
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = f, rank, low * K + high
            used += 1
    return points, recipes, used


@njit
def _subset_points(f, table, heads, low, high, people, least, multipliers, rest, target, most, mode, out):
    """The points of every subset of levels that gets the second label."""
    K = table.shape[1]
    points, recipes, used = out
    levels = np.flatnonzero(heads)
    change, base = _level_changes(table, levels, low, high)
    thin = mode if least == 1 else -1
    found, masks, inside, number = subset_sums(
        change, base, levels, heads[levels], multipliers, rest, target, most, thin, np.array([8 * most])
    )
    for s in range(number):
        if inside[s, 0] >= least and people - inside[s, 0] >= least and 0 < inside[s, 0] < people:
            points, recipes = grown(points, used), grown(recipes, used)
            points[used] = found[s]
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = f, masks[s, 0], low * K + high
            used += 1
    return points, recipes, used if number >= 0 else -1


@njit
def subset_sums(change, base, levels, heads, multipliers, rest, target, most, mode, work):
    """Every sum of base and some of the changes that survives: (sums, masks, people, number).

    Level by level, those with the largest price first, needless partial sums dropped on the way; the number is −1
    where there would be more than `most`, or where `work[0]` partial sums have been looked at.
    """
    n, width, J = len(levels), len(base), len(rest)
    prices, spread = _prices(change, multipliers, np.zeros(J)), np.zeros(n)
    ahead = np.zeros(J)
    for b in range(n):
        for j in range(J):
            ahead[j] += min(0.0, prices[b, j])
            spread[b] = max(spread[b], abs(prices[b, j]))
    found, masks, inside = np.empty((64, width)), np.zeros((64, 1), np.int64), np.zeros((64, 1), np.int64)
    found[0] = base
    number = 1
    for b in np.argsort(-spread, kind="mergesort"):
        for j in range(J):
            ahead[j] -= min(0.0, prices[b, j])
        if mode == 1:
            # Where the loss outweighs any change of disparity, the cheaper side is never the worse one.
            pull = 0.0
            for q in range(1, width):
                pull += abs(change[b, q])
            if change[b, 0] >= pull:
                continue
            if change[b, 0] <= -pull:
                for s in range(number):
                    found[s] += change[b]
                    masks[s, 0] |= np.int64(1) << levels[b]
                    inside[s, 0] += heads[b]
                continue
        found, masks, inside, number = _both_ways(
            found, masks, inside, number, change[b], levels[b], heads[b], multipliers, rest + ahead, target
        )
        work[0] -= number
        if number > most or work[0] < 0:
            return found, masks, inside, -1
        if mode >= 0 and number > 16:
            keep = undominated(found[:number], mode, np.int64(32))
            kept = 0
            for s in range(number):
                if keep[s]:
                    found[kept], masks[kept], inside[kept] = found[s], masks[s], inside[s]
                    kept += 1
            number = kept
    return found, masks, inside, number


@njit
def _level_changes(table, levels, low, high):
    """What moving each level from the first label to the second adds, and the sum with all at the first."""
    change, base = np.empty((len(levels), table.shape[2])), np.zeros(table.shape[2])
    for b in range(len(levels)):
        base += table[levels[b], low]
        change[b] = table[levels[b], high] - table[levels[b], low]
    return change, base


@njit
def _both_ways(found, masks, inside, number, change, level, heads, multipliers, rest, target):
    """Each partial sum with and without one more level, where it survives."""
    width = found.shape[1]
    extra, kept = np.empty((number, width)), 0
    extra_masks, extra_inside, more = np.empty(number, np.int64), np.empty(number, np.int64), 0
    for s in range(number):
        with_level = found[s] + change
        mask, people = masks[s, 0], inside[s, 0]
        if _keeps(with_level, multipliers, rest, target):
            extra[more] = with_level
            extra_masks[more], extra_inside[more] = mask | (np.int64(1) << level), people + heads
            more += 1
        if _keeps(found[s], multipliers, rest, target):
            found[kept] = found[s]
            masks[kept, 0], inside[kept, 0] = mask, people
            kept += 1
    while kept + more > len(found):
        found, masks, inside = grown(found, len(found)), grown(masks, len(masks)), grown(inside, len(inside))
    for s in range(more):
        found[kept + s] = extra[s]
        masks[kept + s, 0], inside[kept + s, 0] = extra_masks[s], extra_inside[s]
    return found, masks, inside, kept + more


@njit
def sums(one, two, multipliers, rest, target, most):
    """Which sums of a point of each list survive: (first, second, number), the number −1 beyond `most`."""
    J = len(rest)
    pairs, used = np.empty((64, 2), np.int64), 0
    lead, first, second = _ordered(one, two, multipliers, rest)
    prices_one, prices_two = _prices(one, multipliers, rest), _prices(two, multipliers, np.zeros(J))
    work = 0
    for a in first:
        if prices_one[a, lead] + prices_two[second[0], lead] >= target:
            break
        for b in second:
            if prices_one[a, lead] + prices_two[b, lead] >= target:
                break
            work += 1
            alive = True
            for j in range(J):
                if prices_one[a, j] + prices_two[b, j] >= target:
                    alive = False
                    break
            if alive:
                pairs = grown(pairs, used)
                pairs[used, 0], pairs[used, 1] = a, b
                used += 1
        if used > most or work > 64 * most:
            return pairs, -1
    return pairs, used


@njit
def best_sum(one, two, multipliers, rest, target, limit, mode, work_limit):
    """The best worth of a sum of two points below the target: (worth, first, second, finished); modes as below."""
    J, width = len(rest), one.shape[1]
    best, chosen_a, chosen_b, work = target, -1, -1, 0
    lead, first, second = _ordered(one, two, multipliers, rest)
    prices_one, prices_two = _prices(one, multipliers, rest), _prices(two, multipliers, np.zeros(J))
    for a in first:
        if prices_one[a, lead] + prices_two[second[0], lead] >= best:
            break
        if work > work_limit:
            return best, chosen_a, chosen_b, False
        for b in second:
            if prices_one[a, lead] + prices_two[b, lead] >= best:
                break
            work += 1
            disparity = 0.0
            for q in range(1, width):
                gap = one[a, q] + two[b, q]
                disparity += abs(gap) if mode <= 1 else (gap if mode == 2 else -gap)
            worth = one[a, 0] + two[b, 0]
            if mode == 1:
                worth += disparity
            elif disparity > limit:
                continue
            if worth < best:
                best, chosen_a, chosen_b = worth, a, b
    return best, chosen_a, chosen_b, True


@njit
def _prices(points, multipliers, rest):
    prices = np.empty((len(points), len(rest)))
    for p in range(len(points)):
        for j in range(len(rest)):
            prices[p, j] = _price(points[p], multipliers, j) + rest[j]
    return prices


@njit
def _ordered(one, two, multipliers, rest):
    """Both lists by price at the multipliers at which their cheapest sum is dearest."""
    J = len(rest)
    prices_one, prices_two = _prices(one, multipliers, rest), _prices(two, multipliers, np.zeros(J))
    lead, highest = 0, -INFINITE
    for j in range(J):
        cheapest = prices_one[:, j].min() + prices_two[:, j].min()
        if cheapest > highest:
            lead, highest = j, cheapest
    first = np.argsort(prices_one[:, lead], kind="mergesort")
    second = np.argsort(prices_two[:, lead], kind="mergesort")
    return lead, first, second
