"""Every stump below a test that parts people in two, priced in one pass over each feature (ALGORITHM §3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.values.kernels.chain import cuts, make_chains, start
from evenleaf.solve.values.kernels.leaf import joining, settled


@njit
def stumps(people, tables, ids, part, loose, alive, busy, nearest, fill, enough, out, least, best, work):
    """The best alive stump of both parts, or no test at all: `best[s]` becomes (cost, test), the test −1 for none.

    `ids[f]` lists the people in the order of feature f, its last row in the order of the outcome; `part[i]` is 0 or
    1, or 2 for people who are in neither and may yet join either: `loose` counts them. Tests that leave too few
    people in a leaf cost infinitely much. `out` becomes the cost of no test (its last entry), with `fill` also that
    of every alive stump. `nearest` is what `find_nearest` says of either part.

    `least[s, f]` is a bound known for all stumps on a feature (the last entry: for no test); where the feature is
    priced it becomes its cheapest stump. Features that cannot be the best are passed over, with `fill` those whose
    stumps lead nowhere below `enough` for both parts; without it, so is the second part if the first is too dear.
    """
    n_features, none = len(tables[1]), out.shape[1] - 1
    chains = work[1]
    n = make_chains(people, ids[-1], part, chains, work[2])
    begin0 = start(chains[0][0], chains[1][0], chains[2][0], chains[3][0], chains[4][0], n[0])
    begin1 = start(chains[0][1], chains[1][1], chains[2][1], chains[3][1], chains[4][1], n[1])
    for s in range(2):
        begin = begin1 if s else begin0
        out[s, none] = begin[0] if begin[7] + loose >= people[5] else INFINITE
        least[s, n_features] = out[s, none]
        best[s, 0], best[s, 1] = INFINITE, -2.0
        if alive[s, none] and out[s, none] < INFINITE:
            best[s, 0], best[s, 1] = out[s, none], -1.0
    first = 0 if n[0] <= n[1] else 1
    for s in (first, 1 - first):
        worth = enough - least[1 - s].min()
        if not fill and s != first and best[first, 0] + min(best[s, 0], least[s].min()) >= enough:
            best[s, 0] = min(best[s, 0], least[s].min())
            return
        _part(people, tables, ids, part, s, n[s], loose, alive[s], busy[s], nearest[s], fill, worth,
              begin1 if s else begin0, out[s], least[s], best[s], work)  # fmt: skip


@njit
def _part(people, tables, ids, part, s, n, loose, alive, busy, nearest, fill, worth, begin, out, least, best, work):
    """The stumps of one part, the most promising feature first."""
    ranks, sizes, unordered, offsets = tables
    jump, chains, place, spots, spot_ranks, shrinking, parts_jump, parts_sum, listed = work
    chain = (chains[0][s], chains[1][s], chains[2][s], chains[3][s], chains[4][s])
    limits, own = (people[5], loose), np.empty(2)
    done = np.zeros(len(sizes), np.bool_)
    for _ in range(len(sizes)):
        f = -1
        for g in range(len(sizes)):
            if busy[g] and not done[g] and (f < 0 or least[g] < least[f]):
                f = g
        if f < 0 or (not fill and least[f] >= best[0]):
            break
        done[f] = True
        first, last, beyond = offsets[f], offsets[f + 1], offsets[f] + f
        if fill and least[f] >= worth:
            out[first:last] = INFINITE
            continue
        own[0], own[1] = INFINITE, -2.0
        if unordered[f]:
            _listed(ids[f], part, s, listed)
            _subsets(people, listed[:n], ranks[f], sizes[f], loose, alive[first:last], out[first:last],
                     jump, parts_jump, parts_sum)  # fmt: skip
            _take_best(alive[first:last], out[first:last], first, own)
        else:
            _in_order(ids[f], part, s, place, ranks[f], spots, spot_ranks)
            cuts(chain, n, spots, spot_ranks, sizes[f], limits, alive[first:last], nearest[beyond : beyond + sizes[f]],
                 fill, out[first:last], begin, first, shrinking, own)  # fmt: skip
        least[f] = own[0]
        if own[0] < best[0]:
            best[0], best[1] = own[0], own[1]


@njit
def _take_best(alive, out, first, best):
    for t in range(len(out)):
        if alive[t] and out[t] < best[0]:
            best[0], best[1] = out[t], first + t


@njit
def _in_order(ids, part, s, place, ranks, spots, spot_ranks):
    """The places and ranks of one part in the given order; written without a branch, which could not be foretold."""
    n = 0
    for i in ids:
        spots[n] = place[i]
        spot_ranks[n] = ranks[i]
        n += part[i] == s


@njit
def _listed(ids, part, s, listed):
    """The people of one part in the given order."""
    n = 0
    for i in ids:
        listed[n] = i
        n += part[i] == s


@njit
def whole(people, ids, loose, jump):
    """All these people in one leaf: the least cost, and the level where it is."""
    level, levels, share, c, count, least = people
    at, slope, cost, crowd = len(levels) // 2, 0.0, 0.0, 0
    for i in ids:
        rise, paid = joining(level[i], at, share[i], c[i], levels)
        slope += rise
        cost += paid
        jump[level[i]] += 2.0 * share[i]
        crowd += count[i]
    at, slope, cost = settled(at, slope, cost, levels, jump)
    for i in ids:
        jump[level[i]] = 0.0
    return (cost if crowd + loose >= least else INFINITE), at


@njit
def _subsets(people, ids, x, size, loose, alive, out, jump, parts_jump, parts_sum):
    """Every subset of levels: bit r − 1 of a subset's number (plus one) says whether rank r goes right."""
    level, levels, share, c, count, least = people
    n_levels = len(levels)
    for r in range(size):
        for q in range(n_levels):
            parts_jump[r, q] = 0.0
        parts_sum[r, 0], parts_sum[r, 1], parts_sum[r, 2] = 0.0, 0.0, 0.0
    for i in ids:
        r = x[i]
        parts_jump[r, level[i]] += 2.0 * share[i]
        parts_sum[r, 0] += c[i] - share[i]  # the slope below all levels, the lowest of which is 0
        parts_sum[r, 1] += share[i] * levels[level[i]]  # the cost there
        parts_sum[r, 2] += count[i]
    for number in range(len(out)):
        if not alive[number]:
            continue
        total = 0.0
        for right in range(2):
            slope, cost, crowd = 0.0, 0.0, 0
            for r in range(size):
                goes_right = r > 0 and ((number + 1) >> (r - 1)) & 1 == 1
                if goes_right == (right == 1):
                    for q in range(n_levels):
                        jump[q] += parts_jump[r, q]
                    slope += parts_sum[r, 0]
                    cost += parts_sum[r, 1]
                    crowd += int(parts_sum[r, 2])
            total += settled(0, slope + jump[0], cost, levels, jump)[2]
            if crowd + loose < least:
                total = INFINITE
            for q in range(n_levels):
                jump[q] = 0.0
        out[number] = min(total, INFINITE)
