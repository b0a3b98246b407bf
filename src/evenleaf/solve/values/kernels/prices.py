"""Prices from multipliers, and what a tree decides at given prices (ALGORITHM §2)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.values.kernels.inside import rows_inside
from evenleaf.solve.values.kernels.leaf import alone, settled


@njit
def dual_costs(pointers, rows, entries, weight, scale, mu, steep, tilt, c):
    """c = matrixᵀ(scale·weight ∘ μ): what a unit of each person's value costs; `steep` and `tilt`: see `inside.py`."""
    for r in range(len(steep)):
        steep[r] = scale * weight[r, 0]
        tilt[r] = steep[r] * mu[r, 0]
    for i in range(len(c)):
        total = 0.0
        for k in range(pointers[i], pointers[i + 1]):
            total += entries[k] * tilt[rows[k]]
        c[i] = total


@njit
def differences(pointers, rows, entries, decided, v):
    """v = matrix·ŷ."""
    v[:] = 0.0
    for i in range(len(decided)):
        for k in range(pointers[i], pointers[i + 1]):
            v[rows[k], 0] += entries[k] * decided[i]


@njit
def goes_right(rank, unordered, local):
    """Whether a rank goes right at a test, `local` being its number among those of its feature."""
    if unordered:
        return rank > 0 and ((local + 1) >> (rank - 1)) & 1 == 1
    return rank > local


@njit
def leaves(part, tests, test_feature, ranks, unordered, offsets, leaf):
    """Number everybody's leaf, 0 to 7: the side of the root, of the test below, of the test below that; −1 if free.

    `tests` are the numbers of the tests at left, right, left-left, left-right, right-left and right-right; −1: none.
    """
    for i in range(len(part)):
        s = part[i]
        leaf[i] = -1
        if s < 2:
            number, test = 4 * s, tests[s]
            if test >= 0:
                f = test_feature[test]
                t = 2 + 2 * s
                if goes_right(ranks[f, i], unordered[f], test - offsets[f]):
                    number += 2
                    t += 1
                test = tests[t]
                if test >= 0:
                    f = test_feature[test]
                    if goes_right(ranks[f, i], unordered[f], test - offsets[f]):
                        number += 1
            leaf[i] = number


@njit
def decide(people, leaf, shift, within, decided):
    """Everybody's value when each leaf takes its cheapest one, and free people theirs; returns the loss.

    `shift` says how many bits of a leaf's number tell the leaves of a stump apart; `within` then knows which rows lie
    inside a stump, that is which are paid for exactly.
    """
    level, levels, share, c, _, _ = people
    n_people, n_levels = len(leaf), len(levels)
    jump = np.zeros((8, n_levels))
    slope, cost = np.zeros(8), np.zeros(8)
    for i in range(n_people):
        n = leaf[i]
        if n >= 0:
            slope[n] += c[i] - share[i]
            cost[n] += share[i] * levels[level[i]]
            jump[n, level[i]] += 2.0 * share[i]
    place = np.zeros(8, np.int64)
    for n in range(8):
        place[n] = _cheapest(slope[n], cost[n], levels, jump[n])
    spread, lean = rows_inside(leaf, shift, within)
    step = 1 << (shift - 1)
    for n in range(0, 8, 2 * step):
        other, turned = n + step, False
        if place[n] != place[other]:
            below = place[n] < place[other]
            tilt = -spread[n >> shift] - lean[n >> shift] if below else spread[n >> shift] - lean[n >> shift]
            place[n] = _cheapest(slope[n] + tilt, cost[n], levels, jump[n])
            place[other] = _cheapest(slope[other] - tilt, cost[other], levels, jump[other])
            turned = place[n] > place[other] if below else place[n] < place[other]
        if turned:
            both = _cheapest(slope[n] + slope[other], cost[n] + cost[other], levels, jump[n] + jump[other])
            place[n], place[other] = both, both
    loss = 0.0
    for i in range(n_people):
        if leaf[i] >= 0:
            q = place[leaf[i]]
        else:
            q, _ = alone(level[i], share[i], c[i], levels)
        decided[i] = levels[q]
        loss += share[i] * abs(levels[level[i]] - levels[q])
    return loss


@njit
def _cheapest(slope, cost, levels, jump):
    return settled(0, slope + jump[0], cost, levels, jump)[0]


@njit
def free_costs(people, free):
    """What each person costs alone."""
    level, levels, share, c, _, _ = people
    for i in range(len(free)):
        _, free[i] = alone(level[i], share[i], c[i], levels)
