"""Cheapest trees of slots in tables of flags, and the dual function of a node from them (ALGORITHM §2, §10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.flags import Flags, Sums
from evenleaf.solve.fronts.kernels.flag_trees import LEAF, flag_deep_tree, flag_leaf, flag_stump, flag_tree
from evenleaf.solve.fronts.tests import Cuts, Sketch


@dataclass(frozen=True, eq=False)
class FlagTree:
    """A cheapest tree: its price, its vector, and a code from which its outline can be drawn."""

    value: float
    vector: np.ndarray
    code: np.ndarray
    depth: int


@dataclass(frozen=True, eq=False)
class FlagSlot:
    """A slot with the sums over its people; `triples` where trees of depth 3 are asked for."""

    depth: int
    sums: Sums
    triples: np.ndarray | None

    def cheapest(self, mu: np.ndarray, least: int, allowed: np.ndarray) -> FlagTree:
        """A cheapest tree of at most this depth (0 to 3) at one multipliers."""
        pairs, total = self.sums.pairs, self.sums.total
        vector, code = np.empty(len(mu) + 1), np.zeros(15, dtype=np.int64)
        if self.depth == 0 or total[-1] < 2 * least:
            return FlagTree(flag_leaf(total, mu, vector, code), vector, code, 0)
        if self.triples is not None:
            value = flag_deep_tree(self.triples, pairs, total, mu, least, allowed, vector, code)
        else:
            kernel = flag_stump if self.depth == 1 else flag_tree
            value = kernel(pairs, total, mu, least, allowed, vector, code)
        return FlagTree(value, vector, code, self.depth)


def flag_slot(flags: Flags, members: np.ndarray, depth: int) -> FlagSlot:
    """The sums that a slot needs."""
    return FlagSlot(depth, flags.sums(members), flags.triples(members) if depth == 3 else None)


def outline(tree: FlagTree, flipped: np.ndarray) -> Sketch:
    """The tests and labels of such a tree."""
    return _drawn(iter(tree.code.tolist()), tree.depth, flipped)


def _drawn(code: Iterator[int], depth: int, flipped: np.ndarray) -> Sketch:
    """Read a part of a code: a test has two parts one level lower, the lowest ones a label each.

    A leaf in the place of a test is followed by its label, and by what is left of that place.
    """
    f = next(code)
    if f == LEAF:
        label = next(code)
        for _ in range(_length(depth) - 2):
            next(code, None)
        return label
    below = [next(code) if depth == 1 else _drawn(code, depth - 1, flipped) for _ in range(2)]
    flagged, others = below
    # The flag is the higher rank, on the right, unless it is turned round.
    return (Cuts(f, 0, 0), flagged, others) if flipped[f] else (Cuts(f, 0, 0), others, flagged)


def _length(depth: int) -> int:
    """How many numbers a code has: 3, 7 or 15, or 2 for a leaf alone."""
    return 2 if depth == 0 else 2 ** (depth + 1) - 1
