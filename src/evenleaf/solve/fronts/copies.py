"""Oracles like another one: with fewer cuts, or for somebody who works at the same time."""

from __future__ import annotations

from copy import copy

import numpy as np

from evenleaf.solve.crew import ALONE
from evenleaf.solve.fronts.kernels.blocks import blocks
from evenleaf.solve.fronts.oracle import Oracle


def apart(oracle: Oracle) -> Oracle:
    """The same for somebody who works in a thread of its own."""
    own = copy(oracle)
    own.relaxed = own if oracle.relaxed is oracle else copy(oracle.relaxed)
    own.crew = own.relaxed.crew = ALONE
    own.use(oracle.recall.apart())
    return own


def coarse(oracle: Oracle, most: int) -> Oracle:
    """The same questions about fewer cuts: ranks taken together, about equally many people each.

    Its cuts are cuts of the whole, so that its trees are trees; its values are no bounds.
    """
    own = copy(oracle)
    own.ranks = oracle.ranks.copy()
    everybody = np.arange(oracle.ranks.shape[1])
    for f in np.flatnonzero(~oracle.unordered):
        block = np.empty(len(everybody), dtype=np.int64)
        upper = np.empty(int(oracle.sizes[f]) + 1, dtype=np.int64)
        blocks(oracle.ranks[f], oracle.sizes[f], everybody, most, block, upper)
        own.ranks[f] = upper[block]
    own.relaxed = own
    return own
