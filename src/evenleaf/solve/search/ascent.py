"""Raising the bound of a box: subgradient steps on the multipliers μ, with the trees met on the way (§2, §9.4).

Any μ ∈ [−1, 1] gives a valid bound, so the steps may be as rough as they like; reaching the incumbent is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.compiled import Compiled

_STALLS, _LEAST_STEP = 4, 0.02
_NO_SLACK, _NO_MARKS = np.zeros((0, 0)), np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Effort:
    """How long to climb: at most `steps`, given up when `every` steps gain less than `gain` of what remains."""

    steps: int
    every: int
    gain: float


LOOK = Effort(1, 1, 0.0)
GLANCE = Effort(12, 3, 0.12)
CLIMB = Effort(60, 6, 0.12)
SEARCH = Effort(100, 6, 0.02)


@dataclass(frozen=True)
class Fixing:
    """A person whose label is decided in part of the proof: it is `label`, or it is not."""

    person: int
    label: int
    equal: bool


@dataclass(frozen=True, eq=False)
class Stump:
    """What one side asks: nothing (feature −1), a cut after a rank, or a subset of levels (cut −1)."""

    feature: int
    cut: int


@dataclass(frozen=True, eq=False)
class Found:
    """A tree met on the way: the ranks its root sends left, a stump a side, everybody's label."""

    feature: int
    root_left: np.ndarray
    stumps: tuple[Stump, Stump]
    labels: np.ndarray
    objective: float


@dataclass(frozen=True, eq=False)
class Ascended:
    """What an ascent reached: the box with its new bound and fewer candidates, the labels it wavers between."""

    box: Box
    average: np.ndarray
    costs: np.ndarray
    found: Found | None


class Ascent:
    """Climbs in one box after another; owns the arrays that every climb would else make anew."""

    def __init__(self, compiled: Compiled, least_people: int, limit: float | None) -> None:
        self.compiled, self.least_people, self.limit = compiled, least_people, limit
        self.steps = 0
        n_people, n_features = compiled.n_people, compiled.n_features
        self.segment = np.zeros((2, n_features, n_people), dtype=np.int32)
        self.costs = np.empty((n_people, compiled.n_labels))
        self.differences = np.zeros_like(compiled.weight)

    def climb(
        self, box: Box, pairs: np.ndarray, target: float, effort: Effort, fixings: tuple[Fixing, ...] = ()
    ) -> Ascended:
        """Raise the bound of a box towards the target, then drop the roots and cuts it rules out."""
        return _Climb(self, box, pairs, fixings, target).run(effort)


