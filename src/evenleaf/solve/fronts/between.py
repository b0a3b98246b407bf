"""What people between the cuts of a box cost at least, though it is open on which side of the first test they are.

Wherever the cut is, those before it have one tree and those behind it another. So if it is in the lower half of the
box, everybody in the upper half has the same tree, and the other way round; and what these people cost is no less than
in the best tree for them alone. The other half is taken apart in the same way.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.lane import Prices
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.tests import Cuts

FEWEST = 400  # people; for fewer a tree of their own is so good that it is not worth the look


def between(box: Cuts, free: np.ndarray, oracle: Oracle, prices: Prices) -> np.ndarray:
    """What the free people of a box of first tests above slots of depth 2 cost at least, at each multipliers."""
    if len(free) < FEWEST or box.low == box.high:
        return oracle.free(free, prices)
    # Sides of cuts are remembered in the same place, under least numbers that are positive.
    key = -1 - oracle.least, box.feature, box.low, box.high, prices.multipliers.tobytes()
    known = oracle.recall.known
    if key not in known:
        lower, upper = box.halves(oracle.weights(box, free))
        rank = oracle.ranks[box.feature, free]
        behind, before = free[rank > lower.high], free[rank <= upper.low]
        in_lower = between(lower, free[rank <= lower.high], oracle, prices) + oracle.value(behind, 2, prices)
        in_upper = between(upper, free[rank > upper.low], oracle, prices) + oracle.value(before, 2, prices)
        known[key] = np.minimum(in_lower, in_upper)
    return known[key]
