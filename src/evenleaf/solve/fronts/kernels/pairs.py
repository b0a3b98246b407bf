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
        for j in range(J):
            price[m, j] = prices[members[m], j]
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
                _cuts(_turned(table), exact[f], unordered[g], least, spared, starts[g], left, right, free)
    for box in range(starts[F]):
        for j in range(J):
            left[box, j] += right[box, j] + free[box, j]
    return starts, numbers, exact, upper, left


@njit
def _turned(table):
    """A table with its rows and columns exchanged."""
    turned = np.empty((table.shape[1], table.shape[0], table.shape[2]))
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            for j in range(table.shape[2]):
                turned[column, row, j] = table[row, column, j]
    return turned


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
        _add(high, table, row, 1.0)
    for row in range(rows - 1 if exact else rows):
        slack = 0.0
        _add(high, table, row, -1.0)
        if exact:
            _add(low, table, row, 1.0)
        else:
            for j in range(J):
                free[start + row, j] = spared[row, j]
            if width > J:
                for column in range(columns):
                    slack += table[row, column, J]
        _stump(low, by_level, least, slack, left, start + row)
        _stump(high, by_level, least, slack, right, start + row)
        if not exact:
            _add(low, table, row, 1.0)


@njit
def _add(sums, table, row, sign):
    for column in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[column, j] += sign * table[row, column, j]


@njit
def _stump(row, by_level, least, slack, best, box):
    """Lower the `best` of a box to the least price of a stump on one feature, `row` being the sums of its ranks.

    `slack` people may yet join, so that many may be missing from a leaf.
    """
    columns, width = row.shape
    J = best.shape[1]
    counted = width > J
    total, run = np.zeros(width), np.zeros(width)
    for c in range(columns):
        for j in range(width):
            total[j] += row[c, j]
    if counted and total[J] + slack < least:
        return
    for j in range(J):
        best[box, j] = min(best[box, j], 0.0, total[j])
    if by_level:
        for j in range(J):
            price = 0.0
            for c in range(columns):
                price += min(0.0, row[c, j])
            best[box, j] = min(best[box, j], price)
        return
    for c in range(columns - 1):
        for j in range(width):
            run[j] += row[c, j]
        if counted and (run[J] + slack < least or total[J] - run[J] + slack < least):
            continue
        for j in range(J):
            best[box, j] = min(best[box, j], min(0.0, run[j]) + min(0.0, total[j] - run[j]))
