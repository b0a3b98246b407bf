"""How a node is split: a box in halves, a slot by its first tests, a fork by its commonest level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evenleaf.solve.fronts.cell import Cell, Loose, Place, at, replaced, slot_paths
from evenleaf.solve.fronts.lane import Prices
from evenleaf.solve.fronts.limits import Limits, used_features
from evenleaf.solve.fronts.node import Node, urgency
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.pieces import Pieces
from evenleaf.solve.fronts.tests import Box, Cuts, Fork, Levels, Part, Slot, Split

MOST_PIECES = 64  # of a box; with more, it does not matter where it is halved


class Splitter:
    """Makes smaller nodes that together are a node."""

    def __init__(self, oracle: Oracle, limits: Limits) -> None:
        self.oracle, self.limits = oracle, limits
        self.pieces = Pieces(oracle)

    def tightened(self, node: Node, cell: Cell, objective: float) -> Iterator[Node]:
        """The box with the most free people in two halves."""
        loose = max(cell.loose, key=lambda loose: int(self.oracle.count[loose.free].sum()))
        split = at(node.part, loose.path)
        assert isinstance(split, Split)  # noqa: S101 (a loose box belongs to a split)
        for half in self._halves(node, loose, objective):
            part = replaced(node.part, loose.path, Split(half, split.left, split.right))
            yield Node(node.bound, part, node.mus, asked=node.asked, saved=node.saved)

    def _halves(self, node: Node, loose: Loose, objective: float) -> tuple[Box, Box]:
        """A box in two parts; a looked at box of first cuts so that pieces of it will be as large as can be."""
        if isinstance(loose.box, Cuts) and loose.depth_below == 2 and not loose.path and node.looked:
            number, loss = self.pieces.number(loose.free, node.mus[0], objective - node.bound)
            if 2 < number < MOST_PIECES:
                rank = self.oracle.ranks[loose.box.feature, loose.free]
                size = int(self.oracle.sizes[loose.box.feature])
                return loose.box.halves(np.bincount(rank, weights=loss, minlength=size), (number // 2) / number)
        return loose.box.halves(self.oracle.weights(loose.box, loose.members))

    def first_tests(self, node: Node, depth: int) -> Iterator[Node]:
        """Every box of root tests, unlooked at: a table of them all would be a long wait without news.

        Single tests come first, as they may have a good tree.
        """
        yield replace(node, part=Slot(0), values=None)
        everybody = Place(np.arange(self.oracle.ranks.shape[1]), depth)
        boxes = list(self.oracle.boxes(everybody.members, depth))
        for box in sorted(boxes, key=lambda box: not self.oracle.single(box)):
            part = self._below(box, everybody)
            if self.limits.keeps(used_features(part)):
                yield replace(node, part=part, values=None)

    def opened(self, node: Node, cell: Cell, prices: Prices, rest: np.ndarray, objective: float) -> Iterator[Node]:
        """The deepest slot with every first test that may lead below the objective; `rest` is beside each slot."""
        number = max(range(len(cell.places)), key=lambda n: urgency(cell.places[n]))
        place, path = cell.places[number], slot_paths(node.part)[number]
        if place.fork is not None:
            yield from self._forked(node, place, path)
            return
        leaf = float((rest[number] + self.oracle.leaf(place.members, prices)).max())
        yield Node(max(node.bound, leaf), replaced(node.part, path, Slot(0)), node.mus)
        children = self.oracle.children_below(place.members, place.depth, prices, objective - rest[number])
        for box, bound in zip(children.boxes, (children.values + rest[number]).max(axis=1), strict=True):
            part = replaced(node.part, path, self._below(box, place))
            if bound < objective and self.limits.keeps(used_features(part)):
                yield Node(max(node.bound, float(bound)), part, node.mus)

    def _below(self, box: Box, place: Place) -> Part:
        """A first test with all that may hang below it."""
        if place.depth == 2 and isinstance(box, Levels) and self.oracle.forks(box, place.members):
            return Fork(box)
        return Split(box, Slot(place.depth - 1), Slot(place.depth - 1))

    def _forked(self, node: Node, place: Place, path: tuple[int, ...]) -> Iterator[Node]:
        """A fork with its commonest free level on either side."""
        assert place.fork is not None  # noqa: S101 (asked for only then)
        for half in place.fork.halves(self.oracle.weights(place.fork, place.members)):
            yield Node(node.bound, replaced(node.part, path, self._below(half, place)), node.mus)
