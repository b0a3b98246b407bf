"""Raising the bound of a box: subgradient steps on the multipliers μ, with the trees met on the way (§2, §9.4).

Any μ ∈ [−1, 1] gives a valid bound, so the steps may be as rough as they like; reaching the incumbent is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Shape
from evenleaf.solve.proofs.values import GRID
from evenleaf.solve.search.steps import Effort, Record
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import Box
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.oracle import Scratch, StumpOracle, SubtreeOracle

# Steps are so long that a straight slope would lead a little beyond the target; they grow shorter where none helps.
_FIRST_STEP, _BEYOND, _STALLS, _SHORTER, _LEAST_STEP = 0.4, 0.1, (10, 3), 0.7, 0.005
_WORTH_DROPPING = 0.1
_COARSE, _DIGITS_WORTH = 128, 0.02  # a power of two, as the grid of the certificate is
_TO_SPARE = 0.002
_CHEAP_STEPS = 12


LOOK = Effort(1, 1, 0.0)
GLANCE = Effort(15, 4, 0.1)
STEADY = Effort(60, 10, 0.1)
CLIMB = Effort(300, 20, 0.15)
ROUND = Effort(10, 5, 0.1)  # with depth 3: what it rules out makes the next round cheaper
FIRST = Effort(1, 2, 0.0)  # a look whose tree is worth having whatever it is
SHORT = Effort(15, 8, 0.02)
SEARCH = Effort(100, 8, 0.02)


@dataclass(frozen=True, eq=False)
class Found:
    """A tree met on the way: everybody's leaf, its root and its tests, and its objective with values as they were."""

    feature: int
    state: np.ndarray
    tests: np.ndarray
    leaf: np.ndarray
    objective: float


@dataclass(frozen=True, eq=False)
class Ascended:
    """What an ascent reached: the box with its new bound and fewer tests, and the trees that it wavered between."""

    box: Box
    chosen: np.ndarray  # the tests of the trees met, one row each
    found: Found | None


class Ascent:
    """Climbs in one box after another; owns the arrays that every climb would else make anew."""

    def __init__(self, compiled: Compiled, shape: Shape, limit: float | None) -> None:
        self.compiled = compiled
        # What the evaluation forgives, the bound must forgive too. All in units of the outcome's spread.
        self.limit = None if limit is None else (limit + FEASIBILITY_TOLERANCE) / (compiled.spread or 1.0)
        self.scratch = Scratch(compiled, shape)
        self.deep = shape.max_depth >= 3
        self.differences = np.zeros_like(compiled.weight)
        self.steps = 0

    def climb(self, box: Box, allowed: np.ndarray, target: float, effort: Effort) -> Ascended:
        """Raise the bound of a box towards the target, then drop the tests that it rules out."""
        oracle = (SubtreeOracle if self.deep else StumpOracle)(box, allowed, self.scratch)
        return _Climb(self, box, oracle, target).run(effort)


