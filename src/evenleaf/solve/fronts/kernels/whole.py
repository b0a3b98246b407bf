"""The best tree that begins with a test on one feature, above two stumps: cuts are ruled out in runs.

Let a cut be one of a run. Whoever is left of the run is on its left, whoever is right of it on its right; those in
between are free. All points of stumps on either side that could lead below the target are listed, and for each on the
left the best partner on the right is found by its disparity; what the free people may add to that is bounded. So a run
of cuts is ruled out by one pair of lists, though a lottery between trees may be cheaper than all of its trees.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.first_points import least_prices, matched, side_points, tree_worth
from evenleaf.solve.fronts.kernels.first_tests import flip, left_of, middle, total_of, workspace
from evenleaf.solve.fronts.kernels.sheet import best_stump, block_sums, stump_bound
from evenleaf.solve.search.kernels.compile import INFINITE, njit

_MOST_FREE = 128  # people of a run who may be free where its stumps are listed
_ROUNDING = 1e-12
_EXACT = 2  # where it stands whether the costs before it are exact
_PRICE, _WITH, _AGAINST, _LOSS, _UP, _DOWN = range(6)  # what free people may add, see `_spared`


@njit
def best_whole(sheet, unordered, f, inputs, asked, goal, limits, best):
    """The best tree with a first test on feature f, if it is worth less than goal[0], which falls to its worth.

    `inputs` are those of `points_below`; `asked` are one multipliers and the offset's price there less ε's; `goal` is
    (target, limit or −1, offset) and `limits` are (most points, mode, least people, work, stop). Its point and its
    recipe are written into `best`. Returns 0, or −1 where lists grow too long, or −2 once the time is up.
    """
    if unordered[sheet[0][f]]:
        return _subsets(sheet, unordered, f, inputs, asked, goal, limits, best)
    begins, base = sheet[3], sheet[4][f] + f
    table, spared, room = block_sums(sheet, f, inputs), _spared(sheet, f, inputs), workspace(sheet)
    prices = np.ascontiguousarray(inputs[:, :2]), np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(inputs[:, 0])
    runs, known, pile = _first_runs(sheet, unordered, f, prices[1], spared, room, goal[0] - asked[1][0])
    left, right = np.empty_like(table[0]), np.empty_like(table[0])
    while pile > 0:
        if limits[4][0]:
            return -2
        pile -= 1
        low, high = runs[pile]
        free = spared[high + 1] - spared[low + 1]
        room_left = goal[0] - asked[1][0] - free[_PRICE]
        one, two = _ends(sheet, unordered, f, low, high, known[pile], prices, room_left, room)
        if one + two >= room_left:
            continue
        if begins[base + high + 1] - begins[base + low + 1] <= _MOST_FREE:
            left_of(sheet, f, low, table, inputs, left)
            left_of(sheet, f, high, table, inputs, right)
            _rest_of(table[len(table) - 1], right)
            args = f, low, high, left, right, (one, two), free
            found = _listed(sheet, unordered, *args, inputs, asked, goal, limits, best)
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
def cheapest_run(sheet, unordered, f, inputs):
    """What a cut of an ordered feature costs at least, at the prices of `inputs`: where to look first."""
    runs = block_sums(sheet, f, np.ascontiguousarray(inputs[:, :2]))
    _, known, pile = _first_runs(sheet, unordered, f, runs, _spared(sheet, f, inputs), workspace(sheet), INFINITE)
    return known[pile - 1, 0] + known[pile - 1, 1] if pile else INFINITE


@njit
def _hand_on(known, pile, one, two, spared, low, middle, high):
    """What is known of the two halves of a run: of each one end exactly, of the other what people between may take."""
    upper, lower = known[pile], known[pile + 1]
    upper[0], upper[1] = one + spared[middle + 2, _PRICE] - spared[low + 1, _PRICE], two
    lower[0], lower[1] = one, two + spared[high + 1, _PRICE] - spared[middle + 1, _PRICE]
    upper[_EXACT], upper[_EXACT + 1], lower[_EXACT], lower[_EXACT + 1] = 0.0, 1.0, 1.0, 0.0


@njit
def _longer(table, used):
    """The table, or where it has no room for two more rows a longer one that begins like it."""
    if used + 2 <= len(table):
        return table
    longer = np.empty((2 * len(table), table.shape[1]), table.dtype)
    longer[:used] = table[:used]
    return longer


@njit
def _first_runs(sheet, unordered, f, table, spared, room, most):
    """The blocks of a feature that may have a cut below the most, the cheapest last: (cuts, what is known, number).

    Of each run is known what the stumps left of its lowest cut cost at least, those right of its highest, and whether
    these are exact (1) or not (0).
    """
    edges, at, B, R = sheet[6], sheet[7][f] + f, sheet[7][f + 1] - sheet[7][f], sheet[4][f + 1] - sheet[4][f]
    under, over = _at_edges(sheet, unordered, table, room)
    value = np.empty(B)
    for b in range(B):
        first, last = edges[at + b], edges[at + b + 1]
        single = under[b + 1] + over[b + 1]
        value[b] = (
            single if last - first == 1 else under[b] + over[b + 1] + spared[last, _PRICE] - spared[first, _PRICE]
        )
    runs, known, pile = np.empty((B + 128, 2), np.int64), np.zeros((B + 128, 4)), 0
    for b in np.argsort(-value, kind="mergesort"):
        first, last = edges[at + b], edges[at + b + 1]
        high = min(last - 1, R - 2)
        if first <= high and value[b] < most:
            runs[pile, 0], runs[pile, 1] = first, high
            known[pile, 0] = (
                under[b + 1] if last - first == 1 else under[b] + spared[first + 1, _PRICE] - spared[first, _PRICE]
            )
            known[pile, 1] = over[b + 1] + spared[last, _PRICE] - spared[high + 1, _PRICE]
            pile += 1
    return runs, known, pile


@njit
def _ends(sheet, unordered, f, low, high, known, prices, most, room):
    """What the stumps left of a run's lowest cut and right of its highest cost: exactly, or together the most."""
    inputs, table, price = prices
    one, two = known[0], known[1]
    if one + two >= most:
        return one, two
    sums, to_left = np.empty_like(table[0]), np.bool_(True)
    if known[_EXACT] == 0.0:
        left_of(sheet, f, low, table, inputs, sums)
        one = max(one, _stump(sheet, unordered, f, low, to_left, sums, price, most - two, room))
    if known[_EXACT + 1] == 0.0 and one + two < most:
        left_of(sheet, f, high, table, inputs, sums)
        _rest_of(table[len(table) - 1], sums)
        two = max(two, _stump(sheet, unordered, f, high, not to_left, sums, price, most - one, room))
    return one, two


