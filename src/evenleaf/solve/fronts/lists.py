"""All points of a slot's trees that could lead below a target: fronts of fronts (ALGORITHM §10.5).

A recipe is what rebuilds a point's tree: three numbers a test, in preorder, for a full tree of the slot's depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.kernels.forks import COMPOSITE, alive_forks, fork_points, stump_by_level
from evenleaf.solve.fronts.kernels.fronts import stump_points, subset_sums, sums
from evenleaf.solve.fronts.kernels.needless import undominated
from evenleaf.solve.fronts.oracle import MOST_SUBSETS, ForkTable, Oracle
from evenleaf.solve.fronts.tests import FREE, RIGHT, Box, Cuts, Levels

LEAF = -1
NONE, LIMIT, PENALTY, ABOVE, BELOW = -1, 0, 1, 2, 3  # which points are needless: see `undominated`
_COMPARED = 256  # in several dimensions a point is held against so many cheaper ones
_MOST_SINGLES = 512  # a box of more tests than this is not listed test by test
_MOST_SUBSETS = 200  # subsets of levels that composite stumps may keep alive
_MOST_FORKS = 4000  # pairs of stumps that are looked at one by one
MOST_MASKED = 62  # levels that a recipe can name


class TooMany(Exception):  # noqa: N818 (it is no error: the caller splits the node instead)
    """More points than the caller wants to see."""


@dataclass(frozen=True, eq=False)
class Front:
    """Points and, row by row, how to build them."""

    points: np.ndarray
    recipes: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    def take(self, chosen: np.ndarray) -> Front:
        """Some of the points."""
        return Front(self.points[chosen], self.recipes[chosen])


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of every list: these multipliers, prices at them, and what to stay below."""

    multipliers: np.ndarray
    prices: np.ndarray
    target: float
    most: int
    mode: int


