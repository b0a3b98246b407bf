"""Subtrees that were met before, priced anew: who is in which leaf is known, so that only values are chosen (§3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def cheapest_known(order, outcome, share, c, leaf, top):
    """(cost, number) of the cheapest of some subtrees when each leaf takes its cheapest value, at most `top`.

    `order` lists the people by outcome; `outcome`, `share` and the columns of `leaf` (0 to 3, a row a subtree) follow
    it. A leaf's slope rises at the outcomes of its people, and its value is where that reaches zero.
    """
    best, which = np.inf, -1
    weight, moment, slope, below, value = np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for k in range(len(leaf)):
        weight[:], moment[:], slope[:], below[:], value[:] = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(len(order)):
            q = leaf[k, j]
            weight[q] += share[j]
            moment[q] += share[j] * outcome[j]
            slope[q] += c[order[j]]
        slope -= weight
        for j in range(len(order)):
            q = leaf[k, j]
            if slope[q] < 0.0:
                value[q] = outcome[j]
                slope[q] += 2.0 * share[j]
                below[q] += share[j] * outcome[j]
        total = 0.0
        for q in range(4):
            total += (value[q] if slope[q] >= 0.0 else top) * slope[q] + moment[q] - 2.0 * below[q]
        if total < best:
            best, which = total, k
    return best, which
