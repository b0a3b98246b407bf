"""Multipliers to begin with, and first trees: from shallow trees on few cuts, and of many people only some."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.copies import coarse
from evenleaf.solve.fronts.node import handed_on
from evenleaf.solve.fronts.tests import Part, Sketch, Slot, Split
from evenleaf.solve.fronts.worker import STEPS_DEEP, Worker

_COARSE = 32  # cuts a feature
_SOME = 5_000  # people


def warm_up(hand: Worker, start: np.ndarray | None, target: float) -> np.ndarray:
    """Climb over all trees of depth 2 at most, then over what hangs below one; `start` are multipliers to begin with.

    They are kept where they are enough. The target is no better than a shallow tree can be: multipliers for deep trees
    are found with shallow ones, which may all cost more than a good start.
    """
    mus = np.zeros((1, hand.lane.n_dimensions))
    if not hand.depth:
        return mus
    cell = shallow_trees(hand)
    if start is not None and cell.dual(start)[0].value >= hand.objective:
        return start[None, :]
    seen = hand.climb(cell, mus[0], STEPS_DEEP, improve=True, target=target)
    if hand.depth > hand.quick:
        below = Cell(_extended(hand, cell.dual(seen.best.mu)[2](), hand.depth), hand.lane, hand.oracle)
        if below.possible and not below.loose:
            seen = hand.climb(below, seen.best.mu, STEPS_DEEP, improve=True, target=target)
    return handed_on(seen, hand.kept)


def below_first_test(hand: Worker, sketch: Sketch, *, few: bool) -> Cell | None:
    """What hangs below the first tests of an outline, with `few` on few of many cuts; None where it is left open."""
    oracle = coarse(hand.oracle, _COARSE) if few and hand.oracle.many_cuts else hand.oracle
    below = Cell(_extended(hand, sketch, hand.depth), hand.lane, oracle)
    return below if below.possible and not below.loose else None


def shallow_trees(hand: Worker) -> Cell:
    """All trees of depth 2 at most on few cuts, and of many people some, who stand for all: soon looked at.

    A deeper search takes its time anyhow, and the trees that everybody decides about are better ones to begin with.
    """
    lane, some, n_people = hand.lane, None, hand.lane.compiled.n_people
    if n_people > 2 * _SOME and hand.depth <= 2 and hand.oracle.flags is None:
        some = np.linspace(0, n_people - 1, _SOME).astype(np.int64)
        lane = replace(lane, vectors=lane.vectors * (n_people / _SOME))
    return Cell(Slot(min(hand.quick, hand.depth)), lane, coarse(hand.oracle, _COARSE), some)


def _extended(hand: Worker, sketch: Sketch, depth: int) -> Part:
    """The tests of an outline from the top, as far as cheapest trees are not found quickly."""
    if depth <= hand.quick or not isinstance(sketch, tuple):
        return Slot(min(depth, hand.quick))
    box, low, high = sketch
    return Split(box, _extended(hand, low, depth - 1), _extended(hand, high, depth - 1))
