"""Every cut of a first test above two stumps, two classes: a sweep that looks only at the cuts it has to.

When people of prices p move from one side of a cut to the other, the cheapest pair of stumps changes by at most Σ|p|:
a stump's price for fewer people is at least its price less what they cost, for more people at least its price and
what they would like best. So a cut that is dear enough rules its neighbours out as well, in both directions, and
the sums of both sides are kept up to date by moving people from one cut to the next (ALGORITHM §3).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def lay_out(ranks, sizes, unordered, members, allowed):
    """Where each member stands in one long row of all features' ranks: (place, starts, upper).

    Ordered features are renumbered without gaps; `upper[place]` is the rank. Features that are not allowed have no
    places.
    """
    F, M = len(sizes), len(members)
    place, starts = np.zeros((F, M), np.int64), np.zeros(F + 1, np.int64)
    upper = np.empty(sizes.sum(), np.int64)
    for f in range(F):
        starts[f + 1] = starts[f]
        if not allowed[f]:
            continue
        number = np.full(sizes[f], -1, np.int64)
        for m in range(M):
            number[ranks[f, members[m]]] = 0
        for rank in range(sizes[f]):
            if number[rank] == 0 or unordered[f]:
                number[rank] = starts[f + 1]
                upper[starts[f + 1]] = rank
                starts[f + 1] += 1
        for m in range(M):
            place[f, m] = number[ranks[f, members[m]]]
    return place, starts, upper[: starts[F]]


@njit
def sum_up(place, starts, inputs):
    """Inputs (member by quantity) summed by place: quantity × place; and over all members."""
    F, M = place.shape
    Q = inputs.shape[1]
    sums, total = np.zeros((Q, starts[F])), np.zeros(Q)
    for m in range(M):
        for q in range(Q):
            total[q] += inputs[m, q]
    for f in range(F):
        if starts[f + 1] > starts[f]:
            for m in range(M):
                for q in range(Q):
                    sums[q, place[f, m]] += inputs[m, q]
    return sums, total


@njit
def by_rank(place, f, starts):
    """The members in the order of a feature's ranks, and where each rank begins."""
    M, R = place.shape[1], starts[f + 1] - starts[f]
    begins = np.zeros(R + 1, np.int64)
    for m in range(M):
        begins[place[f, m] - starts[f] + 1] += 1
    for r in range(R):
        begins[r + 1] += begins[r]
    fill, order = begins[:R].copy(), np.empty(M, np.int64)
    for m in range(M):
        r = place[f, m] - starts[f]
        order[fill[r]] = m
        fill[r] += 1
    return order, begins


@njit
def shift(place, starts, order, first, last, sign, inputs, left, left_total):
    """Add some members to the sums of the left side, or take them away."""
    F, Q = place.shape[0], inputs.shape[1]
    for s in range(first, last):
        m = order[s]
        for q in range(Q):
            left_total[q] += sign * inputs[m, q]
        for f in range(F):
            if starts[f + 1] > starts[f]:
                for q in range(Q):
                    left[q, place[f, m]] += sign * inputs[m, q]


@njit
def move(place, starts, order, begins, inputs, now, to, left, left_total):
    """Bring the sums of the left side from one cut to another."""
    if to > now:
        shift(place, starts, order, begins[now + 1], begins[to + 1], 1.0, inputs, left, left_total)
    else:
        shift(place, starts, order, begins[to + 1], begins[now + 1], -1.0, inputs, left, left_total)


@njit
def flip(step, levels, mask, place, starts, order, begins, inputs, left, left_total):
    """The next subset of levels in the order of the Gray code: one level changes sides. Returns its mask."""
    bit = 0
    while not (step >> bit) & 1:
        bit += 1
    level = levels[bit]
    mask ^= np.int64(1) << level
    sign = 1.0 if (mask >> level) & 1 else -1.0
    shift(place, starts, order, begins[level], begins[level + 1], sign, inputs, left, left_total)
    return mask


@njit
def stumps_on_both_sides(left, whole, left_total, total, starts, unordered):
    """The least price of a stump on the left and on the right, from the sums of one quantity by place."""
    right_total = total - left_total
    best_left, best_right = min(0.0, left_total), min(0.0, right_total)
    for f in range(len(unordered)):
        first, last = starts[f], starts[f + 1]
        if last - first < 2:
            continue
        if unordered[f]:
            low, high = 0.0, 0.0
            for t in range(first, last):
                low += min(0.0, left[t])
                high += min(0.0, whole[t] - left[t])
            best_left, best_right = min(best_left, low), min(best_right, high)
            continue
        a, b = 0.0, 0.0
        for t in range(first, last - 1):
            a += left[t]
            b += whole[t] - left[t]
            best_left = min(best_left, min(0.0, a) + min(0.0, left_total - a))
            best_right = min(best_right, min(0.0, b) + min(0.0, right_total - b))
    return best_left, best_right


