"""The best tree of at most depth 2 over columns of two values, from sums over pairs: every tree is looked at."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.kinds import sums_of_pairs
from evenleaf.solve.search.kernels.compile import INFINITE, njit

LEAF = -1


@njit
def best_counted(counts, heads, vectors, offset, depth, least, limit):
    """The same as `best_shallow`, from counts of people of each kind with both of two bits, and what one adds."""
    sums, total = sums_of_pairs(counts, heads, vectors)
    return best_shallow(sums, total, offset, depth, least, limit, np.inf)


@njit
def best_shallow(sums, total, offset, depth, least, limit, start):
    """(worth, root, stump for those with its bit, stump for the others) of a best tree that is worth less than start.

    `sums` are over the people with both bits (quantity × feature × feature), `total` over all; the quantities are the
    loss and the disparities of the second label, and last the people. `limit` is negative in the penalised form. A
    stump is (feature, label of those with its bit, label of the others), its feature LEAF where there is none.
    """
    F, width = sums.shape[1], len(offset)
    best, root, near, far = start, -2, np.zeros(3, np.int64), np.zeros(3, np.int64)
    one, two = np.empty((2 * F + 2, width)), np.empty((2 * F + 2, width))
    first, second = np.empty((2 * F + 2, 3), np.int64), np.empty((2 * F + 2, 3), np.int64)
    for label in range(2):
        worth = _worth(offset, label * total[:width], limit)
        if worth < best:
            best, root = worth, LEAF
            near[0], near[1], near[2] = LEAF, label, label
    for f in range(F):
        people = sums[width, f, f]
        if people < least or total[width] - people < least:
            continue
        m = _stumps(sums, total, f, True, depth, least, one, first)
        n = _stumps(sums, total, f, False, depth, least, two, second)
        m, a_order, a_least = _kept(one, m, offset[0] + two[:n, 0].min(), best)
        n, b_order, _ = _kept(two, n, offset[0] + a_least, best)
        for s in range(m):
            a = a_order[s]
            if n == 0 or offset[0] + one[a, 0] + two[b_order[0], 0] >= best:
                break
            for t in range(n):
                b = b_order[t]
                loss = offset[0] + one[a, 0] + two[b, 0]
                if loss >= best:
                    break
                disparity = 0.0
                for q in range(1, width):
                    disparity += abs(offset[q] + one[a, q] + two[b, q])
                worth = loss if limit >= 0 else loss + disparity
                if worth < best and (limit < 0 or disparity <= limit):
                    best, root = worth, f
                    near[:], far[:] = first[a], second[b]
    return best, root, near, far


@njit
def _worth(one, two, limit):
    """What a sum of two vectors is worth."""
    disparity = 0.0
    for q in range(1, len(one)):
        disparity += abs(one[q] + two[q])
    if limit < 0:
        return one[0] + two[0] + disparity
    return one[0] + two[0] if disparity <= limit else INFINITE


@njit
def _stumps(sums, total, f, with_bit, depth, least, points, stumps):
    """The vectors of all stumps and labels among those with a bit, or without it; how many they are."""
    F, width = sums.shape[1], points.shape[1]
    people = sums[width, f, f] if with_bit else total[width] - sums[width, f, f]
    for q in range(width):
        points[0, q] = 0.0
        points[1, q] = sums[q, f, f] if with_bit else total[q] - sums[q, f, f]
    stumps[0], stumps[1] = LEAF, LEAF
    stumps[0, 1:], stumps[1, 1:] = 0, 1
    used = 2
    if depth < 2:
        return used
    for g in range(F):
        both = sums[width, f, g] if with_bit else sums[width, g, g] - sums[width, f, g]
        if both < least or people - both < least:  # with least = 1 nobody is on one side, and the test is none
            continue
        for q in range(width):
            flagged = sums[q, f, g] if with_bit else sums[q, g, g] - sums[q, f, g]
            points[used, q], points[used + 1, q] = flagged, points[1, q] - flagged
        stumps[used, 0], stumps[used, 1], stumps[used, 2] = g, 1, 0
        stumps[used + 1, 0], stumps[used + 1, 1], stumps[used + 1, 2] = g, 0, 1
        used += 2
    return used


@njit
def _kept(points, used, rest, best):
    """The points whose loss may lead below the best, the cheapest first: how many, their order, the least loss."""
    which, kept, cheapest = np.empty(used, np.int64), 0, INFINITE
    for s in range(used):
        cheapest = min(cheapest, points[s, 0])
        if points[s, 0] + rest < best:
            which[kept] = s
            kept += 1
    which = which[:kept]
    return kept, which[np.argsort(points[which, 0], kind="mergesort")], cheapest
