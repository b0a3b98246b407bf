"""Every stump on a column of levels: each subset is priced from sums by level (ALGORITHM §3)."""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.values.kernels.inside import join_lower, nobody_lower
from evenleaf.solve.values.kernels.leaf import joining, settled
from evenleaf.solve.values.kernels.prices import goes_right


@njit
def whole(people, ids, loose, jump):
    """All these people in one leaf: the least cost, and the level where it is."""
    level, levels, share, c, count, least = people
    at, slope, cost, crowd = len(levels) // 2, 0.0, 0.0, 0
    for i in ids:
        rise, paid = joining(level[i], at, share[i], c[i], levels)
        slope += rise
        cost += paid
        jump[level[i]] += 2.0 * share[i]
        crowd += count[i]
    at, slope, cost = settled(at, slope, cost, levels, jump)
    for i in ids:
        jump[level[i]] = 0.0
    return (cost if crowd + loose >= least else INFINITE), at


@njit
def price_subsets(people, ids, x, size, loose, worth, alive, out, s, n, work, within):
    """Every subset of levels: bit r − 1 of a subset's number (plus one) says whether rank r goes right."""
    level, levels, share, c, count, least = people
    parts_jump, parts_sum = work[5], work[6]
    n_levels = len(levels)
    for r in range(size):
        for q in range(n_levels):
            parts_jump[r, q] = 0.0
        parts_sum[r, 0], parts_sum[r, 1], parts_sum[r, 2] = 0.0, 0.0, 0.0
    for i in ids:
        r = x[i]
        parts_jump[r, level[i]] += 2.0 * share[i]
        parts_sum[r, 0] += c[i] - share[i]  # the slope below all levels, the lowest of which is 0
        parts_sum[r, 1] += share[i] * levels[level[i]]  # the cost there
        parts_sum[r, 2] += count[i]
    for number in range(len(out)):
        if not alive[number]:
            continue
        left = _leaf_of_levels(number, 0, size, 0.0, levels, work)
        right = _leaf_of_levels(number, 1, size, 0.0, levels, work)
        out[number] = min(left[1] + right[1], INFINITE)
        if left[2] + loose < least or right[2] + loose < least:
            out[number] = INFINITE
        elif out[number] < worth and within[6][s] > 0 and left[0] != right[0]:
            out[number] = max(out[number], _paid_subset(people, number, left, right, ids, x, size, s, n, work, within))


@njit
def _leaf_of_levels(number, side, size, tilt, levels, work):
    """One leaf of a subset, everybody paying `tilt` more a unit of value: (level, cost, people)."""
    jump, parts_jump, parts_sum = work[0], work[5], work[6]
    slope, cost, crowd = tilt, 0.0, 0
    for q in range(len(levels)):
        jump[q] = 0.0
    for r in range(size):
        if goes_right(r, True, number) == (side == 1):
            for q in range(len(levels)):
                jump[q] += parts_jump[r, q]
            slope += parts_sum[r, 0]
            cost += parts_sum[r, 1]
            crowd += int(parts_sum[r, 2])
    at, _, cost = settled(0, slope + jump[0], cost, levels, jump)
    for q in range(len(levels)):
        jump[q] = 0.0
    return at, cost, crowd


@njit
def _paid_subset(people, number, left, right, ids, x, size, s, n, work, within):
    """What a subset costs with the rows inside the part paid for exactly; its left leaf counts as the lower one."""
    levels, spread, lean = people[1], 0.0, 0.0
    nobody_lower(s, n, work[1][1], work[2], within)
    for i in ids:
        if not goes_right(x[i], True, number):
            spread, lean = join_lower(work[1][2][i], spread, lean, within)
    tilt = -spread - lean if left[0] < right[0] else spread - lean
    lower = _leaf_of_levels(number, 0, size, tilt, levels, work)
    upper = _leaf_of_levels(number, 1, size, -tilt, levels, work)
    turned = lower[0] > upper[0] if left[0] < right[0] else lower[0] < upper[0]
    if turned:  # equal values are best, and nothing is due
        return whole(people, ids, people[5], work[0])[0]
    return lower[1] + upper[1]
