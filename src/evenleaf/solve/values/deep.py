"""Raising the bound of a box of deep trees where the discrimination is limited: by cutting planes in a trust region.

Each tree met is a plane above the bound; the next multipliers are the highest point of all planes, not too far from
the best ones so far. Between two bounds some points are tried with few child tests: no bounds, but planes as good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import FREE, LEFT, RIGHT
from evenleaf.solve.values.caps import ValueSplit, most_contested
from evenleaf.solve.values.climb import Ascended, Climb
from evenleaf.solve.values.model import DualModel
from evenleaf.solve.values.oracle import SubtreeOracle

_RADIUS, _RADIUS_AGAIN = 0.3, 0.1  # how far the first point may go; where trees are known from another box
_WIDER, _MUCH_WIDER, _NARROWER, _KEPT_PROMISE = 2.0, 3.0, 0.6, 0.5
_WIDEST = 2.0  # then nothing is left out
_CHEAP_POINTS, _SURE = 8, 0.2
_MIXED = 1e-7


@dataclass(eq=False)
class _Centre:
    """The best multipliers so far, their bound, and how far from them the model is believed."""

    mu: np.ndarray
    scale: float
    radius: float
    best: float = -np.inf

    def note(self, value: float, mu: np.ndarray, scale: float, promised: float) -> None:
        """Move to better multipliers; believe the model as far as it has kept its promises."""
        first = self.best == -np.inf
        kept = value - self.best > _KEPT_PROMISE * (promised - self.best)
        if not first:
            self.radius *= _WIDER if kept else _NARROWER if value <= self.best else 1.0
        if value > self.best:
            self.mu, self.scale, self.best = mu.copy(), scale, value


class DeepClimb(Climb):
    """An ascent by cutting planes; one plane a part of the people for each tree met."""

    def run(self, effort: Effort, stop: Callable[[], bool]) -> Ascended:
        """Climb until the target is reached, the model promises too little, or the bounds run out."""
        known = self.box.mixture
        self.parts = [part for part in (LEFT, RIGHT, FREE) if (self.oracle.part == part).any()]
        self.members = [np.flatnonzero(self.oracle.part == part) for part in self.parts]
        self.model: DualModel | None = None
        self.planes: list[tuple[int, int, np.ndarray]] = []  # of which tree, which part, and everybody's value
        mu, scale, promised = self.box.mu.copy(), self.box.scale, np.inf
        centre = _Centre(mu, scale, _RADIUS if known is None else _RADIUS_AGAIN)
        for count in range(effort.steps):
            value, tests = self.bound(mu, scale)
            centre.note(value, mu, scale, promised)
            if value >= self.target - kernels.EPSILON:
                break
            if effort.steps > 1 or self.oracle.real:
                self._learn(tests, modelled=effort.steps > 1)
            far = count == 0 and value < (1 - effort.near) * self.target
            if far or count + 1 == effort.steps or stop():
                break
            if count == 0 and known is not None:
                for old in known[self.in_box(known)]:
                    self._learn(old)
            enough = centre.best + effort.gain * (self.target - centre.best)
            point = self._next(centre, enough)
            if point is None or point[2] < enough:
                break
            mu, scale, promised = point
        return self._finish(centre)

    def _learn(self, tests: np.ndarray, *, modelled: bool = True) -> None:
        """Add a tree's planes; it takes its best values at the prices of the moment."""
        decided = self.consider(tests).copy()
        if not modelled:
            return
        c = self.compiled
        if self.model is None:
            self.model = DualModel(len(c.weight), len(self.members), self.limit)
        paid = c.share * np.abs(self.outcome - decided)
        ghosts = slice(self.scratch.n_real, None)
        paid[ghosts] += self.scratch.ghosts.prices * (decided[ghosts] - self.outcome[ghosts])
        stump, half = self.scratch.within[3].copy(), 4 >> self.scratch.shift
        for part, who in enumerate(self.members):
            own = np.zeros_like(decided)
            own[who] = decided[who]
            kernels.differences(c.pointers, c.rows, c.entries, own, self.differences)
            slope = c.weight[:, 0] * self.differences[:, 0]
            # Rows inside a stump of this part; people of other parts do not matter to them.
            due = float(np.abs(slope[(stump >= 0) & (stump // half == self.parts[part])]).sum())
            slope[stump >= 0] = 0.0
            self.model.add(part, float(paid[who].sum()), due, slope)
            self.planes.append((len(self.chosen) - 1, part, decided))

    def _next(self, centre: _Centre, enough: float) -> tuple[np.ndarray, float, float] | None:
        """The highest point of the model, after some points that only few child tests were tried at."""
        whole = self.oracle
        few = whole.narrowed() if isinstance(whole, SubtreeOracle) else None
        for last in range(_CHEAP_POINTS, -1, -1):
            found = self._promise(centre, enough)
            if found is None:
                return None
            mu, scale, promised = found[0][:, None].copy(), found[1], found[2]
            if few is None or not last:
                break
            self.oracle = few
            value, tests = self.bound(mu, scale, np.inf)
            sure = value > promised - _SURE * (promised - centre.best)
            self._learn(tests)
            self.oracle, self.priced = whole, None
            if sure:
                break
        return mu, scale, promised

    def _promise(self, centre: _Centre, enough: float) -> tuple[np.ndarray, float, float] | None:
        """The highest point of the model near the centre; further away where that would not be enough."""
        while self.model is not None:
            found = self.model.best_near(centre.mu[:, 0], centre.scale, centre.radius)
            if found is None or found[2] >= enough or centre.radius >= _WIDEST:
                return found
            centre.radius *= _MUCH_WIDER
        return None

    def _finish(self, centre: _Centre) -> Ascended:
        box = replace(self.box, mu=centre.mu, scale=centre.scale, bound=max(self.box.bound, centre.best))
        weight = self.model.mixture if self.model is not None else np.zeros(0)
        planes = [(plane, float(w)) for plane, w in zip(self.planes, weight, strict=False) if w > _MIXED]
        if planes:
            box = replace(box, mixture=np.unique(np.array([self.chosen[tree] for (tree, _, _), _ in planes]), axis=0))
        box = self.without_lost_tests(box, centre.best)
        split = None if centre.best >= self.target - kernels.EPSILON else self._split(planes)
        return Ascended(box, self.trees_met(), self.found, split, box.mixture, self.bounds)

    def _split(self, planes: list[tuple[tuple[int, int, np.ndarray], float]]) -> ValueSplit | None:
        """The person about whose value the trees of the mixture, which each part has for itself, disagree most."""
        contested = []
        for part, who in enumerate(self.members):
            people = who[who < self.scratch.n_real]
            mine = [(decided[people], weight) for (_, of, decided), weight in planes if of == part]
            if mine and len(people):
                values, weight = np.array([v for v, _ in mine]), np.array([w for _, w in mine])
                contested.append(most_contested(people, values, weight, self.scratch.influence))
        return self.worth_splitting(*max(contested, key=lambda entry: entry[2])) if contested else None
