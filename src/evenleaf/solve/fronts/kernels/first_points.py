"""The points of all trees with a first test above two stumps that survive, test by test (see `first_tests.py`)."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.first_tests import left_of
from evenleaf.solve.fronts.kernels.fronts import _keeps, _subset_points, grown, sums
from evenleaf.solve.fronts.kernels.needless import kept_short, thinned
from evenleaf.solve.fronts.kernels.sheet import block_sums, goes_left
from evenleaf.solve.search.kernels.compile import INFINITE, njit

_MOST_LEVELS = 62


@njit
def points_below(sheet, unordered, f, codes, costs, inputs, question, goal, limits, found):
    """Every point whose first test is one of these of feature f, added to what was found: (points, recipes, number).

    A tree survives if its price and the rest are below the target at every multipliers. The number is −1 where there
    would be more than `most` points or where `work[0]` sums have been looked at, and −2 once `stop[0]` is set.

    `inputs` are the price at the leading multipliers, what is negative of it, the vector of the second label, and
    people; `costs` what the stumps on either side cost at least (test by side by multipliers). `goal` is the target;
    where it has more numbers, the limit (or −1) and the offset, these are all the tree there is, and the target falls
    to the worth of what is found.
    """
    rest = question[1]
    points, recipes, used = found
    table = block_sums(sheet, f, inputs)
    whole, left = table[len(table) - 1], np.empty_like(table[0])
    for number in range(len(codes)):
        if limits[4][0]:
            return points, recipes, -2
        if (costs[number, 0] + costs[number, 1] + rest >= goal[0]).any():
            continue
        if unordered[sheet[0][f]]:
            _left_in(codes[number], table, left)
        else:
            left_of(sheet, f, codes[number], table, inputs, left)
        here = f, codes[number]
        out = (points, recipes, used)
        points, recipes, used = _listed(
            here, left, whole, costs[number], sheet, unordered, inputs, question, goal, limits, out
        )
        if used < 0:
            break
    return points, recipes, used


@njit
def _left_in(mask, table, left):
    left[:] = 0.0
    for level in range(len(table) - 1):
        if (mask >> level) & 1:
            left += table[level + 1] - table[level]


@njit
def _listed(here, left, whole, cost, sheet, unordered, inputs, question, goal, limits, found):
    """The points with one first test, added to the list."""
    multipliers, rest, lead = question
    f, code = here
    to_left = np.bool_(True)
    one = side_points(left, here, to_left, sheet, unordered, inputs, multipliers, rest + cost[1], lead, goal[0], limits)
    if one[2] <= 0:
        return found[0], found[1], found[2] if one[2] == 0 else -1
    beside = rest + least_prices(one[0][: one[2]], multipliers)
    two = side_points(
        whole - left, here, not to_left, sheet, unordered, inputs, multipliers, beside, lead, goal[0], limits
    )
    if two[2] < 0:
        return found[0], found[1], -1
    name = sheet[0][f]
    if unordered[name]:
        named = np.int64(0)
        for r in range(sheet[4][f + 1] - sheet[4][f]):
            if (code >> r) & 1:
                named |= np.int64(1) << sheet[5][sheet[4][f] + r]
    else:
        named = sheet[5][sheet[4][f] + code]
    return _joined(name, named, one, two, question, goal, limits, found)


@njit
def least_prices(points, multipliers):
    """The least price of a point at each multipliers."""
    least = np.full(len(multipliers), INFINITE)
    for p in range(len(points)):
        for j in range(len(multipliers)):
            price = points[p, 0]
            for q in range(multipliers.shape[1]):
                price += multipliers[j, q] * points[p, q + 1]
            least[j] = min(least[j], price)
    return least


@njit
def side_points(sums, here, side, sheet, unordered, inputs, multipliers, rest, lead, target, limits):
    """The points of stumps and labels on one side of a test that survive: (points, recipes of three, number).

    Blocks of cuts are read only where the price at the leading multipliers leaves room for a point.
    """
    names, _, _, _, starts, upper, edges, blocks, _ = sheet
    most, mode, least = limits[0], limits[1], limits[2]
    width = multipliers.shape[1] + 1
    total = np.zeros(inputs.shape[1])
    for q in range(len(total)):
        for k in range(blocks[1]):
            total[q] += sums[q, k]
    points, recipes, used = np.zeros((64, width)), np.zeros((64, 3), np.int64), np.int64(0)
    people = total[2 + width]
    if people < least:
        return points, recipes, 0
    own = total[2 : 2 + width]
    for label in range(2):
        points[used] = own * label
        if _keeps(points[used], multipliers, rest, target):
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = -1, 0, 3 * label
            used += 1
    if people < 2 * least:
        return points, recipes, used
    run = np.zeros(len(total))
    for g in range(len(names)):
        first, last = blocks[g], blocks[g + 1]
        if unordered[names[g]]:
            if upper[starts[g + 1] - 1] >= _MOST_LEVELS:
                return points, recipes, -1
            out = (points, recipes, used)
            points, recipes, used = _levels(
                names[g], upper[starts[g] : starts[g + 1]], sums[:, first:last], width, int(people), least, multipliers,
                rest, target, most, mode, out,
            )  # fmt: skip
            if used < 0:
                return points, recipes, used
            continue
        price, reached = 0.0, first
        run[:] = 0.0
        for k in range(first, last):
            after = price + sums[0, k]
            # Within the block, as between its ends: the least price of those on the left, or of those on the right.
            lowest = min(price + sums[1, k], total[0] - after + sums[1, k])
            if edges[k + g + 1] - edges[k + g] == 1:
                lowest = min(after, total[0] - after)
            price = after
            if lowest + rest[lead] >= target:
                continue
            for q in range(len(total)):
                for before in range(reached, k):
                    run[q] += sums[q, before]
            reached = k
            out = (points, recipes, used)
            points, recipes, used = _read(
                g, k, run.copy(), total, here, side, sheet, unordered, inputs, multipliers, rest, target, least, out
            )
    if mode >= 0 and used > 1:
        used = thinned(points, recipes, used, mode)
    return points, recipes, used if used <= 4 * most else -1


@njit
def _read(g, k, run, total, here, side, sheet, unordered, inputs, multipliers, rest, target, least, out):
    """The points of the cuts of one block."""
    names, rank, order, begins, starts, upper, edges, _, _ = sheet
    points, recipes, used = out
    f, code = here
    by_level, width, R = unordered[names[f]], multipliers.shape[1] + 1, starts[g + 1] - starts[g]
    for r in range(edges[k + g], min(edges[k + g + 1], R - 1)):
        somebody = False
        for s in range(begins[starts[g] + g + r], begins[starts[g] + g + r + 1]):
            m = order[g, s]
            if goes_left(rank[f, m], code, by_level) == side:
                somebody = True
                for q in range(len(run)):
                    run[q] += inputs[m, q]
        heads = run[2 + width]
        if not somebody or heads < least or total[2 + width] - heads < least:
            continue
        for to_left in range(2):
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = run[2 + q] if to_left else total[2 + q] - run[2 + q]
            if _keeps(points[used], multipliers, rest, target):
                recipes[used, 0], recipes[used, 1] = names[g], upper[starts[g] + r]
                recipes[used, 2] = 2 if to_left else 1
                used += 1
    return points, recipes, used


@njit
def _levels(name, levels, sums, width, people, least, multipliers, rest, target, most, mode, out):
    """The points of all subsets of a feature's levels that get the second label."""
    size = levels.max() + 1
    by_label, heads = np.zeros((size, 2, width)), np.zeros(size, np.int64)
    for r in range(len(levels)):
        heads[levels[r]] = np.int64(sums[2 + width, r])
        for q in range(width):
            by_label[levels[r], 1, q] = sums[2 + q, r]
    zero, one = np.int64(0), np.int64(1)  # plain numbers would be compiled apart
    return _subset_points(name, by_label, heads, zero, one, people, least, multipliers, rest, target, most, mode, out)


