"""Tables in which every feature has two ranks, as each person's short list of flags (ALGORITHM §10.1)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.kernels.flag_points import flag_points
from evenleaf.solve.fronts.kernels.flags import flag_pairs, flag_triples, list_flags, pair_sums, priced, triple_sums
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import Cuts, Sketch

_MOST_BYTES = 256 << 20  # tables that are kept; what was used longest ago goes first
_MOST_TRIPLES = 64 << 20  # a table over three flags is not made beyond this size


@dataclass(frozen=True, eq=False)
class Sums:
    """Vectors and people summed over pairs of flags (quantity × feature × feature), and over all."""

    pairs: np.ndarray
    total: np.ndarray

    def having(self, f: int, triples: np.ndarray) -> Sums:
        """The same sums over those with flag f only."""
        return Sums(triples[f], np.ascontiguousarray(self.pairs[:, f, f]))

    def less(self, other: Sums) -> Sums:
        """The same sums over everybody else."""
        return Sums(self.pairs - other.pairs, self.total - other.total)


@dataclass(frozen=True, eq=False)
class Flags:
    """Person i has the flags `flags[pointers[i]:pointers[i + 1]]`: the features in which their rank is the rarer one.

    `flipped` says where that is the lower rank. Sums are kept, because the same people are asked about at many
    multipliers; large parts of the table are everybody less the others.
    """

    pointers: np.ndarray
    flags: np.ndarray
    flipped: np.ndarray
    inputs: np.ndarray
    kept: OrderedDict[tuple[str, bytes], tuple[np.ndarray, ...]] = field(default_factory=OrderedDict)
    kept_bytes: list[int] = field(default_factory=lambda: [0])

    @property
    def n_features(self) -> int:
        """How many flags there are."""
        return len(self.flipped)

    @property
    def depth(self) -> int:
        """How deep trees are tabulated: 3 where sums over three flags fit into memory."""
        return 3 if self.n_features**3 * self.inputs.shape[1] * 8 <= _MOST_TRIPLES else 2

    def sums(self, members: np.ndarray) -> Sums:
        """The sums over pairs of flags of these people."""
        return Sums(*self._remembered("pairs", members, self._pairs))

    def triples(self, members: np.ndarray) -> np.ndarray:
        """The sums over three flags of these people: feature × quantity × feature × feature."""
        return self._remembered("triples", members, self._triples)[0]

    def values(
        self, members: np.ndarray, depth: int, multipliers: np.ndarray, least: int, allowed: np.ndarray
    ) -> np.ndarray:
        """What is below each first test, with its flag and without: side × feature × multipliers; depth 2 or 3."""
        sums = self.sums(members)
        if depth == 2:
            return np.asarray(flag_pairs(sums.pairs, sums.total, multipliers, least, allowed))
        triples = self.triples(members)
        return np.asarray(flag_triples(triples, sums.pairs, sums.total, multipliers, least, allowed))

    def points(
        self, sums: Sums, least: int, allowed: np.ndarray, asked: tuple[np.ndarray, np.ndarray, float, int, int]
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The points of all trees of at most depth 2; asked are multipliers, rest, target, most points and mode."""
        found = flag_points(sums.pairs, sums.total, self.flipped, least, allowed, *asked)
        return found[0], found[1], int(found[2])

    def cheapest(
        self, members: np.ndarray, depth: int, mu: np.ndarray, least: int, allowed: np.ndarray
    ) -> tuple[float, Sketch]:
        """The price and the outline of a cheapest tree at one multipliers; depth 2 or 3."""
        rule = Rule(self.flipped, mu[None, :], least, allowed)
        sums = self.sums(members)
        if depth == 2:
            return rule.depth_two(sums)
        leaf = rule.leaf(sums)
        values = self.values(members, depth, mu[None, :], least, allowed).sum(axis=0)[:, 0]
        f = int(values.argmin())
        if values[f] >= leaf[0]:
            return leaf
        flagged = sums.having(f, self.triples(members))
        sides = rule.depth_two(flagged), rule.depth_two(sums.less(flagged))
        return float(values[f]), rule.test(f, sides[0][1], sides[1][1])

    def _pairs(self, members: np.ndarray) -> tuple[np.ndarray, ...]:
        others = self._others(members)
        if others is not None:
            rest = self.sums(np.arange(len(self.inputs))).less(self.sums(others))
            return rest.pairs, rest.total
        return tuple(pair_sums(self.pointers, self.flags, members, self.inputs, self.n_features))

    def _triples(self, members: np.ndarray) -> tuple[np.ndarray, ...]:
        others = self._others(members)
        if others is not None:
            return (self.triples(np.arange(len(self.inputs))) - self.triples(others),)
        return (triple_sums(self.pointers, self.flags, members, self.inputs, self.n_features),)

    def _others(self, members: np.ndarray) -> np.ndarray | None:
        """The rest of the people, where these are most of them but not all."""
        n_people = len(self.inputs)
        if not n_people // 2 < len(members) < n_people:
            return None
        absent = np.ones(n_people, dtype=np.bool_)
        absent[members] = False
        return np.flatnonzero(absent)

    def _remembered(
        self, kind: str, members: np.ndarray, make: Callable[[np.ndarray], tuple[np.ndarray, ...]]
    ) -> tuple[np.ndarray, ...]:
        key = kind, hashlib.blake2b(members.tobytes(), digest_size=20).digest()
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        made = make(members)
        self.kept[key] = made
        self.kept_bytes[0] += sum(table.nbytes for table in made)
        while self.kept_bytes[0] > _MOST_BYTES and len(self.kept) > 1:
            _, old = self.kept.popitem(last=False)
            self.kept_bytes[0] -= sum(table.nbytes for table in old)
        return made


