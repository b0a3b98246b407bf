"""The best stumps below every root of a box, one rank crossing at a time (ALGORITHM §3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.histograms import histogram
from evenleaf.solve.search.kernels.labels import best_cut, cut_cost, least, subset_cost


@njit
def sweep_side(
    c, members, group, segment, n_segments, unordered, moves, on_side, live,
    best, where, h, run, totals, offsets, place, slack, keep,
):  # fmt: skip
    """For every root of a box, the best stump of each feature on one side (ALGORITHM §3).

    Where `slack` is not empty, `keep` marks the cuts that cost less than slack[t, f] below some live root t.

    Group 0 is always on this side; group u + 1 is the u-th moving part of the root, on this side at the start
    where `on_side[u]`, and changing sides whenever it comes up in `moves`. `best[t, f]` is the cost of the best
    stump on feature f below root t, `best[t, F]` that of no test at all.
    """
    n_features, n_moves, n_groups = len(n_segments), len(moves), len(on_side) + 1
    n_labels = c.shape[1]
    here = np.empty(len(on_side), np.bool_)
    _root_totals(c, members, group, moves, on_side, totals)
    for t in range(n_moves + 1):
        best[t, n_features] = least(totals[t])
    for f in range(n_features):
        size = n_segments[f]
        if size == 0:
            for t in range(n_moves + 1):
                best[t, f] = INFINITE
            continue
        histogram(c, members, group, segment[f], n_groups, size, not unordered[f], h)
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
                    _mark_cuts(run, size, totals[t], slack[t, f], place[offsets[f] :], keep[offsets[f] :])


@njit
def _mark_cuts(run, n_segments, total, slack, place, keep):
    for s in range(n_segments - 1):
        if cut_cost(run[s], total) < slack:
            keep[place[s]] = 1


@njit
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
