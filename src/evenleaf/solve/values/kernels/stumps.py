"""Every stump below a test that parts people in two, priced in one pass over each feature (ALGORITHM §3)."""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.values.kernels.leaf import joining, settled


@njit
def stumps(people, tables, ids, part, loose, alive, busy, out, work):
    """Price all alive stumps of both parts, and no test at all (the last entry of `out`).

    `ids[f]` lists the people in the order of feature f; `part[i]` is 0 or 1, or 2 for people who are in neither and
    may yet join either: `loose` counts them. Tests that leave too few people in a leaf cost infinitely much.
    """
    ranks, sizes, unordered, offsets = tables
    jump, below, crowds, parts_jump, parts_sum, listed = work
    none = out.shape[1] - 1
    n_first, n_second = _listed(ids[0], part, listed)
    out[0, none], start0 = whole(people, listed[0, :n_first], loose, jump)
    out[1, none], start1 = whole(people, listed[1, :n_second], loose, jump)
    for f in range(len(sizes)):
        if not (busy[0, f] or busy[1, f]):
            continue
        _listed(ids[f], part, listed)
        first, last = offsets[f], offsets[f + 1]
        for s in range(2):
            if busy[s, f]:
                here = listed[s, : n_first if s == 0 else n_second]
                if unordered[f]:
                    _subsets(people, here, ranks[f], sizes[f], loose, alive[s, first:last], out[s, first:last],
                             jump, parts_jump, parts_sum)  # fmt: skip
                else:
                    _cuts(people, here, ranks[f], sizes[f], loose, alive[s, first:last], out[s, first:last],
                          jump, below, crowds, start0 if s == 0 else start1)  # fmt: skip


@njit
def _listed(ids, part, listed):
    """The people of both parts, each in the given order; written without a branch, which could not be foretold."""
    n_first, n_second = 0, 0
    for i in ids:
        listed[0, n_first] = i
        listed[1, n_second] = i
        n_first += part[i] == 0
        n_second += part[i] == 1
    return n_first, n_second


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
def _cuts(people, ids, x, size, loose, alive, out, jump, below, crowds, start):
    """The lower leaf grows upwards, then the upper leaf downwards, so that nobody ever has to leave one."""
    level, levels, share, c, count, least = people
    n_ids = len(ids)
    at, slope, cost, crowd = start, 0.0, 0.0, 0
    j = 0
    for rank in range(size - 1):
        while j < n_ids and x[ids[j]] == rank:
            i = ids[j]
            j += 1
            rise, paid = joining(level[i], at, share[i], c[i], levels)
            slope += rise
            cost += paid
            jump[level[i]] += 2.0 * share[i]
            crowd += count[i]
        if alive[rank]:
            at, slope, cost = settled(at, slope, cost, levels, jump)
            below[rank], crowds[rank] = cost, crowd
    for k in range(j):
        jump[level[ids[k]]] = 0.0
    at, slope, cost, crowd = start, 0.0, 0.0, 0
    j = n_ids - 1
    for rank in range(size - 2, -1, -1):
        while j >= 0 and x[ids[j]] > rank:
            i = ids[j]
            j -= 1
            rise, paid = joining(level[i], at, share[i], c[i], levels)
            slope += rise
            cost += paid
            jump[level[i]] += 2.0 * share[i]
            crowd += count[i]
        if alive[rank]:
            at, slope, cost = settled(at, slope, cost, levels, jump)
            enough = crowds[rank] + loose >= least and crowd + loose >= least
            out[rank] = below[rank] + cost if enough else INFINITE
    for k in range(j + 1, n_ids):
        jump[level[ids[k]]] = 0.0


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
