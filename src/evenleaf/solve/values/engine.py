"""The exact search for regression: best-first over boxes of roots, then over what is possible below one root.

The bound, the ascent and the boxes are those of ALGORITHM §9; a leaf's label is replaced by its value, which is free
within the label range. A box of one root whose bound is stuck is split, and once few trees are left each of them is
solved by its linear program: that ends every case, whatever the bounds do.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.local import LocalSearch
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values.ascent import (
    CLIMB,
    DEEP_CLIMB,
    DEEP_GLANCE,
    DEEP_LIGHT,
    FIRST,
    GLANCE,
    LOOK,
    SEARCH,
    SHORT,
    STEADY,
    Ascended,
    Ascent,
)
from evenleaf.solve.values.boxes import FREE, LEFT, Box, first_boxes, single_root, split_root
from evenleaf.solve.values.branching import (
    Proof,
    split_below_root,
    split_tests,
    tests_below_root,
    with_multipliers,
)
from evenleaf.solve.values.compiled import Compiled, compile_values
from evenleaf.solve.values.kernels import EPSILON
from evenleaf.solve.values.limits import pairs_below, possible_tests
from evenleaf.solve.values.plans import Polish
from evenleaf.solve.values.recorder import Recorder
from evenleaf.solve.values.wander import Wanderer
from evenleaf.tree import Leaf, Tree

_LISTED = 2  # so few trees are solved one by one
_PROMISING = 0.15  # within this part of the incumbent, a box with free people is worth more than a look
_WORTH_POLISHING = 1.003  # a tree this close to the incumbent may be better with its best values
_MOST_FREE = 0.25  # of the people: with depth 3, boxes with more are not worth a bound
_HARD = (4_000, 40_000)  # bounds after which a local search is worth its time, and then a longer one
_PATIENCE = (4, 12)
_HARD_DEEP = (400, 2_500)  # the same with depth 3, where a bound is dearer
_WANDERED = (10_000, 80_000, 200_000)  # steps of the annealing: at first, and then at each of these times
_HOT = 0.2  # of what a tree gains on a constant
_FEW_TESTS = 50  # where there are no more, a local search is not worth its time
_MOST_CAPS = 20  # then tests are split, which ends every case
_PROOFS_KEPT = 100  # a feature
_MOST_NODES = 1000  # of one proof before other boxes have their turn


Patterns = dict[int, list[tuple[int, Proof]]]  # of each feature: where a root stands, and its multipliers


@dataclass(frozen=True, eq=False)
class Open:
    """A node still to be proven: how another root was, what is noted for the next root, and the box itself."""

    old: Proof | None
    proof: Proof
    box: Box


class Engine:
    """One search: the incumbent, the open boxes, and the bound that both give (in units of the outcome's spread)."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        start: Tree | None,
        keep_proof: bool = False,
        memory: float | None = None,
    ) -> None:
        self.problem, self.budget = problem, budget
        self.compiled: Compiled = compile_values(problem)
        self.recorder = Recorder(self.compiled, keep_proof, memory)
        self.unit = self.compiled.spread or 1.0
        shape, schema = problem.shape, problem.people.features.schema
        self.ascent = Ascent(self.compiled, shape, problem.max_discrimination, lambda: budget.exhausted)
        self.polish = Polish(problem, self.compiled)
        testing = shape.max_depth > 0 and shape.max_features_per_test != 0 and shape.max_leaves != 1
        self.roots = range(self.compiled.n_features) if testing and self.compiled.spread > 0 else range(0)
        self.pairs = [pairs_below(shape, schema, self.compiled, root) for root in self.roots]
        self.tree: Tree | None = None
        self.objective = np.inf
        self.in_hand = -np.inf  # until the first boxes are open, nothing is known
        self.open: list[tuple[float, int, Box]] = []
        self.order = itertools.count()
        self.climbed: Patterns = {}
        self.proofs: Patterns = {}
        self.helped = 0
        self.alive = possible_tests(shape, self.compiled) if self.roots else []
        self.dual_scale = 1.0  # what a unit of discrimination is worth
        constant = best_leaves(problem, np.zeros(problem.people.n_people, dtype=np.intp), 1)
        if constant is not None:
            self._offer(Tree(schema, problem.target, (Leaf(float(constant[0][0])),)))
        self.constant = self.objective
        if start is not None:
            self._offer(start)

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open box, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        return float(min(lowest, self.in_hand, self.objective))

    @property
    def words(self) -> str:
        """What was done, for the solution's message."""
        return f"{self.ascent.steps:,} bounds" + self.recorder.words

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        if self.roots:
            alive = self.alive
            mu, scale = self._warm_up(alive)
            self.ascent.scratch.forget()
            # A certificate needs a climb in every box, so that none may be ruled out before it was looked at.
            floor = self.ascent.floor(mu, scale) if self.ascent.deep else -np.inf
            for box in itertools.chain(*(first_boxes(self.compiled, marks, mu, scale) for marks in alive)):
                if self.pairs[box.feature].any():
                    self._part(replace(box, bound=floor))
        self.in_hand = np.inf
        self.recorder.begin()
        while self.open and not self.budget.exhausted and not self._good_enough():
            hard = _HARD_DEEP if self.ascent.deep else _HARD
            if self.helped < len(hard) and self.ascent.steps > hard[self.helped]:
                self.helped += 1
                self._look_about()
            self.in_hand, _, box = heapq.heappop(self.open)
            if self.in_hand < self.objective - EPSILON:
                self._examine(box)
            self.in_hand = np.inf
            if self.open and self.open[0][0] >= self.objective - EPSILON:
                self.open = []
            self._report()

    def _look_about(self) -> None:
        """Where the first trees leave much to do, a local search finds better ones sooner than the boxes would."""
        if self.ascent.deep and self.problem.shape.min_samples_leaf == 1 and len(self.alive) == 1:
            self._wander()
            return
        found = LocalSearch(_PATIENCE[max(0, self.helped - 1)]).solve(self.problem, self.budget, self.tree)
        if found.tree is not None:
            self._offer(found.tree)

    def _wander(self) -> None:
        """Anneal; trees that are limited in other ways than the depth are left to the local search."""
        wanderer = Wanderer(self.compiled, self.dual_scale)
        hot = max(_HOT * (self.constant - self.objective), 1e-3 * self.constant) if self.constant < np.inf else 1e-2
        tests = wanderer.run(_WANDERED[self.helped], hot, self.helped)
        tree = wanderer.tree(self.problem, tests, self.budget.remaining)
        if tree is not None:
            self._offer(tree)

    def _part(self, box: Box) -> None:
        """Open a first box; with depth 3, where bounds are dear, only once few enough people are free."""
        people = self.compiled.count[(box.state == FREE)[self.compiled.ranks[box.feature]]].sum()
        if self.ascent.deep and people > _MOST_FREE * self.compiled.count.sum():
            for part in split_root(box, self.compiled):
                self._part(part)
        else:
            self._push(box)

    def _report(self) -> None:
        self.budget.report(max(self.bound, 0.0) * self.unit, self.objective * self.unit)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, box: Box) -> None:
        if box.bound < self.objective - EPSILON:
            heapq.heappush(self.open, (box.bound, next(self.order), box))

    def _warm_up(self, alive: list[np.ndarray]) -> tuple[np.ndarray, float]:
        """Good multipliers and a good tree: climb on the most promising of a few roots a feature."""
        mu, scale = self._shallower() if self.ascent.deep else (np.zeros_like(self.compiled.weight), 1.0)
        tried, climbed, rounds = (3, 3, 1) if self.ascent.deep else (6, 10, 2)
        roots = [
            (feature, left, marks)
            for feature in self.roots
            if self.pairs[feature].any()
            for left in self._sample_roots(feature, tried)
            for marks in alive
        ]
        looks = []
        for number, (feature, left, marks) in enumerate(roots):
            if not self.budget.exhausted:
                reached = self._climb(single_root(feature, left, marks, mu, scale), FIRST)
                looks.append((reached.box.bound, number))
        best = np.inf
        for _ in range(rounds):
            start_mu, start_scale = mu, scale
            for _, number in sorted(looks)[:climbed]:
                if self.budget.exhausted:
                    break
                feature, left, marks = roots[number]
                box = single_root(feature, left, marks, start_mu, start_scale)
                reached = self._climb(box, SHORT if self.ascent.deep else SEARCH)
                if reached.box.bound < best:
                    best, mu, scale = reached.box.bound, reached.box.mu, reached.box.scale
        return mu, scale

    def _shallower(self) -> tuple[np.ndarray, float]:
        """The multipliers that depth 2 starts with, its tree, and a better one by local search."""
        shallow = Engine(self.problem.with_shape(replace(self.problem.shape, max_depth=2)), self.budget, self.tree)
        mu, scale = shallow._warm_up(shallow.alive)
        if shallow.tree is not None:
            self._offer(shallow.tree)
        self.dual_scale = scale
        if self.compiled.n_tests > _FEW_TESTS:
            self._look_about()
        return mu, scale

    def _sample_roots(self, feature: int, tried: int) -> list[np.ndarray]:
        """Cuts at quantiles of the people; for levels, prefixes in the order of their mean outcome."""
        compiled, size = self.compiled, int(self.compiled.sizes[feature])
        ranks = compiled.ranks[feature]
        people = np.bincount(ranks, weights=compiled.count, minlength=size)
        rank_order = np.arange(size)
        if compiled.unordered[feature]:
            outcome = np.bincount(ranks, weights=compiled.count * compiled.levels[compiled.level], minlength=size)
            rank_order = np.argsort(outcome / people, kind="stable")
        reached = np.cumsum(people[rank_order]) / people.sum()
        cuts = np.unique(np.searchsorted(reached, np.arange(1, tried + 1) / (tried + 1)))
        return [np.isin(np.arange(size), rank_order[: min(cut, size - 2) + 1]) for cut in cuts]

    def _climb(self, box: Box, effort: Effort) -> Ascended:
        reached = self.ascent.climb(box, self.pairs[box.feature], self.objective, effort)
        reached = replace(reached, box=self.recorder.climbed(box, reached.box, len(self.open)))
        found = reached.found
        worth = np.inf if effort in (FIRST, SHORT, SEARCH) else _WORTH_POLISHING
        if found is not None and found.objective < worth * self.objective:
            self._solve(box, found.tests, found.leaf)
        return reached

    def _solve(self, box: Box, tests: np.ndarray, leaf: np.ndarray) -> None:
        """Give a tree its best values, and take it if it is better."""
        tree = self.polish.tree(box.feature, box.state == LEFT, tests, leaf, self.budget.remaining)
        if tree is not None:
            self._offer(tree)

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective / self.unit < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective / self.unit
            self._report()

    def _examine(self, box: Box) -> None:
        """Close a box, or replace it by smaller ones; each time it comes up, more is done about it."""
        if box.seen < 2:
            reached = replace(self._raised(box).box, seen=2 if self.ascent.deep else box.seen + 1)
            far = self.ascent.deep or reached.bound < (1 - _PROMISING) * self.objective
            if not (box.has_free and far):
                self._push(reached)  # its turn comes once the others are known too
                return
            box = reached
        if not box.has_free:
            self._prove(box)
        elif box.bound < self.objective - EPSILON:
            for part in split_root(box, self.compiled):
                self._push(replace(part, seen=0))

    def _raised(self, box: Box) -> Ascended:
        """Look at a box that is new; climb in one that is not, and from where the nearest root has got to."""
        if not self.ascent.deep and (box.seen == 0 or box.has_free):
            return self._climb(box, GLANCE if box.seen else LOOK)
        if box.has_free and box.mixture is None:
            # Boxes that still have the first multipliers share their sides, so that a look costs little.
            reached = self._climb(box, LOOK)
            box = reached.box
            if not (1 - DEEP_GLANCE.near) * self.objective < box.bound < self.objective - EPSILON:
                return reached
        near = _nearest(self.climbed, box)
        box = box if near is None else with_multipliers(box, near)
        if self.ascent.deep:
            reached = self._climb(box, DEEP_GLANCE if box.has_free else self._effort(box))
        else:
            reached = self._climb(box, STEADY)
        _keep(self.climbed, box, Proof(reached.box.mu, reached.box.scale, mixture=reached.box.mixture))
        return reached

    def _prove(self, box: Box) -> None:
        """Close a box of one root by splitting what is possible below it; what the budget leaves open goes back."""
        proof = Proof(box.mu, box.scale)
        stack: list[Open] = [Open(_nearest(self.proofs, box), proof, box)]
        for _ in range(_MOST_NODES):
            if not stack or self.budget.exhausted:
                break
            self._branch(stack.pop(), stack)
        for node in stack:
            self._push(node.box)
        if not stack:  # a proof that is not finished is no pattern for others
            _keep(self.proofs, box, proof)

    def _branch(self, node: Open, stack: list[Open]) -> None:
        """Close one node of the proof, or go on with its parts."""
        old, proof, box = node.old, node.proof, node.box
        if old is not None:
            box = with_multipliers(box, old)
        replayed = old is not None and old.split is not None
        reached = self._climb(box, LOOK if replayed else self._effort(box))
        box = reached.box
        proof.mu, proof.scale, proof.mixture = box.mu.astype(np.float32), box.scale, box.mixture
        if box.bound >= self.objective - EPSILON or not box.alive.any(axis=1).all():
            return
        if np.prod(box.alive.sum(axis=1, dtype=float)) <= _LISTED:
            self._list(box)
            if self.budget.exhausted:
                self._push(box)  # its linear programs may have been cut short
            return
        split = old.split if replayed and old is not None else None
        if split is None and self.ascent.deep:
            split = split_below_root(box, reached.chosen, self.compiled.owner)
        if split is None and len(box.caps) < _MOST_CAPS:
            split = reached.split
        proof.split = split or split_tests(box, reached.chosen, self.compiled.owner)
        for number, part in proof.split.parts(box, self.compiled.owner):
            child = proof.children[number] = Proof(proof.mu, proof.scale)
            stack.append(Open(old.children.get(number) if replayed and old is not None else None, child, part))

    def _effort(self, box: Box) -> Effort:
        """How long to climb in a box of one root."""
        if not self.ascent.deep:
            return CLIMB
        return DEEP_LIGHT if tests_below_root(box, self.compiled.owner) else DEEP_CLIMB

    def _list(self, box: Box) -> None:
        """Solve all trees that are left, one by one."""
        from evenleaf.solve.values.oracle import Oracle

        oracle = Oracle(box, self.ascent.scratch)
        none = self.compiled.n_tests
        for options in itertools.product(*(np.flatnonzero(row) for row in box.alive)):
            tests = np.full(6, -1, dtype=np.int64)
            tests[: len(options)] = [-1 if test == none else test for test in options]
            self._solve(box, tests, oracle.leaves(tests).copy())


def _nearest(patterns: Patterns, box: Box) -> Proof | None:
    """What was noted of the most similar root on the same feature, of the last ones."""
    kept = patterns.get(box.feature, [])
    return min(kept, key=lambda entry: abs(entry[0] - _size(box)))[1] if kept else None


def _keep(patterns: Patterns, box: Box, proof: Proof) -> None:
    kept = patterns.setdefault(box.feature, [])
    kept.append((_size(box), proof))
    del kept[:-_PROOFS_KEPT]


def _size(box: Box) -> int:
    """How many ranks go left: where the root stands on its feature."""
    return int((box.state == LEFT).sum())
