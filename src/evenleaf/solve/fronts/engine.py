"""The search: best-first over partly settled trees, each closed by its bound, by listing what is left, or split.

A node is a tree whose upper tests are settled up to boxes and whose lower parts are open slots. Its bound is the
dual bound with multipliers of its own (ALGORITHM §2). Once nobody in it is free, its slots' fronts are listed up to
a target a little above the bound and added up: that either finds the node's best tree or lifts its bound to the
target. Where the fronts are too long, the deepest slot is opened, test by test.

A round takes the lowest few nodes, however many threads there are, and each is examined by itself (`worker.py`); what
comes out is put together in the order of the nodes. So the answer is the same for any number of threads.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from evenleaf.problem import EDGE, Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.examined import Examined, Incumbent
from evenleaf.solve.fronts.lane import Lane, make_lane
from evenleaf.solve.fronts.lattice import only_one_label
from evenleaf.solve.fronts.limits import Limits, allowed_features
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.polish import Polish
from evenleaf.solve.fronts.record import Recorder
from evenleaf.solve.fronts.shown import Look, Shown
from evenleaf.solve.fronts.steps import EPSILON
from evenleaf.solve.fronts.tests import Cuts, Part, Slot, Split
from evenleaf.solve.fronts.trial import Trial
from evenleaf.solve.fronts.warmup import warm_up
from evenleaf.solve.fronts.worker import Worker
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.tree import Leaf, Tree

__all__ = ["EPSILON", "Engine"]

_MOST_OFFERS = 100  # nodes whose cheapest tree is tried with the best labels
_ROUND, _LONG_ROUND = 8, 32  # nodes a round; must not depend on the number of threads
_WAITING = 8  # times as many nodes are open as a longer round takes, so that it is still the lowest that are taken
MOST_SHALLOW, _MOST_DEEPER = 32, 1_000  # nodes of a search to depth 2, or deeper, that only looks for a good tree
_MUCH_WORK = 10_000  # numbers in a table; in smaller ones nodes are so soon done that a round is one node


def to_depth(problem: Problem, depth: int) -> Problem:
    """The same question about shallower trees."""
    return problem.with_shape(replace(problem.shape, max_depth=depth))


class Engine:
    """One search: the incumbent, the open nodes, and the bound that both give."""

    most_tries = 12  # so often a promising node may be examined out of turn

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        start: Tree | None,
        keep_proof: bool = True,
        lane: Lane | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.problem, self.budget = problem, budget
        self.lane = make_lane(problem) if lane is None else lane
        self.on_news: Callable[[], None] = lambda: budget.report(self.bound, self.objective)
        self.recorder = Recorder(keep_proof, self.lane.compiled.sizes)
        allowed = allowed_features(problem, self.lane)
        self.crew = Crew(budget.threads, budget.cancel) if crew is None else crew
        self.oracle = Oracle(self.lane, allowed, self.lane.least, lambda: budget.exhausted, crew=self.crew)
        self.limits = Limits(problem, self.lane)
        self.recall = self.oracle.recall
        self.hand = Worker(problem, budget, self.lane, self.oracle, self.limits)  # works alone, with the whole crew
        self.hand.on_better = lambda: self._take_over(self.hand.best)
        self.depth = self.hand.depth
        much = self.oracle.flags is None and self.oracle.ranks.size >= _MUCH_WORK
        self.round = _ROUND if much else 1
        self.others = [self.hand.apart() for _ in range(self.crew.size if much else 0)]
        self.best = Incumbent()
        self.floor = self._floor()
        self.in_hand = self.floor
        self.refused = np.inf  # the worth of a tree that lists hold for fair and `Problem.evaluate` does not
        self.open: list[tuple[float, int, Node]] = []
        self.order = itertools.count()
        self.examined = self.offers = 0
        self.shown: Shown | None = None
        self.first_parts: list[Part] = []  # what all trees are parted into
        self.promising: Part | None = None
        self.tries = self.most_tries if much and self.depth > 2 else 0
        self._offer_without_tests()
        self.alike = self.objective  # what the best tree without a test is worth
        if start is not None:
            self.offer(start)

    def _offer_without_tests(self) -> None:
        """Begin with the best tree that decides everybody alike."""
        worth = Trial(0, self.lane).worth(np.arange(self.lane.n_labels + 1)[:, None])
        for label in np.argsort(worth, kind="stable"):
            if worth[label] < self.better:
                self.offer(Tree(self.problem.people.features.schema, self.problem.target, (Leaf(float(label)),)))

    def stop_with(self, stop: np.ndarray) -> None:
        """Stop long kernels when another search is told to."""
        for worker in (self.hand, *self.others):
            worker.oracle.stop = worker.oracle.relaxed.stop = stop

    @property
    def tree(self) -> Tree | None:
        """The best tree known."""
        return self.best.tree

    @tree.setter
    def tree(self, tree: Tree) -> None:
        self._know(replace(self.best, tree=tree))

    @property
    def objective(self) -> float:
        """What it is worth."""
        return self.best.objective

    @property
    def better(self) -> float:
        """What every better tree is worth less than."""
        return self.lane.steps.better(self.objective)

    def offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better."""
        self.hand.offer(tree)

    def _take_over(self, best: Incumbent) -> None:
        """Know a tree that somebody found, if it is better."""
        if best.objective < self.objective - 1e-12:
            self._know(best)
            self.on_news()

    def _know(self, best: Incumbent) -> None:
        self.best = self.hand.best = best

    def _floor(self) -> float:
        """What no tree can be below: everybody gets what costs least for them."""
        return float(self.lane.offset[0] + np.minimum(0.0, self.lane.vectors[:, :, 0].min(axis=1)).sum())

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open node, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        reached = self.lane.steps.above(min(lowest, self.in_hand))
        return float(min(reached, self.objective, self.refused))

    @property
    def unfinished(self) -> bool:
        """Whether anything is open, or was not even begun."""
        return bool(self.open) or min(self.in_hand, self.refused) < self.better

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        # Whatever is read off flags is soon done: no kernel looks at a clock there.
        seconds = np.inf if self.oracle.flags is not None else self.budget.remaining
        with clock(seconds, self.oracle.stop):
            try:
                self._run()
            finally:
                self.crew.close()

    def _run(self) -> None:
        if self.tree is not None and only_one_label(self.problem):
            # The trees without any test were all offered; a checker finds by itself that there are no others.
            self.in_hand = np.inf
            self.recorder.knows(Slot(self.depth), self.objective, np.zeros((1, self.lane.n_dimensions)))
            self.on_news()
            return
        try:
            self.begin()
            while self.open and not self.budget.exhausted and not self._good_enough():
                self.advance()
        except OutOfTime:
            pass
        self.on_news()

    def begin(self, start: np.ndarray | None = None, *, alone: bool = True) -> None:
        """Open the slot of all trees; `start` are multipliers that may be enough.

        Where it is one of several searches, a good tree is looked for by them all.
        """
        mus = warm_up(self.hand, start, self.alike if np.isfinite(self.alike) else self.objective)
        if self.depth > 2:
            if self._polish_at(mus[0]) is not None:
                if alone or not self.lane.cancels:
                    self.offer_quick_tree(mus[0], few=False)
                    self._polish(mus[0])
            elif alone and self.oracle.flags is None:  # from flags deep trees are found as soon
                self._offer_shallow_tree(mus[0])
        self._push(Node(self.floor, Slot(self.depth), mus))
        self.in_hand = np.inf

    def look(self) -> Look:
        """Know what all trees cost at least at the first multipliers, and tell that alone."""
        node = self.open[0][2]
        look = self.hand.look(replace(node, mus=node.mus[:1]), Cell(node.part, self.lane, self.oracle))[0]
        self.open = []
        self._push(replace(node, bound=max(node.bound, look.bound), looked=True))
        return look

    def close(self, bound: float, mu: np.ndarray) -> None:
        """Know from elsewhere what multipliers show of all trees."""
        self._push(Node(bound, self.top, mu[None, :]))
        self.in_hand = np.inf

    def offer_quick_tree(self, mu: np.ndarray, *, few: bool = True) -> None:
        """The best tree of depth 2 that begins with a cut, of a feature with few cuts: soon found, and often good."""
        polish, everybody = self._polish_at(mu), np.arange(self.lane.compiled.n_people)
        if polish is not None:
            sketch = polish.best(everybody, self.lane.offset, self.better, few=few)
            if sketch is not None:
                self.hand.offer_sketch(sketch, improve=False)

    def _offer_shallow_tree(self, mu: np.ndarray) -> None:
        """The best tree of depth 2, or a good one: a search that goes deeper may take long to find one as good."""
        below = Engine(to_depth(self.problem, self.depth - 1), self.budget, None, False, self.lane, self.crew)
        below.stop_with(self.oracle.stop)
        below.on_news = lambda: None  # its bound is not about deeper trees
        try:
            below.begin(mu)
            most = MOST_SHALLOW if below.depth == 2 else _MOST_DEEPER
            while below.open and below.examined < most and not self.budget.exhausted:
                below.advance()
        finally:
            self._take_over(below.best)

    def _polish(self, mu: np.ndarray) -> None:
        """Make the incumbent better part by part, where trees are deeper than the parts."""
        polish = self._polish_at(mu)
        if self.depth > 2 and self.best.sketch is not None and polish is not None:
            self.hand.offer_sketch(polish.polished(self.best.sketch, self.depth), improve=False)

    def _polish_at(self, mu: np.ndarray) -> Polish | None:
        """What finds parts of trees exactly, where that is possible and no limit couples them."""
        polish = Polish(self.lane, self.oracle, mu)
        return polish if polish.possible and not self.limits.active else None

    def adopt(self, best: Incumbent) -> None:
        """Take a tree that was found elsewhere as the incumbent, if it is better."""
        if best.objective < self.objective - 1e-12:
            self._know(best)
        if self.open and self.open[0][0] >= self.better:
            self.open = []

    @property
    def top(self) -> Part:
        """All trees."""
        return Slot(self.depth)

    @property
    def given_up(self) -> bool:
        """Whether the proof is too long to be kept."""
        return self.recorder.given_up

    def proof(self) -> FrontsProof | None:
        """What was shown, once nothing is open."""
        return self.recorder.proof(self.top, self.better)

    def advance(self) -> None:
        """Examine the open nodes with the lowest bounds, each from the incumbent that stands at the start."""
        batch = self._out_of_turn() or [heapq.heappop(self.open)[2] for _ in range(self._width)]
        batch = [node for node in batch if node.bound < self.better]
        self.in_hand = min((node.bound for node in batch), default=np.inf)
        done: list[Examined] = []
        before, better = self.objective, None
        try:
            for examined in self._examined(batch):
                node = batch[len(done)]
                done.append(examined)
                self._merge(node, examined)
                better = node if self.objective < before and examined.best.objective <= self.objective else better
        except KeyboardInterrupt:
            self.oracle.stop[0] = True  # the threads would go on otherwise
            raise
        finally:
            for node in batch[len(done) :]:
                self._push(node)
        if any(examined.cut_short for examined in done):
            raise OutOfTime
        for examined in done:
            self.recall.learn(examined.recall)
            if self.shown is not None:
                self.shown.take(examined.looks, self.lane)
        self.in_hand = np.inf
        if better is not None:
            self._polish(better.mus[0])
        if self.open and self.open[0][0] >= self.better:
            self.open = []
        self.on_news()

    @property
    def _width(self) -> int:
        """How many nodes a round takes: where many are open more, as threads wait for each other at its end."""
        longer = min(len(self.open) // _WAITING, _LONG_ROUND) if self.round > 1 else 1
        return min(max(self.round, longer), len(self.open))

    def _out_of_turn(self) -> list[Node]:
        """The single first test with the lowest bound, some times, before boxes of many first tests are looked at.

        Its best tree is often the best of all, and the better the incumbent, the sooner a look at a box is over.
        """
        if not self.tries or not self.open:
            return []
        if self.promising is None:
            if self.open[0][2].looked or not isinstance(self.open[0][2].part, Split) or self._single(self.open[0][2]):
                return []
            looked = [entry for entry in self.open if entry[2].looked and self._single(entry[2])]
            self.promising = min(looked)[2].part if looked else None
        mine = next((entry for entry in self.open if entry[2].part == self.promising), None)
        self.tries = 0 if mine is None else self.tries - 1
        if mine is None:
            return []
        self.open.remove(mine)
        heapq.heapify(self.open)
        return [mine[2]]

    def _single(self, node: Node) -> bool:
        """Whether the first test is settled and nothing else is."""
        part = node.part
        return isinstance(part, Split) and self.oracle.single(part.box) and part.left == part.right

    def _examined(self, batch: list[Node]) -> Iterator[Examined]:
        """What comes of each node, in their order."""
        best, improves = self.best, self.offers < _MOST_OFFERS
        if len(batch) == 1:
            yield self.hand.examine(batch[0], best, self.recall, improves=improves)
            return

        def work(worker: Worker, node: Node) -> Examined:
            return worker.examine(node, best, self.recall, improves=improves)

        yield from self.crew.share(work, self.others, batch)

    def _merge(self, node: Node, examined: Examined) -> None:
        """Take over what came of a node."""
        self.examined += 1
        self.offers += examined.lifted
        self._take_over(examined.best)
        for learnt in examined.learnt:
            self.recorder.knows(learnt.part, learnt.bound, learnt.mus)
        if examined.cut_short:
            self._push(node)
        if node.part == self.top:
            self.first_parts = [child.part for child in examined.children if not _without_tests(child.part)]
        for child in examined.children:
            self._push(child)
            self.recorder.parted(node.part, child.part)
        self.refused = min(self.refused, examined.refused)
        if examined.off_the_edge and self.lane.edge > 0:
            self.lane = replace(self.lane, edge=-EDGE)
            for worker in (self.hand, *self.others):
                worker.use(self.lane)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, node: Node) -> None:
        self.recorder.knows(node.part, node.bound, node.mus)
        if node.bound < self.better:
            heapq.heappush(self.open, (node.bound, next(self.order), node))


def _without_tests(part: Part) -> bool:
    """Whether a box of first tests has none."""
    return isinstance(part, Split) and isinstance(part.box, Cuts) and part.box.empty
