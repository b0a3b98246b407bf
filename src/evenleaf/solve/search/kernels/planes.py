"""The nearest multipliers at which every tree known so far costs enough (ALGORITHM §2): a small quadratic program."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.search.kernels.facets import along_faces, may_move, most_of, project, starts_of

_MOST_ROUNDS, _MOST_HALVINGS, _MOST_DROPPED = 15, 6, 16
_RIDGE = 1e-8


@njit
def nearest_above(centre, constants, slopes, level, tolerance, pull, point, best_pull, owner, by_owner):
    """Move from the centre to the nearest point of [−1, 1]ⁿ where every plane reaches the level, or close to it.

    The planes are constants[k] + slopes[k]·point. Newton's method on the dual, after every plane was looked at by
    itself: the point is the centre plus the slopes times `pull` ≥ 0, cut off at ±1, from the pull given on. Any pull
    also tells how high the lowest plane can be at most, as a mixture of planes is above it everywhere: the least such
    ceiling is returned, with its mixture in `best_pull`. A ceiling below the level means that there is no such point.

    Trees that are much alike differ in few rows: components that no plane depends on, most of them, stay put.
    """
    kept, mine = _sloping(slopes, centre, owner, by_owner)
    near = np.empty(len(kept))
    ceiling = _nearest(centre[kept], constants, _columns(slopes, kept), level, tolerance, pull, near, best_pull, mine)
    point[:] = centre
    point[kept] = near
    return ceiling


@njit
def _sloping(slopes, centre, owner, by_owner):
    """The components that may move; facets come last, those of a row together, and the places of their rows.

    A component that no plane depends on stays where it is, and so does a facet at 0 that no plane would raise.
    """
    n_planes, n = slopes.shape
    n_rows = n - len(owner)
    found = np.zeros(n, dtype=np.bool_)
    for k in range(n_planes):
        for r in range(n_rows):
            found[r] |= slopes[k, r] != 0.0
        for r in range(n_rows, n):
            found[r] |= slopes[k, r] > 0.0
    for q in range(len(owner)):
        found[n_rows + q] |= centre[n_rows + q] > 0.0
        found[owner[q]] |= found[n_rows + q]
    place = np.cumsum(found[:n_rows]) - 1
    facets = by_owner[found[n_rows + by_owner]]
    return np.concatenate((np.flatnonzero(found[:n_rows]), n_rows + facets)), place[owner[facets]]


@njit
def _columns(slopes, kept):
    columns = np.empty((len(slopes), len(kept)))
    for k in range(len(slopes)):
        for q in range(len(kept)):
            columns[k, q] = slopes[k, kept[q]]
    return columns


@njit
def _nearest(centre, constants, slopes, level, tolerance, pull, point, best_pull, owner):
    n_planes, starts = len(constants), starts_of(owner)
    gap, moved = np.empty(n_planes), np.empty_like(centre)
    trial, trial_gap = np.empty(n_planes), np.empty(n_planes)
    value = _place(centre, constants, slopes, level, pull, moved, point, gap, owner, starts)
    ceiling = np.inf
    for _ in range(_MOST_ROUNDS):
        if _is_done(pull, gap, tolerance):
            break
        _pull_one_by_one(centre, constants, slopes, level, tolerance, pull, moved, point, gap, owner, starts)
        value = _place(centre, constants, slopes, level, pull, moved, point, gap, owner, starts)
        top = _ceiling(constants, pull, moved, owner, starts)
        if top < ceiling:
            ceiling = top
            best_pull[:] = pull
        if ceiling < level or _is_done(pull, gap, tolerance):
            break
        active = np.flatnonzero(pull > 0)
        if len(active) == 0:
            continue
        step = _newton(centre, slopes, moved, gap, pull, active, point, owner, starts)
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            trial[:] = pull
            for a in range(len(active)):
                trial[active[a]] = max(0.0, pull[active[a]] + length * step[a])
            reached = _place(centre, constants, slopes, level, trial, moved, point, trial_gap, owner, starts)
            if reached > value:
                pull[:], gap[:] = trial, trial_gap
                break
            length /= 2
        else:
            _place(centre, constants, slopes, level, pull, moved, point, gap, owner, starts)
    return ceiling


@njit
def _is_done(pull, gap, tolerance):
    """Whether every plane reaches the level, and those that pull are just there."""
    worst = 0.0
    for k in range(len(pull)):
        worst = max(worst, abs(gap[k]) if pull[k] > 0 else gap[k])
    return worst <= tolerance


@njit
def _pull_one_by_one(centre, constants, slopes, level, tolerance, pull, moved, point, gap, owner, starts):
    """Let each plane in turn pull as much as it needs to be at the level, by itself."""
    n_planes, n = slopes.shape
    for k in range(n_planes):
        if pull[k] == 0.0 and gap[k] <= tolerance:
            continue
        height, square = constants[k], 0.0
        for r in range(n):
            height += slopes[k, r] * point[r]
        for r in range(n - len(owner)):
            # What stands right at ±1 may still move inwards, where its slope leads there.
            at, slope = centre[r] + moved[r], slopes[k, r]
            if abs(at) < 1.0 or (abs(at) == 1.0 and at * slope < 0.0):
                square += slope * slope
        for q in range(len(owner)):
            slope = slopes[k, n - len(owner) + q]
            square += slope * slope
        more = max(-pull[k], (level - height) / max(square, 1e-12))
        if more == 0.0:
            continue
        pull[k] += more
        for r in range(n):
            moved[r] += more * slopes[k, r]
        project(centre, moved, owner, starts, point)


@njit
def _place(centre, constants, slopes, level, pull, moved, point, gap, owner, starts):
    """Where some pull leads to, how far each plane is below the level there, and the dual's value."""
    n_planes, n = slopes.shape
    moved[:] = 0.0
    for k in range(n_planes):
        if pull[k] > 0:
            for r in range(n):
                moved[r] += pull[k] * slopes[k, r]
    value = 0.0
    project(centre, moved, owner, starts, point)
    for r in range(n):
        value += 0.5 * (point[r] - centre[r]) ** 2
    for k in range(n_planes):
        height = constants[k]
        for r in range(n):
            height += slopes[k, r] * point[r]
        gap[k] = level - height
        value += pull[k] * gap[k]
    return value


