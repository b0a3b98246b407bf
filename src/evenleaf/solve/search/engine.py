"""The exact search: best-first over boxes of roots, in rounds that workers share (ALGORITHM §5, §9).

A round takes the lowest few boxes, however many workers there are, and each box is examined by itself; what comes
out is put together in the order of the boxes. So the answer is the same for any number of workers.
"""

from __future__ import annotations

import heapq
import itertools
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.proofs.labels import Labels, Region, count_labels, count_nodes
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, Box, Fixing, first_boxes
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.freedom import Freedom
from evenleaf.solve.search.kernels import EPSILON
from evenleaf.solve.search.memory import Memory
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.warmup import warm_up
from evenleaf.solve.search.worker import Examined, Worker, region_of
from evenleaf.tree import Leaf, Tree

_ROUND = 8  # boxes a round; must not depend on the number of workers
_FIRST_WANDERING, _WORK_A_ROUND = 4, 500_000  # people to look at while wandering
_LAST_STEP = 0.004  # of the incumbent: a bound as close as that is raised all the way


@dataclass(frozen=True, eq=False)
class Open:
    """A box that waits, and the list in the certificate that its region will join.

    At a `hard` root deciding labels takes long. `begun` is the tree of labels that raised its bound so far; the first
    time it is not complete, and the bound is that of the box by itself.
    """

    box: Box
    regions: list[Region]
    hard: bool = False
    begun: Labels | None = None
    is_complete: bool = False

    def aim(self, objective: float) -> float | None:
        """How far to raise the bound next: half of what is missing, so that no box keeps all others waiting."""
        if not self.hard:
            return None
        missing = objective - self.box.bound
        return objective if missing < _LAST_STEP * abs(objective) else objective - missing / 2


