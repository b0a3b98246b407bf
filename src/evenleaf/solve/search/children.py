"""Subtrees of depth 2 on one side of a root: their child tests listed once, priced as often as needed (§9.11)."""

from __future__ import annotations

from functools import partial

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import gray_code
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.cuts import Cuts
from evenleaf.solve.search.oracle import plan_stump
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.shortlist import Shortlist
from evenleaf.solve.search.stumps import (
    is_relaxed,
    label_subset,
    labelled_stumps,
    list_of,
    one_label_each,
    spelt_out,
)

_FEW_LEVELS = 7  # of a stump below a paired test: its subsets are listed from the start
_MOST_WALKED_LEVELS = 11  # of a child test; with more, each level picks its side for a given pair of stumps
_ENLISTED = 4  # features whose best test goes on the shortlist
_MANY = 1000  # cuts of child tests and stumps: the cheapest child test is found without pricing each


class Children:
    """The child tests that people of one side may get, and the stumps below them.

    The child tests of an ordered feature are its alive cuts; of an unordered one all subsets of its levels, in
    the order of a Gray code. A feature with too many levels for that is priced by pairs of stumps: a relaxation
    only where a stump is itself a subset of many levels. With `refines`, as many of those as can be are spelt out.
    """

    def __init__(
        self,
        compiled: Compiled,
        member: np.ndarray,
        possible: np.ndarray,
        child_alive: np.ndarray,
        alive: np.ndarray,
        refines: bool,
    ) -> None:
        c = compiled
        self.compiled, self.member, self.refines = compiled, member, refines
        self.members = np.flatnonzero(member)
        self.part, self.part_place, self.n_parts = _segments(c, possible, child_alive)
        self.segment, self.place, self.n_segments = _segments(c, possible, alive)
        moves, starts, self.paired = [], [0], []
        for f in range(c.n_features):
            n_parts = int(self.n_parts[f])
            listed = np.zeros(0, dtype=np.int64)
            if n_parts and not c.unordered[f]:
                listed = np.arange(n_parts - 1)
            elif 1 < n_parts <= _MOST_WALKED_LEVELS:
                listed = gray_code(n_parts - 1) + 1
            elif n_parts > 1:
                self.paired.append(f)
            moves.append(listed)
            starts.append(starts[-1] + len(listed))
        self.moves, self.starts = np.concatenate(moves), np.array(starts)
        self.costs_below = np.full((2, len(self.moves)), kernels.INFINITE)  # on the left and on the right of each test
        parts, widest = int(self.n_parts.max(initial=1)), int(self.n_segments.max(initial=1))
        self.h = np.empty((parts + 1, widest, c.n_labels))
        self.run, self.rest = np.empty((widest, c.n_labels)), np.empty((widest, c.n_labels))
        self.pairs = [LevelPairs(self, f) for f in self.paired]
        self._halved: tuple[int, list[tuple[np.ndarray, int, int]]] = (-1, [])  # the listed test asked for last
        self.shortlist = Shortlist(self.members, self.segment, self.n_segments, c.unordered)
        self._cheap: list[int] | None = None  # tests that were cheap last, where not all were priced
        self._last: int | None = None  # what was best last
        self._is_enlisted = False
        self._glimpsed: tuple[np.ndarray, tuple[float, int]] | None = None  # at which prices, and what
        self._cuts = self._laid_out()
        self._priced = np.ones(c.n_features, dtype=np.bool_) if self._cuts is None else c.unordered

    def _laid_out(self) -> Cuts | None:
        """These people laid out to find the cheapest cut, where cuts are many."""
        is_few = len(self.members) < 2 or len(self.moves) + self.n_segments.sum() < _MANY
        if is_few or self.compiled.n_labels > 1:
            return None
        children, stumps = (self.part, self.n_parts), (self.segment, self.n_segments)
        cuts = Cuts(self.member, children, stumps, self.compiled.unordered)
        return cuts if len(cuts.by_level) else None  # without a stump there is nothing to sum up by

    @property
    def has_many_cuts(self) -> bool:
        """Whether child tests are so many that not all are priced."""
        return self._cuts is not None

    def best(self, costs: np.ndarray) -> tuple[float, int]:
        """The cheapest subtree and its number: −1 one label for all, then the listed tests, then the paired ones.

        Where tests are many, it may also be one of the shortlist: −2 and below.
        """
        self._halved = (-1, [])
        value, number = self._first(costs)
        self._price(costs, self._priced, self.costs_below)
        if len(self.moves):
            total = self.costs_below.sum(axis=0)
            k = int(total.argmin())
            if total[k] < value:
                value, number = float(total[k]), k
        if self._cuts is not None:
            found, tests = self._cuts.cheapest(costs, value)
            self._cheap = [number] if number >= 0 else []
            self._cheap += [int(self.starts[f]) + part for f, part in tests]
            if tests:
                value, number = found, self._cheap[-1]
        for j, pairs in enumerate(self.pairs):
            found = pairs.best(costs, value, -kernels.INFINITE)
            if found < value:
                value, number = found, len(self.moves) + j
        self._last, self._is_enlisted, self._glimpsed = number, False, None
        return value, number

    def _first(self, costs: np.ndarray) -> tuple[float, int]:
        """What the cheapest subtree is to be cheaper than: one label for all, or a cheap one that is known."""
        glimpsed = None if self._cuts is None else self.glimpse(costs)
        if glimpsed is None:
            return kernels.least_label(costs, self.member)[0], -1
        value, number = glimpsed
        listed = self.shortlist.test(-2 - number).number if number < -1 else -1
        return (value, listed) if listed >= 0 else (value, number)

    def _price(self, costs: np.ndarray, asked: np.ndarray, below: np.ndarray) -> None:
        """Price the listed tests of some features."""
        kernels.price_children(
            costs, self.members, self.part, self.n_parts, self.moves, self.starts, asked, self.segment,
            self.n_segments, self.compiled.unordered, *below, self.h, self.run, self.rest,
        )  # fmt: skip

    def glimpse(self, costs: np.ndarray) -> tuple[float, int] | None:
        """A cheap subtree and its number, −2 and below for those on the shortlist; None before the first `best`."""
        if self._last is None:
            return None
        self._enlist(self._last)
        mine = costs[self.members]
        if self._glimpsed is None or not np.array_equal(self._glimpsed[0], mine):
            value, place = self.shortlist.best(costs)
            whole = kernels.least_label(costs, self.member)[0]
            self._glimpsed = mine, (value, -2 - place) if value < whole else (whole, -1)
        return self._glimpsed[1]

    def _enlist(self, winner: int) -> None:
        """Put the best tests of the cheapest features on the shortlist, as of the last `best`."""
        if self._is_enlisted:
            return
        self._is_enlisted = True
        for number in self._best_of_features() if self._cheap is None else self._cheap[-_ENLISTED:]:
            self.shortlist.add(number, self._feature(number), number, partial(self._halves, number))
        if winner >= len(self.moves):
            pairs = self.pairs[winner - len(self.moves)]
            goes_left = pairs.goes_left()
            left = self.member & goes_left
            key = (pairs.feature, left.tobytes())
            self.shortlist.add(key, pairs.feature, -1, lambda: (left, self.member & ~goes_left))

    def _best_of_features(self) -> list[int]:
        """The best tests of the cheapest features, the cheapest last."""
        tests = np.flatnonzero(np.diff(self.starts))
        if not len(tests):
            return []
        total = self.costs_below.sum(axis=0)
        low = np.minimum.reduceat(total, self.starts[tests])
        cheapest = tests[np.argsort(low, kind="stable")[:_ENLISTED]][::-1]
        return [int(self.starts[f] + total[self.starts[f] : self.starts[f + 1]].argmin()) for f in cheapest]

    def is_real(self, number: int) -> bool:
        """Whether a subtree is one, not a relaxation."""
        return number < len(self.moves) or self.pairs[number - len(self.moves)].real

    def label(self, number: int, costs: np.ndarray, labels: np.ndarray) -> None:
        """Label the people of this side by a subtree."""
        if number == -1:
            labels[self.member] = kernels.least_label(costs, self.member)[1]
        elif number >= len(self.moves):
            self.pairs[number - len(self.moves)].label(costs, labels)
        else:
            for half, feature, cut in self._stumps(number, costs):
                self.label_stump(half, feature, cut, costs, labels)

    def label_stump(self, half: np.ndarray, feature: int, cut: int, costs: np.ndarray, labels: np.ndarray) -> None:
        """Label some people by their best stump."""
        f = max(feature, 0)
        kernels.label_side(
            costs, half, self.segment[f], int(self.n_segments[f]), bool(self.compiled.unordered[f]), cut,
            feature < 0, self.compiled.count, 1, labels,
        )  # fmt: skip

    def plan(self, number: int, costs: np.ndarray, labels: np.ndarray) -> Plan | None:
        """The tests of a subtree."""
        if number == -1:
            return None
        if number >= len(self.moves):
            return self.pairs[number - len(self.moves)].plan(labels)
        stumps = self._stumps(number, costs)
        below = [plan_stump(self.compiled, self.place, feature, cut, half, labels) for half, feature, cut in stumps]
        short = None if number >= 0 else self.shortlist.test(-2 - number)
        f, listed = (self._feature(number), number) if short is None else (short.feature, short.number)
        left = np.zeros(int(self.compiled.sizes[f]), dtype=np.bool_)
        left[self.compiled.ranks[f][stumps[0][0]]] = True
        if not self.compiled.unordered[f]:
            left[: int(self.part_place[self.compiled.offsets[f] + self.moves[listed]]) + 1] = True
        return Plan(f, left, *below)

    def _stumps(self, number: int, costs: np.ndarray) -> list[tuple[np.ndarray, int, int]]:
        """The people on either part of a listed child test with their best stump, at the prices of the last `best`."""
        if number < -1:
            return self.shortlist.halves(-2 - number)
        if self._halved[0] != number:
            found = []
            for half in self._halves(number):
                _, feature, cut = kernels.best_stump(
                    costs, half, self.segment, self.n_segments, self.compiled.unordered
                )
                found.append((half, int(feature), int(cut)))
            self._halved = number, found
        return self._halved[1]

    def _feature(self, number: int) -> int:
        return int(np.searchsorted(self.starts, number, side="right") - 1)

    def _halves(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The people on either part of a listed child test."""
        f = self._feature(number)
        crossed = np.bincount(self.moves[self.starts[f] : number + 1], minlength=int(self.n_parts[f])) % 2 == 1
        goes_left = crossed[self.part[f]]
        return self.member & goes_left, self.member & ~goes_left

    def survivors(self, costs: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
        """The child cuts and the stump cuts that some subtree cheaper than the slack may have."""
        c, n_cuts = self.compiled, int(self.compiled.offsets[-1])
        children, stumps = np.zeros(n_cuts, dtype=np.uint8), np.zeros(n_cuts, dtype=np.uint8)
        prices = self.costs_below
        if self._cuts is not None:
            prices = np.empty_like(prices)
            self._price(costs, np.ones(c.n_features, dtype=np.bool_), prices)
        below = np.flatnonzero(prices.sum(axis=0) < slack)
        f = np.searchsorted(self.starts, below, side="right") - 1
        offset = c.offsets[f]
        cuts = np.where(c.unordered[f], 0, self.part_place[offset + np.where(c.unordered[f], 0, self.moves[below])])
        children[offset + cuts] = 1
        kernels.keep_stumps(
            costs, self.members, self.part, self.n_parts, self.moves, self.starts, self.segment, self.n_segments,
            c.unordered, *prices, slack, c.offsets, self.place, stumps, self.h, self.run, self.rest,
        )  # fmt: skip
        for pairs in self.pairs:
            pairs.best(costs, -kernels.INFINITE, slack)
            kept = pairs.survivors(slack)
            if kept is not None:
                children[c.offsets[pairs.feature]] = 1
                stumps |= kept
        return children, stumps


class LevelPairs:
    """A child test with many levels: for a pair of labelled stumps each level takes the cheaper (§9.8)."""

    def __init__(self, children: Children, feature: int) -> None:
        self.children, self.feature, self.n_levels = children, feature, int(children.n_parts[feature])
        # Group 0 of the histogram is for people who are settled; here every level picks.
        self.group = (children.part[feature] + 1).astype(np.int32)
        self.relaxed = list_of(labelled_stumps(children.compiled, children.n_segments, self._spelt), self.n_levels)
        self.listed = self.relaxed
        n_options = children.compiled.n_features + 1
        self.allowed = np.ones((n_options, n_options), dtype=np.bool_)
        self.chosen = (-1, -1)
        self.h = np.empty((self.n_levels + 1, int(children.n_segments.max(initial=1)), children.compiled.n_labels))
        self.costs = np.zeros((0, 0))

    def _spelt(self, feature: int) -> bool:
        """Whether the subsets of a feature are few enough to be listed from the start."""
        return feature != self.feature and int(self.children.n_segments[feature]) <= _FEW_LEVELS

    @property
    def real(self) -> bool:
        """Whether no level of a chosen stump was given two labels."""
        labels = np.zeros(self.children.compiled.n_people, dtype=np.int64)
        self.label(self.costs, labels)
        goes_left = self.goes_left()
        for side, number in enumerate(self.chosen):
            half = self.children.member & (goes_left if side == 0 else ~goes_left)
            f = int(self.listed.stumps[number, 0])
            subset = f >= 0 and self.children.compiled.unordered[f]
            if subset and not one_label_each(self.children.segment[f][half], labels[half]):
                return False
        return True

    def best(self, costs: np.ndarray, start: float, budget: float) -> float:
        """The cheapest pair below the start; pairs that can be below neither it nor the budget are passed over."""
        self.costs, self.listed = costs, self.relaxed
        value = self._pairs(start, budget)
        if not self.children.refines:
            return value
        if self._is_relaxed(self.relaxed.least < budget):
            self._spell(budget)
            value = self._pairs(start, budget)
        elif value < start and self._is_relaxed(list(self.chosen)):
            self._pairs(start, start)  # what may stay below the start
            self._spell(start)
            value = self._pairs(start, budget)
        return value

    def _is_relaxed(self, which: np.ndarray | list[int]) -> bool:
        return bool(is_relaxed(self.listed.stumps[which], self.feature).any())

    def _spell(self, budget: float) -> None:
        """List subsets in the place of relaxed stumps that stay below the budget, and drop what does not."""
        spelt = spelt_out(self.relaxed.stumps[self.relaxed.least < budget], self.feature, self.children.n_segments)
        if spelt is not None:
            self.listed = list_of(spelt, self.n_levels)

    def _pairs(self, start: float, budget: float) -> float:
        children, listed = self.children, self.listed
        kernels.price_stumps(
            self.costs, children.members, self.group, children.segment, children.n_segments,
            children.compiled.unordered, listed.stumps, self.h, listed.settled, listed.moving,
        )  # fmt: skip
        other = np.empty_like(listed.least)
        value, left, right = kernels.best_pair(
            listed.settled, listed.moving, listed.stumps, listed.settled, listed.moving, listed.stumps, self.allowed,
            start, budget, listed.least, other,
        )  # fmt: skip
        np.minimum(listed.least, other, out=listed.least)
        self.chosen = (left, right)
        return float(value)

    def goes_left(self) -> np.ndarray:
        """Who takes the left stump of the pair."""
        left, right = (self.listed.moving[number] for number in self.chosen)
        return np.asarray((left <= right)[self.children.part[self.feature]])

    def label(self, costs: np.ndarray, labels: np.ndarray) -> None:
        """Everybody by the stump that their level took; in a subset stump, small levels cell by cell."""
        children, goes_left = self.children, self.goes_left()
        for side, number in enumerate(self.chosen):
            half = children.member & (goes_left if side == 0 else ~goes_left)
            stump = self.listed.stumps[number]
            feature, segment, below, above = (int(entry) for entry in stump)
            if feature < 0:
                labels[half] = below
            elif children.compiled.unordered[feature]:
                level, part = children.segment[feature][half], children.part[self.feature][half]
                labels[half] = label_subset(costs[half], stump, level, part, int(children.n_segments[feature]))
            else:
                labels[half] = np.where(children.segment[feature][half] <= segment, below, above)

    def plan(self, labels: np.ndarray) -> Plan:
        """The subset that the levels chose, and the stumps."""
        children, goes_left = self.children, self.goes_left()
        c = children.compiled
        left = np.zeros(int(c.sizes[self.feature]), dtype=np.bool_)
        left[c.ranks[self.feature][children.member & goes_left]] = True
        below = []
        for side, number in enumerate(self.chosen):
            half = children.member & (goes_left if side == 0 else ~goes_left)
            feature, segment = (int(entry) for entry in self.listed.stumps[number, :2])
            below.append(plan_stump(c, children.place, feature, segment, half, labels))
        return Plan(self.feature, left, *below)

    def survivors(self, slack: float) -> np.ndarray | None:
        """The cuts of stumps whose cheapest partner stays below the slack; None where no pair does."""
        c = self.children.compiled
        keep = np.zeros(int(c.offsets[-1]), dtype=np.uint8)
        cheap = self.listed.least < slack
        if not cheap.any():
            return None
        kept = self.listed.stumps[cheap & (self.listed.stumps[:, 0] >= 0)]
        start = c.offsets[kept[:, 0]]
        ordered = ~c.unordered[kept[:, 0]]
        cut = np.where(ordered, self.children.place[start + np.where(ordered, kept[:, 1], 0)], 0)
        keep[start + cut] = 1
        return keep


def _segments(c: Compiled, possible: np.ndarray, alive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Everybody's segment between the alive cuts, which cut a segment ends at, and how many segments there are.

    Of an unordered feature only the levels that occur count.
    """
    segment = np.zeros((c.n_features, c.n_people), dtype=np.int32)
    place = np.zeros(len(alive), dtype=np.int32)
    n_segments = kernels.segments(
        c.ranks, c.offsets, c.unordered, c.sizes, alive.copy(), place, c.count, 1, possible, segment
    )
    kernels.number_levels(c.ranks, c.unordered, c.sizes, possible, n_segments, segment)
    return segment, place, n_segments
