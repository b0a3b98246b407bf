"""All trees of a slot that could lead below the claim, as points: their vectors, and how often they test a column.

A point is kept if at all multipliers its price and the least price of the rest are below what is to be reached; so
every tree that is better than the claim is made of points that are kept (ALGORITHM §10.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.certify.fronts.asked import At, needless
from evenleaf.solve.certify.fronts.forks import Fork
from evenleaf.solve.certify.fronts.line import Line
from evenleaf.solve.certify.fronts.slots import Slots
from evenleaf.solve.certify.fronts.sums import subset_sums
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT

MOST_POINTS, _MOST_SUMS, _MOST_FORKS, _MOST_TESTS = 200_000, 100_000_000, 20_000, 2_000
_AT_A_TIME = 1 << 20


class TooMany(Exception):  # noqa: N818 (it is no error: the part is made smaller instead)
    """More trees than can be listed."""


@dataclass(frozen=True, eq=False)
class Points:
    """Vectors, and for each the number of tests of each column; `tests` has no columns where nobody asks."""

    vectors: np.ndarray
    tests: np.ndarray

    def __len__(self) -> int:
        return len(self.vectors)

    def take(self, which: np.ndarray) -> Points:
        """Some of the points."""
        return Points(self.vectors[which], self.tests[which])


class Lister:
    """Lists the points of slots at some multipliers; with a side, only side·d ≤ ε is asked."""

    def __init__(self, slots: Slots, at: At, side: int, only_labels: bool = False) -> None:
        self.slots, self.at, self.side, self.asked = slots, at, side, slots.asked
        # Where every test is settled there is nothing to make smaller: labels are listed, however many.
        self.most = 1 << 40 if only_labels else MOST_POINTS
        self.n_columns = len(self.asked.problem.people.features.schema) if self.asked.coupled else 0

    def kept(self, points: Points, rest: np.ndarray) -> Points:
        """The points that may lead below the claim, without the needless ones."""
        points = points.take((points.vectors @ self.at.to_price + rest < self.at.reach).all(axis=1))
        if self.n_columns:
            return points.take(self.asked.keep_rows(points.tests))
        if len(points) < 2:
            return points
        return points.take(~needless(points.vectors, self.asked.limit is None, self.side))

    def slot(self, members: np.ndarray, depth: int, rest: np.ndarray) -> Points:
        """The points of a slot; `rest` is the least price of all others, at each multipliers."""
        found = [self._leaves(members)]
        if depth and self.slots.count[members].sum() >= 2 * self.asked.least and len(self.asked.features):
            line = Line(self.asked, members)
            found += self._stumps(line, rest) if depth == 1 else self._deeper(line, depth, rest)
        return self.kept(_joined(found), rest)

    def _points(self, vectors: np.ndarray, owner: int = -1) -> Points:
        """Points whose trees test one feature, or none."""
        tests = np.zeros((len(vectors), self.n_columns), dtype=np.int16)
        if owner >= 0 and self.n_columns:
            tests[:, self.asked.columns[self.asked.features[owner]]] = 1
        return Points(vectors, tests)

    def _leaves(self, members: np.ndarray) -> Points:
        return self._points(self.asked.vectors[:, members].sum(axis=1))

    def _stumps(self, line: Line, rest: np.ndarray) -> list[Points]:
        """Every cut and every subset of levels, with every two labels."""
        vectors = self.asked.vectors[:, line.members]
        n_labels, width = len(vectors), self.asked.width
        sums = line.sums(vectors.transpose(0, 2, 1).reshape(n_labels * width, -1)).reshape(n_labels, width, -1)
        totals = vectors.sum(axis=1)
        below, found = line.below(sums, totals), []
        cuts = np.flatnonzero(line.is_cut)
        before = line.below(line.count, line.count[: line.starts[1]].sum())[cuts]
        cuts = cuts[np.minimum(before, line.count[: line.starts[1]].sum() - before) >= self.asked.least]
        for a in range(n_labels):
            for b in range(n_labels):
                if a != b:
                    points = (below[a][:, cuts] - below[b][:, cuts]).T + totals[b]
                    alive = (points @ self.at.to_price + rest < self.at.reach).all(axis=1)
                    owners = line.owner[cuts]
                    found += [self._points(points[alive & (owners == one)], one) for one in np.unique(owners[alive])]
        for owner in np.flatnonzero(line.unordered & (np.diff(line.starts) > 1)):
            mine = sums[:, :, line.starts[owner] : line.starts[owner + 1]].transpose(0, 2, 1)
            found.append(self._subsets(line, int(owner), mine, rest))
        return found

    def _subsets(self, line: Line, owner: int, sums: np.ndarray, rest: np.ndarray) -> Points:
        """The points of all subsets of levels, for every two labels."""
        pairs = [(a, b) for b in range(len(sums)) for a in range(b)]
        base = np.array([sums[a].sum(axis=0) for a, _ in pairs])
        change = np.array([sums[b] - sums[a] for a, b in pairs])
        budget, to_price, least = self.at.reach - rest, self.at.to_price, self.asked.least
        count = line.count[line.starts[owner] : line.starts[owner + 1]]
        if least > 1:
            # The people of the subset are counted along, at no price; then no point makes another needless.
            base = np.column_stack([base, np.zeros(len(base))])
            change = np.concatenate([change, np.broadcast_to(count[:, None], (*change.shape[:2], 1))], axis=2)
            to_price = np.vstack([to_price, np.zeros(len(self.at))])
        budgets = np.broadcast_to(budget, (len(base), len(budget)))
        found = subset_sums(base, change, to_price, budgets, None if least > 1 else self._needless, self.most)
        if found is None:
            raise TooMany
        points = found.sums
        if least > 1:
            inside = np.round(points[:, -1])
            points = points[np.minimum(inside, count.sum() - inside) >= least, :-1]
        return self._points(points, owner)

    def _needless(self, vectors: np.ndarray) -> np.ndarray:
        if self.n_columns:
            return np.zeros(len(vectors), dtype=np.bool_)
        return needless(vectors, self.asked.limit is None, self.side)

    def _deeper(self, line: Line, depth: int, rest: np.ndarray) -> list[Points]:
        found: list[Points] = []
        size = 0
        for owner in range(len(line.features)):
            if self.slots.many_levels(line, owner):
                found += self._fork(line, owner, depth, rest)
            else:
                for left in self._alive(line, owner, depth, rest):
                    found.append(self.below(line, owner, left, depth, rest))
                    size += len(found[-1])
            if size > self.most:
                found = [self.kept(_joined(found), rest)]
                size = len(found[0])
                if size > self.most // 2:
                    raise TooMany
        return found

    def _alive(self, line: Line, owner: int, depth: int, rest: np.ndarray) -> list[np.ndarray]:
        """The first tests on a feature that may lead below the claim."""
        if depth > 2:
            return self._alive_deep(line, owner, depth, rest)
        values = np.array([self.slots.first_tests(line, owner, price, self.asked.least) for price in self.at.prices])
        alive = np.flatnonzero((values < (self.at.reach - rest)[:, None]).all(axis=0))
        return [self.slots.test(line, owner, int(number)) for number in alive]

    def _alive_deep(self, line: Line, owner: int, depth: int, rest: np.ndarray) -> list[np.ndarray]:
        """The same by halving sets of tests."""
        feature, found = int(line.features[owner]), []
        present = line.rank[line.starts[owner] : line.starts[owner + 1]]
        waiting = self.slots.begin(feature, line.members)
        ranks = self.asked.compiled.ranks[feature, line.members]
        while waiting:
            sides = waiting.pop()
            values = [
                self.slots.below(line.members, feature, sides, depth, p, self.asked.least) for p in self.at.prices
            ]
            if not (np.array(values) + rest < self.at.reach).all():
                continue
            if (sides[ranks] == OPEN).any():
                waiting += self.slots.halved(feature, sides, line.members)
                continue
            found.append(sides[present] == LEFT)
            if len(found) > _MOST_TESTS:
                raise TooMany
        return found

    def below(self, line: Line, owner: int, left: np.ndarray, depth: int, rest: np.ndarray) -> Points:
        """The points of the trees that begin with a single test: the levels or ranks of `left` go left."""
        goes = left[line.numbered(owner)]
        first, second = line.members[goes], line.members[~goes]
        other = np.array([self.slots.least(second, depth - 1, price, self.asked.least) for price in self.at.prices])
        one = self.slot(first, depth - 1, rest + other)
        if not len(one):
            return one
        two = self.slot(second, depth - 1, rest + (one.vectors @ self.at.to_price).min(axis=0))
        found = self.merged(one, two, rest)
        if self.n_columns:
            found.tests[:, self.asked.columns[self.asked.features[owner]]] += 1
        return found

    def merged(self, one: Points, two: Points, rest: np.ndarray, worth_below: float | None = None) -> Points:
        """Every sum of a point of each list that is kept; or, as the last sum, is worth less than this."""
        found = [one.take(np.zeros(0, dtype=np.int64))]
        if len(one) and len(two):
            price_one, price_two = one.vectors @ self.at.to_price + rest - self.at.reach, two.vectors @ self.at.to_price
            lead = int((price_one.min(axis=0) + price_two.min(axis=0)).argmax())
            order = np.argsort(price_two[:, lead], kind="stable")
            partners = np.searchsorted(price_two[order, lead], -price_one[:, lead])
            if partners.sum() > _MOST_SUMS:
                raise TooMany
            for some in np.split(np.arange(len(one)), np.flatnonzero(np.diff(np.cumsum(partners) // _AT_A_TIME)) + 1):
                first = np.repeat(some, partners[some])
                second = order[
                    np.arange(len(first)) - np.repeat(np.cumsum(partners[some]) - partners[some], partners[some])
                ]
                alive = (price_one[first] + price_two[second] < 0).all(axis=1)
                first, second = first[alive], second[alive]
                points = Points(one.vectors[first] + two.vectors[second], one.tests[first] + two.tests[second])
                if worth_below is not None:
                    points = points.take(self.asked.worth(points.vectors, self.side) < worth_below)
                found.append(self.kept(points, rest))
                if sum(map(len, found)) > self.most:
                    raise TooMany
        return self.kept(_joined(found), rest)

    def _fork(self, line: Line, owner: int, depth: int, rest: np.ndarray) -> list[Points]:
        """The points below a test of many levels: pairs of stumps that are alive, and their subsets of levels."""
        if depth > 2 or self.asked.least > 1:
            raise TooMany
        levels = np.full(int(line.starts[owner + 1] - line.starts[owner]), OPEN, dtype=np.int8)
        return [self.fork(Fork(line, owner, levels), owner, rest)]

    def fork(self, fork: Fork, owner: int, rest: np.ndarray) -> Points:
        """The same for levels of which some are placed."""
        budget = self.at.reach - rest
        costs = [fork.costs(price) for price in self.at.prices]
        pairs = fork.pairs_below(costs, budget, _MOST_FORKS)
        if pairs is None:
            raise TooMany
        real = fork.is_tree[pairs].all(axis=1)
        found = self._plain(fork, owner, pairs[real], rest)
        for left in self._suggested(fork, pairs[~real], np.stack(costs, axis=2), budget):
            found.append(self.below(fork.line, owner, left, 2, rest))
        return self.kept(_joined(found), rest)

    def _plain(self, fork: Fork, owner: int, pairs: np.ndarray, rest: np.ndarray) -> list[Points]:
        vectors = np.stack([fork.costs(self.asked.vectors[:, :, q]) for q in range(self.asked.width)], axis=2)
        base, change = _moved(fork, vectors, pairs)
        budget = np.broadcast_to(self.at.reach - rest, (len(pairs), len(self.at)))
        found = subset_sums(base, change, self.at.to_price, budget, self._needless, self.most)
        if found is None:
            raise TooMany
        points = self._points(found.sums, owner)
        if self.n_columns:
            for stump in fork.owners[pairs[found.origin]].T:
                tested = np.flatnonzero(stump >= 0)
                points.tests[tested, self.asked.columns[self.asked.features[stump[tested]]]] += 1
        return [points]

    def _suggested(self, fork: Fork, pairs: np.ndarray, costs: np.ndarray, budget: np.ndarray) -> list[np.ndarray]:
        """The subsets of levels that stumps which are no trees leave possible."""
        base, change = _moved(fork, costs, pairs)
        budgets = np.broadcast_to(budget, (len(pairs), len(budget)))
        found = subset_sums(base, change, np.eye(len(budget)), budgets, None, _MOST_TESTS)
        if found is None:
            raise TooMany
        moved = np.tile(fork.sides == RIGHT, (len(found.chosen), 1))
        moved[:, fork.sides == OPEN] = found.chosen
        return list(~np.unique(moved, axis=0)) if len(moved) else []


def _moved(fork: Fork, costs: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each pair of stumps: the sum with all open levels on the left, and what moving each to the right adds."""
    left, right = costs[pairs[:, 0]], costs[pairs[:, 1]]
    base = np.where((fork.sides == RIGHT)[None, :, None], right, left).sum(axis=1)
    return base, (right - left)[:, fork.sides == OPEN]


def _joined(parts: list[Points]) -> Points:
    return Points(np.concatenate([p.vectors for p in parts]), np.concatenate([p.tests for p in parts]))
