"""What the trees of a slot cost at least, at given prices: every test in every place is tried.

Prices have a row a label and a column a person.
"""

from __future__ import annotations

import hashlib
import heapq

import numpy as np

from evenleaf.solve.certify.fronts.asked import Asked
from evenleaf.solve.certify.fronts.forks import Fork
from evenleaf.solve.certify.fronts.line import Line
from evenleaf.solve.certify.fronts.outlines import halves, interval
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT

MOST_LISTED_LEVELS = 8  # of a first test whose subsets are tried one by one
_CELLS = 1 << 21  # so many numbers are worked on at a time
_ROOM = 10_000_000  # so many are remembered
_FEW, _PATIENCE = 16, 400


class Slots:
    """The least prices of a problem's slots."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.count = asked, asked.compiled.count
        self.known: dict[bytes, np.ndarray] = {}
        self.room = _ROOM

    def leaf(self, members: np.ndarray, price: np.ndarray) -> float:
        """One label for all."""
        return float(price[:, members].sum(axis=1).min())

    def free(self, members: np.ndarray, price: np.ndarray) -> float:
        """Everybody with the label that is cheapest for them."""
        return float(price[:, members].min(axis=0).sum())

    def least(self, members: np.ndarray, depth: int, price: np.ndarray, least: int) -> float:
        """The cheapest tree of at most this depth with at least so many people in each leaf, or a bound on it."""
        if depth == 0 or self.count[members].sum() < 2 * least or not len(self.asked.features):
            return self.leaf(members, price)
        key = _key(members, price, depth, least)
        if key not in self.known:
            self._remember(key, np.array([self._least(members, depth, price, least)]))
        return float(self.known[key][0])

    def _remember(self, key: bytes, values: np.ndarray) -> None:
        """Parts have much in common, and what was worked out for one often serves another."""
        self.room -= len(values) + 20
        if self.room < 0:
            self.known, self.room = {}, _ROOM
        self.known[key] = values

    def _least(self, members: np.ndarray, depth: int, price: np.ndarray, least: int) -> float:
        if depth > 2:
            return self._deep(members, depth, price, least)
        line = Line(self.asked, members)
        if depth == 1:
            return float(self._stumps(line, line.sums(price[:, members])[:, None], line.count[None], least)[0])
        best = self.leaf(members, price)
        for owner in range(len(line.features)):
            if self.many_levels(line, owner):
                best = min(best, self._fork(line, owner, price, best))
            else:
                best = min(best, float(self.first_tests(line, owner, price, least).min(initial=np.inf)))
        return best

    def _stumps(self, line: Line, sums: np.ndarray, count: np.ndarray, least: int) -> np.ndarray:
        """The best stump, or leaf, of each group: `sums` by label, group and rank; infinite with too few people."""
        totals, people = sums[..., : line.starts[1]].sum(axis=-1), count[:, : line.starts[1]].sum(axis=-1)
        below = line.below(sums, totals)
        cost = below.min(axis=0) + (totals[..., None] - below).min(axis=0)
        enough = np.broadcast_to(line.is_cut, cost.shape)
        if least > 1:
            before = line.below(count, people)
            enough = enough & (np.minimum(before, people[:, None] - before) >= least)
        best = np.minimum(totals.min(axis=0), np.where(enough, cost, np.inf).min(axis=1))
        unordered = np.flatnonzero(line.unordered & (np.diff(line.starts) > 0))
        for a in range(len(sums) if len(unordered) else 0):
            for b in range(a):
                # Each level takes the cheaper of two labels; whether that leaves enough people is not asked.
                cheaper = np.add.reduceat(np.minimum(sums[a], sums[b]), line.starts[:-1][np.diff(line.starts) > 0], 1)
                best = np.minimum(best, cheaper[:, line.unordered[np.diff(line.starts) > 0]].min(axis=1))
        return best if least == 1 else np.where(people >= least, best, np.inf)

    def many_levels(self, line: Line, owner: int) -> bool:
        """Whether a feature's subsets of levels are too many to be tried one by one."""
        return bool(line.unordered[owner] and line.starts[owner + 1] - line.starts[owner] > MOST_LISTED_LEVELS)

    def first_tests(self, line: Line, owner: int, price: np.ndarray, least: int) -> np.ndarray:
        """The cheapest pair of stumps below every test on a feature; `test` tells which is which."""
        key = _key(line.members, price, -owner - 1, least)
        if key not in self.known:
            self._remember(key, self._below_tests(line, owner, price, least))
        return self.known[key]

    def test(self, line: Line, owner: int, number: int) -> np.ndarray:
        """The ranks (of those that are present) that go left in one of the tests on a feature."""
        size = int(line.starts[owner + 1] - line.starts[owner])
        return _subsets(size)[number] if line.unordered[owner] else np.arange(size) <= number

    def _below_tests(self, line: Line, owner: int, price: np.ndarray, least: int) -> np.ndarray:
        size = int(line.starts[owner + 1] - line.starts[owner])
        if size < 2:
            return np.zeros(0)
        table = line.tables(price[:, line.members], line.numbered(owner), size)
        # With one person enough for a leaf nobody needs to be counted.
        people = (self.count if least > 1 else 0 * self.count)[None, line.members]
        count = line.tables(people, line.numbered(owner), size)[0]
        if line.unordered[owner]:
            chosen = _subsets(size).astype(np.float64)
            sums, before = chosen @ table, chosen @ count
        else:
            sums, before = table.cumsum(axis=1)[:, :-1], count.cumsum(axis=0)[:-1]
        total, everybody = table.sum(axis=1)[:, None], count.sum(axis=0)
        values = [
            self._stumps(line, sums[:, some], before[some], least)
            + self._stumps(line, total - sums[:, some], everybody - before[some], least)
            for some in np.array_split(np.arange(len(before)), -(-len(before) * len(line) // _CELLS))
        ]
        return np.concatenate(values)

    def _fork(self, line: Line, owner: int, price: np.ndarray, best: float) -> float:
        size = int(line.starts[owner + 1] - line.starts[owner])
        return Fork(line, owner, np.full(size, OPEN, dtype=np.int8)).least(price, best)

    def _deep(self, members: np.ndarray, depth: int, price: np.ndarray, least: int) -> float:
        """Sets of first tests, the cheapest first, halved until the cheapest is a single test (or patience ends)."""
        best, order = self.leaf(members, price), 0
        waiting: list[tuple[float, int, int, np.ndarray]] = []
        todo = [(feature, sides) for feature in self.asked.features for sides in self.begin(int(feature), members)]
        for patience in range(_PATIENCE, -1, -1):
            for feature, sides in todo:
                order += 1
                value = self.below(members, feature, sides, depth, price, least)
                if value < best:
                    heapq.heappush(waiting, (value, order, feature, sides))
            if not waiting:
                return best
            value, _, feature, sides = waiting[0]
            if not patience or not (sides[self.asked.compiled.ranks[feature, members]] == OPEN).any():
                return value
            heapq.heappop(waiting)
            todo = [(feature, half) for half in self.halved(feature, sides, members)]
        return best

    def begin(self, feature: int, members: np.ndarray) -> list[np.ndarray]:
        """All tests on a feature in a few sets."""
        size = int(self.asked.compiled.sizes[feature])
        present = np.unique(self.asked.compiled.ranks[feature, members])
        if len(present) < 2:
            return []
        if self.asked.compiled.unordered[feature]:
            sides = np.full(size, LEFT, dtype=np.int8)
            sides[present[1:]] = OPEN
            return [sides]
        ends = np.array_split(present[:-1], min(len(present) - 1, _FEW))
        return [interval(size, int(end[0]), int(end[-1])) for end in ends]

    def halved(self, feature: int, sides: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
        """Two sets of tests, with about as many people not placed in each."""
        compiled = self.asked.compiled
        weight = np.bincount(compiled.ranks[feature, members], self.count[members], len(sides))
        return list(halves(sides, weight, bool(compiled.unordered[feature])))

    def below(
        self, members: np.ndarray, feature: int, sides: np.ndarray, depth: int, price: np.ndarray, least: int
    ) -> float:
        """What a slot costs at least that begins with one of these tests."""
        side = sides[self.asked.compiled.ranks[feature, members]]
        left, right, free = (members[side == which] for which in (LEFT, RIGHT, OPEN))
        if min(self.count[left].sum(), self.count[right].sum()) + self.count[free].sum() < least:
            return np.inf
        least = 1 if len(free) else least
        together = self.least(left, depth - 1, price, least) + self.least(right, depth - 1, price, least)
        if self.asked.compiled.unordered[feature]:
            return together + self.apart(free, feature, depth - 1, price)
        return together + self.free(free, price)

    def apart(self, members: np.ndarray, feature: int, depth: int, price: np.ndarray) -> float:
        """What levels cost at least that are not placed: each goes to one side, and has a tree there."""
        level = self.asked.compiled.ranks[feature, members]
        return sum(self.least(members[level == one], depth, price, 1) for one in np.unique(level))


def _key(members: np.ndarray, price: np.ndarray, what: int, least: int) -> bytes:
    return hashlib.blake2b(members.tobytes() + price.tobytes() + f"{what} {least}".encode()).digest()


def _subsets(size: int) -> np.ndarray:
    """Every subset of levels that is neither all nor none; of a subset and its complement one."""
    number = np.arange(1, 1 << (size - 1)) << 1
    return np.asarray((number[:, None] >> np.arange(size)) & 1 == 1)
