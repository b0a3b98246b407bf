"""The best stumps below every root of a box, one rank crossing at a time (ALGORITHM §3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, inner, njit
from evenleaf.solve.search.kernels.histograms import histogram
from evenleaf.solve.search.kernels.labels import best_cut, crowded_subset, cut_cost, least, subset_cost
from evenleaf.solve.search.kernels.prefixes import add, best_labelled, build, leaves_for, mark_below, open_leaves

_SCAN = 4.0  # a step in a tree of prefixes costs about this many steps of a scan


@njit
def sweep_side(
    c, members, group, starts, order, segment, n_segments, unordered, moves, on_side, live, best, h, run, totals,
):  # fmt: skip
    """For every root of a box, the best stump of each feature on one side (ALGORITHM §3).

    Group 0 is always on this side; group u + 1 is the u-th moving part of the root, on this side at the start
    where `on_side[u]`, and changing sides whenever it comes up in `moves`. `best[t, f]` is the cost of the best
    stump on feature f below root t, `best[t, F]` that of no test at all. `order[starts[g]:starts[g + 1]]` are the
    people of a group.
    """
    n_features, n_moves = len(n_segments), len(moves)
    _root_totals(c, members, group, moves, on_side, totals)
    crossing = 0
    for u in moves:
        crossing += starts[u + 2] - starts[u + 1]
    for t in range(n_moves + 1):
        best[t, n_features] = least(totals[t])
    for f in range(n_features):
        size = n_segments[f]
        if size == 0:
            for t in range(n_moves + 1):
                best[t, f] = INFINITE
        elif c.shape[1] == 1 and n_moves and _SCAN * crossing * np.log2(size + 1) < n_moves * size:
            if unordered[f]:
                _few_cross_levels(c, starts, order, segment[f], size, moves, on_side, live, best[:, f])
            else:
                _few_cross(c, starts, order, segment[f], size, moves, on_side, live, best[:, f])
        else:
            _scan(c, members, group, segment[f], size, unordered[f], moves, on_side, live, totals, best[:, f], h, run)


@njit
def crowd_levels(c, members, segment, n_segments, unordered, count, least_people, best):
    """At the one root of a box with nobody free: the best subsets of levels with enough people on both parts.

    Cuts without enough people are not alive, so that only levels need another look.
    """
    for f in range(len(n_segments)):
        if not unordered[f] or n_segments[f] == 0:
            continue
        sums, people = np.zeros((n_segments[f], c.shape[1])), np.zeros(n_segments[f], np.int64)
        for i in members:
            people[segment[f, i]] += count[i]
            for k in range(c.shape[1]):
                sums[segment[f, i], k] += c[i, k]
        best[0, f] = crowded_subset(sums, people, least_people, np.zeros(n_segments[f], np.bool_))[0]


@inner
def _few_cross(c, starts, order, segment_f, size, moves, on_side, live, best):
    """Where few people cross at a time: keep the prefixes of the segments in a tree."""
    width = leaves_for(size)
    nodes = np.zeros((2 * width, 3))
    here = on_side.copy()
    for g in range(len(on_side) + 1):
        if g == 0 or here[g - 1]:
            for i in order[starts[g] : starts[g + 1]]:
                nodes[width + segment_f[i], 0] += c[i, 0]
    build(nodes, width, size)
    best[0] = best_labelled(nodes) if live[0] else INFINITE
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        for i in order[starts[u + 1] : starts[u + 2]]:
            add(nodes, width, segment_f[i], sign * c[i, 0])
        best[t + 1] = best_labelled(nodes) if live[t + 1] else INFINITE


@inner
def _few_cross_levels(c, starts, order, segment_f, size, moves, on_side, live, best):
    """The same for a subset of levels: every level takes its cheaper label."""
    sums = np.zeros(size)
    here = on_side.copy()
    for g in range(len(on_side) + 1):
        if g == 0 or here[g - 1]:
            for i in order[starts[g] : starts[g + 1]]:
                sums[segment_f[i]] += c[i, 0]
    total = 0.0
    for level in range(size):
        total += min(0.0, sums[level])
    best[0] = total if live[0] else INFINITE
    for t in range(len(moves)):
        u = moves[t]
        sign = -1.0 if here[u] else 1.0
        here[u] = not here[u]
        for i in order[starts[u + 1] : starts[u + 2]]:
            level = segment_f[i]
            total -= min(0.0, sums[level])
            sums[level] += sign * c[i, 0]
            total += min(0.0, sums[level])
        best[t + 1] = total if live[t + 1] else INFINITE


@inner
def _scan(c, members, group, segment_f, size, unordered_f, moves, on_side, live, totals, best, h, run):
    """Where many cross at a time: add whole rows of the histogram, and look at every cut."""
    here = on_side.copy()
    _load(c, members, group, segment_f, size, unordered_f, here, h, run)
    for t in range(len(moves) + 1):
        if t > 0:
            _cross(h, run, size, moves[t - 1], here)
        if not live[t]:
            best[t] = INFINITE
        elif unordered_f:
            best[t] = subset_cost(run[:size])[0]
        else:
            best[t] = best_cut(run, size, totals[t])[0]


@inner
def _load(c, members, group, segment_f, size, unordered_f, here, h, run):
    """The histogram of a feature by group, and its sum over the groups on the side."""
    n_labels = c.shape[1]
    histogram(c, members, group, segment_f, len(here) + 1, size, not unordered_f, h)
    for s in range(size):
        for k in range(n_labels):
            run[s, k] = h[0, s, k]
    for u in range(len(here)):
        if here[u]:
            for s in range(size):
                for k in range(n_labels):
                    run[s, k] += h[u + 1, s, k]


@inner
def _cross(h, run, size, u, here):
    sign = -1.0 if here[u] else 1.0
    here[u] = not here[u]
    for s in range(size):
        for k in range(h.shape[2]):
            run[s, k] += sign * h[u + 1, s, k]


@njit
def mark_cuts(
    c, members, group, segment, n_segments, unordered, moves, on_side, live, best, h, run, totals,
    offsets, place, slack, keep,
):  # fmt: skip
    """Mark in `keep` the cuts that, labelled on their two parts differently, cost less than slack[t, f] below
    some live root t; a stump with one label on both parts is no test at all.
    """
    for f in range(len(n_segments)):
        size, is_unordered, start = n_segments[f], unordered[f], offsets[f]
        first, last = _first_and_last(size, live, best[:, f], slack[:, f])
        if last >= 0 and is_unordered:
            keep[start] = 1
        if last < 0 or is_unordered:
            continue
        here = _sides_at(on_side, moves, first)
        _load(c, members, group, segment[f], size, is_unordered, here, h, run)
        for t in range(first, last + 1):
            if t > first:
                _cross(h, run, size, moves[t - 1], here)
            if live[t] and best[t, f] < slack[t, f]:
                for s in range(size - 1):
                    if cut_cost(run[s], totals[t]) < slack[t, f]:
                        keep[start + place[start + s]] = 1


@njit
def mark_few_cuts(
    c, starts, order, segment, n_segments, unordered, moves, on_side, live, best, offsets, place, slack, keep,
):  # fmt: skip
    """The same with two classes: a tree of prefixes leads to the cuts below the slack without looking at the others."""
    for f in range(len(n_segments)):
        first, last = _first_and_last(n_segments[f], live, best[:, f], slack[:, f])
        if last >= 0 and unordered[f]:
            keep[offsets[f]] = 1
        elif last >= 0:
            _mark_few(
                c, starts, order, segment[f], n_segments[f], moves, first, last, _sides_at(on_side, moves, first), live,
                best[:, f], slack[:, f], place[offsets[f] :], keep[offsets[f] :],
            )  # fmt: skip


@inner
def _first_and_last(size, live, best, slack):
    """The first and the last root below which a feature has stumps within the slack; −1: none."""
    first, last = len(live), -1
    for t in range(len(live)):
        if size and live[t] and best[t] < slack[t]:
            first, last = min(first, t), t
    return first, last


@inner
def _sides_at(on_side, moves, root):
    """Which moving parts are on the side at a root."""
    here = on_side.copy()
    for t in range(root):
        here[moves[t]] = not here[moves[t]]
    return here


@inner
def _mark_few(c, starts, order, segment_f, size, moves, first, last, here, live, best, slack, place, keep):
    width = leaves_for(size)
    nodes = np.zeros((2 * width, 3))
    unmarked = np.empty(2 * width, np.int32)
    stack, before = np.empty(64, np.int64), np.empty(64)
    open_leaves(unmarked, width, size - 1)
    for g in range(len(here) + 1):
        if g == 0 or here[g - 1]:
            for i in order[starts[g] : starts[g + 1]]:
                nodes[width + segment_f[i], 0] += c[i, 0]
    build(nodes, width, size)
    for t in range(first, last + 1):
        if t > first:
            u = moves[t - 1]
            sign = -1.0 if here[u] else 1.0
            here[u] = not here[u]
            for i in order[starts[u + 1] : starts[u + 2]]:
                add(nodes, width, segment_f[i], sign * c[i, 0])
        if live[t] and best[t] < slack[t]:
            mark_below(nodes, unmarked, width, slack[t], stack, before)
    for s in range(size - 1):
        if unmarked[width + s] == 0:
            keep[place[s]] = 1


@inner
def _root_totals(c, members, group, moves, on_side, totals):
    """Summed costs of everybody on the side, for every root of the box."""
    n_labels = c.shape[1]
    parts = np.zeros((len(on_side) + 1, n_labels))
    for i in members:
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
        lowest = INFINITE
        for g in range(n_options if live[t] else 0):
            lowest = min(lowest, best_right[t, g])
        for f in range(n_options):
            a = best_left[t, f]
            if a >= INFINITE or a + lowest >= value:
                continue
            for g in range(n_options):
                if allowed[f, g] and a + best_right[t, g] < value:
                    value, root, left, right = a + best_right[t, g], t, f, g
    return value, root, left, right