@njit
def _newton(centre, slopes, moved, gap, pull, active, point, owner, starts):
    """The step that would bring the active planes to the level, were no more components cut off.

    No plane may push: one that would be made to stops pulling on the way, and the others go on without it. Were the
    step only cut short there, the next round would begin with the same plane, and hardly get further.
    """
    matrix = _products(centre, slopes, moved, active, point, owner, starts)
    step, missing = np.zeros(len(active)), gap[active]
    left = np.arange(len(active))
    for _ in range(_MOST_DROPPED):
        more = _solve(matrix[left][:, left], missing[left])
        length, first = 1.0, -1
        for a in range(len(left)):
            if more[a] < 0.0 and pull[active[left[a]]] + step[left[a]] < -length * more[a]:
                length, first = -(pull[active[left[a]]] + step[left[a]]) / more[a], a
        for a in range(len(left)):
            step[left[a]] += length * more[a]
        if first < 0:
            break
        for b in range(len(active)):
            for a in range(len(left)):
                missing[b] -= length * more[a] * matrix[b, left[a]]
        step[left[first]] = -pull[active[left[first]]]
        left = np.delete(left, first)
        if len(left) == 0:
            break
    return step


@njit
def _products(centre, slopes, moved, active, point, owner, starts):
    """How much a pull of one active plane raises another: the products of their slopes, as far as they may move."""
    size = len(active)
    free = np.flatnonzero(may_move(centre, moved, owner, point))
    matrix = np.empty((size, size))
    kept = np.empty((size, len(free)))
    for a in range(size):
        for q in range(len(free)):
            kept[a, q] = slopes[active[a], free[q]]
    along_faces(kept, free, owner, starts, point)
    trace = 0.0
    for a in range(size):
        for b in range(a + 1):
            total = 0.0
            for q in range(len(free)):
                total += kept[a, q] * kept[b, q]
            matrix[a, b] = matrix[b, a] = total
        trace += matrix[a, a]
    ridge = _RIDGE * max(trace / size, 1e-6)
    for a in range(size):
        matrix[a, a] += ridge
    return matrix


@njit
def _solve(matrix, right):
    """Solve by Cholesky's method; the lower half of the matrix is given, and overwritten."""
    size = len(right)
    for a in range(size):
        for b in range(a + 1):
            total = matrix[a, b]
            for q in range(b):
                total -= matrix[a, q] * matrix[b, q]
            matrix[a, b] = np.sqrt(max(total, 1e-18)) if a == b else total / matrix[b, b]
    for a in range(size):
        for q in range(a):
            right[a] -= matrix[a, q] * right[q]
        right[a] /= matrix[a, a]
    for a in range(size - 1, -1, -1):
        for q in range(a + 1, size):
            right[a] -= matrix[q, a] * right[q]
        right[a] /= matrix[a, a]
    return right


@njit
def _ceiling(constants, pull, moved, owner, starts):
    """The highest value of a mixture of planes on [−1, 1]ⁿ."""
    total, height = 0.0, 0.0
    for k in range(len(pull)):
        total += pull[k]
        height += pull[k] * constants[k]
    if total <= 0:
        return np.inf
    return (height + most_of(moved, owner, starts)) / total


@njit
def lowest_of_parts(point, constants, slopes, part, lowest, which):
    """The lowest plane of each part at a point: how low, and its number."""
    lowest[:] = np.inf
    which[:] = -1
    for k in range(len(constants)):
        height = constants[k]
        for r in range(len(point)):
            height += slopes[k, r] * point[r]
        if height < lowest[part[k]]:
            lowest[part[k]] = height
            which[part[k]] = k


@njit
def price_labels(pointers, rows, entries, weight, column, base, people, labels, slope):
    """What labels of some people cost: the constant is returned, the slope added.

    `column[r, y]` is the place of a multiplier in the slope, −1 where it has no weight. Every row sums to zero, so
    that class 0 is minus the rest.
    """
    constant = 0.0
    for p in range(len(people)):
        y = labels[p]
        if y == 0:
            continue
        i = people[p]
        constant += base[i, y - 1]
        for q in range(pointers[i], pointers[i + 1]):
            r = rows[q]
            if column[r, y] >= 0:
                slope[column[r, y]] += weight[r, y] * entries[q]
            if column[r, 0] >= 0:
                slope[column[r, 0]] -= weight[r, 0] * entries[q]
    return constant


@njit
def add_planes(constants, slopes, which, slope, n_rows):
    """Add the slopes of some planes; the sum of their constants, and of all components of the slope regardless of sign.

    That sum is what the labels truly cost: multipliers at the signs of the slope price them as they are.
    """
    constant = 0.0
    for k in which:
        constant += constants[k]
        for r in range(len(slope)):
            slope[r] += slopes[k, r]
    size = 0.0
    for r in range(n_rows):
        size += abs(slope[r])
    return constant, size


@njit
def cheapest_labels(costs, labels):
    """Everybody's cheapest label, and what they cost together."""
    total = 0.0
    for i in range(len(costs)):
        least, labels[i] = 0.0, 0
        for k in range(costs.shape[1]):
            if costs[i, k] < least:
                least, labels[i] = costs[i, k], k + 1
        total += least
    return total
