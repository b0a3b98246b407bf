"""Subtrees of depth 2 on one side of a root, the cheapest for each use of the limits, with enough people a leaf.

`Children` finds the cheapest subtree of all; here what every feature's stump costs below every child test is kept.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import gray_code
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.kernels import stump_tables, usage
from evenleaf.solve.search.oracle import plan_stump
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.rationed_pairs import RationedPairs
from evenleaf.solve.search.usage import Supply

_LEAF, _PAIRED = -1, -2  # in the place of a child test's number
_MOST_WALKED_LEVELS = 11  # of a child test; with more, each level picks its side for a given pair of stumps
_MOST_WALKED_REFINED = 13  # where people in leaves are counted, which pairs know less about


class Rationed:
    """The child tests and stumps that people of one side may get; `rows` are the uses, `cost` the cheapest of each.

    Child tests with too many levels for all their subsets are priced by pairs of stumps, which know nothing of the
    number of people in a leaf and let the cells of long lists of levels choose: there the cost is only a bound.
    """

    def __init__(
        self, compiled: Compiled, supply: Supply, member: np.ndarray, possible: np.ndarray, child_alive: np.ndarray,
        alive: np.ndarray, least_people: int,
    ) -> None:  # fmt: skip
        c = compiled
        self.compiled, self.supply, self.least_people = compiled, supply, least_people
        self.member, self.possible = member, possible
        self.members, self.everybody = np.flatnonzero(member), np.flatnonzero(possible)
        # While people are free, a closer bound is not worth its time.
        self.refines = len(self.members) == len(self.everybody)
        self.most_walked = _MOST_WALKED_REFINED if self.refines and least_people > 1 else _MOST_WALKED_LEVELS
        self.part, self.part_place, self.n_parts = _segments(c, possible, child_alive, least_people)
        self.segment, self.place, self.n_segments = _segments(c, possible, alive, least_people)
        listed = [self._listed(f) for f in range(c.n_features)]
        self.moves = np.concatenate([*listed, np.zeros(0, dtype=np.int64)])
        self.starts = np.cumsum([0, *(len(moves) for moves in listed)])
        self.people = (
            c.count, self.members, self.everybody, self.part, self.n_parts, self.moves, self.starts, self.segment,
            self.n_segments, c.unordered, least_people,
        )  # fmt: skip
        self.left = np.empty((len(self.moves), c.n_features + 1))
        self.right, self.loose = np.empty_like(self.left), np.empty(self.left.shape, dtype=np.uint8)
        paired = [f for f in range(c.n_features) if c.unordered[f] and self.n_parts[f] > self.most_walked]
        self.pairs = [RationedPairs(self, f) for f in paired]
        self.rows, self.use_of = supply.of_three
        self.cost = np.empty(len(self.rows))
        self.test = np.empty(len(self.rows), dtype=np.int64)
        self.below = np.empty((len(self.rows), 2), dtype=np.int64)

    def _listed(self, f: int) -> np.ndarray:
        n_parts = int(self.n_parts[f])
        if n_parts and not self.compiled.unordered[f]:
            return np.arange(n_parts - 1)
        walked = 1 < n_parts <= self.most_walked
        return gray_code(n_parts - 1) + 1 if walked else np.zeros(0, dtype=np.int64)

    def price_listed(self, costs: np.ndarray, enough: float) -> float:
        """The cheapest subtree of each use that has a listed child test; what any subtree costs at least.

        Those that cost `enough` may be given less, but not less than that.
        """
        stump_tables.price_each_stump(costs, *self.people, self.left, self.right, self.loose)
        self.cost[:], self.test[:], self.below[:] = kernels.INFINITE, _LEAF, 0
        stump_tables.cheapest_of_each_use(
            costs, *self.people, self.left, self.right, self.loose, self.use_of, enough, self.cost,
            self.test, self.below,
        )  # fmt: skip
        if self.compiled.count[self.everybody].sum() >= self.least_people:
            self.cost[-1] = kernels.least_label(costs, self.member)[0]
        return float(min([self.cost.min(), *(pairs.price_levels(costs) for pairs in self.pairs)]))

    def price_pairs(self, enough: float) -> None:
        """The cheapest subtree of each use whose child test has many levels."""
        for number, pairs in enumerate(self.pairs):
            # Only what is cheaper than everything that uses no more counts, and only below what is enough.
            uses, least = self.use_of[pairs.feature], self._least_within()
            pairs.price(np.where(uses < 0, -kernels.INFINITE, np.minimum(least[uses], enough)))
            for g, h, value in pairs.entries():
                use = self.use_of[pairs.feature, g, h]
                if use >= 0 and value < min(self.cost[use], least[use]):
                    self.cost[use], self.test[use], self.below[use] = value, _PAIRED - number, (g, h)

    def _least_within(self) -> np.ndarray:
        """The cheapest subtree so far that uses no more than each use."""
        sizes, smaller = self.supply.smaller
        least = self.cost.copy()
        for size in (1, 2, 3):
            here = np.flatnonzero(sizes == size)
            least[here] = np.minimum(least[here], least[smaller[here]].min(axis=1))
        return least

    def is_real(self, use: int) -> bool:
        """Whether a subtree is one, not a relaxation."""
        return self._pairs(use) is None or self._chosen_pairs(use).is_real()

    def _pairs(self, use: int) -> RationedPairs | None:
        return self.pairs[_PAIRED - int(self.test[use])] if self.test[use] <= _PAIRED else None

    def _chosen_pairs(self, use: int) -> RationedPairs:
        pairs = self._pairs(use)
        assert pairs is not None  # noqa: S101 (asked before)
        pairs.choose(*(int(g) for g in self.below[use]))
        return pairs

    def label(self, use: int, costs: np.ndarray, labels: np.ndarray) -> None:
        """Label the people of this side by a subtree."""
        if self.test[use] == _LEAF:
            labels[self.member] = kernels.least_label(costs, self.member)[1]
        elif self._pairs(use) is not None:
            self._chosen_pairs(use).label(labels)
        else:
            for half, feature in zip(self._halves(use), self.below[use], strict=True):
                self._label_stump(half, int(feature), costs, labels)

    def _label_stump(self, half: np.ndarray, feature: int, costs: np.ndarray, labels: np.ndarray) -> None:
        c, none = self.compiled, feature == self.compiled.n_features
        f = 0 if none else feature
        kernels.label_side(
            costs, half, self.segment[f], int(self.n_segments[f]), bool(c.unordered[f]),
            self._cut(half, feature, costs), none, c.count, self.least_people, labels,
        )  # fmt: skip

    def _cut(self, half: np.ndarray, feature: int, costs: np.ndarray) -> int:
        """Where a stump on this feature cuts best; 0 where it does not cut."""
        c = self.compiled
        if feature == c.n_features or c.unordered[feature]:
            return 0
        segments = int(self.n_segments[feature])
        cut = stump_tables.best_crowded_cut(costs, c.count, half, self.segment[feature], segments, self.least_people)
        return max(0, int(cut))

    def plan(self, use: int, costs: np.ndarray, labels: np.ndarray) -> Plan | None:
        """The tests of a subtree."""
        if self.test[use] == _LEAF:
            return None
        if self._pairs(use) is not None:
            return self._chosen_pairs(use).plan(labels)
        below = [
            plan_stump(self.compiled, self.place, int(feature), self._cut(half, int(feature), costs), half, labels)
            for half, feature in zip(self._halves(use), self.below[use], strict=True)
        ]
        number, f = int(self.test[use]), self._feature(int(self.test[use]))
        left = np.zeros(int(self.compiled.sizes[f]), dtype=np.bool_)
        left[self.compiled.ranks[f][self._halves(use)[0]]] = True
        if not self.compiled.unordered[f]:
            left[: int(self.part_place[self.compiled.offsets[f] + self.moves[number]]) + 1] = True
        return Plan(f, left, *below)

    def _feature(self, number: int) -> int:
        return int(np.searchsorted(self.starts, number, side="right") - 1)

    def _halves(self, use: int) -> tuple[np.ndarray, np.ndarray]:
        """The people on either part of the child test."""
        number = int(self.test[use])
        f = self._feature(number)
        crossed = np.bincount(self.moves[self.starts[f] : number + 1], minlength=int(self.n_parts[f])) % 2 == 1
        goes_left = crossed[self.part[f]]
        return self.member & goes_left, self.member & ~goes_left

    def survivors(self, costs: np.ndarray, slack: float, partner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The child cuts and stump cuts of subtrees that, with the partner of their use, stay below the slack."""
        c, n_cuts = self.compiled, int(self.compiled.offsets[-1])
        children, stumps = np.zeros(n_cuts, dtype=np.uint8), np.zeros(n_cuts, dtype=np.uint8)
        slack_left, slack_right = np.empty_like(self.left), np.empty_like(self.right)
        alive = np.zeros(len(self.moves), dtype=np.bool_)
        usage.slack_of_stumps(
            self.left, self.right, self.starts, self.use_of, partner, slack, slack_left, slack_right, alive
        )
        stump_tables.mark_each_stump(
            costs, *self.people, self.left, self.right, slack_left, slack_right, c.offsets,
            self.place, stumps,
        )  # fmt: skip
        kept = np.flatnonzero(alive)
        f = np.searchsorted(self.starts, kept, side="right") - 1
        cuts = np.where(
            c.unordered[f], 0, self.part_place[c.offsets[f] + np.where(c.unordered[f], 0, self.moves[kept])]
        )
        children[c.offsets[f] + cuts] = 1
        for pairs in self.pairs:
            uses = self.use_of[pairs.feature]
            pairs.price_below(np.where(uses < 0, -kernels.INFINITE, slack - partner[uses]))
            for g, h, value in pairs.entries():
                use = self.use_of[pairs.feature, g, h]
                if use >= 0 and value + partner[use] < slack:
                    children[c.offsets[pairs.feature]] = 1
                    self._keep_all(g, stumps)
                    self._keep_all(h, stumps)
        return children, stumps

    def _keep_all(self, feature: int, stumps: np.ndarray) -> None:
        """Every cut of a feature that is alive: below a paired test they are not told apart."""
        c = self.compiled
        if feature == c.n_features or self.n_segments[feature] == 0:
            return
        start = c.offsets[feature]
        cuts = [0] if c.unordered[feature] else self.place[start : start + int(self.n_segments[feature]) - 1]
        stumps[start + np.asarray(cuts)] = 1


def _segments(
    c: Compiled, possible: np.ndarray, alive: np.ndarray, least_people: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Everybody's segment between the alive cuts, which cut a segment ends at, and how many segments there are.

    Of an unordered feature only the levels that occur count.
    """
    segment = np.zeros((c.n_features, c.n_people), dtype=np.int32)
    place = np.zeros(len(alive), dtype=np.int32)
    n_segments = kernels.segments(
        c.ranks, c.offsets, c.unordered, c.sizes, alive.copy(), place, c.count, least_people, possible, segment
    )
    for f in np.flatnonzero(c.unordered & (n_segments > 0)):
        present = np.bincount(c.ranks[f][possible], minlength=int(c.sizes[f])) > 0
        n_segments[f] = present.sum() if present.sum() > 1 else 0
        segment[f] = np.maximum(np.cumsum(present) - 1, 0)[c.ranks[f]]
    return segment, place, n_segments
