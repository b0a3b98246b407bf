"""Composite stumps below a categorical test, taken apart: one more of their levels gets its label at each step.

In a composite stump (see `forks.py`) the rarer levels take their own cheaper label anew at each level of the test
above, which is more than a stump may do. Pairs of stumps that survive like that are refined, the commonest open level
first, and are given up as soon as they are too dear at one of the multipliers; with no open level left they are stumps.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.forks import COMPOSITE
from evenleaf.solve.fronts.kernels.fronts import grown
from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.search.kernels.order import stable_order


@njit
def level_tables(ranks, sizes, members, f, numbered, n_levels, prices, asked):
    """For the features asked for: prices by own level and level of f, and the own levels, the commonest first.

    `tables[n, place, level of f, j]`, `levels[n, place]` and `counts[n]` for the n-th feature of `asked`.
    """
    J, widest = prices.shape[1], 1
    for g in asked:
        widest = max(widest, sizes[g])
    tables = np.zeros((len(asked), widest, n_levels, J))
    levels, counts = np.zeros((len(asked), widest), np.int64), np.zeros(len(asked), np.int64)
    for n in range(len(asked)):
        g = asked[n]
        heavy = np.zeros(sizes[g], np.int64)
        for i in members:
            heavy[ranks[g, i]] += 1
        keys = np.empty(sizes[g])
        for p in range(sizes[g]):
            keys[p] = -heavy[p]
        order = stable_order(keys)
        place = np.empty(sizes[g], np.int64)
        for p in range(sizes[g]):
            levels[n, p], place[order[p]] = order[p], p
            counts[n] += heavy[order[p]] > 0
        for i in members:
            for j in range(J):
                tables[n, place[ranks[g, i]], numbered[ranks[f, i]], j] += prices[i, j]
    return tables, levels, counts


@njit
def refined(pairs, stumps, costs, tables, levels, counts, number_of, shown, sides, rest, target, most, steps, stop):
    """The pairs of stumps that composite pairs stand for and that survive: rows of both (feature, code, sign).

    `costs[s, level, j]` are those of `stumps`; `number_of[g]` is where feature g is in `tables`. Returns the rows and
    their number, −1 where there would be more than `most` or after so many steps.
    """
    n_levels, J = costs.shape[1], costs.shape[2]
    found, used = np.empty((64, 6), np.int64), 0
    stack = np.empty((256, 4), np.int64)  # masks over places and how many places have a label, left and right
    one, two = np.empty((n_levels, J)), np.empty((n_levels, J))
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        g, h = stumps[a, 0], stumps[b, 0]
        left_open, right_open = stumps[a, 2] == COMPOSITE, stumps[b, 2] == COMPOSITE
        for level in range(n_levels):
            for j in range(J):
                one[level, j], two[level, j] = costs[a, level, j], costs[b, level, j]
        stack[0, 0], stack[0, 1] = _start(stumps[a], levels, number_of, shown, left_open)
        stack[0, 2], stack[0, 3] = _start(stumps[b], levels, number_of, shown, right_open)
        pile = 1
        while pile > 0:
            pile -= 1
            steps -= 1
            if steps < 0 or stop[0]:
                return found, -1
            left_mask, left_shown, right_mask, right_shown = (
                stack[pile, 0], stack[pile, 1], stack[pile, 2], stack[pile, 3],
            )  # fmt: skip
            if left_open:
                _cost(tables[number_of[g]], counts[number_of[g]], left_mask, left_shown, one)
            if right_open:
                _cost(tables[number_of[h]], counts[number_of[h]], right_mask, right_shown, two)
            if _too_dear(one, two, sides, rest, target):
                continue
            left_more = left_open and left_shown < counts[number_of[g]]
            right_more = right_open and right_shown < counts[number_of[h]]
            if not left_more and not right_more:
                if used == most:
                    return found, -1
                found = grown(found, used)
                _write(found[used, :3], stumps[a], left_mask, levels, number_of, left_open)
                _write(found[used, 3:], stumps[b], right_mask, levels, number_of, right_open)
                used += 1
                continue
            on_left = left_more and (not right_more or left_shown <= right_shown)
            for label in range(2):
                stack[pile, 0], stack[pile, 1], stack[pile, 2], stack[pile, 3] = (
                    left_mask, left_shown, right_mask, right_shown,
                )  # fmt: skip
                if on_left:
                    stack[pile, 0], stack[pile, 1] = left_mask | (label << left_shown), left_shown + 1
                else:
                    stack[pile, 2], stack[pile, 3] = right_mask | (label << right_shown), right_shown + 1
                pile += 1
    return found, used


@njit
def _start(stump, levels, number_of, shown, is_open):
    """A composite's mask of levels as a mask of places."""
    mask = np.int64(0)
    if not is_open:
        return mask, np.int64(0)
    for place in range(shown):
        if (stump[1] >> levels[number_of[stump[0]], place]) & 1:
            mask |= np.int64(1) << place
    return mask, np.int64(shown)


@njit
def _cost(table, count, mask, shown, cost):
    """What a composite costs at each level of the test above: its labels where they are given, else the cheaper."""
    for level in range(cost.shape[0]):
        for j in range(cost.shape[1]):
            cost[level, j] = 0.0
    for place in range(count):
        if place >= shown:
            for level in range(cost.shape[0]):
                for j in range(cost.shape[1]):
                    cost[level, j] += min(0.0, table[place, level, j])
        elif (mask >> place) & 1:
            for level in range(cost.shape[0]):
                for j in range(cost.shape[1]):
                    cost[level, j] += table[place, level, j]


@njit
def _too_dear(one, two, sides, rest, target):
    dear = False
    for j in range(len(rest)):
        price = rest[j]
        for level in range(len(sides)):
            if sides[level] == 2:
                price += min(one[level, j], two[level, j])
            else:
                price += one[level, j] if sides[level] == 0 else two[level, j]
        if price >= target:
            dear = True
            break
    return dear


@njit
def _write(row, stump, mask, levels, number_of, is_open):
    row[0], row[1], row[2] = stump[0], stump[1], stump[2]
    if is_open:
        row[1], row[2] = 0, 1
        for place in range(levels.shape[1]):
            if (mask >> place) & 1:
                row[1] |= np.int64(1) << levels[number_of[stump[0]], place]
