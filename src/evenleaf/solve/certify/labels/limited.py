"""What trees of depth 3 cost at least under limits that join their tests: leaves, people a leaf, uses, features.

The cheapest subtree of one side may use up what the other one needs. So for each side the cheapest subtree is found for
every *use*, the columns that its tests are about; and only two sides that keep the limits together make a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.certify.labels.bounds import CELLS, Bounds
from evenleaf.solve.certify.labels.pairs import Listed
from evenleaf.solve.certify.labels.roots import Roots
from evenleaf.solve.certify.labels.stumps import People, Stumps
from evenleaf.solve.proofs.labels import MOST_COUNTED_LEVELS
from evenleaf.solve.search.compiled import Compiled
from evenleaf.table import Schema

_MOST_LISTED_LEVELS = 11  # of a test below the root
_MOST_SPELT = 10  # levels of a stump, below a test with too many levels to list its subsets
_PAIRS = 1 << 18  # so many pairs of uses are looked at in one go


class Limits:
    """What all tests of a tree together must keep."""

    def __init__(self, shape: Shape, schema: Schema, compiled: Compiled) -> None:
        self.most_tests = None if shape.max_leaves is None else shape.max_leaves - 1
        self.most_features, self.most_uses = shape.max_features_used, shape.use_limits(schema)
        self.columns = np.array([*(feature.column for feature in compiled.features), -1])  # −1: no test

    def keep(self, used: np.ndarray) -> np.ndarray:
        """Which rows of columns, one a test and −1 for none, keep the limits."""
        used = np.sort(used, axis=1)
        kept = np.ones(len(used), dtype=np.bool_)
        if self.most_tests is not None:
            kept &= (used >= 0).sum(axis=1) <= self.most_tests
        if self.most_features is not None:
            is_new = np.diff(used, axis=1, prepend=-1) != 0
            kept &= is_new.sum(axis=1) <= self.most_features
        for column, most in self.most_uses.items():
            kept &= (used == column).sum(axis=1) <= most
        return kept


@dataclass(eq=False)
class Side:
    """The people of one side of a root, and the cheapest subtree of each use."""

    people: People
    child_alive: np.ndarray
    alive: np.ndarray
    costs: np.ndarray


@dataclass(frozen=True, eq=False)
class Tests:
    """Some child tests on a feature: for each, what the cheapest stump of every feature costs on either part."""

    feature: int
    cuts: np.ndarray
    best: np.ndarray  # (part, test, feature of the stump; the last is none)
    stumps: list[tuple[int, np.ndarray, np.ndarray]]  # feature, cuts and costs (part, test, cut)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A child test of many levels, each of which picks its stump: the cheapest pair for every two features."""

    feature: int
    cut: int
    table: np.ndarray


