"""The inner loops of the exact search, compiled by Numba; nothing else in the project is.

People are merged (equal features), features are ranks, labels are relative to class 0: `c[i, k]` is what
person i costs more with label k + 1 than with label 0. Every function is one idea; `ascend` joins them.
"""

from __future__ import annotations

import numba as nb
import numpy as np

njit = nb.njit(cache=True, nogil=True, fastmath={"nsz", "arcp", "contract", "reassoc", "afn", "nnan"})

EPSILON = 1e-10  # a bound this close to the incumbent closes a box
INFINITE = 1e18


@njit
def dual_costs(pointers, rows, entries, weight, scale, mu, base, c):
    """c = base + matrixᵀ(scale·weight ∘ μ), class 0 subtracted (ALGORITHM §2)."""
    n_people, n_labels = c.shape
    n_rows = weight.shape[0]
    price = np.empty((n_rows, n_labels))
    for r in range(n_rows):
        for k in range(n_labels):
            price[r, k] = scale * (weight[r, k + 1] * mu[r, k + 1] - weight[r, 0] * mu[r, 0])
    for i in range(n_people):
        for k in range(n_labels):
            total = base[i, k]
            for q in range(pointers[i], pointers[i + 1]):
                total += entries[q] * price[rows[q], k]
            c[i, k] = total


@njit
def differences(pointers, rows, entries, label, v):
    """v = matrix·ψ for the labels; every row sums to zero, so class 0 is minus the rest."""
    v[:] = 0.0
    for i in range(len(label)):
        y = label[i]
        if y > 0:
            for q in range(pointers[i], pointers[i + 1]):
                v[rows[q], y] += entries[q]
    for r in range(v.shape[0]):
        rest = 0.0
        for y in range(1, v.shape[1]):
            rest -= v[r, y]
        v[r, 0] = rest


@njit
def least(sums):
    """The cheapest label's cost, label 0 costing nothing."""
    best = 0.0
    for k in range(len(sums)):
        best = min(best, sums[k])
    return best


@njit
def cheapest(sums):
    """The cheapest label, the lowest among equals."""
    best, label = 0.0, 0
    for k in range(len(sums)):
        if sums[k] < best:
            best, label = sums[k], k + 1
    return label


@njit
def subset_cost(sums):
    """The best subset of levels with two labels: each level takes the cheaper of the pair; also the pair."""
    n_levels, n_labels = sums.shape
    best, first, second = INFINITE, 0, 1
    for a in range(n_labels + 1):
        for b in range(a + 1, n_labels + 1):
            total = 0.0
            for level in range(n_levels):
                low = 0.0 if a == 0 else sums[level, a - 1]
                total += min(low, sums[level, b - 1])
            if total < best:
                best, first, second = total, a, b
    return best, first, second


@njit
def segments(X, offsets, unordered, sizes, alive, place, count, least_people, possible, segment):
    """Number each person's segment between the alive cuts of every feature, on one side.

    `possible[i]` tells who may be on this side. Cuts that cannot leave `least_people` on both
    parts, or that part these people as the cut before does, are dropped from `alive`. Returns, per feature, the
    number of segments (0 where no cut is left); `place` maps a segment to its cut.
    """
    n_features, n_people = X.shape
    n_segments = np.zeros(n_features, np.int64)
    people = np.zeros(sizes.max(), np.int64)
    table = np.zeros(sizes.max(), np.int32)
    total = 0
    for i in range(n_people):
        if possible[i]:
            total += count[i]
    for f in range(n_features):
        start, size = offsets[f], sizes[f]
        if unordered[f]:
            if alive[start]:
                n_segments[f] = size
                for i in range(n_people):
                    segment[f, i] = X[f, i]
            continue
        for rank in range(size):
            people[rank] = 0
        for i in range(n_people):
            if possible[i]:
                people[X[f, i]] += count[i]
        below, since, cuts = 0, 0, 0
        for rank in range(size - 1):
            table[rank] = cuts
            below += people[rank]
            since += people[rank]
            if alive[start + rank]:
                if since == 0 or below < least_people or total - below < least_people:
                    alive[start + rank] = 0
                else:
                    place[start + cuts] = rank
                    cuts += 1
                    since = 0
        table[size - 1] = cuts
        if cuts:
            n_segments[f] = cuts + 1
            for i in range(n_people):
                segment[f, i] = table[X[f, i]]
    return n_segments


@njit
def histogram(c, group, segment_f, n_groups, n_segments, ordered, h):
    """Costs by group and segment of one feature, cumulative over segments where the feature is ordered."""
    n_labels = c.shape[1]
    for g in range(n_groups):
        for s in range(n_segments):
            for k in range(n_labels):
                h[g, s, k] = 0.0
    for i in range(len(group)):
        g = group[i]
        if g >= 0:
            for k in range(n_labels):
                h[g, segment_f[i], k] += c[i, k]
    if ordered:
        for g in range(n_groups):
            for s in range(1, n_segments):
                for k in range(n_labels):
                    h[g, s, k] += h[g, s - 1, k]


