"""People by segment between the alive cuts of each feature, and their summed prices."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import inner, njit


@njit
def number_levels(X, unordered, sizes, possible, n_segments, segment):
    """Number the levels of unordered features that somebody possible has; with one of them, there is no test.

    A level that nobody has gets the number of the last one before it that somebody has, or 0.
    """
    n_features, n_people = X.shape
    for f in range(n_features):
        if not unordered[f] or n_segments[f] == 0:
            continue
        number = np.zeros(sizes[f], np.int32)
        for i in range(n_people):
            if possible[i]:
                number[X[f, i]] = 1
        last = -1
        for level in range(sizes[f]):
            last += number[level]
            number[level] = max(last, 0)
        n_segments[f] = last + 1 if last > 0 else 0
        for i in range(n_people):
            segment[f, i] = number[X[f, i]]


@njit
def segments(X, offsets, unordered, sizes, alive, place, count, least_people, possible, segment):
    """Number each person's segment between the alive cuts of every feature, on one side.

    `possible[i]` tells who may be on this side. Cuts that cannot leave `least_people` on both
    parts, or that part these people as the cut before does, are dropped from `alive`. Returns, per feature, the
    number of segments (0 where no cut is left); `place` maps a segment to its cut.
    """
    n_features, n_people = X.shape
    n_segments = np.zeros(n_features, np.int64)
    widest = 0
    for f in range(n_features):
        widest = max(widest, sizes[f])
    people = np.zeros(widest, np.int64)
    table = np.zeros(widest, np.int32)
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


@inner
def histogram(c, members, group, segment_f, n_groups, n_segments, ordered, h):
    """Costs by group and segment of one feature, cumulative over segments where the feature is ordered."""
    n_labels = c.shape[1]
    for g in range(n_groups):
        for s in range(n_segments):
            for k in range(n_labels):
                h[g, s, k] = 0.0
    if n_labels == 1:  # two classes: the usual case, and the innermost loop of all
        for i in members:
            h[group[i], segment_f[i], 0] += c[i, 0]
    else:
        for i in members:
            for k in range(n_labels):
                h[group[i], segment_f[i], k] += c[i, k]
    if ordered:
        for g in range(n_groups):
            for s in range(1, n_segments):
                for k in range(n_labels):
                    h[g, s, k] += h[g, s - 1, k]


@njit
def by_level(ranks, members, n_levels):
    """The members level by level, and where each level starts."""
    starts = np.zeros(n_levels + 1, np.int64)
    for i in members:
        starts[ranks[i] + 1] += 1
    for level in range(n_levels):
        starts[level + 1] += starts[level]
    order, filled = np.empty(len(members), np.int64), starts.copy()
    for i in members:
        order[filled[ranks[i]]] = i
        filled[ranks[i]] += 1
    return order, starts
