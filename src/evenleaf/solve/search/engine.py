"""The exact search: best-first over boxes of roots, each closed by its bound or by branching on people's labels.

A box whose bound is stuck below the incumbent holds trees that disagree about a few people. Deciding one such
person's label breaks the mixture, and all near-copies of a tree stay together (ALGORITHM §9.11). The tree of
such decisions does not depend on the root, so the proof of one box is replayed in the next one on its feature.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.search.ascent import CLIMB, GLANCE, LOOK, SEARCH, Ascended, Ascent, Effort, Fixing, Found
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, Box, first_boxes, single_root, split
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.decode import decode
from evenleaf.solve.search.descent import Descent
from evenleaf.solve.search.kernels import EPSILON
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.tree import Leaf, Tree

_WORK = 20000
_MOST_MOVES = 64
_MOST_LABEL_NODES = 60  # a box with several roots that needs more than this is split instead
_PROMISING = 0.06  # within this part of the incumbent, a box with free ranks is worth more than a look
_NEAR = 0.03  # a tree within this part of the incumbent is worth a descent
_CUTS_TRIED, _ROOTS_CLIMBED = 8, 10


@dataclass(eq=False)
class Proof:
    """A node of the tree of decided labels, kept so that the next box can be proven the same way."""

    mu: np.ndarray
    scale: float
    person: int = -1
    label: int = 0
    children: tuple[Proof, Proof] | None = None


class Engine:
    """One search: the incumbent, the open boxes, and the bound that both give."""

    def __init__(self, problem: Problem, budget: Budget, start: Tree | None) -> None:
        self.problem, self.budget = problem, budget
        self.compiled: Compiled = compile_problem(problem)
        shape, self.depth = problem.shape, problem.shape.max_depth
        self.ascent = Ascent(self.compiled, shape.max_depth, shape.min_samples_leaf, problem.max_discrimination)
        schema = problem.people.features.schema
        features = range(self.compiled.n_features)
        self.pairs = [allowed_pairs(shape, schema, self.compiled, feature) for feature in features]
        self.influence = self.compiled.influence()
        self.coupled = not bool(all(pairs.all() for pairs in self.pairs)) or shape.min_samples_leaf > 1
        self.descent = Descent(self.compiled, shape.max_depth, self.ascent.limit)
        self.polished: set[float] = set()
        self.tree: Tree | None = None
        self.objective = np.inf
        self.in_hand = -np.inf  # until the first boxes are open, nothing is known
        self.open: list[tuple[float, int, Box]] = []
        self.order = itertools.count()
        self.proofs: dict[int, Proof] = {}
        for label in range(self.compiled.n_labels + 1):
            self._offer(Tree(schema, problem.target, (Leaf(float(label)),)))
        if start is not None:
            self._offer(start)

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open box, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        return float(min(lowest, self.in_hand, self.objective))

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        mu, scale = self._warm_up()
        for box in first_boxes(self.compiled, mu, scale, self.depth):
            if self.pairs[box.feature].any():
                self._push(box)
        self.in_hand = np.inf
        while self.open and not self.budget.exhausted and not self._good_enough():
            self.in_hand, _, box = heapq.heappop(self.open)
            if self.in_hand < self.objective - EPSILON and not self._examine(box):
                self._push(box)  # cut short: still open
            self.in_hand = np.inf
            self.open = self.open if not self._settled() else []
            self.budget.report(max(self.bound, 0.0), self.objective)

    def _settled(self) -> bool:
        return bool(self.open) and self.open[0][0] >= self.objective - EPSILON

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, box: Box) -> None:
        heapq.heappush(self.open, (box.bound, next(self.order), box))

    def _warm_up(self) -> tuple[np.ndarray, float]:
        """Good multipliers and a good tree: climb on the most promising of a few roots a feature."""
        mu, scale = np.zeros_like(self.compiled.weight), 1.0
        rounds, climbed, effort = 2, _ROOTS_CLIMBED, SEARCH
        if self.depth > MOST_SWEPT_DEPTH:
            shallow = Engine(self.problem.with_shape(replace(self.problem.shape, max_depth=2)), self.budget, self.tree)
            mu, scale = shallow._warm_up()
            if shallow.tree is not None:
                self._offer(shallow.tree)
            rounds, climbed, effort = 1, _ROOTS_CLIMBED // 3, CLIMB
        roots = [
            (feature, left)
            for feature in range(self.compiled.n_features)
            if self.pairs[feature].any()
            for left in self._sample_roots(feature)
        ]
        looks = []
        for number, (feature, left) in enumerate(roots):
            if not self.budget.exhausted:
                reached = self._climb(single_root(self.compiled, feature, left, mu, scale, self.depth), LOOK)
                looks.append((reached.box.bound, number))
        best = np.inf
        for _ in range(rounds):
            start_mu, start_scale = mu, scale
            for _, number in sorted(looks)[:climbed]:
                if self.budget.exhausted:
                    break
                feature, left = roots[number]
                box = single_root(self.compiled, feature, left, start_mu, start_scale, self.depth)
                reached = self._climb(box, effort)
                if reached.box.bound < best:
                    best, mu, scale = reached.box.bound, reached.box.mu, reached.box.scale
        return mu, scale

    def _sample_roots(self, feature: int) -> list[np.ndarray]:
        """Cuts at quantiles of the people; for levels, prefixes in the order of their mean cost."""
        compiled, size = self.compiled, int(self.compiled.sizes[feature])
        people = np.bincount(compiled.ranks[feature], weights=compiled.count, minlength=size)
        rank_order = np.arange(size)
        if compiled.unordered[feature]:
            cost = np.bincount(compiled.ranks[feature], weights=compiled.base[:, -1], minlength=size)
            rank_order = np.argsort(cost / people, kind="stable")
        reached = np.cumsum(people[rank_order]) / people.sum()
        cuts = np.unique(np.searchsorted(reached, np.arange(1, _CUTS_TRIED + 1) / (_CUTS_TRIED + 1)))
        return [np.isin(np.arange(size), rank_order[: min(cut, size - 2) + 1]) for cut in cuts]

    def _climb(self, box: Box, effort: Effort, fixings: tuple[Fixing, ...] = ()) -> Ascended:
        reached = self.ascent.climb(box, self.pairs[box.feature], self.objective, effort, fixings)
        if reached.found is not None and reached.found.objective < self.objective - EPSILON:
            self._offer(decode(reached.found.plan, self.problem, self.compiled))
        if reached.found is not None:
            self._polish(reached.found)
        return reached

    def _polish(self, found: Found) -> None:
        """Descend from a tree that is nearly as good as the incumbent, unless one much like it was tried before."""
        if found.objective > (1 + _NEAR) * self.objective or self.coupled:
            return
        key = round(found.objective, 7)
        if key in self.polished or self.budget.exhausted:
            return
        self.polished.add(key)
        plan, objective = self.descent.improve(found.plan, found.labels, found.objective)
        if objective < self.objective - EPSILON:
            self._offer(decode(plan, self.problem, self.compiled))

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.budget.report(max(min(self.bound, score.objective), 0.0), score.objective)

    def _examine(self, box: Box) -> bool:
        """Close a box, or replace it by smaller ones; False where the budget ran out before either."""
        if not box.has_free and (done := self._prove(box)) is not None:
            return done
        reached = self._climb(box, LOOK)
        if box.has_free and reached.box.bound > (1 - _PROMISING) * self.objective:
            reached = self._climb(reached.box, GLANCE)
        if reached.box.bound < self.objective - EPSILON and reached.box.live.any():
            self._split(reached.box)
        return True

    def _split(self, box: Box) -> None:
        size = int(self.compiled.sizes[box.feature])
        people = np.bincount(self.compiled.ranks[box.feature], weights=self.compiled.count, minlength=size)
        cuts = max(1, int(box.alive.sum()))
        walked = self.depth <= MOST_SWEPT_DEPTH and self.problem.shape.min_samples_leaf == 1
        most = 0 if not walked else min(_MOST_MOVES, max(8, _WORK // cuts))
        for part in split(box, self.compiled, people, most):
            if part.live.any():
                self._push(part)

    def _prove(self, box: Box) -> bool | None:
        """Branch on people's labels: True once closed, None to split the box instead, False out of budget."""
        several = len(box.moving) > 0
        proof = Proof(box.mu, box.scale)
        stack: list[tuple[Proof | None, Proof, Box, tuple[Fixing, ...]]] = [
            (self.proofs.get(box.feature), proof, box, ())
        ]
        visited = 0
        while stack:
            if self.budget.exhausted:
                return False
            visited += 1
            if several and visited > _MOST_LABEL_NODES:
                return None
            old, node, here, fixings = stack.pop()
            self._branch(old, node, here, fixings, stack)
        self.proofs[box.feature] = proof
        return True

    def _branch(
        self,
        old: Proof | None,
        node: Proof,
        box: Box,
        fixings: tuple[Fixing, ...],
        stack: list[tuple[Proof | None, Proof, Box, tuple[Fixing, ...]]],
    ) -> None:
        """Close one node of the proof, or decide a person's label and go on with both answers."""
        if old is not None:
            box = _with_multipliers(box, old)
        replayed = old is not None and old.children is not None
        reached = self._climb(box, LOOK if replayed else CLIMB, fixings)
        node.mu, node.scale = reached.box.mu.astype(np.float32), reached.box.scale
        if reached.box.bound >= self.objective - EPSILON or not reached.box.live.any():
            return
        if replayed and old is not None and old.children is not None:
            node.person, node.label = old.person, old.label
            previous: tuple[Proof | None, Proof | None] = old.children
        else:
            node.person, node.label = self._contested(reached, fixings)
            previous = (None, None)
        children = (Proof(node.mu, node.scale), Proof(node.mu, node.scale))
        node.children = children
        for equal, before, child in zip((False, True), previous, children, strict=True):
            decided = (*fixings, Fixing(node.person, node.label, equal))
            stack.append((before, child, reached.box, decided))

    def _contested(self, reached: Ascended, fixings: tuple[Fixing, ...]) -> tuple[int, int]:
        """The person and label on which the trees of the mixture disagree most, weighed by influence."""
        doubt = np.minimum(reached.average, 1 - reached.average) * self.influence[:, None]
        margin = -np.abs(reached.costs)
        for fixing in fixings:
            rows = slice(None) if fixing.equal or self.compiled.n_labels == 1 else max(fixing.label - 1, 0)
            doubt[fixing.person, rows] = -1.0
            margin[fixing.person, rows] = -np.inf
        table = doubt if doubt.max() > 1e-9 else margin
        person, label = np.unravel_index(int(table.argmax()), table.shape)
        return int(person), int(label) + 1


def _with_multipliers(box: Box, proof: Proof) -> Box:
    return replace(box, mu=proof.mu.astype(np.float64), scale=proof.scale)
