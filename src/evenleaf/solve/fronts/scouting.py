"""Boxes of first cuts that are about as small as can be closed, one a feature, where disparities must cancel.

The multipliers of all trees suit the few first tests whose trees cost least. At those that suit such a box, nearly all
other first tests cost far more, so that larger boxes of them are closed; at those that suit a single test even more,
but there free people save so much that boxes have to be smaller again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.tests import Cuts, Part, Slot, Split, middle_test

STEPS = 10  # of a climb
_FREE = 0.0055  # of all people are free in a box
_BOXES = 8


def above_slots_of_two(part: Part) -> bool:
    """Whether a part is a box of first cuts with nothing settled below it."""
    return isinstance(part, Split) and isinstance(part.box, Cuts) and part.left == part.right == Slot(2)


def small_boxes(boxes: Iterable[Cuts], oracle: Oracle) -> list[Split]:
    """In the middle of each feature's first box one of few free people, where cuts are many."""
    found: dict[int, Split] = {}
    everybody = np.arange(oracle.ranks.shape[1])
    for box in boxes:
        if box.feature in found or _FREE * oracle.sizes[box.feature] < 1:
            continue
        weight = oracle.weights(box, everybody)
        below, middle = np.cumsum(weight), middle_test(box, weight)
        assert isinstance(middle, Cuts)  # noqa: S101 (the middle of cuts)
        half = _FREE * below[-1] / 2
        low, high = np.searchsorted(below, below[middle.low] + [-half, half])
        high = min(int(high), len(weight) - 2)
        found[box.feature] = Split(Cuts(box.feature, min(int(low), high), high), Slot(2), Slot(2))
        if len(found) == _BOXES:
            break
    return list(found.values())


def moved(node: Node, mu: np.ndarray, kept: int) -> Node:
    """A node that goes on at other multipliers if it is such a box."""
    return node.at(np.vstack([mu[None, :], node.mus[: kept - 1]])) if above_slots_of_two(node.part) else node
