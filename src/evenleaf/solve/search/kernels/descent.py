"""The true objective along all cuts of one test of a tree, the rest of the tree standing (ALGORITHM §4)."""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import INFINITE, inner, njit


@inner
def relabel(pointers, rows, entries, weight, base, i, old, new, v):
    """Change a person's label: (change of the loss, change of the disparity); `v` is kept up to date."""
    loss = (0.0 if new == 0 else base[i, new - 1]) - (0.0 if old == 0 else base[i, old - 1])
    gain = 0.0
    for q in range(pointers[i], pointers[i + 1]):
        r, a = rows[q], entries[q]
        gain += weight[r, new] * (abs(v[r, new] + a) - abs(v[r, new]))
        v[r, new] += a
        gain += weight[r, old] * (abs(v[r, old] - a) - abs(v[r, old]))
        v[r, old] -= a
    return loss, gain


@njit
def try_cuts(pointers, rows, entries, weight, base, order, rank, below, above, loss, disparity, limit, v):
    """The best cut for people in the order of their ranks, all starting with the label they have above it.

    Returns the objective, the rank that the cut comes after (−1: none), and how it splits; `limit` ≥ 0 asks for
    the least loss within it, a negative one for the sum of both.
    """
    best, place = INFINITE, -2
    for k in range(len(order) + 1):
        if k == len(order) or k == 0 or rank[order[k]] != rank[order[k - 1]]:
            value = loss + disparity if limit < 0 else (loss if disparity <= limit else INFINITE)
            if value < best - 1e-13:
                best, place = value, (-1 if k == 0 else rank[order[k - 1]])
        if k < len(order):
            i = order[k]
            if below[i] != above[i]:
                change, gain = relabel(pointers, rows, entries, weight, base, i, above[i], below[i], v)
                loss += change
                disparity += gain
    return best, place


@njit
def try_levels(pointers, rows, entries, weight, base, starts, order, side, below, above, loss, disparity, limit, v):
    """Move levels across while that helps; `side[level]` is True on the left, and is changed in place."""
    value = loss + disparity if limit < 0 else (loss if disparity <= limit else INFINITE)
    moved = True
    while moved:
        moved = False
        for level in range(len(side)):
            change, gain = 0.0, 0.0
            for i in order[starts[level] : starts[level + 1]]:
                old, new = (below[i], above[i]) if side[level] else (above[i], below[i])
                if old != new:
                    one, two = relabel(pointers, rows, entries, weight, base, i, old, new, v)
                    change += one
                    gain += two
            after = loss + change + disparity + gain
            if limit >= 0:
                after = loss + change if disparity + gain <= limit else INFINITE
            if after < value - 1e-13:
                value, moved = after, True
                loss += change
                disparity += gain
                side[level] = not side[level]
                continue
            for i in order[starts[level] : starts[level + 1]]:
                old, new = (above[i], below[i]) if side[level] else (below[i], above[i])
                if old != new:
                    relabel(pointers, rows, entries, weight, base, i, old, new, v)
    return value


@njit
def disparity_of(weight, v):
    """Σ w|v|."""
    total = 0.0
    for r in range(v.shape[0]):
        for y in range(v.shape[1]):
            total += weight[r, y] * abs(v[r, y])
    return total
