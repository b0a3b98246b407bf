"""Lists of (loss, disparities) that trees can have, filtered by bounds, and their sums.

A point survives if for every multipliers its reduced price plus the bound on the rest stays below the target: any
tree better than the target is made of such points (ALGORITHM §10.5).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.needless import move, undominated
from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.order import by_column, stable_order


@njit
def keeps(points, p, multipliers, rest, target):
    """Whether a point's price and the rest are below the target at every multipliers."""
    alive = True
    for j in range(len(rest)):
        price = points[p, 0]
        for q in range(multipliers.shape[1]):
            price += multipliers[j, q] * points[p, q + 1]
        if price + rest[j] >= target:
            alive = False
            break
    return alive


@njit
def grown(table, used):
    """The table, or where it is full a larger one that begins like it."""
    if used < len(table):
        return table
    larger = np.empty((2 * len(table), table.shape[1]), table.dtype)
    for row in range(len(table)):
        for column in range(table.shape[1]):
            larger[row, column] = table[row, column]
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
            for q in range(width):
                total[k + 1, q] += vectors[i, k, q]
    for k in range(K):
        if keeps(total, k, multipliers, rest, target):
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = total[k, q]
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = -1, 0, k * K + k
            used += 1
    if people < 2 * least:
        return points, recipes, used
    for f in range(len(sizes)):
        if not allowed[f]:
            continue
        if unordered[f] and sizes[f] > 62:
            return points, recipes, -1
        table, heads = _by_rank(ranks, sizes, members, vectors, count, f)
        for low in range(K):
            for high in range(K):
                if low == high or (unordered[f] and low > high):
                    continue
                out = (points, recipes, used)
                if unordered[f]:
                    points, recipes, used = subset_points(
                        f, table, heads, low, high, people, least, multipliers, rest, target, most, mode, out
                    )
                    if used < 0:
                        return points, recipes, used
                else:
                    points, recipes, used = _cut_points(
                        f, table, heads, low, high, total, people, least, multipliers, rest, target, out
                    )
        if used > most:
            return points, recipes, -1
    return points, recipes, used


@njit
def _by_rank(ranks, sizes, members, vectors, count, f):
    """Vectors by rank of a feature and label, and people by rank."""
    n_labels, width = vectors.shape[1], vectors.shape[2]
    table, heads = np.zeros((sizes[f], n_labels + 1, width)), np.zeros(sizes[f], np.int64)
    for i in members:
        heads[ranks[f, i]] += count[i]
        for k in range(n_labels):
            for q in range(width):
                table[ranks[f, i], k + 1, q] += vectors[i, k, q]
    return table, heads


@njit
def _cut_points(f, table, heads, low, high, total, people, least, multipliers, rest, target, out):
    """The points of every cut of a feature with one label on its left and another on its right."""
    size, K, width = table.shape
    points, recipes, used = out
    vector = np.empty((1, width))
    for q in range(width):
        vector[0, q] = total[high, q]
    below = 0
    for rank in range(size - 1):
        if heads[rank] == 0:
            continue
        below += heads[rank]
        for q in range(width):
            vector[0, q] += table[rank, low, q] - table[rank, high, q]
        crowded = below >= least and people - below >= least and people > below
        if crowded and keeps(vector, 0, multipliers, rest, target):
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = vector[0, q]
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = f, rank, low * K + high
            used += 1
    return points, recipes, used


@njit
def subset_points(f, table, heads, low, high, people, least, multipliers, rest, target, most, mode, out):
    """The points of every subset of levels that gets the second label."""
    K, width, n = table.shape[1], table.shape[2], 0
    levels, own = np.empty(len(heads), np.int64), np.empty(len(heads), np.int64)
    change, base = np.empty((len(heads), width)), np.zeros(width)
    for level in range(len(heads)):
        if heads[level] > 0:
            levels[n], own[n] = level, heads[level]
            for q in range(width):
                base[q] += table[level, low, q]
                change[n, q] = table[level, high, q] - table[level, low, q]
            n += 1
    thin, work = mode if least == 1 else -1, np.full(1, 8 * most)
    found, codes, number = subset_sums(
        change[:n], base, levels[:n], own[:n], multipliers, rest, target, most, thin, work
    )
    return kept_subsets(found, codes, number, f, low * K + high, people, least, out)


@njit
def kept_subsets(found, codes, number, name, label, people, least, out):
    """The points of the subsets that leave people enough on either side, added to a list; −1 long if `number` is."""
    points, recipes, used = out
    for s in range(number):
        inside = codes[s, 1]
        if inside >= least and people - inside >= least and 0 < inside < people:
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(found.shape[1]):
                points[used, q] = found[s, q]
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = name, codes[s, 0], label
            used += 1
    return points, recipes, used if number >= 0 else -1


