"""Raising the bound of a box of deep trees, where a bound is dear: by the planes of all trees met so far.

Every tree costs a linear function of the multipliers, and the bound is the lowest of these planes. The next
multipliers are the nearest at which every tree met so far costs enough; how much that can be, no more than what a
mixture of the trees costs, tells when to give up. That mixture is the randomised tree which the bound belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box, Fixing
from evenleaf.solve.search.climb import Ascended, Climb, Ground
from evenleaf.solve.search.deep import DeepOracle
from evenleaf.solve.search.limited import LimitedOracle
from evenleaf.solve.search.model import Model, Piece
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.sketch import Fork, Sketch
from evenleaf.solve.search.steps import Effort

_ASKED, _BEYOND = 0.5, 1.0  # how much of what the model allows is asked for; how far beyond the target, at most
_KEPT, _TRIES = 0.85, 12
_NEWS = 1e-9
_RULED_OUT = 0.5  # of the rise that is asked for: where a tree costs less, the bound is not worth its time
_HANDED_ON = 8  # subtrees of a part


class PlaneClimb(Climb):
    """An ascent that remembers the trees it met."""

    def __init__(
        self,
        ground: Ground,
        box: Box,
        oracle: DeepOracle | LimitedOracle,
        fixings: tuple[Fixing, ...],
        target: float,
    ) -> None:
        super().__init__(ground, box, oracle, fixings, target)
        self._penalise(box.scale)
        self.parted = oracle
        self.draft: Found | None = None
        self.model = Model(self.compiled, self.base, self.constant, oracle.part_of_each())
        self.bundle, self.best = self.model.bundle, -np.inf
        self.level = -np.inf  # what every tree known costs at least, where the next bound is asked for

    def run(self, effort: Effort, known: tuple[Piece, ...], fresh: bool) -> Ascended:
        """Climb until the target is reached, the trees met allow too little more, or the bounds run out.

        Unless the multipliers are `fresh`, the bound there is known.
        """
        model, bundle, used = self.model, self.bundle, self.model.used
        mu, scale = self.box.mu.copy(), self.box.scale
        best_mu = mu.copy()
        self._recall(known)
        # Where the cheapest tree is still there, its cost is no news.
        asked = fresh or effort.steps == 1 or not model.is_whole or model.lowest(mu[used])[0] > self.box.bound + _NEWS
        if not asked:
            self.best = self.box.bound
        for count in range(effort.steps):
            if asked and not (count and self._is_ruled_out(mu, scale)):
                value, choice = self.bound(mu, scale)
                if value > self.best:
                    self.best, best_mu = value, mu.copy()
                if value >= self.target - kernels.EPSILON:
                    break
                labels = self._drafted(choice, value)
                model.learn(labels, self._tests(choice, labels))
                far = count == 0 and value < self.target - effort.near * abs(self.target)
                if far or count + 1 == effort.steps or not np.isfinite(self.target):
                    break
            asked = True
            point = self._next(mu[used])
            if point is None or bundle.allows_little(self.best, self.target, effort.gain):
                break
            mu[used] = point
        if effort.steps > 1 and self.best < self.target - kernels.EPSILON <= bundle.ceiling:
            mu = self.aligned(best_mu, scale)[0]
            value = self.bound(mu, scale)[0]
            if value > self.best:
                self.best, best_mu = value, mu
        return self._ended(best_mu, scale)

    def _is_ruled_out(self, mu: np.ndarray, scale: float) -> bool:
        """Whether some tree at hand is too cheap at these multipliers for them to be any good; if so, learn it."""
        if not isinstance(self.parted, DeepOracle) or not self.parted.is_dear:
            return False
        fixed = self._price(mu, scale)
        glimpsed = self.parted.glimpse()
        if glimpsed is None or glimpsed[0] + fixed >= self.best + _RULED_OUT * (self.level - self.best):
            return False
        labels = self.consider(glimpsed[1])
        self.model.learn(labels, self._tests(glimpsed[1], labels))
        return True

    def _ended(self, mu: np.ndarray, scale: float) -> Ascended:
        """What was reached at the best multipliers, with what the parts of the box may begin with."""
        if self.bundle.mixture:
            self.average = self.model.average(self.bundle.mixture)
        pieces = self._below(mu)
        reached = self.finish(self.best, mu, scale, pieces)
        if not self.box.has_free:
            return reached
        pretended = self.model.cheapest < self.target - kernels.EPSILON
        box = replace(reached.box, known=self._known(pieces))
        return replace(reached, box=box, pretended=pretended, draft=self.draft)

    def _drafted(self, choice: tuple[int, ...], value: float) -> np.ndarray:
        """Everybody's label in the oracle's tree; where people are free, keep the best one's tests, too."""
        labels = self.consider(choice)
        if value == self.best and self.box.has_free and isinstance(self.parted, DeepOracle):
            self.draft = Found(self.parted.plan(choice, labels), labels, np.inf)
        return labels

    def _tests(self, choice: tuple[int, ...], labels: np.ndarray) -> Callable[[int], Fork | int] | None:
        """What tells the tests of a part, where smaller boxes may ask for them."""
        if not self.box.has_free or not isinstance(self.parted, DeepOracle):
            return None
        oracle = self.parted
        return lambda part: oracle.tests(choice, labels, part)

    def _recall(self, known: tuple[Piece, ...]) -> None:
        """Begin with subtrees that are known, or else with those met in the box that this one is part of."""
        for piece in known:
            self.model.add(piece)
        if known or not self.box.known or not isinstance(self.parted, DeepOracle):
            return
        # Nobody may be on the last parts, of which nothing is remembered then.
        part = {place: number for number, place in enumerate(self.parted.places[: self.model.n_parts])}
        for met in self.box.known:
            if met.place in part:
                self.model.recall(part[met.place], met.top)

    def _known(self, pieces: tuple[Piece, ...]) -> tuple[Sketch, ...]:
        """The subtrees that the parts of this box may begin with: of each part some, those used last."""
        if not isinstance(self.parted, DeepOracle):
            return ()
        found: list[Sketch] = []
        for part, place in enumerate(self.parted.places):
            mine = [piece.top for piece in pieces if piece.part == part and piece.top is not None]
            found += [Sketch(place, top) for top in mine[-_HANDED_ON:]]
        return tuple(found)

    def _below(self, mu: np.ndarray) -> tuple[Piece, ...]:
        """The subtrees that some tree below the target at these multipliers may have: these keep all their tests."""
        model = self.model
        point = mu[model.used]
        total, _ = model.lowest(point)
        slack = self.target - kernels.EPSILON - total
        sides = self.parted.n_sides
        order = np.argsort(model.last_used, kind="stable")
        return tuple(
            piece
            for piece in (model.pieces[k] for k in order)
            if piece.part >= sides or piece.constant + piece.slope @ point - model.low[piece.part] < slack
        )

    def _next(self, centre: np.ndarray) -> np.ndarray | None:
        """The nearest point at which every tree known costs as much as can be asked for."""
        model, bundle = self.model, self.bundle
        highest = min(bundle.ceiling, self.target + _BEYOND * (self.target - self.best))
        level = self.best + _ASKED * (highest - self.best)
        point, again = centre, False
        for _ in range(_TRIES):
            low, which = model.lowest(point)
            if low >= self.best + _KEPT * (level - self.best):
                break
            model.combine(which)
            risen = bundle.rise(centre, level, self.best, again=again)
            if risen is None:
                return None
            (point, level), again = risen, True
        self.level = level
        return None if np.array_equal(point, centre) else point
