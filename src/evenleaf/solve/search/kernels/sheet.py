"""The people of a slot laid out for sweeps: every feature's order, and blocks of neighbouring ranks.

Sums over blocks of two features at a time are made once; what happens inside a block is bounded from them, and looked
at person by person only where the bound asks for it.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit

# Rows of `workspace`; a side has two. Plain numbers would be compiled apart, here and wherever kernels call others.
NARROW, LEFT, WIDE = np.int64(2), np.int64(3), np.int64(5)


@njit
def lay_out(ranks, sizes, unordered, members, allowed, most, growth, n_below):
    """Features that tell these members apart: (names, rank, order, begins, starts, upper, edges, blocks, block, below).

    Ranks are counted without gaps: `rank[f, m]`; `upper` gives back the rank of the table. `order[f]` are the members
    by rank, `begins` where each rank begins in it. A block is a run of ranks, `edges` tells where they begin: a rank
    each where there are at most `most` of them, or where they are levels. With `growth`, blocks further from the ends
    are larger (see `_edges`). `block[m, f]` is the block of a member, counted through all features from `blocks[f]` on.
    Features are the rows, counted anew: `names` are their numbers.
    Features from `n_below` on are only for first tests, and so are rows from `below` on.
    """
    F, M, P = len(sizes), len(members), sizes.sum()
    names, starts, n, below = np.empty(F, np.int64), np.zeros(F + 1, np.int64), 0, 0
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
        blocks[n + 1] = blocks[n] + _edges(begins[starts[n] + n :], R, M, few, growth, edges[blocks[n] + n :])
        n += 1
        below += f < n_below
    block, local = np.empty((M, n), np.int32), np.empty(heads.shape[0], np.int32)
    for f in range(n):
        for b in range(blocks[f], blocks[f + 1]):
            for r in range(edges[b + f], edges[b + f + 1]):
                local[r] = b
        for m in range(M):
            block[m, f] = local[np.uint64(rank[f, m])]
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
        below,
    )


@njit
def _order(ranks, size, members, rank, order, begins, upper, heads):
    """Number the ranks that somebody has and put the members in their order; how many there are."""
    M, R, running = len(members), 0, 0
    heads[:size] = 0
    for m in range(M):
        heads[np.uint64(ranks[np.uint64(members[m])])] += 1
    for r in range(size):
        if heads[r] > 0:
            upper[R], begins[R] = r, running
            running += heads[r]
            heads[r] = R
            R += 1
    begins[R] = M
    fill = begins[:R].copy()
    for m in range(M):
        mine = np.uint64(heads[np.uint64(ranks[np.uint64(members[m])])])
        rank[m] = mine
        order[np.uint64(fill[mine])] = m
        fill[mine] += 1
    return R


@njit
def _edges(begins, R, M, most, growth, edges):
    """Where blocks of about a `most`-th of the members begin, R after the last; how many there are.

    Where `growth` is more, a block has that part of all members between it and the nearer end: near an end, one side of
    a cut has so few members that large blocks say nothing of it.
    """
    if most >= R:
        for r in range(R + 1):
            edges[r] = r
        return R
    count, least = 0, (M + most - 1) // most
    last = -M
    for r in range(R):
        share = max(least, int(growth * min(begins[r], M - begins[r])))
        # A rank that many have is a block of its own: its people are never in between.
        if begins[r] - last >= share or begins[r + 1] - begins[r] >= share:
            edges[count], last = r, begins[r]
            count += 1
    edges[count] = R
    return count


@njit
def block_sums(sheet, f, inputs):
    """Inputs (member by quantity) by block of feature f and block of those below it: (blocks of f + 1) × Q × blocks.

    Entry b sums the blocks of f before its b-th, so that the last entry sums everybody.
    """
    blocks, block, n = sheet[7], sheet[8], sheet[9]
    B, K, Q = blocks[f + 1] - blocks[f], blocks[n], inputs.shape[1]
    cells, table = np.zeros((B, K, Q)), np.empty((B + 1, Q, K))
    for m in range(len(block)):  # whatever is added at a time stands side by side at first
        row, mine = cells[np.uint64(block[m, f] - blocks[f])], block[m]
        for g in range(n):
            cell = np.uint64(mine[g])
            for q in range(Q):
                row[cell, q] += inputs[m, q]
    for q in range(Q):
        for k in range(K):
            table[0, q, k] = 0.0
    for b in range(B):
        for q in range(Q):
            for k in range(K):
                table[b + 1, q, k] = table[b, q, k] + cells[b, k, q]
    return table


@njit
def row_of(cells, into):
    """What a row of cells (block by quantity) says of as many quantities as there is room for, quantity by block."""
    for q in range(into.shape[0]):
        for k in range(into.shape[1]):
            into[q, k] = cells[k, q]


@njit
def kinds(price, usual):
    """People's kinds: who costs less than nothing, and whose usual label is the second, where that is known."""
    kind = np.empty(len(price), np.int8)
    for m in range(len(price)):
        costs = 0 if price[m] < 0.0 else 1
        kind[m] = 2 * costs + usual[m] if len(usual) else costs
    return kind


