"""What to do with a root whose bound is stuck: split what is possible below it, the same way for the next root.

A stuck bound belongs to a mixture of trees with different tests. Splitting the tests of one place between them
breaks the mixture. Such a split does not depend on the root, so the proof of one root is replayed in the next one on
its feature: the same splits with the same multipliers, climbing only where that does not suffice (ALGORITHM §9.11).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from evenleaf.solve.values.boxes import Box
from evenleaf.solve.values.caps import ValueSplit

FEW_BELOW = 20  # tests right below the root that a bound prices in no time
_FADING = 0.97  # the trees met last say most about where the ascent wavers


@dataclass(frozen=True)
class PlaceSplit:
    """The tests of one place in several sets: one a feature (and one for no test), or two that part at a point.

    Whatever the box, the sets hold all its tests, so that a split of one root can be made at another.
    """

    place: int
    point: int | None = None

    def parts(self, box: Box, owner: np.ndarray) -> list[tuple[int, Box]]:
        """The box with each set that has a test left, and the number of the set; `owner[t]` is a test's feature."""
        alive = box.alive[self.place]
        number = owner if self.point is None else (np.arange(len(alive)) >= self.point).astype(np.int64)
        return [(int(k), self._part(box, number == k)) for k in np.unique(number[alive > 0])]

    def _part(self, box: Box, kept: np.ndarray) -> Box:
        alive = box.alive.copy()
        alive[self.place] &= kept
        return replace(box, alive=alive)


@dataclass(eq=False)
class Proof:
    """A node of the tree of splits, kept so that the next box can be proven the same way."""

    mu: np.ndarray
    scale: float
    split: PlaceSplit | ValueSplit | None = None
    children: dict[int, Proof] = field(default_factory=dict)
    mixture: np.ndarray | None = None
    pools: tuple[np.ndarray, ...] = ()  # of the first node: the subtrees met on either side

    def nodes(self) -> Iterator[Proof]:
        """This node and all below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children.values())


def with_multipliers(box: Box, proof: Proof) -> Box:
    """The box with the multipliers that closed another one here."""
    return replace(box, mu=proof.mu.astype(np.float64), scale=proof.scale, mixture=proof.mixture)


def split_tests(box: Box, chosen: np.ndarray, owner: np.ndarray) -> PlaceSplit:
    """The split that parts the trees of the mixture best: one set a feature, or one feature's tests in two.

    The bound of a box with several features at a place is that of a mixture of all of them, which no single tree
    comes near; with one feature a place little is left to mix.
    """
    none = box.alive.shape[1] - 1
    age = _FADING ** np.arange(len(chosen))[::-1]
    chosen = np.where(chosen < 0, none, chosen)
    worths = []
    for place, alive in enumerate(box.alive):
        tests, weight = chosen[:, place], age * (alive[chosen[:, place]] > 0)
        several = len(np.unique(owner[alive > 0])) > 1
        mass = np.bincount(owner[tests] if several else tests, weights=weight, minlength=1)
        # The tests right below the root come first: with one feature each, the trees below are priced much sooner.
        worths.append((several, several and place < 2, mass.sum() - mass.max(), int(alive.sum()), place))
    several, _, _, _, place = max(worths)
    return PlaceSplit(place, None if several else _point(box.alive[place], chosen[:, place], age))


def split_below_root(box: Box, chosen: np.ndarray, owner: np.ndarray) -> PlaceSplit | None:
    """The tests right below the root in parts: one a feature first, then halves; None where few are left.

    With depth 3 nearly all the work of a bound is to price these tests, so that two halves cost what the whole does:
    whatever such a split gains comes for nothing.
    """
    if not tests_below_root(box, owner):
        return None
    none = box.alive.shape[1] - 1
    age = _FADING ** np.arange(len(chosen))[::-1]
    chosen = np.where(chosen < 0, none, chosen)
    worths = []
    for place in (0, 1):
        alive, tests = box.alive[place], chosen[:, place]
        several = len(np.unique(owner[alive > 0])) > 1
        mass = np.bincount(owner[tests] if several else tests, weights=age * (alive[tests] > 0), minlength=1)
        worths.append((several, int(alive.sum()) > FEW_BELOW, mass.sum() - mass.max(), int(alive.sum()), place))
    several, _, _, _, place = max(worths)
    return PlaceSplit(place, None if several else _point(box.alive[place], chosen[:, place], age))


def tests_below_root(box: Box, owner: np.ndarray) -> bool:
    """Whether the tests right below the root are worth being split: several features, or many tests."""
    return any(len(np.unique(owner[alive > 0])) > 1 or int(alive.sum()) > FEW_BELOW for alive in box.alive[:2])


def _point(alive: np.ndarray, chosen: np.ndarray, age: np.ndarray) -> int:
    """Where to part the tests of a place: with most of the mixture on both sides."""
    usable = alive[chosen] > 0
    options, where = np.unique(chosen[usable], return_inverse=True)
    if len(options) < 2:
        every = np.flatnonzero(alive)
        return int(every[len(every) // 2])
    mass = np.cumsum(np.bincount(where.ravel(), weights=age[usable]))
    k = int(np.minimum(mass[:-1], mass[-1] - mass[:-1]).argmax())
    return int(options[k] + options[k + 1] + 1) // 2
