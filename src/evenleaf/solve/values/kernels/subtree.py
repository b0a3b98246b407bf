"""The best subtree of depth 2 for the people of one side: every child test with the best stumps below it.

Growing a part can only add cost: at least what each newcomer costs alone. So between two priced cuts of a feature no
cut is cheaper than what lies below the first, plus what lies above the second, plus everybody in between alone. Runs
of cuts are halved best-first until the cheapest run is no better than what is asked for: the boxes of ALGORITHM §5
inside the oracle.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.values.kernels.inside import place_rows
from evenleaf.solve.values.kernels.layout import lay_out
from evenleaf.solve.values.kernels.prices import goes_right
from evenleaf.solve.values.kernels.stumps import price_stumps
from evenleaf.solve.values.kernels.subsets import whole

_ANY_SIZE = 1 << 40  # people who may yet join: no leaf is too small


@njit
def subtree(
    people, tables, ids, loose, free, cutoff, seek, child, grand, busy, spot, out, bounds, totals, work, within,
):  # fmt: skip
    """(cost, child test, test below left, test below right) of the cheapest subtree.

    With `seek` only the best is wanted, and whatever cannot be better is passed over; without it every child test
    below the cutoff is priced, and `totals[p, t]` becomes the least cost of a subtree with stump t in part p.
    `loose` counts the people who may yet join this side. `bounds[t]` becomes a lower bound of child test t, exact
    where it was priced.
    """
    sizes, unordered, offsets = tables[1], tables[2], tables[3]
    none = len(child) - 1
    found = np.array([INFINITE, -2.0, -2.0, -2.0])
    n_options = len(sizes) + 1
    best, parts, known = np.zeros((2, 2)), np.zeros((2, n_options)), np.empty((len(child), 2, n_options))
    for i in ids[0]:
        spot[i] = 0
    within[3][:] = -1
    n = lay_out(people, tables, ids, spot, grand, busy, work[1])
    totals[:] = INFINITE
    bounds[none] = whole(people, ids[0], loose, work[0])[0]
    if child[none] and bounds[none] < found[0]:
        found[0], found[1], found[2], found[3] = bounds[none], -1.0, -1.0, -1.0
    cuts, reach, runs, n_runs = _runs(tables, ids, free, child)
    known[:n_runs] = 0.0
    for f in range(len(sizes)):
        if unordered[f]:
            for t in range(offsets[f], offsets[f + 1]):
                if child[t]:
                    parts[:] = -INFINITE
                    _price(people, tables, n, loose, cutoff, seek, f, t,
                           grand, busy, out, best, bounds, totals, work, within, found, parts)  # fmt: skip
    while n_runs:
        lowest = 0
        for r in range(1, n_runs):
            if runs[r, 0] < runs[lowest, 0]:
                lowest = r
        if runs[lowest, 0] >= (min(cutoff, found[0]) if seek else cutoff):
            break
        f, low, high = int(runs[lowest, 1]), int(runs[lowest, 2]), int(runs[lowest, 3])
        first, last = runs[lowest, 4], runs[lowest, 5]
        middle = (low + high) // 2
        beyond = known[lowest].copy()
        parts[0] = beyond[0] + (reach[middle] - first)
        parts[1] = beyond[1] + (last - reach[middle])
        _price(people, tables, n, loose, cutoff, seek, f, cuts[middle],
               grand, busy, out, best, bounds, totals, work, within, found, parts)  # fmt: skip
        n_runs -= 1
        runs[lowest], known[lowest] = runs[n_runs], known[n_runs]
        if low < middle:
            known[n_runs, 0], known[n_runs, 1] = beyond[0], parts[1]
            _open(runs, n_runs, f, low, middle - 1, known[n_runs], first, reach[middle])
            n_runs += 1
        if middle < high:
            known[n_runs, 0], known[n_runs, 1] = parts[0], beyond[1]
            _open(runs, n_runs, f, middle + 1, high, known[n_runs], reach[middle], last)
            n_runs += 1
    for r in range(n_runs):
        for k in range(int(runs[r, 2]), int(runs[r, 3]) + 1):
            bounds[cuts[k]] = runs[r, 0]
    return found


@njit
def _open(runs, r, f, low, high, known, first, last):
    """A run of cuts: its bound, its feature, its ends, and what is reached alone there.

    `known` is what each feature (and no test) costs at least below and above the run.
    """
    runs[r, 0] = min(INFINITE, known[0].min() + known[1].min() + last - first)
    runs[r, 1], runs[r, 2], runs[r, 3], runs[r, 4], runs[r, 5] = f, low, high, first, last


@njit
def _runs(tables, ids, free, child):
    """One run of all alive cuts a feature, and what everybody up to each cut costs alone."""
    ranks, sizes, unordered, offsets = tables
    n_tests = len(child) - 1
    cuts, reach = np.empty(n_tests + 1, np.int64), np.empty(n_tests + 1)
    runs, nothing = np.empty((n_tests + 1, 6)), np.zeros((2, 1))
    n_cuts, n_runs, total = 0, 0, 0.0
    for i in ids[0]:
        total += free[i]
    for f in range(len(sizes)):
        if unordered[f]:
            continue
        start, j, sum_free = n_cuts, 0, 0.0
        for rank in range(sizes[f] - 1):
            while j < ids.shape[1] and ranks[f, ids[f, j]] <= rank:
                sum_free += free[ids[f, j]]
                j += 1
            if child[offsets[f] + rank]:
                cuts[n_cuts], reach[n_cuts] = offsets[f] + rank, sum_free
                n_cuts += 1
        if n_cuts > start:
            _open(runs, n_runs, f, start, n_cuts - 1, nothing, 0.0, total)
            n_runs += 1
    return cuts, reach, runs, n_runs


@njit
def _price(
    people, tables, n, loose, cutoff, seek, f, test,
    grand, busy, out, best, bounds, totals, work, within, found, parts,
):  # fmt: skip
    """Price one child test with the best stumps below it.

    `parts` is what each feature costs at least in either part, and becomes what it costs at least in any larger one.
    """
    ranks, unordered, offsets = tables[0], tables[2], tables[3]
    person, member = work[1][1], work[2]
    for k in range(1, n + 1):
        member[k] = goes_right(ranks[f, person[k]], unordered[f], test - offsets[f])
    within[6][0], within[6][1] = place_rows(within, f, unordered[f], test - offsets[f], person, member, n)
    enough = min(cutoff, found[0]) if seek else cutoff
    for p in range(2):
        for g in range(len(busy[p])):
            if not busy[p, g]:
                parts[p, g] = INFINITE
    if people[5] > 1:
        # A part with too few people for a leaf may have enough once it has grown: what it costs then is bounded by
        # what it costs with leaves of any size.
        price_stumps(people, tables, n, _ANY_SIZE, grand, busy, False, INFINITE, out, parts, best, work, within)
        price_stumps(people, tables, n, loose, grand, busy, not seek, enough, out, parts.copy(), best, work, within)
    else:
        price_stumps(people, tables, n, loose, grand, busy, not seek, enough, out, parts, best, work, within)
        # Likewise a stump with an empty leaf is none, until somebody joins that leaf: it costs what no test costs.
        for p in range(2):
            parts[p] = np.minimum(parts[p], parts[p, -1])
    low, high = best[0, 0], best[1, 0]
    value = min(low + high, INFINITE)
    bounds[test] = value
    if value < enough:
        found[0], found[1], found[2], found[3] = value, test, best[0, 1], best[1, 1]
    if not seek and value < cutoff:
        _note(out[0], grand[0], busy[0], offsets, high, totals[0])
        _note(out[1], grand[1], busy[1], offsets, low, totals[1])


@njit
def _note(out, alive, busy, offsets, other, totals):
    """The least cost of each stump with the best there is on the other side of the child test."""
    none = len(out) - 1
    totals[none] = min(totals[none], out[none] + other)
    for f in range(len(busy)):
        if busy[f]:
            for t in range(offsets[f], offsets[f + 1]):
                if alive[t]:
                    totals[t] = min(totals[t], out[t] + other)