@dataclass(frozen=True, eq=False)
class Rule:
    """How cheapest trees are read off sums: at one multipliers, with leaves of at least so many people."""

    flipped: np.ndarray
    multipliers: np.ndarray
    least: int
    allowed: np.ndarray

    def test(self, f: int, flagged: Sketch, others: Sketch) -> Sketch:
        """A test with what those with the flag get, and the others."""
        return (Cuts(f, 0, 0), flagged, others) if self.flipped[f] else (Cuts(f, 0, 0), others, flagged)

    def leaf(self, sums: Sums) -> tuple[float, Sketch]:
        """The cheaper label for all."""
        price = float(sums.total[0] + self.multipliers[0] @ sums.total[1:-1])
        return min(0.0, price), int(price < 0)

    def depth_two(self, sums: Sums) -> tuple[float, Sketch]:
        """A cheapest tree of at most depth 2."""
        values = flag_pairs(sums.pairs, sums.total, self.multipliers, self.least, self.allowed).sum(axis=0)[:, 0]
        f = int(values.argmin())
        leaf = self.leaf(sums)
        if values[f] >= leaf[0]:
            return leaf
        prices, price = priced(sums.pairs, sums.total, self.multipliers)
        here, own = prices[:, f], prices[:, f, f]
        everywhere = np.diagonal(prices, axis1=1, axis2=2)
        flagged = self._stump(here[0], own[0], here[1], own[1])
        others = self._stump(everywhere[0] - here[0], price[0] - own[0], everywhere[1] - here[1], price[1] - own[1])
        return float(values[f]), self.test(f, flagged, others)

    def _stump(self, prices: np.ndarray, total: float, people: np.ndarray, everybody: float) -> Sketch:
        """A cheapest stump, from what those with each flag cost and how many they are."""
        values = np.minimum(0.0, prices) + np.minimum(0.0, total - prices)
        crowded = (people >= self.least) & (everybody - people >= self.least) & self.allowed
        values = np.where(crowded, values, np.inf)
        g = int(values.argmin())
        if values[g] >= min(0.0, total):
            return int(total < 0)
        return self.test(g, int(prices[g] < 0), int(total - prices[g] < 0))


def find_flags(lane: Lane) -> Flags | None:
    """The flags of a table of two classes in which every feature has two ranks, None for any other."""
    compiled = lane.compiled
    if lane.n_labels != 1 or not len(compiled.sizes) or (compiled.sizes != 2).any() or compiled.unordered.any():
        return None
    higher = compiled.ranks.sum(axis=1)
    flipped = 2 * higher > compiled.n_people
    pointers, flags = list_flags(compiled.ranks, flipped)
    inputs = np.column_stack([lane.vectors[:, 0], compiled.count])
    return Flags(pointers, flags, flipped, np.ascontiguousarray(inputs))