class _Climb:
    """One ascent: the state that its steps share."""

    def __init__(self, ascent: Ascent, box: Box, pairs: np.ndarray, fixings: tuple[Fixing, ...], target: float) -> None:
        self.ascent, self.box, self.pairs, self.target = ascent, box, pairs, target
        compiled = self.compiled = ascent.compiled
        left, right, self.free = box.sides(compiled.ranks[box.feature])
        self.any_free = bool(self.free.any())
        self.groups = (left, right)
        self.on_side = (np.zeros(len(box.moving), np.bool_), np.ones(len(box.moving), np.bool_))
        self.alive = box.alive.copy()
        self.place = np.zeros(self.alive.shape, dtype=np.int32)
        self.n_segments = [self._segments(side) for side in (0, 1)]
        self.live = box.live & _crowded(box, compiled, self.groups, self.on_side, self.free, ascent.least_people)
        n_roots, n_options = len(box.moves) + 1, compiled.n_features + 1
        widest = int(max(n.max(initial=1) for n in self.n_segments))
        self.best = np.empty((2, n_roots, n_options))
        self.where = np.zeros((2, n_roots, n_options), dtype=np.int64)
        self.totals = np.zeros((2, n_roots, compiled.n_labels))
        self.h = np.empty((len(box.moving) + 1, widest, compiled.n_labels))
        self.sums = np.empty((widest, compiled.n_labels))
        self.base, self.constant = _with_fixings(compiled, fixings, target)
        self.average = np.zeros((compiled.n_people, compiled.n_labels))
        self.found: Found | None = None

    def _segments(self, side: int) -> np.ndarray:
        c = self.compiled
        return kernels.segments(
            c.ranks, c.offsets, c.unordered, c.sizes, self.alive[side], self.place[side], c.count,
            self.ascent.least_people, self.groups[side], self.ascent.segment[side],
        )  # fmt: skip

    def run(self, effort: Effort) -> Ascended:
        """Step until the target is reached, the gains run out, or the steps do."""
        mu, scale = self.box.mu.copy(), self.box.scale
        best, best_mu, best_scale, last = -np.inf, mu.copy(), scale, -np.inf
        direction, length, stalled, share = np.zeros_like(mu), 1.0, 0, 1.0
        for count in range(effort.steps):
            value, tree = self._oracle(mu, scale)
            if value > best + 1e-12:
                best, best_scale, stalled = value, scale, 0
                best_mu[:] = mu
            else:
                stalled += 1
            if value >= self.target - kernels.EPSILON:
                break
            labels = self._labels(tree)
            share = self._remember(labels, share)
            self._consider(labels, tree)
            if count + 1 == effort.steps or (count % effort.every == 0 and count and self._poor(best, last, effort)):
                break
            if count % effort.every == 0:
                last = best
            if stalled >= _STALLS:
                length, stalled, scale = length / 2, 0, best_scale
                mu[:] = best_mu
                direction[:] = 0.0
                if length < _LEAST_STEP:
                    break
                continue
            moved, scale = self._step(mu, scale, direction, length * (self.target - value))
            if not moved:
                break
        return self._finish(best, best_mu, best_scale)

    def _poor(self, best: float, last: float, effort: Effort) -> bool:
        return best - last < effort.gain * (self.target - best)

    def _sweep(self, side: int, slack: np.ndarray, keep: np.ndarray) -> None:
        c = self.compiled
        kernels.sweep_side(
            self.ascent.costs, self.groups[side], self.ascent.segment[side], self.n_segments[side], c.unordered,
            self.box.moves, self.on_side[side], self.live, self.best[side], self.where[side], self.h, self.sums,
            self.totals[side], c.offsets, slack, keep,
        )  # fmt: skip

    def _oracle(self, mu: np.ndarray, scale: float) -> tuple[float, tuple[int, int, int]]:
        """The cheapest tree of the box at these multipliers, and its cost: a bound for every tree in it."""
        c = self.compiled
        kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, scale, mu, self.base, self.ascent.costs)
        for side in (0, 1):
            self._sweep(side, _NO_SLACK, _NO_MARKS)
        value, root, left, right = kernels.best_tree(self.best[0], self.best[1], self.live, self.pairs)
        self.ascent.steps += 1
        if value >= kernels.INFINITE:
            return np.inf, (-1, -1, -1)
        return value + self._fixed_part(scale), (root, left, right)

    def _fixed_part(self, scale: float) -> float:
        """What every tree of the box costs besides its stumps: the free people at their cheapest, and −λε."""
        loose = np.minimum(self.ascent.costs[self.free].min(axis=1), 0.0).sum() if self.any_free else 0.0
        limit = self.ascent.limit
        return float(self.constant + loose - (0.0 if limit is None else scale * limit))

    def _labels(self, tree: tuple[int, int, int]) -> np.ndarray:
        c, box, costs = self.compiled, self.box, self.ascent.costs
        root, *features = tree
        goes_left = box.left_ranks(root)[c.ranks[box.feature]]
        labels = np.zeros(c.n_people, dtype=np.int64)
        if self.any_free:
            labels[self.free] = np.column_stack([np.zeros(c.n_people), costs]).argmin(axis=1)[self.free]
        for side, feature in enumerate(features):
            member = (goes_left if side == 0 else ~goes_left) & ~self.free
            constant = feature == c.n_features
            f = 0 if constant else feature
            kernels.label_side(
                costs, member, self.ascent.segment[side, f], int(self.n_segments[side][f]), bool(c.unordered[f]),
                int(self.where[side, root, feature]), constant, labels,
            )  # fmt: skip
        return labels

    def _remember(self, labels: np.ndarray, share: float) -> float:
        """The running average of the labels: the randomised tree that the bound belongs to."""
        self.average *= 1 - share
        chosen = np.flatnonzero(labels)
        self.average[chosen, labels[chosen] - 1] += share
        return max(0.1, 0.7 * share)

    def _consider(self, labels: np.ndarray, tree: tuple[int, int, int]) -> None:
        """Price the tree truly, and keep it if it is the best so far (free ranks make only relaxed trees)."""
        c, limit, v = self.compiled, self.ascent.limit, self.ascent.differences
        kernels.differences(c.pointers, c.rows, c.entries, labels, v)
        if self.any_free:
            return
        discrimination = float((c.weight * np.abs(v)).sum())
        objective = c.labels_to_loss(labels)
        if limit is None:
            objective += discrimination
        elif discrimination > limit + FEASIBILITY_TOLERANCE:
            return
        if self.found is None or objective < self.found.objective:
            left, right = (self._stump(side, tree[0], tree[side + 1]) for side in (0, 1))
            ranks = self.box.left_ranks(tree[0])
            self.found = Found(self.box.feature, ranks, (left, right), labels, objective)

    def _stump(self, side: int, root: int, feature: int) -> Stump:
        c = self.compiled
        if feature == c.n_features:
            return Stump(-1, -1)
        if c.unordered[feature]:
            return Stump(feature, -1)
        return Stump(feature, int(self.place[side, c.offsets[feature] + self.where[side, root, feature]]))

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
            self._oracle(mu, scale)
            box = self._filtered(box, scale)
        costs = self.ascent.costs - (self.base - self.compiled.base)
        return Ascended(box, self.average, costs, self.found)

    def _filtered(self, box: Box, scale: float) -> Box:
        """Drop the roots whose trees all reach the target, and the cuts that no tree below it has."""
        c = self.compiled
        budget = self.target - kernels.EPSILON - self._fixed_part(scale)
        pairs = np.where(self.pairs, 0.0, np.inf)
        left, right = self.best
        partner = ((right[:, None, :] + pairs).min(axis=2), (left[:, :, None] + pairs).min(axis=1))
        live = self.live & ((left + partner[0]).min(axis=1) < budget)
        self.live = live
        alive = np.zeros_like(self.alive)
        for side in (0, 1):
            keep = np.zeros(self.alive.shape[1], dtype=np.uint8)
            self._sweep(side, budget - partner[side], keep)
            for f in np.flatnonzero(self.n_segments[side]):
                kept = np.flatnonzero(keep[c.offsets[f] : c.offsets[f + 1]])
                alive[side, c.offsets[f] + (0 if c.unordered[f] else self.place[side, c.offsets[f] + kept])] = (
                    len(kept) > 0
                )
        return replace(box, live=live, alive=alive)


