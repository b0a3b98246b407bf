"""The people of a slot laid out for sweeps: every feature's order, and blocks of neighbouring ranks.

Sums over blocks of two features at a time are made once; what happens inside a block is bounded from them, and looked
at person by person only where the bound asks for it.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def lay_out(ranks, sizes, unordered, members, allowed, most):
    """The features that tell these members apart: (names, rank, order, begins, starts, upper, edges, blocks, block).

    Ranks are counted without gaps: `rank[f, m]`; `upper` gives back the rank of the table. `order[f]` are the members
    by rank, `begins` where each rank begins in it. A block is a run of ranks, `edges` tells where they begin: a rank
    each where there are at most `most` of them, or where they are levels. `block[m, f]` is the block of a member,
    counted through all features from `blocks[f]` on. Features are the rows, counted anew: `names` are their numbers.
    """
    F, M, P = len(sizes), len(members), sizes.sum()
    names, starts, n = np.empty(F, np.int64), np.zeros(F + 1, np.int64), 0
    rank, order = np.empty((F, M), np.int32), np.empty((F, M), np.int32)
    begins, upper = np.empty(P + F, np.int64), np.empty(P, np.int64)
    edges, blocks = np.empty(P + F, np.int64), np.zeros(F + 1, np.int64)
    heads = np.empty(sizes.max() if F else 0, np.int64)
    for f in range(F):
        if not allowed[f]:
            continue
        R = _order(ranks[f], sizes[f], members, rank[n], order[n], begins[starts[n] + n :], upper[starts[n] :], heads)
        if R < 2:
            continue
        names[n], starts[n + 1] = f, starts[n] + R
        few = R if unordered[f] else most
        blocks[n + 1] = blocks[n] + _edges(begins[starts[n] + n :], R, M, few, edges[blocks[n] + n :])
        n += 1
    block, local = np.empty((M, n), np.int32), np.empty(heads.shape[0], np.int32)
    for f in range(n):
        for b in range(blocks[f], blocks[f + 1]):
            for r in range(edges[b + f], edges[b + f + 1]):
                local[r] = b
        for m in range(M):
            block[m, f] = local[rank[f, m]]
    return (
        names[:n],
        rank[:n],
        order[:n],
        begins[: starts[n] + n],
        starts[: n + 1],
        upper[: starts[n]],
        edges[: blocks[n] + n],
        blocks[: n + 1],
        block,
    )


@njit
def _order(ranks, size, members, rank, order, begins, upper, heads):
    """Number the ranks that somebody has and put the members in their order; how many there are."""
    M, R, running = len(members), 0, 0
    heads[:size] = 0
    for m in range(M):
        heads[ranks[members[m]]] += 1
    for r in range(size):
        if heads[r] > 0:
            upper[R], begins[R] = r, running
            running += heads[r]
            heads[r] = R
            R += 1
    begins[R] = M
    fill = begins[:R].copy()
    for m in range(M):
        r = heads[ranks[members[m]]]
        rank[m] = r
        order[fill[r]] = m
        fill[r] += 1
    return R


@njit
def _edges(begins, R, M, most, edges):
    """Where blocks of about equally many members begin, R after the last; how many there are."""
    if most >= R:
        for r in range(R + 1):
            edges[r] = r
        return R
    count, share = 0, (M + most - 1) // most
    last = -share
    for r in range(R):
        # A rank that many have is a block of its own: its people are never in between.
        if begins[r] - last >= share or begins[r + 1] - begins[r] >= share:
            edges[count], last = r, begins[r]
            count += 1
    edges[count] = R
    return count


@njit
def block_sums(sheet, f, inputs):
    """Inputs (member by quantity) by block of feature f and block of every feature: (blocks of f + 1) × Q × blocks.

    Entry b sums the blocks of f before its b-th, so that the last entry sums everybody.
    """
    blocks, block = sheet[7], sheet[8]
    M, n = block.shape
    Q, B = inputs.shape[1], blocks[f + 1] - blocks[f]
    table = np.zeros((B + 1, Q, blocks[n]))
    for m in range(M):
        row = table[block[m, f] - blocks[f] + 1]
        for q in range(Q):
            amount = inputs[m, q]
            for g in range(n):
                row[q, block[m, g]] += amount
    for b in range(1, B):
        table[b + 1] += table[b]
    return table


@njit
def goes_left(rank, code, by_level):
    """Whether a rank is on the left of a cut, or in a mask."""
    return (code >> rank) & 1 == 1 if by_level else rank <= code


@njit
def stump_bound(sums, total, sheet, unordered, narrow, before, low):
    """The best stump with its cut between blocks, and a bound on all stumps; `low` becomes the bound of each block.

    `sums` are prices by block, and what is negative of them. What a cut within a block has on its left is between what
    is negative and what is positive there, and a stump's price is concave in it. `narrow` is infinite for blocks of one
    rank; `before` becomes the price of a feature's earlier blocks. (Of a feature with levels, cuts between blocks are
    some of its subsets.)
    """
    names, blocks = sheet[0], sheet[7]
    best = min(0.0, total)
    for g in range(len(names)):
        run, price = 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            before[k] = run
            run += sums[0, k]
        if unordered[names[g]]:
            for k in range(blocks[g], blocks[g + 1]):
                price += min(0.0, sums[0, k])
            best = min(best, price)
    bound = INFINITE
    for k in range(len(before)):
        after = before[k] + sums[0, k]
        best = min(best, min(0.0, after) + min(0.0, total - after))
        least, most = before[k] + sums[1, k], after - sums[1, k]
        low[k] = narrow[k] + min(min(0.0, least) + min(0.0, total - least), min(0.0, most) + min(0.0, total - most))
        bound = min(bound, low[k])
    return best, min(best, bound)


@njit
def narrow_blocks(sheet):
    """Infinite for each block of one rank, 0 for the others."""
    names, edges, blocks = sheet[0], sheet[6], sheet[7]
    narrow = np.zeros(blocks[len(names)])
    for g in range(len(names)):
        for k in range(blocks[g], blocks[g + 1]):
            if edges[k + g + 1] - edges[k + g] == 1:
                narrow[k] = INFINITE
    return narrow


@njit
def best_stump(total, best, before, low, sheet, unordered, price, f, code, side):
    """The best stump on one side of a test: after `stump_bound`, blocks that may hide a better one are read."""
    names, rank, order, begins, starts, _, edges, blocks, _ = sheet
    by_level = unordered[names[f]]
    for g in range(len(names)):
        R = starts[g + 1] - starts[g]
        for k in range(blocks[g], blocks[g + 1]):
            if low[k] >= best:
                continue
            run = before[k]
            for r in range(edges[k + g], min(edges[k + g + 1], R - 1)):
                for s in range(begins[starts[g] + g + r], begins[starts[g] + g + r + 1]):
                    m = order[g, s]
                    if goes_left(rank[f, m], code, by_level) == side:
                        run += price[m]
                best = min(best, min(0.0, run) + min(0.0, total - run))
    return best
