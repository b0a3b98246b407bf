"""The search: best-first over partly settled trees, each closed by its bound, by listing what is left, or split.

A node is a tree whose upper tests are settled up to boxes and whose lower parts are open slots. Its bound is the
dual bound with multipliers of its own (ALGORITHM §2). Once nobody in it is free, its slots' fronts are listed up to
a target a little above the bound and added up: that either finds the node's best tree or lifts its bound to the
target. Where the fronts are too long, the deepest slot is opened, test by test.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from evenleaf.problem import EDGE, Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.ascent import Climb, Point, climb
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.finish import Finisher, Found
from evenleaf.solve.fronts.front import ABOVE, BELOW, Question, TooMany
from evenleaf.solve.fronts.lane import Lane, Prices, make_lane
from evenleaf.solve.fronts.lattice import only_one_label
from evenleaf.solve.fronts.limits import Limits, allowed_features
from evenleaf.solve.fronts.modes import matches, mode_of
from evenleaf.solve.fronts.node import FIRST_STEP, Node, handed_on
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import to_tree
from evenleaf.solve.fronts.polish import Polish
from evenleaf.solve.fronts.record import Recorder
from evenleaf.solve.fronts.splitting import Splitter
from evenleaf.solve.fronts.tests import Part, Sketch, Slot, Split
from evenleaf.solve.fronts.trial import Trial
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.tree import Leaf, Tree

EPSILON = 1e-9  # a bound this close to the incumbent closes a node; well below the tolerance of a proof
_STEP_GROWTH = 2.5  # how the target above the bound grows
_POINTS, _UNBOUNDED = 20_000, 1 << 40
_MORE = 3  # so many times more points, and twice the multipliers, where flags make lists of several disparities cheap
_MOST_OFFERS = 100  # nodes whose cheapest tree is tried with the best labels
_COARSE = 32  # cuts a feature in the warm-up
_KEPT = 4  # multipliers that a node hands on
_MOST_MU = 1e4  # with larger multipliers, rounding looks like a price
_STEPS_SHALLOW, _STEPS_DEEP = 30, 12
_STEPS_CHEAP, _PATIENCE_CHEAP = 50, 14  # where a step takes no look at people


class Engine:
    """One search: the incumbent, the open nodes, and the bound that both give."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        start: Tree | None,
        keep_proof: bool = True,
        lane: Lane | None = None,
    ) -> None:
        self.problem, self.budget = problem, budget
        self.lane = make_lane(problem) if lane is None else lane
        self.on_news: Callable[[], None] = lambda: budget.report(self.bound, self.objective)
        self.recorder = Recorder(keep_proof, self.lane.compiled.sizes)
        allowed = allowed_features(problem, self.lane)
        self.oracle = Oracle(self.lane, allowed, self.lane.least, lambda: budget.exhausted)
        self.limits = Limits(problem, self.lane)
        self.finisher = Finisher(self.lane, self.oracle, self.limits)
        self.splitter = Splitter(self.oracle, self.limits)
        self.depth = problem.shape.max_depth if allowed.any() else 0
        self.most = 1.0 if problem.max_discrimination is None else _MOST_MU
        self.tree: Tree | None = None
        self.sketch: Sketch | None = None  # the outline of the last tree that was taken, where it had one
        self.objective = np.inf
        self.floor = self._floor()
        self.in_hand = self.floor
        self.refused = np.inf  # the worth of a tree that lists hold for fair and `Problem.evaluate` does not
        self.open: list[tuple[float, int, Node]] = []
        self.order = itertools.count()
        self.examined = self.offers = 0
        schema = problem.people.features.schema
        labels = Trial(0, self.lane)
        worth = labels.worth(np.arange(self.lane.n_labels + 1)[:, None])
        for label in np.argsort(worth, kind="stable"):
            if worth[label] < self.objective - EPSILON:
                self.offer(Tree(schema, problem.target, (Leaf(float(label)),)))
        if start is not None:
            self.offer(start)

    def _floor(self) -> float:
        """What no tree can be below: everybody gets what costs least for them."""
        return float(self.lane.offset[0] + np.minimum(0.0, self.lane.vectors[:, :, 0].min(axis=1)).sum())

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open node, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        return float(min(lowest, self.in_hand, self.objective, self.refused))

    @property
    def unfinished(self) -> bool:
        """Whether anything is open, or was not even begun."""
        return bool(self.open) or min(self.in_hand, self.refused) < self.objective - EPSILON

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        # Whatever is read off flags is soon done: no kernel looks at a clock there.
        seconds = np.inf if self.oracle.flags is not None else self.budget.remaining
        with clock(seconds, self.oracle.stop):
            self._run()

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

    def begin(self, start: np.ndarray | None = None) -> None:
        """Open the slot of all trees; `start` are multipliers that may be enough."""
        mus = self._warm_up(start)
        if self.depth > 2:
            self.offer_quick_tree(mus[0], few=False)
            self._polish(mus[0])
        self._push(Node(self.floor, Slot(self.depth), mus))
        self.in_hand = np.inf

    def glance(self) -> Node:
        """The slot of all trees with its bound at the multipliers of the warm-up."""
        node = self.open[0][2] if self.open else Node(self.objective, self.top, np.zeros((1, self.lane.n_dimensions)))
        return self._looked_at(node, Cell(node.part, self.lane, self.oracle)) if self.depth <= 2 else node

    def offer_quick_tree(self, mu: np.ndarray, *, few: bool = True) -> None:
        """The best tree of depth 2 that begins with a cut, of a feature with few cuts: soon found, and often good."""
        polish, everybody = Polish(self.lane, self.oracle, mu), np.arange(self.lane.compiled.n_people)
        if polish.possible and not self.limits.active:
            sketch = polish.best(everybody, self.lane.offset, self.objective - EPSILON, few=few)
            if sketch is not None:
                self._offer_sketch(sketch, improve=False)

    def _polish(self, mu: np.ndarray) -> None:
        """Make the incumbent better part by part, where trees are deeper than the parts."""
        polish = Polish(self.lane, self.oracle, mu)
        if self.depth > 2 and self.sketch is not None and polish.possible and not self.limits.active:
            self._offer_sketch(polish.polished(self.sketch, self.depth), improve=False)

    def adopt(self, tree: Tree | None, objective: float) -> None:
        """Take a tree that was found elsewhere as the incumbent, if it is better."""
        if objective < self.objective - 1e-12:
            self.tree, self.objective = tree, objective
        if self.open and self.open[0][0] >= self.objective - EPSILON:
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
        return self.recorder.proof(self.top, self.objective - EPSILON)

    def advance(self) -> None:
        """Examine the open node with the lowest bound."""
        self.in_hand, _, node = heapq.heappop(self.open)
        before = self.objective
        if node.bound < self.objective - EPSILON:
            try:
                for child in self._examine(node):
                    self._push(child)
                    self.recorder.parted(node.part, child.part)
            except (OutOfTime, KeyboardInterrupt):
                self._push(node)
                raise
        self.in_hand = np.inf
        if self.objective < before:
            self._polish(node.mus[0])
        if self.open and self.open[0][0] >= self.objective - EPSILON:
            self.open = []
        self.on_news()

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, node: Node) -> None:
        self.recorder.knows(node.part, node.bound, node.mus)
        if node.bound < self.objective - EPSILON:
            heapq.heappush(self.open, (node.bound, next(self.order), node))

    def _warm_up(self, start: np.ndarray | None) -> np.ndarray:
        """Multipliers and a first tree: climb over all trees of depth 2 at most, then over what hangs below one."""
        mus = np.zeros((1, self.lane.n_dimensions))
        if not self.depth:
            return mus
        cell = Cell(Slot(min(self.quick, self.depth)), self.lane, self.oracle.coarse(_COARSE))
        if start is not None and cell.dual(start)[0].value >= self.objective:
            return start[None, :]
        seen = self._climb(cell, mus[0], self.objective, _STEPS_DEEP, improve=True)
        if self.depth > self.quick:
            below = Cell(self._extended(cell.dual(seen.best.mu)[2](), self.depth), self.lane, self.oracle)
            if below.possible and not below.loose:
                seen = self._climb(below, seen.best.mu, self.objective, _STEPS_DEEP, improve=True)
        return handed_on(seen, self._kept)

    @property
    def _long_lists(self) -> bool:
        """Whether lists are long, because few points are needless, but soon made."""
        return self.oracle.flags is not None and self.lane.n_dimensions > 1

    @property
    def _kept(self) -> int:
        return 2 * _KEPT if self._long_lists else _KEPT

    def _extended(self, sketch: Sketch, depth: int) -> Part:
        """The tests of an outline from the top, as far as cheapest trees are not found quickly."""
        if depth <= self.quick or not isinstance(sketch, tuple):
            return Slot(min(depth, self.quick))
        box, low, high = sketch
        return Split(box, self._extended(low, depth - 1), self._extended(high, depth - 1))

    @property
    def quick(self) -> int:
        """How deep a slot's cheapest trees are found quickly enough to climb."""
        return 2 if self.oracle.flags is None else self.oracle.flags.depth

    def _climb(self, cell: Cell, start: np.ndarray, target: float, steps: int, *, improve: bool = False) -> Climb:
        def dual(mu: np.ndarray) -> Point:
            if self.budget.exhausted:
                raise OutOfTime
            point, vector, draw = cell.dual(mu)
            if improve or float(self.lane.worth(vector)) < self.objective - EPSILON:
                self._offer_sketch(draw(), improve=improve)
            return point

        if self._long_lists:
            return climb(dual, start, target, _STEPS_CHEAP, self.most, _PATIENCE_CHEAP)
        return climb(dual, start, target, steps, self.most)

    def _offer_sketch(self, sketch: Sketch, *, improve: bool) -> None:
        if improve:
            worth, sketch = Trial(sketch, self.lane).best()
            if worth >= self.objective - EPSILON:
                return
        before = self.objective
        self.offer(to_tree(sketch, self.problem, self.lane))
        self.sketch = sketch if self.objective < before else self.sketch

    def offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.on_news()

    def _examine(self, node: Node) -> Iterator[Node]:
        """Close a node, or yield what is left of it."""
        self.examined += 1
        cell = Cell(node.part, self.lane, self.oracle)
        if not cell.possible:
            return
        # One bound at one multipliers is soon had; for the slot of all trees that counts only where cuts are many.
        slow = self.depth == 2 and self.oracle.sweeps and self.oracle.many_cuts
        if not node.looked and (slow or node.part != Slot(self.depth)):
            node = self._looked_at(node, cell)
            if node.bound < self.objective - EPSILON:
                yield node
            return
        if not node.climbed and cell.deepest <= (1 if cell.loose else self.quick) and node.part != Slot(self.depth):
            node = self._lifted(node, cell)
            if node.bound >= self.objective - EPSILON:
                return
        if cell.loose:
            yield from self.splitter.tightened(node, cell)
            return
        if node.part == Slot(self.depth) and self._too_many_first_tests:
            yield from self.splitter.first_tests(node, self.depth)
            return
        prices = self.lane.prices(node.mus)
        base = cell.base(node.mus, prices)
        if node.part == Slot(2) and node.looked:  # there is nothing beside it that its value would be needed for
            values = np.zeros((1, len(node.mus)))
        else:
            values = cell.values(prices) if node.values is None else node.values
            bound = float((base + values.sum(axis=0)).max())
            node = replace(node, bound=max(node.bound, bound), values=values)
        if node.bound >= self.objective - EPSILON:
            return
        try:
            yield from self._listed(node, cell, prices, base, values)
        except TooMany:
            yield from self._shorter(node, cell, prices, base + values.sum(axis=0) - values)

    def _shorter(self, node: Node, cell: Cell, prices: Prices, rest: np.ndarray) -> Iterator[Node]:
        """A node whose lists were too long: the same below a lower target, or its first tests."""
        if self._matches(node):
            yield replace(node, stride=node.stride / _STEP_GROWTH**2, halved=node.stride < FIRST_STEP)
        elif node.step > FIRST_STEP and cell.deepest > 1 and self.oracle.many_cuts:
            yield replace(node, step=node.step / _STEP_GROWTH**2, halved=True)
        else:
            yield from self.splitter.opened(node, cell, prices, rest, self.objective)

    @property
    def _too_many_first_tests(self) -> bool:
        """Whether a table of all root tests would be a long wait without news."""
        if self.oracle.flagged(self.depth):
            return False
        return self.depth >= 3 or (self.depth == 2 and self.oracle.many_cuts and not self.oracle.sweeps)

    def _looked_at(self, node: Node, cell: Cell) -> Node:
        """The node with its bound at the multipliers that it was handed."""
        mus = node.mus if cell.deepest <= 1 or self.oracle.flags is not None else node.mus[:1]
        prices = self.lane.prices(mus)
        base = cell.base(mus, prices)
        reached = float((base + cell.values(prices, self.objective - base).sum(axis=0)).max())
        return replace(node, bound=max(node.bound, reached), looked=True)

    def _lifted(self, node: Node, cell: Cell) -> Node:
        """The node with the best bound that multipliers of its own can give."""
        steps = _STEPS_SHALLOW if cell.deepest <= 1 else _STEPS_DEEP
        improve = self.offers < _MOST_OFFERS
        self.offers += 1
        seen = self._climb(cell, node.mus[0], self.objective, steps)
        if improve and seen.best.value < self.objective - EPSILON:
            self._offer_sketch(cell.dual(seen.best.mu)[2](), improve=True)
        bound = max(node.bound, seen.best.value)
        node = replace(node, bound=bound, mus=handed_on(seen, self._kept), climbed=True, values=None)
        self.recorder.knows(node.part, node.bound, node.mus)
        return node

    def _listed(self, node: Node, cell: Cell, prices: Prices, base: np.ndarray, values: np.ndarray) -> Iterator[Node]:
        """List everything below a target; nothing found lifts the bound to the target."""
        target = min(self.objective - EPSILON, node.bound + node.step * max(abs(node.bound), 0.01))
        if self._matches(node):
            target = min(self.objective - EPSILON, node.bound + node.stride * max(abs(node.bound), 0.01))
        # With every test settled only labels are left, and there is nothing to split: they are listed, however many.
        most = _POINTS * (_MORE if self._long_lists else 1) if cell.deepest else _UNBOUNDED
        mus, mode = node.mus, self._mode(node)
        if mode in (ABOVE, BELOW) and (mus[:, 0] * mus[0, 0] < 0).any():
            # One side of |d| ≤ ε is asked: multipliers that pull at the other side must not rule anything out.
            pulling = mus[:, 0] * mus[0, 0] >= 0
            mus, base, values = mus[pulling], base[pulling], values[:, pulling]
            prices = self.lane.prices(mus)
        ceiling = self.objective - EPSILON
        question = Question(mus, prices, target, most, mode, matched=self._matches(node))
        found = self.finisher.best(cell, question, base, values, ceiling)
        if found is not None and found.worth >= target:
            self._offer_sketch(found.sketch, improve=False)
            found = None
        if found is None:
            if target < self.objective - EPSILON:
                step = node.step if node.halved else node.step * _STEP_GROWTH
                yield replace(node, bound=target, step=step, stride=node.stride * _STEP_GROWTH)
        elif np.isfinite(self.lane.worth(found.vector)):
            self._offer_sketch(found.sketch, improve=False)
            if self.objective > found.worth + EPSILON and self._off_the_edge(found):
                yield replace(node, bound=max(node.bound, found.worth - EPSILON))
        else:
            # The best tree with one side of |d| ≤ ε breaks the other side: from its loss on, both sides count.
            if found.fair is not None:
                self._offer_sketch(found.fair, improve=False)
            yield replace(node, bound=max(node.bound, found.worth), step=FIRST_STEP, both_sides=True)

    def _matches(self, node: Node) -> bool:
        return matches(node, self.lane, self.oracle, self.limits)

    def _off_the_edge(self, found: Found) -> bool:
        """A tree on the very edge of ε was refused: from now on none there counts as fair; whether that is new.

        Where every D is a multiple of a number that is large enough, they are all refused. Otherwise that is not
        known of the others, and nothing better than this tree is claimed to be ruled out.
        """
        whole, new = self.problem.whole, self.lane.edge > 0
        far = abs(float(np.abs(found.vector[1:]).sum()) - self.lane.reach) > 4 * EDGE
        if whole is None or whole.step <= 4 * EDGE or far or not new:
            self.refused = min(self.refused, found.worth)
        self.lane = replace(self.lane, edge=-EDGE)
        self.finisher = Finisher(self.lane, self.oracle, self.limits)
        return new

    def _mode(self, node: Node) -> int:
        return mode_of(node, self.lane, self.limits, matched=self._matches(node))