def _crowded(
    box: Box,
    compiled: Compiled,
    groups: tuple[np.ndarray, np.ndarray],
    on_side: tuple[np.ndarray, np.ndarray],
    free: np.ndarray,
    least_people: int,
) -> np.ndarray:
    """Which roots can have enough people on both sides."""
    enough = np.ones(len(box.moves) + 1, dtype=np.bool_)
    if least_people <= 1:
        return enough
    for group, start in zip(groups, on_side, strict=True):
        parts = np.bincount(group[group >= 0], weights=compiled.count[group >= 0], minlength=len(box.moving) + 1)
        here = start.copy()
        total = parts[0] + parts[1:][here].sum() + compiled.count[free].sum()
        enough[0] &= total >= least_people
        for t, u in enumerate(box.moves):
            total += -parts[u + 1] if here[u] else parts[u + 1]
            here[u] = not here[u]
            enough[t + 1] &= total >= least_people
    return enough


def _with_fixings(compiled: Compiled, fixings: tuple[Fixing, ...], penalty: float) -> tuple[np.ndarray, float]:
    """A forbidden label costs `penalty` more; any amount keeps the bound valid, the incumbent's value is enough."""
    if not fixings:
        return compiled.base, compiled.constant
    base, constant = compiled.base.copy(), compiled.constant
    for fixing in fixings:
        forbidden = np.arange(compiled.n_labels + 1) == fixing.label
        if fixing.equal:
            forbidden = ~forbidden
        base[fixing.person, forbidden[1:]] += penalty
        if forbidden[0]:
            base[fixing.person] -= penalty
            constant += penalty
    return base, constant
