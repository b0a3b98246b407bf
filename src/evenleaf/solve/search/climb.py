"""One ascent in a box: what it costs at given multipliers, the trees met, and steps along their slopes (§2, §9.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.proofs.labels import GRID
from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box, Fixing
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.model import Piece
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.plan import Found, Oracle
from evenleaf.solve.search.steps import Effort, Record, step_up

_STALLS, _LEAST_STEP = 4, 0.02
_NO_DIFFERENCE = 1e-12
_FAR = 0.03  # of the target: a bound that much below it drops hardly any of many cuts, and to tell takes long


@dataclass(frozen=True, eq=False)
class Ascended:
    """What an ascent reached: the box with its new bound and fewer candidates, the labels it wavers between.

    The subtrees that it met may be there in a smaller set, too, and then need not be met again.
    """

    box: Box
    average: np.ndarray
    costs: np.ndarray
    found: Found | None
    pieces: tuple[Piece, ...] = ()
    draft: Found | None = None  # where people are free: two subtrees and everybody's label, not priced
    pretended: bool = False  # with people free, some labels that no tree may give cost less than the target


@dataclass(eq=False)
class Ground:
    """What every ascent of a search stands on; the arrays are shared, one ascent after another."""

    compiled: Compiled
    limit: float | None  # ε, where the discrimination is limited
    scratch: Scratch
    steps: int = 0

    def __post_init__(self) -> None:
        """Make the arrays."""
        self.spread = float(self.compiled.influence().sum())
        self.differences = np.zeros_like(self.compiled.weight)


class Climb:
    """The state that the steps of an ascent share."""

    def __init__(self, ground: Ground, box: Box, oracle: Oracle, fixings: tuple[Fixing, ...], target: float) -> None:
        self.ground, self.box, self.oracle, self.target = ground, box, oracle, target
        self.compiled, self.costs = ground.compiled, ground.scratch.costs
        self.fixings, self.penalty = fixings, -1.0
        self.base, self.constant = self.compiled.base, self.compiled.constant
        self.average = np.zeros_like(self.base)
        self.found: Found | None = None
        self.priced: tuple[np.ndarray, float] | None = None

    def bound(self, mu: np.ndarray, scale: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest tree of the box at these multipliers, and its cost: a bound for every tree in it."""
        fixed = self._price(mu, scale)
        self.priced = (mu.copy(), scale)
        self.ground.steps += 1
        value, choice = self.oracle.best(self.target - kernels.EPSILON - fixed)
        return value + fixed, choice

    def _price(self, mu: np.ndarray, scale: float) -> float:
        """Set everybody's prices at these multipliers; what every tree costs besides."""
        c = self.compiled
        # A certificate holds multipliers on a grid: priced there, the bound that it proves is this very one.
        mu[:] = (np.rint(mu * GRID) if not len(c.owner) else np.trunc(mu * GRID)) / GRID
        self._penalise(scale)
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, self.base, self.costs)
        self.priced = None
        return self._fixed_part(mu, scale)

    def _penalise(self, scale: float) -> None:
        """Make forbidden labels dearer than any difference between trees, which grows with the multipliers."""
        penalty = self.target + self.ground.spread * (1.0 if self.ground.limit is None else max(1.0, scale))
        if self.fixings and penalty != self.penalty:
            self.penalty = penalty
            self.base, self.constant = _with_fixings(self.compiled, self.fixings, penalty)

    def _fixed_part(self, mu: np.ndarray, scale: float) -> float:
        """What every tree of the box costs besides its stumps: label 0 for all, and −λε."""
        limit = self.ground.limit
        raised = float(self.compiled.shift @ mu[self.compiled.n_rows :, -1])
        return self.constant + scale * raised - (0.0 if limit is None else scale * limit)

    def consider(self, choice: tuple[int, ...]) -> np.ndarray:
        """Everybody's label in the oracle's tree; price it truly, and keep it if it is the best so far."""
        c, limit, v = self.compiled, self.ground.limit, self.ground.differences
        labels = self.oracle.labels(choice)
        kernels.differences(c.pointers, c.rows, c.entries, labels, v)
        if self.oracle.is_real(choice):
            discrimination = float((c.weight * np.abs(v))[: c.n_rows].sum())
            objective = c.labels_to_loss(labels) + (discrimination if limit is None else 0.0)
            keeps = limit is None or discrimination <= limit
            if keeps and (self.found is None or objective < self.found.objective):
                self.found = Found(self.oracle.plan(choice, labels), labels, objective)
        return labels

    def aligned(self, mu: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
        """Multipliers at which the last tree is priced truly: what closes a node whose labels are all decided."""
        v, limit = self.ground.differences, self.ground.limit
        aligned = np.where(np.abs(v) > _NO_DIFFERENCE, np.sign(v), mu)
        aligned[self.compiled.n_rows :] = 0.0
        if limit is None:
            return aligned, scale
        excess = float((self.compiled.weight * np.abs(v)).sum()) - limit
        return aligned, (2 * self.target / excess if excess > 0 else 0.0)

    def finish(self, best: float, mu: np.ndarray, scale: float, pieces: tuple[Piece, ...] = ()) -> Ascended:
        """The box with its bound; where that is below the target, without what cannot lead below it."""
        box = replace(self.box, mu=mu, scale=scale, bound=max(self.box.bound, best))
        if box.bound < self.target - kernels.EPSILON:
            box = self._pruned(box)
        return Ascended(box, self.average, self.costs - (self.base - self.compiled.base), self.found, pieces)

    def _pruned(self, box: Box) -> Box:
        """The box without what cannot lead below the target; where nearly all would survive, it stays as it is."""
        mu, scale = box.mu, box.scale
        if self.oracle.has_many_cuts and box.bound < self.target - _FAR * abs(self.target):
            self._price(mu, scale)
            return box
        if self.priced is None or self.priced[1] != scale or not np.array_equal(self.priced[0], mu):
            self.bound(mu, scale)
        live, alive = self.oracle.survivors(self.target - kernels.EPSILON - self._fixed_part(mu, scale))
        return replace(box, live=live, alive=alive)


class Steps(Climb):
    """An ascent by projected, deflected steps along the slope of the last tree."""

    def run(self, effort: Effort) -> Ascended:
        """Step until the target is reached, the gains run out, or the steps do."""
        mu, scale = self.box.mu.copy(), self.box.scale
        record, share = Record(mu.copy(), scale), 1.0
        ground, weight, v = self.ground, self.compiled.weight, self.ground.differences
        direction = np.zeros_like(mu)
        for count in range(effort.steps):
            value, choice = self.bound(mu, scale)
            record.note(value, mu, scale)
            if value >= self.target - kernels.EPSILON:
                break
            if effort.steps > 1 or self.oracle.is_real(choice):
                self._blend(self.consider(choice), share)
                share = max(0.1, 0.7 * share)
            far = count == 0 and value < self.target - effort.near * abs(self.target)
            if far or count + 1 == effort.steps or record.slow(count, effort, self.target):
                break
            if record.stalled >= _STALLS:
                scale = record.retreat(mu)
                direction[:] = 0.0
                if record.length < _LEAST_STEP:
                    break
                continue
            length = record.length * (self.target - value)
            moved, scale = step_up(kernels.step, mu, scale, weight, v, ground.limit, direction, length)
            if not moved:
                break
        if effort.steps > 1 and record.best < self.target - kernels.EPSILON:
            mu, scale = self.aligned(record.mu, record.scale)
            record.note(self.bound(mu, scale)[0], mu, scale)
        return self.finish(record.best, record.mu, record.scale)

    def _blend(self, labels: np.ndarray, share: float) -> None:
        """Average the labels of the trees met: the randomised tree that the bound belongs to."""
        self.average *= 1 - share
        chosen = np.flatnonzero(labels)
        self.average[chosen, labels[chosen] - 1] += share


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