@njit
def best_cut(run, n_segments, total):
    """The best cut of cumulative sums: (cost, cut)."""
    best, place = INFINITE, -1
    if run.shape[1] == 1:
        whole = total[0]
        for s in range(n_segments - 1):
            value = min(run[s, 0], 0.0) + min(whole - run[s, 0], 0.0)
            if value < best:
                best, place = value, s
    else:
        for s in range(n_segments - 1):
            value = cut_cost(run[s], total)
            if value < best:
                best, place = value, s
    return best, place


@njit
def cut_cost(below, total):
    """Both parts of a cut at their cheapest labels."""
    low, high = 0.0, 0.0
    for k in range(len(total)):
        low = min(low, below[k])
        high = min(high, total[k] - below[k])
    return low + high


@njit
def sweep_side(
    c, group, segment, n_segments, unordered, moves, on_side, live, best, where, h, run, totals, offsets, slack, keep
):
    """For every root of a box, the best stump of each feature on one side (ALGORITHM §3).

    Where `slack` is not empty, `keep` marks the cuts that cost less than slack[t, f] below some live root t.

    Group 0 is always on this side; group u + 1 is the u-th moving part of the root, on this side at the start
    where `on_side[u]`, and changing sides whenever it comes up in `moves`. `best[t, f]` is the cost of the best
    stump on feature f below root t, `best[t, F]` that of no test at all.
    """
    n_features, n_moves, n_groups = len(n_segments), len(moves), len(on_side) + 1
    n_labels = c.shape[1]
    here = np.empty(len(on_side), np.bool_)
    _root_totals(c, group, moves, on_side, totals)
    for t in range(n_moves + 1):
        best[t, n_features] = least(totals[t])
    for f in range(n_features):
        size = n_segments[f]
        if size == 0:
            for t in range(n_moves + 1):
                best[t, f] = INFINITE
            continue
        histogram(c, group, segment[f], n_groups, size, not unordered[f], h)
        for s in range(size):
            for k in range(n_labels):
                run[s, k] = h[0, s, k]
        for u in range(len(on_side)):
            here[u] = on_side[u]
            if here[u]:
                for s in range(size):
                    for k in range(n_labels):
                        run[s, k] += h[u + 1, s, k]
        for t in range(n_moves + 1):
            if t > 0:
                u = moves[t - 1]
                sign = -1.0 if here[u] else 1.0
                here[u] = not here[u]
                for s in range(size):
                    for k in range(n_labels):
                        run[s, k] += sign * h[u + 1, s, k]
            if not live[t]:
                best[t, f] = INFINITE
            elif unordered[f]:
                best[t, f] = subset_cost(run[:size])[0]
                where[t, f] = 0
            else:
                best[t, f], where[t, f] = best_cut(run, size, totals[t])
            if len(slack) and live[t] and best[t, f] < slack[t, f]:
                if unordered[f]:
                    keep[offsets[f]] = 1
                else:
                    _mark_cuts(run, size, totals[t], slack[t, f], keep[offsets[f] :])


@njit
def _mark_cuts(run, n_segments, total, slack, keep):
    for s in range(n_segments - 1):
        if cut_cost(run[s], total) < slack:
            keep[s] = 1


@njit
def _root_totals(c, group, moves, on_side, totals):
    """Summed costs of everybody on the side, for every root of the box."""
    n_labels = c.shape[1]
    parts = np.zeros((len(on_side) + 1, n_labels))
    for i in range(len(group)):
        if group[i] >= 0:
            for k in range(n_labels):
                parts[group[i], k] += c[i, k]
    here = on_side.copy()
    for k in range(n_labels):
        totals[0, k] = parts[0, k]
    for u in range(len(on_side)):
        if here[u]:
            for k in range(n_labels):
                totals[0, k] += parts[u + 1, k]
    for t in range(1, len(moves) + 1):
        u = moves[t - 1]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        for k in range(n_labels):
            totals[t, k] = totals[t - 1, k] + sign * parts[u + 1, k]


@njit
def best_tree(best_left, best_right, live, allowed):
    """The cheapest root with an admissible pair of stumps: (cost, root, left feature, right feature)."""
    value, root, left, right = INFINITE, -1, -1, -1
    n_options = best_left.shape[1]
    for t in range(best_left.shape[0]):
        if not live[t]:
            continue
        for f in range(n_options):
            a = best_left[t, f]
            if a >= INFINITE:
                continue
            for g in range(n_options):
                if allowed[f, g] and a + best_right[t, g] < value:
                    value, root, left, right = a + best_right[t, g], t, f, g
    return value, root, left, right


