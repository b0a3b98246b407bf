"""The points of all trees with a first test above two stumps that survive, test by test (see `first_tests.py`)."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.fronts import grown, keeps, kept_subsets, subset_sums, sums
from evenleaf.solve.fronts.kernels.needless import kept_short, thinned
from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.order import DISPARITY, by_column
from evenleaf.solve.search.kernels.sheet import across, block_sums, goes_left, left_of, subtracted

_MOST_LEVELS = 62
_ROUNDING = 1e-12  # sums in another order; what survives is decided later


@njit
def points_below(sheet, by_level, f, codes, costs, inputs, lined, question, goal, limits, found):
    """Every point whose first test is one of these of feature f, added to what was found: (points, recipes, number).

    A tree survives if its price and the rest are below the target at every multipliers. The number is −1 where there
    would be more than `most` points or where `work[0]` sums have been looked at, and −2 once `stop[0]` is set.

    `inputs` are the price at the leading multipliers, what is negative of it, the vector of the second label, and
    people, `lined` the same in the order of each feature; `costs` what the stumps on either side cost at least (test
    by side by multipliers). `goal` is the target; where it has more numbers, the limit (or −1) and the offset, these
    are all the tree there is, and the target falls to the worth of what is found.
    """
    multipliers, rest, lead = question
    stop, J, ranks = limits[4], len(rest), across(sheet, f)
    table = block_sums(sheet, f, inputs)
    whole, side, beside = table[len(table) - 1], np.empty_like(table[0]), np.empty(J)
    needed = np.ones(table.shape[2], np.bool_)
    for number in range(len(codes)):
        if stop[0]:
            return found[0], found[1], -2
        code, alive = codes[number], True
        for j in range(J):
            beside[j] = rest[j] + costs[number, 1, j]
            alive &= beside[j] + costs[number, 0, j] < goal[0]
        if not alive:
            continue
        if by_level[f]:
            _left_in(code, table, side)
        else:
            left_of(sheet, f, code, table, inputs, side)
        to_left = np.bool_(True)  # plain True and False would be compiled apart
        one = side_points(
            side, f, code, to_left, sheet, by_level, lined, ranks, multipliers, beside, lead, goal[0], limits, needed
        )
        if one[2] == 0:
            continue
        if one[2] < 0:
            return found[0], found[1], -1
        least_prices(one[0], one[2], multipliers, rest, beside)
        subtracted(whole, side, side)
        two = side_points(
            side,
            f,
            code,
            not to_left,
            sheet,
            by_level,
            lined,
            ranks,
            multipliers,
            beside,
            lead,
            goal[0],
            limits,
            needed,
        )
        if two[2] < 0:
            return found[0], found[1], -1
        found = _joined(sheet[0][f], named(sheet, by_level, f, code), one, two, question, goal, limits, found)
        if found[2] < 0:
            break
    return found


@njit
def named(sheet, by_level, f, code):
    """The cut or mask in terms of the table's ranks."""
    first, last, upper = sheet[4][f], sheet[4][f + 1], sheet[5]
    if not by_level[f]:
        return upper[first + code]
    mask = np.int64(0)
    for r in range(last - first):
        if (code >> r) & 1:
            mask |= np.int64(1) << upper[first + r]
    return mask


@njit
def _left_in(mask, table, left):
    for q in range(left.shape[0]):
        for k in range(left.shape[1]):
            left[q, k] = 0.0
            for level in range(len(table) - 1):
                if (mask >> level) & 1:
                    left[q, k] += table[level + 1, q, k] - table[level, q, k]


@njit
def least_prices(points, number, multipliers, rest, prices):
    """The least price of a point and the rest at each multipliers, into `prices`."""
    for j in range(len(multipliers)):
        prices[j] = INFINITE
        for p in range(number):
            price = points[p, 0] + rest[j]
            for q in range(multipliers.shape[1]):
                price += multipliers[j, q] * points[p, q + 1]
            prices[j] = min(prices[j], price)


