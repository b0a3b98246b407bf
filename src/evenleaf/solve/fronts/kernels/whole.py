"""The best tree that begins with a test on one feature, above two stumps: cuts are ruled out in runs.

Let a cut be one of a run. Whoever is left of the run is on its left, whoever is right of it on its right; those in
between are free. All points of stumps on either side that could lead below the target are listed, and for each on the
left the best partner on the right is found by its disparity; what the free people may add to that is bounded. So a run
of cuts is ruled out by one pair of lists, though a lottery between trees may be cheaper than all of its trees.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.corners import block_corners, no_corners, point_corners, weights
from evenleaf.solve.fronts.kernels.first_points import least_prices, matched, named, side_points, spell, tree_worth
from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.first_tests import middle
from evenleaf.solve.search.kernels.order import DISPARITY, by_column, stable_order
from evenleaf.solve.search.kernels.sheet import (
    LEFT,
    across,
    block_sums,
    flip,
    goes_left,
    left_of,
    stump_bound,
    subtracted,
    total_of,
    workspace,
)

_MOST_FREE = 128  # people of a run who may be free where its stumps are listed
_ROUNDING = 1e-12
_PRICE, _WITH, _AGAINST, _LOSS, _UP, _DOWN = range(6)  # what free people may add, see `_spared`
_PAIRS = 16  # of points are looked at for every point, where several disparities must cancel


@njit
def best_whole(sheet, by_level, f, inputs, lined, asked, goal, limits, best):
    """The best tree with a first test on feature f, if it is worth less than goal[0], which falls to its worth.

    `inputs` and `lined` are those of `points_below`, and of `inputs` what is negative of the quantities of `corners.py`
    as well; `asked` are one multipliers and the offset's price there less ε's; `goal` is (target, limit or −1, offset)
    and `limits` are (most points, mode, least people, work, stop). Its point and its recipe are written into `best`,
    tables of one row. Returns 0, or −1 where lists grow too long, or −2 once the time is up. Subsets of levels are runs
    of one test each.
    """
    begins, base, stop, masked = sheet[3], sheet[4][f] + f, limits[4], by_level[f]
    table, spared, room = block_sums(sheet, f, inputs), _spared(sheet, f, inputs, asked[0].shape[1]), workspace(sheet)
    whole, ranks = table[len(table) - 1], across(sheet, f)
    runs, known, pile = _first_runs(sheet, by_level, f, table, spared, room, goal[0] - asked[1][0])
    left, right, free = np.zeros_like(whole), np.empty_like(whole), np.zeros(spared.shape[1])
    step, mask, to_left = np.int64(0), np.int64(0), np.bool_(True)  # plain numbers and truths would be compiled apart
    while pile > 0 or masked:
        if stop[0]:
            return -2
        if masked:
            step += 1
            if step >= np.int64(1) << (len(table) - 2):
                break
            mask = flip(step, mask, table, left)
            subtracted(whole, left, right)
            low, high, few = mask, mask, True
            one, two, exact_one, exact_two = -INFINITE, -INFINITE, False, False
        else:
            pile -= 1
            low, high = runs[pile, 0], runs[pile, 1]
            one, two, exact_one, exact_two = known[pile, 0], known[pile, 1], known[pile, 2] > 0, known[pile, 3] > 0
            few = begins[base + high + 1] - begins[base + low + 1] <= _MOST_FREE
            for q in range(len(free)):
                free[q] = spared[high + 1, q] - spared[low + 1, q]
        most = goal[0] - asked[1][0] - free[_PRICE]
        if one + two >= most:
            continue
        if not masked and (few or not exact_one):
            left_of(sheet, f, low, table, inputs, left)
        if not exact_one:
            one = max(one, _stump(sheet, by_level, f, low, to_left, left, lined, ranks, most - two, room))
        if one + two >= most:
            continue
        if not masked and (few or not exact_two):
            left_of(sheet, f, high, table, inputs, right)
            subtracted(whole, right, right)
        if not exact_two:
            two = max(two, _stump(sheet, by_level, f, high, not to_left, right, lined, ranks, most - one, room))
        if one + two >= most:
            continue
        if few:
            found = _listed(
                sheet, by_level, f, low, high, left, right, one, two, free, lined, ranks, asked, goal, limits, best
            )
            if found < 0 and low == high:
                return found
            if found == 0 or low == high:
                continue
        runs, known = _longer(runs, pile), _longer(known, pile)
        half = middle(begins, base, low, high, low)  # up to here goes the lower half
        runs[pile, 0], runs[pile, 1], runs[pile + 1, 0], runs[pile + 1, 1] = half + 1, high, low, half
        _hand_on(known, pile, one, two, spared, low, half, high)
        pile += 2
    return 0


@njit
def cheapest_run(sheet, by_level, f, inputs):
    """What a cut of an ordered feature costs at least, at the prices of `inputs`: where to look first."""
    table = block_sums(sheet, f, inputs)
    spared = _spared(sheet, f, inputs, 1)
    _, known, pile = _first_runs(sheet, by_level, f, table, spared, workspace(sheet), INFINITE)
    return known[pile - 1, 0] + known[pile - 1, 1] if pile else INFINITE


@njit
def _hand_on(known, pile, one, two, spared, low, middle, high):
    """What is known of the two halves of a run: of each one end exactly, of the other what people between may take."""
    known[pile, 0], known[pile, 1] = one + spared[middle + 2, _PRICE] - spared[low + 1, _PRICE], two
    known[pile, 2], known[pile, 3] = 0.0, 1.0
    pile += 1
    known[pile, 0], known[pile, 1] = one, two + spared[high + 1, _PRICE] - spared[middle + 1, _PRICE]
    known[pile, 2], known[pile, 3] = 1.0, 0.0


@njit
def _longer(table, used):
    """The table, or where it has no room for two more rows a longer one that begins like it."""
    if used + 2 <= len(table):
        return table
    longer = np.empty((2 * len(table), table.shape[1]), table.dtype)
    for row in range(used):
        for column in range(table.shape[1]):
            longer[row, column] = table[row, column]
    return longer


@njit
def _first_runs(sheet, by_level, f, table, spared, room, most):
    """The blocks of a feature that may have a cut below the most, the cheapest last: (cuts, what is known, number).

    Of each run is known what the stumps left of its lowest cut cost at least, those right of its highest, and whether
    these are exact (1) or not (0).
    """
    edges, at, B, R = sheet[6], sheet[7][f] + f, sheet[7][f + 1] - sheet[7][f], sheet[4][f + 1] - sheet[4][f]
    runs, known, pile = np.empty((B + 128, 2), np.int64), np.zeros((B + 128, 4)), 0
    if by_level[f]:
        return runs, known, pile
    under, over = _at_edges(sheet, by_level, table, room)
    value = np.empty(B)
    for b in range(B):
        first, last = edges[at + b], edges[at + b + 1]
        single = under[b + 1] + over[b + 1]
        value[b] = -(
            single if last - first == 1 else under[b] + over[b + 1] + spared[last, _PRICE] - spared[first, _PRICE]
        )
    for b in stable_order(value):
        first, last = edges[at + b], edges[at + b + 1]
        high = min(last - 1, R - 2)
        if first <= high and -value[b] < most:
            runs[pile, 0], runs[pile, 1] = first, high
            known[pile, 0] = (
                under[b + 1] if last - first == 1 else under[b] + spared[first + 1, _PRICE] - spared[first, _PRICE]
            )
            known[pile, 1] = over[b + 1] + spared[last, _PRICE] - spared[high + 1, _PRICE]
            pile += 1
    return runs, known, pile


@njit
def _stump(sheet, by_level, f, code, to_left, sums, lined, ranks, most, room):
    """What the best stump on one side of a test costs, or a bound that reaches the most."""
    begins, starts, edges, blocks, masked = sheet[3], sheet[4], sheet[6], sheet[7], by_level[f]
    total = total_of(sums, blocks)
    best, bound = stump_bound(sums, total, blocks, by_level, room, LEFT)
    if bound >= most:
        return bound
    for g in range(len(by_level)):
        base, last = starts[g] + g, starts[g + 1] - starts[g] - 1
        for k in range(blocks[g], blocks[g + 1]):
            if room[LEFT + 1, k] >= best:
                continue
            run = room[LEFT, k]
            for r in range(edges[k + g], min(edges[k + g + 1], last)):
                for s in range(begins[base + r], begins[base + r + 1]):
                    run += lined[g, s, 0] if goes_left(ranks[g, s], code, masked) == to_left else 0.0
                best = min(best, min(0.0, run) + min(0.0, total - run))
    return best


@njit
def _spared(sheet, f, inputs, n_disparities):
    """What the people before each rank may add at least, each free to take any label: rank by quantity.

    The price; loss + d, and loss − d, of the first disparity; the loss; how far they push each disparity up, and down.
    """
    order, begins, base = sheet[2], sheet[3], sheet[4][f] + f
    R = sheet[4][f + 1] - sheet[4][f]
    spared = np.zeros((R + 1, _UP + 2 * n_disparities))
    for r in range(R):
        for q in range(spared.shape[1]):
            spared[r + 1, q] = spared[r, q]
        for s in range(begins[base + r], begins[base + r + 1]):
            m = order[f, s]
            loss, d = inputs[m, 2], inputs[m, 3]
            spared[r + 1, _PRICE] += min(0.0, inputs[m, 0])
            spared[r + 1, _WITH] += min(0.0, loss + d)
            spared[r + 1, _AGAINST] += min(0.0, loss - d)
            spared[r + 1, _LOSS] += min(0.0, loss)
            for q in range(n_disparities):
                spared[r + 1, _UP + 2 * q] += max(0.0, inputs[m, 3 + q])
                spared[r + 1, _DOWN + 2 * q] += max(0.0, -inputs[m, 3 + q])
    return spared


@njit
def _at_edges(sheet, by_level, table, room):
    """What stumps left and right of the cuts between blocks cost at least."""
    blocks, B = sheet[7], len(table) - 1
    under, over, right = np.empty(B + 1), np.empty(B + 1), np.empty_like(table[0])
    for b in range(B + 1):
        under[b] = stump_bound(table[b], total_of(table[b], blocks), blocks, by_level, room, LEFT)[1]
        subtracted(table[B], table[b], right)
        over[b] = stump_bound(right, total_of(right, blocks), blocks, by_level, room, LEFT)[1]
    return under, over


@njit
def _listed(
    sheet, by_level, f, low, high, left, right, one_cost, two_cost, free, lined, ranks, asked, goal, limits, best
):
    """Whether trees of a run may be worth less than the target: 0 no, 1 yes, −1 there are too many to list.

    Of a single test the best tree is written down, and the target falls to its worth.
    """
    (multipliers, rest), lead = asked, np.int64(0)
    single, to_left, beside = low == high, np.bool_(True), np.empty(1)  # a plain True would be compiled apart
    most, mode, least, work, stop = limits
    # Whoever is free may fill a leaf, so that nobody is counted in a run of several cuts.
    here = most, mode, least if single else 1, work, stop
    made, ask = weights(mode, multipliers[0, 0]), not to_left
    corners, needed = no_corners(sheet), np.empty(left.shape[1], np.bool_)
    most_u, most_v = _room_for(made, mode, goal, free)
    beside[0] = rest[0] + one_cost + free[_PRICE]
    block_corners(right, sheet, by_level, made, goal[0] - beside[0], ask, most_u, most_v, corners, needed)
    beside[0] = rest[0] + two_cost + free[_PRICE]
    if block_corners(left, sheet, by_level, made, goal[0] - beside[0], not ask, most_u, most_v, corners, needed) == 0:
        return 0
    one = side_points(
        left, f, low, to_left, sheet, by_level, lined, ranks, multipliers, beside, lead, goal[0], here, needed
    )
    if one[2] <= 0:
        return one[2]
    least_prices(one[0], one[2], multipliers, rest, beside)
    beside[0] += free[_PRICE]
    corners = point_corners(one[0], one[2], made)
    if block_corners(right, sheet, by_level, made, goal[0] - beside[0], not ask, most_u, most_v, corners, needed) == 0:
        return 0
    two = side_points(
        right, f, high, not to_left, sheet, by_level, lined, ranks, multipliers, beside, lead, goal[0], here, needed
    )
    if two[2] <= 0:
        return two[2]
    name, code = sheet[0][f], named(sheet, by_level, f, low)
    if single and multipliers.shape[1] > 1:
        return _write_matched(name, code, one, two, goal, limits, best)
    if mode == 1:
        worth, a, b = _least_sum(one[0][: one[2]], two[0][: two[2]], goal, free)
    else:
        worth, a, b = _least_within(one[0][: one[2]], two[0][: two[2]], goal, free)
    if worth >= goal[0]:
        return 0
    if not single:
        cancel = multipliers.shape[1] == 1 or _may_cancel(one[0][: one[2]], two[0][: two[2]], goal, free)
        return 1 if cancel else 0
    tree, first = np.empty((1, multipliers.shape[1] + 1)), np.int64(0)
    for q in range(tree.shape[1]):
        tree[0, q] = one[0][a, q] + two[0][b, q]
    worth = tree_worth(tree, first, goal, mode)
    if worth < goal[0]:
        goal[0] = worth
        for q in range(tree.shape[1]):
            best[0][0, q] = tree[0, q]
        spell(best[1], first, name, code, one[1], a, two[1], b)
    return 0 if worth < goal[0] + _ROUNDING else -1  # added up in another order, it would be beyond ε


@njit
def _room_for(made, mode, goal, free):
    """What two stumps may have of u and of v, see `corners.py`."""
    if mode == 1:
        return goal[0] - goal[2] - goal[3] - free[_WITH], goal[0] - goal[2] + goal[3] - free[_AGAINST]
    sign = made[0, 1]
    return goal[1] - sign * goal[3] + free[_DOWN if sign > 0 else _UP], goal[0] - goal[2] - free[_LOSS]


@njit
def _least_sum(one, two, goal, free):
    """The least loss + |d| of a sum of two points and free people, one disparity: (worth, first, second).

    Free people add at least S to loss + d and T to loss − d. So the worth is at least loss + max(d + S, −d + T), which
    is loss + |d + (S − T)/2| + (S + T)/2.
    """
    shift, add = 0.5 * (free[_WITH] - free[_AGAINST]), 0.5 * (free[_WITH] + free[_AGAINST])
    order, m = by_column(two, DISPARITY, 1.0), len(two)
    falling, rising = np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
    falling[0], rising[m] = order[0], order[m - 1]
    for s in range(m):
        new, old = order[s], falling[s]
        falling[s + 1] = new if two[new, 0] - two[new, 1] < two[old, 0] - two[old, 1] else old
    for s in range(m - 1, -1, -1):
        new, old = order[s], rising[s + 1]
        rising[s] = new if two[new, 0] + two[new, 1] < two[old, 0] + two[old, 1] else old
    best, first, second = INFINITE, -1, -1
    for a in range(len(one)):
        d = one[a, 1] + goal[3] + shift
        place, high = 0, m  # how many partners have a disparity below −d
        while place < high:
            half = (place + high) // 2
            if two[order[half], 1] < -d:
                place = half + 1
            else:
                high = half
        for b in (falling[place], rising[place]):
            worth = one[a, 0] + two[b, 0] + goal[2] + add + abs(d + two[b, 1])
            if worth < best:
                best, first, second = worth, a, b
    return best, first, second


@njit
def _least_within(one, two, goal, free):
    """The least loss of a sum of two points and free people with |d| ≤ ε for the first disparity: as above.

    Partners of a point have a disparity in a window; as points come by falling disparity, windows move upwards.
    """
    order, m = by_column(two, DISPARITY, 1.0), len(two)
    queue, head, tail, ahead = np.empty(m, np.int64), 0, 0, 0
    best, first, second = INFINITE, -1, -1
    for a in by_column(one, DISPARITY, -1.0):
        d = one[a, 1] + goal[3]
        while ahead < m and d + two[order[ahead], 1] <= goal[1] + free[_DOWN]:
            new = order[ahead]
            while tail > head and two[queue[tail - 1], 0] >= two[new, 0]:
                tail -= 1
            queue[tail] = new
            tail += 1
            ahead += 1
        while head < tail and d + two[queue[head], 1] < -goal[1] - free[_UP]:
            head += 1
        if head < tail:
            worth = one[a, 0] + two[queue[head], 0] + goal[2] + free[_LOSS]
            if worth < best:
                best, first, second = worth, a, queue[head]
    return best, first, second


@njit
def _may_cancel(one, two, goal, free):
    """Whether with free people two points may be worth less than the target and every disparity keep to the limit.

    After many pairs the answer is yes.
    """
    order, work = by_column(two, DISPARITY, 1.0), _PAIRS * (len(one) + len(two))
    for a in range(len(one)):
        place, high = 0, len(order)  # how many partners have too low a disparity
        while place < high:
            half = (place + high) // 2
            if one[a, 1] + two[order[half], 1] + goal[3] < -goal[1] - free[_UP]:
                place = half + 1
            else:
                high = half
        for s in range(place, len(order)):
            b = order[s]
            if one[a, 1] + two[b, 1] + goal[3] > goal[1] + free[_DOWN]:
                break
            work -= 1
            fits = one[a, 0] + two[b, 0] + goal[2] + free[_LOSS] < goal[0]
            for q in range(1, one.shape[1] - 1):
                d = one[a, 1 + q] + two[b, 1 + q] + goal[3 + q]
                fits = fits and -goal[1] - free[_UP + 2 * q] <= d <= goal[1] + free[_DOWN + 2 * q]
            if fits or work < 0:
                return True
    return False


@njit
def _write_matched(name, code, one, two, goal, limits, best):
    """With several disparities and a limit: pairs whose first disparities cancel, one by one."""
    found = np.empty((64, one[0].shape[1])), np.empty((64, 9), np.int64), np.int64(0)
    trees, recipes, used = matched(name, code, one, two, goal, limits, found)
    if used > 0:  # the last of them is the best
        for q in range(trees.shape[1]):
            best[0][0, q] = trees[used - 1, q]
        for column in range(9):
            best[1][0, column] = recipes[used - 1, column]
    return 0 if used >= 0 else -1