@njit
def _stump(sheet, unordered, f, code, side, sums, price, most, room):
    """What the best stump on one side of a test costs, or a bound that reaches the most."""
    _, narrow, before, lowest, _, _ = room
    total = total_of(sums, sheet)
    best, bound = stump_bound(sums, total, sheet, unordered, narrow, before, lowest)
    if bound >= most:
        return bound
    return best_stump(total, best, before, lowest, sheet, unordered, price, f, code, side)


@njit
def _rest_of(whole, sums):
    """Turn sums over one side into those over the other."""
    for q in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            sums[q, k] = whole[q, k] - sums[q, k]


@njit
def _spared(sheet, f, inputs):
    """What the people before each rank may add at least, each free to take any label: rank by quantity.

    The price; loss + d, and loss − d, of the first disparity; the loss; how far they push d up, and down.
    """
    order, begins, base = sheet[2], sheet[3], sheet[4][f] + f
    R = sheet[4][f + 1] - sheet[4][f]
    spared = np.zeros((R + 1, 6))
    for r in range(R):
        spared[r + 1] = spared[r]
        for s in range(begins[base + r], begins[base + r + 1]):
            m = order[f, s]
            loss, d = inputs[m, 2], inputs[m, 3]
            spared[r + 1, _PRICE] += min(0.0, inputs[m, 0])
            spared[r + 1, _WITH] += min(0.0, loss + d)
            spared[r + 1, _AGAINST] += min(0.0, loss - d)
            spared[r + 1, _LOSS] += min(0.0, loss)
            spared[r + 1, _UP] += max(0.0, d)
            spared[r + 1, _DOWN] += max(0.0, -d)
    return spared


@njit
def _at_edges(sheet, unordered, table, room):
    """What stumps left and right of the cuts between blocks cost at least."""
    narrow, before, low, B = room[1], room[2], room[3], len(table) - 1
    under, over, sums = np.empty(B + 1), np.empty(B + 1), np.empty_like(table[0])
    for b in range(B + 1):
        sums[:] = table[b]
        under[b] = stump_bound(sums, total_of(sums, sheet), sheet, unordered, narrow, before, low)[1]
        _rest_of(table[B], sums)
        over[b] = stump_bound(sums, total_of(sums, sheet), sheet, unordered, narrow, before, low)[1]
    return under, over


