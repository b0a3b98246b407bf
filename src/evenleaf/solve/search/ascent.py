"""Raising the bound of a box by better multipliers μ, with the trees met on the way (§2, §9.4).

Any μ ∈ [−1, 1] gives a valid bound, so an ascent may be as rough as it likes; reaching the incumbent is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.solve.proofs.labels import lengthened
from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, Box, Fixing
from evenleaf.solve.search.climb import Ascended, Ground, Steps
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.deep import DeepOracle
from evenleaf.solve.search.limited import LimitedOracle
from evenleaf.solve.search.model import Piece
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.pairs import PairOracle
from evenleaf.solve.search.plan import Oracle
from evenleaf.solve.search.planes import PlaneClimb
from evenleaf.solve.search.resolve import resolve
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.search.sweep import SweepOracle
from evenleaf.solve.search.usage import Supply

__all__ = ["AT_FREE", "CLIMB", "DEEP_GLANCE", "GLANCE", "LOOK", "SEARCH", "Ascended", "Ascent", "Piece"]

LOOK = Effort(1, 1, 0.0)
GLANCE = Effort(12, 3, 0.12)
DEEP_GLANCE = Effort(12, 3, 0.12, near=0.15)
AT_FREE = Effort(40, 6, 0.5, near=0.3)
CLIMB = Effort(60, 6, 0.12)
SEARCH = Effort(40, 6, 0.05)


class Ascent:
    """Climbs in one box after another."""

    def __init__(
        self,
        compiled: Compiled,
        depth: int,
        least_people: int,
        limit: float | None,
        stop: Callable[[], bool],
        supply: Supply | None = None,
    ) -> None:
        self.compiled, self.depth, self.supply = compiled, depth, supply
        # What the evaluation forgives, the bound must forgive too.
        self.limit = None if limit is None else limit + FEASIBILITY_TOLERANCE
        self.scratch = Scratch(compiled, least_people, stop)
        self.ground = Ground(compiled, self.limit, self.scratch)
        # A bound of a deep tree is dear enough to think about where to ask for the next one.
        self.by_planes = depth > MOST_SWEPT_DEPTH and limit is None

    @property
    def steps(self) -> int:
        """How many bounds were asked for."""
        return self.ground.steps

    def stand_on(self, compiled: Compiled) -> None:
        """Go on with more ways to price the rows of the disparity."""
        self.compiled = compiled
        self.ground = Ground(compiled, self.limit, self.scratch, self.steps)

    def climb(
        self,
        box: Box,
        pairs: np.ndarray,
        target: float,
        effort: Effort,
        fixings: tuple[Fixing, ...] = (),
        resolves: bool = False,
        known: tuple[Piece, ...] = (),
        fresh: bool = True,
    ) -> Ascended:
        """Raise the bound of a box towards the target, then drop the roots and cuts it rules out.

        With `resolves`, relaxed subsets of levels are made real, as far as the work allows. `known` are subtrees that
        are there in the box; unless its multipliers are `fresh`, its bound is theirs.
        """
        box = replace(box, mu=lengthened(box.mu, len(self.compiled.weight)))
        oracle = self._oracle(box, pairs)
        if resolves and isinstance(oracle, DeepOracle):
            resolve(oracle)
        if self.by_planes and isinstance(oracle, DeepOracle | LimitedOracle):
            return PlaneClimb(self.ground, box, oracle, fixings, target).run(effort, known, fresh)
        return Steps(self.ground, box, oracle, fixings, target).run(effort)

    def floor(self, mu: np.ndarray, scale: float) -> float:
        """What every tree costs at least, were everybody free to take the cheapest label."""
        c = self.compiled
        mu = lengthened(mu, len(c.weight))
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, c.base, self.scratch.costs)
        least = float(np.minimum(self.scratch.costs.min(axis=1, initial=0.0), 0.0).sum())
        least += scale * float(c.shift @ mu[c.n_rows :, -1])
        return c.constant + least - (0.0 if self.limit is None else scale * self.limit)

    def _oracle(self, box: Box, pairs: np.ndarray) -> Oracle:
        if self.supply is not None:
            return LimitedOracle(box, self.scratch, self.depth - 1, self.supply)
        if self.depth > MOST_SWEPT_DEPTH:
            return DeepOracle(box, self.scratch, self.depth - 1)
        return PairOracle(box, pairs, self.scratch) if box.chooses else SweepOracle(box, pairs, self.scratch)
