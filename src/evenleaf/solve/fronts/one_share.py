"""The search for trees of one share, as one of several that see what each of them looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np

from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.examined import Incumbent
from evenleaf.solve.fronts.node import Node, handed_on
from evenleaf.solve.fronts.planes import Cheap
from evenleaf.solve.fronts.scouting import STEPS, moved, small_boxes
from evenleaf.solve.fronts.shown import Look, Shown
from evenleaf.solve.fronts.tests import Box, Cuts, Part, Sketch, Slot, Split, middle_test
from evenleaf.solve.fronts.warmup import below_first_test
from evenleaf.solve.fronts.worker import Worker

_STEPS, _OUTLINES = 5, 6  # of a climb that only looks for trees, and trees of it whose upper tests are tried
_SINGLES, _TOGETHER = 8, 4  # first tests whose trees are listed, and how many at a time
_FEW_CUTS = 8  # a box that has no more stands for all of them
_FAR = 0.003, 0.006  # above their bounds: what the nearer trees find makes the second lists short


class ShareEngine(Engine):
    """An engine whose last disparity is how far the share of people with the second label is from one that is asked."""

    most_tries = 0  # dives look for good trees below many first tests at a time

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
            self._push(replace(node.at(np.vstack([node.mus[:1], look.mu])), bound=look.bound))

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

    def dive(self) -> None:
        """List the trees that cost little below single first tests of promising boxes.

        The search itself comes to them late, as it takes the lowest bounds first and lists only what costs hardly more.
        """
        singles, recall = list(islice(self._singles(), _SINGLES)), self.recall

        def work(worker: Worker, node: Node) -> Incumbent:
            worker.oracle.use(recall.apart())
            return _listed(worker, node, best)

        for far, start in product(_FAR, range(0, len(singles), _TOGETHER)):
            best = self.best
            nodes = [replace(node, step=far) for node in singles[start : start + _TOGETHER]]
            for incumbent in self.crew.share(work, self.others or [self.hand], nodes):
                self._take_over(incumbent)

    def scout(self) -> None:
        """Go on at multipliers that suit small boxes of first cuts, in all such boxes."""
        promising, best, recall = self._promising_boxes(), self.best, self.recall
        parts = small_boxes((part.box for _, part in promising if isinstance(part.box, Cuts)), self.oracle)
        if not parts:
            return
        mu = promising[0][0].mus[0]

        def work(worker: Worker, part: Split) -> tuple[np.ndarray, Incumbent]:
            worker.best = best
            worker.oracle.use(recall.apart())
            cell = Cell(part, worker.lane, worker.oracle)
            return worker.climb(cell, mu, STEPS).best.mu if cell.possible else mu, worker.best

        reached = self.crew.share(work, self.others or [self.hand], parts)
        for _, incumbent in reached:
            self._take_over(incumbent)
        common = np.median([mu for mu, _ in reached], axis=0)
        self.open = [(bound, number, moved(node, common, self.hand.kept)) for bound, number, node in self.open]

    @property
    def everybody(self) -> np.ndarray:
        """All people."""
        return np.arange(self.lane.compiled.n_people)

    def _singles(self) -> Iterator[Node]:
        """Single first tests, those of the most promising boxes first."""
        for node, part in self._promising_boxes():
            if not isinstance(part.box, Cuts):
                continue
            present = self.oracle.weights(part.box, self.everybody) > 0
            boxes: list[Box] = list(islice(part.box.singles(present), _FEW_CUTS + 1))
            if len(boxes) > _FEW_CUTS:
                boxes = [middle_test(part.box, self.oracle.weights(part.box, self.everybody))]
            for box in boxes:
                yield Node(self.floor, replace(part, box=box), node.mus)

    def _promising_boxes(self) -> list[tuple[Node, Split]]:
        """Boxes of first tests above slots that are soon looked into, those first whose tests cost about the least.

        A box itself costs less than its tests, by what free people save.
        """
        found = []
        for _, number, node in self.open:
            part = node.part
            if isinstance(part, Split) and node.looked and _is_quick(part.left, self.hand) and part.left == part.right:
                free = self.oracle.part(part.box, self.everybody)[2]
                cost = node.bound + self.hand.splitter.pieces.saved(free, node.mus[0])
                found.append((cost, number, node, part))
        return [(node, part) for _, _, node, part in sorted(found, key=lambda entry: entry[:2])]


def _is_quick(part: Part, worker: Worker) -> bool:
    """Whether a part is a slot whose cheapest trees are quickly found."""
    return isinstance(part, Slot) and part.depth <= worker.quick


def _listed(worker: Worker, node: Node, best: Incumbent) -> Incumbent:
    """The best tree that costs little below a single first test, if it is better than the best known."""
    worker.best = best
    cell = Cell(node.part, worker.lane, worker.oracle)
    if cell.possible and not worker.budget.exhausted:
        with contextlib.suppress(OutOfTime):
            seen = worker.climb(cell, node.mus[0], _STEPS)
            if seen.best.value < worker.better:
                worker.list_below(Node(seen.best.value, node.part, handed_on(seen, worker.kept), step=node.step), cell)
    return worker.best
