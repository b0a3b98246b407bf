"""The best stump below a node at given prices: every cut of every ordered feature, every subset of levels."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def best_stumps(ranks, sizes, unordered, members, prices, count, least, allowed):
    """The least price of a stump (or no test) over `members`, for each multipliers, and where it is.

    Returns `value[j]`, `feature[j]` (−1: no test) and `cut[j]` (the highest rank on the left; for levels the pair
    of labels as low·K + high). For levels each goes to the cheaper label of a pair, and leaves of fewer than
    `least` people are not noticed there: then the value is a bound.
    """
    n_labels, J = prices.shape[1], prices.shape[2]
    value, feature, cut = np.zeros(J), np.full(J, -1), np.full(J, -1)
    total, people = np.zeros((n_labels, J)), np.int64(0)  # a plain 0 would be compiled apart
    for i in members:
        people += count[i]
        for k in range(n_labels):
            for j in range(J):
                total[k, j] += prices[i, k, j]
    for j in range(J):
        for k in range(n_labels):
            value[j] = min(value[j], total[k, j])
    if people < 2 * least:
        return value, feature, cut
    widest = sizes.max() if len(sizes) else 0
    table, heads = np.empty((widest, n_labels, J)), np.empty(widest, np.int64)
    for f in range(len(sizes)):
        if not allowed[f]:
            continue
        size = sizes[f]
        for rank in range(size):
            heads[rank] = 0
            for k in range(n_labels):
                for j in range(J):
                    table[rank, k, j] = 0.0
        for i in members:
            rank = ranks[f, i]
            heads[rank] += count[i]
            for k in range(n_labels):
                for j in range(J):
                    table[rank, k, j] += prices[i, k, j]
        if unordered[f]:
            _levels(f, table, size, value, feature, cut)
        else:
            _cuts(f, table, heads, size, total, people, least, value, feature, cut)
    return value, feature, cut


@njit
def _cuts(f, table, heads, size, total, people, least, value, feature, cut):
    n_labels, J = total.shape
    below = 0
    left = np.zeros((n_labels, J))
    for rank in range(size - 1):
        if heads[rank] == 0:
            continue
        below += heads[rank]
        for k in range(n_labels):
            for j in range(J):
                left[k, j] += table[rank, k, j]
        if below < least:
            continue
        if people - below < least:
            break
        for j in range(J):
            low, high = 0.0, 0.0
            for k in range(n_labels):
                low = min(low, left[k, j])
                high = min(high, total[k, j] - left[k, j])
            if low + high < value[j]:
                value[j], feature[j], cut[j] = low + high, f, rank


@njit
def _levels(f, table, size, value, feature, cut):
    """Each level goes to the cheaper of two labels, for every pair of labels (label 0 costs nothing)."""
    n_labels, J = table.shape[1], table.shape[2]
    for low in range(n_labels + 1):
        for high in range(low + 1, n_labels + 1):
            for j in range(J):
                price = 0.0
                for rank in range(size):
                    one = table[rank, low - 1, j] if low else 0.0
                    price += min(one, table[rank, high - 1, j])
                if price < value[j]:
                    value[j], feature[j], cut[j] = price, f, low * (n_labels + 1) + high


@njit
def stump_labels(ranks, sizes, unordered, members, prices, feature, cut):
    """The label of each member in the stump that `best_stumps` names, at the prices of one multipliers."""
    n_labels = prices.shape[1]
    labels, place = np.zeros(len(members), np.int64), np.zeros(len(members), np.int64)
    by_level = feature >= 0 and unordered[feature]
    groups = sizes[feature] if by_level else 2
    sums = np.zeros((groups, n_labels + 1))
    for m in range(len(members)):
        i = members[m]
        if feature >= 0:
            place[m] = ranks[feature, i] if by_level else ranks[feature, i] > cut
        for k in range(n_labels):
            sums[place[m], k + 1] += prices[i, k]
    chosen = np.zeros(groups, np.int64)
    for g in range(groups):
        if by_level:
            low, high = cut // (n_labels + 1), cut % (n_labels + 1)
            chosen[g] = low if sums[g, low] <= sums[g, high] else high
        else:
            chosen[g] = np.argmin(sums[g])
    for m in range(len(members)):
        labels[m] = chosen[place[m]]
    return labels