@njit
def _listed(sheet, unordered, f, low, high, left, right, costs, free, inputs, asked, goal, limits, best):
    """Whether trees of a run may be worth less than the target: 0 no, 1 yes, −1 there are too many to list.

    Of a single test the best tree is written down, and the target falls to its worth.
    """
    multipliers, rest = asked
    single = low == high
    most, mode, least, work, stop = limits
    # Whoever is free may fill a leaf, so that nobody is counted in a run of several cuts.
    here = most, mode, least if single else 1, work, stop
    beside = rest + costs[1] + free[_PRICE]
    to_left = np.bool_(True)  # plain True and False would be compiled apart
    one = side_points(left, (f, low), to_left, sheet, unordered, inputs, multipliers, beside, 0, goal[0], here)
    if one[2] <= 0:
        return one[2]
    beside = rest + least_prices(one[0][: one[2]], multipliers) + free[_PRICE]
    two = side_points(right, (f, high), not to_left, sheet, unordered, inputs, multipliers, beside, 0, goal[0], here)
    if two[2] <= 0:
        return two[2]
    if single and multipliers.shape[1] > 1:
        return _write_matched(sheet, unordered, f, low, one, two, goal, limits, best)
    if mode == 1:
        worth, a, b = _least_sum(one[0][: one[2]], two[0][: two[2]], goal, free)
    else:
        worth, a, b = _least_within(one[0][: one[2]], two[0][: two[2]], goal, free)
    if worth >= goal[0]:
        return 0
    if not single:
        return 1
    tree = one[0][a] + two[0][b]
    worth = tree_worth(tree, goal, mode)
    if worth < goal[0]:
        goal[0], best[0][:] = worth, tree
        _write(sheet, unordered, f, low, one[1][a], two[1][b], best[1])
    return 0 if worth < goal[0] + _ROUNDING else -1  # added up in another order, it would be beyond ε


@njit
def _least_sum(one, two, goal, free):
    """The least loss + |d| of a sum of two points and free people, one disparity: (worth, first, second).

    Free people add at least S to loss + d and T to loss − d. So the worth is at least loss + max(d + S, −d + T), which
    is loss + |d + (S − T)/2| + (S + T)/2.
    """
    shift, add = 0.5 * (free[_WITH] - free[_AGAINST]), 0.5 * (free[_WITH] + free[_AGAINST])
    order = np.argsort(two[:, 1])
    along, m = two[order, 1], len(two)
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
        place = np.searchsorted(along, -d)
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
    order, m = np.argsort(two[:, 1]), len(two)
    queue, head, tail, ahead = np.empty(m, np.int64), 0, 0, 0
    best, first, second = INFINITE, -1, -1
    for a in np.argsort(-one[:, 1]):
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
def _write(sheet, unordered, f, code, one, two, recipe):
    """The recipe of a tree, in terms of the table's ranks."""
    names, starts, upper = sheet[0], sheet[4], sheet[5]
    named = np.int64(0)
    if unordered[names[f]]:
        for r in range(starts[f + 1] - starts[f]):
            if (code >> r) & 1:
                named |= np.int64(1) << upper[starts[f] + r]
    else:
        named = upper[starts[f] + code]
    recipe[0], recipe[1], recipe[2] = names[f], named, -1
    recipe[3:6], recipe[6:9] = one, two


@njit
def _write_matched(sheet, unordered, f, code, one, two, goal, limits, best):
    """With several disparities and a limit: pairs whose first disparities cancel, one by one."""
    found = np.empty((64, one[0].shape[1])), np.empty((64, 9), np.int64), 0
    trees, recipes, used = matched(0, 0, one, two, goal, limits, found)
    if used > 0:  # the last of them is the best
        best[0][:] = trees[used - 1]
        _write(sheet, unordered, f, code, recipes[used - 1, 3:6].copy(), recipes[used - 1, 6:9].copy(), best[1])
    return 0 if used >= 0 else -1


@njit
def _subsets(sheet, unordered, f, inputs, asked, goal, limits, best):
    """The subsets of an unordered feature's levels one after the other, in the order of the Gray code."""
    table, room, nobody = block_sums(sheet, f, inputs), workspace(sheet), np.zeros(6)
    price, B, to_left = np.ascontiguousarray(inputs[:, 0]), len(table) - 1, np.bool_(True)
    left, right, mask = np.zeros_like(table[0]), np.empty_like(table[0]), np.int64(0)
    for step in range(1, 1 << (B - 1)):
        if limits[4][0]:
            return -2
        mask = flip(step, mask, table, left)
        right[:] = left
        _rest_of(table[B], right)
        most = goal[0] - asked[1][0]
        two = stump_bound(right, total_of(right, sheet), sheet, unordered, room[1], room[2], room[3])[1]
        one = _stump(sheet, unordered, f, mask, to_left, left, price, most - two, room)
        if one + two < most:
            two = _stump(sheet, unordered, f, mask, not to_left, right, price, most - one, room)
        if one + two >= most:
            continue
        args = f, mask, mask, left, right, (one, two), nobody
        if _listed(sheet, unordered, *args, inputs, asked, goal, limits, best) < 0:
            return -1
    return 0
