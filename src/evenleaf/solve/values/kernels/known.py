"""Subtrees that were met before, priced anew: who is in which leaf is known, so that only values are chosen (§3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def known_costs(order, outcome, share, c, leaf, top, costs):
    """What some subtrees cost when each leaf takes its cheapest value, at most `top`.

    `order` lists the people by outcome; `outcome`, `share` and the columns of `leaf` (0 to 3, a row a subtree) follow
    it. A leaf's slope rises at the outcomes of its people, and its value is where that reaches zero.
    """
    slope, height, value = np.empty(4), np.empty(4), np.empty(4)
    for k in range(len(leaf)):
        slope[:], height[:], value[:] = 0.0, 0.0, 0.0
        for j in range(len(order)):
            q = leaf[k, j]
            slope[q] += c[order[j]] - share[j]
            height[q] += share[j] * outcome[j]
        left = 0
        for q in range(4):
            left += slope[q] < 0.0
        for j in range(len(order)):
            q = leaf[k, j]
            if slope[q] < 0.0:
                value[q] = outcome[j]
                slope[q] += 2.0 * share[j]
                height[q] -= 2.0 * share[j] * outcome[j]
                if slope[q] >= 0.0:
                    left -= 1
                    if left == 0:
                        break
        costs[k] = 0.0
        for q in range(4):
            costs[k] += (value[q] if slope[q] >= 0.0 else top) * slope[q] + height[q]
