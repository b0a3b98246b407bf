"""Ranks of the people in a part of the tree, renumbered without gaps, and taken together where they are many."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit


@njit
def blocks(ranks, size, members, most, block, upper):
    """Number the blocks of ranks that these members have; returns (blocks, whether each block is a single rank).

    `block[m]` becomes the block of member m and `upper[b]` the highest rank of block b. With at most `most`
    different ranks each is a block of its own; else neighbours share one, about equally many people each.
    """
    people = np.zeros(size, np.int64)
    for i in members:
        people[ranks[i]] += 1
    present = 0
    for rank in range(size):
        present += people[rank] > 0
    exact = present <= most
    share = 0 if exact else (len(members) + most - 1) // most
    table = np.empty(size, np.int64)
    count, filled = -1, share
    for rank in range(size):
        if people[rank] == 0:
            continue
        if filled >= share:
            count, filled = count + 1, 0
        filled += people[rank]
        table[rank] = count
        upper[count] = rank
    for m in range(len(members)):
        block[m] = table[ranks[members[m]]]
    return count + 1, exact


@njit
def level_blocks(ranks, size, members, most, block, upper):
    """Number the levels that these members have, the most common first; the rarest share block `most`.

    `upper[b]` is the level of block b. Returns (blocks without the shared one, whether there is none shared).
    """
    people = np.zeros(size, np.int64)
    for i in members:
        people[ranks[i]] += 1
    order = np.argsort(-people, kind="mergesort")
    present = 0
    for rank in range(size):
        present += people[rank] > 0
    kept = min(present, most)
    table = np.full(size, most, np.int64)
    for b in range(kept):
        table[order[b]] = b
        upper[b] = order[b]
    for m in range(len(members)):
        block[m] = table[ranks[members[m]]]
    return kept, present <= most
