"""Outlines of cheapest trees, from what the kernels say of them."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.forks import COMPOSITE, SHOWN
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.tests import LEFT, Cuts, Levels, Sketch

BOUND_SUBSETS = 5  # levels of a stump's feature of which all subsets are bounded


def decided(sketch: Sketch, members: np.ndarray, ranks: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The label that an outline of single tests gives to each member."""
    if not isinstance(sketch, tuple):
        return np.full(len(members), sketch)
    box, low, high = sketch
    labels = np.empty(len(members), dtype=np.int64)
    left = box.sides(int(sizes[box.feature]))[ranks[box.feature, members]] == LEFT
    labels[left] = decided(low, members[left], ranks, sizes)
    labels[~left] = decided(high, members[~left], ranks, sizes)
    return labels


def stump_sketch(lane: Lane, feature: int, cut: int, members: np.ndarray, labels: np.ndarray) -> Sketch:
    """The outline of a stump that gives these labels."""
    ranks, sizes = lane.compiled.ranks, lane.compiled.sizes
    if not lane.compiled.unordered[feature]:
        left = ranks[feature, members] <= cut
        if left.all():
            return int(labels[0])
        return Cuts(feature, cut, cut), int(labels[left][0]), int(labels[~left][0])
    low = labels.min()
    if low == labels.max():
        return int(low)
    everyone = frozenset(range(int(sizes[feature])))
    chosen = frozenset(ranks[feature, members[labels == low]].tolist())
    return Levels(feature, chosen, everyone - chosen), int(low), int(labels.max())


def fork_stump(
    lane: Lane, stump: np.ndarray, box: Levels, everybody: np.ndarray, here: np.ndarray, prices: Prices
) -> tuple[np.ndarray, Sketch]:
    """The labels that a stump below a fork gives to the members on its side, and its outline."""
    table, sizes = lane.compiled.ranks, lane.compiled.sizes
    g, code, sign = (int(number) for number in stump)
    members = everybody[here]
    if g < 0:
        return np.full(len(members), sign), sign
    ranks = table[g, members]
    everyone = frozenset(range(int(sizes[g])))
    if sign == COMPOSITE:
        own = np.bincount(ranks, weights=prices[members, 0, 0], minlength=len(everyone)) < 0
        shown = _shown(table[g, everybody], int(sizes[g]))
        chosen = frozenset(level for level in everyone if (code >> level & 1 if level in shown else own[level]))
        cell = ranks.astype(np.int64) * int(sizes[box.feature]) + table[box.feature, members]
        cheap = np.bincount(cell, weights=prices[members, 0, 0])[cell] < 0
        labels = np.where(np.isin(ranks, list(shown)), np.array(code) >> ranks & 1, cheap)
        return labels.astype(np.int64), (Levels(g, everyone - chosen, chosen), 0, 1)
    if lane.compiled.unordered[g]:
        chosen = frozenset(level for level in everyone if code >> level & 1)
        return (np.array(code) >> ranks & 1).astype(np.int64), (Levels(g, everyone - chosen, chosen), 0, 1)
    low = int(sign == 1)
    return np.where(ranks <= code, low, 1 - low), (Cuts(g, code, code), low, 1 - low)


def _shown(ranks: np.ndarray, size: int) -> frozenset[int]:
    """The levels of a composite stump that have one label each, as the kernel picks them."""
    people = np.bincount(ranks, minlength=size)
    return frozenset(np.argsort(-people, kind="stable")[: min(SHOWN, BOUND_SUBSETS)].tolist())