@njit
def add_kinds(sheet, f, price, kind, cells):
    """Prices by block of feature f and of those below it, summed up by kind first: one number is added at a time.

    Then the quantities are prices and what is negative of them; with four kinds also what is saved by another label
    than the usual one, and what of it is negative (`spans.py`).
    """
    blocks, block, n = sheet[7], sheet[8], sheet[9]
    cells[:] = 0.0
    for m in range(len(block)):
        row, mine = cells[np.uint64(block[m, f] - blocks[f] + 1)], block[m]
        amount, c = price[m], np.uint64(kind[m])
        for g in range(n):  # numbers without a sign need not be looked at twice: that halves the time
            row[np.uint64(mine[g]), c] += amount
    for b in range(1, cells.shape[0]):
        before, here = cells[b - 1], cells[b]
        for k in range(cells.shape[1]):
            if cells.shape[2] == 2:
                one, two = here[k, 0], here[k, 1]
                here[k, 0], here[k, 1] = before[k, 0] + one + two, before[k, 1] + one
            else:
                one, two, three, four = here[k, 0], here[k, 1], here[k, 2], here[k, 3]
                here[k, 0], here[k, 1] = before[k, 0] + one + two + three + four, before[k, 1] + one + two
                here[k, 2], here[k, 3] = before[k, 2] + one + four, before[k, 3] + one


@njit
def goes_left(rank, code, masked):
    """Whether a rank is on the left of a cut, or in a mask."""
    return (code >> rank) & 1 == 1 if masked else rank <= code


@njit
def copied(sums, into):
    """Copy a table of quantities by block."""
    for q in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            into[q, k] = sums[q, k]


@njit
def subtracted(whole, sums, into):
    """What is left of a table of quantities by block."""
    for q in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            into[q, k] = whole[q, k] - sums[q, k]


@njit
def total_of(sums, blocks):
    """What all members of a table's row cost: any one feature's blocks hold everybody."""
    total = 0.0
    for k in range(blocks[1]):
        total += sums[0, k]
    return total


@njit
def workspace(sheet):
    """Room for one test, by block: the prices on the right and what is negative of them; what is narrow; for one side
    what is before a block, and its bound (see `stump_bound`); 1 where a block is wide, else 0."""
    edges, blocks, n = sheet[6], sheet[7], sheet[9]
    room = np.zeros((6, blocks[n]))
    for g in range(n):
        for k in range(blocks[g], blocks[g + 1]):
            narrow = edges[k + g + 1] - edges[k + g] == 1
            room[NARROW, k], room[WIDE, k] = (INFINITE, 0.0) if narrow else (0.0, 1.0)
    return room


@njit
def stump_bound(sums, total, blocks, by_level, room, side):
    """The best stump with its cut between blocks, and a bound on all stumps.

    `sums` are prices by block, and what is negative of them. What a cut within a block has on its left is between what
    is negative and what is positive there, and a stump's price is concave in it. In `room`, what is narrow is infinite
    for blocks of one rank; row `side` becomes the price of a feature's earlier blocks, the next one the bound of each
    block. (Of a feature with levels, cuts between blocks are some of its subsets.)
    """
    best = min(0.0, total)
    for g in range(len(by_level)):
        run, price = 0.0, 0.0
        for k in range(blocks[g], blocks[g + 1]):
            room[side, k] = run
            run += sums[0, k]
            price += min(0.0, sums[0, k])
        if by_level[g]:
            best = min(best, price)
    return within_blocks(sums[0], sums[1], total, best, room[NARROW], room[side], room[side + 1])


