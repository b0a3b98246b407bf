"""Multipliers of their own for small boxes of first cuts, where disparities must cancel.

There the best tree costs visibly more than a mixture of trees, and so do nearly all first tests at the multipliers that
suit them, which are not those of all trees. Once its free people are not what keeps a box open, a climb closes it, or
a single look at the multipliers that a box nearby climbed to. Larger boxes would climb in vain: with larger multipliers
free people save more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.tests import Cuts, Split

if TYPE_CHECKING:
    from evenleaf.solve.fronts.worker import Worker

_LOOK, _CLIMB = 0.01, 0.005  # how far below a better tree a box may be, for a look and for a climb
_STEPS = 6
_FEWER = 0.5  # of what free people saved at the last climb: only then is another one worth its time


def tuned(worker: Worker, node: Node, cell: Cell) -> Node:
    """A box of first cuts that was looked at, with the better bound of its neighbour's or of its own multipliers."""
    box, better = _first_cuts(node, cell), worker.better
    if box is None or not worker.lane.cancels or better - node.bound > _LOOK * abs(better):
        return node
    near = worker.oracle.recall.nearest(box)
    if near is not None and not np.array_equal(near, node.mus[0]):
        node = _looked(worker, node, cell, near)
    if not 0 < better - node.bound <= _CLIMB * abs(better):
        return node
    saved = worker.splitter.pieces.saved(cell.free, node.mus[0])
    if saved > better - node.bound or saved > _FEWER * node.saved:
        return node  # halves of it may be closed as they are
    node = worker.lifted(node, cell, near, _STEPS)
    worker.oracle.recall.climbed[box] = node.mus[0]
    return replace(node, climbed=False, saved=saved, asked=None)


def _first_cuts(node: Node, cell: Cell) -> Cuts | None:
    """The cuts of a box of first tests above two slots of depth 2, where nothing else is open."""
    part = node.part
    small = isinstance(part, Split) and isinstance(part.box, Cuts) and len(cell.places) == 2 and cell.deepest == 2
    return part.box if small and node.looked and len(cell.loose) == 1 else None  # type: ignore[union-attr,return-value]


def _looked(worker: Worker, node: Node, cell: Cell, mu: np.ndarray) -> Node:
    """The node at other multipliers, if these show more. All features count there, whatever others ruled out."""
    look, asked = worker.look(replace(node, mus=mu[None, :], asked=None), cell)
    if worker.shown is not None:
        worker.result.looks.append(look)
    if look.bound <= node.bound:
        return node
    node = replace(node, bound=look.bound, mus=np.vstack([mu[None, :], node.mus[: worker.kept - 1]]), asked=asked)
    worker.result.learnt.append(node)
    return node
