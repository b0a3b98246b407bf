"""Tables in which every feature has two ranks: sums over pairs of features come from the people's flags alone.

A person's flags are the features in which they have the rarer rank. A sum over everybody with both of two flags is
gathered by walking through each person's few flags; every other combination of ranks follows by subtraction, so that
a table over all pairs costs what the flags cost, not people × features² (ALGORITHM §10.2).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def list_flags(ranks, flipped):
    """Each person's flags, in ascending order, and where they begin."""
    F, M = ranks.shape
    pointers = np.zeros(M + 1, np.int64)
    for f in range(F):
        for i in range(M):
            pointers[i + 1] += (ranks[f, i] == 1) != flipped[f]
    for i in range(M):
        pointers[i + 1] += pointers[i]
    place, flags = pointers[:M].copy(), np.empty(pointers[M], np.int64)
    for f in range(F):
        for i in range(M):
            if (ranks[f, i] == 1) != flipped[f]:
                flags[place[i]] = f
                place[i] += 1
    return pointers, flags


@njit
def pair_sums(pointers, flags, members, inputs, n_features):
    """Inputs (person by quantity) summed over the members with both flags, quantity × feature × feature, and over all.

    A person's flags are in ascending order.
    """
    W = inputs.shape[1]
    sums = np.zeros((n_features, n_features, W))
    total = np.zeros(W)
    for i in members:
        first, last = pointers[i], pointers[i + 1]
        for w in range(W):
            total[w] += inputs[i, w]
        for a in range(first, last):
            for b in range(a, last):
                for w in range(W):
                    sums[flags[a], flags[b], w] += inputs[i, w]
    turned = np.empty((W, n_features, n_features))
    for f in range(n_features):
        for g in range(f, n_features):
            for w in range(W):
                turned[w, f, g] = sums[f, g, w]
                turned[w, g, f] = sums[f, g, w]
    return turned, total


@njit
def triple_sums(pointers, flags, members, inputs, n_features):
    """The same over the members with all of three flags: feature × quantity × feature × feature."""
    F, W = n_features, inputs.shape[1]
    sums = np.zeros((F, F, F, W))
    for i in members:
        first, last = pointers[i], pointers[i + 1]
        for a in range(first, last):
            for b in range(a, last):
                row = sums[flags[a], flags[b]]
                for c in range(b, last):
                    for w in range(W):
                        row[flags[c], w] += inputs[i, w]
    turned = np.empty((F, W, F, F))
    for f in range(F):
        for g in range(f, F):
            for h in range(g, F):
                for w in range(W):
                    value = sums[f, g, h, w]
                    turned[f, w, g, h] = value
                    turned[f, w, h, g] = value
                    turned[g, w, f, h] = value
                    turned[g, w, h, f] = value
                    turned[h, w, f, g] = value
                    turned[h, w, g, f] = value
    return turned


@njit
def priced(sums, total, multipliers):
    """Sums of prices at each multipliers, and last of all the people."""
    J, width = len(multipliers), multipliers.shape[1] + 1
    prices, price = np.empty((J + 1, sums.shape[1], sums.shape[2])), np.empty(J + 1)
    for j in range(J):
        prices[j] = sums[0]
        price[j] = total[0]
        for q in range(1, width):
            prices[j] += multipliers[j, q - 1] * sums[q]
            price[j] += multipliers[j, q - 1] * total[q]
    prices[J], price[J] = sums[width], total[width]
    return prices, price


@njit
def stump_values(prices, total, least, allowed, with_flag, without):
    """The least price of a stump among those with each flag and those without, at each multipliers.

    The last table of `prices` counts people. Infinite where either side of the flag has too few of them.
    """
    J, F = prices.shape[0] - 1, prices.shape[1]
    people, everybody = prices[J], total[J]
    most_one, most_two, own, other = np.empty(F), np.empty(F), np.empty(F), np.empty(F)
    for j in range(J):
        table = prices[j]
        for f in range(F):
            own[f], other[f] = table[f, f], total[j] - table[f, f]
            most_one[f], most_two[f] = abs(own[f]), abs(other[f])
        for g in range(F):
            if not allowed[g]:
                continue
            row, mine = table[g], table[g, g]
            if least > 1:
                _counted_row(row, mine, people, everybody, g, least, own, other, most_one, most_two)
                continue
            for f in range(F):
                # min(0, a) + min(0, x − a) = (x − |a| − |x − a|) / 2
                a, c = row[f], mine - row[f]
                most_one[f] = max(most_one[f], abs(a) + abs(own[f] - a))
                most_two[f] = max(most_two[f], abs(c) + abs(other[f] - c))
        for f in range(F):
            with_flag[f, j] = 0.5 * (own[f] - most_one[f])
            without[f, j] = 0.5 * (other[f] - most_two[f])
    for f in range(F):
        if not allowed[f] or people[f, f] < least or everybody - people[f, f] < least:
            with_flag[f], without[f] = INFINITE, INFINITE


@njit
def _counted_row(row, mine, people, everybody, g, least, own, other, most_one, most_two):
    """Stumps on one feature below every flag, where each leaf needs so many people."""
    for f in range(len(row)):
        both, flagged = people[g, f], people[f, f]
        only = people[g, g] - both
        a, c = row[f], mine - row[f]
        if both >= least and flagged - both >= least:
            most_one[f] = max(most_one[f], abs(a) + abs(own[f] - a))
        if only >= least and everybody - flagged - only >= least:
            most_two[f] = max(most_two[f], abs(c) + abs(other[f] - c))


@njit
def flag_pairs(sums, total, multipliers, least, allowed):
    """What is below each first test, with the best stumps: side (the flag or not) × feature × multipliers."""
    values = np.empty((2, len(allowed), len(multipliers)))
    prices, price = priced(sums, total, multipliers)
    stump_values(prices, price, least, allowed, values[0], values[1])
    return values


@njit
def flag_triples(triples, sums, total, multipliers, least, allowed):
    """What is below each first test costs with the best trees of depth 2: side × feature × multipliers."""
    F, J, W = len(allowed), len(multipliers), len(total)
    values = np.full((2, F, J), INFINITE)
    one, two = np.empty((F, J)), np.empty((F, J))
    whole, whole_price = priced(sums, total, multipliers)
    own_total = np.empty(W)
    for f in range(F):
        people = sums[W - 1, f, f]
        if not allowed[f] or people < least or total[W - 1] - people < least:
            continue
        for w in range(W):
            own_total[w] = sums[w, f, f]
        prices, price = priced(triples[f], own_total, multipliers)
        _depth_two(prices, price, least, allowed, one, two, values[0, f])
        for w in range(J + 1):
            prices[w] = whole[w] - prices[w]
            price[w] = whole_price[w] - price[w]
        _depth_two(prices, price, least, allowed, one, two, values[1, f])
    return values


@njit
def _depth_two(prices, price, least, allowed, one, two, value):
    stump_values(prices, price, least, allowed, one, two)
    for j in range(len(value)):
        value[j] = min(0.0, price[j])
        for f in range(len(allowed)):
            value[j] = min(value[j], one[f, j] + two[f, j])
