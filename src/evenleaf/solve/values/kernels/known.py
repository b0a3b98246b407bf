"""Subtrees that were met before, priced anew: who is in which leaf is known, so that only values are chosen (§3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.values.kernels.inside import rows_inside


@njit
def known_costs(order, outcome, share, c, leaf, spread, lean, top, costs):
    """What some subtrees cost when each leaf takes its cheapest value, at most `top`.

    `order` lists the people by outcome; `outcome`, `share` and the columns of `leaf` (0 to 3, a row a subtree) follow
    it; `spread` and `lean` are K and κ of the two stumps of each subtree (`inside.py`).
    """
    slope, height, value = np.empty(4), np.empty(4), np.empty(4)
    tilt, fixed = np.empty(4), np.empty(4)
    for k in range(len(leaf)):
        tilt[:] = 0.0
        costs[k] = _walked(order, outcome, share, c, leaf[k], tilt, top, slope, height, value)
        some = False
        for p in range(2):
            below, above = value[2 * p], value[2 * p + 1]
            if below != above:
                tilt[2 * p] = -spread[k, p] - lean[k, p] if below < above else spread[k, p] - lean[k, p]
                tilt[2 * p + 1] = -tilt[2 * p]
                some = True
        if some:
            fixed[:] = value
            costs[k] = _walked(order, outcome, share, c, leaf[k], tilt, top, slope, height, value)
            for p in range(2):
                if (fixed[2 * p] - fixed[2 * p + 1]) * (value[2 * p] - value[2 * p + 1]) < 0.0:
                    costs[k] += _together(order, outcome, share, c, leaf[k], p, top)
                    for q in range(2 * p, 2 * p + 2):
                        costs[k] -= value[q] * slope[q] + height[q]


@njit
def _walked(order, outcome, share, c, leaf, tilt, top, slope, height, value):
    """Every leaf at its cheapest value, and what they cost; a leaf's slope rises at the outcomes of its people."""
    slope[:], height[:], value[:] = tilt, 0.0, 0.0
    for j in range(len(order)):
        q = leaf[j]
        slope[q] += c[order[j]] - share[j]
        height[q] += share[j] * outcome[j]
    left = 0
    for q in range(4):
        left += slope[q] < 0.0
    for j in range(len(order)):
        q = leaf[j]
        if slope[q] < 0.0:
            value[q] = outcome[j]
            slope[q] += 2.0 * share[j]
            height[q] -= 2.0 * share[j] * outcome[j]
            if slope[q] >= 0.0:
                left -= 1
                if left == 0:
                    break
    total = 0.0
    for q in range(4):
        if slope[q] < 0.0:
            value[q] = top
        total += value[q] * slope[q] + height[q]
    return total


@njit
def _together(order, outcome, share, c, leaf, p, top):
    """Both leaves of a stump with the same value."""
    slope, height = 0.0, 0.0
    for j in range(len(order)):
        if leaf[j] >> 1 == p:
            slope += c[order[j]] - share[j]
            height += share[j] * outcome[j]
    value = 0.0
    for j in range(len(order)):
        if slope >= 0.0:
            break
        if leaf[j] >> 1 == p:
            value = outcome[j]
            slope += 2.0 * share[j]
            height -= 2.0 * share[j] * outcome[j]
    return (value if slope >= 0.0 else top) * slope + height


@njit
def rows_of_stumps(leaf, side, within, paid):
    """For either stump of a side: s·A of each row inside it, so that K = Σ |s·A| and κ = μ·(s·A)."""
    rows_inside(leaf, 1, within)
    inside, sums, steep = within[3], within[4], within[1][0]
    paid[:] = 0.0
    for r in range(len(sums)):
        if inside[r] >> 1 == side:
            paid[inside[r] & 1, r] = steep[r] * sums[r]