class Lister:
    """Makes fronts of slots."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.nothing = np.zeros(len(oracle.sizes), dtype=np.bool_)

    def front(self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray) -> Front:
        """Every point of a tree of at most this depth that survives, or `TooMany`."""
        if depth <= 1:
            return self._stumps(members, depth, question, rest)
        parts = [_deepened(self._stumps(members, 0, question, rest), depth)]
        size = len(parts[0])
        for box, below in self._first_tests(members, depth, question, rest):
            if depth == 2 and self.oracle.forks(box, members):
                assert isinstance(box, Levels)  # noqa: S101 (only they fork)
                found: Front | None = self.fork(box, members, question, rest)
            else:
                found = self._below(box, below, members, depth, question, rest)
            if found is None:
                continue
            parts.append(found)
            size += len(found)
            if size > question.most:
                parts = [_thinned(_joined(parts), question)]
                size = len(parts[0])
                if size > question.most // 2:
                    raise TooMany
        return _thinned(_joined(parts), question)

    def _stumps(self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray) -> Front:
        oracle = self.oracle
        points, recipes, number = stump_points(
            oracle.ranks,
            oracle.sizes,
            oracle.unordered,
            members,
            oracle.lane.vectors,
            oracle.count,
            oracle.least,
            oracle.allowed if depth else self.nothing,
            question.multipliers,
            rest,
            question.target,
            question.most,
            question.mode,
        )
        if number < 0:
            raise TooMany
        return _thinned(Front(points[:number], recipes[:number]), question)

    def _first_tests(
        self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray
    ) -> list[tuple[Box, np.ndarray]]:
        """The single tests that may lead below the target, cheapest first, and what is below each."""
        children = self.oracle.children(members, depth, question.prices)
        alive = np.flatnonzero((children.values + rest < question.target).all(axis=1))
        found: list[tuple[Box, np.ndarray]] = []
        for number in alive:
            box = children.boxes[number]
            if depth == 2 and self.oracle.forks(box, members):
                found.append((box, children.values[number]))
            elif len(self.oracle.part(box, members)[2]) == 0:
                found.append((_settled(box, self.oracle), children.values[number]))
            else:
                found += self._singles(box, members, depth, question, rest)
        return sorted(found, key=lambda item: float((item[1] + rest).max()))

    def fork(self, box: Levels, members: np.ndarray, question: Question, rest: np.ndarray) -> Front:
        """Every point of a categorical test with free levels above two stumps: pairs of stumps, then subsets."""
        oracle = self.oracle
        table = oracle.table(box, members, question.prices, MOST_SUBSETS)
        pairs, number = alive_forks(table.turned(), table.sides, rest, question.target, _MOST_FORKS)
        if number < 0 or oracle.least > 1 or oracle.sizes[box.feature] > MOST_MASKED:
            raise TooMany
        composite = (table.stumps[pairs[:number], 2] == COMPOSITE).any(axis=1)
        parts = [self._plain_forks(box, members, table, pairs[:number][~composite], question, rest)]
        for single in self._alive_subsets(box, table, pairs[:number][composite], question, rest):
            value = oracle.below(single, members, 2, question.prices)
            if (value + rest < question.target).all():
                found = self._below(single, value, members, 2, question, rest)
                parts += [] if found is None else [found]
        return _thinned(_joined(parts), question)

    def _alive_subsets(
        self, box: Levels, table: ForkTable, pairs: np.ndarray, question: Question, rest: np.ndarray
    ) -> list[Levels]:
        """The single tests that composite stumps keep alive: these are looked at one by one."""
        n_multipliers = len(rest)
        free = np.flatnonzero(table.sides == FREE)
        found: set[int] = set()
        for a, b in pairs:
            left, right = table.costs[a], table.costs[b]
            settled = np.where((table.sides == RIGHT)[:, None], right, left).sum(axis=0)
            _, moved, _, number = subset_sums(
                np.column_stack([np.zeros(len(free)), (right - left)[free]]),
                np.concatenate([[0.0], settled]),
                table.levels[free],
                table.heads[free],
                np.eye(n_multipliers),
                rest,
                question.target,
                _MOST_SUBSETS,
                NONE,
                np.array([64 * _MOST_SUBSETS]),
            )
            found |= {int(mask) for mask in moved[: max(number, 0), 0]}
            if number < 0 or len(found) > _MOST_SUBSETS:
                raise TooMany
        everyone = frozenset(range(int(self.oracle.sizes[box.feature])))
        fixed = frozenset(table.levels[table.sides == RIGHT].tolist())
        rights = [fixed | {level for level in everyone if mask >> level & 1} for mask in sorted(found)]
        return [Levels(box.feature, everyone - right, frozenset(right)) for right in rights]

    def _plain_forks(
        self,
        box: Levels,
        members: np.ndarray,
        table: ForkTable,
        pairs: np.ndarray,
        question: Question,
        rest: np.ndarray,
    ) -> Front:
        oracle = self.oracle
        needed, where = np.unique(pairs, return_inverse=True)
        vectors = np.ascontiguousarray(oracle.lane.vectors[:, 0])
        by_level = np.zeros((len(needed), len(table.levels), vectors.shape[1]))
        for place, stump in enumerate(table.stumps[needed]):
            by_level[place] = stump_by_level(
                oracle.ranks, oracle.unordered, members, box.feature, table.numbered, len(table.levels), vectors, stump
            )
        points, masks, origin, number = fork_points(
            by_level,
            where.reshape(-1, 2),
            table.sides,
            table.levels,
            table.heads,
            question.multipliers,
            rest,
            question.target,
            question.most,
            question.mode,
        )
        if number < 0:
            raise TooMany
        stumps = _with_kind(table.stumps, oracle.unordered)[pairs[origin[:number, 0]]]
        return Front(points[:number], _fork_recipes(box.feature, masks[:number, 0], stumps))

    def _singles(
        self, box: Box, members: np.ndarray, depth: int, question: Question, rest: np.ndarray
    ) -> list[tuple[Box, np.ndarray]]:
        present = self.oracle.weights(box, members) > 0
        inside = int((present & (box.sides(len(present)) == FREE)).sum())
        if (inside if isinstance(box, Cuts) else 1 << min(inside, 60)) > _MOST_SINGLES:
            raise TooMany
        found = []
        for single in box.singles(present):
            value = self.oracle.below(single, members, depth, question.prices)
            if (value + rest < question.target).all():
                found.append((single, value))
        return found

    def _below(
        self, box: Box, value: np.ndarray, members: np.ndarray, depth: int, question: Question, rest: np.ndarray
    ) -> Front | None:
        """The points of the trees with this first test."""
        if isinstance(box, Levels) and self.oracle.sizes[box.feature] > MOST_MASKED:
            raise TooMany
        left, right, _ = self.oracle.part(box, members)
        on_left = self.oracle.value(left, depth - 1, question.prices)
        one = self.front(left, depth - 1, question, rest + value - on_left)
        if not len(one):
            return None
        cheapest = _cheapest(one.points, question.multipliers)
        two = self.front(right, depth - 1, question, rest + cheapest)
        if not len(two):
            return None
        pairs, number = sums(one.points, two.points, question.multipliers, rest, question.target, question.most)
        if number < 0:
            raise TooMany
        return _thinned(combined(one, two, pairs[:number], _code(box)), question)


def _thinned(front: Front, question: Question) -> Front:
    if question.mode < 0 or len(front) < 2:
        return front
    return front.take(undominated(front.points, question.mode, _COMPARED))


def _with_kind(stumps: np.ndarray, unordered: np.ndarray) -> np.ndarray:
    """Stumps with a fourth number: 1 where the feature's levels are named by a mask."""
    by_mask = (stumps[:, 0] >= 0) & unordered[stumps[:, 0]]
    return np.column_stack([stumps, by_mask])


