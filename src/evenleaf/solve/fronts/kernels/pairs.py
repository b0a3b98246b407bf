"""The best two levels of tests below a node, two classes: histograms over pairs of features (ALGORITHM §3).

For every box of ordered first tests (a single cut, or the cuts within a block of ranks) the least price of the two
stumps below it. Whoever the box does not place is free to take their cheapest label, so a value is a bound for every
test of its box, and exact where the box is a single test.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.blocks import blocks
from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def pair_values(ranks, sizes, unordered, members, prices, count, least, allowed, most_blocks):
    """`(starts, numbers, exact, upper, values)`: feature f owns the boxes from starts[f] to starts[f + 1].

    `numbers[f]` is its number of blocks, `upper[f]` the highest rank of each, `values[box, j]` the least price.
    """
    F, M, J = len(sizes), len(members), prices.shape[1]
    block, fine = np.empty((F, M), np.int64), np.empty((F, M), np.int64)
    upper = np.full((F, most_blocks + 1), -1, np.int64)
    numbers, fines = np.zeros(F, np.int64), np.zeros(F, np.int64)
    exact, starts = np.ones(F, np.bool_), np.zeros(F + 1, np.int64)
    spare = np.empty(max(1, sizes.max() if F else 1), np.int64)
    for f in range(F):
        boxes = 0
        if allowed[f] and not unordered[f]:
            numbers[f], exact[f] = blocks(ranks[f], sizes[f], members, most_blocks, block[f], upper[f])
            boxes = numbers[f] - 1 if exact[f] else numbers[f]
        starts[f + 1] = starts[f] + boxes
        fines[f], _ = blocks(ranks[f], sizes[f], members, sizes[f], fine[f], spare)
    width = J + (1 if least > 1 else 0)  # people are counted only where a leaf needs more than one
    price = np.empty((M, width))
    people = 0
    for m in range(M):
        people += count[members[m]]
        price[m, :J] = prices[members[m]]
        if least > 1:
            price[m, J] = count[members[m]]
    left, right = np.full((starts[F], J), INFINITE), np.full((starts[F], J), INFINITE)
    free = np.zeros((starts[F], J))
    if people < 2 * least:
        return starts, numbers, exact, upper, left
    for f in range(F):
        if starts[f + 1] == starts[f]:
            continue
        spared = _spared(block[f], numbers[f], price, J)
        for g in range(F):
            both = exact[f] and starts[g + 1] > starts[g] and exact[g] and g != f
            if not allowed[g] or (both and g < f):
                continue
            table = _table(block[f], fine[g], numbers[f], fines[g], price)
            _cuts(table, exact[f], unordered[g], least, spared, starts[f], left, right, free)
            if both:  # the same table, read the other way
                turned = np.ascontiguousarray(table.transpose(1, 0, 2))
                _cuts(turned, True, False, least, spared, starts[g], left, right, free)
    return starts, numbers, exact, upper, left + right + free


@njit
def _table(row, column, rows, columns, price):
    """Prices summed by two numberings of the people."""
    width = price.shape[1]
    table = np.zeros((rows, columns, width))
    if width == 1:
        for m in range(len(row)):
            table[row[m], column[m], 0] += price[m, 0]
    else:
        for m in range(len(row)):
            r, c = row[m], column[m]
            for j in range(width):
                table[r, c, j] += price[m, j]
    return table


@njit
def _spared(block, rows, price, J):
    """What the people of each block cost when each of them is free."""
    spared = np.zeros((rows, J))
    for m in range(len(block)):
        for j in range(J):
            spared[block[m], j] += min(0.0, price[m, j])
    return spared


@njit
def _cuts(table, exact, by_level, least, spared, start, left, right, free):
    rows, columns, width = table.shape
    J = left.shape[1]
    low, high = np.zeros((columns, width)), np.zeros((columns, width))
    for row in range(rows):
        high += table[row]
    for row in range(rows - 1 if exact else rows):
        slack = 0.0
        high -= table[row]
        if exact:
            low += table[row]
        else:
            slack = table[row, :, width - 1].sum() if width > J else 0.0
            free[start + row] = spared[row]
        _stump(low, by_level, least, slack, left[start + row])
        _stump(high, by_level, least, slack, right[start + row])
        if not exact:
            low += table[row]


@njit
def _stump(row, by_level, least, slack, best):
    """Lower `best` to the least price of a stump on one feature, `row` being the sums of its ranks.

    `slack` people may yet join, so that many may be missing from a leaf.
    """
    columns, width = row.shape
    J = len(best)
    counted = width > J
    total = np.zeros(width)
    for c in range(columns):
        for j in range(width):
            total[j] += row[c, j]
    if counted and total[J] + slack < least:
        return
    for j in range(J):
        best[j] = min(best[j], 0.0, total[j])
    if by_level:
        for j in range(J):
            price = 0.0
            for c in range(columns):
                price += min(0.0, row[c, j])
            best[j] = min(best[j], price)
        return
    run = np.zeros(width)
    for c in range(columns - 1):
        for j in range(width):
            run[j] += row[c, j]
        if counted and (run[J] + slack < least or total[J] - run[J] + slack < least):
            continue
        for j in range(J):
            best[j] = min(best[j], min(0.0, run[j]) + min(0.0, total[j] - run[j]))