class _Climb:
    """One ascent: the state that its steps share."""

    def __init__(self, ascent: Ascent, box: Box, oracle: StumpOracle | SubtreeOracle, target: float) -> None:
        self.ascent, self.box, self.oracle, self.target = ascent, box, oracle, target
        self.compiled = ascent.compiled
        self.found: Found | None = None
        self.chosen: list[np.ndarray] = []

    def run(self, effort: Effort) -> Ascended:
        """Step until the target is reached, the gains run out, or the steps do."""
        mu, scale = self.box.mu.copy(), self.box.scale
        record, aim = Record(mu.copy(), scale, length=_FIRST_STEP), self.target
        direction = np.zeros_like(mu)
        # With something to spare, the same multipliers close the next box too.
        enough = self.target + (0.0 if self.ascent.deep else _TO_SPARE * abs(self.target))
        for count in range(effort.steps):
            value, tests = self._bound(mu, scale)
            record.note(value, mu, scale)
            if value >= (self.target if count == 0 else enough) - kernels.EPSILON:
                break
            if effort.steps > 1 or self.oracle.real:
                self._consider(tests)
            if count + 1 == effort.steps or record.slow(count, effort, enough):
                break
            aim = enough + _BEYOND * (enough - value) if count == 0 else aim
            if record.stalled >= _STALLS[self.ascent.deep]:
                record.length, record.stalled = _SHORTER * record.length, 0
                if record.length < _LEAST_STEP:
                    break
            moved, scale = self._step(mu, scale, direction, record.length * (aim - value))
            if not moved:
                break
            if self.ascent.deep:
                scale = self._cheap_steps(mu, scale, direction, aim, record.length)
        if effort.steps > 1:
            self._coarsen(record)
        return self._finish(record)

    def _coarsen(self, record: Record) -> None:
        """Multipliers with fewer digits, where they do nearly as well: a certificate has to hold them."""
        mu = np.rint(record.mu * _COARSE) / _COARSE
        if self.ascent.deep or np.array_equal(mu, record.mu):
            return
        value, _ = self._bound(mu, record.scale)
        closing = self.target - kernels.EPSILON
        if value >= min(closing, record.best - _DIGITS_WORTH * (self.target - record.best)):
            record.mu[:], record.best = mu, value

    def _cheap_steps(self, mu: np.ndarray, scale: float, direction: np.ndarray, aim: float, length: float) -> float:
        """A few steps with few child tests: what they reach is no bound, but better multipliers for the next one."""
        whole, few = self.oracle, self.oracle.narrowed() if isinstance(self.oracle, SubtreeOracle) else None
        if few is None:
            return scale
        self.oracle = few
        for _ in range(_CHEAP_STEPS):
            value, tests = self._bound(mu, scale, np.inf)
            if value >= aim - kernels.EPSILON:
                break
            self._consider(tests)
            moved, scale = self._step(mu, scale, direction, length * (aim - value))
            if not moved:
                break
        self.oracle = whole
        return scale

    def _bound(self, mu: np.ndarray, scale: float, target: float | None = None) -> tuple[float, np.ndarray]:
        """The cheapest tree of the box at these multipliers, and its cost: a bound for every tree in it."""
        c = self.compiled
        # A certificate holds multipliers on a grid: priced there, the bound that it proves is this very one.
        np.rint(mu * GRID, out=mu)
        mu /= GRID
        self.priced = (mu.copy(), scale)
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, self.ascent.scratch.costs)
        self.ascent.steps += 1
        self.ascent.scratch.tag = (mu.tobytes(), scale)
        offset = self._offset(scale)
        value, tests = self.oracle.best((self.target if target is None else target) - offset)
        return value + offset, tests

    def _offset(self, scale: float) -> float:
        """−λε, where the discrimination is limited."""
        return 0.0 if self.ascent.limit is None else -scale * self.ascent.limit

    def _consider(self, tests: np.ndarray) -> None:
        """Price the oracle's tree truly and keep it if it is the best so far."""
        c, limit, v = self.compiled, self.ascent.limit, self.ascent.differences
        loss, decided = self.oracle.decide(tests)
        kernels.differences(c.pointers, c.rows, c.entries, decided, v)
        self.chosen.append(tests)
        if self.oracle.real:
            discrimination = float((c.weight * np.abs(v)).sum())
            # Values that break the limit may be mended with the same tests, so that such a tree is kept too.
            objective = loss + (discrimination if limit is None else max(0.0, discrimination - limit))
            if self.found is None or objective < self.found.objective:
                leaf = self.ascent.scratch.leaf.copy()
                self.found = Found(self.box.feature, self.box.state, tests.copy(), leaf, objective)

    def _step(self, mu: np.ndarray, scale: float, direction: np.ndarray, length: float) -> tuple[bool, float]:
        """Move μ; with D ≤ ε the scale λ of the multipliers rises or falls too (ALGORITHM §7)."""
        weight, v, limit = self.compiled.weight, self.ascent.differences, self.ascent.limit
        if limit is None:
            return kernels.push(mu, weight, v, direction, length), scale
        slope = float((weight * mu * v).sum()) - limit
        moved = kernels.push(mu, weight, v, direction, length / max(scale, 1e-9))
        if abs(slope) > 1e-12:
            wanted = scale + 0.5 * length / slope
            scale, moved = float(np.clip(wanted, 0.5 * scale, 2.0 * scale + 1e-3)), True
        return moved, scale

    def _survivors(self, best: float, mu: np.ndarray, scale: float) -> np.ndarray:
        """The tests that may still lead below the target; far below it little is ruled out, and asking is dear."""
        if self.ascent.deep and (not self.oracle.real or best < (1 - _WORTH_DROPPING) * self.target):
            return self.box.alive
        if self.priced[1] != scale or not np.array_equal(self.priced[0], mu):
            self._bound(mu, scale)
        return self.oracle.survivors(self.target - kernels.EPSILON - self._offset(scale))

    def _finish(self, record: Record) -> Ascended:
        best, mu, scale = record.best, record.mu, record.scale
        box = replace(self.box, mu=mu, scale=scale, bound=max(self.box.bound, best))
        if best < self.target - kernels.EPSILON:
            box = replace(box, alive=self._survivors(best, mu, scale))
        chosen = np.array(self.chosen) if self.chosen else np.zeros((0, 6), dtype=np.int64)
        return Ascended(box, chosen, self.found)
