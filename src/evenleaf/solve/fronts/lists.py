"""All points of a slot's trees that could lead below a target: fronts of fronts (ALGORITHM §10.5).

A recipe is what rebuilds a point's tree: three numbers a test, in preorder, for a full tree of the slot's depth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.solve.fronts.answers import ForkTable, OutOfTime
from evenleaf.solve.fronts.flags import Sums
from evenleaf.solve.fronts.front import (
    LEAF,
    NONE,
    Front,
    Question,
    TooMany,
    cheapest,
    combined,
    deepened,
    joined,
    thinned,
)
from evenleaf.solve.fronts.kernels.forks import COMPOSITE, SHOWN, alive_forks, fork_points, stump_by_level
from evenleaf.solve.fronts.kernels.fronts import stump_points, subset_sums
from evenleaf.solve.fronts.kernels.fronts import sums as sums_of
from evenleaf.solve.fronts.kernels.refine import level_tables, refined
from evenleaf.solve.fronts.oracle import MOST_SUBSETS, Oracle
from evenleaf.solve.fronts.tests import FREE, RIGHT, Box, Cuts, Levels

_MOST_SINGLES = 512  # a box of more tests than this is not listed test by test
_MOST_SUBSETS = 200  # subsets of levels that composite stumps may keep alive
_MOST_REFINED = 50_000  # pairs of stumps that composite ones may stand for
_MOST_STEPS = 2_000_000  # ways to label levels of composite stumps that are looked at
_MOST_FORKS = 4000  # pairs of stumps that are looked at one by one
MOST_MASKED = 62  # levels that a recipe can name


class Lister:
    """Makes fronts of slots."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def front(self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray) -> Front:
        """Every point of a tree of at most this depth that survives, or `TooMany`."""
        if depth == 0:
            return self._labels(members, question, rest)
        if depth == 1:
            return self._stumps(members, question, rest)
        if self.oracle.flagged(depth):
            return self._flagged(members, depth, question, rest)
        growing = _Growing(deepened(self._labels(members, question, rest), depth))
        if depth == 2 and self.oracle.sweeps:
            swept, lowest = self._swept(members, question, rest)
            question = replace(question, target=lowest)
            growing.add(swept, question)
        for box, below in self._first_tests(members, depth, question, rest):
            if depth == 2 and self.oracle.forks(box, members):
                assert isinstance(box, Levels)  # noqa: S101 (only they fork)
                found: Front | None = self.fork(box, members, question, rest)
            else:
                found = self._below(box, below, members, depth, question, rest)
            if found is not None:
                growing.add(found, question)
        return growing.whole(question)

    def _flagged(self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray) -> Front:
        """The front of a slot in a table where each feature has two ranks."""
        oracle = self.oracle
        assert oracle.flags is not None  # noqa: S101 (asked for only then)
        sums = oracle.flags.sums(members)
        if depth == 2:
            return self._flag_points(sums, question, rest)
        growing = _Growing(deepened(self._labels(members, question, rest), depth))
        near, far = oracle.flag_values(members, depth, question.prices)
        triples = oracle.flags.triples(members)
        for f in np.flatnonzero((near + far + rest < question.target).all(axis=1)):
            flagged = sums.having(int(f), triples)
            one = self._flag_points(flagged, question, rest + far[f])
            if not len(one):
                continue
            two = self._flag_points(sums.less(flagged), question, rest + cheapest(one.points, question.multipliers))
            if not len(two):
                continue
            # The flag is the higher rank, on the right, unless it is turned round.
            one, two = (one, two) if oracle.flags.flipped[f] else (two, one)
            pairs, number = sums_of(one.points, two.points, question.multipliers, rest, question.target, question.most)
            if number < 0:
                raise TooMany
            growing.add(thinned(combined(one, two, pairs[:number], (int(f), 0, LEAF)), question), question)
        return growing.whole(question)

    def _swept(self, members: np.ndarray, question: Question, rest: np.ndarray) -> tuple[Front, float]:
        """Every point of a cut above stumps that survives, and the target, lower where a whole tree was found."""
        oracle = self.oracle
        nothing = Front(np.zeros((0, oracle.lane.n_dimensions + 1)), np.zeros((0, 9), dtype=np.int64))
        if not oracle.crowded(members):
            return nothing, question.target
        goal = question.goal
        sweep = oracle.sweep(members)
        listed = sweep.whole if question.matched and len(goal) > 1 else sweep.points
        points, recipes, number = listed(question.prices, oracle.least, rest, goal, question.most, question.mode)
        if number == -2:
            raise OutOfTime
        if number < 0:
            raise TooMany
        return thinned(Front(points[:number], recipes[:number]), question), float(goal[0])

    def _flag_points(self, sums: Sums, question: Question, rest: np.ndarray) -> Front:
        oracle = self.oracle
        assert oracle.flags is not None  # noqa: S101 (asked for only then)
        asked = question.multipliers, rest, question.target, question.most, question.mode
        points, recipes, number = oracle.flags.points(sums, oracle.least, oracle.allowed, asked)
        if number < 0:
            raise TooMany
        return thinned(Front(points[:number], recipes[:number]), question)

    def _labels(self, members: np.ndarray, question: Question, rest: np.ndarray) -> Front:
        """The points of giving everybody the same label that survive."""
        vectors, n_classes = self.oracle.lane.vectors, self.oracle.lane.n_labels + 1
        points = np.concatenate([np.zeros((1, vectors.shape[2])), vectors[members].sum(axis=0)])
        prices = points[:, :1] + points[:, 1:] @ question.multipliers.T + rest
        alive = np.flatnonzero((prices < question.target).all(axis=1))
        recipes = np.column_stack([np.full(len(alive), LEAF), np.zeros_like(alive), alive * (n_classes + 1)])
        return thinned(Front(points[alive], recipes), question)

    def _stumps(self, members: np.ndarray, question: Question, rest: np.ndarray) -> Front:
        oracle = self.oracle
        points, recipes, number = stump_points(
            oracle.ranks,
            oracle.sizes,
            oracle.unordered,
            members,
            oracle.lane.vectors,
            oracle.count,
            oracle.least,
            oracle.allowed,
            question.multipliers,
            rest,
            question.target,
            question.most,
            question.mode,
        )
        if number < 0:
            raise TooMany
        return thinned(Front(points[:number], recipes[:number]), question)

    def _first_tests(
        self, members: np.ndarray, depth: int, question: Question, rest: np.ndarray
    ) -> list[tuple[Box, np.ndarray]]:
        """The single tests that may lead below the target, cheapest first, and what is below each."""
        if depth == 2 and self.oracle.sweeps:  # the others are swept
            children = self.oracle.level_children(members, depth, question.prices, self.oracle.walked)
        else:
            children = self.oracle.children_below(members, depth, question.prices, question.target - rest)
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
        pairs, number = alive_forks(table.turned(), table.sides, rest, question.target, _MOST_FORKS, oracle.stop)
        self._check_clock()
        if number < 0 or oracle.least > 1 or oracle.sizes[box.feature] > MOST_MASKED:
            raise TooMany
        composite = (table.stumps[pairs[:number], 2] == COMPOSITE).any(axis=1)
        taken_apart = self._refined(box, members, table, pairs[:number], composite, question, rest)
        if taken_apart is not None:
            return thinned(self._plain_forks(box, members, *taken_apart, question, rest), question)
        parts = [self._plain_forks(box, members, table, pairs[:number][~composite], question, rest)]
        for single in self._alive_subsets(box, table, pairs[:number][composite], question, rest):
            value = oracle.below(single, members, 2, question.prices)
            if (value + rest < question.target).all():
                found = self._below(single, value, members, 2, question, rest)
                parts += [] if found is None else [found]
        return thinned(joined(parts), question)

    def _refined(
        self,
        box: Levels,
        members: np.ndarray,
        table: ForkTable,
        pairs: np.ndarray,
        composite: np.ndarray,
        question: Question,
        rest: np.ndarray,
    ) -> tuple[ForkTable, np.ndarray] | None:
        """All pairs of stumps with the composite ones taken apart, or None where that takes too long."""
        if not composite.any():
            return table, pairs
        oracle = self.oracle
        asked = np.flatnonzero(oracle.allowed & oracle.unordered)
        if oracle.sizes[asked].max() > MOST_MASKED:
            return None
        number_of = np.full(len(oracle.sizes), -1)
        number_of[asked] = np.arange(len(asked))
        prices = np.ascontiguousarray(question.prices.table[:, 0])
        tables, levels, counts = level_tables(
            oracle.ranks, oracle.sizes, members, box.feature, table.numbered, len(table.levels), prices, asked
        )
        rows, number = refined(
            pairs[composite],
            table.stumps,
            table.costs,
            tables,
            levels,
            counts,
            number_of,
            min(SHOWN, MOST_SUBSETS),
            table.sides,
            rest,
            question.target,
            _MOST_REFINED,
            _MOST_STEPS,
            oracle.stop,
        )
        self._check_clock()
        if number < 0:
            return None
        stumps, where = np.unique(rows[:number].reshape(-1, 3), axis=0, return_inverse=True)
        taken_apart = where.reshape(-1, 2) + len(table.stumps)
        whole = replace(table, stumps=np.concatenate([table.stumps, stumps]))
        return whole, np.concatenate([pairs[~composite], taken_apart])

    def _check_clock(self) -> None:
        if self.oracle.stop[0]:
            raise OutOfTime

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
            _, moved, number = subset_sums(
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
            oracle.stop,
        )
        self._check_clock()
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
        least = cheapest(one.points, question.multipliers)
        two = self.front(right, depth - 1, question, rest + least)
        if not len(two):
            return None
        pairs, number = sums_of(one.points, two.points, question.multipliers, rest, question.target, question.most)
        if number < 0:
            raise TooMany
        return thinned(combined(one, two, pairs[:number], test_code(box)), question)


class _Growing:
    """A list that is put together from several."""

    def __init__(self, first: Front) -> None:
        self.parts, self.size = [first], len(first)

    def add(self, more: Front, question: Question) -> None:
        """Needless points are dropped once there are too many; `TooMany` where it would soon be full again."""
        self.parts.append(more)
        self.size += len(more)
        if self.size > question.most:
            self.parts = [thinned(joined(self.parts), question)]
            self.size = len(self.parts[0])
            if self.size > question.most // 2:
                raise TooMany

    def whole(self, question: Question) -> Front:
        """All of it, without needless points."""
        return thinned(joined(self.parts), question)


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


def _settled(box: Box, oracle: Oracle) -> Box:
    """A box in which nobody is free, as its first test."""
    if isinstance(box, Cuts):
        return Cuts(box.feature, box.low, box.low)
    everyone = frozenset(range(int(oracle.sizes[box.feature])))
    return Levels(box.feature, box.left, everyone - box.left)


def test_code(box: Box) -> tuple[int, int, int]:
    """The numbers of a single test in a recipe."""
    if isinstance(box, Cuts):
        return box.feature, box.low, LEAF
    return box.feature, sum(1 << level for level in box.left), LEAF
