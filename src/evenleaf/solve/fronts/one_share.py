"""The search for trees of one share, as one of several that see what each of them looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.node import Node, handed_on
from evenleaf.solve.fronts.planes import Cheap
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.shown import Look, Shown
from evenleaf.solve.fronts.tests import Box, Cuts, Sketch, Split, middle_test
from evenleaf.solve.fronts.warmup import below_first_test
from evenleaf.solve.fronts.worker import Incumbent, Worker

_STEPS, _OUTLINES = 5, 6  # of a climb that only looks for trees, and trees of it whose upper tests are tried
_SINGLES, _FEW_CUTS = 16, 8  # first tests whose trees are listed, all of a box that has so few
_FAR = 0.005  # above their bounds


class ShareEngine(Engine):
    """An engine whose last disparity is how far the share of people with the second label is from one that is asked."""

    def _offer_without_tests(self) -> None:
        """Such a tree has the share 0 or 1, which is not this one's."""

    @property
    def share(self) -> float:
        """The share that is asked."""
        return float(-self.lane.offset[-1])

    def see(self, shown: Shown) -> None:
        """Take part in what the searches of all shares have seen."""
        self.shown = shown
        for worker in (self.hand, *self.others):
            worker.shown = shown

    def begin_at(self, mu: np.ndarray) -> None:
        """Open the slot of all trees at multipliers that were found elsewhere."""
        self._push(Node(self.floor, self.top, mu[None, :]))
        self.in_hand = np.inf

    def know_of_all_trees(self, look: Look) -> None:
        """Lift the bound of a search that has not begun to part its trees."""
        if self.open and self.open[0][2].part == self.top and look.bound > self.open[0][0]:
            node = self.open.pop()[2]
            self._push(replace(node, bound=look.bound, mus=np.vstack([node.mus[:1], look.mu])))

    @property
    def fresh(self) -> bool:
        """Whether the next node is one that nobody has looked at."""
        return bool(self.open) and not self.open[0][2].looked

    def sharpened(self, cheap: Cheap) -> Cheap:
        """The same from all cuts below the first test; trees with equal rates near those that are met are tried."""
        cell, drawn = below_first_test(self.hand, cheap.sketch, few=False), list[Callable[[], Sketch]]()
        if cell is None:
            return cheap
        seen = self.hand.climb(cell, cheap.mu, _STEPS, target=cheap.cost, drawn=drawn)
        order = np.argsort([-point.value for point in seen.seen], kind="stable")[:_OUTLINES]
        outlines = [cheap.sketch, *(drawn[number]() for number in order)]
        self.hand.repair(outlines, handed_on(seen, self.hand.kept), seen.best.value)
        return Cheap(seen.best.mu, seen.best.value, outlines[1], cheap.share)

    def scout(self, most: int) -> None:
        """Look for good trees below the first tests with the lowest bounds, one of each feature."""
        found: dict[int, Node] = {}
        for entry in sorted(self.open, key=lambda entry: entry[:2]):
            part = entry[2].part
            if isinstance(part, Split) and part.left == part.right and entry[2].looked:
                found.setdefault(part.box.feature, entry[2])
        best, recall = self.best, self.recall

        def work(worker: Worker, node: Node) -> Incumbent:
            worker.oracle.use(recall.apart())
            return _scouted(worker, node, best)

        for incumbent in self.crew.share(work, self.others or [self.hand], list(found.values())[:most]):
            self._take_over(incumbent)

    def dive(self) -> None:
        """List the trees that cost little below the single first tests of the boxes with the lowest bounds.

        Boxes with low bounds come first otherwise, and the best tree is below a test whose bound is not the lowest.
        """
        best, recall = self.best, self.recall

        def work(worker: Worker, node: Node) -> Incumbent:
            worker.oracle.use(recall.apart())
            return _listed(worker, node, best, recall)

        for incumbent in self.crew.share(work, self.others or [self.hand], list(islice(self._singles(), _SINGLES))):
            self._take_over(incumbent)

    def _singles(self) -> Iterator[Node]:
        """Single first tests of looked at boxes, those of the lowest first."""
        everybody = np.arange(self.oracle.ranks.shape[1])
        for entry in sorted(self.open, key=lambda entry: entry[:2]):
            part = entry[2].part
            if not (isinstance(part, Split) and isinstance(part.box, Cuts) and part.left == part.right):
                continue
            present = self.oracle.weights(part.box, everybody) > 0
            boxes: list[Box] = list(islice(part.box.singles(present), _FEW_CUTS + 1))
            if len(boxes) > _FEW_CUTS:
                boxes = [middle_test(part.box, self.oracle.weights(part.box, everybody))]
            for box in boxes:
                yield Node(self.floor, Split(box, part.left, part.right), entry[2].mus)


def _listed(worker: Worker, node: Node, best: Incumbent, recall: Recall) -> Incumbent:
    """The best tree that costs little below a single first test, if it is better than the best known."""
    worker.best = best
    cell = Cell(node.part, worker.lane, worker.oracle)
    if cell.possible and not worker.budget.exhausted:
        with contextlib.suppress(OutOfTime):
            seen = worker.climb(cell, node.mus[0], _STEPS)
            mus, bound = handed_on(seen, worker.kept), seen.best.value
            if bound < worker.better:
                climbed = Node(bound, node.part, mus, step=_FAR, looked=True, climbed=True)
                worker.examine(climbed, worker.best, recall, improves=False)
    return worker.best


def _scouted(worker: Worker, node: Node, best: Incumbent) -> Incumbent:
    """The best tree that is soon found below one of a node's first tests, if it is better than the best known."""
    worker.best, part = best, node.part
    assert isinstance(part, Split)  # noqa: S101 (it has a first test)
    everybody = np.arange(worker.oracle.ranks.shape[1])
    box = middle_test(part.box, worker.oracle.weights(part.box, everybody))
    cell = Cell(Split(box, part.left, part.right), worker.lane, worker.oracle)
    if cell.possible and not worker.budget.exhausted:
        with contextlib.suppress(OutOfTime):
            _repair_below(worker, cell, node.mus[0])
    return worker.best


def _repair_below(worker: Worker, cell: Cell, mu: np.ndarray) -> None:
    drawn: list[Callable[[], Sketch]] = []
    seen = worker.climb(cell, mu, _STEPS, drawn=drawn)
    order = np.argsort([-point.value for point in seen.seen], kind="stable")[:_OUTLINES]
    if seen.best.value < worker.better:
        worker.repair([drawn[number]() for number in order], handed_on(seen, worker.kept), seen.best.value)
