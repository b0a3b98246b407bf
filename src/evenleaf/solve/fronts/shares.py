"""Exactly equal rates where the sizes of the groups have a common divisor: a search for each share they may have.

With D = 0 the same share of every group gets the second label, and it is one of 0, 1/g … 1 (see `lattice.py`). With the
share as one more row that must be met, the bound of each search speaks about its share alone; without, it is that of a
lottery between shares. The searches go on together, the one with the lowest bound first, and share their incumbent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.crew import Crew
from evenleaf.solve.fronts.answers import OutOfTime
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.engine import MOST_SHALLOW, Engine, to_depth
from evenleaf.solve.fronts.examined import Incumbent
from evenleaf.solve.fronts.lane import Lane, make_lane
from evenleaf.solve.fronts.lattice import common_divisor, with_share
from evenleaf.solve.fronts.one_share import ShareEngine
from evenleaf.solve.fronts.planes import Cheap, Planes
from evenleaf.solve.fronts.shown import Look, Shown
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.tree import Tree

_MOST_SHARES = 64
_TRIED = 3  # shares for which a good tree is looked for before their trees are parted


class ShareSearch:
    """Several searches as one; a tree that decides everybody alike has the share 0 or 1 and is looked at first."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        start: Tree | None,
        keep_proof: bool,
        divisor: int,
        lane: Lane | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.problem, self.budget, self.divisor = problem, budget, divisor
        self.quiet = False
        self.best, self.shown = Incumbent(), Shown()
        lane = make_lane(problem) if lane is None else lane
        self.crew = Crew(budget.threads, budget.cancel) if crew is None else crew
        self.whole = Engine(problem, budget, start, False, lane, self.crew)  # it knows trees that decide all alike
        self.engines: list[ShareEngine] = []
        for number in range(1, divisor):
            engine = ShareEngine(problem, budget, None, keep_proof, with_share(lane, number / divisor), self.crew)
            engine.stop_with(self.whole.oracle.stop)
            engine.on_news = self.news
            engine.see(self.shown)
            self.engines.append(engine)
        self._share()

    @property
    def tree(self) -> Tree | None:
        """The best tree known."""
        return self.best.tree

    @tree.setter
    def tree(self, tree: Tree) -> None:
        self.best = replace(self.best, tree=tree)

    @property
    def objective(self) -> float:
        """What it is worth."""
        return self.best.objective

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
                self._look_for_shallow_tree()
                self._run(np.inf)
            except OutOfTime:
                pass
            finally:
                self.crew.close()
                self._share()
        self.budget.report(self.bound, self.objective)

    def _look_for_shallow_tree(self) -> None:
        """Begin with the best tree of depth 2, or a good one."""
        if self.whole.depth <= 2:
            return
        problem, lane = to_depth(self.problem, 2), self.whole.lane
        below = ShareSearch(problem, self.budget, None, False, self.divisor, lane, self.crew)
        below.quiet = True  # its bound is not about deeper trees
        below.stop_with(self.whole.oracle.stop)
        try:
            below._run(MOST_SHALLOW * len(self.engines))
        finally:
            self.whole.adopt(below.best)
            self._share()

    def stop_with(self, stop: np.ndarray) -> None:
        """Stop long kernels when another search is told to."""
        for engine in (self.whole, *self.engines):
            engine.stop_with(stop)

    def _run(self, most: float) -> None:
        """Search until so many nodes are examined."""
        self.begin()
        while not self.budget.exhausted and self.objective - self.bound > self.budget.gap * abs(self.objective):
            waiting = [engine for engine in self.engines if engine.open]
            if not waiting or self.examined >= most:
                return
            min(waiting, key=lambda engine: engine.bound).advance()
            self._share()

    def begin(self) -> None:
        """Open all searches but those whose share the multipliers of another one rule out.

        At given multipliers the same tree is the cheapest for every share, and its price falls or rises with the share.
        So what rules a share out rules out all that are further away, and searches near the cheapest tree's begin.
        """
        self.whole.on_news = self.news
        if self.whole.depth > 2:
            self._look_for_any_share()
            self._look_at_free_people()
            self._begin_deep()
            return
        planes = Planes(self.engines[0].hand, self.engines[0].share, self.whole.hand)
        cheap = planes.highest(None, np.zeros(self.engines[0].lane.n_dimensions))
        self.whole.offer_quick_tree(cheap.mu[:-1])
        self._share()
        self._look_at_free_people()
        self._begin_shallow(planes, cheap)

    def _look_for_any_share(self) -> None:
        """Good trees and multipliers, whatever the share."""
        self.whole.begin(alone=False)
        self.whole.offer_quick_tree(_best_mu(self.whole))
        self._share()

    def _begin_shallow(self, planes: Planes, cheap: Cheap) -> None:
        """Open searches from the share of a cheap tree outwards."""
        mu = cheap.mu
        for engine in sorted(self.engines, key=lambda engine: abs(engine.share - cheap.share)):
            if self.budget.exhausted:
                return
            if self._ruled_out(engine):
                continue
            mu = planes.highest(engine.share, mu).mu  # multipliers of neighbouring shares are alike
            engine.begin_at(mu)
            if engine.open:
                self.shown.add(engine.look(), engine.lane)
            self._share()

    def _ruled_out(self, engine: ShareEngine) -> bool:
        """Whether what is known of all trees is enough for a share."""
        known = self.shown.best(engine.top, engine.lane)
        if known is None or known.bound < engine.better:
            return False
        engine.open = []
        engine.close(known.bound, known.mu)
        return True

    def _begin_deep(self) -> None:
        """Open searches at multipliers from trees that are soon looked at, and look at the parts of all trees once.

        Shares whose trees cost least come first, because what is seen there rules out most of the others.
        """
        mu, cheap = np.append(_best_mu(self.whole), 0.0), list[tuple[float, int, ShareEngine, Cheap]]()
        planes = Planes(self.engines[0].hand, self.engines[0].share)
        for engine in [engine for engine in self.engines if not self._ruled_out(engine)]:
            if self.budget.exhausted:
                return
            found = planes.highest(engine.share, mu)
            cheap.append((found.cost, len(cheap), engine, found))
            mu = found.mu  # multipliers of neighbouring shares are alike
        cheap.sort(key=lambda entry: entry[:2])
        for number, (_, _, engine, found) in enumerate(cheap):
            found = engine.sharpened(found) if number < _TRIED else found
            engine.begin_at(found.mu)
            self._share()
            cheap[number] = found.cost, number, engine, found
        for _, _, engine, found in cheap:
            if not self._ruled_out(engine):
                while engine.fresh and not self.budget.exhausted:
                    engine.advance()
                    self._share()
                self._learn_of_all_trees(engine, found.mu)
                engine.dive()
                self._share()
                engine.scout()

    def _look_at_free_people(self) -> None:
        """A share of people is far from that of the second class: whoever is decided as they like, some are wrong."""
        engine = self.engines[0]
        for pull in (-1.0, 1.0):
            mu = np.append(np.zeros(engine.lane.n_dimensions - 1), pull)
            prices = engine.lane.prices(mu[None, :])
            free = engine.oracle.free(np.arange(len(prices)), prices)[0]
            bound = engine.lane.offset[0] + mu @ engine.lane.offset[1:] - engine.lane.allowance(mu) + free
            self.shown.add(Look(engine.top, mu, float(bound)), engine.lane)

    def _learn_of_all_trees(self, engine: ShareEngine, mu: np.ndarray) -> None:
        """What the first look at every part shows of all trees, for any share."""
        lowest = self.shown.lowest(engine.first_parts, mu)
        if lowest is None:
            return
        self.shown.add(Look(engine.top, mu, lowest + float(mu[-1] * engine.lane.offset[-1])), engine.lane)
        for other in self.engines:
            known = self.shown.best(other.top, other.lane)
            if known is not None:
                other.know_of_all_trees(known)

    def _share(self) -> None:
        best = min([self.whole, *self.engines], key=lambda engine: engine.objective)
        if best.objective < self.objective - 1e-12:
            self.best = best.best
        for engine in self.engines:
            engine.adopt(self.best)

    def news(self) -> None:
        """Tell what is known by now."""
        if self.quiet:
            return
        best = min(self.objective, *(engine.objective for engine in [self.whole, *self.engines]))
        self.budget.report(min(self.bound, best), best)

    def proof(self) -> FrontsProof | None:
        """The proofs of all shares, one after the other."""
        proofs = [engine.recorder.proof(engine.top, engine.better) for engine in self.engines]
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
