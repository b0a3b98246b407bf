"""The exact search: best-first over boxes of roots, which workers share (ALGORITHM §5, §9).

A few boxes are under way at a time, however many workers there are, and each is examined by itself; what comes out is
put together in the order in which they were taken. So the answer is the same for any number of workers.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.helpers import Helpers
from evenleaf.solve.proofs.facets import NO_FACETS, Facets
from evenleaf.solve.proofs.labels import Labels, Region, count_labels, count_nodes
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, Box, Fixing, first_boxes
from evenleaf.solve.search.choosing import Choosing
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.errands import Errand, Examination, Incumbent, Outcome, Wandering
from evenleaf.solve.search.examined import Examined
from evenleaf.solve.search.facets import find_facets
from evenleaf.solve.search.freedom import Freedom
from evenleaf.solve.search.kernels import EPSILON
from evenleaf.solve.search.memory import Memory
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.regions import region_of
from evenleaf.solve.search.warmup import warm_up
from evenleaf.solve.search.worker import Worker, make_worker
from evenleaf.tree import Leaf, Tree

_MOST_FACETS = 2  # for each row of the disparity
_LESS_OFTEN = 1.25
_UNDER_WAY = 8  # boxes at a time, and boxes a round; must not depend on the number of workers
_FIRST_WANDERING, _WORK_A_ROUND = 4, 500_000  # people to look at while wandering
_MUCH = 0.02  # of the incumbent: a root that misses more is hard
_LAST_STEP = 0.004  # of the incumbent: a bound as close as that is raised all the way


@dataclass(frozen=True, eq=False)
class Open:
    """A box that waits, and the list in the certificate that its region will join.

    At a `hard` root deciding labels takes long. `begun` is the tree of labels that raised its bound so far. If it was
    not known to be hard, that is not complete the first time, and the bound is that of the box by itself.
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
        self.choosing = Choosing()
        self.freedom = Freedom(self.compiled, problem.shape.max_depth)
        self.workers = [Worker(problem, self.compiled, budget) for _ in range(budget.threads)]
        self.crew = Crew(len(self.workers), budget.cancel)
        # A shallow box takes too little time to be sent elsewhere.
        n_helpers = budget.threads if problem.shape.max_depth > MOST_SWEPT_DEPTH else 0
        self.helpers = Helpers(n_helpers, budget, partial(make_worker, problem))
        self.tree: Tree | None = None
        self.objective = np.inf
        self.floor = -np.inf  # until the first boxes are open, nothing is known
        self.under_way: deque[tuple[Errand, Open | None]] = deque()
        self.stuck = np.inf  # the lowest bound of a box that cannot be closed
        self.open: list[tuple[float, int, Open]] = []
        self.order = itertools.count()
        self.n_kept = self.n_begun = 0  # nodes of the proof, and of those that hard roots wait with
        self.proofs: dict[tuple[int, tuple[Fixing, ...]], Labels] = {}
        self.polished: frozenset[float] = frozenset()
        self.found: Found | None = None  # the best tree met
        self.facets, self.n_averages, self.next_find = NO_FACETS, 0, 1.0
        self.taken = self.steps = 0  # errands, and bounds asked for
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
        in_hand = min((item.box.bound for _, item in self.under_way if item is not None), default=np.inf)
        return float(min(lowest, in_hand, self.floor, self.stuck, self.objective))

    @property
    def is_unfinished(self) -> bool:
        """Whether there is a box left to examine."""
        return bool(self.open or self.under_way)

    @property
    def words(self) -> str:
        """What was done, for the solution's message."""
        given_up = self.wants_proof and not self.keep_proof
        too_long = "; no certificate: it did not fit into the memory allowed"
        return f"{self.steps:,} bounds" + (too_long if given_up else "")

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        with closing(self.crew), closing(self.helpers):
            self.helpers.call_later()
            self._open_first_boxes()
            with closing(self.crew.stream(self.workers, self._next, _UNDER_WAY, self.helpers)) as outcomes:
                for outcome in outcomes:
                    self._merge(outcome)
                    self._close_ruled_out()
                    if self.taken % _UNDER_WAY == 0:
                        self._report()
            self._report()

    def _report(self) -> None:
        self.budget.report(max(self.bound, 0.0), self.objective)

    def _open_first_boxes(self) -> None:
        self.workers[0].begin(self.tree, self.objective, frozenset())
        self.workers[0].on_better = self._offer
        mu, scale = warm_up(self.workers[0])
        self.workers[0].on_better = None
        self._meet(self.workers[0].found)
        self._use(self.workers[0].facets)
        self.polished |= self.workers[0].polished
        self.steps = self.workers[0].ascent.steps
        # Until every first box has been looked at, this is all that is known.
        floor = self.workers[0].ascent.floor(mu, scale)
        for box in first_boxes(self.compiled, mu, scale, self.problem.shape.max_depth, self.workers[0].walks):
            if self.workers[0].pairs[box.feature].any():
                self._push(replace(box, bound=floor), self.regions)
        self.floor = np.inf
        self._close_ruled_out()

    def _next(self) -> Callable[[Worker], Outcome] | None:
        """What to do next, from the incumbent and the proofs that stand now."""
        if not self.open or self.budget.exhausted or self._good_enough():
            return None
        self.taken += 1
        start = Incumbent(self.tree, self.objective, self.polished)
        item = None if self._is_time_to_wander() else self._take()
        errand = self._wandering(start) if item is None else self._examination(start, item)
        self.under_way.append((errand, item))
        return errand.run

    def _is_time_to_wander(self) -> bool:
        """Whether to look about for better trees: in the rounds 4, 8, 16, …"""
        rounds, rest = divmod(self.taken, _UNDER_WAY)
        shallow = self.problem.shape.max_depth <= MOST_SWEPT_DEPTH  # there, rounds take too little time for that
        return not (shallow or rest or rounds < _FIRST_WANDERING or rounds & (rounds - 1))

    def _wandering(self, start: Incumbent) -> Errand:
        """Look about for as long as the search already takes."""
        return Wandering(start, self.found, _WORK_A_ROUND * (self.taken // _UNDER_WAY), self.taken)

    def _examination(self, start: Incumbent, item: Open) -> Errand:
        if item.begun is not None:
            self.n_begun -= count_labels(item.begun)
        decides = self._decides(item.box)
        proof = item.begun or self._known_proof(item.box)
        return Examination(start, item.box, proof, decides, item.aim(self.objective), self.facets)

    def _decides(self, box: Box) -> bool:
        """Whether to try people's labels before a box is split."""
        if not self.workers[0].is_eager:
            return self.freedom.allows(box, self.objective)
        return not box.has_free or self.choosing.prefers_labels(box.feature)

    def _good_enough(self) -> bool:
        return self.objective - self.bound <= self.budget.gap * abs(self.objective)

    def _push(self, box: Box, regions: list[Region]) -> None:
        self._wait(Open(box, regions, hard=self._is_hard(box)))

    def _is_hard(self, box: Box) -> bool:
        """Whether a single root is so far from closing that its bound is better raised step by step from the start."""
        is_far = box.bound < (1 - _MUCH) * self.objective
        return self.workers[0].is_eager and is_far and not box.has_free

    def _wait(self, item: Open) -> None:
        heapq.heappush(self.open, (item.box.bound, next(self.order), item))

    def _close_ruled_out(self) -> None:
        """Where even the lowest bound meets the incumbent, what each box's bound came from closes it."""
        if not self.open or self.open[0][0] < self.objective - EPSILON:
            return
        for _, _, item in self.open:
            labels = item.begun if item.is_complete else None
            self._keep(region_of(item.box, self.compiled, labels), item.regions)
        self.open = []

    def _keep(self, region: Region, regions: list[Region]) -> None:
        if not self.keep_proof:
            return
        regions.append(region)
        self.n_kept += count_nodes(region)
        if self.memory.too_much(self.n_kept + self.n_begun, len(self.open)):
            self.keep_proof = False
            self.regions.clear()

    def _take(self) -> Open:
        """The lowest box; out of memory, the latest one, so that fewer and fewer wait."""
        if not self.memory.too_much(0, len(self.open)):
            return heapq.heappop(self.open)[2]
        latest = max(range(len(self.open)), key=lambda place: self.open[place][1])
        self.open[latest], self.open[-1] = self.open[-1], self.open[latest]
        item = self.open.pop()[2]
        heapq.heapify(self.open)
        return item

    def _known_proof(self, box: Box) -> Labels | None:
        """The latest tree of labels on the feature, or else on any, that was begun where the box begins."""
        return self.proofs.get((box.feature, box.fixings), self.proofs.get((-1, box.fixings)))

    def _learn_proof(self, box: Box, proof: Labels) -> None:
        self.proofs[box.feature, box.fixings] = self.proofs[-1, box.fixings] = proof

    def _meet(self, found: Found | None) -> None:
        """Keep the best tree met, in the form that wandering starts from."""
        if found is not None and (self.found is None or found.objective < self.found.objective):
            self.found = found

    def _merge(self, outcome: Outcome) -> None:
        """Take over what came of the errand that was begun first."""
        errand, item = self.under_way[0]  # which counts for the bound until all that is left of its box is open
        self.polished |= outcome.polished
        self.steps += outcome.steps
        self._meet(outcome.found)
        if outcome.tree is not None:
            self._offer(outcome.tree)
        if item is not None and outcome.examined is not None:
            self._settle(item, outcome.examined)
            if outcome.average is not None:
                self._find_facets(outcome.average)
            if isinstance(errand, Examination) and not outcome.examined.cut_short:
                self._learn(errand, outcome.examined)
        self.under_way.popleft()

    def _find_facets(self, average: np.ndarray) -> None:
        """Look for better prices where a bound stayed low: the more often that was done, the less often."""
        self.n_averages += 1
        if self.n_averages < self.next_find or len(self.facets) > _MOST_FACETS * len(self.compiled.weight):
            return
        self.next_find = max(self.n_averages + 1, _LESS_OFTEN * self.n_averages)
        self._use(self.facets.and_new(find_facets(self.compiled, average[:, 0], self.objective)))

    def _use(self, facets: Facets) -> None:
        self.facets = facets
        self.memory.grow(len(facets))

    def _learn(self, errand: Examination, examined: Examined) -> None:
        """Find out which boxes are better split, and in which ones people's labels are worth deciding."""
        self.choosing.learn(errand.box, examined, errand.start.objective)
        if errand.decides:
            self.freedom.learn(errand.box, worked=examined.proof is not None)

    def _settle(self, item: Open, examined: Examined) -> None:
        """Close the box, or let what is left of it wait."""
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
