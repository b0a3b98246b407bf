"""The cheapest tree of depth 2 by sweeping all cuts of first tests, and which features may matter in smaller boxes.

Let a box of first tests have a slot on either side. If in one of them no tree that begins with a feature is cheap
enough to reach the incumbent, however the free people are labelled, and no stump either, then no such tree is in any
part of the box: with more people in the slot it costs no less than with the same people free. (The stump is for tests
of the feature that part only people who come later.) So halves of the box ask only for the features that were left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenleaf.solve.fronts.answers import Children, OutOfTime
from evenleaf.solve.fronts.lane import Prices
from evenleaf.solve.fronts.sweep import GROWTH
from evenleaf.solve.fronts.tests import Box, Levels

if TYPE_CHECKING:
    from evenleaf.solve.fronts.oracle import Oracle


@dataclass(frozen=True, eq=False)
class Swept:
    """The least price, its first test (or box of tests), and the features that have one below the cutoff."""

    value: float
    first: Box | None
    alive: np.ndarray


def swept(
    oracle: Oracle,
    members: np.ndarray,
    prices: Prices,
    cutoff: np.ndarray | None = None,
    asked: np.ndarray | None = None,
) -> list[Swept]:
    """For each multipliers the cheapest tree of depth 2, or a cutoff that is lower.

    With a mask of features that are `asked` for, others are passed over, and which of them are alive is found out.
    """
    leaves = np.minimum(oracle.leaf(members, prices), np.inf if cutoff is None else cutoff)
    levels = Children([], np.zeros((0, prices.shape[2])))
    if not oracle.may_fork:
        levels = oracle.level_children(members, 2, prices, oracle.walked)
    sweep, found = oracle.sweep(members, growth=GROWTH), []
    where = oracle.least, len(members), int(members[0]), int(members[-1])
    for j in range(prices.shape[2]):
        value, first = float(leaves[j]), None
        if len(levels.boxes) and levels.values[:, j].min() < value:
            value, first = float(levels.values[:, j].min()), levels.boxes[int(levels.values[:, j].argmin())]
        alone, hint = prices.at(j), oracle.recall.hints.get(where)
        if hint is not None:  # the test that was cheapest at other prices is a good start
            seen = float(oracle.relaxed.below(hint, members, 2, alone)[0])
            value, first = (seen, hint) if seen < value else (value, first)
        if asked is None or cutoff is None:
            cheapest, test = sweep.best(alone, value)
            alive = oracle.allowed
        else:
            cheapest, test, alive = sweep.narrowed(alone, value, float(cutoff[j]), asked)
        value, first = (value, first) if test is None else (cheapest, test)
        found.append(Swept(*_forked(oracle, members, alone, value, first), alive))
        if test is not None:
            oracle.recall.hints[where] = test
    if oracle.stop[0]:
        raise OutOfTime
    return found


def _forked(
    oracle: Oracle, members: np.ndarray, prices: Prices, value: float, first: Box | None
) -> tuple[float, Box | None]:
    """The same with tests of levels whose stumps tell where each goes, looked at only as far as may be cheaper."""
    for f in np.flatnonzero(oracle.allowed & oracle.unordered) if oracle.may_fork else ():
        box = Levels(int(f), frozenset(), frozenset())
        below = float(oracle.fork(box, members, prices, np.array([value]))[0])
        value, first = (below, box) if below < value else (value, first)
    return value, first
