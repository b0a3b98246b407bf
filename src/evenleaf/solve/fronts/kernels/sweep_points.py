"""The points of all trees with an ordered first test and stumps below it that survive, cut by cut (see `sweep.py`)."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.fronts import _keeps, _subset_points, grown, sums
from evenleaf.solve.fronts.kernels.needless import thinned
from evenleaf.solve.fronts.kernels.sweep import (
    flip,
    longer,
    middle,
    move,
    narrowed,
    set_task,
    stumps_on_both_sides,
)
from evenleaf.solve.search.kernels.compile import INFINITE, njit

_MOST_LEVELS = 62


@njit
def cut_points(sheet, f, order, begins, mass, question, goal, limits, found):
    """Every point whose first test is a cut of feature f, added to what was found: (points, recipes, number).

    A tree survives if its price and the rest are below the target at every multipliers. The number is −1 where there
    would be more than `most` points or where `work[0]` sums have been looked at, and −2 once `stop[0]` is set.

    `goal` is the target; where it has more numbers, the limit (or −1) and the offset, these are all the tree there is,
    and the target falls to the worth of what is found. Quantities of a sheet are the price at the leading multipliers,
    the vector of the second label, and people.
    """
    place, starts, upper, unordered, inputs, whole, total = sheet
    multipliers, rest, lead = question
    stop = limits[4]
    points, recipes, used = found
    R = starts[f + 1] - starts[f]
    left, left_total = np.zeros_like(whole), np.zeros(len(total))
    below = np.empty((2, len(rest)))
    outside = _slack(left, whole, left_total, total, starts, unordered, multipliers, rest, goal[0], lead, lead, below)
    tasks, now, pile = np.empty((64, 8)), -1, 1
    set_task(tasks[0], 0, R - 2, lead, -1, outside, lead, R - 1, outside)
    while pile > 0:
        if stop[0]:
            return points, recipes, -2
        pile -= 1
        task = tasks[pile].copy()
        first, last = narrowed(task, mass)
        if first > last:
            continue
        cut = middle(first, last, mass[lead])
        move(place, starts, order, begins, inputs, now, cut, left, left_total)
        now = cut
        slack, j = _highest(left, whole, left_total, total, starts, unordered, multipliers, rest, goal[0], lead, below)
        if slack < 0:
            here = left, left_total, below, np.int64(upper[starts[f] + cut])
            points, recipes, used = _listed(f, here, sheet, question, goal, limits, (points, recipes, used))
            if used < 0:
                return points, recipes, used
        if pile + 2 >= len(tasks):
            tasks = longer(tasks)
        set_task(tasks[pile], cut + 1, last, j, cut, slack, int(task[5]), int(task[6]), task[7])
        set_task(tasks[pile + 1], first, cut - 1, int(task[2]), int(task[3]), task[4], j, cut, slack)
        pile += 2
    return points, recipes, used


@njit
def subset_points(sheet, f, order, begins, _, question, goal, limits, found):
    """The same for the subsets of the levels of feature f, all of them, one after the other."""
    place, starts, unordered, inputs = sheet[0], sheet[1], sheet[3], sheet[4]
    whole, total = sheet[5], sheet[6]
    multipliers, rest, lead = question
    stop = limits[4]
    points, recipes, used = found
    left, left_total = np.zeros_like(whole), np.zeros(len(total))
    levels = np.flatnonzero(begins[1:] > begins[:-1])
    below, mask = np.empty((2, len(rest))), np.int64(0)
    for step in range(1, 1 << max(0, len(levels) - 1)):
        if stop[0]:
            return points, recipes, -2
        mask = flip(step, levels, mask, place, starts, order, begins, inputs, left, left_total)
        slack = _highest(left, whole, left_total, total, starts, unordered, multipliers, rest, goal[0], lead, below)[0]
        if slack < 0:
            here = left, left_total, below, mask
            points, recipes, used = _listed(f, here, sheet, question, goal, limits, (points, recipes, used))
            if used < 0:
                return points, recipes, used
    return points, recipes, used


@njit
def _highest(left, whole, left_total, total, starts, unordered, multipliers, rest, target, lead, below):
    """How far the cheapest stumps are above the target, and at which multipliers; `below` is what they cost.

    Others than the leading multipliers are looked at only where these do not rule the test out.
    """
    best = _slack(left, whole, left_total, total, starts, unordered, multipliers, rest, target, lead, lead, below)
    where = lead
    if best >= 0:
        return best, where
    for j in range(len(rest)):
        if j != lead:
            slack = _slack(left, whole, left_total, total, starts, unordered, multipliers, rest, target, lead, j, below)
            if slack > best:
                best, where = slack, j
            if best >= 0:
                break
    return best, where


@njit
def _slack(left, whole, left_total, total, starts, unordered, multipliers, rest, target, lead, j, below):
    """The same at one multipliers."""
    if j == lead:
        one, two = stumps_on_both_sides(left[0], whole[0], left_total[0], total[0], starts, unordered)
    else:
        mine, all_of_it = left[1].copy(), whole[1].copy()
        mine_total, all_total = left_total[1], total[1]
        for q in range(multipliers.shape[1]):
            mine += multipliers[j, q] * left[2 + q]
            all_of_it += multipliers[j, q] * whole[2 + q]
            mine_total += multipliers[j, q] * left_total[2 + q]
            all_total += multipliers[j, q] * total[2 + q]
        one, two = stumps_on_both_sides(mine, all_of_it, mine_total, all_total, starts, unordered)
    below[0, j], below[1, j] = one, two
    return one + two + rest[j] - target


@njit
def _listed(f, here, sheet, question, goal, limits, found):
    """The points with one first test, added to the list."""
    left, left_total, below, code = here
    multipliers, rest, _ = question
    whole, total = sheet[5], sheet[6]
    one = _side(left, left_total, sheet, multipliers, rest + below[1], goal[0], limits)
    two = _side(whole - left, total - left_total, sheet, multipliers, rest + below[0], goal[0], limits)
    if one[2] < 0 or two[2] < 0:
        return found[0], found[1], -1
    return _joined(f, code, one, two, question, goal, limits, found)


@njit
def _side(table, total, sheet, multipliers, rest, target, limits):
    """The points of stumps and labels on one side of a test that survive: (points, recipes of three, number)."""
    _, starts, upper, unordered, _, _, _ = sheet
    most, mode, least, _, _ = limits
    J, width = 1, multipliers.shape[1] + 1
    points, recipes, used = np.zeros((64, width)), np.zeros((64, 3), np.int64), 0
    people = total[J + width]
    if people < least:
        return points, recipes, 0
    own = total[J : J + width]
    for label in range(2):
        points[used] = own * label
        if _keeps(points[used], multipliers, rest, target):
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = -1, 0, 3 * label
            used += 1
    if people < 2 * least:
        return points, recipes, used
    run = np.zeros(width)
    for g in range(len(unordered)):
        first, last = starts[g], starts[g + 1]
        if last - first < 2:
            continue
        if unordered[g]:
            if last - first > _MOST_LEVELS:
                return points, recipes, -1
            out = (points, recipes, used)
            points, recipes, used = _levels(
                g, table[:, first:last], J, width, int(people), least, multipliers, rest, target, most, mode, out
            )
            if used < 0:
                return points, recipes, used
            continue
        run[:] = 0.0
        heads = 0.0
        for t in range(first, last - 1):
            if table[J + width, t] == 0:
                continue
            heads += table[J + width, t]
            for q in range(width):
                run[q] += table[J + q, t]
            if heads < least:
                continue
            if people - heads < least:
                break
            for to_left in range(2):
                points, recipes = grown(points, used), grown(recipes, used)
                for q in range(width):
                    points[used, q] = run[q] if to_left else own[q] - run[q]
                if _keeps(points[used], multipliers, rest, target):
                    recipes[used, 0], recipes[used, 1], recipes[used, 2] = g, upper[t], 2 if to_left else 1
                    used += 1
    if mode >= 0 and used > 1:
        used = thinned(points, recipes, used, mode)
    return points, recipes, used


@njit
def _levels(g, table, J, width, people, least, multipliers, rest, target, most, mode, out):
    """The points of all subsets of a feature's levels that get the second label."""
    size = table.shape[1]
    by_label, heads = np.zeros((size, 2, width)), np.zeros(size, np.int64)
    for level in range(size):
        heads[level] = int(table[J + width, level])
        for q in range(width):
            by_label[level, 1, q] = table[J + q, level]
    return _subset_points(g, by_label, heads, 0, 1, people, least, multipliers, rest, target, most, mode, out)


