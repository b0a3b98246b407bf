"""The points of all trees of depth 2 below a slot, where every feature has two ranks: everything from pair sums."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.flags import priced, stump_values
from evenleaf.solve.fronts.kernels.fronts import grown, keeps
from evenleaf.solve.fronts.kernels.needless import COMPARED, kept_short, undominated
from evenleaf.solve.search.kernels.compile import njit


@njit
def flag_points(sums, total, flipped, least, allowed, multipliers, rest, target, most, mode):
    """Every point of a tree of at most depth 2 that survives: (points, recipes, number).

    `sums` and `total` are the sums over pairs of flags of the vectors of the second label, and last of people.
    Recipes are nine numbers, test, left and right, as in `lists.py`; the number is −1 where there would be too many.
    """
    F, J = len(allowed), len(rest)
    width = multipliers.shape[1] + 1
    prices, price = priced(sums, total, multipliers)
    one, two = np.empty((F, J)), np.empty((F, J))
    stump_values(prices, price, least, allowed, one, two)
    points, recipes, used = np.zeros((64, width)), np.zeros((64, 9), np.int64), 0
    for label in range(2):
        points[used] = total[:width] * label
        if keeps(points, used, multipliers, rest, target):
            recipes[used, 0], recipes[used, 2] = -1, 3 * label
            used += 1
    own, vector = np.empty(width), np.empty((1, width))
    for f in range(F):
        alive = True
        for j in range(J):
            if one[f, j] + two[f, j] + rest[j] >= target:
                alive = False
                break
        if not alive:
            continue
        for q in range(width):
            own[q] = sums[q, f, f]
        near = _side(sums, total, own, f, True, least, allowed, multipliers, rest + two[f], target, mode)
        if len(near[0]) == 0:
            continue
        for q in range(width):
            own[q] = total[q] - sums[q, f, f]
        far = _side(sums, total, own, f, False, least, allowed, multipliers, rest + one[f], target, mode)
        for a in range(len(near[0])):
            for b in range(len(far[0])):
                for q in range(width):
                    vector[0, q] = near[0][a, q] + far[0][b, q]
                if not keeps(vector, 0, multipliers, rest, target):
                    continue
                points, recipes = grown(points, used), grown(recipes, used)
                for q in range(width):
                    points[used, q] = vector[0, q]
                recipes[used, 0], recipes[used, 1], recipes[used, 2] = f, 0, -1
                # The flag is the higher rank, on the right, unless it is turned round.
                _stump_recipe(recipes[used, 3 if flipped[f] else 6 :], near[1][a], flipped)
                _stump_recipe(recipes[used, 6 if flipped[f] else 3 :], far[1][b], flipped)
                used += 1
        used = kept_short(points, recipes, used, mode, most)
        if used < 0:
            break
    return points, recipes, used


@njit
def _side(sums, total, own, f, with_flag, least, allowed, multipliers, rest, target, mode):
    """The points of stumps and labels among those with flag f (or without it), and (feature, sign) of each."""
    F, width = len(allowed), len(own)
    points, stumps, used = np.zeros((2 * F + 2, width)), np.zeros((2 * F + 2, 2), np.int64), 0
    for label in range(2):
        if label:
            points[used] = own
        if keeps(points, used, multipliers, rest, target):
            stumps[used, 0], stumps[used, 1] = -1, label
            used += 1
        else:
            points[used] = 0.0
    counts = sums[width]
    here = counts[f, f] if with_flag else total[width] - counts[f, f]
    for g in range(F):
        if not allowed[g] or g == f:
            continue
        if least > 1:
            both = counts[f, g] if with_flag else counts[g, g] - counts[f, g]
            if both < least or here - both < least:
                continue
        for sign in range(2):
            for q in range(width):
                flagged = sums[q, f, g] if with_flag else sums[q, g, g] - sums[q, f, g]
                points[used, q] = flagged if sign else own[q] - flagged
            if keeps(points, used, multipliers, rest, target):
                stumps[used, 0], stumps[used, 1] = g, sign
                used += 1
    points, stumps = points[:used], stumps[:used]
    if mode >= 0 and used > 1:
        keep = undominated(points, mode, COMPARED)
        points, stumps = points[keep], stumps[keep]
    return points, stumps


@njit
def _stump_recipe(recipe, stump, flipped):
    """(feature, cut, labels): sign 1 gives the second label to those with the flag."""
    g, sign = stump[0], stump[1]
    if g < 0:
        recipe[0], recipe[1], recipe[2] = -1, 0, 3 * sign
    else:
        to_higher = (sign == 1) != flipped[g]
        recipe[0], recipe[1], recipe[2] = g, 0, 1 if to_higher else 2