@njit
def side_points(sums, f, code, to_left, sheet, by_level, lined, ranks, multipliers, rest, lead, target, limits, needed):
    """The points of stumps and labels on one side of a test that survive: (points, recipes of three, number).

    Blocks of cuts are read only where the price at the leading multipliers leaves room for a point. `lined` are the
    inputs in the order of each feature, `ranks` those of feature f in the same order. Blocks that are not needed, and
    features of levels whose first block is not, are passed over.
    """
    names, starts, upper, edges, blocks = sheet[0], sheet[4], sheet[5], sheet[6], sheet[7]
    most, mode, least = limits[0], limits[1], limits[2]
    width, Q = multipliers.shape[1] + 1, lined.shape[2]
    total, run = np.zeros(Q), np.zeros(Q)
    for q in range(Q):
        for k in range(blocks[1]):
            total[q] += sums[q, k]
    points, recipes, used = np.zeros((64, width)), np.zeros((64, 3), np.int64), np.int64(0)
    people = total[2 + width]
    if people < least:
        return points, recipes, np.int64(0)
    for label in range(2):
        for q in range(width):
            points[used, q] = total[2 + q] * label
        if keeps(points, used, multipliers, rest, target):
            recipes[used, 0], recipes[used, 1], recipes[used, 2] = -1, 0, 3 * label
            used += 1
    if people < 2 * least:
        return points, recipes, used
    for g in range(len(names)):
        out = (points, recipes, used)
        if by_level[g] and not needed[blocks[g]]:
            continue
        if by_level[g]:
            if upper[starts[g + 1] - 1] >= _MOST_LEVELS:
                return points, recipes, np.int64(-1)
            points, recipes, used = _levels(g, sheet, sums, people, multipliers, rest, target, limits, out)
            if used < 0:
                return points, recipes, used
            continue
        price, reached = 0.0, blocks[g]
        for q in range(Q):
            run[q] = 0.0
        for k in range(blocks[g], blocks[g + 1]):
            after = price + sums[0, k]
            # Within the block, as between its ends: the least price of those on the left, or of those on the right.
            lowest = min(price + sums[1, k], total[0] - after + sums[1, k])
            if edges[k + g + 1] - edges[k + g] == 1:
                lowest = min(after, total[0] - after)
            price = after
            if lowest + rest[lead] >= target or not needed[k]:
                continue
            for q in range(Q):
                for before in range(reached, k):
                    run[q] += sums[q, before]
            reached = k + 1
            most_here = target - rest[lead] + _ROUNDING
            out = _read(
                g,
                k,
                run,
                total,
                f,
                code,
                to_left,
                sheet,
                by_level,
                lined,
                ranks,
                multipliers,
                rest,
                target,
                most_here,
                least,
                out,
            )
        points, recipes, used = out
    if mode >= 0 and used > 1:
        used = thinned(points, recipes, used, mode)
    return points, recipes, used if used <= 4 * most else -1


@njit
def _read(
    g, k, run, total, f, code, to_left, sheet, by_level, lined, ranks, multipliers, rest, target, most, least, out
):
    """The points of the cuts of one block that cost less than the most at the leading multipliers, and survive.

    `run` are the sums before the block, and become those behind it.
    """
    names, begins, starts, upper, edges = sheet[0], sheet[3], sheet[4], sheet[5], sheet[6]
    points, recipes, used = out
    masked, width, base = by_level[f], multipliers.shape[1] + 1, starts[g] + g
    for r in range(edges[k + g], edges[k + g + 1]):
        somebody = False
        for s in range(begins[base + r], begins[base + r + 1]):
            # Nobody knows on which side the next one is: adding nothing is faster than a wrong guess.
            here = goes_left(ranks[g, s], code, masked) == to_left
            somebody |= here
            share = 1.0 if here else 0.0
            for q in range(len(run)):
                run[q] += share * lined[g, s, q]
        if min(run[0], total[0] - run[0]) >= most:
            continue
        heads = run[2 + width]
        last = r == starts[g + 1] - starts[g] - 1
        if last or not somebody or heads < least or total[2 + width] - heads < least:
            continue
        for first in range(2):
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = run[2 + q] if first else total[2 + q] - run[2 + q]
            if keeps(points, used, multipliers, rest, target):
                recipes[used, 0], recipes[used, 1], recipes[used, 2] = names[g], upper[starts[g] + r], 1 + first
                used += 1
    return points, recipes, used


