"""Boxes: sets of root tests that are bounded together (ALGORITHM §5).

A root test is a set of ranks that go left. In a box some ranks are settled on a side, some *move*: the box holds
one root for each position along a list of moves, each of which takes one rank across. An interval of thresholds
moves its ranks to the left one by one; the subsets of some levels are walked in the order of a Gray code. Ranks
that are *free* let each of their people take whatever label is cheapest: a box with free ranks bounds all roots
however those ranks fall, and is split until few enough are left to be moved. Levels too many to be walked move
without an order: given the stumps, each picks its side (`pairs.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evenleaf.solve.search.compiled import Compiled

if TYPE_CHECKING:
    from evenleaf.solve.search.sketch import Sketch

LEFT, RIGHT, FREE, MOVING = 0, 1, 2, 3
MOST_SWEPT_DEPTH = 2  # deeper trees are searched root by root
_MOST_MOVING_LEVELS = 9


@dataclass(frozen=True)
class Fixing:
    """A person whose label is decided in part of the proof: it is `label`, or it is not."""

    person: int
    label: int
    equal: bool


@dataclass(frozen=True)
class Origin:
    """What a box is a part of: the bound before it was split, and whether that was done by deciding labels."""

    by_labels: bool
    bound: float


@dataclass(frozen=True, eq=False)
class Box:
    """Roots on one feature; `alive` marks the cuts that a stump on each side may still have (2 × cuts).

    The box holds the trees with such a root that give the people of `fixings` the labels decided for them.
    """

    feature: int
    state: np.ndarray  # of each rank: LEFT, RIGHT, FREE or MOVING
    moving: np.ndarray  # the moving ranks; all start on the right
    moves: np.ndarray  # positions in `moving`, in the order in which they cross
    live: np.ndarray  # which of the len(moves) + 1 roots are still possible
    alive: np.ndarray
    bound: float
    mu: np.ndarray
    scale: float
    fixings: tuple[Fixing, ...] = ()
    known: tuple[Sketch, ...] = ()  # subtrees that were met in the box that it is part of
    origin: Origin | None = None  # None: it is no part of another

    @property
    def chooses(self) -> bool:
        """Whether the moving ranks are too many to be walked: then each picks its side given the stumps."""
        return len(self.moving) > 0 and not len(self.moves)

    @cached_property
    def has_free(self) -> bool:
        """Whether some ranks are not placed at all yet."""
        return bool((self.state == FREE).any())

    def left_ranks(self, root: int) -> np.ndarray:
        """Which ranks the root at a position sends left."""
        crossed = np.bincount(self.moves[:root], minlength=len(self.moving)) % 2 == 1
        left = self.state == LEFT
        left[self.moving[crossed]] = True
        return left

    def sides(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each person their group on the left and on the right (−1: never there), and whether they are free."""
        number = np.zeros(len(self.state), dtype=np.int32)
        number[self.moving] = np.arange(1, len(self.moving) + 1)
        never = np.int32(-1)
        left = np.where(self.state == LEFT, 0, np.where(self.state == MOVING, number, never)).astype(np.int32)
        right = np.where(self.state == RIGHT, 0, np.where(self.state == MOVING, number, never)).astype(np.int32)
        return left[ranks], right[ranks], (self.state == FREE)[ranks]


def first_boxes(compiled: Compiled, mu: np.ndarray, scale: float, depth: int, walk: bool) -> list[Box]:
    """One box a feature; together they hold every root. Where levels are not walked, they start out free."""
    alive = _all_cuts(compiled, depth)
    return [_first(compiled, feature, alive, mu, scale, walk) for feature in range(compiled.n_features)]


def _all_cuts(compiled: Compiled, depth: int) -> np.ndarray:
    """A row a side for the stumps; in deeper trees also one for the child tests, which come first."""
    return np.ones((2 if depth <= MOST_SWEPT_DEPTH else 4, int(compiled.offsets[-1])), dtype=np.uint8)


def _first(compiled: Compiled, feature: int, alive: np.ndarray, mu: np.ndarray, scale: float, walk: bool) -> Box:
    size = int(compiled.sizes[feature])
    state = np.full(size, FREE, dtype=np.int8)
    state[0] = LEFT  # a cut keeps the lowest rank left; of a subset and its complement one is enough
    if compiled.unordered[feature] and walk:
        return _walk_levels(feature, state, alive, mu, scale)
    if not compiled.unordered[feature]:
        state[-1] = RIGHT
    return Box(feature, state, _none(), _none(), np.ones(1, dtype=np.bool_), alive, -np.inf, mu, scale)