@njit
def moved(prices, order, begins):
    """Σ|price| of the members up to each cut: multipliers × (cut + 1), nobody first."""
    J, R = prices.shape[1], len(begins) - 1
    mass = np.zeros((J, R + 1))
    for r in range(R):
        for j in range(J):
            mass[j, r + 1] = mass[j, r]
        for s in range(begins[r], begins[r + 1]):
            for j in range(J):
                mass[j, r + 1] += abs(prices[order[s], j])
    return mass


@njit
def narrowed(task, mass):
    """The cuts of a task that its evaluated neighbours do not rule out: (first, last)."""
    first, last = int(task[0]), int(task[1])
    j, reference, slack = int(task[2]), int(task[3]), task[4]
    if slack > 0:
        while first <= last and mass[j, first + 1] - mass[j, reference + 1] <= slack:
            first += 1
    j, reference, slack = int(task[5]), int(task[6]), task[7]
    if slack > 0:
        while first <= last and mass[j, reference + 1] - mass[j, last + 1] <= slack:
            last -= 1
    return first, last


@njit
def middle(first, last, mass):
    """The cut with about half of what is moved between two cuts."""
    half = 0.5 * (mass[first] + mass[last + 1])
    low, high = first, last
    while low < high:
        cut = (low + high) // 2
        if mass[cut + 1] < half:
            low = cut + 1
        else:
            high = cut
    return low


@njit
def best_cut(place, starts, unordered, walked, prices, start, stop):
    """The cheapest first test above two stumps below `start`: (price, feature, place of the cut or mask of levels).

    All cuts of ordered features, and all subsets of the levels of `walked` ones. The feature is −1 where nothing is
    cheaper. `prices` (member by one) are at one multipliers; leaves may have any number of people. Once `stop[0]` is
    set the answer means nothing.
    """
    whole, total = sum_up(place, starts, prices)
    left, left_total = np.zeros_like(whole), np.zeros(1)
    best, best_feature, best_code = start, -1, np.int64(-1)
    _, outside = stumps_on_both_sides(left[0], whole[0], 0.0, total[0], starts, unordered)
    state = (place, starts, unordered, prices, whole, total, left, left_total)
    for f in range(len(unordered)):
        if starts[f + 1] - starts[f] < 2 or (unordered[f] and not walked[f]):
            continue
        if unordered[f]:
            found, code = _best_subset(f, best, state, stop)
        else:
            found, code = _best_of_cuts(f, best, outside, state, stop)
        if found < best:
            best, best_feature, best_code = found, f, code
    return best, best_feature, best_code


@njit
def _best_of_cuts(f, best, outside, state, stop):
    place, starts, unordered, prices, whole, total, left, left_total = state
    R, code = starts[f + 1] - starts[f], np.int64(-1)
    order, begins = by_rank(place, f, starts)
    mass = moved(prices, order, begins)
    tasks, now, used = np.empty((64, 8)), -1, 1
    set_task(tasks[0], 0, R - 2, 0, -1, outside - best, 0, R - 1, outside - best)
    while used > 0 and not stop[0]:
        used -= 1
        task = tasks[used].copy()
        first, last = narrowed(task, mass)
        if first > last:
            continue
        cut = middle(first, last, mass[0])
        move(place, starts, order, begins, prices, now, cut, left, left_total)
        now = cut
        one, two = stumps_on_both_sides(left[0], whole[0], left_total[0], total[0], starts, unordered)
        if one + two < best:
            best, code = one + two, np.int64(starts[f] + cut)
        if used + 2 >= len(tasks):
            tasks = longer(tasks)
        # Slacks were measured against what was best then; that only makes them too small.
        slack = one + two - best
        set_task(tasks[used], cut + 1, last, 0, cut, slack, 0, int(task[6]), task[7])
        set_task(tasks[used + 1], first, cut - 1, 0, int(task[3]), task[4], 0, cut, slack)
        used += 2
    left[:] = 0.0
    left_total[:] = 0.0
    return best, code


@njit
def _best_subset(f, best, state, stop):
    place, starts, unordered, prices, whole, total, left, left_total = state
    order, begins = by_rank(place, f, starts)
    levels = np.flatnonzero(begins[1:] > begins[:-1])
    mask, code = np.int64(0), np.int64(-1)
    for step in range(1, 1 << max(0, len(levels) - 1)):
        if stop[0]:
            break
        mask = flip(step, levels, mask, place, starts, order, begins, prices, left, left_total)
        one, two = stumps_on_both_sides(left[0], whole[0], left_total[0], total[0], starts, unordered)
        if one + two < best:
            best, code = one + two, mask
    left[:] = 0.0
    left_total[:] = 0.0
    return best, code


@njit
def set_task(task, first, last, j, reference, slack, other_j, other_reference, other_slack):
    """Cuts first to last, and how far the evaluated cuts on either side rule them out."""
    task[0], task[1], task[2], task[3], task[4] = first, last, j, reference, slack
    task[5], task[6], task[7] = other_j, other_reference, other_slack


@njit
def longer(tasks):
    """Room for twice as many tasks."""
    grown = np.empty((2 * len(tasks), tasks.shape[1]))
    grown[: len(tasks)] = tasks
    return grown
