"""Boxes: sets of trees that are bounded together (ALGORITHM §5, §9.3).

A box holds the roots on one feature that agree about its settled ranks; the people of the other ranks are *free* to
take whatever value is cheapest for them. At each place below the root it marks the tests that are still possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenleaf.solve.values.compiled import Compiled

if TYPE_CHECKING:
    from evenleaf.solve.values.recorder import Trail

LEFT, RIGHT, FREE = 0, 1, 2
PLACES = {1: 0, 2: 2, 3: 6}  # below the root, by depth


@dataclass(frozen=True)
class Cap:
    """A person's value is at least (`above`) or at most so much."""

    person: int
    value: float
    above: bool


@dataclass(frozen=True, eq=False)
class Box:
    """`alive[place, test]` marks what is possible; the last column stands for no test.

    Places: left, right, and with depth 3 left-left, left-right, right-left, right-right.
    """

    feature: int
    state: np.ndarray  # of each rank: LEFT, RIGHT or FREE
    alive: np.ndarray
    bound: float
    mu: np.ndarray
    scale: float
    seen: int = 0  # how often its bound was raised: each time more is done
    trail: Trail | None = None  # where the proof stands, if it is written down
    caps: tuple[Cap, ...] = ()  # only trees that keep all of them
    mixture: np.ndarray | None = None  # tests of the trees that the multipliers are the best for, a row a tree

    @property
    def has_free(self) -> bool:
        """Whether it holds several roots."""
        return bool((self.state == FREE).any())


def first_boxes(compiled: Compiled, alive: np.ndarray, mu: np.ndarray, scale: float) -> list[Box]:
    """One box a feature; together they hold every tree with a test."""
    boxes = []
    for feature in range(compiled.n_features):
        state = np.full(int(compiled.sizes[feature]), FREE, dtype=np.int8)
        state[0] = LEFT  # a cut keeps the lowest rank left; of a subset and its complement one is enough
        if not compiled.unordered[feature]:
            state[-1] = RIGHT
        boxes.append(Box(feature, state, alive, -np.inf, mu, scale))
    return boxes


def single_root(feature: int, left: np.ndarray, alive: np.ndarray, mu: np.ndarray, scale: float) -> Box:
    """A box with exactly one root."""
    return Box(feature, np.where(left, LEFT, RIGHT).astype(np.int8), alive, -np.inf, mu, scale)


def split_root(box: Box, compiled: Compiled) -> list[Box]:
    """Two boxes that hold the same roots: an interval of cuts halved by people, or a level placed on either side."""
    free = np.flatnonzero(box.state == FREE)
    if compiled.unordered[box.feature]:
        children = []
        for side in (LEFT, RIGHT):
            state = box.state.copy()
            state[free[0]] = side
            children.append(replace(box, state=state))
        return [child for child in children if (child.state != LEFT).any()]
    size = len(box.state)
    people = np.bincount(compiled.ranks[box.feature], weights=compiled.count, minlength=size)
    reached = np.cumsum(people[free])
    middle = int(free[min(int(np.searchsorted(reached, reached[-1] / 2)), len(free) - 1)])
    low, high = box.state.copy(), box.state.copy()
    low[(box.state == FREE) & (np.arange(size) >= middle)] = RIGHT
    high[(box.state == FREE) & (np.arange(size) <= middle)] = LEFT
    return [replace(box, state=low), replace(box, state=high)]
