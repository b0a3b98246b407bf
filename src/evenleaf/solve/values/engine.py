"""The exact search for regression: best-first over boxes of roots, in rounds that workers share.

The bound, the ascent and the boxes are those of ALGORITHM §9; a leaf's label is replaced by its value, which is free
within the label range. As for classes, a round takes the lowest few boxes, however many workers there are, and what
comes out is put together in the order of the boxes: the answer is the same for any number of workers.
"""

from __future__ import annotations

import heapq
import itertools
from contextlib import closing
from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.local import LocalSearch
from evenleaf.solve.values.boxes import FREE, Box, first_boxes, split_root
from evenleaf.solve.values.compiled import Compiled, compile_values
from evenleaf.solve.values.kernels import EPSILON
from evenleaf.solve.values.limits import possible_tests
from evenleaf.solve.values.patterns import Patterns
from evenleaf.solve.values.recorder import Recorder
from evenleaf.solve.values.wander import Wanderer
from evenleaf.solve.values.warmup import Multipliers, warm_up
from evenleaf.solve.values.worker import Examined, Worker
from evenleaf.tree import Leaf, Tree

_ROUND = 4  # boxes a round; must not depend on the number of workers
_MOST_FREE = 0.25  # of the people: with depth 3, boxes with more are not worth a bound
_HARD = (4_000, 40_000)  # bounds after which a local search is worth its time, and then a longer one
_PATIENCE = (4, 12)
_HARD_DEEP = (400, 2_100)  # the same with depth 3, where a bound is dearer
_WANDERERS = 2
_WANDERED = (5_000, 40_000, 100_000)  # steps of each annealing: at first, and then at each of these times
_HOT = 0.2  # of what a tree gains on a constant
_FEW_TESTS = 50  # where there are no more, a local search is not worth its time


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
        self.deep = shape.max_depth >= 3
        self.crew = Crew(budget.threads, budget.cancel)
        self.workers = [Worker(problem, self.compiled, budget, self.recorder) for _ in range(budget.threads)]
        testing = shape.max_depth > 0 and shape.max_features_per_test != 0 and shape.max_leaves != 1
        self.alive = possible_tests(shape, self.compiled) if testing and self.compiled.spread > 0 else []
        self.tree: Tree | None = None
        self.objective = np.inf
        self.in_hand = -np.inf  # until the first boxes are open, nothing is known
        self.open: list[tuple[float, int, Box]] = []
        self.order = itertools.count()
        self.climbed, self.proofs = Patterns(), Patterns()
        self.helped = 0
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
        return f"{self._n_bounds:,} bounds" + self.recorder.words

    @property
    def _n_bounds(self) -> int:
        return sum(worker.ascent.steps for worker in self.workers)

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        with closing(self.crew):
            self._open_first_boxes()
            self.recorder.begin()
            while self.open and not self.budget.exhausted and not self._good_enough():
                self._look_about_where_it_is_hard()
                self._round()
                if self.open and self.open[0][0] >= self.objective - EPSILON:
                    self.open = []
                self._report()

    def _open_first_boxes(self) -> None:
        if self.alive:
            mu, scale = self._warm_up()
            first = self.workers[0]
            first.ascent.scratch.forget()
            # A certificate needs a climb in every box, so that none may be ruled out before it was looked at.
            floor = first.ascent.floor(mu, scale) if self.deep and not self.recorder.wanted else -np.inf
            for box in itertools.chain(*(first_boxes(self.compiled, marks, mu, scale) for marks in self.alive)):
                if first.pairs[box.feature].any():
                    self._part(replace(box, bound=floor))
        self.in_hand = np.inf

    def _round(self) -> None:
        """Examine the lowest boxes, each from the incumbent and the patterns that stand at the start of the round."""
        batch = self._take()
        self.in_hand = min((box.bound for box in batch), default=np.inf)

        def work(worker: Worker, box: Box) -> tuple[Examined, Tree | None]:
            # What comes out does not depend on who examined it.
            worker.begin(self.tree, self.objective, self.climbed, self.proofs)
            return worker.examine(box), worker.tree

        for examined, tree in self.crew.share(work, self.workers, batch):
            self._merge(examined, tree)
        self.in_hand = np.inf

    def _take(self) -> list[Box]:
        """The lowest boxes; of a feature without any proof yet only one root, whose proof is the others' pattern."""
        taken: list[Box] = []
        later, begun = [], set()
        while self.open and len(taken) < _ROUND:
            entry = heapq.heappop(self.open)
            box = entry[2]
            if box.bound >= self.objective - EPSILON:
                continue
            is_new = self.deep and not box.has_free and box.feature not in self.proofs
            if is_new and box.feature in begun:
                later.append(entry)
                continue
            if is_new:
                begun.add(box.feature)
            taken.append(box)
        for entry in later:
            heapq.heappush(self.open, entry)
        return taken

    def _merge(self, examined: Examined, tree: Tree | None) -> None:
        if tree is not None and tree is not self.tree:
            self._offer(tree)
        for box in examined.boxes:
            self._push(box)
        for box, proof in examined.climbed:
            self.climbed.keep(box, proof)
        for box, proof in examined.proofs:
            self.proofs.keep(box, proof)
        self.recorder.keep(examined.notes, len(self.open))

    def _look_about_where_it_is_hard(self) -> None:
        hard = _HARD_DEEP if self.deep else _HARD
        if self.helped < len(hard) and self._n_bounds > hard[self.helped]:
            self.helped += 1
            self._look_about()

    def _look_about(self) -> None:
        """Where the first trees leave much to do, a local search finds better ones sooner than the boxes would."""
        limited = self.problem.shape.min_samples_leaf > 1 or len(self.alive) > 1 or self.workers[0].coupling.limited
        if self.deep and not limited:
            self._wander()
            return
        found = LocalSearch(_PATIENCE[max(0, self.helped - 1)]).solve(self.problem, self.budget, self.tree)
        if found.tree is not None:
            self._offer(found.tree)

    def _wander(self) -> None:
        """Anneal; trees that are limited in other ways than the depth are left to the local search."""
        hot = max(_HOT * (self.constant - self.objective), 1e-3 * self.constant) if self.constant < np.inf else 1e-2

        def wander(seed: int) -> Tree | None:
            wanderer = Wanderer(self.compiled, self.dual_scale)
            tests = wanderer.run(_WANDERED[self.helped], hot, seed, lambda: self.budget.exhausted)
            return wanderer.tree(self.problem, tests, self.budget.remaining)

        seeds = range(_WANDERERS * self.helped, _WANDERERS * (self.helped + 1))
        for tree in self.crew.each(wander, seeds):
            if tree is not None:
                self._offer(tree)

    def _part(self, box: Box) -> None:
        """Open a first box; with depth 3, where bounds are dear, only once few enough people are free."""
        people = self.compiled.count[(box.state == FREE)[self.compiled.ranks[box.feature]]].sum()
        if self.deep and people > _MOST_FREE * self.compiled.count.sum():
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

    def _warm_up(self) -> Multipliers:
        """Good multipliers and a good tree; with depth 3, from those of depth 2."""
        start = self._shallower() if self.deep else (np.zeros_like(self.compiled.weight), 1.0)
        worker = self.workers[0]
        worker.begin(self.tree, self.objective, self.climbed, self.proofs)
        found = warm_up(worker, self.alive, start)
        if worker.tree is not None:
            self._offer(worker.tree)
        return found

    def _shallower(self) -> Multipliers:
        """The multipliers that depth 2 starts with, its tree, and a better one by local search."""
        shallow = Engine(self.problem.with_shape(replace(self.problem.shape, max_depth=2)), self.budget, self.tree)
        mu, scale = shallow._warm_up()
        if shallow.tree is not None:
            self._offer(shallow.tree)
        self.dual_scale = scale
        if self.compiled.n_tests > _FEW_TESTS:
            self._look_about()
        return mu, scale

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective / self.unit < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective / self.unit
            self._report()
