"""Which of the priced tests are best, and which are the same as others."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def best_pair(out, alive, allowed, offsets, cheapest, where):
    """The cheapest pair of stumps that the limits allow: (cost, left, right), −1 for no test.

    `cheapest[s, f]` becomes the least cost of a stump on feature f in part s, the last entry that of no test.
    """
    n_features, none = allowed.shape[0] - 1, out.shape[1] - 1
    for s in range(2):
        for f in range(n_features):
            cheapest[s, f], where[s, f] = INFINITE, -2
            for t in range(offsets[f], offsets[f + 1]):
                if alive[s, t] and out[s, t] < cheapest[s, f]:
                    cheapest[s, f], where[s, f] = out[s, t], t
        cheapest[s, n_features], where[s, n_features] = INFINITE, -2
        if alive[s, none]:
            cheapest[s, n_features], where[s, n_features] = out[s, none], -1
    best, left, right = INFINITE, -2, -2
    lowest = cheapest[1].min()  # prices may be below zero, and so may a side
    for f in range(n_features + 1):
        if cheapest[0, f] + lowest < best:
            for g in range(n_features + 1):
                if allowed[f, g] and cheapest[0, f] + cheapest[1, g] < best:
                    best = cheapest[0, f] + cheapest[1, g]
                    left, right = where[0, f], where[1, g]
    return best, left, right


@njit
def drop_pairs(out, alive, allowed, offsets, cheapest, budget):
    """Kill every stump whose cheapest allowed partner leaves it at or above the budget."""
    n_features, none = allowed.shape[0] - 1, out.shape[1] - 1
    for s in range(2):
        for f in range(n_features + 1):
            partner = INFINITE
            for g in range(n_features + 1):
                if (allowed[f, g] if s == 0 else allowed[g, f]) and cheapest[1 - s, g] < partner:
                    partner = cheapest[1 - s, g]
            if f == n_features:
                if out[s, none] + partner >= budget:
                    alive[s, none] = 0
            else:
                for t in range(offsets[f], offsets[f + 1]):
                    if alive[s, t] and out[s, t] + partner >= budget:
                        alive[s, t] = 0


@njit
def drop_twins(ids, ranks, sizes, unordered, offsets, alive):
    """Kill tests that part these people as another test of the same feature does, or not at all."""
    present = np.zeros(sizes.max(), np.bool_)
    for f in range(len(sizes)):
        size = sizes[f]
        for r in range(size):
            present[r] = False
        for i in ids:
            present[ranks[f, i]] = True
        first, last = size, -1
        for r in range(size):
            if present[r]:
                first, last = min(first, r), r
        for t in range(offsets[f + 1] - offsets[f]):
            if not unordered[f]:
                keep = present[t] and t < last
            else:
                keep, some = True, False
                for r in range(1, size):
                    right = ((t + 1) >> (r - 1)) & 1 == 1
                    if right and (not present[r] or r == first):
                        keep = False
                    some = some or right
                keep = keep and some
            if not keep:
                alive[offsets[f] + t] = 0
