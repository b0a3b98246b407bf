"""Rows of the disparity that lie inside one part of the people: what a stump below pays for them is known exactly.

Row r compares people, Σ a_ri = 0. Where all of them are in one part, a stump whose lower leaf takes v and whose upper
leaf takes w has the difference A·(v − w), A being the sum of a_ri over the lower leaf: it pays s·|A|·|v − w| and not
only the s·μ·A·(v − w) that is in the prices already. All such rows of a stump add

    −κ·(v − w) + K·|v − w|    with    K = Σ s·|A|,  κ = Σ s·μ·A  (in the prices),

and the cheapest v and w at F(v) + G(w) − κ·(v − w) + K·|v − w| are found by *tilting* the leaves: for any t in
[−K − κ, K − κ] the least of F(v) + t·v and of G(w) − t·w is a lower bound, concave in t with the slope v − w. So t
goes to the end of the range where v < w (or v > w) asks it to; where the order turns on the way, v = w is best, which
costs what no test costs.

`within` is (matrix, prices, reach, inside, sums, noted, n_inside, mine, listed): the disparity by person; s and s·μ of
each row; the lowest and the highest rank of each row's people on each feature; in which part each row lies (−1: in
neither); room for sums by row and for what is noted by stop; how many rows lie in each part; the rows that may; and of
one part, the last entry's, the s·a and s·μ·a of the rows inside by place, as (starts, rows, s·a, s·μ·a, part).
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import bare, njit


@njit
def rows_of_parts(part, within):
    """Note which rows lie in part 0 or 1 of the people."""
    pointers, rows, _ = within[0]
    inside = within[3]
    inside[:] = -2
    for i in range(len(part)):
        here = part[i] if part[i] < 2 else -1
        for e in range(pointers[i], pointers[i + 1]):
            r = rows[e]
            if inside[r] == -2:
                inside[r] = here
            elif inside[r] != here:
                inside[r] = -1


@njit
def place_rows(within, f, unordered, test, person, member, n):
    """Note which of some rows lie in either part of a test; how many there are in each is returned."""
    inside, mine = within[3], within[7]
    if unordered:
        _place_by_people(mine, within, person, member, n)
    else:
        low, high = within[2]
        for r in mine:
            inside[r] = 0 if high[f, r] <= test else 1 if low[f, r] > test else -1
    n0, n1 = 0, 0
    for r in mine:
        n0 += inside[r] == 0
        n1 += inside[r] == 1
    return n0, n1


@njit
def _place_by_people(mine, within, person, member, n):
    """The same by who is in which part."""
    pointers, rows, _ = within[0]
    inside = within[3]
    for r in mine:
        inside[r] = 0  # bit 0: somebody below; bit 1: somebody above
    for k in range(1, n + 1):
        i = person[k]
        for e in range(pointers[i], pointers[i + 1]):
            r = rows[e]
            if inside[r] >= 0:
                inside[r] |= 2 if member[k] else 1
    for r in mine:
        inside[r] = 0 if inside[r] == 1 else 1 if inside[r] == 2 else -1


@bare
def join_lower(k, spread, lean, within):
    """(K, κ) once the person at a place has joined the lower leaf; `sums` are those of the lower leaf."""
    sums, (starts, rows, amount, leaning, _) = within[4], within[8]
    for e in range(starts[k], starts[k + 1]):
        before = sums[rows[e]]
        after = before + amount[e]
        sums[rows[e]] = after
        spread += abs(after) - abs(before)
        lean += leaning[e]
    return spread, lean


@njit
def nobody_lower(s, n, person, member, within):
    """Nobody of a part has joined the lower leaf yet; what everybody would bring is listed once a part."""
    within[4][:] = 0.0
    if within[8][4][0] != s:
        within[8][4][0] = s
        _list_inside(s, n, person, member, within)


@njit
def _list_inside(s, n, person, member, within):
    pointers, rows, entries = within[0]
    steep, tilt = within[1]
    inside, (starts, listed, amount, leaning, _) = within[3], within[8]
    found = 0
    for k in range(1, n + 1):
        starts[k] = found
        if member[k] == s:
            for e in range(pointers[person[k]], pointers[person[k] + 1]):
                r = rows[e]
                if inside[r] == s:
                    listed[found] = r
                    amount[found], leaning[found] = steep[r] * entries[e], tilt[r] * entries[e]
                    found += 1
    starts[n + 1] = found


@njit
def rows_inside(leaf, shift, within):
    """Of each stump of a tree (K, κ); its number, and which rows lie inside it, are noted.

    `leaf` numbers everybody's leaf, −1 where they are free. A stump's leaves differ in the lowest `shift` bits, and
    only in the highest of these.
    """
    pointers, rows, entries = within[0]
    steep, tilt = within[1]
    inside, sums = within[3], within[4]
    inside[:] = -2
    sums[:] = 0.0
    for i in range(len(leaf)):
        for e in range(pointers[i], pointers[i + 1]):
            r, stump = rows[e], leaf[i] >> shift
            if inside[r] == -2:
                inside[r] = stump
            elif inside[r] != stump:
                inside[r] = -1
            if leaf[i] & (1 << (shift - 1)) == 0:
                sums[r] += entries[e]
    spread, lean = np.zeros(8), np.zeros(8)
    for r in range(len(sums)):
        if inside[r] >= 0:
            spread[inside[r]] += steep[r] * abs(sums[r])
            lean[inside[r]] += tilt[r] * sums[r]
    return spread, lean
