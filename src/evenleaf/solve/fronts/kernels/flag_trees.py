"""A cheapest tree at one multipliers where every feature has two ranks: its price, its vector and its tests.

Everything is read off sums over pairs of flags; no person is looked at.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit

LEAF = -1


@njit
def flag_leaf(total, mu, vector, code):
    """One label for all: (LEAF, label)."""
    width = len(vector)
    price = total[0]
    for q in range(1, width):
        price += mu[q - 1] * total[q]
    code[0], code[1] = LEAF, price < 0
    for q in range(width):
        vector[q] = total[q] if price < 0 else 0.0
    return min(0.0, price)


@njit
def flag_stump(pairs, total, mu, least, allowed, vector, code):
    """A cheapest tree of at most one test: (flag, label of those with it, label of the others), or a leaf."""
    F, width = pairs.shape[1], len(vector)
    best, chosen, whole = flag_leaf(total, mu, vector, code), -1, total[0]
    for q in range(1, width):
        whole += mu[q - 1] * total[q]
    for f in range(F):
        people = pairs[width, f, f]
        if not allowed[f] or people < least or total[width] - people < least:
            continue
        price = pairs[0, f, f]
        for q in range(1, width):
            price += mu[q - 1] * pairs[q, f, f]
        value = min(0.0, price) + min(0.0, whole - price)
        if value < best:
            best, chosen = value, f
            code[0], code[1], code[2] = f, price < 0, whole - price < 0
    if chosen >= 0:
        for q in range(width):
            own = pairs[q, chosen, chosen]
            vector[q] = code[1] * own + code[2] * (total[q] - own)
    return best


@njit
def flag_tree(pairs, total, mu, least, allowed, vector, code):
    """A cheapest tree of at most depth 2: (flag, stump of those with it, stump of the others), or a leaf."""
    F, width = pairs.shape[1], len(vector)
    best, chosen, whole = flag_leaf(total, mu, vector, code), -1, total[0]
    prices = pairs[0].copy()
    for q in range(1, width):
        whole += mu[q - 1] * total[q]
        prices += mu[q - 1] * pairs[q]
    people, everybody = pairs[width], total[width]
    one, two = np.empty(F), np.empty(F)
    for f in range(F):
        own = prices[f, f]
        one[f], two[f] = min(0.0, own), min(0.0, whole - own)
    for g in range(F):
        if allowed[g]:
            _stumps_below(prices, whole, people, everybody, g, least, one, two)
    for f in range(F):
        crowded = people[f, f] >= least and everybody - people[f, f] >= least
        if allowed[f] and crowded and one[f] + two[f] < best:
            best, chosen = one[f] + two[f], f
    if chosen >= 0:
        code[0] = chosen
        vector[:] = 0.0
        _read(pairs, total, prices, whole, chosen, True, least, allowed, vector, code[1:4])
        _read(pairs, total, prices, whole, chosen, False, least, allowed, vector, code[4:7])
    return best


@njit
def _stumps_below(prices, whole, people, everybody, g, least, one, two):
    """Stumps on one flag below every flag, on either side."""
    mine = prices[g, g]
    for f in range(len(one)):
        a, own = prices[g, f], prices[f, f]
        c, other = mine - a, whole - own
        if least > 1:
            both, flagged = people[g, f], people[f, f]
            only = people[g, g] - both
            if both >= least and flagged - both >= least:
                one[f] = min(one[f], min(0.0, a) + min(0.0, own - a))
            if only >= least and everybody - flagged - only >= least:
                two[f] = min(two[f], min(0.0, c) + min(0.0, other - c))
        else:
            one[f] = min(one[f], min(0.0, a) + min(0.0, own - a))
            two[f] = min(two[f], min(0.0, c) + min(0.0, other - c))


@njit
def _read(pairs, total, prices, whole, f, with_flag, least, allowed, vector, code):
    """The cheapest stump on one side of a flag once more, added to the vector."""
    F, width = pairs.shape[1], len(vector)
    own = prices[f, f] if with_flag else whole - prices[f, f]
    here = pairs[width, f, f] if with_flag else total[width] - pairs[width, f, f]
    best = min(0.0, own)
    code[0], code[1], code[2] = LEAF, own < 0, own < 0
    for g in range(F):
        price = prices[f, g] if with_flag else prices[g, g] - prices[f, g]
        both = pairs[width, f, g] if with_flag else pairs[width, g, g] - pairs[width, f, g]
        value = min(0.0, price) + min(0.0, own - price)
        if allowed[g] and value < best and both >= least and here - both >= least:
            best = value
            code[0], code[1], code[2] = g, price < 0, own - price < 0
    for q in range(width):
        everyone = pairs[q, f, f] if with_flag else total[q] - pairs[q, f, f]
        if code[0] == LEAF:
            vector[q] += code[1] * everyone
        else:
            g = code[0]
            flagged = pairs[q, f, g] if with_flag else pairs[q, g, g] - pairs[q, f, g]
            vector[q] += code[1] * flagged + code[2] * (everyone - flagged)


@njit
def flag_deep_tree(triples, pairs, total, mu, least, allowed, vector, code):
    """A cheapest tree of at most depth 3: (flag, tree of those with it, tree of the others), or a leaf."""
    F, width = pairs.shape[1], len(vector)
    best, spare = flag_leaf(total, mu, vector, code), np.empty(width)
    near, far, deep = np.empty(7, np.int64), np.empty(7, np.int64), np.empty(width)
    own = np.empty(len(total))
    for f in range(F):
        people = pairs[width, f, f]
        if not allowed[f] or people < least or total[width] - people < least:
            continue
        for w in range(len(total)):
            own[w] = pairs[w, f, f]
        value = flag_tree(triples[f], own, mu, least, allowed, deep, near)
        value += flag_tree(pairs - triples[f], total - own, mu, least, allowed, spare, far)
        if value < best:
            best = value
            code[0], code[1:8], code[8:15] = f, near, far
            vector[:] = deep + spare
    return best
