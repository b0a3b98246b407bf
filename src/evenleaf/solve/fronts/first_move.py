"""The best first test of a whole tree, given what hangs below it on either side."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.sketches import decided
from evenleaf.solve.fronts.tests import Cuts, Sketch


def better_first_cut(sketch: Sketch, lane: Lane, oracle: Oracle, target: float) -> Sketch | None:
    """The outline with the cut at the top that is worth least, if that is less than the target.

    Everybody's label is known on either side, so that all cuts of a feature are sums from the left and from the right.
    """
    if not isinstance(sketch, tuple):
        return None
    everybody = np.arange(lane.compiled.n_people)
    sides = [decided(part, everybody, oracle.ranks, oracle.sizes) == 1 for part in sketch[1:]]
    best: Cuts | None = None
    for f in np.flatnonzero(oracle.allowed & ~oracle.unordered):
        low, high = (_by_rank(int(f), chosen, lane, oracle) for chosen in sides)
        people = np.cumsum(np.bincount(oracle.ranks[f], weights=oracle.count, minlength=int(oracle.sizes[f])))[:-1]
        sums = lane.offset + np.cumsum(low, axis=0)[:-1] + (high.sum(axis=0) - np.cumsum(high, axis=0)[:-1])
        enough = (people >= oracle.least) & (people <= oracle.count.sum() - oracle.least)
        worth = np.where(enough, lane.worth(sums), np.inf)
        if len(worth) and worth.min() < target:
            target, cut = float(worth.min()), int(worth.argmin())
            best = Cuts(int(f), cut, cut)
    return None if best is None else (best, *sketch[1:])


def _by_rank(f: int, chosen: np.ndarray, lane: Lane, oracle: Oracle) -> np.ndarray:
    """The vectors of those with the second label, summed by rank."""
    ranks, size = oracle.ranks[f, chosen], int(oracle.sizes[f])
    vectors = lane.vectors[chosen, 0]
    return np.column_stack([np.bincount(ranks, weights=column, minlength=size) for column in vectors.T])