class Engine:
    """One search: the incumbent, the open boxes, and the bound that both give."""

    def __init__(
        self, problem: Problem, budget: Budget, start: Tree | None, keep_proof: bool, memory: float | None
    ) -> None:
        self.problem, self.budget = problem, budget
        self.wants_proof = self.keep_proof = keep_proof
        self.compiled: Compiled = compile_problem(problem)
        self.memory = Memory(self.compiled, memory, deep=problem.shape.max_depth > MOST_SWEPT_DEPTH)
        self.freedom = Freedom(self.compiled, problem.shape.max_depth)
        self.workers = [Worker(problem, self.compiled, budget) for _ in range(budget.threads)]
        self.crew = Crew(len(self.workers), budget.cancel)
        self.tree: Tree | None = None
        self.objective = np.inf
        self.in_hand = -np.inf  # until the first boxes are open, nothing is known
        self.stuck = np.inf  # the lowest bound of a box that cannot be closed
        self.open: list[tuple[float, int, Open]] = []
        self.order = itertools.count()
        self.n_kept = self.n_begun = 0  # nodes of the proof, and of those that hard roots wait with
        self.proofs: dict[tuple[int, tuple[Fixing, ...]], Labels] = {}
        self.polished: set[float] = set()
        self.found: Found | None = None  # the best tree met
        self.rounds = 0
        self.regions: list[Region] = []
        schema = problem.people.features.schema
        for label in range(self.compiled.n_labels + 1):
            self._offer(Tree(schema, problem.target, (Leaf(float(label)),)))
        if start is not None:
            self._offer(start)

    @property
    def bound(self) -> float:
        """A valid lower bound at any moment: the lowest open box, or the incumbent."""
        lowest = self.open[0][0] if self.open else np.inf
        return float(min(lowest, self.in_hand, self.stuck, self.objective))

    @property
    def words(self) -> str:
        """What was done, for the solution's message."""
        steps = sum(worker.ascent.steps for worker in self.workers)
        given_up = self.wants_proof and not self.keep_proof
        return f"{steps:,} bounds" + ("; no certificate: it did not fit into the memory allowed" if given_up else "")

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        self.workers[0].begin(self.tree, self.objective, frozenset())
        self.workers[0].on_better = self._offer
        mu, scale = warm_up(self.workers[0])
        self.workers[0].on_better = None
        self._meet(self.workers[0].found)
        self.polished |= self.workers[0].polished
        # Until every first box has been looked at, this is all that is known.
        floor = self.workers[0].ascent.floor(mu, scale)
        for box in first_boxes(self.compiled, mu, scale, self.problem.shape.max_depth, self.workers[0].walks):
            if self.workers[0].pairs[box.feature].any():
                self._push(replace(box, bound=floor), self.regions)
        self.in_hand = np.inf
        self._close_ruled_out()
        with closing(self.crew):
            while self.open and not self.budget.exhausted and not self._good_enough():
                self._round()
                self._wander()
                self._close_ruled_out()
                self.budget.report(max(self.bound, 0.0), self.objective)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, box: Box, regions: list[Region]) -> None:
        self._wait(Open(box, regions))

    def _wait(self, item: Open) -> None:
        heapq.heappush(self.open, (item.box.bound, next(self.order), item))

    def _close_ruled_out(self) -> None:
        """Where even the lowest bound meets the incumbent, what each box's bound came from closes it."""
        if not self.open or self.open[0][0] < self.objective - EPSILON:
            return
        for _, _, item in self.open:
            region = region_of(item.box, self.compiled)
            region.labels = item.begun if item.is_complete else None
            self._keep(region, item.regions)
        self.open = []

    def _keep(self, region: Region, regions: list[Region]) -> None:
        if not self.keep_proof:
            return
        regions.append(region)
        self.n_kept += count_nodes(region)
        if self.memory.too_much(self.n_kept + self.n_begun, len(self.open)):
            self.keep_proof = False
            self.regions.clear()

    def _take(self) -> list[Open]:
        """The lowest boxes; out of memory, the latest ones, so that fewer and fewer wait."""
        if self.memory.too_much(0, len(self.open)):
            self.open.sort(key=lambda entry: entry[1])
            taken = [self.open.pop()[2] for _ in range(min(_ROUND, len(self.open)))]
            heapq.heapify(self.open)
            return taken
        return [heapq.heappop(self.open)[2] for _ in range(min(_ROUND, len(self.open)))]

    def _round(self) -> None:
        """Examine the lowest boxes, each from the incumbent and the proofs that stand at the start of the round."""
        batch = self._take()
        self.n_begun -= sum(count_labels(item.begun) for item in batch if item.begun is not None)
        self.in_hand = min(item.box.bound for item in batch)
        proofs = [item.begun or self._known_proof(item.box) for item in batch]
        decides = [self.workers[0].is_eager or self.freedom.allows(item.box, self.objective) for item in batch]
        aims = [item.aim(self.objective) for item in batch]

        def work(worker: Worker, k: int) -> tuple[Examined, Tree | None, Found | None, set[float]]:
            # What comes out does not depend on who examined it.
            worker.begin(self.tree, self.objective, self.polished)
            examined = worker.examine(batch[k].box, proofs[k], decides[k], aims[k])
            return examined, worker.tree, worker.found, worker.polished

        outcomes = self.crew.share(work, self.workers, range(len(batch)))
        for item, tried, (examined, tree, found, polished) in zip(batch, decides, outcomes, strict=True):
            self._merge(item, examined, tree, polished)
            self._meet(found)
            if tried and not examined.cut_short:
                self.freedom.learn(item.box, worked=examined.proof is not None)
        self.in_hand = np.inf

    def _known_proof(self, box: Box) -> Labels | None:
        """The latest tree of labels on the feature, or else on any, that was begun where the box begins."""
        return self.proofs.get((box.feature, box.fixings), self.proofs.get((-1, box.fixings)))

    def _learn_proof(self, box: Box, proof: Labels) -> None:
        self.proofs[box.feature, box.fixings] = self.proofs[-1, box.fixings] = proof

    def _meet(self, found: Found | None) -> None:
        """Keep the best tree met, in the form that wandering starts from."""
        if found is not None and (self.found is None or found.objective < self.found.objective):
            self.found = found

    def _wander(self) -> None:
        """Look about for better trees, in the rounds 4, 8, 16, …, for as long as the search already takes."""
        self.rounds += 1
        shallow = self.problem.shape.max_depth <= MOST_SWEPT_DEPTH  # there, rounds take too little time for that
        if shallow or self.rounds < _FIRST_WANDERING or self.rounds & (self.rounds - 1):
            return
        worker = self.workers[0]
        worker.begin(self.tree, self.objective, self.polished)
        worker.found = self.found
        worker.wander(_WORK_A_ROUND * self.rounds)
        self._meet(worker.found)
        if worker.tree is not None:
            self._offer(worker.tree)

    def _merge(self, item: Open, examined: Examined, tree: Tree | None, polished: set[float]) -> None:
        self.polished |= polished
        if tree is not None:
            self._offer(tree)
        if examined.stuck:
            self.stuck = min(self.stuck, item.box.bound)
            return
        if examined.cut_short:
            self._wait(item)
            return
        if examined.unfinished and examined.proof is not None:
            self._go_on_later(item, examined.boxes[0], examined.proof)
            return
        self._keep(examined.region, item.regions)
        for box in examined.boxes:
            self._push(box, examined.region.parts)
        for box, regions in examined.below:
            self._push(box, regions)
        if examined.proof is not None:
            self._learn_proof(item.box, examined.proof)

    def _go_on_later(self, item: Open, box: Box, begun: Labels) -> None:
        """Let a hard root wait with its tree of labels, or, out of memory, with its bound alone."""
        self._learn_proof(box, begun)
        n_nodes = count_labels(begun)
        if self.memory.too_much(self.n_kept + self.n_begun + n_nodes, len(self.open)):
            self.keep_proof = False
            self.regions.clear()
            self._wait(Open(box, item.regions, hard=True))
            return
        self.n_begun += n_nodes
        self._wait(Open(box, item.regions, hard=True, begun=begun, is_complete=item.hard))

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        if tree is self.tree:
            return
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.budget.report(max(min(self.bound, score.objective), 0.0), score.objective)
