"""The cheapest subtree of depth 2 on one side of a root: a child test and a stump on each of its parts (§9.11).

For every child test both stumps come out of one sweep: the people on the child's left are added up part by part,
and those on its right are the rest. Where few people cross at a time, trees of prefixes follow them one by one; else
whole rows of a histogram are added.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, inner, njit
from evenleaf.solve.search.kernels.histograms import by_level, histogram
from evenleaf.solve.search.kernels.labels import best_cut, cheapest, cut_cost, least, subset_cost
from evenleaf.solve.search.kernels.prefixes import add, best_labelled, build, leaves_for, mark_below, open_leaves

_SCAN = 2.0  # a step in the two trees of prefixes costs about this many steps of a histogram and its scan


@njit
def price_children(
    c, members, part, n_parts, moves, move_starts, asked, segment, n_segments, unordered, left, right, h, run, rest,
):  # fmt: skip
    """left[k], right[k]: the cheapest stump on either part of the k-th child test, for the features asked for.

    Feature f has the tests move_starts[f] to move_starts[f + 1]; each takes one part of the feature across, the
    first starting with everybody on the right.
    """
    n_features, n_labels = len(n_parts), c.shape[1]
    for f in range(n_features):
        first, last = move_starts[f], move_starts[f + 1]
        if first == last or not asked[f]:
            continue
        _no_stump(c, members, part[f], n_parts[f], moves[first:last], left[first:last], right[first:last])
        order, starts = by_level(part[f], members, n_parts[f])
        crossing = _crossing(starts, moves[first:last])
        for g in range(n_features):
            size = n_segments[g]
            if size == 0:
                continue
            if n_labels == 1 and not unordered[g] and _few(crossing, last - first, size):
                _few_cross(c, order, starts, segment[g], size, moves[first:last], left[first:last], right[first:last])
                continue
            histogram(c, members, part[f], segment[g], n_parts[f], size, not unordered[g], h)
            if n_labels == 1 and not unordered[g]:
                _cuts(h, n_parts[f], size, moves[first:last], left[first:last], right[first:last], run, rest)
            elif n_labels == 1:
                _levels(h, n_parts[f], size, moves[first:last], left[first:last], right[first:last], run, rest)
            else:
                _classes(
                    h, n_parts[f], size, unordered[g], moves[first:last], left[first:last], right[first:last], run, rest
                )


@njit
def _crossing(starts, moves):
    """How many people cross in all the moves together."""
    crossing = 0
    for u in moves:
        crossing += starts[u + 1] - starts[u]
    return crossing


@njit
def _few(crossing, n_moves, size):
    return _SCAN * crossing * np.log2(size + 1) < n_moves * size


@njit
def _few_cross(c, order, starts, segment_g, size, moves, left, right):
    """Two classes and an ordered feature: the prefixes on either part kept in a tree (`prefixes.py`)."""
    width = leaves_for(size)
    here, there, crossed = _nobody_crossed(c, order, starts, segment_g, size, width)
    for t in range(len(moves)):
        _cross(c, order, starts, segment_g, moves[t], crossed, here, there, width)
        left[t], right[t] = min(left[t], best_labelled(here)), min(right[t], best_labelled(there))


@njit
def _nobody_crossed(c, order, starts, segment_g, size, width):
    """The trees of prefixes with everybody there and nobody here, and which parts have crossed: none."""
    here, there = np.zeros((2 * width, 3)), np.zeros((2 * width, 3))
    for i in order:
        there[width + segment_g[i], 0] += c[i, 0]
    build(there, width, size)
    return here, there, np.zeros(len(starts), np.bool_)


@njit
def _cross(c, order, starts, segment_g, u, crossed, here, there, width):
    """Take one part of the child test across."""
    sign = -1.0 if crossed[u] else 1.0
    crossed[u] = not crossed[u]
    for i in order[starts[u] : starts[u + 1]]:
        amount = sign * c[i, 0]
        add(here, width, segment_g[i], amount)
        add(there, width, segment_g[i], -amount)


@njit
def _no_stump(c, members, part_f, n_parts, moves, left, right):
    """Both parts of every child test at their cheapest label."""
    n_labels = c.shape[1]
    sums = np.zeros((n_parts, n_labels))
    for i in members:
        for k in range(n_labels):
            sums[part_f[i], k] += c[i, k]
    below, above = np.zeros(n_labels), np.zeros(n_labels)
    for u in range(n_parts):
        for k in range(n_labels):
            above[k] += sums[u, k]
    here = np.zeros(n_parts, np.bool_)
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        for k in range(n_labels):
            below[k] += sign * sums[u, k]
            above[k] -= sign * sums[u, k]
        left[t], right[t] = least(below), least(above)


@njit
def _gather(h, n_parts, size, run, rest):
    """Nobody on the left yet, everybody on the right."""
    for s in range(size):
        for k in range(h.shape[2]):
            run[s, k] = 0.0
            rest[s, k] = 0.0
    for u in range(n_parts):
        for s in range(size):
            for k in range(h.shape[2]):
                rest[s, k] += h[u, s, k]


@njit
def _cuts(h, n_parts, size, moves, left, right, run, rest):
    """Two classes and an ordered feature: prefixes in one pass that the processor can take four at a time."""
    _gather(h, n_parts, size, run, rest)
    here = np.zeros(n_parts, np.bool_)
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        low, high, low_rest, high_rest = INFINITE, -INFINITE, INFINITE, -INFINITE
        for s in range(size):
            amount = sign * h[u, s, 0]
            r, q = run[s, 0] + amount, rest[s, 0] - amount
            run[s, 0], rest[s, 0] = r, q
            low, high = min(low, r), max(high, r)
            low_rest, high_rest = min(low_rest, q), max(high_rest, q)
        left[t] = min(left[t], low, run[size - 1, 0] - high)
        right[t] = min(right[t], low_rest, rest[size - 1, 0] - high_rest)


@njit
def _levels(h, n_parts, size, moves, left, right, run, rest):
    """Two classes and an unordered feature: every level takes its cheaper label."""
    _gather(h, n_parts, size, run, rest)
    here = np.zeros(n_parts, np.bool_)
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        below, above = 0.0, 0.0
        for s in range(size):
            amount = sign * h[u, s, 0]
            r, q = run[s, 0] + amount, rest[s, 0] - amount
            run[s, 0], rest[s, 0] = r, q
            below += min(0.0, r)
            above += min(0.0, q)
        left[t], right[t] = min(left[t], below), min(right[t], above)


@njit
def _classes(h, n_parts, size, unordered_g, moves, left, right, run, rest):
    """Any number of classes."""
    _gather(h, n_parts, size, run, rest)
    here = np.zeros(n_parts, np.bool_)
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        for s in range(size):
            for k in range(h.shape[2]):
                run[s, k] += sign * h[u, s, k]
                rest[s, k] -= sign * h[u, s, k]
        if unordered_g:
            below, above = subset_cost(run[:size])[0], subset_cost(rest[:size])[0]
        else:
            below, above = best_cut(run, size, run[size - 1])[0], best_cut(rest, size, rest[size - 1])[0]
        left[t], right[t] = min(left[t], below), min(right[t], above)


@njit
def keep_stumps(
    c, members, part, n_parts, moves, move_starts, segment, n_segments, unordered, left, right, slack, offsets, place,
    keep, h, run, rest,
):  # fmt: skip
    """Mark the cuts that some stump of a tree below the slack may have; children above it are passed over."""
    n_features, n_labels = len(n_parts), c.shape[1]
    for f in range(n_features):
        first, last = move_starts[f], move_starts[f + 1]
        useful = False
        for k in range(first, last):
            useful = useful or left[k] + right[k] < slack
        if not useful:
            continue
        order, starts = by_level(part[f], members, n_parts[f])
        crossing = _crossing(starts, moves[first:last])
        for g in range(n_features):
            size = n_segments[g]
            if size == 0 or (unordered[g] and keep[offsets[g]]):
                continue
            if n_labels == 1 and not unordered[g] and _few(crossing, last - first, size):
                _mark_few(
                    c, order, starts, segment[g], size, moves[first:last], left[first:last], right[first:last], slack,
                    place[offsets[g] :], keep[offsets[g] :],
                )  # fmt: skip
                continue
            histogram(c, members, part[f], segment[g], n_parts[f], size, not unordered[g], h)
            _gather(h, n_parts[f], size, run, rest)
            here = np.zeros(n_parts[f], np.bool_)
            for k in range(first, last):
                u = moves[k]
                sign = -1.0 if here[u] else 1.0
                here[u] = not here[u]
                for s in range(size):
                    for label in range(n_labels):
                        run[s, label] += sign * h[u, s, label]
                        rest[s, label] -= sign * h[u, s, label]
                if left[k] + right[k] >= slack:
                    continue
                if unordered[g]:
                    below, above = subset_cost(run[:size])[0], subset_cost(rest[:size])[0]
                    if below + right[k] < slack or left[k] + above < slack:
                        keep[offsets[g]] = 1
                    continue
                _mark_stumps(
                    run, rest, size, slack - right[k], slack - left[k], place[offsets[g] :], keep[offsets[g] :]
                )


@njit
def _mark_few(c, order, starts, segment_g, size, moves, left, right, slack, place, keep):
    """The trees of prefixes lead to the cuts below the slack without looking at the others."""
    width = leaves_for(size)
    unmarked, stack, before = np.empty(2 * width, np.int32), np.empty(64, np.int64), np.empty(64)
    open_leaves(unmarked, width, size - 1)
    here, there, crossed = _nobody_crossed(c, order, starts, segment_g, size, width)
    for t in range(len(moves)):
        if unmarked[1] == 0:
            break
        _cross(c, order, starts, segment_g, moves[t], crossed, here, there, width)
        if left[t] + right[t] < slack:
            mark_below(here, unmarked, width, slack - right[t], stack, before)
            mark_below(there, unmarked, width, slack - left[t], stack, before)
    for s in range(size - 1):
        if unmarked[width + s] == 0:
            keep[place[s]] = 1


@njit
def _mark_stumps(run, rest, size, slack_left, slack_right, place, keep):
    last = size - 1
    if run.shape[1] == 1:
        whole, whole_rest = run[last, 0], rest[last, 0]
        for s in range(last):
            r, q = run[s, 0], rest[s, 0]
            if min(r, whole - r) < slack_left or min(q, whole_rest - q) < slack_right:
                keep[place[s]] = 1
        return
    for s in range(last):
        if cut_cost(run[s], run[last]) < slack_left or cut_cost(rest[s], rest[last]) < slack_right:
            keep[place[s]] = 1


@njit
def best_stump(c, member, segment, n_segments, unordered):
    """The cheapest stump for these people: (cost, feature or −1, cut)."""
    n_features, n_labels = len(n_segments), c.shape[1]
    total = np.zeros(n_labels)
    for i in range(len(member)):
        if member[i]:
            for k in range(n_labels):
                total[k] += c[i, k]
    best, feature, place = least(total), -1, 0
    for g in range(n_features):
        size = n_segments[g]
        if size == 0:
            continue
        sums = np.zeros((size, n_labels))
        for i in range(len(member)):
            if member[i]:
                for k in range(n_labels):
                    sums[segment[g, i], k] += c[i, k]
        if unordered[g]:
            value, cut = subset_cost(sums)[0], 0
        else:
            for s in range(1, size):
                for k in range(n_labels):
                    sums[s, k] += sums[s - 1, k]
            value, cut = best_cut(sums, size, total)
        if value < best - 1e-15:
            best, feature, place = value, g, cut
    return best, feature, place


@njit
def best_halves(c, members, few, starts, segment, n_segments, unordered, stumps):
    """The cheapest of a few child tests, and its cost: those on the smaller part of each are listed, test by test.

    stumps[j]: feature and cut of the best stump on the smaller part of the j-th test, and then on the other part.
    """
    n_features, n_labels, n_tests, widest = len(n_segments), c.shape[1], len(starts) - 1, 1
    for g in range(n_features):
        widest = max(widest, n_segments[g])
    sums, rest = np.empty((widest, n_labels)), np.empty((widest, n_labels))
    whole, values = np.empty((widest, n_labels)), np.empty((n_tests, 2))
    everybody = np.zeros(c.shape[0], np.int32)  # in one segment
    add_up(c, members, everybody, 1, True, whole)
    for j in range(n_tests):
        add_up(c, few[starts[j] : starts[j + 1]], everybody, 1, True, sums)
        subtract(whole, sums, 1, rest)
        values[j, 0], values[j, 1] = least(sums[0]), least(rest[0])
        stumps[j, :, 0], stumps[j, :, 1] = -1, 0
    for g in range(n_features):
        size = n_segments[g]
        if size == 0:
            continue
        add_up(c, members, segment[g], size, not unordered[g], whole)
        for j in range(n_tests):
            add_up(c, few[starts[j] : starts[j + 1]], segment[g], size, not unordered[g], sums)
            subtract(whole, sums, size, rest)
            for half in range(2):
                run = sums if half == 0 else rest
                if unordered[g]:
                    value, cut = subset_cost(run[:size])[0], 0
                else:
                    value, cut = best_cut(run, size, run[size - 1])
                if value < values[j, half] - 1e-15:
                    values[j, half], stumps[j, half, 0], stumps[j, half, 1] = value, g, cut
    best, which = INFINITE, -1
    for j in range(n_tests):
        if values[j, 0] + values[j, 1] < best:
            best, which = values[j, 0] + values[j, 1], j
    return best, which


@inner
def add_up(c, people, segment_g, size, ordered, sums):
    """The prices of some people by segment; of an ordered feature with those of all segments below."""
    n_labels = c.shape[1]
    for s in range(size):
        for k in range(n_labels):
            sums[s, k] = 0.0
    for i in people:
        for k in range(n_labels):
            sums[segment_g[i], k] += c[i, k]
    if ordered:
        for s in range(1, size):
            for k in range(n_labels):
                sums[s, k] += sums[s - 1, k]


@inner
def subtract(whole, sums, size, rest):
    """What is left of a whole."""
    for s in range(size):
        for k in range(whole.shape[1]):
            rest[s, k] = whole[s, k] - sums[s, k]


@njit
def least_label(c, member):
    """The cheapest single label of these people."""
    total = np.zeros(c.shape[1])
    for i in range(len(member)):
        if member[i]:
            for k in range(c.shape[1]):
                total[k] += c[i, k]
    return least(total), cheapest(total)