@njit
def tree_worth(point, goal, mode):
    """What a whole tree is worth, in the way of `best_sum`."""
    worth, disparity = point[0] + goal[2], 0.0
    for q in range(1, len(point)):
        gap = point[q] + goal[2 + q]
        disparity += abs(gap) if mode <= 1 else (gap if mode == 2 else -gap)
    if mode == 1:
        return worth + disparity
    return worth if disparity <= goal[1] else INFINITE


@njit
def matched(name, code, one, two, goal, limits, found):
    """Of whole trees with a limit, the one within it that is best so far: for each point of the left side, those of the
    right side with a first disparity that may cancel it."""
    points, recipes, used = found
    work = limits[3]
    width = points.shape[1]
    order = np.argsort(two[0][: two[2], 1])
    along = two[0][: two[2], 1][order]
    work[0] -= one[2] + two[2]
    for a in range(one[2]):
        against = -goal[3] - one[0][a, 1]
        for s in range(np.searchsorted(along, against - goal[1]), len(along)):
            if along[s] > against + goal[1]:
                break
            work[0] -= 1
            b = order[s]
            if one[0][a, 0] + two[0][b, 0] + goal[2] >= goal[0]:
                continue
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = one[0][a, q] + two[0][b, q]
            worth = tree_worth(points[used], goal, 0)
            if worth < goal[0]:
                goal[0] = worth
                recipes[used, 0], recipes[used, 1], recipes[used, 2] = name, code, -1
                recipes[used, 3:6], recipes[used, 6:9] = one[1][a], two[1][b]
                used += 1
        if work[0] < 0:
            return points, recipes, -1
    return points, recipes, used


@njit
def _joined(name, code, one, two, question, goal, limits, found):
    """The sums of points of both sides, added to the list."""
    points, recipes, used = found
    multipliers, rest, _ = question
    most, mode, _, work, _ = limits
    if one[2] == 0 or two[2] == 0:
        return points, recipes, used
    if len(goal) > 1 and mode == 0:
        return matched(name, code, one, two, goal, limits, found)
    pairs, number = sums(one[0][: one[2]], two[0][: two[2]], multipliers, rest, goal[0], most)
    work[0] -= one[2] + two[2] + max(number, 0)
    if number < 0 or work[0] < 0:
        return points, recipes, -1
    for s in range(number):
        a, b = pairs[s, 0], pairs[s, 1]
        points, recipes = grown(points, used), grown(recipes, used)
        points[used] = one[0][a] + two[0][b]
        recipes[used, 0], recipes[used, 1], recipes[used, 2] = name, code, -1
        recipes[used, 3:6] = one[1][a]
        recipes[used, 6:9] = two[1][b]
        if len(goal) > 1 and mode >= 0:
            goal[0] = min(goal[0], tree_worth(points[used], goal, mode))
        used += 1
    return points, recipes, kept_short(points, recipes, used, mode, most)
