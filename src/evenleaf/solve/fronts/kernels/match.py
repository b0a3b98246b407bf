"""Sums of points whose disparities must cancel: partners are found by the first disparity, not by their price."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.fronts import grown, price_order, prices_of
from evenleaf.solve.fronts.kernels.needless import move, undominated
from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.search.kernels.order import DISPARITY, by_column


@njit
def best_match(one, two, target, limit, work_limit):
    """The least loss below the target of a sum of two points whose disparities add up to the limit at most.

    Returns (loss, first, second, finished); −1 stands for none.
    """
    order, width, work = by_column(two, DISPARITY, 1.0), one.shape[1], 0
    best, chosen_a, chosen_b = target, -1, -1
    for a in range(len(one)):
        low, high = 0, len(order)  # the first partner whose disparity is not too low
        while low < high:
            half = (low + high) // 2
            if one[a, 1] + two[order[half], 1] < -limit:
                low = half + 1
            else:
                high = half
        for s in range(low, len(order)):
            b = order[s]
            if one[a, 1] + two[b, 1] > limit:
                break
            work += 1
            loss, disparity = one[a, 0] + two[b, 0], 0.0
            if loss >= best:
                continue
            for q in range(1, width):
                disparity += abs(one[a, q] + two[b, q])
            if disparity <= limit:
                best, chosen_a, chosen_b = loss, a, b
        if work > work_limit:
            return best, chosen_a, chosen_b, False
    return best, chosen_a, chosen_b, True


@njit
def distinct_sums(one, two, multipliers, rest, target, most, work_limit):
    """Sums of a point of each list that survive, of those that are alike the cheapest: (sums, pairs, number).

    The number is −1 where there are more than `most`, or after so many sums.
    """
    J, width, work = len(rest), one.shape[1], 0
    found, pairs, used = np.empty((64, width)), np.empty((64, 2), np.int64), np.int64(0)
    prices_one, prices_two = prices_of(one, multipliers, rest), prices_of(two, multipliers, np.zeros(J))
    lead, first, second = price_order(prices_one, prices_two)
    for a in first:
        for b in second:
            if prices_one[a, lead] + prices_two[b, lead] >= target:
                break
            work += 1
            alive = True
            for j in range(J):
                if prices_one[a, j] + prices_two[b, j] >= target:
                    alive = False
                    break
            if not alive:
                continue
            found, pairs = grown(found, used), grown(pairs, used)
            for q in range(width):
                found[used, q] = one[a, q] + two[b, q]
            pairs[used, 0], pairs[used, 1] = a, b
            used += 1
        if used > 2 * most:
            used = _cheapest_alike(found, pairs, used)
            if used > most:
                return found, pairs, -1
        if work > work_limit:
            return found, pairs, -1
    used = _cheapest_alike(found, pairs, used)
    return found, pairs, used if used <= most else -1


@njit
def _cheapest_alike(found, pairs, used):
    """Of sums with the same disparities only the cheapest is kept; how many are left."""
    keep, kept = undominated(found[:used], 0, np.int64(0)), np.int64(0)
    for s in range(used):
        if keep[s]:
            move(found, s, kept)
            move(pairs, s, kept)
            kept += 1
    return kept