class LimitedBounds(Bounds):
    """The cheapest trees of depth 3 that keep the limits."""

    def __init__(self, compiled: Compiled, allowed: list[np.ndarray], shape: Shape, schema: Schema) -> None:
        super().__init__(compiled, shape.max_depth, shape.min_samples_leaf, allowed)
        self.limits, self.stumps = Limits(shape, schema, compiled), Stumps(compiled, _MOST_SPELT)
        n = compiled.n_features
        tests = np.stack(np.meshgrid(np.arange(n), np.arange(n + 1), np.arange(n + 1), indexing="ij"), axis=-1)
        used = np.vstack([np.sort(self.limits.columns[tests].reshape(-1, 3), axis=1), np.full((1, 3), -1)])
        self.uses, number = np.unique(used, axis=0, return_inverse=True)
        self.nothing, self.use_of = int(number.ravel()[-1]), number.ravel()[:-1].reshape(tests.shape[:3])

    def _sides(
        self, roots: Roots, alive: np.ndarray, people: People, part: np.ndarray, budget: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Whether the root may stay below the budget; and the cuts that some tree below it has.

        Who is not placed costs nothing here, but may fill any leaf.
        """
        is_open = roots.open[part]
        free = People(np.where(is_open, 0.0, people.prices), people.ranks, people.count)
        member = [goes[0][part] | is_open for goes in (roots.left, roots.right)]
        sides = [self._side(free.only(member[k]), alive[k, 0], alive[2 + k, 0]) for k in (0, 1)]
        root = int(self.limits.columns[roots.feature])
        self._add_chosen(sides, budget)
        left = np.zeros_like(alive)
        partners = [self._partners(sides[k].costs, sides[1 - k].costs, root, budget) for k in (0, 1)]
        below = bool((sides[0].costs + partners[0] < budget).any())
        if below:
            for k in (0, 1):
                left[k, 0], left[2 + k, 0] = self._cuts_below(sides[k], partners[k], budget)
        return np.array([below]), left

    def _side(self, people: People, child_alive: np.ndarray, alive: np.ndarray) -> Side:
        """The cheapest subtree of each use, but for child tests with too many levels to list their subsets.

        None where nobody is: without its root such a tree decides the same and uses less, and it is among the others.
        """
        side = Side(people, child_alive, alive, np.full(len(self.uses), np.inf))
        if not people.count.sum():
            return side
        if people.count.sum() >= self.least_people:
            side.costs[self.nothing] = people.prices.sum(axis=1).min()
        for tests in self._child_tests(side):
            for below in range(tests.best.shape[2]):
                cheapest = (tests.best[0, :, below, None] + tests.best[1]).min(axis=0)
                np.minimum.at(side.costs, self.use_of[tests.feature, below], cheapest)
        return side

    def _child_tests(self, side: Side) -> Iterator[Tests]:
        people, at_a_time = side.people, max(1, CELLS // max(int(side.alive.sum()), self.any_pair.size))
        for feature in range(self.compiled.n_features):
            for cuts, tests in self._tests(feature, people, side.child_alive, self._most_listed, at_a_time):
                if tests.open.any():
                    continue
                part, halves = tests.part[people.ranks[feature]], np.concatenate([tests.left, tests.right])
                totals, found = self.stumps.priced(people, part, halves, side.alive, self.least_people)
                n = len(tests)
                best = np.full((2, n, self.compiled.n_features + 1), np.inf)
                best[:, :, -1] = totals.min(axis=0).reshape(2, n)
                stumps = [(f, where, cost.min(axis=0).reshape(2, n, -1)) for f, where, cost in found]
                for f, _, cost in stumps:
                    best[:, :, f] = cost.min(axis=2)
                yield Tests(feature, np.broadcast_to(cuts, n), best, stumps)

    @property
    def _most_listed(self) -> int:
        return _MOST_LISTED_LEVELS if self.least_people == 1 else MOST_COUNTED_LEVELS

    def _add_chosen(self, sides: list[Side], budget: float) -> None:
        """The cheapest subtrees whose child test has many levels, as far as they may lead below the budget."""
        for side, other in (sides, sides[::-1]):
            for chosen in self._chosen(side, budget - other.people.alone):
                np.minimum.at(side.costs, self.use_of[chosen.feature], chosen.table)

    def _chosen(self, side: Side, budget: float) -> Iterator[Chosen]:
        people = side.people
        for feature in range(self.compiled.n_features):
            for cuts, tests in self._tests(feature, people, side.child_alive, self._most_listed, 1):
                if tests.open.any():
                    part = tests.part[people.ranks[feature]]
                    listed = self.stumps.listed(people, part, len(tests.open), side.alive, feature)
                    yield Chosen(feature, int(cuts[0]), _by_features(listed, self.compiled.n_features, budget))

    def _partners(self, mine: np.ndarray, other: np.ndarray, root: int, budget: float) -> np.ndarray:
        """For each use of a side what the cheapest subtree costs that keeps the limits with it on the other side."""
        partner = np.full(len(mine), np.inf)
        ours, theirs = np.flatnonzero(mine < budget - other.min()), np.flatnonzero(other < budget - mine.min())
        for some in np.array_split(ours, max(1, len(ours) * len(theirs) // _PAIRS)):
            pairs = np.stack(np.meshgrid(some, theirs, indexing="ij"), axis=-1).reshape(-1, 2)
            used = np.column_stack([self.uses[pairs[:, 0]], self.uses[pairs[:, 1]], np.full(len(pairs), root)])
            cost = np.where(self.limits.keep(used), other[pairs[:, 1]], np.inf).reshape(len(some), len(theirs))
            partner[some] = cost.min(axis=1, initial=np.inf)
        return partner

    def _cuts_below(self, side: Side, partner: np.ndarray, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """The child cuts and the stump cuts of subtrees that stay below the budget with some partner."""
        children, stumps = np.zeros((2, self.n_cuts), dtype=np.bool_)
        for tests in self._child_tests(side):
            rest = partner[self.use_of[tests.feature]]
            beside = [  # (test, feature of the stump): what the other stump and the other side cost at least
                np.array([(best + costs).min(axis=1) for costs in table]).T
                for best, table in ((tests.best[1], rest), (tests.best[0], rest.T))
            ]
            children[tests.cuts[(tests.best[0] + beside[0] < budget).any(axis=1)]] = True
            for feature, cuts, cost in tests.stumps:
                for k in (0, 1):
                    stumps[cuts[(cost[k] + beside[k][:, feature, None] < budget).any(axis=0)]] = True
        for chosen in self._chosen(side, budget - float(partner.min())):
            below = chosen.table + partner[self.use_of[chosen.feature]] < budget
            children[chosen.cut] |= bool(below.any())
            for feature in np.flatnonzero(below.any(axis=0) | below.any(axis=1)).tolist():
                # Below such a test the cuts of a feature are not told apart.
                stumps[self._cuts_of(feature)] = True
        return children, stumps & side.alive

    def _cuts_of(self, feature: int) -> slice:
        if feature == self.compiled.n_features:
            return slice(0, 0)
        return slice(int(self.compiled.offsets[feature]), int(self.compiled.offsets[feature + 1]))


def _by_features(listed: Listed, n_features: int, budget: float) -> np.ndarray:
    """For every two features the cheapest pair of stumps, each level with the cheaper one; exact below the budget."""
    table = np.full((n_features + 1, n_features + 1), np.inf)
    hope = np.minimum(listed.costs, listed.costs.min(axis=0)).sum(axis=1)
    rows = np.flatnonzero(hope < budget)
    for row in rows.tolist():
        total = np.minimum(listed.costs[row], listed.costs[rows]).sum(axis=1)
        np.minimum.at(table, (listed.features[row], listed.features[rows]), total)
    return np.minimum(table, table.T)