def single_root(compiled: Compiled, feature: int, left: np.ndarray, mu: np.ndarray, scale: float, depth: int) -> Box:
    """A box with exactly one root."""
    alive = _all_cuts(compiled, depth)
    state = np.where(left, LEFT, RIGHT).astype(np.int8)
    return Box(feature, state, _none(), _none(), np.ones(1, dtype=np.bool_), alive, -np.inf, mu, scale)


def _none() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


def _walk_levels(feature: int, state: np.ndarray, alive: np.ndarray, mu: np.ndarray, scale: float) -> Box:
    """Walk through all subsets of the open levels where they are few; else let each level choose its side."""
    moving = np.flatnonzero(state == FREE)
    state = state.copy()
    state[moving] = MOVING
    moves = gray_code(len(moving)) if len(moving) <= _MOST_MOVING_LEVELS else _none()
    return Box(feature, state, moving, moves, np.ones(len(moves) + 1, np.bool_), alive, -np.inf, mu, scale)


def gray_code(n_bits: int) -> np.ndarray:
    """Which bit to flip at each step so that all 2^n subsets are met once."""
    steps = np.arange(1, 1 << n_bits)
    return np.log2(steps & -steps).astype(np.int64)


def split(box: Box, compiled: Compiled, people: np.ndarray, most_moves: int) -> list[Box]:
    """Two boxes (or one, once its free ranks may move) that hold the same roots; `people` counts each rank."""
    if compiled.unordered[box.feature]:
        return _place_level(box) if box.has_free else _split_levels(box)
    if box.has_free:
        return _split_free_interval(box, people, most_moves)
    return _split_moving_interval(box)


def _split_levels(box: Box) -> list[Box]:
    """Place the largest level that is still open on either side."""
    place = box.moving[0]
    children = []
    for side in (LEFT, RIGHT):
        state = np.where(box.state == MOVING, FREE, box.state).astype(np.int8)
        state[place] = side
        child = _walk_levels(box.feature, state, box.alive, box.mu, box.scale)
        children.append(replace(child, bound=box.bound, fixings=box.fixings))
    return children


def _place_level(box: Box) -> list[Box]:
    """Place the largest free level on either side."""
    children = []
    for side in (LEFT, RIGHT):
        state = box.state.copy()
        state[np.flatnonzero(state == FREE)[0]] = side
        children.append(replace(box, state=state))
    return children


def _split_free_interval(box: Box, people: np.ndarray, most_moves: int) -> list[Box]:
    """Halve an interval of cuts by people, or let its ranks move where they are few."""
    free = np.flatnonzero(box.state == FREE)
    if len(free) <= most_moves:
        state = np.where(box.state == FREE, MOVING, box.state).astype(np.int8)
        order = np.arange(len(free))
        live = np.ones(len(free) + 1, dtype=np.bool_)
        return [replace(box, state=state, moving=free, moves=order, live=live)]
    reached = np.cumsum(people[free])
    middle = int(free[min(int(np.searchsorted(reached, reached[-1] / 2)), len(free) - 1)])
    low, high = box.state.copy(), box.state.copy()
    low[(box.state == FREE) & (np.arange(len(low)) >= middle)] = RIGHT
    high[(box.state == FREE) & (np.arange(len(high)) <= middle)] = LEFT
    return [replace(box, state=low), replace(box, state=high)]


def _split_moving_interval(box: Box) -> list[Box]:
    """Halve the roots that are still possible."""
    possible = np.flatnonzero(box.live)
    middle = int(possible[len(possible) // 2])  # roots from here on go to the second half
    state_low, state_high = box.state.copy(), box.state.copy()
    state_low[box.moving[middle - 1 :]] = RIGHT
    state_high[box.moving[:middle]] = LEFT
    low = replace(
        box, state=state_low, moving=box.moving[: middle - 1], moves=np.arange(middle - 1), live=box.live[:middle]
    )
    high = replace(
        box,
        state=state_high,
        moving=box.moving[middle:],
        moves=np.arange(len(box.moving) - middle),
        live=box.live[middle:],
    )
    return [low, high]
