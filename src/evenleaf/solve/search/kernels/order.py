"""Sorting inside kernels: one stable order, compiled once; what NumPy's has room for takes long to compile."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit

LOSS, DISPARITY = np.int64(0), np.int64(1)  # columns of a list of points
_RUN = 16  # so many neighbours are put in order one by one, longer runs are merged


@njit
def stable_order(keys):
    """The places of the keys (contiguous numbers) from the least to the largest, equal ones as they came."""
    n = len(keys)
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for place in range(n):
        order[place] = place
        back = place
        while back % _RUN and keys[order[back - 1]] > keys[place]:
            order[back] = order[back - 1]
            back -= 1
        order[back] = place
    width = _RUN
    while width < n:
        for start in range(0, n, 2 * width):
            a, b = start, min(start + width, n)
            middle, end = b, min(start + 2 * width, n)
            for place in range(start, end):
                if b >= end or (a < middle and keys[order[a]] <= keys[order[b]]):
                    spare[place] = order[a]
                    a += 1
                else:
                    spare[place] = order[b]
                    b += 1
        order, spare = spare, order
        width *= 2
    return order


@njit
def by_column(points, column, sign):
    """The rows of a table in the order of one of its columns times a sign."""
    keys = np.empty(len(points))
    for p in range(len(points)):
        keys[p] = sign * points[p, column]
    return stable_order(keys)


@njit
def by_disparity(points, sign):
    """The rows of a list in the order of the first disparity times a sign, then of the loss."""
    first = by_column(points, LOSS, 1.0)
    keys = np.empty(len(points))
    for place in range(len(points)):
        keys[place] = sign * points[first[place], 1]
    second = stable_order(keys)
    for place in range(len(points)):
        second[place] = first[second[place]]
    return second
