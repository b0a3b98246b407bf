"""Every cut above two stumps, two classes, as `cuts_below` in `first_tests.py`, where people have usual labels.

Runs of cuts are ruled out by these (`spans.py`), which far larger runs are than by the labels that people like best; so
only single blocks of ranks are looked into.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.first_tests import bounds, in_block, know, negative_before, noted
from evenleaf.solve.search.kernels.sheet import add_kinds, kinds, row_of, workspace
from evenleaf.solve.search.kernels.spans import settle, span_bound, span_exactly


@njit
def spanned_cuts_below(sheet, by_level, f, prices, inputs, usual, targets, best, most, stop):
    """The cuts of a feature that cost less than the targets: (codes, costs, number)."""
    edges, blocks, room = sheet[6], sheet[7], workspace(sheet)
    J, B, K, at = len(targets), blocks[f + 1] - blocks[f], blocks[sheet[9]], blocks[f] + f
    tables, made = np.empty((J, B + 1, K, 4)), np.zeros(J, np.bool_)
    settled, own, left, whole = np.empty((J, 2, B + 1)), np.empty((J, 3, B)), np.empty((2, K)), np.empty((J, 2, K))
    negative, told = np.empty((J, sheet[4][f + 1] - sheet[4][f] + 1)), False
    known, exact = np.full((2, J, B + 1), -INFINITE), np.zeros((2, J, B + 1), np.bool_)
    for j in range(J):
        known[0, j, 0], known[1, j, B] = 0.0, 0.0  # nobody is there
        exact[0, j, 0], exact[1, j, B] = True, True
    found = np.empty(64, np.int64), np.empty((64, 2, J)), np.int64(0)
    runs, pile = np.empty((64, 2), np.int64), np.int64(1)
    runs[0, 0], runs[0, 1] = 0, B
    ends = np.empty((2, J))
    while pile > 0 and not stop[0] and not (most and found[2] > most):
        pile -= 1
        low, high = runs[pile, 0], runs[pile, 1]
        first, last = edges[at + low] - 1, edges[at + high] - 1
        if high - low == 1 and high == B and last - first == 1:
            continue  # behind the last rank there is no cut
        if not _hides(sheet, by_level, f, prices, usual, tables, whole, made, room, settled, own, low, high, targets):
            continue
        if high - low > 1:
            half = (low + high) // 2
            runs[pile, 0], runs[pile, 1] = half, high
            runs[pile + 1, 0], runs[pile + 1, 1] = low, half
            pile += 2
            continue
        if high < B and _is_cheap(
            sheet, by_level, f, prices, tables, whole, left, room, high, known, exact, targets, ends
        ):
            found = noted(found, last, ends)
            if most == 0:
                targets[0] = min(best, ends[0, 0] + ends[1, 0])
        hides = last - first > 1
        for j in range(J):
            if hides:
                bound = span_exactly(
                    sheet, by_level, f, first, last, tables[j], low, high, prices[j], usual[j], room, settled[j], own[j]
                )
                hides = bound < targets[j]
        if hides and not told:
            told = True
            for j in range(J):
                negative_before(sheet, f, inputs[j], negative[j])
        if hides:
            found = in_block(
                sheet, by_level, f, prices, inputs, tables, whole, left, room, negative, low, high, known, exact, ends,
                targets, (best, most, stop), found,
            )  # fmt: skip
    return found[0], found[1], -1 if most and found[2] > most else found[2]


@njit
def _hides(sheet, by_level, f, prices, usual, tables, whole, made, room, settled, own, low, high, targets):
    """Whether a run of blocks may hide a cut below every target; tables are made when they are first asked for."""
    for j in range(len(targets)):
        if not made[j]:
            add_kinds(sheet, f, prices[j], kinds(prices[j], usual[j]), tables[j])
            row_of(tables[j, tables.shape[1] - 1], whole[j])
            settle(sheet, f, prices[j], usual[j], settled[j], own[j])
            made[j] = True
        if span_bound(tables[j], low, high, f, sheet[7], by_level, room, settled[j], own[j]) >= targets[j]:
            return False
    return True


@njit
def _is_cheap(sheet, by_level, f, prices, tables, whole, left, room, end, known, exact, targets, ends):
    """Whether the cut at the end of a block costs less than every target; `ends` is what the stumps beside it cost."""
    for j in range(len(targets)):
        row_of(tables[j, end], left)
        one, two = bounds(left, whole[j], sheet[7], by_level, room)
        if one + two >= targets[j]:
            return False
        for side in range(2):
            know(sheet, by_level, f, prices, tables, whole, left, room, side, j, end, known, exact)
            ends[side, j] = known[side, j, end]
        if ends[0, j] + ends[1, j] >= targets[j]:
            return False
    return True
