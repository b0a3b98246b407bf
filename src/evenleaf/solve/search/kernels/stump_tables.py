"""The cheapest stump on every feature, below every child test: what limits on the whole tree choose among.

The sweep is that of `subtrees.py`, but keeps what each feature's stump costs instead of the cheapest of all, and counts
people on the way, so that no stump is priced that leaves too few in a leaf.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.histograms import histogram
from evenleaf.solve.search.kernels.labels import crowded_subset, cut_cost, least, subset_cost


@njit
def price_each_stump(
    c, count, members, possible, part, n_parts, moves, move_starts, segment, n_segments, unordered, least_people,
    left, right, loose,
):  # fmt: skip
    """left[k, g], right[k, g]: the cheapest stump on feature g on either part of the k-th child test.

    The last column is that of no stump. Prices are of `members`; `possible` are those who may be here, and who are
    counted: with people still free, a leaf gets at most so many. A subset of levels that leaves too few in a leaf
    stands for now, and `loose[k, g]` says so with 1 (left) and 2 (right): it costs no more than one that does not.
    """
    n_features = len(n_parts)
    segment_of_all = np.zeros(segment.shape[1], np.int32)
    sums = _Room(n_parts, n_segments, c.shape[1])
    for f in range(n_features):
        first, last = move_starts[f], move_starts[f + 1]
        if first == last:
            continue
        for g in range(n_features + 1):
            size = 1 if g == n_features else n_segments[g]
            if size == 0:
                left[first:last, g] = INFINITE
                right[first:last, g] = INFINITE
                loose[first:last, g] = 0
                continue
            levels = g < n_features and unordered[g]
            of_g = segment[g] if g < n_features else segment_of_all
            _begin(c, count, members, possible, part[f], of_g, n_parts[f], size, levels, least_people, sums)
            here = np.zeros(n_parts[f], np.bool_)
            for k in range(first, last):
                _cross(moves[k], here, size, least_people, sums)
                left[k, g], loose_left = _stump(sums[1], sums[4], size, g == n_features, levels, least_people)
                right[k, g], loose_right = _stump(sums[2], sums[5], size, g == n_features, levels, least_people)
                loose[k, g] = (1 if loose_left else 0) + (2 if loose_right else 0)


@njit
def _Room(n_parts, n_segments, n_labels):  # noqa: N802 (a constructor, as far as Numba has any)
    """Costs by (part, segment), left and right; people by (part, segment), left and right."""
    parts, widest = max(1, n_parts.max()), max(1, n_segments.max())
    return (
        np.empty((parts, widest, n_labels)), np.empty((widest, n_labels)), np.empty((widest, n_labels)),
        np.empty((parts, widest), np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64),
    )  # fmt: skip


@njit
def _begin(c, count, members, possible, part_f, segment_g, n_parts, size, levels, least_people, sums):
    """Add up everybody by part and segment, and put them all on the right."""
    h, run, rest, people, run_people, rest_people = sums
    histogram(c, members, part_f, segment_g, n_parts, size, not levels, h)
    run[:size] = 0.0
    rest[:size] = 0.0
    for u in range(n_parts):
        for s in range(size):
            for k in range(h.shape[2]):
                rest[s, k] += h[u, s, k]
    if least_people == 1:
        return
    people[:n_parts, :size] = 0
    run_people[:size] = 0
    rest_people[:size] = 0
    for i in possible:
        people[part_f[i], segment_g[i]] += count[i]
    for u in range(n_parts):
        for s in range(size):
            if s > 0 and not levels:
                people[u, s] += people[u, s - 1]
            rest_people[s] += people[u, s]


@njit
def _cross(u, here, size, least_people, sums):
    """Take one part of the child test to the other side."""
    h, run, rest, people, run_people, rest_people = sums
    sign = -1 if here[u] else 1
    here[u] = not here[u]
    for s in range(size):
        for k in range(h.shape[2]):
            amount = sign * h[u, s, k]
            run[s, k] += amount
            rest[s, k] -= amount
    if least_people > 1:
        for s in range(size):
            run_people[s] += sign * people[u, s]
            rest_people[s] -= sign * people[u, s]


@njit
def _stump(run, people, size, none, levels, least_people):
    """What the cheapest stump costs, infinite where there is none, and whether it may leave too few in a leaf."""
    if none:
        return (INFINITE if least_people > 1 and people[0] < least_people else least(run[0])), False
    if levels:
        value, first, second = subset_cost(run[:size])
        return value, least_people > 1 and not _is_crowded(run, people, size, first, second, least_people)
    low, high = _crowded_cuts(people, size, least_people)
    value = INFINITE
    if run.shape[1] == 1:
        for s in range(low, high):
            value = min(value, min(run[s, 0], 0.0) + min(run[size - 1, 0] - run[s, 0], 0.0))
    else:
        for s in range(low, high):
            value = min(value, cut_cost(run[s], run[size - 1]))
    return value, False


@njit
def cheapest_of_each_use(
    c, count, members, possible, part, n_parts, moves, move_starts, segment, n_segments, _unordered, least_people,
    left, right, loose, use_of, enough, cost, test, below,
):  # fmt: skip
    """For each use the cheapest child test with its two stumps; `use_of[f, g, h]` is −1 where limits forbid it.

    First of those that are priced as they are, then of the others, each priced as it is once it would be cheaper.
    What costs `enough` or more may be given less, but not less than that.
    """
    for final in range(1 if least_people == 1 else 2):
        for f in range(len(n_parts)):
            here = np.zeros(max(1, n_parts[f]), np.bool_)
            for k in range(move_starts[f], move_starts[f + 1]):
                here[moves[k]] = not here[moves[k]]
                if final == 1 and not loose[k].any():
                    continue
                for g in range(left.shape[1]):
                    if left[k, g] >= INFINITE or (final == 0 and loose[k, g] & 1):
                        continue
                    for h in range(left.shape[1]):
                        use = use_of[f, g, h]
                        if use < 0 or left[k, g] + right[k, h] >= cost[use] or (final == 0 and loose[k, h] & 2):
                            continue
                        if loose[k, g] & 1 and left[k, g] + right[k, h] < enough:
                            left[k, g] = _crowded_stump(
                                c,
                                count,
                                members,
                                possible,
                                part[f],
                                here,
                                True,
                                segment[g],
                                n_segments[g],
                                least_people,
                            )
                            loose[k, g] &= 2
                        if loose[k, h] & 2 and left[k, g] + right[k, h] < enough:
                            right[k, h] = _crowded_stump(
                                c,
                                count,
                                members,
                                possible,
                                part[f],
                                here,
                                False,
                                segment[h],
                                n_segments[h],
                                least_people,
                            )
                            loose[k, h] &= 1
                        if left[k, g] + right[k, h] < cost[use]:
                            cost[use], test[use] = left[k, g] + right[k, h], k
                            below[use, 0], below[use, 1] = g, h


@njit
def _crowded_stump(c, count, members, possible, part_f, here, side, segment_g, size, least_people):
    """The cheapest subset of levels with enough people on both parts, for those on one side of a child test."""
    sums, people = np.zeros((size, c.shape[1])), np.zeros(size, np.int64)
    for i in members:
        if here[part_f[i]] == side:
            for k in range(c.shape[1]):
                sums[segment_g[i], k] += c[i, k]
    for i in possible:
        if here[part_f[i]] == side:
            people[segment_g[i]] += count[i]
    return crowded_subset(sums, people, least_people, np.zeros(size, np.bool_))[0]


@njit
def _is_crowded(run, people, size, first, second, least_people):
    """Whether levels that take the cheaper of two labels leave enough people with each."""
    with_first, with_second = 0, 0
    for s in range(size):
        low = 0.0 if first == 0 else run[s, first - 1]
        if low <= run[s, second - 1]:
            with_first += people[s]
        else:
            with_second += people[s]
    return min(with_first, with_second) >= least_people


@njit
def _crowded_cuts(people, size, least_people):
    """From which cut to before which there are enough people on both parts; `people` is cumulative."""
    low, high = 0, size - 1
    if least_people > 1:
        while low < high and people[low] < least_people:
            low += 1
        while high > low and people[size - 1] - people[high - 1] < least_people:
            high -= 1
    return low, high


@njit
def mark_each_stump(
    c, count, members, possible, part, n_parts, moves, move_starts, segment, n_segments, unordered, least_people,
    left, right, slack_left, slack_right, offsets, place, keep,
):  # fmt: skip
    """Mark the cuts of stumps that cost less than the slack of their feature, on either part of some child test."""
    n_features = len(n_parts)
    sums = _Room(n_parts, n_segments, c.shape[1])
    for f in range(n_features):
        first, last = move_starts[f], move_starts[f + 1]
        for g in range(n_features):
            useful = False
            for k in range(first, last):
                useful = useful or left[k, g] < slack_left[k, g] or right[k, g] < slack_right[k, g]
            if not useful or (unordered[g] and keep[offsets[g]]):
                continue
            if unordered[g]:
                keep[offsets[g]] = 1
                continue
            size = n_segments[g]
            _begin(c, count, members, possible, part[f], segment[g], n_parts[f], size, False, least_people, sums)
            here = np.zeros(n_parts[f], np.bool_)
            for k in range(first, last):
                _cross(moves[k], here, size, least_people, sums)
                if left[k, g] < slack_left[k, g]:
                    _mark(
                        sums[1], sums[4], size, least_people, slack_left[k, g], place[offsets[g] :], keep[offsets[g] :]
                    )
                if right[k, g] < slack_right[k, g]:
                    _mark(
                        sums[2], sums[5], size, least_people, slack_right[k, g], place[offsets[g] :], keep[offsets[g] :]
                    )


@njit
def _mark(run, people, size, least_people, slack, place, keep):
    low, high = _crowded_cuts(people, size, least_people)
    for s in range(low, high):
        if cut_cost(run[s], run[size - 1]) < slack:
            keep[place[s]] = 1


@njit
def best_crowded_cut(c, count, member, segment_g, size, least_people):
    """Where to cut one feature for these people with enough of them on both parts; −1 where that cannot be."""
    run, people = np.zeros((size, c.shape[1])), np.zeros(size, np.int64)
    for i in range(len(member)):
        if member[i]:
            people[segment_g[i]] += count[i]
            for k in range(c.shape[1]):
                run[segment_g[i], k] += c[i, k]
    for s in range(1, size):
        people[s] += people[s - 1]
        for k in range(c.shape[1]):
            run[s, k] += run[s - 1, k]
    low, high = _crowded_cuts(people, size, least_people)
    best, place = INFINITE, -1
    for s in range(low, high):
        value = cut_cost(run[s], run[size - 1])
        if value < best:
            best, place = value, s
    return place
