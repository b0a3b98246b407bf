"""Boxes as a certificate knows them: which roots, and multipliers as whole numbers."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.proofs.labels import GRID, OPEN, Labels, Region
from evenleaf.solve.search.boxes import LEFT, RIGHT, Box
from evenleaf.solve.search.compiled import Compiled


def on_grid(mu: np.ndarray) -> np.ndarray:
    """Multipliers as whole numbers; the ascent has put them on the grid already."""
    return np.rint(mu * GRID).astype(np.int32)


def region_of(box: Box, compiled: Compiled, labels: Labels | None = None) -> Region:
    """The roots of a box, with its multipliers or the tree of labels that closes it, for the certificate."""
    undecided = (box.state != LEFT) & (box.state != RIGHT)
    if compiled.unordered[box.feature]:
        sides = np.where(undecided, OPEN, box.state).astype(np.int8)
        return Region(box.feature, 0, 0, sides, on_grid(box.mu), box.scale, labels=labels)
    # The lowest cut comes after the last rank that is settled on the left; every undecided rank adds one.
    first = int((box.state == LEFT).sum()) - 1
    return Region(box.feature, first, first + int(undecided.sum()), None, on_grid(box.mu), box.scale, labels=labels)
