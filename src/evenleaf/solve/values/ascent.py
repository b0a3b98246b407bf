"""Raising the bound of a box: subgradient steps on the multipliers μ, with the trees met on the way (§2, §9.4).

Depth 3, where a bound is dear, climbs by the planes of the trees met instead (`planes.py`, `deep.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Shape
from evenleaf.solve.search.steps import Effort, Record, step_up
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import Box
from evenleaf.solve.values.caps import with_ghosts
from evenleaf.solve.values.climb import Ascended, Climb, Found, allowance
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.deep import DeepClimb
from evenleaf.solve.values.limits import Coupling
from evenleaf.solve.values.oracle import Scratch, StumpOracle, SubtreeOracle
from evenleaf.solve.values.planes import PlaneClimb
from evenleaf.solve.values.pool import Pool

__all__ = ["Ascended", "Ascent", "Found"]

# Steps are so long that a straight slope would lead a little beyond the target; they grow shorter where none helps.
_FIRST_STEP, _BEYOND, _STALLS, _SHORTER, _LEAST_STEP = 0.4, 0.1, 10, 0.7, 0.005
_COARSE, _DIGITS_WORTH = 128, 0.02  # a power of two, as the grid of the certificate is
_TO_SPARE = 0.002


LOOK = Effort(1, 1, 0.0)
GLANCE = Effort(15, 4, 0.1)
STEADY = Effort(60, 10, 0.1)
CLIMB = Effort(300, 20, 0.15)
FIRST = Effort(1, 2, 0.0)  # a look whose tree is worth having whatever it is
SEARCH = Effort(100, 8, 0.02)
# With depth 3 a bound more is worth it only where the model promises that part of what is missing.
SHORT = Effort(12, 1, 0.02)
DEEP_GLANCE = Effort(3, 1, 0.3, near=0.04)
DEEP_CLIMB = Effort(40, 1, 0.1)
DEEP_LIGHT = Effort(6, 1, 0.15)  # for a box that will be split all the same


class Ascent:
    """Climbs in one box after another; owns the arrays that every climb would else make anew."""

    def __init__(
        self,
        compiled: Compiled,
        shape: Shape,
        limit: float | None,
        stop: Callable[[], bool] = lambda: False,
        coupling: Coupling | None = None,
    ) -> None:
        self.compiled, self.shape, self.stop, self.coupling = compiled, shape, stop, coupling
        # What the evaluation forgives, the bound must forgive too. All in units of the outcome's spread.
        self.limit = None if limit is None else (limit + FEASIBILITY_TOLERANCE) / (compiled.spread or 1.0)
        self.scratch = Scratch(compiled, shape, coupling=coupling)
        self.deep = shape.max_depth >= 3
        self.steps = 0
        self.pools: tuple[Pool, Pool] | None = None  # the subtrees met at the root that is being proven

    def climb(self, box: Box, allowed: np.ndarray, target: float, effort: Effort) -> Ascended:
        """Raise the bound of a box towards the target, then drop the tests that it rules out."""
        if self.deep:
            scratch = self._scratch(box)
            oracle = SubtreeOracle(box, scratch, keeps_sides=effort.steps == 1)
            # Where λ is a multiplier too, the planes live on a cone, and a linear program is asked instead.
            if self.limit is None:
                climb = PlaneClimb(box, oracle, scratch, target, self.limit)
                climb.pools = self.pools
                reached = climb.run(effort, self.stop)
            else:
                reached = DeepClimb(box, oracle, scratch, target, self.limit).run(effort, self.stop)
        else:
            stumps = StumpOracle(box, allowed, self.scratch)
            reached = _Steps(box, stumps, self.scratch, target, self.limit).run(effort)
        self.steps += reached.bounds
        return reached

    def floor(self, mu: np.ndarray, scale: float) -> float:
        """A bound for every tree: everybody at their own cheapest value, without any test to share."""
        c, s = self.compiled, self.scratch
        s.price(mu, scale)
        kernels.free_costs(s.people, s.free)
        return float(s.free.sum()) - allowance(scale, self.limit, c.spread)

    def _scratch(self, box: Box) -> Scratch:
        """The arrays for a box; ghosts make them longer."""
        if not box.caps:
            return self.scratch
        compiled, ghosts = with_ghosts(self.compiled, box.caps, box.scale)
        return Scratch(compiled, self.shape, ghosts, self.coupling)


class _Steps(Climb):
    """An ascent by steps along a running average of the slopes."""

    def run(self, effort: Effort) -> Ascended:
        """Step until the target is reached, the gains run out, or the steps do."""
        mu, scale = self.box.mu.copy(), self.box.scale
        record, aim = Record(mu.copy(), scale, length=_FIRST_STEP), self.target
        direction = np.zeros_like(mu)
        # With something to spare, the same multipliers close the next box too.
        enough = self.target + _TO_SPARE * abs(self.target)
        for count in range(effort.steps):
            value, tests = self.bound(mu, scale)
            record.note(value, mu, scale)
            if value >= (self.target if count == 0 else enough) - kernels.EPSILON:
                break
            if effort.steps > 1 or self.oracle.real:
                self.consider(tests)
            if count + 1 == effort.steps or record.slow(count, effort, enough):
                break
            aim = enough + _BEYOND * (enough - value) if count == 0 else aim
            if record.stalled >= _STALLS:
                record.length, record.stalled = _SHORTER * record.length, 0
                if record.length < _LEAST_STEP:
                    break
            length = record.length * (aim - value)
            limit = None if self.limit is None else self.limit - self.due
            moved, scale = step_up(
                kernels.push, mu, scale, self.compiled.weight, self.differences, limit, direction, length
            )
            if not moved:
                break
        if effort.steps > 1:
            self._coarsen(record)
        return self._finish(record)

    def _coarsen(self, record: Record) -> None:
        """Multipliers with fewer digits, where they do nearly as well: a certificate has to hold them."""
        mu = np.rint(record.mu * _COARSE) / _COARSE
        if np.array_equal(mu, record.mu):
            return
        value, _ = self.bound(mu, record.scale)
        closing = self.target - kernels.EPSILON
        if value >= min(closing, record.best - _DIGITS_WORTH * (self.target - record.best)):
            record.mu[:], record.best = mu, value

    def _finish(self, record: Record) -> Ascended:
        best, mu, scale = record.best, record.mu, record.scale
        box = replace(self.box, mu=mu, scale=scale, bound=max(self.box.bound, best))
        if best < self.target - kernels.EPSILON:
            box = replace(box, alive=self.survivors(mu, scale))
        return Ascended(box, self.trees_met(), self.found, bounds=self.bounds)
