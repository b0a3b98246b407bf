"""Raising the bound of a box of deep trees where the discrimination has a weight: by the planes of the trees met.

The next multipliers are the nearest at which every tree met so far costs enough (`search/bundle.py`). With its tests
known, a tree is priced in no time, so that whatever can be learnt from trees that were met before is learnt before all
trees are asked for: in this box, and in the one that the trees come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.search.bundle import Bundle
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values import kernels
from evenleaf.solve.values.caps import ValueSplit, most_contested
from evenleaf.solve.values.climb import Ascended, Climb
from evenleaf.solve.values.oracle import NO_TESTS, SubtreeOracle
from evenleaf.solve.values.pool import Pool
from evenleaf.solve.values.shelf import Shelf

# How much of what the planes allow is asked for; how far beyond the target at most, of what is missing.
_ASKED, _BEYOND, _BEYOND_AT_FIRST = 0.5, 1.0, 0.5
_KEPT, _FAR = 0.9, 0.03
# Points tried with what is known before all trees are asked for: more of them cost more than they save. At first, when
# there is most to learn from, more are worth it.
_TRIES, _FIRST_TRIES, _MOST_PLANES = 4, 16, 40
_TAKEN = 30  # subtrees of a side that are taken over from other parts of the same root


@dataclass(frozen=True, eq=False)
class Met:
    """A tree that was met: its tests, and everybody's value."""

    tests: np.ndarray
    decided: np.ndarray