@njit
def label_side(c, member, segment_f, size, unordered_f, cut, constant, label):
    """Label the people of one side by their best stump: no test, a cut, or a subset of levels."""
    n_labels = c.shape[1]
    if constant or not unordered_f:
        sums = np.zeros((2, n_labels))
        for i in range(len(member)):
            if member[i]:
                part = 0 if constant or segment_f[i] <= cut else 1
                for k in range(n_labels):
                    sums[part, k] += c[i, k]
        low, high = cheapest(sums[0]), cheapest(sums[1])
        for i in range(len(member)):
            if member[i]:
                label[i] = low if constant or segment_f[i] <= cut else high
        return
    sums = np.zeros((size, n_labels))
    for i in range(len(member)):
        if member[i]:
            for k in range(n_labels):
                sums[segment_f[i], k] += c[i, k]
    _, first, second = subset_cost(sums)
    for i in range(len(member)):
        if member[i]:
            low = 0.0 if first == 0 else sums[segment_f[i], first - 1]
            label[i] = first if low <= sums[segment_f[i], second - 1] else second


@njit
def price_stumps(c, group, segment, n_segments, unordered, stumps, h, settled, moving):
    """What each labelled stump costs on the settled people, and on each moving part of the root.

    `stumps` holds (feature, segment, label below, label above) with the features in ascending order.
    """
    n_parts = moving.shape[1] + 1
    values = np.empty(n_parts)
    loaded = -2
    for q in range(len(stumps)):
        f, s, below, above = stumps[q]
        if f != loaded:
            loaded = f
            if f < 0:
                n_here = 1
                histogram(c, group, np.zeros(len(group), np.int32), n_parts, 1, True, h)
            else:
                n_here = n_segments[f]
                histogram(c, group, segment[f], n_parts, n_here, not unordered[f], h)
        for g in range(n_parts):
            if f >= 0 and unordered[f]:
                total = 0.0
                for level in range(n_here):
                    low = 0.0 if below == 0 else h[g, level, below - 1]
                    total += min(low, h[g, level, above - 1])
                values[g] = total
            else:
                total = 0.0 if below == 0 else h[g, s, below - 1]
                if above > 0:
                    total += h[g, n_here - 1, above - 1] - h[g, s, above - 1]
                values[g] = total
        settled[q] = values[0]
        for g in range(1, n_parts):
            moving[q, g - 1] = values[g]


@njit
def best_pair(
    left, left_parts, left_stumps, right, right_parts, right_stumps, allowed, budget, least_left, least_right
):
    """The cheapest admissible pair of stumps when every part picks its side, and the least total of each stump.

    Pairs that cannot be cheaper than the best so far, nor than the budget, are passed over; the least totals are
    then lower bounds, which is all that dropping a stump needs.
    """
    n_parts, none = left_parts.shape[1], allowed.shape[0] - 1
    floor = np.full(n_parts, INFINITE)
    lowest = INFINITE
    for p in range(len(right)):
        least_right[p] = INFINITE
        lowest = min(lowest, right[p])
        for u in range(n_parts):
            floor[u] = min(floor[u], right_parts[p, u])
    best, best_left, best_right = INFINITE, -1, -1
    for q in range(len(left)):
        total = left[q] + lowest
        for u in range(n_parts):
            total += min(left_parts[q, u], floor[u])
        least_left[q] = total
        if total >= best and total >= budget:
            continue
        f = left_stumps[q, 0] if left_stumps[q, 0] >= 0 else none
        row = INFINITE
        for p in range(len(right)):
            g = right_stumps[p, 0] if right_stumps[p, 0] >= 0 else none
            if not allowed[f, g]:
                continue
            total = left[q] + right[p]
            for u in range(n_parts):
                total += min(left_parts[q, u], right_parts[p, u])
            row = min(row, total)
            least_right[p] = min(least_right[p], total)
            if total < best:
                best, best_left, best_right = total, q, p
        least_left[q] = row
    return best, best_left, best_right


@njit
def step(mu, weight, v, direction, length):
    """One deflected, projected subgradient step on μ towards the target; False where it has nowhere to go."""
    n_rows, n_classes = weight.shape
    dot, norm = 0.0, 0.0
    for r in range(n_rows):
        for y in range(n_classes):
            g = _inward(mu[r, y], weight[r, y] * v[r, y])
            dot += g * direction[r, y]
            norm += direction[r, y] * direction[r, y]
    turn = -1.5 * dot / norm if norm > 0 and dot < 0 else 0.0
    size = 0.0
    for r in range(n_rows):
        for y in range(n_classes):
            g = _inward(mu[r, y], weight[r, y] * v[r, y]) + turn * direction[r, y]
            direction[r, y] = g
            g = _inward(mu[r, y], g)
            size += g * g
    if size < 1e-24:
        return False
    for r in range(n_rows):
        for y in range(n_classes):
            mu[r, y] = min(1.0, max(-1.0, mu[r, y] + length / size * direction[r, y]))
    return True


@njit
def _inward(mu, g):
    """A component that pushes against the box [−1, 1] counts for nothing."""
    if (mu >= 1.0 and g > 0) or (mu <= -1.0 and g < 0):
        return 0.0
    return g
