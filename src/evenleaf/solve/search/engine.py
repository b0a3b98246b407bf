"""The exact search: best-first over boxes of roots, in rounds that workers share (ALGORITHM §5, §9).

A round takes the lowest few boxes, however many workers there are, and each box is examined by itself; what comes
out is put together in the order of the boxes. So the answer is the same for any number of workers.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.proofs.labels import Labels, Region, count_nodes
from evenleaf.solve.search.boxes import Box, first_boxes
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.freedom import Freedom
from evenleaf.solve.search.kernels import EPSILON
from evenleaf.solve.search.memory import Memory
from evenleaf.solve.search.warmup import warm_up
from evenleaf.solve.search.worker import Examined, Worker, region_of
from evenleaf.tree import Leaf, Tree

_ROUND = 8  # boxes a round; must not depend on the number of workers


@dataclass(frozen=True, eq=False)
class Open:
    """A box that waits, and the list in the certificate that its region will join."""

    box: Box
    regions: list[Region]


class Engine:
    """One search: the incumbent, the open boxes, and the bound that both give."""

    def __init__(
        self, problem: Problem, budget: Budget, start: Tree | None, keep_proof: bool, memory: float | None
    ) -> None:
        self.problem, self.budget = problem, budget
        self.wants_proof = self.keep_proof = keep_proof
        self.compiled: Compiled = compile_problem(problem)
        self.memory = Memory(self.compiled, memory)
        self.freedom = Freedom(self.compiled, problem.shape.max_depth)
        self.workers = [Worker(problem, self.compiled, budget) for _ in range(budget.threads)]
        self.tree: Tree | None = None
        self.objective = np.inf
        self.in_hand = -np.inf  # until the first boxes are open, nothing is known
        self.stuck = np.inf  # the lowest bound of a box that cannot be closed
        self.open: list[tuple[float, int, Open]] = []
        self.order = itertools.count()
        self.n_kept = 0
        self.proofs: dict[int, Labels] = {}
        self.last_proof: Labels | None = None
        self.polished: set[float] = set()
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
        self.polished |= self.workers[0].polished
        # Until every first box has been looked at, this is all that is known.
        floor = self.workers[0].ascent.floor(mu, scale)
        for box in first_boxes(self.compiled, mu, scale, self.problem.shape.max_depth, self.workers[0].walks):
            if self.workers[0].pairs[box.feature].any():
                self._push(replace(box, bound=floor), self.regions)
        self.in_hand = np.inf
        self._close_ruled_out()
        with _pool(len(self.workers)) as pool:
            while self.open and not self.budget.exhausted and not self._good_enough():
                self._round(pool)
                self._close_ruled_out()
                self.budget.report(max(self.bound, 0.0), self.objective)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, box: Box, regions: list[Region]) -> None:
        heapq.heappush(self.open, (box.bound, next(self.order), Open(box, regions)))

    def _close_ruled_out(self) -> None:
        """Where even the lowest bound meets the incumbent, the multipliers that each box has inherited close it."""
        if not self.open or self.open[0][0] < self.objective - EPSILON:
            return
        for _, _, item in self.open:
            self._keep(region_of(item.box, self.compiled), item.regions)
        self.open = []

    def _keep(self, region: Region, regions: list[Region]) -> None:
        if not self.keep_proof:
            return
        regions.append(region)
        self.n_kept += count_nodes(region)
        if self.memory.too_much(self.n_kept, len(self.open)):
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

    def _round(self, pool: ThreadPoolExecutor | None) -> None:
        """Examine the lowest boxes, each from the incumbent and the proofs that stand at the start of the round."""
        batch = self._take()
        self.in_hand = min(item.box.bound for item in batch)
        proofs = [self.proofs.get(item.box.feature, self.last_proof) for item in batch]
        decides = [self.freedom.allows(item.box, self.objective) for item in batch]
        results: dict[int, tuple[Examined, Tree | None, set[float]]] = {}
        waiting = iter(range(len(batch)))

        def work(worker: Worker) -> None:
            # Whoever is free takes the next box: what comes out does not depend on who examined it.
            for position in waiting:
                worker.begin(self.tree, self.objective, self.polished)
                examined = worker.examine(batch[position].box, proofs[position], decides[position])
                results[position] = examined, worker.tree, worker.polished

        if pool is None:
            work(self.workers[0])
        else:
            list(pool.map(work, self.workers))
        outcomes = [results[position] for position in range(len(batch))]
        for item, tried, (examined, tree, polished) in zip(batch, decides, outcomes, strict=True):
            self._merge(item, examined, tree, polished)
            if tried and not examined.cut_short:
                self.freedom.learn(item.box, worked=examined.proof is not None)
        self.in_hand = np.inf

    def _merge(self, item: Open, examined: Examined, tree: Tree | None, polished: set[float]) -> None:
        self.polished |= polished
        if tree is not None:
            self._offer(tree)
        if examined.stuck:
            self.stuck = min(self.stuck, item.box.bound)
            return
        if examined.cut_short:
            self._push(item.box, item.regions)
            return
        self._keep(examined.region, item.regions)
        for box in examined.boxes:
            self._push(box, examined.region.parts)
        if examined.proof is not None:
            self.proofs[item.box.feature] = self.last_proof = examined.proof

    def _offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        if tree is self.tree:
            return
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.budget.report(max(min(self.bound, score.objective), 0.0), score.objective)


@contextmanager
def _pool(n_workers: int) -> Iterator[ThreadPoolExecutor | None]:
    """Threads, as the kernels do not hold the interpreter's lock; none where one worker is all there is."""
    if n_workers == 1:
        yield None
        return
    with ThreadPoolExecutor(n_workers) as pool:
        yield pool