@njit
def _worth(point, goal, mode):
    """What a whole tree is worth, in the way of `best_sum`."""
    worth, disparity = point[0] + goal[2], 0.0
    for q in range(1, len(point)):
        gap = point[q] + goal[2 + q]
        disparity += abs(gap) if mode <= 1 else (gap if mode == 2 else -gap)
    if mode == 1:
        return worth + disparity
    return worth if disparity <= goal[1] else INFINITE


@njit
def _joined(f, code, one, two, question, goal, limits, found):
    """The sums of points of both sides, added to the list."""
    points, recipes, used = found
    multipliers, rest, _ = question
    most, mode, _, work, _ = limits
    if one[2] == 0 or two[2] == 0:
        return points, recipes, used
    pairs, number = sums(one[0][: one[2]], two[0][: two[2]], multipliers, rest, goal[0], most)
    work[0] -= one[2] + two[2] + max(number, 0)
    if number < 0 or work[0] < 0:
        return points, recipes, -1
    for s in range(number):
        a, b = pairs[s, 0], pairs[s, 1]
        points, recipes = grown(points, used), grown(recipes, used)
        points[used] = one[0][a] + two[0][b]
        recipes[used, 0], recipes[used, 1], recipes[used, 2] = f, code, -1
        recipes[used, 3:6] = one[1][a]
        recipes[used, 6:9] = two[1][b]
        if len(goal) > 1 and mode >= 0:
            goal[0] = min(goal[0], _worth(points[used], goal, mode))
        used += 1
    if used > most:
        if mode < 0:
            return points, recipes, -1
        used = thinned(points, recipes, used, mode)
        if used > most // 2:
            return points, recipes, -1
    return points, recipes, used
