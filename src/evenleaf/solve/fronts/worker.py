"""Whoever examines nodes: closes one by its bound, by listing what is left of it, or says what it is split into.

Several may do so at the same time, each with an incumbent of its own, which is the best tree known when it begins. What
it finds is handed back; nothing of it is seen elsewhere before that.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from evenleaf.problem import EDGE, Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.ascent import Climb, Point, climb
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.copies import apart
from evenleaf.solve.fronts.examined import Examined, Incumbent
from evenleaf.solve.fronts.finish import Finisher, Found
from evenleaf.solve.fronts.front import ABOVE, BELOW, LIMIT, Question, TooMany
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.limits import Limits
from evenleaf.solve.fronts.modes import matches, mode_of
from evenleaf.solve.fronts.node import FIRST_STEP, FIRST_STRIDE, Node, handed_on
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import to_tree
from evenleaf.solve.fronts.raising import raised
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.repair import Repair
from evenleaf.solve.fronts.settle import Settler
from evenleaf.solve.fronts.shown import Look, Shown
from evenleaf.solve.fronts.splitting import Splitter
from evenleaf.solve.fronts.steps import EPSILON
from evenleaf.solve.fronts.tests import Sketch, Slot
from evenleaf.solve.fronts.trial import Trial
from evenleaf.solve.fronts.tuning import tuned
from evenleaf.tree import Tree

_STEP_GROWTH = 2.5  # how the target above the bound grows
_POINTS, _UNBOUNDED = 20_000, 1 << 40
_MORE = 3  # so many times more points, and twice the multipliers, where flags make lists of several disparities cheap
_KEPT = 4  # multipliers that a node hands on
_MOST_MU = 1e4  # with larger multipliers, rounding looks like a price
STEPS_SHALLOW, STEPS_DEEP = 30, 12
_STEPS_CHEAP, _PATIENCE_CHEAP = 50, 14  # where a step takes no look at people


class Worker:
    """Examines one node at a time."""

    def __init__(self, problem: Problem, budget: Budget, lane: Lane, oracle: Oracle, limits: Limits) -> None:
        self.problem, self.budget, self.limits = problem, budget, limits
        self.oracle = oracle
        self.depth = problem.shape.max_depth if oracle.allowed.any() else 0
        self.most = 1.0 if problem.max_discrimination is None else _MOST_MU
        self.splitter = Splitter(oracle, limits)
        self.on_better: Callable[[], None] | None = None
        self.best = Incumbent()
        self.improves = True
        self.shown: Shown | None = None  # what the searches of all shares have seen
        self.result = Examined(self.best, oracle.recall)
        self.use(lane)

    def use(self, lane: Lane) -> None:
        """Judge what is fair by another lane."""
        self.lane = lane
        self.finisher = Finisher(lane, self.oracle, self.limits)

    def apart(self) -> Worker:
        """Another one who may work at the same time, in a thread of its own."""
        other = Worker(self.problem, self.budget, self.lane, apart(self.oracle), self.limits)
        other.shown = self.shown
        return other

    def examine(self, node: Node, best: Incumbent, recall: Recall, *, improves: bool) -> Examined:
        """Close a node, or find what is left of it; with `improves`, its cheapest tree gets the best labels."""
        self.best, self.improves = best, improves
        self.oracle.use(recall.apart())
        self.result = result = Examined(best, self.oracle.recall)
        try:
            result.children = list(self._examine(node))
        except OutOfTime:
            result.cut_short = True
        result.best = self.best
        return result

    @property
    def objective(self) -> float:
        """That of the best tree known here."""
        return self.best.objective

    @property
    def better(self) -> float:
        """What every better tree is worth less than."""
        return self.lane.steps.better(self.objective)

    @property
    def quick(self) -> int:
        """How deep a slot's cheapest trees are found quickly enough to climb."""
        return 2 if self.oracle.flags is None else self.oracle.flags.depth

    @property
    def long_lists(self) -> bool:
        """Whether lists are long, because few points are needless, but soon made."""
        return self.oracle.flags is not None and self.lane.n_dimensions > 1

    @property
    def kept(self) -> int:
        """How many multipliers a node hands on."""
        return 2 * _KEPT if self.long_lists else _KEPT

    def climb(
        self,
        cell: Cell,
        start: np.ndarray,
        steps: int,
        *,
        improve: bool = False,
        target: float | None = None,
        drawn: list[Callable[[], Sketch]] | None = None,
    ) -> Climb:
        """Lift the bound of a cell towards the incumbent or another target, trying the trees that are met.

        What draws the outlines of these trees is added to `drawn`.
        """
        target = self.better + EPSILON if target is None else target

        def dual(mu: np.ndarray) -> Point:
            if self.budget.exhausted:
                raise OutOfTime
            point, vector, draw = cell.dual(mu)
            if drawn is not None:
                drawn.append(draw)
            if improve or float(self.lane.worth(vector)) < self.better:
                self.offer_sketch(draw(), improve=improve)
            return point

        if self.long_lists:
            return climb(dual, start, target, _STEPS_CHEAP, self.most, _PATIENCE_CHEAP)
        return climb(dual, start, target, steps, self.most)

    def offer_sketch(self, sketch: Sketch, *, improve: bool) -> None:
        """Take the tree of an outline as the incumbent if it is better, with the best labels where that is asked."""
        if improve:
            worth, sketch = Trial(sketch, self.lane).best()
            if worth >= self.better:
                return
        self.offer(to_tree(sketch, self.problem, self.lane), sketch)

    def offer(self, tree: Tree, sketch: Sketch | None = None) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.best = Incumbent(tree, score.objective, self.best.sketch if sketch is None else sketch)
            if self.on_better is not None:
                self.on_better()

    def _examine(self, node: Node) -> Iterator[Node]:
        cell = Cell(node.part, self.lane, self.oracle)
        if not cell.possible:
            return
        # One bound at one multipliers is soon had; for the slot of all trees that counts only where cuts are many.
        slow = self.depth == 2 and self.oracle.sweeps and self.oracle.many_cuts
        if not node.looked and (slow or node.part != Slot(self.depth)):
            yield from self._still_open(self.looked_at(node, cell))
            return
        if not node.climbed and cell.deepest <= (1 if cell.loose else self.quick) and node.part != Slot(self.depth):
            node = self._climbed(node, cell)
            if node.bound >= self.better:
                return
        if cell.loose:
            for box in self._still_open(tuned(self, node, cell)):
                yield from self.splitter.tightened(box, cell, self.better)
            return
        if node.part == Slot(self.depth) and self._too_many_first_tests:
            yield from self.splitter.first_tests(node, self.depth)
            return
        mus = node.mus[: self.kept]
        prices = self.lane.prices(mus)
        base = cell.base(mus, prices)
        if node.part == Slot(2) and node.looked:  # there is nothing beside it that its value would be needed for
            values = np.zeros((1, len(mus)))
        else:
            values = cell.values(prices) if node.values is None else node.values
            bound = float((base + values.sum(axis=0)).max())
            node = replace(node, bound=max(node.bound, bound), values=values)
        if node.bound >= self.better:
            return
        try:
            yield from self._listed(node, cell, prices, base, values)
        except TooMany:
            settled = self._settled(node, cell, prices, base, values)
            if settled is None:
                yield from self._shorter(replace(node, mus=mus), cell, prices, base + values.sum(axis=0) - values)
            else:
                yield from settled

    def _still_open(self, node: Node) -> Iterator[Node]:
        """A node, unless its bound rules it out."""
        if node.bound < self.better:
            yield node

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

    def looked_at(self, node: Node, cell: Cell) -> Node:
        """The node with its bound at the multipliers that it was handed, or at others that are enough.

        Where slots are deep, its bound is no better than others ask for.
        """
        if node.part != Slot(self.depth) and all(cell.is_deep(place) for place in cell.places):
            return raised(self, node, cell)
        known = None if self.shown is None else self.shown.best(node.part, self.lane)
        if known is not None and known.bound > node.bound:
            enough = known.bound >= self.better
            mus = known.mu[None, :] if enough else np.vstack([node.mus[: self.kept - 1], known.mu])
            node = replace(node, bound=known.bound, mus=mus, looked=enough)
            if enough:
                return node
        look, asked = self.look(node, cell)
        if self.shown is not None:
            self.result.looks.append(look)
        return replace(node, bound=max(node.bound, look.bound), looked=True, asked=asked)

    def look(self, node: Node, cell: Cell) -> tuple[Look, tuple[np.ndarray, ...] | None]:
        """What a node costs at least at the best of its multipliers, and the features that matter in each slot."""
        mus = node.mus if cell.deepest <= 1 or self.oracle.flags is not None else node.mus[:1]
        prices = self.lane.prices(mus)
        base = cell.base(mus, prices)
        asked = None
        if len(mus) == 1:
            asked = [self.oracle.allowed] * len(cell.places) if node.asked is None else list(node.asked)
        total = base + cell.values(prices, self.better + EPSILON - base, asked).sum(axis=0)
        # Features that do not matter below the incumbent were passed over: more than that is not claimed.
        highest = int(total.argmax())
        look = Look(node.part, mus[highest], min(float(total[highest]), self.better + EPSILON))
        return look, None if asked is None else tuple(asked)

    def _climbed(self, node: Node, cell: Cell) -> Node:
        """The node after a climb from the best multipliers that are known of it."""
        known = None if self.shown is None else self.shown.best(node.part, self.lane)
        steps = STEPS_SHALLOW if cell.deepest <= 1 else STEPS_DEEP
        return self.lifted(node, cell, None if known is None else known.mu, steps)

    def lifted(self, node: Node, cell: Cell, start: np.ndarray | None, steps: int) -> Node:
        """The node with the best bound that multipliers of its own can give; others may be a better start than its."""
        self.result.lifted = True
        seen = self.climb(cell, node.mus[0] if start is None else start, steps)
        if self.shown is not None:
            self.result.looks += [Look(node.part, point.mu, point.value) for point in seen.seen]
        if self.improves and seen.best.value < self.better:
            self._improve(cell, seen)
        bound = max(node.bound, seen.best.value)
        node = replace(node, bound=bound, mus=handed_on(seen, self.kept), climbed=True, values=None)
        self.result.learnt.append(node)
        return node

    def _improve(self, cell: Cell, seen: Climb) -> None:
        """Offer the cheapest tree of a cell with the best labels, or with stumps that make rates equal."""
        if not self.lane.cancels or self.limits.active:
            self.offer_sketch(cell.dual(seen.best.mu)[2](), improve=True)
            return
        self.repair([cell.dual(seen.best.mu)[2]()], handed_on(seen, self.kept), seen.best.value)

    def repair(self, outlines: list[Sketch], mus: np.ndarray, bound: float) -> None:
        """Offer a tree with upper tests of outlines that cost about so much, and with stumps that make rates equal."""
        if self.limits.active or not self.lane.cancels:
            return
        found = Repair(self.lane, self.oracle, mus).best(outlines, self.depth, bound, self.better)
        if found is not None:
            self.offer_sketch(found, improve=False)

    def list_below(self, node: Node, cell: Cell) -> None:
        """Look for the best tree not far above a node's bound, unless there are too many."""
        self.result = Examined(self.best, self.oracle.recall)
        prices = self.lane.prices(node.mus)
        base, values = cell.base(node.mus, prices), cell.values(prices)
        with contextlib.suppress(TooMany):
            deque(self._listed(node, cell, prices, base, values), maxlen=0)

    def _listed(self, node: Node, cell: Cell, prices: Prices, base: np.ndarray, values: np.ndarray) -> Iterator[Node]:
        """List everything below a target; nothing found lifts the bound to the target."""
        target = self._target(node)
        # With every test settled only labels are left, and there is nothing to split: they are listed, however many.
        most = _POINTS * (_MORE if self.long_lists else 1) if cell.deepest else _UNBOUNDED
        mus, mode = prices.multipliers, mode_of(node, self.lane, self.limits, matched=self._matches(node))
        if mode in (ABOVE, BELOW) and (mus[:, 0] * mus[0, 0] < 0).any():
            # One side of |d| ≤ ε is asked: multipliers that pull at the other side must not rule anything out.
            pulling = mus[:, 0] * mus[0, 0] >= 0
            mus, base, values = mus[pulling], base[pulling], values[:, pulling]
            prices = self.lane.prices(mus)
        question = Question(mus, prices, target, most, mode, matched=self._matches(node))
        found = self.finisher.best(cell, question, base, values, self.better)
        if found is not None and found.worth >= target:
            self.offer_sketch(found.sketch, improve=False)
            found = None
        if found is None:
            if target < self.better:
                step = node.step if node.halved else node.step * _STEP_GROWTH
                yield replace(node, bound=target, step=step, stride=node.stride * _STEP_GROWTH)
        elif np.isfinite(self.lane.worth(found.vector)):
            self.offer_sketch(found.sketch, improve=False)
            if self.objective > found.worth + EPSILON and self._off_the_edge(found):
                yield replace(node, bound=max(node.bound, found.worth - EPSILON))
        else:
            # The best tree with one side of |d| ≤ ε breaks the other side: from its loss on, both sides count.
            if found.fair is not None:
                self.offer_sketch(found.fair, improve=False)
            yield replace(node, bound=max(node.bound, found.worth), step=FIRST_STEP, both_sides=True)

    def _target(self, node: Node) -> float:
        """Up to where a node is listed next.

        Counts that must cancel rule trees out where prices do not, so that all is asked at once.
        """
        if self.lane.cancels and self._matches(node) and node.stride >= FIRST_STRIDE:
            return self.better
        far = node.stride if self._matches(node) else node.step
        return min(self.better, self.lane.steps.beyond(node.bound + far * max(abs(node.bound), 0.01)))

    def _settled(
        self, node: Node, cell: Cell, prices: Prices, base: np.ndarray, values: np.ndarray
    ) -> list[Node] | None:
        """What is left of a node with two slots whose points are matched one by one; None where they are too many."""
        if not self.lane.cancels or self.limits.active or len(cell.places) != 2 or cell.loose:
            return None
        settler = Settler(self.lane, self.oracle, self.most, self._pause)
        targets = [self._target(node)]
        if self.lane.steps.size > FIRST_STEP * abs(node.bound):  # a step is worth a second try
            targets = sorted({targets[0], min(targets[0], self.lane.steps.beyond(node.bound))}, reverse=True)
        for target in targets:
            question = Question(prices.multipliers, prices, min(target, self.better), _POINTS, LIMIT)
            try:
                found = settler.settled(cell, question, base, values)
            except TooMany:
                continue
            if found.sketch is not None:
                self.offer_sketch(found.sketch, improve=False)
            refused = found.sketch is not None and self.objective > found.worth + EPSILON
            if refused or not found.complete:
                continue
            node = replace(node.at(found.mus), bound=max(node.bound, found.worth), step=node.step * _STEP_GROWTH)
            self.result.learnt.append(node)
            return [node] if node.bound < self.better else []
        return None

    def _pause(self) -> None:
        if self.budget.exhausted or self.oracle.stop[0]:
            raise OutOfTime

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
            self.result.refused = min(self.result.refused, found.worth)
        self.result.off_the_edge = True
        return new
