"""Multipliers of rows and of their facets (`search/facets.py`): |μ| and the facets' parts θ ≥ 0 are at most 1 together.

Rows come first, then the facets, those of a row together: `owner` is the row of each, `starts` where those of the next
row begin. Rows without facets are in [−1, 1].
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import inner

_FULL = 1.0 - 1e-12


@inner
def starts_of(owner):
    """Where the facets of each row begin, and where the last ones end."""
    found = np.empty(len(owner) + 1, dtype=np.int64)
    n = 0
    for q in range(len(owner)):
        if q == 0 or owner[q] != owner[q - 1]:
            found[n] = q
            n += 1
    found[n] = len(owner)
    return found[: n + 1]


@inner
def project(centre, moved, owner, starts, point):
    """The allowed multipliers nearest to where the centre was moved."""
    n_rows = len(centre) - len(owner)
    for r in range(n_rows):
        point[r] = min(1.0, max(-1.0, centre[r] + moved[r]))
    for r in range(n_rows, len(centre)):
        point[r] = max(0.0, centre[r] + moved[r])
    for g in range(len(starts) - 1):
        row, first, end = owner[starts[g]], n_rows + starts[g], n_rows + starts[g + 1]
        point[row] = centre[row] + moved[row]
        size = abs(point[row])
        for q in range(first, end):
            size += point[q]
        if size > 1.0:
            _shrink(point, row, first, end)


@inner
def _shrink(point, row, first, end):
    """Take the same off a row's multiplier and its facets', and no more than there is, until they are 1 together."""
    if end - first == 1:  # nearly all rows: written out, as it is what takes the time
        own, other = abs(point[row]), point[first]
        kept = min(1.0, max(0.0, (own - other + 1.0) / 2))
        point[row], point[first] = (kept if point[row] > 0 else -kept), 1.0 - kept
        return
    less = 0.0
    for _ in range(end - first + 2):
        total, n = 0.0, 0
        if abs(point[row]) > less:
            total, n = abs(point[row]), 1
        for q in range(first, end):
            if point[q] > less:
                total += point[q]
                n += 1
        more = (total - 1.0) / n
        if more <= less:
            break
        less = more
    point[row] = max(0.0, abs(point[row]) - less) * (1.0 if point[row] > 0 else -1.0)
    for q in range(first, end):
        point[q] = max(0.0, point[q] - less)


@inner
def may_move(centre, moved, owner, point):
    """Which components a small step moves."""
    n_rows = len(centre) - len(owner)
    moves = np.abs(centre + moved) <= 1.0
    for q in range(len(owner)):
        row = owner[q]
        moves[row] = point[row] != 0.0 or centre[row] + moved[row] == 0.0
        moves[n_rows + q] = point[n_rows + q] > 0.0
    return moves


@inner
def along_faces(slopes, free, owner, starts, point):
    """Where a row and its facets are 1 together, they move only against each other: slopes of the `free` ones."""
    n_rows = len(point) - len(owner)
    place = np.full(len(point), -1)
    for q in range(len(free)):
        place[free[q]] = q
    for g in range(len(starts) - 1):
        row, first, end = owner[starts[g]], n_rows + starts[g], n_rows + starts[g + 1]
        size, n = abs(point[row]), int(place[row] >= 0)
        for q in range(first, end):
            size += point[q]
            n += place[q] >= 0
        if size < _FULL or n == 0:
            continue
        sign = 1.0 if point[row] >= 0 else -1.0
        for a in range(len(slopes)):
            mean = sign * slopes[a, place[row]] if place[row] >= 0 else 0.0
            for q in range(first, end):
                if place[q] >= 0:
                    mean += slopes[a, place[q]]
            mean /= n
            if place[row] >= 0:
                slopes[a, place[row]] -= sign * mean
            for q in range(first, end):
                if place[q] >= 0:
                    slopes[a, place[q]] -= mean


@inner
def most_of(slope, owner, starts):
    """How high a slope leads, at most: each row by itself, or by its best facet."""
    n_rows, total = len(slope) - len(owner), 0.0
    for r in range(n_rows):
        total += abs(slope[r])
    for g in range(len(starts) - 1):
        own = abs(slope[owner[starts[g]]])
        best = own
        for q in range(n_rows + starts[g], n_rows + starts[g + 1]):
            best = max(best, slope[q])
        total += best - own
    return total
