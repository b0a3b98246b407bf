"""Raising the bound of a box: subgradient steps on the multipliers μ, with the trees met on the way (§2, §9.4).

Any μ ∈ [−1, 1] gives a valid bound, so the steps may be as rough as they like; reaching the incumbent is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.solve.proofs.labels import GRID
from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, Box, Fixing
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.deep import DeepOracle
from evenleaf.solve.search.limited import LimitedOracle
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.pairs import PairOracle
from evenleaf.solve.search.plan import Found, Oracle
from evenleaf.solve.search.resolve import resolve
from evenleaf.solve.search.steps import Effort, Record
from evenleaf.solve.search.sweep import SweepOracle
from evenleaf.solve.search.usage import Supply

_STALLS, _LEAST_STEP = 4, 0.02


LOOK = Effort(1, 1, 0.0)
GLANCE = Effort(12, 3, 0.12)
DEEP_GLANCE = Effort(12, 3, 0.12, near=0.15)
CLIMB = Effort(60, 6, 0.12)
SEARCH = Effort(40, 6, 0.05)


@dataclass(frozen=True, eq=False)
class Ascended:
    """What an ascent reached: the box with its new bound and fewer candidates, the labels it wavers between."""

    box: Box
    average: np.ndarray
    costs: np.ndarray
    found: Found | None


class Ascent:
    """Climbs in one box after another; owns the arrays that every climb would else make anew."""

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
        self.spread = float(compiled.influence().sum())
        self.scratch = Scratch(compiled, least_people, stop)
        self.differences = np.zeros_like(compiled.weight)
        self.steps = 0

    def climb(
        self,
        box: Box,
        pairs: np.ndarray,
        target: float,
        effort: Effort,
        fixings: tuple[Fixing, ...] = (),
        resolves: bool = False,
    ) -> Ascended:
        """Raise the bound of a box towards the target, then drop the roots and cuts it rules out.

        With `resolves`, relaxed subsets of levels are made real, as far as the work allows.
        """
        oracle = self._oracle(box, pairs)
        if resolves and isinstance(oracle, DeepOracle):
            resolve(oracle)
        return _Climb(self, box, oracle, fixings, target).run(effort)

    def floor(self, mu: np.ndarray, scale: float) -> float:
        """What every tree costs at least, were everybody free to take the cheapest label."""
        c = self.compiled
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, c.base, self.scratch.costs)
        least = float(np.minimum(self.scratch.costs.min(axis=1, initial=0.0), 0.0).sum())
        return c.constant + least - (0.0 if self.limit is None else scale * self.limit)

    def _oracle(self, box: Box, pairs: np.ndarray) -> Oracle:
        if self.supply is not None:
            return LimitedOracle(box, self.scratch, self.depth - 1, self.supply)
        if self.depth > MOST_SWEPT_DEPTH:
            return DeepOracle(box, self.scratch, self.depth - 1)
        return PairOracle(box, pairs, self.scratch) if box.chooses else SweepOracle(box, pairs, self.scratch)


class _Climb:
    """One ascent: the state that its steps share."""

    def __init__(self, ascent: Ascent, box: Box, oracle: Oracle, fixings: tuple[Fixing, ...], target: float) -> None:
        self.ascent, self.box, self.oracle, self.target = ascent, box, oracle, target
        self.compiled, self.costs = ascent.compiled, ascent.scratch.costs
        self.fixings, self.penalty = fixings, -1.0
        self.base, self.constant = self.compiled.base, self.compiled.constant
        self.average, self.share = np.zeros_like(self.base), 1.0
        self.found: Found | None = None

    def run(self, effort: Effort) -> Ascended:
        """Step until the target is reached, the gains run out, or the steps do."""
        mu, scale = self.box.mu.copy(), self.box.scale
        record = Record(mu.copy(), scale)
        direction = np.zeros_like(mu)
        for count in range(effort.steps):
            value, choice = self._bound(mu, scale)
            record.note(value, mu, scale)
            if value >= self.target - kernels.EPSILON:
                break
            if effort.steps > 1 or self.oracle.is_real(choice):
                self._consider(choice)
            far = count == 0 and value < self.target - effort.near * abs(self.target)
            if far or count + 1 == effort.steps or record.slow(count, effort, self.target):
                break
            if record.stalled >= _STALLS:
                scale = record.retreat(mu)
                direction[:] = 0.0
                if record.length < _LEAST_STEP:
                    break
                continue
            moved, scale = self._step(mu, scale, direction, record.length * (self.target - value))
            if not moved:
                break
        if effort.steps > 1 and record.best < self.target - kernels.EPSILON:
            mu, scale = self._aligned(record.mu, record.scale)
            record.note(self._bound(mu, scale)[0], mu, scale)
        return self._finish(record.best, record.mu, record.scale)

    def _aligned(self, mu: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
        """Multipliers at which the last tree is priced truly: what closes a node whose labels are all decided."""
        v, limit = self.ascent.differences, self.ascent.limit
        aligned = np.where(np.abs(v) > 1e-12, np.sign(v), mu)
        if limit is None:
            return aligned, scale
        excess = float((self.compiled.weight * np.abs(v)).sum()) - limit
        return aligned, (2 * self.target / excess if excess > 0 else 0.0)

    def _bound(self, mu: np.ndarray, scale: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest tree of the box at these multipliers, and its cost: a bound for every tree in it."""
        c = self.compiled
        # A certificate holds multipliers on a grid: priced there, the bound that it proves is this very one.
        mu[:] = np.rint(mu * GRID) / GRID
        self._penalise(scale)
        self.priced = (mu.copy(), scale)
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, self.base, self.costs)
        self.ascent.steps += 1
        fixed = self._fixed_part(scale)
        value, choice = self.oracle.best(self.target - kernels.EPSILON - fixed)
        return value + fixed, choice

    def _penalise(self, scale: float) -> None:
        """Make forbidden labels dearer than any difference between trees, which grows with the multipliers."""
        penalty = self.target + self.ascent.spread * (1.0 if self.ascent.limit is None else max(1.0, scale))
        if self.fixings and penalty != self.penalty:
            self.penalty = penalty
            self.base, self.constant = _with_fixings(self.compiled, self.fixings, penalty)

    def _fixed_part(self, scale: float) -> float:
        """What every tree of the box costs besides its stumps: label 0 for all, and −λε."""
        limit = self.ascent.limit
        return self.constant - (0.0 if limit is None else scale * limit)

    def _consider(self, choice: tuple[int, ...]) -> None:
        """Price the oracle's tree truly, keep it if it is the best so far, and average its labels.

        The average is the randomised tree that the bound belongs to.
        """
        c, limit, v = self.compiled, self.ascent.limit, self.ascent.differences
        labels = self.oracle.labels(choice)
        self.average *= 1 - self.share
        chosen = np.flatnonzero(labels)
        self.average[chosen, labels[chosen] - 1] += self.share
        self.share = max(0.1, 0.7 * self.share)
        kernels.differences(c.pointers, c.rows, c.entries, labels, v)
        if self.oracle.is_real(choice):
            discrimination = float((c.weight * np.abs(v)).sum())
            objective = c.labels_to_loss(labels) + (discrimination if limit is None else 0.0)
            keeps = limit is None or discrimination <= limit
            if keeps and (self.found is None or objective < self.found.objective):
                self.found = Found(self.oracle.plan(choice, labels), labels, objective)

    def _step(self, mu: np.ndarray, scale: float, direction: np.ndarray, length: float) -> tuple[bool, float]:
        """Move μ; with D ≤ ε the scale λ of the multipliers rises or falls too (ALGORITHM §7)."""
        weight, v, limit = self.compiled.weight, self.ascent.differences, self.ascent.limit
        if limit is None:
            return kernels.step(mu, weight, v, direction, length), scale
        slope = float((weight * mu * v).sum()) - limit
        moved = kernels.step(mu, weight, v, direction, length / max(scale, 1e-9))
        if abs(slope) > 1e-12:
            wanted = scale + 0.5 * length / slope
            scale, moved = float(np.clip(wanted, 0.5 * scale, 2.0 * scale + 1e-3)), True
        return moved, scale

    def _finish(self, best: float, mu: np.ndarray, scale: float) -> Ascended:
        box = replace(self.box, mu=mu, scale=scale, bound=max(self.box.bound, best))
        if best < self.target - kernels.EPSILON:
            if self.priced[1] != scale or not np.array_equal(self.priced[0], mu):
                self._bound(mu, scale)
            live, alive = self.oracle.survivors(self.target - kernels.EPSILON - self._fixed_part(scale))
            box = replace(box, live=live, alive=alive)
        return Ascended(box, self.average, self.costs - (self.base - self.compiled.base), self.found)


def _with_fixings(compiled: Compiled, fixings: tuple[Fixing, ...], penalty: float) -> tuple[np.ndarray, float]:
    """A forbidden label costs `penalty` more: enough to lift any tree that has it above the target."""
    base, constant = compiled.base.copy(), compiled.constant
    for fixing in fixings:
        if fixing.equal:
            base[fixing.person] += penalty
        # Label 0 is the zero of all prices: to forbid it is to reward all others, and to charge everybody.
        if fixing.equal != (fixing.label == 0):
            base[fixing.person] -= penalty
            constant += penalty
        if fixing.label > 0:
            base[fixing.person, fixing.label - 1] += -penalty if fixing.equal else penalty
    return base, constant
