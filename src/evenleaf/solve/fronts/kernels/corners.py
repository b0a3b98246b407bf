"""Which stumps on either side of a run of cuts may belong to a pair below the target: bounds by blocks.

Whether a pair of stumps is of use comes down to two sums that must both be small, of quantities u and v:

- with a penalty, u = loss + d and v = loss − d, because a tree is worth the larger sum of the two;
- with a limit, u = d (or −d, where μ pulls the other way) and v = loss: the one within ε, the other below the target.

What a cut within a block has of either is bounded by the sums before it and by what is negative inside, so nobody needs
to be looked at. Of the stumps on one side only *corners* matter: those that no other undercuts in both quantities.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit

_ROUNDING = 1e-11  # sums in another order
U, V = np.int64(0), np.int64(1)


@njit
def weights(mode, mu):
    """What u and v are made of: for each, the shares of loss and of the first disparity."""
    made = np.zeros((2, 2))
    if mode == 1:
        made[U, 0], made[U, 1], made[V, 0], made[V, 1] = 1.0, 1.0, 1.0, -1.0
    else:
        made[U, 1], made[V, 0] = 1.0 if mu >= 0.0 else -1.0, 1.0
    return made


@njit
def no_corners(sheet):
    """An empty list of corners, with room for all blocks: u and v, u rising."""
    return np.empty((2, 2 * sheet[8].shape[1] + 2 * sheet[7][len(sheet[7]) - 1] + 2)), np.zeros(1, np.int64)


@njit
def _place(corners, u):
    """How many corners have less of u."""
    low, high = 0, corners[1][0]
    while low < high:
        middle = (low + high) // 2
        if corners[0][U, middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def may_pair(corners, u, v):
    """Whether some corner has less of both."""
    place = _place(corners, u + _ROUNDING)
    return place > 0 and corners[0][V, place - 1] < v + _ROUNDING


@njit
def add_corner(corners, u, v):
    """Take up a corner, unless another one undercuts it; those that it undercuts go."""
    table, number = corners
    place, n = _place(corners, u), number[0]
    if (place > 0 and table[V, place - 1] <= v) or (place < n and table[U, place] == u and table[V, place] <= v):
        return
    behind = place  # the first that stays
    while behind < n and table[V, behind] >= v:
        behind += 1
    move = place + 1 - behind
    if move > 0:
        for s in range(n - 1, behind - 1, -1):
            table[U, s + 1], table[V, s + 1] = table[U, s], table[V, s]
    elif move < 0:
        for s in range(behind, n):
            table[U, s + move], table[V, s + move] = table[U, s], table[V, s]
    table[U, place], table[V, place] = u, v
    number[0] = n + move


@njit
def point_corners(points, number, made):
    """The corners of a list of points, in a list of their own: there may be more of them than blocks."""
    corners = np.empty((2, number + 1)), np.zeros(1, np.int64)
    for p in range(number):
        add_corner(
            corners,
            made[U, 0] * points[p, 0] + made[U, 1] * points[p, 1],
            made[V, 0] * points[p, 0] + made[V, 1] * points[p, 1],
        )
    return corners


@njit
def block_corners(sums, sheet, by_level, made, most, ask, most_u, most_v, corners, needed):
    """The corners of one side's stumps by blocks (ask False), or which blocks are needed (ask True); how many are.

    `sums` are the inputs of one side by block, the last two what is negative of u and of v. Stumps that cost `most` at
    the leading multipliers count for nothing. Blocks are needed that may have a stump below `most_u` and `most_v`
    together with one of the corners.
    """
    edges, blocks, last = sheet[6], sheet[7], sums.shape[0] - 2
    total, total_u, total_v, number = 0.0, 0.0, 0.0, 0
    for k in range(blocks[1]):
        total += sums[0, k]
        total_u += made[U, 0] * sums[2, k] + made[U, 1] * sums[3, k]
        total_v += made[V, 0] * sums[2, k] + made[V, 1] * sums[3, k]
    if not ask:
        corners[1][0] = 0
        add_corner(corners, 0.0, 0.0)
        add_corner(corners, total_u, total_v)
    elif may_pair(corners, most_u, most_v) or may_pair(corners, most_u - total_u, most_v - total_v):
        number += 1
    for g in range(len(by_level)):
        price, u, v = 0.0, 0.0, 0.0
        if by_level[g]:
            for k in range(blocks[g], blocks[g + 1]):
                price += min(0.0, sums[0, k])
                u += min(0.0, made[U, 0] * sums[2, k] + made[U, 1] * sums[3, k])
                v += min(0.0, made[V, 0] * sums[2, k] + made[V, 1] * sums[3, k])
            needed[blocks[g]] = price < most and (not ask or may_pair(corners, most_u - u, most_v - v))
            number += needed[blocks[g]]
            if not ask and needed[blocks[g]]:
                add_corner(corners, u, v)
            continue
        for k in range(blocks[g], blocks[g + 1]):
            own_u = made[U, 0] * sums[2, k] + made[U, 1] * sums[3, k]
            own_v = made[V, 0] * sums[2, k] + made[V, 1] * sums[3, k]
            inside, inside_u, inside_v = sums[1, k], sums[last, k], sums[last + 1, k]
            if edges[k + g + 1] - edges[k + g] == 1:  # its only cut is behind it
                inside, inside_u, inside_v = sums[0, k], own_u, own_v
            # Up to the cut the second label, or from the cut on: what is inside then counts the other way round.
            low, low_u, low_v = price + inside, u + inside_u, v + inside_v
            price, u, v = price + sums[0, k], u + own_u, v + own_v
            if edges[k + g + 1] - edges[k + g] == 1:
                inside, inside_u, inside_v = 0.0, 0.0, 0.0
            high, high_u, high_v = total - price + inside, total_u - u + inside_u, total_v - v + inside_v
            if ask:
                needed[k] = (low < most and may_pair(corners, most_u - low_u, most_v - low_v)) or (
                    high < most and may_pair(corners, most_u - high_u, most_v - high_v)
                )
                number += needed[k]
                continue
            if low < most:
                add_corner(corners, low_u, low_v)
            if high < most:
                add_corner(corners, high_u, high_v)
    return number