@njit
def subset_sums(change, base, levels, heads, multipliers, rest, target, most, mode, work):
    """Every sum of base and some of the changes that survives: (sums, (mask, people) of each, number).

    Level by level, those with the largest price first, needless partial sums dropped on the way; the number is −1
    where there would be more than `most`, or where `work[0]` partial sums have been looked at.
    """
    n, width, J = len(levels), len(base), len(rest)
    beside, spread = np.empty(J), np.zeros(n)
    prices = prices_of(change, multipliers, np.zeros(J))
    for j in range(J):
        beside[j] = rest[j]
        for b in range(n):
            beside[j] += min(0.0, prices[b, j])
            spread[b] = min(spread[b], -abs(prices[b, j]))
    found, codes, number = np.empty((64, width)), np.zeros((64, 2), np.int64), np.int64(1)
    for q in range(width):
        found[0, q] = base[q]
    for b in stable_order(spread):
        for j in range(J):
            beside[j] -= min(0.0, prices[b, j])
        pull = 0.0
        for q in range(1, width):
            pull += abs(change[b, q])
        # With a penalty, where the loss outweighs any change of disparity, the cheaper side is never the worse one.
        if mode == 1 and change[b, 0] >= pull:
            continue
        if mode == 1 and change[b, 0] <= -pull:
            for s in range(number):
                _add_level(found, codes, s, s, change, b, levels, heads)
            continue
        found, codes, number = _both_ways(found, codes, number, change, b, levels, heads, multipliers, beside, target)
        work[0] -= number
        if number > most or work[0] < 0:
            return found, codes, -1
        if mode >= 0 and number > 16:
            keep, kept = undominated(found[:number], mode, np.int64(32)), np.int64(0)
            for s in range(number):
                if keep[s]:
                    move(found, s, kept)
                    move(codes, s, kept)
                    kept += 1
            number = kept
    return found, codes, number


@njit
def _add_level(found, codes, here, there, change, b, levels, heads):
    """Write a partial sum with one more level to a place of the list."""
    for q in range(found.shape[1]):
        found[there, q] = found[here, q] + change[b, q]
    codes[there, 0] = codes[here, 0] | (np.int64(1) << levels[b])
    codes[there, 1] = codes[here, 1] + heads[b]


@njit
def _both_ways(found, codes, number, change, b, levels, heads, multipliers, rest, target):
    """Each partial sum with and without one more level, where it survives."""
    if 2 * number > len(found):
        found, codes = grown(found, len(found)), grown(codes, len(codes))
    more, kept = np.int64(0), np.int64(0)
    for s in range(number):
        _add_level(found, codes, s, number + more, change, b, levels, heads)
        if keeps(found, number + more, multipliers, rest, target):
            more += 1
    for s in range(number):
        if keeps(found, s, multipliers, rest, target):
            move(found, s, kept)
            move(codes, s, kept)
            kept += 1
    for s in range(number, number + more):
        move(found, s, kept)
        move(codes, s, kept)
        kept += 1
    return found, codes, kept


@njit
def sums(one, two, multipliers, rest, target, most):
    """Which sums of a point of each list survive: (first, second, number), the number −1 beyond `most`."""
    J = len(rest)
    pairs, used = np.empty((64, 2), np.int64), 0
    prices_one, prices_two = prices_of(one, multipliers, rest), prices_of(two, multipliers, np.zeros(J))
    lead, first, second = price_order(prices_one, prices_two)
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
    prices_one, prices_two = prices_of(one, multipliers, rest), prices_of(two, multipliers, np.zeros(J))
    lead, first, second = price_order(prices_one, prices_two)
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
def prices_of(points, multipliers, rest):
    """What each point and the rest cost at each multipliers."""
    prices = np.empty((len(points), len(rest)))
    for p in range(len(points)):
        for j in range(len(rest)):
            prices[p, j] = points[p, 0] + rest[j]
            for q in range(multipliers.shape[1]):
                prices[p, j] += multipliers[j, q] * points[p, q + 1]
    return prices


@njit
def price_order(prices_one, prices_two):
    """Both lists by price at the multipliers at which their cheapest sum is dearest."""
    lead, highest = 0, -INFINITE
    for j in range(prices_one.shape[1]):
        one, two = INFINITE, INFINITE
        for p in range(len(prices_one)):
            one = min(one, prices_one[p, j])
        for p in range(len(prices_two)):
            two = min(two, prices_two[p, j])
        if one + two > highest:
            lead, highest = j, one + two
    return lead, by_column(prices_one, lead, 1.0), by_column(prices_two, lead, 1.0)
