"""The cheapest labels of a group of people, a cut and a subset of levels."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, inner, njit


@inner
def least(sums):
    """The cheapest label's cost, label 0 costing nothing."""
    best = 0.0
    for k in range(len(sums)):
        best = min(best, sums[k])
    return best


@inner
def cheapest(sums):
    """The cheapest label, the lowest among equals."""
    best, label = 0.0, 0
    for k in range(len(sums)):
        if sums[k] < best:
            best, label = sums[k], k + 1
    return label


@inner
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
def crowded_subset(sums, count, least_people, chosen):
    """The best subset of levels that leaves enough people on both parts: (cost, label left, label right).

    `chosen[level]` tells who goes left in the end. Infinite where the people are too few.
    """
    n_levels, n_labels = sums.shape
    enough = least_people
    best, first, second = INFINITE, 0, 1
    table = np.empty((n_levels + 1, 2 * enough + 1))
    came = np.empty((n_levels + 1, 2 * enough + 1), np.int64)
    for a in range(n_labels + 1):
        for b in range(n_labels + 1):
            if a == b:
                continue
            _fill_levels(sums, count, enough, a, b, table, came)
            if table[n_levels, 2 * enough] < best:
                best, first, second = table[n_levels, 2 * enough], a, b
                place = 2 * enough
                for level in range(n_levels - 1, -1, -1):
                    # Steps that took a level left are written as −1 − where from.
                    step = came[level + 1, place]
                    chosen[level] = step < 0
                    place = -1 - step if step < 0 else step
    return best, first, second


@inner
def _fill_levels(sums, count, enough, a, b, table, came):
    """The least cost of the first levels for every number of people left and right, counted up to what is enough.

    While too few are on the left, how many those are says how many are on the right: entries below `enough`. Once
    they are enough, only the right counts: entry `enough` + people on the right.
    """
    n_levels = sums.shape[0]
    table[:] = INFINITE
    table[0, 0] = 0.0
    so_far = 0
    for level in range(n_levels):
        left = 0.0 if a == 0 else sums[level, a - 1]
        right = 0.0 if b == 0 else sums[level, b - 1]
        here = count[level]
        for place in range(2 * enough + 1):
            value = table[level, place]
            if value >= INFINITE:
                continue
            if place < enough:
                to_left = place + here if place + here < enough else enough + min(enough, so_far - place)
                to_right = place
            else:
                to_left, to_right = place, min(2 * enough, place + here)
            if value + left < table[level + 1, to_left]:
                table[level + 1, to_left], came[level + 1, to_left] = value + left, -1 - place
            if value + right < table[level + 1, to_right]:
                table[level + 1, to_right], came[level + 1, to_right] = value + right, place
        so_far += here


@inner
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


@inner
def cut_cost(below, total):
    """Both parts of a cut at their cheapest labels."""
    low, high = 0.0, 0.0
    for k in range(len(total)):
        low = min(low, below[k])
        high = min(high, total[k] - below[k])
    return low + high


@njit
def find_cut(c, member, segment_f, n_segments):
    """The best cut of one feature for the people of one side."""
    run = np.zeros((n_segments, c.shape[1]))
    for i in range(len(member)):
        if member[i]:
            for k in range(c.shape[1]):
                run[segment_f[i], k] += c[i, k]
    for s in range(1, n_segments):
        for k in range(c.shape[1]):
            run[s, k] += run[s - 1, k]
    return best_cut(run, n_segments, run[n_segments - 1])[1]


def label_side(
    c: np.ndarray, member: np.ndarray, segment_f: np.ndarray, size: int, unordered_f: bool, cut: int, constant: bool,
    count: np.ndarray, least_people: int, label: np.ndarray,
) -> None:  # fmt: skip
    """Label the people of one side by their best stump: no test, a cut, or a subset of levels."""
    if least_people > 1 and unordered_f and not constant:
        _label_crowded(c, member, segment_f, size, count, least_people, label)
    else:
        _label(c, member, segment_f, size, unordered_f, cut, constant, label)


@njit
def _label(c, member, segment_f, size, unordered_f, cut, constant, label):
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
def _label_crowded(c, member, segment_f, size, count, least_people, label):
    """The best subset of levels that leaves enough people on both parts."""
    sums = np.zeros((size, c.shape[1]))
    people, goes_left = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for i in range(len(member)):
        if member[i]:
            people[segment_f[i]] += count[i]
            for k in range(c.shape[1]):
                sums[segment_f[i], k] += c[i, k]
    _, first, second = crowded_subset(sums, people, least_people, goes_left)
    for i in range(len(member)):
        if member[i]:
            label[i] = first if goes_left[segment_f[i]] else second
