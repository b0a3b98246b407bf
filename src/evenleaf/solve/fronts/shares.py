"""Exactly equal rates where the sizes of the groups have a common divisor: a search for each share they may have.

With D = 0 the same share of every group gets the second label, and it is one of 0, 1/g … 1 (see `lattice.py`). With the
share as one more row that must be met, the bound of each search speaks about its share alone; without, it is that of a
lottery between shares. The searches go on together, the one with the lowest bound first, and share their incumbent.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.engine import EPSILON, Engine
from evenleaf.solve.fronts.lane import make_lane
from evenleaf.solve.fronts.lattice import common_divisor, with_share
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.tree import Leaf, Tree

_MOST_SHARES = 64


class ShareSearch:
    """Several searches as one; a tree that decides everybody alike has the share 0 or 1 and is looked at first."""

    def __init__(self, problem: Problem, budget: Budget, start: Tree | None, keep_proof: bool, divisor: int) -> None:
        self.budget = budget
        self.tree: Tree | None = None
        self.objective = np.inf
        lane = make_lane(problem)
        schema = problem.people.features.schema
        alike = [Tree(schema, problem.target, (Leaf(float(label)),)) for label in range(2)]
        self.crew = Crew(budget.threads, budget.cancel)
        self.whole = Engine(problem, budget, start, False, lane, self.crew)
        self.engines: list[Engine] = []
        for number in range(1, divisor):
            engine = Engine(problem, budget, start, keep_proof, with_share(lane, number / divisor), self.crew)
            engine.stop_with(self.whole.oracle.stop)
            for tree in alike:
                engine.offer(tree)
            engine.on_news = self._news
            self.engines.append(engine)
        self._share()

    @property
    def bound(self) -> float:
        """The lowest of the searches' bounds, or the incumbent."""
        return float(min(self.objective, *(engine.bound for engine in self.engines)))

    @property
    def unfinished(self) -> bool:
        """Whether one of them is."""
        return any(engine.unfinished for engine in self.engines)

    @property
    def examined(self) -> int:
        """Nodes of all of them."""
        return sum(engine.examined for engine in self.engines)

    @property
    def given_up(self) -> bool:
        """Whether the proof is too long."""
        return any(engine.given_up for engine in self.engines)

    def run(self) -> None:
        """Search until nothing is open, or the budget is spent."""
        with clock(self.budget.remaining, self.whole.oracle.stop):
            try:
                self._run()
            except OutOfTime:
                pass
            finally:
                self.crew.close()
                self._share()
        self.budget.report(self.bound, self.objective)

    def _run(self) -> None:
        self._look_at_all_shares()
        mus = np.append(_best_mu(self.whole), 0.0)
        for engine in self.engines:
            if not self.budget.exhausted:
                engine.begin(mus)  # those of neighbouring shares are alike
                mus = _best_mu(engine)
                self._share()
        while not self.budget.exhausted and self.objective - self.bound > self.budget.gap * abs(self.objective):
            waiting = [engine for engine in self.engines if engine.open]
            if not waiting:
                return
            min(waiting, key=lambda engine: engine.bound).advance()
            self._share()

    def _look_at_all_shares(self) -> None:
        """Whatever bounds all trees bounds those of each share."""
        self.whole.on_news = self._news
        self.whole.begin()
        node = self.whole.glance()
        self.whole.offer_quick_tree(node.mus[0])
        self._share()
        for engine in self.engines:
            # A share is closed by its own multipliers, which are written down, and never by these.
            engine.floor = engine.in_hand = max(engine.floor, min(node.bound, self.objective - 2 * EPSILON))

    def _share(self) -> None:
        best = min([self.whole, *self.engines], key=lambda engine: engine.objective)
        if best.objective < self.objective - 1e-12:
            self.tree, self.objective = best.tree, best.objective
        for engine in self.engines:
            engine.adopt(self.tree, self.objective)

    def _news(self) -> None:
        best = min(self.objective, *(engine.objective for engine in [self.whole, *self.engines]))
        self.budget.report(min(self.bound, best), best)

    def proof(self) -> FrontsProof | None:
        """The proofs of all shares, one after the other."""
        proofs = [engine.recorder.proof(engine.top, self.objective - EPSILON) for engine in self.engines]
        tops = [proof.top for proof in proofs if proof is not None]
        return FrontsProof(tops[0], tuple(tops[1:])) if len(tops) == len(proofs) else None


def _best_mu(engine: Engine) -> np.ndarray:
    """Multipliers of the open slot of all trees, or none that pull."""
    return engine.open[0][2].mus[0] if engine.open else np.zeros(engine.lane.n_dimensions)


def find_search(problem: Problem, budget: Budget, start: Tree | None, keep_proof: bool) -> Engine | ShareSearch:
    """One search for each share where only some shares are fair, else one for all trees."""
    divisor = common_divisor(problem)
    if 1 < divisor <= _MOST_SHARES:
        return ShareSearch(problem, budget, start, keep_proof, divisor)
    return Engine(problem, budget, start, keep_proof)