@njit
def within_blocks(price, negative, total, best, narrow, before, low):
    """The best stump after all ends of blocks were looked at, and a bound on those within, block by block in `low`.

    A stump that costs less than one label for all costs what is on one side of its cut.
    """
    bound = INFINITE
    for k in range(len(price)):
        after = before[k] + price[k]
        best = min(best, after, total - after)
        low[k] = narrow[k] + min(before[k] + negative[k], total - (after - negative[k]))
        bound = min(bound, low[k])
    return best, min(best, bound)


@njit
def best_stump(total, best, room, side, sheet, by_level, price, f, code, to_left):
    """The best stump on one side of a test: after `stump_bound`, blocks that may hide a better one are read."""
    _, rank, order, begins, starts, _, edges, blocks, _, n = sheet
    masked = f < n and by_level[f]
    for g in range(len(by_level)):
        R = starts[g + 1] - starts[g]
        for k in range(blocks[g], blocks[g + 1]):
            if room[side + 1, k] >= best:
                continue
            run = room[side, k]
            for r in range(edges[k + g], min(edges[k + g + 1], R - 1)):
                for s in range(begins[starts[g] + g + r], begins[starts[g] + g + r + 1]):
                    m = order[g, s]
                    run += price[m] if goes_left(rank[f, m], code, masked) == to_left else 0.0
                best = min(best, min(0.0, run) + min(0.0, total - run))
    return best


@njit
def across(sheet, f):
    """The ranks of one feature in the order of each feature: to be read one after the other."""
    rank, order = sheet[1], sheet[2]
    ranks = np.empty(order.shape, np.int32)
    for g in range(order.shape[0]):
        for s in range(order.shape[1]):
            ranks[g, s] = rank[f, order[g, s]]
    return ranks


@njit
def left_of(sheet, f, cut, table, inputs, left):
    """The sums of everybody up to a cut: whole blocks, and from the nearer end of its own block one by one."""
    row, first, last, sign = nearer_end(sheet, f, cut)
    copied(table[row], left)
    add_some(sheet, f, first, last, sign, inputs, left)


@njit
def nearer_end(sheet, f, cut):
    """The end of a block that is nearer to a cut, the members between, and 1 where they are to be added, or −1."""
    order, begins, edges, blocks, block = sheet[2], sheet[3], sheet[6], sheet[7], sheet[8]
    base = sheet[4][f] + f
    first, b = begins[base + cut + 1], block[order[f, begins[base + cut]], f]
    start, last = begins[base + edges[b + f]], begins[base + edges[b + f + 1]]
    if 2 * first < last + start:
        return b - blocks[f], start, first, 1.0
    return b - blocks[f] + 1, first, last, -1.0


@njit
def add_some(sheet, f, first, last, sign, inputs, left):
    """Add members in the order of feature f to the sums of their blocks, or take them off."""
    order, block, n = sheet[2], sheet[8], sheet[9]
    for s in range(first, last):
        m = order[f, s]
        for q in range(left.shape[0]):
            amount = sign * inputs[m, q]
            for g in range(n):
                left[q, block[m, g]] += amount


@njit
def flip(step, mask, table, left):
    """The next subset in the order of the Gray code: one level changes sides. Returns its mask."""
    bit, mask, sign = _next_subset(step, mask)
    for q in range(left.shape[0]):
        for k in range(left.shape[1]):
            left[q, k] += sign * (table[bit + 1, q, k] - table[bit, q, k])
    return mask


@njit
def flip_cells(step, mask, cells, left):
    """The same where the quantities of a block stand side by side."""
    bit, mask, sign = _next_subset(step, mask)
    for q in range(left.shape[0]):
        for k in range(left.shape[1]):
            left[q, k] += sign * (cells[bit + 1, k, q] - cells[bit, k, q])
    return mask


@njit
def _next_subset(step, mask):
    """The level that changes sides, the mask after that, and 1 where the level comes to the left."""
    bit = 0
    while not (step >> bit) & 1:
        bit += 1
    mask ^= np.int64(1) << bit
    return bit, mask, 1.0 if (mask >> bit) & 1 else -1.0