def _fork_recipes(feature: int, masks: np.ndarray, stumps: np.ndarray) -> np.ndarray:
    """Test, left stump, right stump; a stump with sign 1 has label 1 up to its cut, or on the levels of its mask."""
    recipes = np.zeros((len(masks), 9), dtype=np.int64)
    recipes[:, 0], recipes[:, 1], recipes[:, 2] = feature, masks, LEAF
    for side, start in ((0, 3), (1, 6)):
        recipes[:, start : start + 2] = stumps[:, side, :2]
        no_test, sign, by_mask = stumps[:, side, 0] < 0, stumps[:, side, 2], stumps[:, side, 3] == 1
        labels = np.where(no_test, 3 * sign, np.where((sign == 1) & ~by_mask, 2, 1))  # low·2 + high
        recipes[:, start + 2] = labels
    return recipes


def combined(one: Front, two: Front, pairs: np.ndarray, test: tuple[int, int, int] | None = None) -> Front:
    """The sums of pairs of points; with a test, as the trees below it."""
    first, second = pairs[:, 0], pairs[:, 1]
    heads = [] if test is None else [np.tile(np.array(test, dtype=np.int64), (len(pairs), 1))]
    recipes = np.hstack([*heads, one.recipes[first], two.recipes[second]])
    return Front(one.points[first] + two.points[second], recipes)


def _cheapest(points: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    return np.asarray((points[:, :1] + points[:, 1:] @ multipliers.T).min(axis=0))


def _joined(parts: list[Front]) -> Front:
    return Front(np.concatenate([part.points for part in parts]), np.concatenate([part.recipes for part in parts]))


def _deepened(leaves: Front, depth: int) -> Front:
    """Leaves in the place of deeper trees."""
    recipes = np.zeros((len(leaves), 3 * (2**depth - 1)), dtype=np.int64)
    recipes[:, :3] = leaves.recipes
    return Front(leaves.points, recipes)


def _settled(box: Box, oracle: Oracle) -> Box:
    """A box in which nobody is free, as its first test."""
    if isinstance(box, Cuts):
        return Cuts(box.feature, box.low, box.low)
    everyone = frozenset(range(int(oracle.sizes[box.feature])))
    return Levels(box.feature, box.left, everyone - box.left)


def _code(box: Box) -> tuple[int, int, int]:
    if isinstance(box, Cuts):
        return box.feature, box.low, LEAF
    return box.feature, sum(1 << level for level in box.left), LEAF