@njit
def _levels(g, sheet, sums, people, multipliers, rest, target, limits, out):
    """The points of all subsets of a feature's levels that get the second label."""
    names, starts, upper, blocks = sheet[0], sheet[4], sheet[5], sheet[7]
    most, mode, least = limits[0], limits[1], limits[2]
    width, n = multipliers.shape[1] + 1, 0
    size = starts[g + 1] - starts[g]
    levels, heads = np.empty(size, np.int64), np.empty(size, np.int64)
    change, base = np.empty((size, width)), np.zeros(width)
    for r in range(size):
        heads[n] = np.int64(sums[2 + width, blocks[g] + r])
        if heads[n] > 0:
            levels[n] = upper[starts[g] + r]
            for q in range(width):
                change[n, q] = sums[2 + q, blocks[g] + r]
            n += 1
    thin, work = mode if least == 1 else -1, np.full(1, 8 * most)
    found, codes, number = subset_sums(
        change[:n], base, levels[:n], heads[:n], multipliers, rest, target, most, thin, work
    )
    return kept_subsets(found, codes, number, names[g], 1, people, least, out)


@njit
def tree_worth(points, p, goal, mode):
    """What a whole tree is worth, in the way of `best_sum`."""
    worth, disparity = points[p, 0] + goal[2], 0.0
    for q in range(1, points.shape[1]):
        gap = points[p, q] + goal[2 + q]
        disparity += abs(gap) if mode <= 1 else (gap if mode == 2 else -gap)
    if mode == 1:
        return worth + disparity
    return worth if disparity <= goal[1] else INFINITE


@njit
def matched(name, code, one, two, goal, limits, found):
    """Of whole trees with a limit, the one within it that is best so far: for each point of the left side, those of the
    right side with a first disparity that may cancel it."""
    points, recipes, used = found
    work, width, ahead = limits[3], points.shape[1], two[2]
    order = by_column(two[0][:ahead], DISPARITY, 1.0)
    work[0] -= one[2] + two[2]
    for a in range(one[2]):
        against = -goal[3] - one[0][a, 1]
        for s in range(_first_from(two[0], order, against - goal[1]), ahead):
            b = order[s]
            if two[0][b, 1] > against + goal[1]:
                break
            work[0] -= 1
            if one[0][a, 0] + two[0][b, 0] + goal[2] >= goal[0]:
                continue
            points, recipes = grown(points, used), grown(recipes, used)
            for q in range(width):
                points[used, q] = one[0][a, q] + two[0][b, q]
            worth = tree_worth(points, used, goal, np.int64(0))
            if worth < goal[0]:
                goal[0] = worth
                spell(recipes, used, name, code, one[1], a, two[1], b)
                used += 1
        if work[0] < 0:
            return points, recipes, -1
    return points, recipes, used


@njit
def _first_from(points, order, least):
    """The first place in an order by disparity whose disparity is at least this."""
    low, high = 0, len(order)
    while low < high:
        place = (low + high) // 2
        if points[order[place], 1] < least:
            low = place + 1
        else:
            high = place
    return low


@njit
def spell(recipes, here, name, code, one, a, two, b):
    """Write down a tree: its first test, and the recipes of its stumps."""
    recipes[here, 0], recipes[here, 1], recipes[here, 2] = name, code, -1
    for column in range(3):
        recipes[here, 3 + column], recipes[here, 6 + column] = one[a, column], two[b, column]


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
        for q in range(points.shape[1]):
            points[used, q] = one[0][a, q] + two[0][b, q]
        spell(recipes, used, name, code, one[1], a, two[1], b)
        if len(goal) > 1 and mode >= 0:
            goal[0] = min(goal[0], tree_worth(points, used, goal, mode))
        used += 1
    return points, recipes, kept_short(points, recipes, used, mode, most)
