"""A node of the search, worked out: who is in which slot, who is free, and what it costs at any multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from evenleaf.solve.fronts.answers import Cheapest
from evenleaf.solve.fronts.ascent import Point
from evenleaf.solve.fronts.deep import FirstTests
from evenleaf.solve.fronts.flag_trees import FlagSlot, flag_slot, outline
from evenleaf.solve.fronts.flags import Flags
from evenleaf.solve.fronts.lane import Lane, Prices
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import filled
from evenleaf.solve.fronts.recall import Key
from evenleaf.solve.fronts.tests import Box, Cuts, Fork, Levels, Part, Sketch, Slot, Split

Asked = list[np.ndarray]  # for each slot the features whose first tests may matter


@dataclass(frozen=True, eq=False)
class Place:
    """A slot with the people in it; a fork is one of depth 2 whose first test is known but for some levels."""

    members: np.ndarray
    depth: int
    fork: Levels | None = None


@dataclass(frozen=True, eq=False)
class Loose:
    """A box that is not a single test for the people who reach it; `path` leads to its split."""

    path: tuple[int, ...]
    split: Split
    members: np.ndarray
    free: np.ndarray

    @property
    def box(self) -> Box:
        """What is known of the test."""
        return self.split.box

    @property
    def depth_below(self) -> int | None:
        """How deep a tree may be on either side, None where more is settled there."""
        left, right = self.split.left, self.split.right
        return left.depth if isinstance(left, Slot) and isinstance(right, Slot) and left == right else None


class Cell:
    """The slots of a part, in order from left to right, and the boxes that leave somebody free."""

    def __init__(self, part: Part, lane: Lane, oracle: Oracle, among: np.ndarray | None = None) -> None:
        self.part, self.lane = part, lane
        everybody = np.arange(lane.compiled.n_people) if among is None else among
        self.places: list[Place] = []
        self.loose: list[Loose] = []
        self._flag_slots: list[FlagSlot] | None = None
        self.possible = True
        self._walk(part, everybody, (), oracle)
        self.oracle = oracle.relaxed if self.loose else oracle
        nobody = np.zeros(0, dtype=np.int64)
        self.free = np.concatenate([nobody, *(loose.free for loose in self.loose)]).astype(np.int64)

    def _walk(self, part: Part, members: np.ndarray, path: tuple[int, ...], oracle: Oracle) -> None:
        if isinstance(part, Slot):
            self.places.append(Place(members, part.depth))
            return
        if isinstance(part, Fork):
            self.places.append(Place(members, 2, part.box))
            return
        left, right, free = oracle.part(part.box, members)
        # Free people higher up may still come here, so that only a settled path can be found too thin.
        if not self.loose and min(oracle.count[left].sum(), oracle.count[right].sum()) + oracle.count[free].sum() < (
            oracle.least
        ):
            self.possible = False
        if len(free):
            self.loose.append(Loose(path, part, members, free))
        self._walk(part.left, left, (*path, 0), oracle)
        self._walk(part.right, right, (*path, 1), oracle)

    @property
    def deepest(self) -> int:
        """The depth of the deepest slot."""
        return max(place.depth for place in self.places)

    def base(self, mus: np.ndarray, prices: Prices) -> np.ndarray:
        """What is settled at each multipliers: the offset, the free people, less the allowance of ε."""
        offset = self.lane.offset[0] + mus @ self.lane.offset[1:]
        free = sum((self._spared(loose, mus, prices) for loose in self.loose), np.zeros(len(mus)))
        return np.asarray(offset - self.lane.allowance(mus) + free)

    def _spared(self, loose: Loose, mus: np.ndarray, prices: Prices) -> np.ndarray:
        """What the free people of a box cost at least.

        A free level goes to one side as a whole, so it costs no less than the best tree for its people alone.
        """
        depth = loose.depth_below
        if depth is None or not isinstance(loose.box, Levels):
            return self.oracle.free(loose.free, prices)
        levels = self.oracle.ranks[loose.box.feature, loose.free]
        total = np.zeros(len(mus))
        for level in np.unique(levels):
            key = (self.oracle.least, loose.box.feature, int(level), depth, mus.tobytes())
            members = loose.free[levels == level]
            if loose.path:  # deeper down a level's people are others at every node
                total += self.oracle.value(members, depth, prices)
                continue
            if key not in self.oracle.recall.known:
                self.oracle.recall.known[key] = self.oracle.value(members, depth, prices)
            total += self.oracle.recall.known[key]
        return total

    def values(self, prices: Prices, cutoff: np.ndarray | None = None, asked: Asked | None = None) -> np.ndarray:
        """The least price of each slot at each multipliers; the last one is not looked into beyond the cutoff's sum.

        With one multipliers, first tests of features that are not asked for in a slot are passed over there, and
        what is asked becomes what was found below the cutoff.
        """
        keys = [self._key(number, prices) for number in range(len(self.places))]
        known = self.oracle.recall.known
        found = [None if key is None else known.get(key) for key in keys]
        for number in [number for number, value in enumerate(found) if value is None]:
            others = [value for value in (*found[:number], *found[number + 1 :]) if value is not None]
            last = cutoff is not None and len(others) == len(found) - 1
            most = cutoff - sum(others) if last and cutoff is not None else None
            place, key = self.places[number], keys[number]
            swept = key is not None and self.oracle.narrows(place.members, place.depth)
            if asked is not None and most is not None and swept:
                value, asked[number] = self.oracle.narrowed(place.members, prices, most, asked[number])
            else:
                value = self._value(number, prices, most)
            found[number] = value
            if key is not None and (most is None or bool((value < most).all())):
                known[key] = value
        return np.array(found)

    def _key(self, number: int, prices: Prices) -> Key | None:
        """Where what a slot costs is remembered: halves of a box of first tests have one of its slots each."""
        part, place = self.part, self.places[number]
        if self.is_deep(place) and (len(self.places) != 2 or not isinstance(part, Split)):
            # The same people are in such a slot below many tests of other slots.
            people = blake2b(place.members.tobytes() + prices.multipliers.tobytes(), digest_size=16).digest()
            return self.oracle.least, -1, len(place.members), place.depth, people
        # A fork costs more than the slot that it is a part of, and is not remembered.
        if place.fork is not None or len(self.places) != 2:
            return None
        if not isinstance(part, Split) or not isinstance(part.box, Cuts):
            return None
        side = -1 - part.box.high if number else part.box.low
        return self.oracle.least, part.box.feature, side, place.depth, prices.multipliers.tobytes()

    def is_deep(self, place: Place) -> bool:
        """Whether what is in a slot is found out little by little."""
        return place.depth > 2 and not self.oracle.flagged(place.depth)

    def first_tests(self, number: int, prices: Prices) -> FirstTests:
        """What is known of the first tests of a slot, at one multipliers."""
        part, place = self.part, self.places[number]
        if not isinstance(part, Split) or len(self.places) != 2:
            return FirstTests(self.oracle, place.members, place.depth, prices)
        deep = self.oracle.recall.deep
        key = part.box.on_one_side(number), number, self.oracle.least, prices.multipliers.tobytes()
        found = deep.get(key)
        if found is None:
            found = deep[key] = FirstTests(self.oracle, place.members, place.depth, prices)
        found.oracle = self.oracle  # who asks may be somebody else than the last time
        return found

    def outline(self, slots: list[FirstTests], prices: Prices) -> Sketch:
        """The cheapest tree of slots that are looked into."""
        return filled(self.part, (slot.outline(prices) for slot in slots))

    def _value(self, number: int, prices: Prices, cutoff: np.ndarray | None) -> np.ndarray:
        place = self.places[number]
        if self.is_deep(place):
            most = np.full(prices.shape[2], np.inf) if cutoff is None else cutoff
            return np.array([self.first_tests(number, prices.at(j)).lift(most[j]) for j in range(len(most))])
        if place.fork is not None:
            return self.oracle.fork(place.fork, place.members, prices, cutoff)
        return self.oracle.value(place.members, place.depth, prices, cutoff)

    def _cheapest(self, place: Place, prices: Prices) -> Cheapest:
        if place.fork is not None:
            return self.oracle.cheapest_fork(place.fork, place.members, prices)
        return self.oracle.cheapest(place.members, place.depth, prices)

    def dual(self, mu: np.ndarray) -> tuple[Point, np.ndarray, Callable[[], Sketch]]:
        """The bound at μ, a supergradient, and the cheapest tree: its vector, and what draws its outline."""
        if self.oracle.flags is not None and self.deepest <= self.oracle.flags.depth and not self.loose:
            return self._dual_of_flags(mu, self.oracle.flags)
        prices = self.lane.prices(mu[None, :])
        value = float(self.base(mu[None, :], prices)[0])
        labels = np.zeros(len(prices), dtype=np.int64)
        own = np.concatenate([np.zeros((len(self.free), 1)), prices[self.free, :, 0]], axis=1)
        labels[self.free] = own.argmin(axis=1)
        outlines = []
        for place in self.places:
            found = self._cheapest(place, prices)
            value += found.value
            labels[place.members] = found.labels
            outlines.append(found.sketch)
        chosen = np.flatnonzero(labels)
        vector = self.lane.offset + self.lane.vectors[chosen, labels[chosen] - 1].sum(axis=0)
        return Point(mu, value, self._slope(mu, vector[1:])), vector, lambda: filled(self.part, iter(outlines))

    def _dual_of_flags(self, mu: np.ndarray, flags: Flags) -> tuple[Point, np.ndarray, Callable[[], Sketch]]:
        """The same from sums over flags, without a look at people."""
        if self._flag_slots is None:
            self._flag_slots = [flag_slot(flags, place.members, place.depth) for place in self.places]
        found = [slot.cheapest(mu, self.oracle.least, self.oracle.allowed) for slot in self._flag_slots]
        vector = sum((tree.vector for tree in found), self.lane.offset)
        settled = self.lane.offset[0] + mu @ self.lane.offset[1:] - self.lane.allowance(mu)
        value = float(settled + sum(tree.value for tree in found))
        point = Point(mu, value, self._slope(mu, vector[1:]))
        return point, vector, lambda: filled(self.part, (outline(tree, flags.flipped) for tree in found))

    def _slope(self, mu: np.ndarray, disparity: np.ndarray) -> np.ndarray:
        limit = self.lane.limit
        if limit is None or not len(mu):
            return disparity
        if not mu.any():
            total = np.abs(disparity).sum()
            return disparity * (0.0 if total <= limit else 1 - limit / total)
        slope = disparity.copy()
        largest = int(np.abs(mu).argmax())
        slope[largest] -= limit * np.sign(mu[largest])
        return slope


def replaced(part: Part, path: tuple[int, ...], new: Part) -> Part:
    """The part with another part at the end of a path (0 is left, 1 is right)."""
    if not path:
        return new
    assert isinstance(part, Split)  # noqa: S101 (a path leads through splits)
    if path[0] == 0:
        return Split(part.box, replaced(part.left, path[1:], new), part.right)
    return Split(part.box, part.left, replaced(part.right, path[1:], new))


def at(part: Part, path: tuple[int, ...]) -> Part:
    """What is at the end of a path."""
    for step in path:
        assert isinstance(part, Split)  # noqa: S101 (a path leads through splits)
        part = part.right if step else part.left
    return part


def slot_paths(part: Part) -> list[tuple[int, ...]]:
    """The paths of the slots and forks, from left to right."""
    if isinstance(part, Slot | Fork):
        return [()]
    left = [(0, *path) for path in slot_paths(part.left)]
    return left + [(1, *path) for path in slot_paths(part.right)]