class PlaneClimb(Climb):
    """An ascent that remembers the trees it met."""

    oracle: SubtreeOracle
    pools: tuple[Pool, Pool] | None = None  # where the subtrees met are kept for other parts

    def run(self, effort: Effort, stop: Callable[[], bool]) -> Ascended:
        """Climb until the target is reached, the trees met allow too little more, or the bounds run out."""
        self.begin()
        self.best, best_mu = -np.inf, self.box.mu.copy()
        mu = self._after_what_is_known() if effort.steps > 1 else best_mu
        if effort.steps > 1 and self._is_hopeless():
            return self._given_up(mu)
        for count in range(effort.steps):
            value, tests = self.bound(mu, self.box.scale)
            if value > self.best:
                self.best, best_mu = value, mu.copy()
            if value >= self.target - kernels.EPSILON:
                break
            if effort.steps > 1:
                self.learn(tests)
            elif self.oracle.real:
                self.consider(tests)
            far = count == 0 and value < (1 - effort.near) * self.target
            if far or count + 1 == effort.steps or stop():
                break
            point = self._next(best_mu[:, 0], self.best, _BEYOND)
            if point is None or self._is_hopeless() or self.bundle.allows_little(self.best, self.target, effort.gain):
                break
            mu = point[:, None].copy()
        return self._finish(best_mu)

    def begin(self) -> None:
        """Start without any tree."""
        self.shelves = [
            Shelf(ids[-1], self.outcome, self.compiled.share, len(self.compiled.weight)) for ids in self.oracle.ids
        ]
        self.bundle: Bundle[Met] = Bundle(len(self.compiled.weight), _MOST_PLANES)

    def _is_hopeless(self) -> bool:
        """Whether known trees rule the target out: then a box is split at once, as its parts will know them too."""
        return self.pools is not None and self.bundle.ceiling < self.target - kernels.EPSILON

    def _after_what_is_known(self) -> np.ndarray:
        """The multipliers to begin with: at which the trees of the box that this one is like reach the target."""
        known, mu = self.box.mixture, self.box.mu.copy()
        if known is not None:
            for tests in known[self.in_box(known)].astype(np.int64):
                if self._has_enough_people(tests):
                    self._shelve(tests)
        if self.pools is not None:
            self._take_from_pools(self.pools, mu)
        if not all(shelf.subtrees for shelf in self.shelves):
            return mu
        low, _ = self.cheapest_known(mu[:, 0])
        if low >= self.target:
            return mu
        point = self._next(mu[:, 0], low, _BEYOND_AT_FIRST, _FIRST_TRIES)
        return mu if point is None else point[:, None].copy()

    def learn(self, tests: np.ndarray) -> None:
        """Take in a tree that is the cheapest at the prices of the moment."""
        self._shelve(tests)
        self._add_plane(tests)

    def _shelve(self, tests: np.ndarray) -> None:
        """Keep the subtrees of both sides."""
        leaf = self.oracle.leaves(tests)
        for side, shelf in enumerate(self.shelves):
            subtree = (int(tests[side]), int(tests[2 + 2 * side]), int(tests[3 + 2 * side]))
            paid = self.oracle.paid(side, leaf)
            shelf.add(subtree, leaf, paid)
            if self.pools is not None:
                self.pools[side].add(subtree, leaf, paid)

    def _take_from_pools(self, pools: tuple[Pool, Pool], mu: np.ndarray) -> None:
        """The cheapest subtrees of other parts that are subtrees of this one too."""
        self.price(mu, self.box.scale)
        # A ghost is always in the leaf of whom it stands for.
        who = np.append(np.arange(self.scratch.n_real), [cap.person for cap in self.box.caps]).astype(np.int64)
        for side, (shelf, pool) in enumerate(zip(self.shelves, pools, strict=True)):
            here = pool.within(self.box.alive[[side, 2 + 2 * side, 3 + 2 * side]])
            leaf = pool.leaf[here][:, who[shelf.people]]
            paid = pool.paid[here]
            cost = shelf.costs(self.scratch.costs, mu[:, 0], leaf, paid, float(self.compiled.levels[-1]))
            for k in np.argsort(cost)[:_TAKEN]:
                shelf.take(tuple(pool.tests[here[k]].tolist()), leaf[k], paid[k])

    def _has_enough_people(self, tests: np.ndarray) -> bool:
        """Whether no leaf of another box's tree has too few people here."""
        least = self.scratch.shape.min_samples_leaf
        if least == 1:
            return True
        leaf = self.oracle.leaves(tests)
        crowd = np.bincount(leaf[leaf >= 0], weights=self.compiled.count[leaf >= 0])
        return not ((crowd > 0) & (crowd + self.oracle.loose < least)).any()

    def _add_plane(self, tests: np.ndarray) -> None:
        """A tree with the values that are best at the prices of the moment is a plane."""
        decided, ghosts = self.consider(tests).copy(), slice(self.scratch.n_real, None)
        paid = float(self.compiled.share @ np.abs(self.outcome - decided)) + self.due
        paid += float(self.scratch.ghosts.prices @ (decided[ghosts] - self.outcome[ghosts]))
        self.bundle.add(paid, self.compiled.weight[:, 0] * self.differences[:, 0], Met(tests, decided))

    def cheapest_known(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The cheapest tree made of the subtrees that were met."""
        self.price(point[:, None], self.box.scale)
        tests = np.full(6, NO_TESTS, dtype=np.int64)
        total = self.oracle.free_cost() + self.offset(self.box.scale)
        for side, shelf in enumerate(self.shelves):
            cost, (tests[side], tests[2 + 2 * side], tests[3 + 2 * side]) = shelf.cheapest(
                self.scratch.costs, point, float(self.compiled.levels[-1])
            )
            total += cost
        return total, tests

    def _next(self, centre: np.ndarray, floor: float, beyond: float, tries: int = _TRIES) -> np.ndarray | None:
        """The nearest point at which every tree known costs as much as can be asked for; `floor` is had already."""
        bundle = self.bundle
        missing = self.target - floor
        # From far away all planes together promise too much, and a point where they keep it is far from any good one.
        beyond = -_ASKED if missing > _FAR * abs(self.target) else beyond
        level = min(self.target + beyond * missing, floor + _ASKED * (bundle.ceiling - floor))
        few = self.oracle.narrowed()
        point, again = centre, False
        for _ in range(tries):
            enough = floor + _KEPT * (level - floor)
            low, tests = self.cheapest_known(point)
            if low >= enough:
                if few is None:
                    break
                low, tests = self._cheapest_of_few(few, point)
                if low >= enough:
                    break
                self._shelve(tests)
            self._add_plane(tests)
            risen = bundle.rise(centre, level, floor, again=again)
            if risen is None:
                return None
            (point, level), again = risen, True
        return None if np.array_equal(point, centre) else point

    def _cheapest_of_few(self, few: SubtreeOracle, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The cheapest tree with one of few child tests: no bound, but soon found."""
        whole, self.oracle = self.oracle, few
        found = self.bound(point[:, None].copy(), self.box.scale, np.inf)
        self.oracle, self.priced = whole, None  # only few trees were
        return found

    def _given_up(self, mu: np.ndarray) -> Ascended:
        """Nothing but how to split the box."""
        box = replace(self.box, mu=mu, mixture=np.array(list(self._worth_knowing()), dtype=np.int32))
        return Ascended(box, self.trees_met(), self.found, self._split(), self._mixed(), 0)

    def _finish(self, mu: np.ndarray) -> Ascended:
        box = replace(self.box, mu=mu, bound=max(self.box.bound, self.best))
        if self.bundle.origins:
            box = replace(box, mixture=np.array(list(self._worth_knowing()), dtype=np.int32))
        box = self.without_lost_tests(box, self.best)
        closed = self.best >= self.target - kernels.EPSILON
        split = None if closed else self._split()
        return Ascended(box, self.trees_met(), self.found, split, self._mixed(), self.bounds)

    def _mixed(self) -> np.ndarray | None:
        return np.array([met.tests for _, met in self.bundle.mixture]) if self.bundle.mixture else None

    def _worth_knowing(self) -> Iterable[np.ndarray]:
        """Trees for a box that is like this one: the subtrees that mattered lately, in pairs."""
        left, right = (shelf.lately_used() for shelf in self.shelves)
        for k in range(max(len(left), len(right))):
            one, other = left[k % len(left)], right[k % len(right)]
            yield np.array([one[0], other[0], *one[1:], *other[1:]])

    def _split(self) -> ValueSplit | None:
        """The person about whose value the trees of the mixture disagree most."""
        if not self.bundle.mixture:
            return None
        everybody = np.arange(self.scratch.n_real)
        values = np.array([met.decided[everybody] for _, met in self.bundle.mixture])
        weight = np.array([share for share, _ in self.bundle.mixture])
        return self.worth_splitting(*most_contested(everybody, values, weight, self.scratch.influence))
