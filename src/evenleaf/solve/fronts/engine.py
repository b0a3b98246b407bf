"""The search: best-first over partly settled trees, each closed by its bound, by listing what is left, or split.

A node is a tree whose upper tests are settled up to boxes and whose lower parts are open slots. Its bound is the
dual bound with multipliers of its own (ALGORITHM §2). Once nobody in it is free, its slots' fronts are listed up to
a target a little above the bound and added up: that either finds the node's best tree or lifts its bound to the
target. Where the fronts are too long, the deepest slot is opened, test by test.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.ascent import Climb, Point, climb
from evenleaf.solve.fronts.cell import Cell, Place, at, replaced, slot_paths
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.finish import Finisher
from evenleaf.solve.fronts.front import ABOVE, BELOW, LIMIT, NONE, PENALTY, Question, TooMany
from evenleaf.solve.fronts.lane import Prices, make_lane
from evenleaf.solve.fronts.lattice import only_one_label
from evenleaf.solve.fronts.limits import Limits, allowed_features, used_features
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import to_tree
from evenleaf.solve.fronts.record import Recorder
from evenleaf.solve.fronts.tests import Box, Fork, Levels, Part, Sketch, Slot, Split
from evenleaf.solve.fronts.trial import Trial
from evenleaf.tree import Leaf, Tree

EPSILON = 1e-9  # a bound this close to the incumbent closes a node; well below the tolerance of a proof
_FIRST_STEP, _STEP_GROWTH = 0.001, 4.0  # the target above the bound, and how it grows
_POINTS, _UNBOUNDED = 20_000, 1 << 40
_MOST_OFFERS = 100  # nodes whose cheapest tree is tried with the best labels
_COARSE = 32  # cuts a feature in the warm-up
_KEPT = 4  # multipliers that a node hands on
_MOST_MU = 1e4  # with larger multipliers, rounding looks like a price
_STEPS_SHALLOW, _STEPS_DEEP = 30, 12


@dataclass(frozen=True, eq=False)
class Node:
    """A part with what is known of it."""

    bound: float
    part: Part
    mus: np.ndarray
    tries: int = 0
    looked: bool = False
    climbed: bool = False
    both_sides: bool = False
    values: np.ndarray | None = None  # what the slots cost at the multipliers, once it is known


class Engine:
    """One search: the incumbent, the open nodes, and the bound that both give."""

    def __init__(self, problem: Problem, budget: Budget, start: Tree | None, keep_proof: bool = True) -> None:
        self.problem, self.budget = problem, budget
        self.lane = make_lane(problem)
        self.recorder = Recorder(keep_proof, self.lane.compiled.sizes)
        allowed = allowed_features(problem, self.lane)
        self.oracle = Oracle(self.lane, allowed, self.lane.least, lambda: budget.exhausted)
        self.limits = Limits(problem, self.lane)
        self.finisher = Finisher(self.lane, self.oracle, self.limits)
        self.depth = problem.shape.max_depth if allowed.any() else 0
        self.most = 1.0 if problem.max_discrimination is None else _MOST_MU
        self.tree: Tree | None = None
        self.objective = np.inf
        self.floor = self._floor()
        self.in_hand = self.floor
        self.open: list[tuple[float, int, Node]] = []
        self.order = itertools.count()
        self.examined = self.offers = 0
        schema = problem.people.features.schema
        labels = Trial(0, self.lane)
        worth = labels.worth(np.arange(self.lane.n_labels + 1)[:, None])
        for label in np.argsort(worth, kind="stable"):
            if worth[label] < self.objective - EPSILON:
                self._offer(Tree(schema, problem.target, (Leaf(float(label)),)))
        if start is not None:
            self._offer(start)

    def _floor(self) -> float:
        """What no tree can be below: everybody gets what costs least for them."""
        return float(self.lane.offset[0] + np.minimum(0.0, self.lane.vectors[:, :, 0].min(axis=1)).sum())

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open node, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        return float(min(lowest, self.in_hand, self.objective))

    @property
    def unfinished(self) -> bool:
        """Whether anything is open, or was not even begun."""
        return bool(self.open) or self.in_hand < self.objective - EPSILON

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        with clock(self.budget.remaining, self.oracle.stop):
            self._run()

    def _run(self) -> None:
        if self.tree is not None and only_one_label(self.problem):
            # The trees without any test were all offered; a checker finds by itself that there are no others.
            self.in_hand = np.inf
            self.recorder.knows(Slot(self.depth), self.objective, np.zeros((1, self.lane.n_dimensions)))
            self.budget.report(self.bound, self.objective)
            return
        try:
            self._push(Node(self.floor, Slot(self.depth), self._warm_up()))
            self.in_hand = np.inf
            while self.open and not self.budget.exhausted and not self._good_enough():
                self._next()
        except OutOfTime:
            pass
        self.budget.report(self.bound, self.objective)

    def _next(self) -> None:
        self.in_hand, _, node = heapq.heappop(self.open)
        if node.bound < self.objective - EPSILON:
            try:
                for child in self._examine(node):
                    self._push(child)
                    self.recorder.parted(node.part, child.part)
            except (OutOfTime, KeyboardInterrupt):
                self._push(node)
                raise
        self.in_hand = np.inf
        if self.open and self.open[0][0] >= self.objective - EPSILON:
            self.open = []
        self.budget.report(self.bound, self.objective)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, node: Node) -> None:
        self.recorder.knows(node.part, node.bound, node.mus)
        if node.bound < self.objective - EPSILON:
            heapq.heappush(self.open, (node.bound, next(self.order), node))

    def _warm_up(self) -> np.ndarray:
        """Multipliers and a first tree: climb over all trees of depth 2 at most, then over what hangs below one."""
        mus = np.zeros((1, self.lane.n_dimensions))
        if not self.depth:
            return mus
        cell = Cell(Slot(min(self.quick, self.depth)), self.lane, self.oracle.coarse(_COARSE))
        seen = self._climb(cell, mus[0], self.objective, _STEPS_DEEP, improve=True)
        if self.depth > self.quick:
            below = Cell(self._extended(cell.dual(seen.best.mu)[2], self.depth), self.lane, self.oracle)
            if below.possible and not below.loose:
                seen = self._climb(below, seen.best.mu, self.objective, _STEPS_DEEP, improve=True)
        return _handed_on(seen)

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
            point, vector, sketch = cell.dual(mu)
            if improve or float(self.lane.worth(vector)) < self.objective - EPSILON:
                self._offer_sketch(sketch, improve=improve)
            return point

        return climb(dual, start, target, steps, self.most)

    def _offer_sketch(self, sketch: Sketch, *, improve: bool) -> None:
        if improve:
            worth, sketch = Trial(sketch, self.lane).best()
            if worth >= self.objective - EPSILON:
                return
        self._offer(to_tree(sketch, self.problem, self.lane))

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.budget.report(self.bound, self.objective)

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
            yield from self._tightened(node, cell)
            return
        if node.part == Slot(self.depth) and self._too_many_first_tests:
            yield from self._first_tests(node)
            return
        prices = self.lane.prices(node.mus)
        base = cell.base(node.mus, prices)
        values = cell.values(prices) if node.values is None else node.values
        bound = float((base + values.sum(axis=0)).max())
        node = replace(node, bound=max(node.bound, bound), values=values)
        if node.bound >= self.objective - EPSILON:
            return
        try:
            yield from self._listed(node, cell, prices, base, values)
        except TooMany:
            yield from self._opened(node, cell, prices, base, values)

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
        reached = float((cell.base(mus, prices) + cell.values(prices).sum(axis=0)).max())
        return replace(node, bound=max(node.bound, reached), looked=True)

    def _lifted(self, node: Node, cell: Cell) -> Node:
        """The node with the best bound that multipliers of its own can give."""
        steps = _STEPS_SHALLOW if cell.deepest <= 1 else _STEPS_DEEP
        improve = self.offers < _MOST_OFFERS
        self.offers += 1
        seen = self._climb(cell, node.mus[0], self.objective, steps)
        if improve and seen.best.value < self.objective - EPSILON:
            self._offer_sketch(cell.dual(seen.best.mu)[2], improve=True)
        bound = max(node.bound, seen.best.value)
        node = replace(node, bound=bound, mus=_handed_on(seen), climbed=True, values=None)
        self.recorder.knows(node.part, node.bound, node.mus)
        return node

    def _tightened(self, node: Node, cell: Cell) -> Iterator[Node]:
        """The box with the most free people in two halves."""
        loose = max(cell.loose, key=lambda loose: int(self.oracle.count[loose.free].sum()))
        split = at(node.part, loose.path)
        assert isinstance(split, Split)  # noqa: S101 (a loose box belongs to a split)
        for half in loose.box.halves(self.oracle.weights(loose.box, loose.members)):
            part = replaced(node.part, loose.path, Split(half, split.left, split.right))
            yield Node(node.bound, part, node.mus)

    def _first_tests(self, node: Node) -> Iterator[Node]:
        """Every box of root tests, unlooked at: a table of them all would be a long wait without news."""
        yield replace(node, part=Slot(0), values=None)
        everybody = Place(np.arange(self.lane.compiled.n_people), self.depth)
        for box in self.oracle.boxes(everybody.members, self.depth):
            part = self._below(box, everybody)
            if self.limits.keeps(used_features(part)):
                yield replace(node, part=part, values=None)

    def _listed(self, node: Node, cell: Cell, prices: Prices, base: np.ndarray, values: np.ndarray) -> Iterator[Node]:
        """List everything below a target; nothing found lifts the bound to the target."""
        step = _FIRST_STEP * _STEP_GROWTH**node.tries * max(abs(node.bound), 0.01)
        target = min(self.objective - EPSILON, node.bound + step)
        # With every test settled only labels are left, and there is nothing to split: they are listed, however many.
        most = _POINTS if cell.deepest else _UNBOUNDED
        mus, mode = node.mus, self._mode(node)
        if mode in (ABOVE, BELOW) and (mus[:, 0] * mus[0, 0] < 0).any():
            # One side of |d| ≤ ε is asked: multipliers that pull at the other side must not rule anything out.
            pulling = mus[:, 0] * mus[0, 0] >= 0
            mus, base, values = mus[pulling], base[pulling], values[:, pulling]
            prices = self.lane.prices(mus)
        found = self.finisher.best(cell, Question(mus, prices, target, most, mode), base, values)
        if found is None:
            if target < self.objective - EPSILON:
                yield replace(node, bound=target, tries=node.tries + 1)
        elif np.isfinite(self.lane.worth(found.vector)):
            self._offer_sketch(found.sketch, improve=False)
        else:
            # The best tree with one side of |d| ≤ ε breaks the other side: from its loss on, both sides count.
            yield replace(node, bound=max(node.bound, found.worth), tries=0, both_sides=True)

    def _mode(self, node: Node) -> int:
        """Which points of fronts are needless. With one disparity, first only the side of ε that μ pulls at counts."""
        if self.limits.active:
            return NONE  # the point that makes another needless may break a limit
        if self.lane.limit is None:
            return PENALTY
        if self.lane.n_dimensions != 1 or node.both_sides or node.mus[0, 0] == 0:
            return LIMIT
        return ABOVE if node.mus[0, 0] > 0 else BELOW

    def _opened(self, node: Node, cell: Cell, prices: Prices, base: np.ndarray, values: np.ndarray) -> Iterator[Node]:
        """The deepest slot with every first test that may lead below the incumbent."""
        number = max(range(len(cell.places)), key=lambda n: _urgency(cell.places[n]))
        place, path = cell.places[number], slot_paths(node.part)[number]
        if place.fork is not None:
            yield from self._forked(node, place, path)
            return
        rest = base + values.sum(axis=0) - values[number]
        leaf = float((rest + self.oracle.leaf(place.members, prices)).max())
        yield Node(max(node.bound, leaf), replaced(node.part, path, Slot(0)), node.mus)
        children = self.oracle.children(place.members, place.depth, prices)
        for box, bound in zip(children.boxes, (children.values + rest).max(axis=1), strict=True):
            part = replaced(node.part, path, self._below(box, place))
            if bound < self.objective - EPSILON and self.limits.keeps(used_features(part)):
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


def _urgency(place: Place) -> tuple[int, bool, int]:
    """Which slot to open: the deepest, forks after slots of their depth, then the one with the most people."""
    return place.depth, place.fork is None, len(place.members)


def _handed_on(seen: Climb) -> np.ndarray:
    """The multipliers worth keeping: the highest points that were seen, the best first."""
    order = sorted(range(len(seen.seen)), key=lambda n: -seen.seen[n].value)
    mus = np.array([seen.seen[n].mu for n in order])
    _, first = np.unique(mus, axis=0, return_index=True)
    return mus[np.sort(first)][:_KEPT]
