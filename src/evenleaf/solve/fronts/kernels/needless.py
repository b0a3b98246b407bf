"""Which points of a list no better tree needs (ALGORITHM §10.6)."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.order import LOSS, by_column, by_disparity

COMPARED = 64  # points that each is compared with where lists are thinned on the way


@njit
def undominated(points, mode, most):
    """Which points no other makes needless, q making p needless

    - with a penalty (mode 1) if loss_q + Σ|d_q − d_p| ≤ loss_p, because |·| is a norm;
    - with a limit (mode 0) if their disparities are the same and loss_q ≤ loss_p;
    - with only d ≤ ε asked (mode 2) if d_q ≤ d_p and loss_q ≤ loss_p; with only −d ≤ ε (mode 3) likewise.

    In several dimensions a point is held against at most `most` cheaper ones; modes 2 and 3 have one dimension.
    """
    n, width = points.shape
    keep = np.ones(n, np.bool_)
    if width == 1:
        _cheapest_alone(points, keep)
    elif width == 2 and mode <= 1:
        _one_dimension(points, mode, keep)
    elif width == 2:
        _one_sided(points, 1.0 if mode == 2 else -1.0, keep)
    elif mode == 0:
        _same_disparities(points, keep)
    else:
        _several_dimensions(points, mode, most, keep)
    return keep


@njit
def _cheapest_alone(points, keep):
    cheapest = 0
    for p in range(len(points)):
        keep[p] = False
        if points[p, 0] < points[cheapest, 0]:
            cheapest = p
    keep[cheapest] = True


@njit
def _same_disparities(points, keep):
    """Side by side in the order of the first disparity, then of the loss: the cheapest of equal ones stays."""
    n, width = points.shape
    order = by_disparity(points, 1.0)
    for s in range(1, n):
        p = order[s]
        for t in range(s - 1, -1, -1):
            q = order[t]
            if points[p, 1] - points[q, 1] > 1e-14:
                break
            distance = 0.0
            for d in range(1, width):
                distance += abs(points[p, d] - points[q, d])
            if distance <= 1e-14:
                # Disparities that differ by rounding alone may stand in any order.
                if points[q, 0] <= points[p, 0]:
                    keep[p] = False
                else:
                    keep[q] = False
                if not keep[p]:
                    break


@njit
def _several_dimensions(points, mode, most, keep):
    n, width = points.shape
    order = by_column(points, LOSS, 1.0)
    kept, used = np.empty(n, np.int64), 0
    for p in order:
        for s in range(used - 1, max(0, used - most) - 1, -1):
            q = kept[s]
            room = points[p, 0] - points[q, 0] if mode == 1 else 1e-14
            distance = 0.0
            for d in range(1, width):
                distance += abs(points[p, d] - points[q, d])
            if distance <= room:
                keep[p] = False
                break
        if keep[p]:
            kept[used] = p
            used += 1


@njit
def _one_sided(points, sign, keep):
    """By the disparity, then the loss: a point must be cheaper than all before it."""
    order = by_disparity(points, sign)
    cheapest = INFINITE
    for p in order:
        if points[p, 0] >= cheapest:
            keep[p] = False
        else:
            cheapest = points[p, 0]


@njit
def _one_dimension(points, mode, keep):
    """Sweep in the order of the disparity, both ways."""
    n = len(points)
    order = by_disparity(points, 1.0)
    if mode == 0:
        for s in range(1, n):
            if points[order[s], 1] - points[order[s - 1], 1] <= 1e-14:
                worse = order[s] if points[order[s], 0] >= points[order[s - 1], 0] else order[s - 1]
                keep[worse] = False
        return
    for sign in (-1.0, 1.0):
        cheapest = INFINITE
        for s in range(n):
            p = order[s] if sign < 0 else order[n - 1 - s]
            price = points[p, 0] + sign * points[p, 1]
            if keep[p] and price >= cheapest:
                keep[p] = False
            elif keep[p]:
                cheapest = price


@njit
def thinned(points, recipes, used, mode):
    """Move the points that are needed to the front of a list, with their recipes; how many there are."""
    keep, kept = undominated(points[:used], mode, np.int64(COMPARED)), np.int64(0)
    for s in range(used):
        if keep[s]:
            move(points, s, kept)
            move(recipes, s, kept)
            kept += 1
    return kept


@njit
def move(table, here, there):
    """Copy a row of a table to another place."""
    for column in range(table.shape[1]):
        table[there, column] = table[here, column]


@njit
def kept_short(points, recipes, used, mode, most):
    """How many points are left of a list, needless ones dropped once there are more than the most.

    The number is −1 where that leaves more than half of the most: such a list would soon be full again.
    """
    if used <= most:
        return used
    left = thinned(points, recipes, used, mode) if mode >= 0 else used
    return left if left <= most // 2 else -1
